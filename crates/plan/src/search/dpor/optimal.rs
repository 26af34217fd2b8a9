//! Wakeup trees: Abdulla, Aronis, Jonsson and Sagonas, *Optimal dynamic partial order reduction* (POPL 2014),
//! algorithm 2.
//!
//! Where two steps are in a race, the whole sequence that turns it round is wanted at the state before: the
//! steps in between that happen in spite of the first, and the second one last. If a thread that sleeps
//! there, or a way taken before, could begin the sequence, all of it has been explored. Else it is put into the
//! tree of sequences that wait there, behind those whose beginning it shares. Each sequence wakes all who
//! sleep, so no execution ends asleep: one execution for each class, and none besides.
//!
//! Where we depart: the sequence ends with the second step of the race, where the paper takes all of the
//! execution that happens in spite of the first; the trees stay smaller and the counts are the same.
//!
//! Where we are not optimal: waiters that a signal may wake are ways of their own at the signal, whoever
//! sleeps; an execution that one thread ends early gets a sibling in which the others go on, and covers
//! nothing that they do; and what a step depends on is taken from how it turned out. Where that changes in
//! its new place (a compare-exchange that fails there, a `trylock`), an execution may end asleep. Names of blocks that were allocated after the state are compared between executions, see
//! [`ObjectName`](crate::search::ObjectName). Memory: a tree may have exponentially many sequences, of
//! O(depth) steps each.

use raddle_model::ThreadId;
use serde::{Deserialize, Serialize};

use super::{
    Known, Path, Rule,
    deed::Deed,
    order::{Asked, HappensBefore, Sequence},
    waiting::Waiting,
};
use crate::search::{
    Pending,
    tree::{Child, State, Way},
};

/// See the module.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Optimal {
    /// Sequences that are wanted at nodes of the path that this one was parted from.
    wanted_before: Vec<(usize, Sequence)>,
}

impl Rule for Optimal {
    const IS_BY_OP: bool = false;

    fn turn_round(
        &mut self,
        order: &mut HappensBefore,
        path: &mut Path,
        asked: &Asked,
        _: &[Pending],
    ) {
        let races = order.immediate_races(asked, &path.steps);
        for step in &races {
            let mut sequence = order.sequence(*step, asked, &path.steps);
            if !is_explored(path, *step, &sequence) {
                self.want(path, *step, &mut sequence);
            }
            order.recycle_sequence(sequence);
        }
        order.recycle(races);
    }
}

impl Optimal {
    /// A sequence is wanted at a node, unless all of it will be explored anyway.
    fn want(&mut self, path: &mut Path, idx: usize, sequence: &mut Sequence) {
        let whole = (idx < path.floor()).then(|| sequence.clone());
        if insert(path, idx, sequence) {
            self.wanted_before.extend(whole.map(|it| (idx, it)));
        }
    }

    /// What a path that was parted from this one wants here.
    pub(crate) fn take_wanted(&mut self, path: &mut Path, behind: Optimal) {
        for (idx, mut sequence) in behind.wanted_before {
            if !is_explored(path, idx, &sequence) {
                self.want(path, idx, &mut sequence);
            }
        }
    }
}

/// Could a sequence begin with a step that was explored at a node, or sleeps there? Or does one that was explored
/// not matter to it, so that it was explored behind that?
fn is_explored(path: &Path, idx: usize, sequence: &Sequence) -> bool {
    let node = path.node(idx);
    let mut sleeping = node.extra.0.iter();
    let is_behind = |thread: ThreadId, deed: &Deed, is_end: bool| {
        !is_end && sequence.is_independent(thread, deed)
    };
    sleeping.any(|it| {
        sequence.begins_with(Way { thread: it.thread, choice: None })
            || is_behind(it.thread, &it.deed, it.is_end)
    }) || node.children.iter().filter(|it| it.state.has_counted()).any(|it| {
        let deed = it.extra.done.or(it.extra.op);
        sequence.begins_with(it.way)
            || deed.is_some_and(|deed| is_behind(it.way.thread, &deed, it.extra.is_end))
    })
}

/// Puts a sequence behind those that wait at a node. Was it not among them?
fn insert(path: &mut Path, idx: usize, sequence: &mut Sequence) -> bool {
    let children = &mut path.node_mut(idx).children;
    for child in children.iter_mut().filter(|it| !it.state.has_counted()) {
        let deed = child.extra.op.unwrap_or_default();
        if sequence.follow(child.way, &deed) {
            let then = &mut child.extra.then;
            return !then.is_empty() && then.insert(idx as u32 + 1, sequence);
        }
    }
    let mut then = Waiting::default();
    then.insert(idx as u32, sequence);
    let Some(first) = then.pop() else { return false };
    let at = place(children.iter().map(|it| it.way), first.way.thread);
    let way = first.way;
    children.insert(at, Child { way, state: State::Waiting, extra: Known::of(first, then) });
    true
}

/// Where a way stands among others: last of all; but all ways to perform a thread's step stand together, or others would sleep through some.
fn place(
    ways: impl DoubleEndedIterator<Item = Way> + ExactSizeIterator,
    thread: ThreadId,
) -> usize {
    let n_ways = ways.len();
    ways.rev().position(|it| it.thread == thread).map_or(n_ways, |it| n_ways - it)
}
