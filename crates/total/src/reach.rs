//! Schedules out of what threads are known to do ([`Known`]), by looking at every state that they can come to.
//!
//! A state is where each thread is, what the variables that matter hold, and who waits. Two orders of steps that lead
//! to the same state are the same to everything that comes later, so one is followed. Steps that nobody else can notice
//! (private accesses, giving a lock back, creating a thread) are made at once.
//!
//! What comes out is exact as far as threads are known: a schedule that is found can be executed as it is, and if there is
//! none then there is none, as long as the search was not cut. (The dissertation enforces one use-define at a time,
//! and knows neither.) It is a search among exponentially many states in the worst case; [`weave`](crate::weave) is what
//! remains where there are too many. Of objects of other kinds (futexes, descriptors, signals) the orders are kept that
//! executions have shown: nothing that comes of them is exact.

use std::collections::{BTreeMap, BTreeSet};

use raddle_model::{OpResult, ThreadId, mix};

use crate::{
    history::{Act, Step},
    known::{Known, Made, Outcome, answer_label, first_value, next_order},
    rules::{Rules, is_late},
};

/// Where threads are, by number.
#[derive(Clone, Copy, Debug)]
pub struct At<'a> {
    /// The node that each made last.
    pub last: &'a [Option<u32>],
    /// And its label: how that ended.
    pub labels: &'a [u64],
}

/// What is looked for.
pub trait Goal {
    /// Is it there, when threads are there?
    fn is_met(&self, _at: At<'_>) -> bool {
        false
    }

    /// Is it there, once a thread reads this value, or is told this? `is_known`: it was seen to do so, here.
    fn is_read(&self, _node: u32, _value: u64, _is_known: bool) -> bool {
        false
    }

    /// Is it there, when nobody can go on after these steps?
    fn is_stuck(&self, _last: &[Option<u32>]) -> bool {
        false
    }

    /// How far away it is, at a guess: what is near is looked at first. `None`: it can't be reached from here.
    fn distance(&self, _at: At<'_>) -> Option<u32> {
        Some(0)
    }
}

/// What came of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reached {
    /// There is one.
    By {
        /// Steps in an order that leads there.
        steps: Vec<Made>,
        /// What the last one reads, if that is what was looked for.
        value: Option<u64>,
    },
    /// There is none.
    Never,
    /// There are too many states.
    Cut,
}

/// What threads have done so far.
#[derive(Clone, Debug)]
struct State {
    /// By thread: what it made last, and what it makes next.
    last: Vec<Option<u32>>,
    next: Vec<Option<u32>>,
    /// And how the last one ended: its label.
    labels: Vec<u64>,
    /// By variable that matters.
    memory: BTreeMap<u64, u64>,
    rules: Rules,
    orders: BTreeMap<u64, u64>,
    /// How it came from the state before.
    steps: Vec<Made>,
}

/// Looks for a schedule, among so many states at most.
pub fn reach(known: &Known, goal: &impl Goal, n_states_max: usize) -> Reached {
    reach_after(known, &[], goal, n_states_max)
}

/// The same, for schedules that begin with these steps of an execution. There are fewer, and they have more in common with
/// it.
pub fn reach_after(
    known: &Known,
    begin: &[Made],
    goal: &impl Goal,
    n_states_max: usize,
) -> Reached {
    let mut search = Search {
        known,
        goal,
        seen: BTreeSet::new(),
        open: BTreeMap::new(),
        came: Vec::new(),
        found: None,
    };
    for mut state in first_states(known) {
        if begin.iter().all(|it| search.make_again(&mut state, *it)) {
            search.add(state, None);
        }
    }
    while search.found.is_none() {
        let Some((_, (state, number))) = search.open.pop_first() else { return Reached::Never };
        if search.came.len() >= n_states_max {
            return Reached::Cut;
        }
        search.expand(&state, number);
    }
    search.found.unwrap_or(Reached::Never)
}

