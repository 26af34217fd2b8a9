//! The program, as far as executions have shown what its threads do, and schedules that are looked for in it.
//!
//! Guidelines are asked for here first: the schedule is exact, or it is known that there is none. What is left when there
//! is no guideline any more is asked for here too: situations that no execution had and that threads can come to all the
//! same, and manners that were seen apart ([`super::combine`]).

use std::collections::{BTreeMap, BTreeSet};

use raddle_model::mix;
use raddle_total::{
    At, Constraint, Goal, Known, Labels, Locks, Made, Reached, Step, follow, is_in_time, label_of,
    reach, reach_after,
};

use super::{
    Attempt, Guide, Kept, Total,
    causes::ways,
    decide::{Decider, Decisions, Situation},
    guideline::defines,
    meetings::{Meetings, OfThread},
    past::{Instance, Past},
    {define_key, named, write_name},
};

/// States that are looked at for one schedule.
const STATES_MAX: usize = 20_000;
/// Deadlocks that executions are made for.
const STUCK_MAX: usize = 16;
/// Searches in a row that were cut, after which guidelines are not asked for any more: they are woven.
const CUTS_MAX: u32 = 8;
/// Steps of threads that are known at once; executions that would make it more are left out.
const NODES_MAX: usize = 250_000;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Model {
    known: Known,
    /// By execution and step: its node.
    nodes: Vec<Vec<u32>>,
    /// By execution and step: its label.
    labels: Vec<Vec<u64>>,
    /// By node: an execution that has it, and the step; none if threads have only been blocked there.
    sources: Vec<Option<(u32, u32)>>,
    /// By node of a read: its situations, its own value left out.
    situations: BTreeMap<u32, Vec<Situation>>,
    /// Reads that matter and could read something else, as far as executions tell: those of a thread at a place.
    deciding: BTreeSet<OfThread>,
    meetings: Meetings,
    /// Objects whose reads nobody can foresee, as far as executions tell: threads go on as they were seen to.
    mixed: BTreeSet<u64>,
    /// Guidelines in a row for which there were too many states.
    n_cut: u32,
    /// Values that executions were made for, with the node that was to read them: each once.
    asked: BTreeSet<(u64, u64)>,
    /// Deadlocks that executions were made for, and those that they came to: where threads were.
    stuck: BTreeSet<u64>,
    /// May waits end by themselves although others can go on?
    pub(super) may_time_out: bool,
    /// Executions that there was no room for.
    pub(super) n_left_out: u32,
}

impl Model {
    /// Its nodes, and what they take in memory.
    pub(super) fn size(&self) -> (u64, u64) {
        (self.known.n_nodes() as u64, self.known.n_bytes() as u64)
    }

    pub(super) fn new(may_time_out: bool) -> Model {
        Model { may_time_out, ..Model::default() }
    }

    /// An execution has come. If reads matter that did not, all are looked at again.
    pub(super) fn hear(&mut self, past: &Past, decisions: &Decisions) {
        let of = |it: &Decider| {
            let Instance { thread, place, .. } = past.instances[it.read as usize];
            (thread, place)
        };
        let n_deciding = self.deciding.len();
        self.deciding.extend(decisions.deciders.iter().map(of));
        self.deciding.extend(self.meetings.hear(past, &decisions.relevant));
        let n_mixed = self.mixed.len();
        self.mixed.extend(&past.mixed);
        if n_deciding < self.deciding.len() || n_mixed < self.mixed.len() {
            (self.known, self.nodes, self.sources) = (Known::default(), Vec::new(), Vec::new());
            self.labels.clear();
            self.n_left_out = 0;
            self.situations.clear();
        }
    }

    /// Adds executions that are not in it.
    pub(super) fn add(&mut self, pasts: &[Option<Kept>]) {
        self.known.may_time_out = self.may_time_out;
        for (execution, kept) in pasts.iter().enumerate().skip(self.nodes.len()) {
            let has_room =
                |it: &&Kept| self.known.n_nodes() + it.past.history.steps.len() <= NODES_MAX;
            let Some(kept) = kept.as_ref().filter(has_room) else {
                self.n_left_out += u32::from(kept.is_some());
                self.nodes.push(Vec::new());
                self.labels.push(Vec::new());
                continue;
            };
            let nodes = self.add_one(kept);
            for (step, node) in nodes.iter().enumerate() {
                let is_made = step < kept.past.history.steps.len();
                if *node as usize == self.sources.len() {
                    self.sources.push(is_made.then_some((execution as u32, step as u32)));
                } else if is_made {
                    let source = &mut self.sources[*node as usize];
                    source.get_or_insert((execution as u32, step as u32));
                }
            }
            for (read, situations) in &kept.situations {
                let node = nodes[*read as usize];
                self.situations.entry(node).or_insert_with(|| situations.clone());
            }
            if !kept.past.history.blocked.is_empty() {
                let mut last = vec![None; self.known.n_threads()];
                for (node, step) in nodes.iter().zip(&kept.past.history.steps) {
                    last[step.thread.idx()] = Some(*node);
                }
                let place = self.place(&last);
                self.stuck.insert(place);
            }
            self.nodes.push(nodes);
        }
    }

