//! The orders that make a long execution fail, after a beginning that all executions have in common.
//!
//! Orders name steps by how often their thread has been at a place. What a long execution does depends on what it has
//! read, so with nothing but orders hardly any other one comes by the same places as often, and no set of them leads back
//! to the failure. So the beginning of the failing schedule is kept as it was, choice by choice, and orders are sought for
//! what comes after it.
//!
//! Every switch is a place to start. From the latest ones the failure is certain, whatever comes next (*lost*); from the
//! earliest ones the order of what comes next does not decide it either. Between the two, the latest start gives the
//! plainest reason, and an earlier one tells more: the search begins there and goes back for as long as that costs
//! no certainty and few orders.

use raddle_model::{Before, Plan};
use raddle_trace::Trace;

use super::{
    edges::{Edge, Node, is_point, sides},
    reason::{Orders, Reasoner},
    trials::Trials,
};
use crate::{finding::first_choices, target::TargetError};

/// So many orders are plain to a reader: an earlier start may cost that many.
const PLAIN: usize = 3;
/// Each start is given this part of the executions.
const PARTS: u64 = 4;

/// A beginning that all executions have in common.
#[derive(Clone, Debug, Default)]
pub(super) struct Start {
    pub(super) n_steps: usize,
    /// What leads along it.
    pub(super) choices: Vec<u32>,
    /// The same as orders, for executions in which more accesses are steps.
    pub(super) orders: Vec<Before>,
}

impl Start {
    fn of(failing: &Trace, switches: &[Edge], n_steps: usize) -> Start {
        let is_before = |it: &&Edge| matches!(it.second, Node::Step(idx) if idx < n_steps);
        Start {
            n_steps,
            choices: first_choices(failing, n_steps),
            orders: switches.iter().filter(is_before).map(|it| it.order).collect(),
        }
    }

    /// Is it none at all?
    pub(super) const fn is_none(&self) -> bool {
        self.n_steps == 0
    }
}

/// The orders after the best start; `None` if no start gives any that say more than those without one.
pub(super) fn find(
    trials: &mut Trials<'_>,
    (base, failing): (&Plan, &Trace),
    without: &Orders,
    n_replays: u64,
) -> Result<Option<Orders>, TargetError> {
    if failing.n_dropped != 0 {
        return Ok(None);
    }
    let segments = segments(failing, base);
    let switches: Vec<usize> = switches(failing).collect();
    let start = |idx: usize| Start::of(failing, &segments, switches[idx]);
    let lost =
        first(switches.len(), |idx| Reasoner::new(trials, base, failing, start(idx)).is_lost())?;
    let decided = first(lost, |idx| Reasoner::new(trials, base, failing, start(idx)).is_decided())?;
    let mut best: Option<Orders> = None;
    for idx in earlier_and_earlier(decided, lost) {
        trials.renew(n_replays / PARTS);
        let found = Reasoner::new(trials, base, failing, start(idx)).find()?;
        let found = found.filter(|it| !it.edges.is_empty() && !it.say_little());
        let found = found.filter(|_| trials.stopped_by.is_none());
        if let Some(found) = found.filter(|it| is_better(it, best.as_ref(), failing)) {
            best = Some(found);
        }
        if trials.is_late() {
            break;
        }
    }
    trials.renew(n_replays);
    let says_more = |it: &Orders| {
        let has_clear = |it: &Orders| it.are_clear().any(|it| it);
        it.are_clear().all(|it| it) || has_clear(it) && !has_clear(without)
    };
    Ok(best.filter(says_more))
}

/// Where another thread goes on.
fn switches(trace: &Trace) -> impl Iterator<Item = usize> {
    let pairs = trace.events.windows(2).enumerate();
    pairs.filter(|(_, it)| it[0].thread != it[1].thread).map(|(idx, _)| idx + 1)
}

/// The switches of a trace as orders: the last point before each of them before the first one after it.
pub(super) fn segments(trace: &Trace, base: &Plan) -> Vec<Edge> {
    let mut exposed = base.shared.clone();
    exposed.sort_unstable();
    let steps = sides(trace).0;
    let events = &trace.events;
    let is_point = |idx: &usize| is_point(trace, &events[*idx], &exposed);
    let orders = switches(trace).filter_map(|at| {
        let (earlier, later) = (events[at - 1].thread, events[at].thread);
        let first = (0..at).rev().filter(|it| events[*it].thread == earlier).find(is_point)?;
        let second = (at..events.len()).filter(|it| events[*it].thread == later).find(is_point)?;
        let order = Before { first: steps[first], second: steps[second] };
        Some(Edge { first: Node::Step(first), second: Node::Step(second), order })
    });
    orders.collect()
}

/// The first of so many that is so, where all after it are.
fn first(
    n: usize,
    mut is_so: impl FnMut(usize) -> Result<bool, TargetError>,
) -> Result<usize, TargetError> {
    let (mut low, mut high) = (0, n);
    while low < high {
        let middle = low.midpoint(high);
        match is_so(middle)? {
            true => high = middle,
            false => low = middle + 1,
        }
    }
    Ok(low)
}

/// The last before `end`, then twice as far from it each time, down to `start`.
fn earlier_and_earlier(start: usize, end: usize) -> impl Iterator<Item = usize> {
    let distances = std::iter::successors(Some(1), |it: &usize| it.checked_mul(2));
    distances.map_while(move |it| end.checked_sub(it)).take_while(move |it| start <= *it)
}

/// Does an earlier start tell more than the best so far?
fn is_better(found: &Orders, best: Option<&Orders>, failing: &Trace) -> bool {
    let Some(best) = best else { return true };
    // What comes right before the last step is the symptom.
    let last = failing.events.len().checked_sub(1).map(Node::Step);
    let is_symptom = |it: &Edge| Some(it.second) == last || Some(it.first) == last;
    let says_nothing = best.edges.iter().all(is_symptom) || !best.are_clear().all(|it| it);
    match says_nothing {
        true => found.edges.len() <= 2 * PLAIN,
        false => found.edges.len() <= best.edges.len().max(PLAIN) && found.is_as_sure(best),
    }
}

#[cfg(test)]
mod tests {
    use super::{earlier_and_earlier, first};

    #[test]
    fn the_first_that_is_so() {
        for n in 0..9 {
            for from in 0..=n {
                assert_eq!(first(n, |it| Ok(from <= it)).expect("nothing runs"), from);
            }
        }
    }

    #[test]
    fn starts_are_tried_backwards() {
        let all = |start, end| earlier_and_earlier(start, end).collect::<Vec<_>>();
        assert_eq!(all(0, 10), [9, 8, 6, 2]);
        assert_eq!(all(6, 10), [9, 8, 6]);
        assert_eq!(all(3, 4), [3]);
        assert!(all(4, 4).is_empty());
        assert!(all(0, 0).is_empty());
    }
}
