//! Schedules that follow a guideline: what is asked for, and what can be woven for it.

use std::collections::BTreeMap;

use raddle_model::ThreadId;
use raddle_total::{Constraint, Policy, Woven, weave};

use super::{KEPT_MAX, past::Past};

/// What a guideline asks for, the target first, then what is of its thread: a read is to read another define, and all that led to both, in whatever
/// thread, is to read what it did. Otherwise some thread would not come there. `reads`: what those that decide
/// something read, in order.
pub(super) fn constraints(
    past: &Past,
    reads: &[Constraint],
    target: Constraint,
) -> Vec<Constraint> {
    let thread = |step: u32| past.history.steps[step as usize].thread;
    let own = (thread(target.use_step), target.use_step);
    let wanted = [Some(target.use_step), target.define].into_iter().flatten();
    // What the read's own thread does after it can't have led to it: then not all can be kept.
    let ends = led(past, reads, wanted.collect(), |of, step| of != own.0 || step <= own.1);
    let mut n_left: BTreeMap<ThreadId, usize> = ends.keys().map(|it| (*it, KEPT_MAX)).collect();
    let is_kept = |it: &&Constraint| {
        let of = thread(it.use_step);
        let is_before = ends.get(&of).is_some_and(|end| it.use_step < *end);
        let n_left = n_left.get_mut(&of).filter(|it| is_before && **it > 0);
        n_left.map(|it| *it -= 1).is_some()
    };
    let mut all = vec![target];
    all.extend(reads.iter().rev().filter(|it| it.use_step != target.use_step).filter(is_kept));
    all.sort_by_key(|it| (*it != target, thread(it.use_step) != thread(target.use_step)));
    all
}

/// By thread: up to where its steps led to those that are wanted, by what was read. `counts`: does a thread's step?
fn led(
    past: &Past,
    reads: &[Constraint],
    wanted: Vec<u32>,
    counts: impl Fn(ThreadId, u32) -> bool,
) -> BTreeMap<ThreadId, u32> {
    let thread = |step: u32| past.history.steps[step as usize].thread;
    let mut ends: BTreeMap<ThreadId, u32> = BTreeMap::new();
    let mut open = wanted;
    while let Some(step) = open.pop() {
        if !counts(thread(step), step) {
            continue;
        }
        let end = ends.entry(thread(step)).or_default();
        let begin = *end;
        *end = step.max(begin);
        let led = reads.iter().filter(|it| (begin..step).contains(&it.use_step));
        let led = led.filter(|it| thread(it.use_step) == thread(step));
        open.extend(led.filter_map(|it| it.define));
    }
    ends
}

/// Schedules for a guideline.
pub(super) struct Guided {
    /// Steps of the past, best first.
    pub(super) orders: Vec<Vec<u32>>,
    /// Some of what led to the define is not kept in them: perhaps it writes something else then, or not at all.
    pub(super) is_loose: bool,
}

/// Schedules that follow a guideline. `is_had`: is it known what comes of these steps? `value`: what a read reads from a
/// define, if that is known.
///
/// A read that is kept may read another define, unless that has another value for sure. If there is no such schedule,
/// only the reads before the target's, in its thread, have to be kept.
pub(super) fn guideline(
    past: &Past,
    constraints: &[Constraint],
    is_had: impl Fn(&[u32]) -> bool,
    value: impl Fn(u32, Option<u32>) -> Option<u64>,
) -> Guided {
    let keeps_all = |woven: &Woven| {
        let defines = defines(past, &woven.steps);
        let is_kept = |it: &Constraint| match defines.get(&it.use_step) {
            Some(define) if *define != it.define => {
                let other = value(it.use_step, *define);
                other.is_none() || other == past.values[it.use_step as usize]
            }
            _ => true,
        };
        woven.satisfied.contains(&0)
            && constraints[1..].iter().all(is_kept)
            && !is_had(&woven.steps)
    };
    let orders = schedules(past, constraints, keeps_all);
    if !orders.is_empty() {
        return Guided { orders, is_loose: false };
    }
    let thread = |it: &Constraint| past.history.steps[it.use_step as usize].thread;
    let is_own = |it: &&Constraint| thread(it) == thread(&constraints[0]);
    let n_own = constraints.iter().take_while(is_own).count();
    let keeps_own = |woven: &Woven| {
        woven.satisfied.iter().filter(|it| **it < n_own).count() == n_own && !is_had(&woven.steps)
    };
    let mut orders = schedules(past, constraints, keeps_own);
    if orders.is_empty() {
        orders = schedules(past, &constraints[..n_own], keeps_own);
    }
    Guided { orders, is_loose: true }
}

/// By read: the define that it reads if the steps come in this order.
pub(super) fn defines(past: &Past, steps: &[u32]) -> BTreeMap<u32, Option<u32>> {
    let mut last: BTreeMap<u64, u32> = BTreeMap::new();
    let mut defines = BTreeMap::new();
    for idx in steps {
        let step = &past.history.steps[*idx as usize];
        if step.act.is_read() {
            defines.insert(*idx, last.get(&step.object).copied());
        }
        if step.act.is_write() {
            last.insert(step.object, *idx);
        }
    }
    defines
}

/// Orders of steps that are good enough, best first.
fn schedules(
    past: &Past,
    constraints: &[Constraint],
    is_good: impl Fn(&Woven) -> bool,
) -> Vec<Vec<u32>> {
    let mut all: Vec<(usize, Vec<u32>, Vec<u32>)> = Vec::new();
    for policy in Policy::ALL {
        let woven = weave(&past.history, constraints, policy);
        if !is_good(&woven) {
            continue;
        }
        let prefix = past.prefix(&woven.steps);
        if all.iter().all(|it| it.1 != prefix) {
            all.push((constraints.len() - woven.satisfied.len(), prefix, woven.steps));
        }
    }
    all.sort_by_key(|it| it.0);
    all.into_iter().map(|it| it.2).collect()
}