    fn add_one(&mut self, kept: &Kept) -> Vec<u32> {
        let past = &kept.past;
        let steps = past.history.steps.iter().zip(0_u32..);
        let in_order: Vec<u32> = steps.clone().map(|it| it.1).collect();
        let defines = defines(past, &in_order);
        let define = |step: u32| defines.get(&step).copied().flatten();
        let labels = steps.clone().map(|(it, idx)| {
            let matters = it.act.is_read()
                && self.deciding.contains(&(it.thread.0, it.place))
                && !self.mixed.contains(&it.object);
            let value = past.values[idx as usize];
            matters.then(|| value.unwrap_or_else(|| define_key(past, idx, define(idx))))
        });
        let labels: Vec<Option<u64>> = labels.collect();
        let names: Vec<u64> =
            in_order.iter().map(|it| write_name(past, &kept.inputs, *it)).collect();
        let defines: Vec<Option<u32>> = in_order.iter().map(|it| define(*it)).collect();
        let with = Labels { labels: &labels, names: &names, defines: &defines };
        let steps = past.history.steps.iter();
        self.labels.push(steps.zip(&labels).map(|(step, read)| label_of(step, *read)).collect());
        self.known.add(&past.history, &with)
    }

    /// The node of an execution's step.
    pub(super) fn node(&self, execution: usize, step: u32) -> Option<u32> {
        self.nodes.get(execution)?.get(step as usize).copied()
    }

    /// How far it is to any of these.
    pub(super) fn way_to(&self, ends: &[WayEnd]) -> WayTo {
        let mut left: Vec<Option<u32>> = vec![None; self.known.n_nodes()];
        let mut labels: BTreeMap<u32, BTreeSet<u64>> = BTreeMap::new();
        for end in ends {
            labels.entry(end.node).or_default().extend(end.label);
            let mut at = Some((end.node, 0));
            while let Some((node, n_left)) = at {
                let known = &mut left[node as usize];
                if known.is_some_and(|it| it <= n_left) {
                    break;
                }
                *known = Some(n_left);
                at = self.known.parent(node).map(|it| (it, n_left + 1));
            }
        }
        // Parents have lower numbers.
        for node in 0..left.len() as u32 {
            let Some(parent) = self.known.parent(node) else { continue };
            let leads = |label: &u64| self.known.leads(parent, *label, node);
            let has_ended =
                labels.get(&parent).is_none_or(|it| it.is_empty() || it.iter().any(leads));
            if left[parent as usize] == Some(0) && has_ended {
                left[node as usize] = Some(0);
            }
        }
        let first = ends.iter().map(|it| self.known.depth(it.node) + 1).min();
        WayTo { left, first, labels }
    }

    /// A step of an execution as the end of a way.
    pub(super) fn way_end(&self, execution: usize, step: u32) -> Option<WayEnd> {
        let at = step as usize;
        let node = *self.nodes.get(execution)?.get(at)?;
        Some(WayEnd { node, label: self.labels.get(execution)?.get(at).copied() })
    }

    pub(super) fn search(&self, goal: &impl Goal) -> Reached {
        reach(&self.known, goal, STATES_MAX)
    }

    fn search_after(&self, begin: &[Made], goal: &impl Goal) -> Reached {
        reach_after(&self.known, begin, goal, STATES_MAX)
    }

    /// A schedule that makes these steps, and is otherwise as like an execution as it can be.
    pub(super) fn attempt(
        &self,
        pasts: &[Option<Kept>],
        path: &[Made],
        execution: usize,
    ) -> Attempt {
        let call = |it: &Made| {
            let step = self.known.step(it.node);
            Step { act: step.call(), ..*step }
        };
        let steps: Vec<Step> = path.iter().map(call).collect();
        let ranks: BTreeMap<u32, u32> =
            self.nodes.get(execution).into_iter().flatten().copied().zip(0..).collect();
        let order = follow(&steps, |it| ranks.get(&path[it].node).copied().unwrap_or(u32::MAX));
        let mut made: Vec<Made> = order.into_iter().map(|it| path[it]).collect();
        let mut past = self.past(pasts, &made);
        let order: Vec<u32> = (0..path.len() as u32).collect();
        if !self.may_time_out && !is_in_time(&past.history, &order) {
            made = path.to_vec();
            past = self.past(pasts, &made);
        }
        let of_execution = self.nodes.get(execution).into_iter().flatten();
        let n_common = made.iter().zip(of_execution).take_while(|it| it.0.node == *it.1).count();
        let ways = ways(&past.history, order.iter().copied());
        let common = past.prefix(&order[..n_common]).len() as u32;
        Attempt { ways, common: Some(common), ..Attempt::woven(past.prefix(&order)) }
    }

