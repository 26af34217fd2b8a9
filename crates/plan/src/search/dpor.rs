//! Dynamic partial order reduction: of all schedules that differ only in the order of independent steps, one.
//!
//! Each execution is searched for races; where the other order of a race might lead elsewhere, a way is
//! added at the state before it. Sleep sets keep out what was explored beside: a thread whose step has been
//! explored at a state sleeps in the ways taken there later, until a step that depends on its own.
//!
//! This file has what all variants share: nodes with their sleepers, executions that run into a sleeping
//! thread, and executions that end before their time. The variants are `source`, `classic`, `bounded`,
//! `optimal`, those of `hapset`, and `published`.

mod bounded;
mod classic;
mod deed;
mod forest;
mod guide;
mod hapset;
mod optimal;
mod order;
mod predecessors;
mod published;
mod source;
mod waiting;

use raddle_model::{CoveredPairs, End, Flags, PickerSpec, Scope, ThreadId};
use serde::{Deserialize, Serialize};

pub use self::predecessors::{HapSets, Pair};
pub(crate) use self::{
    bounded::Bounded,
    classic::Classic,
    forest::Forest,
    guide::Guide,
    hapset::{Ordered, Pruned, PrunedBounded},
    optimal::Optimal,
    published::Published,
    source::Source,
    waiting::Branch,
};
use self::{
    deed::{Deed, Marks},
    guide::Code,
    order::{Asked, HappensBefore},
    waiting::Waiting,
};
use super::{
    Pending, Run, Step, ThreadSet,
    run::is_waiting,
    tree,
    tree::{Policy, State, Verdict, Way, push_choice},
};

pub(crate) type Path = tree::Path<Sleepers, Known>;
pub(crate) type Node = tree::Node<Sleepers, Known>;

/// ThreadSet that sleep at a node, with what they would do.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Sleepers(Vec<Sleeper>);

/// A thread whose step was explored beside, and what that did.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Sleeper {
    thread: ThreadId,
    deed: Deed,
    /// It ended the execution, so nothing of what others could do behind it was explored.
    is_end: bool,
}

/// What is known about a way.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Known {
    /// What its step may do, as it was known when the way was added.
    op: Option<Deed>,
    /// Does it do that in whatever state?
    is_certain: bool,
    /// What it did.
    done: Option<Deed>,
    /// It ended the execution, with others still able to go on.
    is_end: bool,
    /// What it costs, in searches that count that.
    cost: u32,
    /// What is wanted after it. Empty when it has been taken.
    then: Waiting,
}

impl Known {
    /// What is known about a way that sequences begin with.
    fn of(first: Branch, then: Waiting) -> Known {
        let Branch { deed, is_certain, .. } = first;
        Known { op: Some(deed), is_certain, then, ..Known::default() }
    }
}

/// Where a variant adds ways.
pub(crate) trait Rule: std::fmt::Debug + Serialize + for<'a> Deserialize<'a> {
    /// The op that was asked about last may be in races: adds ways at the states before these.
    fn turn_round(
        &mut self,
        order: &mut HappensBefore,
        path: &mut Path,
        asked: &Asked,
        pending: &[Pending],
    );
    /// Is every op asked about as it was when it was pending, instead of as it turned out?
    const IS_BY_OP: bool;
    /// Do threads sleep whose steps were explored?
    const HAS_SLEEP: bool = true;

    /// May a thread go on at a node, as far as a bound is concerned?
    fn affords(&mut self, _path: &Path, _idx: usize, _thread: ThreadId) -> bool {
        true
    }

    /// A step could be performed in several ways, those but the ones before having just been added: leaves out
    /// what is not wanted.
    fn limit_choices(&mut self, _path: &mut Path, _idx: usize, _before: &[Way]) {}

    /// Has a bound left something out?
    fn is_cut(&self) -> bool {
        false
    }

    /// Was the execution of this path worth it?
    fn verdict(&self, _path: &Path) -> Verdict {
        Verdict::New
    }

