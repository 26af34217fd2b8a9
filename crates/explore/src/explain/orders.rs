//! What a race does: both orders of its accesses, with nothing else changed.
//!
//! Two accesses that nothing orders can be brought side by side: the steps that both need lead there
//! (`raddle_analysis::way_to`), and then either can come first. What follows runs without preemption. If the two
//! executions end in the same way, write the same and read the same, the race is benign as far as anybody has seen;
//! it stays a race.

use raddle_analysis::way_to;
use raddle_model::{BothOrders, Event, Evidence, OpKind, Outcome, PickerSpec, Plan, mix};
use raddle_trace::Trace;

use super::trials::{Trial, Trials};
use crate::{
    finding::{finding, step_places},
    route::Route,
    target::{Execution, TargetError},
};

/// How often a route is fitted.
const FITTINGS_MAX: usize = 6;

/// Which steps two accesses are, in their order; the second is not made if the program fails before.
type Steps = [Option<usize>; 2];

/// Both orders of the race that an execution of the plan shows; `None` if one of them can't be had.
///
/// A thread goes on by itself until its next scheduling point. If that keeps the accesses apart, every access is made
/// one.
pub(super) fn both_orders(
    trials: &mut Trials<'_>,
    plan: &Plan,
    trace: &Trace,
    evidence: &Evidence,
) -> Result<Option<BothOrders>, TargetError> {
    if let Some(found) = from(trials, plan, trace, evidence)? {
        return Ok(Some(found));
    }
    let picker = PickerSpec::Nonpreemptive;
    let conditions = plan.conditions.at_every_access();
    let all = Plan { conditions, picker, prefix: Vec::new(), ..plan.clone() };
    let Some(Trial { execution, .. }) = trials.run(&all)? else { return Ok(None) };
    let again = trials.finding_of(&execution, &all).and_then(|it| it.evidence);
    let Some(again) = again else { return Ok(None) };
    let mut found = from(trials, &all, &execution.trace, &again)?;
    let first = |it: &Evidence| it.accesses.first().map(|it| (it.thread, it.place.clone()));
    if let Some(found) = found.as_mut().filter(|_| first(evidence) != first(&again)) {
        found.outcomes.reverse();
        found.outcomes.iter_mut().for_each(|it| it.reads.reverse());
    }
    Ok(found)
}

fn from(
    trials: &mut Trials<'_>,
    plan: &Plan,
    trace: &Trace,
    evidence: &Evidence,
) -> Result<Option<BothOrders>, TargetError> {
    let Some(sides) = sides(trace, evidence) else { return Ok(None) };
    let Some(way) = way_to(trace, &sides) else { return Ok(None) };
    let [first, second] = sides;
    let Some(one) = in_order(trials, plan, trace, &way, [first, second])? else { return Ok(None) };
    let Some(other) = in_order(trials, plan, trace, &way, [second, first])? else {
        return Ok(None);
    };
    let mut outcomes = [one, other].map(|(it, steps)| outcome_of(trials, plan, &it, steps));
    outcomes[1].reads.reverse();
    Ok(Some(BothOrders { outcomes }))
}

/// The steps that the accesses of a race are.
fn sides(trace: &Trace, evidence: &Evidence) -> Option<[usize; 2]> {
    let step = |idx: usize| {
        let access = evidence.accesses.get(idx)?;
        // It was the last of those done when it was.
        let step = usize::try_from(access.step.checked_sub(1)?).ok()?;
        let event = trace.events.get(step)?;
        (event.thread == access.thread && event.kind == access.kind).then_some(step)
    };
    Some([step(0)?, step(1)?])
}

/// An execution that comes to both accesses and makes them in this order, and which steps of it they are.
fn in_order(
    trials: &mut Trials<'_>,
    plan: &Plan,
    trace: &Trace,
    way: &[usize],
    order: [usize; 2],
) -> Result<Option<(Execution, Steps)>, TargetError> {
    let route = Route::of(trace, way.iter().copied().chain(order));
    let mut prefix = route.prefix();
    for _ in 0..FITTINGS_MAX {
        let plan = Plan { prefix, picker: PickerSpec::Nonpreemptive, ..plan.clone() };
        let Some(Trial { execution, .. }) = trials.run(&plan)? else { return Ok(None) };
        let is_failure = trials.is_failure(&execution);
        if let Some(steps) = found(trace, order, &execution.trace, is_failure) {
            return Ok(Some((execution, steps)));
        }
        prefix = route.fitted(&execution.trace);
        if prefix == plan.prefix {
            break;
        }
    }
    Ok(None)
}

/// Where an execution makes the two steps, if it makes them in this order, one right after the other. It may fail
/// between the two.
fn found(trace: &Trace, order: [usize; 2], tried: &Trace, is_failure: bool) -> Option<Steps> {
    let [first, second] = order.map(|it| &trace.events[it]);
    let site = |trace: &Trace, it: &Event| trace.sites.get(it.site.0 as usize).copied();
    let is_same = |one: &Event, other: &Event| {
        one.thread == other.thread
            && one.kind == other.kind
            && site(trace, one) == site(tried, other)
    };
    let mut pairs = tried.events.windows(2);
    if let Some(idx) = pairs.position(|it| is_same(first, &it[0]) && is_same(second, &it[1])) {
        return Some([Some(idx), Some(idx + 1)]);
    }
    let is_last = tried.events.last().is_some_and(|it| is_same(first, it));
    (is_failure && is_last).then(|| [Some(tried.events.len() - 1), None])
}

fn outcome_of(
    trials: &mut Trials<'_>,
    plan: &Plan,
    execution: &Execution,
    steps: Steps,
) -> Outcome {
    let Execution { trace, output } = execution;
    let failure = trials.is_failure(execution).then(|| {
        let found = finding(trace, plan, 0, output, trials.symbols)?;
        Some((found.kind, found.fault))
    });
    let events = &trace.events;
    let next_read = steps[1].and_then(|second| {
        let is_next = |it: &Event| it.object == events[second].object && value_read(it).is_some();
        let idx = second + 1 + events[second + 1..].iter().position(is_next)?;
        let place = step_places(trace, trials.symbols).swap_remove(idx);
        Some((events[idx].value, place))
    });
    Outcome {
        failure: failure.flatten(),
        reads: steps.map(|it| value_read(&events[it?])),
        next_read,
        output: output.bytes().fold(0, |hash, it| mix(hash, it.into())),
    }
}

/// What a step read, if it read a value.
fn value_read(event: &Event) -> Option<u64> {
    let reads = [OpKind::Read, OpKind::AtomicLoad, OpKind::AtomicRmw, OpKind::AtomicCas];
    reads.contains(&event.kind).then_some(event.value)
}