    /// An execution that makes these steps.
    fn past(&self, pasts: &[Option<Kept>], made: &[Made]) -> Past {
        let mut past = Past::default();
        for Made { node, answer, way } in made.iter().copied() {
            let source = self.sources[node as usize];
            match source.and_then(|it| Some((pasts[it.0 as usize].as_ref()?, it.1))) {
                Some((kept, step)) => past.push(&kept.past, step as usize),
                None => past.push_call(*self.known.step(node)),
            }
            if let Some(step) = past.history.steps.last_mut() {
                (step.answer, step.way) = (answer, way);
            }
        }
        past
    }

    /// Where a thread reads something for the first time, nobody knows what it does then. Each such read is asked for
    /// once.
    fn ask(&mut self, node: u32, value: u64) {
        self.asked.insert((self.known.id(node), value));
    }

    /// Where threads are, by what they made last.
    fn place(&self, last: &[Option<u32>]) -> u64 {
        last.iter().fold(3, |all, it| mix(all, it.map_or(0, |it| self.known.id(it))))
    }

    /// Values that executions were made for and did not read.
    pub(super) fn n_missed(&self) -> u64 {
        let nodes = 0..self.known.n_nodes() as u32;
        let missed = nodes.map(|node| {
            let id = self.known.id(node);
            let asked = self.asked.range((id, 0)..=(id, u64::MAX));
            // A value that nobody had read was asked for by its name.
            let values = asked.map(|it| [it.1, self.known.value(it.1)]);
            values.filter(|it| !it.iter().any(|it| self.known.has(node, *it))).count() as u64
        });
        missed.sum()
    }

    pub(super) fn is_asked(&self, node: u32, value: u64) -> bool {
        self.asked.contains(&(self.known.id(node), value))
    }
}

/// Where a way ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct WayEnd {
    pub(super) node: u32,
    /// Its label, if it has to end as it did there: a compare-exchange that fails is another step.
    pub(super) label: Option<u64>,
}

/// How many steps a thread has to make up to the end of a way.
#[derive(Debug)]
pub(super) struct WayTo {
    /// By node that was made last: 0 at the end and from there on, `None` where it turned off.
    left: Vec<Option<u32>>,
    /// From the beginning.
    first: Option<u32>,
    /// By node of an end: the labels with which it counts; none if all do.
    labels: BTreeMap<u32, BTreeSet<u64>>,
}

impl WayTo {
    /// For the thread of that number.
    pub(super) fn n_left(&self, thread: usize, at: At<'_>) -> Option<u32> {
        let Some(last) = at.last[thread] else { return self.first };
        let labels = self.labels.get(&last).filter(|it| !it.is_empty());
        let has_ended = labels.is_none_or(|it| it.contains(&at.labels[thread]));
        self.left[last as usize].filter(|it| *it > 0 || has_ended)
    }
}

/// A read is to read a value, after all that its thread had read before.
struct ReadValue {
    thread: usize,
    node: u32,
    value: u64,
    way: WayTo,
    /// The thread of a define that has that value.
    to_define: Option<(usize, WayTo)>,
}

impl Goal for ReadValue {
    fn is_read(&self, node: u32, value: u64, _is_known: bool) -> bool {
        (node, value) == (self.node, self.value)
    }

    fn distance(&self, at: At<'_>) -> Option<u32> {
        let own = self.way.n_left(self.thread, at).filter(|it| *it > 0)?;
        let others = self.to_define.as_ref().and_then(|it| it.1.n_left(it.0, at));
        Some(own + others.unwrap_or(0))
    }
}

/// Some read is to read what it was not seen to read there, so that there is a situation that nobody had.
struct Unseen<'a> {
    model: &'a Model,
    /// Situations; `None`: it does not matter whether there was one.
    seen: Option<&'a BTreeSet<u64>>,
}

impl Goal for Unseen<'_> {
    fn is_read(&self, node: u32, value: u64, is_known: bool) -> bool {
        let is_new = || match (self.model.situations.get(&node), self.seen) {
            (Some(all), Some(seen)) => all.iter().any(|it| !seen.contains(&it.key(value))),
            _ => true,
        };
        !is_known && !self.model.is_asked(node, value) && is_new()
    }
}