    /// Is there a next level?
    fn next_level(&mut self) -> bool {
        false
    }

    /// The level under way.
    fn level(&self) -> Option<u32> {
        None
    }

    /// What knows which orders were covered, if that guides the search.
    fn guide(&self) -> Option<&Guide> {
        None
    }

    /// To learn from an execution.
    fn guide_mut(&mut self) -> Option<&mut Guide> {
        None
    }

    /// Which schedules it explores.
    fn scope(&self) -> Scope {
        Scope::Classes(None)
    }
}

/// Depth-first search, reduced.
#[derive(Debug, Serialize, Deserialize)]
#[serde(bound = "")]
pub(crate) struct Reduced<R: Rule> {
    rule: R,
    may_time_out: bool,
    #[serde(skip)]
    order: Option<HappensBefore>,
}

impl<R: Rule> Reduced<R> {
    pub(crate) fn new(rule: R, may_time_out: bool) -> Reduced<R> {
        Reduced { rule, may_time_out, order: None }
    }
}

impl Reduced<Optimal> {
    /// For a path that goes on behind another one's: takes what is known of the order of its steps, and leaves
    /// what was another path's, which is forgotten, but its room is not.
    pub(crate) fn part(&mut self, spare: Option<HappensBefore>) -> Reduced<Optimal> {
        let order = std::mem::replace(&mut self.order, spare);
        if let Some(order) = &mut self.order {
            order.cut(0);
        }
        Reduced { rule: Optimal::default(), may_time_out: self.may_time_out, order }
    }

    /// What a path that went on behind this one still wants here. Its room is left.
    pub(crate) fn join(
        &mut self,
        path: &mut Path,
        behind: Reduced<Optimal>,
    ) -> Option<HappensBefore> {
        self.rule.take_wanted(path, behind.rule);
        behind.order
    }
}

impl<R: Rule> Policy for Reduced<R> {
    type Node = Sleepers;
    type Child = Known;
    const IS_STATIC: bool = false;

    fn grow(&mut self, path: &mut Path, from: usize, run: &Run) -> Verdict {
        let mut order =
            self.order.take().unwrap_or_else(|| HappensBefore::new(self.may_time_out, path.memory));
        let verdict = self.explore(&mut order, path, from, run);
        self.order = Some(order);
        verdict
    }

    fn beyond(&self, path: &Path, node: usize, child: usize, choices: &mut Vec<u32>) -> PickerSpec {
        if !R::HAS_SLEEP {
            return PickerSpec::Nonpreemptive;
        }
        let taken = &path.node(node).children[child];
        let mut from = node as u32 + 1;
        for branch in taken.extra.then.first() {
            push_choice(choices, branch.way.thread, branch.way.choice);
            from += 1;
        }
        let stays = |it: &Sleeper| {
            taken.extra.then.first().all(|branch| it.stays(branch.way.thread, &branch.deed))
        };
        let asleep = asleep_after(path.node(node), child).filter(stays).map(|it| it.thread);
        match asleep.collect::<ThreadSet>() {
            ThreadSet::NONE => PickerSpec::Nonpreemptive,
            // Who does not fit is awake there, which costs an execution that ends asleep.
            asleep => PickerSpec::Awake { asleep: asleep.words()[0], from },
        }
    }

    /// Its step is certain to wake whoever sleeps because of a child that is under way. So those who sleep
    /// behind it have been explored to the end, and have said what they want there.
    fn is_free(node: &Node, child: usize) -> bool {
        let taken = &node.children[child];
        let Some(step) = taken.extra.op.as_ref().filter(|_| taken.extra.is_certain) else {
            return false;
        };
        node.children[..child].iter().enumerate().all(|(idx, it)| {
            let is_done = it.state == State::Taken && node.current != Some(idx);
            let stays = |it: Sleeper| it.stays(taken.way.thread, step);
            is_done || it.state.has_counted() && !it.sleeper().is_none_or(stays)
        })
    }

    fn is_cut(&self) -> bool {
        self.rule.is_cut()
    }

