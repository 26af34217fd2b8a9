//! What must be done to turn a race round, step by step.

use std::ops::Range;

use raddle_model::{Effect, Flags, OpKind, ThreadId};
use serde::{Deserialize, Serialize};

use super::{Asked, HappensBefore, join, races::depends};
use crate::search::{
    Pending, Step,
    dpor::{
        Branch,
        deed::{Deed, FENCES},
    },
    tree::Way,
};

/// Steps that turn a race round when they are taken in the state before it: those in between that happen in
/// spite of its first step, and the second one last. Steps are taken out as they are found elsewhere.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Sequence {
    items: Vec<Item>,
    /// Of each item, one after the other: the numbers of those before it that happen before it.
    after: Vec<u32>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Item {
    way: Way,
    deed: Deed,
    is_certain: bool,
    /// Its part of the list.
    after: Range<usize>,
    /// Which step it was; [`LAST`] if it is the op that was asked about.
    number: u32,
}

const LAST: u32 = u32::MAX;

impl HappensBefore {
    /// The sequence that turns round the race of a step with the op that was asked about last.
    pub(crate) fn sequence(&mut self, step: usize, asked: &Asked, steps: &[Step]) -> Sequence {
        let Sequence { mut items, mut after } = std::mem::take(&mut self.spare);
        items.clear();
        after.clear();
        let later = steps.iter().enumerate().take(self.events.len()).skip(step + 1);
        for (idx, taken) in later.filter(|it| !self.is_before(step, it.0)) {
            let start = after.len();
            let before = items.iter().filter(|it| self.is_before(it.number as usize, idx));
            after.extend(before.map(|it| it.number));
            let choice = (taken.n_choices > 1).then_some(taken.choice);
            items.push(Item {
                way: Way { thread: taken.thread, choice },
                deed: self.events[idx].deed,
                is_certain: is_certain(&taken.op()),
                after: start..after.len(),
                number: idx as u32,
            });
        }
        let turned = self.turned(step, asked);
        let clock = self.clock_without(step, &turned);
        let start = after.len();
        let is_before = |it: &&Item| it.number < clock[it.way.thread.idx()];
        after.extend(items.iter().filter(is_before).map(|it| it.number));
        items.push(Item {
            way: Way { thread: asked.op.thread, choice: None },
            deed: turned.event.deed,
            is_certain: is_certain(&asked.op),
            after: start..after.len(),
            number: LAST,
        });
        self.without = clock;
        Sequence { items, after }
    }

    /// What happens before an op if a step does not.
    fn clock_without(&mut self, step: usize, asked: &Asked) -> Vec<u32> {
        let mut clock = std::mem::take(&mut self.without);
        clock.clone_from(&self.past);
        for (list, (_, how)) in asked.event.lists.into_iter().zip(asked.event.deed.uses) {
            let Some(list) = list else { continue };
            for entry in self.list(list).iter().rev().take_while(|it| step < it.event as usize) {
                let event = entry.event as usize;
                if depends(entry, how) && !self.is_before(step, event) {
                    join(&mut clock, self.clock_of(event));
                }
            }
        }
        clock
    }

    /// The op as it may turn out when it comes before a step with which it is in a race.
    pub(super) fn turned(&self, step: usize, asked: &Asked) -> Asked {
        let mut turned = *asked;
        let uses = self.events[step].deed.uses;
        for (name, how) in &mut turned.event.deed.uses {
            for (_, first) in uses.iter().filter(|it| it.0 == *name && it.0 != 0 && it.0 != FENCES)
            {
                *how = turn(*first, *how, asked.op.kind);
            }
        }
        turned
    }
}

/// Does an op do the same to its objects in every state in which it can be performed?
fn is_certain(op: &Pending) -> bool {
    use OpKind::*;
    match op.kind {
        Read | Write | ReadWrite | AtomicLoad | AtomicStore | AtomicRmw => true,
        Lock | ReadLock | WriteLock => !op.flags.has(Flags::TIMED),
        _ => false,
    }
}

/// What the second of two uses of an object becomes when it comes first.
const fn turn(first: Effect, second: Effect, kind: OpKind) -> Effect {
    use Effect::*;
    match (first, second) {
        (Arrive | ArriveBeforeLast, ArriveLast) => ArriveBeforeLast,
        (ArriveLast, Arrive | ArriveBeforeLast) => ArriveLast,
        (Change, Look) if matches!(kind, OpKind::AtomicCas) => Change,
        (Take | TryTake, Pass) => Take,
        (Take | TryTake | Share | TryShare, Peek) => match kind {
            OpKind::ReadLock | OpKind::TryReadLock => TryShare,
            _ => TryTake,
        },
        (Give | Unshare, TryTake | TryShare) => Peek,
        (Draw | TryDraw, SeeNone) => TryDraw,
        (_, second) => second,
    }
}

impl Sequence {
    /// Could it begin with this?
    pub(crate) fn begins_with(&self, way: Way) -> bool {
        self.first_of(way).is_some()
    }

    /// The item of a thread, if the sequence could begin with it, in this way.
    fn first_of(&self, way: Way) -> Option<usize> {
        let idx = self.items.iter().position(|it| it.way.thread == way.thread)?;
        let item = &self.items[idx];
        let is_same = match (item.way.choice, way.choice) {
            (Some(one), Some(other)) => one == other,
            _ => true,
        };
        let after = &self.after[item.after.clone()];
        let is_first = !self.items[..idx].iter().any(|it| after.contains(&it.number));
        (is_same && is_first).then_some(idx)
    }

    /// Is a step of a thread that is not in it independent of all of it?
    pub(crate) fn is_independent(&self, thread: ThreadId, deed: &Deed) -> bool {
        self.items.iter().all(|it| it.way.thread != thread && !it.deed.is_dependent(deed))
    }

    /// Does it go on behind a step that waits? Either it could begin with it, which is taken out then, or
    /// nothing in it depends on it.
    pub(crate) fn follow(&mut self, way: Way, deed: &Deed) -> bool {
        if let Some(idx) = self.first_of(way) {
            self.items.remove(idx);
            return true;
        }
        self.is_independent(way.thread, deed)
    }

    /// The thread that it begins with, if anything is left of it.
    pub(crate) fn first_thread(&self) -> Option<ThreadId> {
        self.items.first().map(|it| it.way.thread)
    }

    /// Its steps in reverse, the first at a level, each of the others one level below the one before it.
    pub(crate) fn branches(&self, level: u32) -> impl ExactSizeIterator<Item = Branch> {
        self.items
            .iter()
            .enumerate()
            .rev()
            .map(move |(idx, it)| Branch::new(it.way, it.deed, it.is_certain, level + idx as u32))
    }
}