/// Nobody is to be able to go on, where no execution has stopped.
struct Stuck<'a> {
    model: &'a Model,
}

impl Goal for Stuck<'_> {
    fn is_stuck(&self, last: &[Option<u32>]) -> bool {
        !self.model.stuck.contains(&self.model.place(last))
    }
}

/// What came of asking the model for a schedule.
pub(super) enum Asked {
    /// It can be executed.
    Schedule(Attempt),
    /// An execution had it.
    Had,
    /// There is none.
    Never,
    /// There may be one.
    Unknown,
}

impl Total {
    /// A schedule for a guideline of an execution.
    pub(super) fn ask_for(&mut self, execution: usize, target: Constraint) -> Asked {
        let kept = self.pasts.get(execution).and_then(Option::as_ref);
        let Some(kept) = kept.filter(|_| self.model.n_cut < CUTS_MAX) else {
            return Asked::Unknown;
        };
        self.model.add(&self.pasts);
        let Some(node) = self.model.node(execution, target.use_step) else { return Asked::Unknown };
        let thread = |step: u32| kept.past.history.steps[step as usize].thread.idx();
        let name = named(&kept.past, &kept.inputs, target.use_step, target.define);
        let define = target.define.and_then(|it| Some((it, self.model.node(execution, it)?)));
        let value = self.model.known.value(name);
        if self.model.known.has(node, value) {
            return Asked::Had;
        }
        let way_to = |node: u32| self.model.way_to(&[WayEnd { node, label: None }]);
        let goal = ReadValue {
            thread: thread(target.use_step),
            node,
            value,
            way: way_to(node),
            to_define: define.map(|(step, node)| (thread(step), way_to(node))),
        };
        // As it was, up to where the read's critical section begins: then executions have their beginnings in common. If
        // that can't be, anything.
        let held = Locks::of(&kept.past.history);
        let since = held.at(target.use_step).iter().map(|it| it.since).min();
        let begin = since.unwrap_or(target.use_step) as usize;
        let begin = self.model.nodes[execution][..begin].iter().zip(&kept.past.history.steps);
        let begin: Vec<Made> =
            begin.map(|(node, it)| Made { node: *node, answer: it.answer, way: it.way }).collect();
        let reached = match self.model.search_after(&begin, &goal) {
            Reached::Never => self.model.search(&goal),
            reached => reached,
        };
        self.model.n_cut = if reached == Reached::Cut { self.model.n_cut + 1 } else { 0 };
        match reached {
            Reached::By { steps, .. } => {
                Asked::Schedule(self.model.attempt(&self.pasts, &steps, execution))
            }
            Reached::Never => Asked::Never,
            Reached::Cut => Asked::Unknown,
        }
    }

    /// No guideline is left: plans an execution for a situation that threads can come to all the same.
    pub(super) fn ask_unseen(&mut self) {
        self.model.add(&self.pasts);
        let goal = Unseen { model: &self.model, seen: Some(&self.seen) };
        match self.model.search(&goal) {
            Reached::By { steps, value } => self.try_unseen(&steps, value),
            Reached::Cut => self.figures.is_model_cut = true,
            Reached::Never => {
                let goal = Unseen { seen: None, ..goal };
                self.figures.is_reduced = self.model.search(&goal) != Reached::Never;
            }
        }
    }

    /// Nothing is left to be read: plans an execution for a deadlock. There is none that can be foreseen where calls are not.
    pub(super) fn ask_stuck(&mut self) {
        if !self.unforeseen.is_empty() || self.model.stuck.len() >= STUCK_MAX {
            return;
        }
        match self.model.search(&Stuck { model: &self.model }) {
            Reached::By { steps, .. } => {
                let mut last = vec![None; self.model.known.n_threads()];
                for made in &steps {
                    last[self.model.known.step(made.node).thread.idx()] = Some(made.node);
                }
                let place = self.model.place(&last);
                self.model.stuck.insert(place);
                self.try_unseen(&steps, None);
            }
            Reached::Cut => self.figures.is_model_cut = true,
            Reached::Never => {}
        }
    }

    /// Plans an execution that makes these steps, the last of which reads a value that it was not seen to read there.
    pub(super) fn try_unseen(&mut self, steps: &[Made], value: Option<u64>) {
        if let Some((made, value)) = steps.last().zip(value) {
            self.model.ask(made.node, value);
        }
        let attempt = self.model.attempt(&self.pasts, steps, 0);
        self.figures.n_guidelines += 1;
        self.queue.push_back(Guide { attempt, ..Guide::default() });
    }
}