    fn next_level(&mut self) -> bool {
        self.rule.next_level()
    }

    fn level(&self) -> Option<u32> {
        self.rule.level()
    }

    fn teach(&mut self, run: &Run) {
        let may_time_out = self.may_time_out;
        if let Some(guide) = self.rule.guide_mut() {
            guide.teach(run, may_time_out);
        }
    }

    fn covered(&self) -> Option<(&HapSets, CoveredPairs)> {
        self.rule.guide().map(|it| (it.sets(), it.covered()))
    }

    fn scope(&self) -> Scope {
        self.rule.scope()
    }
}

impl<R: Rule> Reduced<R> {
    fn explore(
        &mut self,
        order: &mut HappensBefore,
        path: &mut Path,
        from: usize,
        run: &Run,
    ) -> Verdict {
        restore(order, path, from);
        if let Some(guide) = self.rule.guide_mut() {
            let code = Code { steps: &path.steps, sites: &path.sites };
            for idx in guide.begin(run, from)..from {
                guide.learn(order, code, idx);
            }
        }
        let mut waiting = Waiting::default();
        for idx in from..path.steps.len() {
            let asked = order.ask_step(&path.steps, &path.objects);
            if idx == path.n_nodes() {
                push_node(order, path, idx, R::HAS_SLEEP);
                if path.node(idx).extra.threads().has(asked.op.thread) {
                    return self.end_at_sleeper(path, idx);
                }
                path.begin(idx, &asked, waiting);
            }
            let before: Vec<Way> = match path.steps[idx].n_choices {
                0 | 1 => Vec::new(),
                _ => path.node(idx).children.iter().map(|it| it.way).collect(),
            };
            waiting = path.take(idx, &asked);
            if !before.is_empty() {
                if R::HAS_SLEEP {
                    leave_out_needless(order, path, &asked, &before);
                }
                self.rule.limit_choices(path, idx, &before);
            }
            if R::IS_BY_OP {
                let asked = order.ask_pending(&asked.op, &path.steps, &path.objects);
                self.rule.turn_round(order, path, &asked, &run.pending);
                let asked = order.ask_step(&path.steps, &path.objects);
                if asked.op.flags.has(Flags::TIMED_OUT) {
                    // A deadline that passed because nobody could go on: it might have been in time.
                    self.rule.turn_round(order, path, &asked, &run.pending);
                }
                order.push(&asked, &path.steps);
            } else {
                self.rule.turn_round(order, path, &asked, &run.pending);
                order.push(&asked, &path.steps);
            }
            if let Some(guide) = self.rule.guide_mut() {
                guide.learn(order, Code { steps: &path.steps, sites: &path.sites }, idx);
            }
        }
        for op in &run.pending {
            let asked = order.ask_pending(op, &path.steps, &path.objects);
            self.rule.turn_round(order, path, &asked, &run.pending);
        }
        self.go_on_in_spite_of_the_end(path, run);
        self.rule.verdict(path)
    }

    /// The execution goes where another has been. If somebody is awake, that is the way to go; else all
    /// that could follow has been explored.
    fn end_at_sleeper(&self, path: &mut Path, idx: usize) -> Verdict {
        let last = path.last(idx);
        let asleep = path.node(idx).extra.threads();
        let options = path.steps[idx].options(self.may_time_out, last);
        let mut awake = options.filter(|it| !asleep.has(*it));
        let awake = awake.find(|it| !is_waiting(&path.steps[..idx], *it));
        path.cut(idx);
        if let Some(thread) = awake {
            path.node_mut(idx).add(Way { thread, choice: None }, Known::default());
        }
        Verdict::Redundant
    }