/// Before anybody has made a step. More than one, if threads do not always begin with the same.
fn first_states(known: &Known) -> Vec<State> {
    let first = State {
        last: vec![None; known.first.len()],
        next: vec![None; known.first.len()],
        labels: vec![0; known.first.len()],
        memory: BTreeMap::new(),
        rules: Rules::new(known.nodes.iter().map(|it| &it.step), &known.counts),
        orders: BTreeMap::new(),
        steps: Vec::new(),
    };
    let mut all = vec![first];
    for (thread, nodes) in known.first.iter().enumerate().filter(|it| !it.1.is_empty()) {
        let with = |state: &State, node: u32| {
            let mut state = state.clone();
            state.next[thread] = Some(node);
            state
        };
        let each = all.iter().flat_map(|state| nodes.iter().map(move |it| with(state, *it)));
        all = each.collect();
    }
    all
}

struct Search<'a, G> {
    known: &'a Known,
    goal: &'a G,
    seen: BTreeSet<u64>,
    /// Those to look at, by distance and number.
    open: BTreeMap<(u32, u32), (State, u32)>,
    /// By state: the one before, and the steps since then.
    came: Vec<(Option<u32>, Vec<Made>)>,
    found: Option<Reached>,
}

impl<G: Goal> Search<'_, G> {
    /// A state was come to.
    fn add(&mut self, mut state: State, from: Option<u32>) {
        self.settle(&mut state);
        if !self.seen.insert(state.fingerprint()) {
            return;
        }
        let Some(distance) = self.goal.distance(state.at()) else { return };
        let number = self.came.len() as u32;
        self.came.push((from, std::mem::take(&mut state.steps)));
        if self.goal.is_met(state.at()) {
            self.found = Some(Reached::By { steps: self.path(number), value: None });
        }
        self.open.insert((distance, number), (state, number));
    }

    /// The steps that lead to a state.
    fn path(&self, number: u32) -> Vec<Made> {
        let mut parts = Vec::new();
        let mut at = Some(number);
        while let Some(number) = at {
            let (from, steps) = &self.came[number as usize];
            parts.push(steps);
            at = *from;
        }
        parts.into_iter().rev().flatten().copied().collect()
    }

    fn expand(&mut self, state: &State, number: u32) {
        let enabled = state.next.iter().flatten();
        let mut enabled: Vec<(u32, OpResult)> =
            enabled.filter_map(|it| Some((*it, self.answer(state, *it)?))).collect();
        if enabled.is_empty() && self.is_stuck(state) && self.goal.is_stuck(&state.last) {
            self.found = Some(Reached::By { steps: self.path(number), value: None });
            return;
        }
        let is_late = |it: &(u32, OpResult)| is_late(&self.known.nodes[it.0 as usize].step, it.1);
        // Otherwise time only passes when nobody can go on.
        if !self.known.may_time_out && !enabled.iter().all(is_late) {
            enabled.retain(|it| !is_late(it));
        }
        for (node, answer) in enabled {
            if self.found.is_some() {
                return;
            }
            let value = self.label(state, node, answer);
            let outcome = self.known.nodes[node as usize].known(value);
            // What was blocked whenever it was seen has no outcome at all.
            let may_be_new = self.known.nodes[node as usize].is_labelled || outcome.is_none();
            if may_be_new && self.goal.is_read(node, value, outcome.is_some()) {
                let mut steps = self.path(number);
                steps.push(Made { node, answer, way: 0 });
                self.found = Some(Reached::By { steps, value: Some(value) });
                return;
            }
            let Some(outcome) = outcome else { continue };
            let n_ways = state.rules.n_ways(&self.known.nodes[node as usize].step);
            for (next, way) in options(outcome).flat_map(|it| (0..n_ways).map(move |way| (it, way)))
            {
                let mut after = state.clone();
                self.make(&mut after, Made { node, answer, way }, outcome, next);
                self.add(after, Some(number));
            }
        }
    }

    /// Is there anybody left, if nobody can go on?
    fn is_stuck(&self, state: &State) -> bool {
        let left = state.next.iter().enumerate().filter(|it| it.1.is_some());
        left.map(|it| ThreadId(it.0 as u32)).any(|it| state.rules.is_stuck(it))
    }

    /// What a thread would read or be told: 0 if that does not matter.
    fn label(&self, state: &State, node: u32, answer: OpResult) -> u64 {
        let node = &self.known.nodes[node as usize];
        if !node.is_labelled {
            return 0;
        }
        if node.step.act.has_answers() {
            return answer_label(answer);
        }
        let object = node.step.object;
        let held = state.memory.get(&object).copied();
        held.unwrap_or_else(|| self.known.value(first_value(object)))
    }

    /// What a thread's call is told, if it can be the next step.
    fn answer(&self, state: &State, node: u32) -> Option<OpResult> {
        let step = &self.known.nodes[node as usize].step;
        if step.act == Act::Other && step.object != 0 {
            let order = state.orders.get(&step.object).copied().unwrap_or(step.object);
            if !self.known.orders.contains(&next_order(order, step)) {
                return None;
            }
        }
        state.rules.answer(step, |it| state.next.get(it.idx()).copied().flatten().is_none())
    }

    fn make(&self, state: &mut State, made: Made, outcome: &Outcome, next: Option<u32>) {
        let Made { node, answer, way } = made;
        let step = &self.known.nodes[node as usize].step;
        state.rules.perform(&Step { answer, way, ..*step });
        state.last[step.thread.idx()] = Some(node);
        state.labels[step.thread.idx()] = outcome.label;
        state.next[step.thread.idx()] = next;
        state.steps.push(made);
        let touched = self.known.objects.get(&step.object);
        if outcome.is_write && touched.is_some_and(|it| it.is_read) {
            state.memory.insert(step.object, self.known.written(outcome));
        }
        if step.act == Act::Other && step.object != 0 {
            let order = state.orders.entry(step.object).or_insert(step.object);
            *order = next_order(*order, step);
        }
    }

    /// Makes a step as an execution did; `false` if it is not the next one of its thread.
    fn make_again(&self, state: &mut State, made: Made) -> bool {
        let it = &self.known.nodes[made.node as usize];
        let thread = it.step.thread.idx();
        // Of several ways on, the one that is gone was not known before.
        let was = state.last[thread].filter(|_| state.next[thread] != Some(made.node));
        if was.is_some_and(|was| it.is_after(was)) {
            state.next[thread] = Some(made.node);
        }
        let outcome = it.known(self.label(state, made.node, made.answer));
        let Some(outcome) = outcome.filter(|_| state.next[thread] == Some(made.node)) else {
            return false;
        };
        let is_same = self
            .answer(state, made.node)
            .is_some_and(|now| now == made.answer || !it.step.act.has_answers());
        is_same && {
            self.make(state, made, outcome, outcome.next.first().copied());
            true
        }
    }

    /// Makes all steps that nobody else can notice.
    fn settle(&self, state: &mut State) {
        for thread in 0..state.next.len() {
            while let Some(node) = state.next[thread] {
                if !self.is_private(node) {
                    break;
                }
                let Some(answer) = self.answer(state, node) else { break };
                let value = self.label(state, node, answer);
                let outcome = self.known.nodes[node as usize].known(value);
                let Some(outcome) = outcome.filter(|it| it.next.len() <= 1) else { break };
                let made = Made { node, answer, way: 0 };
                self.make(state, made, outcome, outcome.next.first().copied());
            }
        }
    }

    fn is_private(&self, node: u32) -> bool {
        let step = &self.known.nodes[node as usize].step;
        let touched = self.known.objects.get(&step.object);
        match step.act {
            Act::Read | Act::Write | Act::Update => {
                touched.is_none_or(|it| !it.is_read || !it.is_shared)
            }
            // Who only tries notices whether a lock is held.
            Act::Unlock => !self.known.tried.contains(&step.object),
            Act::Spawn(_) | Act::Branch(_) | Act::Finish => true,
            Act::Other => step.object == 0,
            _ => false,
        }
    }
}

/// What can come after a step.
fn options(outcome: &Outcome) -> impl Iterator<Item = Option<u32>> {
    let is_last = outcome.next.is_empty();
    outcome.next.iter().copied().map(Some).chain(is_last.then_some(None))
}

impl State {
    fn at(&self) -> At<'_> {
        At { last: &self.last, labels: &self.labels }
    }

    /// Equal for equal states; locks that are held follow from where threads are.
    fn fingerprint(&self) -> u64 {
        let next = self.last.iter().chain(&self.next);
        let next = next.map(|it| it.map_or(0, |it| u64::from(it) + 1));
        let waiting = self.rules.waiting().iter().flat_map(|it| [it.0, u64::from(it.1.0)]);
        let memory = self.memory.iter().chain(&self.orders).flat_map(|it| [*it.0, *it.1]);
        let next = next.chain(self.labels.iter().copied());
        next.chain([u64::MAX]).chain(waiting).chain([u64::MAX]).chain(memory).fold(1, mix)
    }
}