    /// An execution that was ended by a step of one thread, with others still able to go on, stands for
    /// all that these would have done. So they go on, once, without that step; or, if nobody could be chosen in its
    /// place (it was no scheduling point), without the last one of the thread before which somebody could.
    fn go_on_in_spite_of_the_end(&mut self, path: &mut Path, run: &Run) {
        let Some(mut last) = path.steps.len().checked_sub(1) else { return };
        let is_early =
            !matches!(run.end, None | Some(End::Deadlock | End::Livelock | End::Hang | End::Spent));
        if !is_early || run.pending.iter().all(|it| it.is_blocked) {
            return;
        }
        loop {
            let node = path.node_mut(last);
            let current = node.current.expect("bug: the path goes through the node");
            node.children[current].extra.is_end = true;
            let (step, before) = (&path.steps[last], path.last(last));
            let has_others = step.options(self.may_time_out, before).any(|it| it != step.thread);
            if has_others || before != step.thread || last == 0 {
                break;
            }
            last -= 1;
        }
        let step = path.steps[last];
        let before = path.last(last);
        let node = path.node(last);
        let is_alone = node.children.iter().all(|it| it.way.thread == step.thread);
        let asleep = node.extra.threads().with(step.thread);
        let mut options = step.options(self.may_time_out, before);
        if is_alone
            && let Some(thread) = options.find(|it| !asleep.has(*it))
            && self.rule.affords(path, last, thread)
        {
            path.want(last, thread, &run.pending);
        }
    }
}

/// A step could be performed in several ways, those but the ones before having just been added: leaves out those that lead
/// nowhere new.
fn leave_out_needless(order: &HappensBefore, path: &mut Path, asked: &Asked, before: &[Way]) {
    if path.memory.is_sc() {
        return;
    }
    let idx = order.len();
    let thread = path.steps[idx].thread;
    let mut children = std::mem::take(&mut path.node_mut(idx).children);
    children.retain(|child| {
        let is_added = child.state == State::Waiting && !before.contains(&child.way);
        let choice = child.way.choice.filter(|_| is_added && child.way.thread == thread);
        choice.is_none_or(|it| !order.is_needless(asked, &path.steps, it))
    });
    path.node_mut(idx).children = children;
}

/// Brings what is known about the order of steps back to a node; after a search was restored, from nothing.
fn restore(order: &mut HappensBefore, path: &Path, from: usize) {
    order.cut(from);
    while order.len() < from {
        let asked = order.ask_step(&path.steps, &path.objects);
        order.push(&asked, &path.steps);
    }
}

/// Adds the node before a step: those sleep who did at the node before, or whose step was explored there, and
/// whom the step in between did not wake.
fn push_node(order: &HappensBefore, path: &mut Path, idx: usize, has_sleep: bool) {
    let mut sleepers = std::mem::take(&mut path.push_node().extra);
    sleepers.0.clear();
    if let Some(before) = idx.checked_sub(1).filter(|_| has_sleep) {
        let woken_by = order.deed(before);
        let thread = path.steps[before].thread;
        let node = path.node(before);
        sleepers.0.extend(node.extra.0.iter().filter(|it| it.stays(thread, woken_by)));
        let current = node.current.expect("bug: the path goes through the node");
        for child in &node.children[..current] {
            let Some(explored) = child.sleeper() else { continue };
            let is_new = sleepers.0.iter().all(|it| it.thread != explored.thread);
            if is_new && explored.stays(thread, woken_by) {
                sleepers.0.push(explored);
            }
        }
    }
    path.node_mut(idx).extra = sleepers;
}

/// Who sleeps after a child's step, as far as its op and those of the children before it tell. Not all of
/// them may have been taken, so what their steps did is not asked: it would depend on when this is.
fn asleep_after(node: &Node, child: usize) -> impl Iterator<Item = Sleeper> {
    let taken = &node.children[child];
    let woken_by = taken.extra.op;
    let before = node.children[..child].iter().filter_map(|it| {
        Some(Sleeper { thread: it.way.thread, deed: it.extra.op?, is_end: it.extra.is_end })
    });
    let all = node.extra.0.iter().copied().chain(before);
    let stays = move |it: &Sleeper| woken_by.is_some_and(|by| it.stays(taken.way.thread, &by));
    all.filter(stays)
}

impl tree::Child<Known> {
    /// Whoever explored it, as it sleeps in the ways taken later.
    fn sleeper(&self) -> Option<Sleeper> {
        let deed = self.extra.done?;
        Some(Sleeper { thread: self.way.thread, deed, is_end: self.extra.is_end })
    }
}

impl Sleeper {
    /// Does it sleep on when a thread takes a step?
    fn stays(&self, thread: ThreadId, step: &Deed) -> bool {
        self.thread != thread && !self.deed.is_dependent(step)
    }
}

impl Clone for Sleepers {
    fn clone(&self) -> Sleepers {
        Sleepers(self.0.clone())
    }

    fn clone_from(&mut self, other: &Sleepers) {
        self.0.clone_from(&other.0);
    }
}

impl Sleepers {
    pub(crate) fn threads(&self) -> ThreadSet {
        self.0.iter().map(|it| it.thread).collect()
    }
}

impl Path {
    /// The path goes through a new node's first way; other ways may wait there.
    fn begin(&mut self, idx: usize, asked: &Asked, mut waiting: Waiting) {
        let step = self.steps[idx];
        let op = Some(Deed::pending(&asked.op, &self.objects, self.marks()));
        let node = self.node_mut(idx);
        node.begin(&step, Known { op, ..Known::default() });
        while let Some((branch, then)) = waiting.pop_way() {
            let way = node.children[0].way;
            let is_taken = branch.way.thread == way.thread
                && branch.way.choice.is_none_or(|it| way.choice == Some(it));
            match is_taken {
                true => node.children[0].extra.then = then,
                false => node.add(branch.way, Known::of(branch, then)),
            }
        }
    }

    /// The path goes through a way: what it did is known now, and in what other ways it could be done. What
    /// waits behind it.
    fn take(&mut self, idx: usize, asked: &Asked) -> Waiting {
        let step = self.steps[idx];
        let node = self.node_mut(idx);
        let current = node.current.expect("bug: the path goes through the node");
        node.children[current].extra.done = Some(*asked.deed());
        let waiting = std::mem::take(&mut node.children[current].extra.then);
        node.add_choices(&step);
        waiting
    }

    /// Adds a way at a node that the path goes through.
    pub(crate) fn want(&mut self, idx: usize, thread: ThreadId, pending: &[Pending]) {
        let op = self.op_of(thread, idx, pending);
        let deed = op.map(|it| Deed::pending(&it, &self.objects, self.marks()));
        self.node_mut(idx)
            .add(Way { thread, choice: None }, Known { op: deed, ..Known::default() });
    }

    /// What is known of an op without a look at the steps before.
    fn marks(&self) -> Marks {
        Marks { memory: self.memory, ..Marks::default() }
    }

    /// What the way costs that was added last at a node.
    pub(crate) fn set_cost(&mut self, idx: usize, cost: u32) {
        if let Some(child) = self.node_mut(idx).children.last_mut() {
            child.extra.cost = cost;
        }
    }

    /// What the path up to a node has cost.
    pub(crate) fn cost(&self, idx: usize) -> u32 {
        let current = |it: usize| self.node(it).current.map(|it_is| (it, it_is));
        let costs = (0..idx).filter_map(current);
        costs.map(|(node, child)| self.node(node).children[child].extra.cost).sum()
    }

    /// What a thread is about to do at a node: its next step, or what it never came to do.
    fn op_of(&self, thread: ThreadId, idx: usize, pending: &[Pending]) -> Option<Pending> {
        let next = self.steps[idx..].iter().find(|it| it.thread == thread).map(Step::op);
        next.or_else(|| pending.iter().find(|it| it.thread == thread).copied())
    }

    /// ThreadSet that have a way at a node already, or sleep there.
    pub(crate) fn covered(&self, idx: usize) -> ThreadSet {
        let node = self.node(idx);
        let wanted: ThreadSet = node.children.iter().map(|it| it.way.thread).collect();
        wanted.or(node.extra.threads())
    }
}
