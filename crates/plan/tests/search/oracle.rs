//! What is true about an execution, found the slow and simple way.

use std::collections::BTreeMap;

use raddle_model::{Conflict, Effect, Flags, ObjectId, OpKind, OpResult, ThreadId, conflict};
use raddle_plan::search::{Run, Step};

/// The Mazurkiewicz class of an execution: of all equivalent schedules the one in which the thread with
/// the smallest number goes first wherever it can, with its data choices.
pub(crate) fn class(run: &Run, may_time_out: bool) -> Vec<(u32, u32)> {
    let before = before(run, may_time_out);
    let n_steps = run.steps.len();
    let mut n_left: Vec<usize> =
        before.iter().map(|it| it.iter().filter(|x| **x).count()).collect();
    let mut is_done = vec![false; n_steps];
    let mut class = Vec::with_capacity(n_steps);
    for _ in 0..n_steps {
        let free = (0..n_steps).filter(|it| !is_done[*it] && n_left[*it] == 0);
        let next = free.min_by_key(|it| run.steps[*it].thread).expect("no order goes in circles");
        is_done[next] = true;
        for later in next + 1..n_steps {
            n_left[later] -= usize::from(before[later][next]);
        }
        class.push((run.steps[next].thread.0, run.steps[next].choice));
    }
    class
}

/// For each step, which of the steps before must come before it.
pub(crate) fn before(run: &Run, may_time_out: bool) -> Vec<Vec<bool>> {
    let steps = &run.steps;
    let effects = effects(steps, may_time_out);
    let mut before: Vec<Vec<bool>> = Vec::with_capacity(steps.len());
    for second in 0..steps.len() {
        let mut direct = vec![false; second];
        for (first, it) in direct.iter_mut().enumerate() {
            *it = steps[first].thread == steps[second].thread
                || is_dependent(&effects[first], &effects[second])
                || is_enabled_by(steps, &effects, first, second, may_time_out);
        }
        for first in (0..second).rev() {
            if direct[first] {
                for (it, earlier) in direct.iter_mut().zip(&before[first]) {
                    *it |= earlier;
                }
            }
        }
        before.push(direct);
    }
    before
}

type Effects = Vec<(ObjectId, Effect)>;

fn is_dependent(first: &Effects, second: &Effects) -> bool {
    first.iter().any(|(object, effect)| {
        second.iter().any(|(other_object, other)| {
            object == other_object
                && matches!(conflict(*effect, *other), Conflict::Ordered | Conflict::Race)
        })
    })
}

/// Objects that stand for the order of threads, and for the time.
const THREADS: ObjectId = ObjectId(u32::MAX);
const TIME: ObjectId = ObjectId(u32::MAX - 1);

fn effects(steps: &[Step], may_time_out: bool) -> Vec<Effects> {
    let mut depths: BTreeMap<(ThreadId, ObjectId), i32> = BTreeMap::new();
    let mut is_reader: BTreeMap<(ThreadId, ObjectId), bool> = BTreeMap::new();
    let mut all: Vec<Effects> = Vec::new();
    for (idx, step) in steps.iter().enumerate() {
        let previous = steps[..idx].iter().rposition(|it| it.thread == step.thread);
        let announced = previous.or_else(|| created(steps, step.thread)).map_or(0, |it| it + 1);
        let could_end = match step.kind {
            OpKind::CondWake | OpKind::FutexWake => {
                let is_over = step.flags.has(Flags::TIMED_OUT);
                let at = &steps[announced];
                at.timed.has(step.thread) || is_over && at.enabled.has(step.thread)
            }
            _ => step.flags.has(Flags::TIMED),
        };
        let mut flags = Flags(step.flags.0 & !Flags::TIMED.0);
        let is_over = step.flags.has(Flags::TIMED_OUT) || step.flags.has(Flags::SPURIOUS);
        if could_end && may_time_out || is_over {
            flags = flags.with(Flags::TIMED);
        }
        let mut effect = Effect::done(step.kind, flags, step.result);
        let mut other = Effect::of_other(step.kind, step.result);
        let key = (step.thread, step.object);
        match step.kind {
            OpKind::Lock | OpKind::TryLock if step.result == OpResult::Done => {
                let depth = depths.entry(key).or_default();
                *depth += 1;
                if *depth > 1 {
                    effect = Effect::Nothing;
                }
            }
            OpKind::Unlock => {
                let depth = depths.entry(key).or_default();
                *depth -= 1;
                if *depth > 0 {
                    effect = Effect::Nothing;
                }
            }
            OpKind::ReadLock | OpKind::TryReadLock => drop(is_reader.insert(key, true)),
            OpKind::WriteLock | OpKind::TryWriteLock if step.result == OpResult::Done => {
                is_reader.insert(key, false);
            }
            OpKind::RwUnlock if is_reader[&key] => effect = Effect::Unshare,
            _ => {}
        }
        if step.kind == OpKind::CondWake {
            let has_left = previous.is_some_and(|it| steps[it].kind == OpKind::CondWake);
            match (has_left, step.result) {
                (true, _) => effect = Effect::Nothing,
                (_, OpResult::Busy) => other = Effect::Peek,
                _ if is_over => other = Effect::TryTake,
                _ => {}
            }
        }
        if step.other == ObjectId::NONE {
            other = Effect::Nothing;
        }
        let mut these = vec![(step.object, effect), (step.other, other)];
        match step.kind {
            OpKind::Spawn => these.push((THREADS, Effect::Whole)),
            OpKind::Signal | OpKind::Broadcast | OpKind::FutexNotify => {
                these.push((TIME, Effect::Peek));
            }
            OpKind::CondWake if previous.is_some_and(|it| steps[it].kind == OpKind::CondWake) => {}
            OpKind::CondWake | OpKind::FutexWake if could_end && may_time_out => {
                these.push((TIME, Effect::Whole));
            }
            _ if could_end && may_time_out => these.push((TIME, Effect::TryShare)),
            _ => {}
        }
        these.retain(|it| it.0 != ObjectId::NONE && it.1 != Effect::Nothing);
        all.push(these);
    }
    all
}

/// Did the first step let the second go on?
fn is_enabled_by(
    steps: &[Step],
    effects: &[Effects],
    first: usize,
    second: usize,
    may_time_out: bool,
) -> bool {
    let (one, two) = (&steps[first], &steps[second]);
    let mut jump = None;
    for idx in 0..=second {
        let is_known = jump.is_some_and(|it: usize| steps[it].enabled.has(steps[idx].thread));
        if is_jump(steps, idx, may_time_out) && !is_known {
            jump = Some(idx);
        }
    }
    if jump.is_some_and(|it| first < it) {
        return true;
    }
    let previous = steps[..second].iter().rposition(|it| it.thread == two.thread);
    let is_since = previous.is_none_or(|it| it < first);
    let is_first = |kind: fn(&Step) -> bool| {
        is_since && !steps[previous.map_or(0, |it| it + 1)..first].iter().any(kind)
    };
    match (one.kind, two.kind) {
        (OpKind::Spawn, _) => one.value == u64::from(two.thread.0),
        (OpKind::Signal | OpKind::Broadcast, OpKind::CondWake) => {
            let calls = |it: &Step| {
                it.object == two.object
                    && match it.kind {
                        OpKind::Signal => it.value == u64::from(two.thread.0) + 1,
                        kind => kind == OpKind::Broadcast,
                    }
            };
            let start = previous.map_or(0, |it| it + 1);
            // Whoever has left the queue, and waits for its mutex only, is not called.
            let has_left = previous.is_some_and(|it| steps[it].kind == OpKind::CondWake);
            !has_left && is_since && calls(one) && !steps[start..first].iter().any(calls)
        }
        (OpKind::BarrierArrive, OpKind::BarrierLeave) => {
            let is_last =
                |it: &Step| it.kind == OpKind::BarrierArrive && it.result == OpResult::Chosen;
            is_last(one) && one.object == two.object && is_first(is_last)
        }
        (OpKind::SemPost, OpKind::SemWait) if two.result == OpResult::Done => {
            let is_drawn = effects[second].iter().any(|it| it.1 == Effect::Draw);
            is_drawn && one.object == two.object && is_needed_post(steps, first, second)
        }
        (OpKind::FutexNotify, OpKind::FutexWake) => {
            is_since && one.object == two.object && is_woken_by(steps, first, two.thread)
        }
        (_, OpKind::Yield) if two.flags.has(Flags::HINT) => false,
        (_, OpKind::Yield) => {
            is_since && one.thread != two.thread && is_first_recall(steps, previous, first)
        }
        _ if two.flags.has(Flags::SPIN) => is_since && is_first_recall(steps, previous, first),
        _ => false,
    }
}

/// The step that created a thread.
fn created(steps: &[Step], thread: ThreadId) -> Option<usize> {
    steps.iter().position(|it| it.kind == OpKind::Spawn && it.value == u64::from(thread.0))
}

/// Did a deadline pass there because nobody else could go on?
fn is_jump(steps: &[Step], idx: usize, may_time_out: bool) -> bool {
    let step = &steps[idx];
    let previous = steps[..idx].iter().rposition(|it| it.thread == step.thread);
    let announced = previous.or_else(|| created(steps, step.thread)).map_or(0, |it| it + 1);
    let at = &steps[announced];
    let could_end = at.timed.has(step.thread) || at.enabled.has(step.thread);
    if previous.is_some_and(|it| steps[it].kind == OpKind::CondWake) {
        return false;
    }
    step.flags.has(Flags::TIMED_OUT)
        && step.enabled.has(step.thread)
        && !(could_end && may_time_out)
}

fn is_first_recall(steps: &[Step], previous: Option<usize>, first: usize) -> bool {
    let is_yield = |it: &Step| it.kind == OpKind::Yield || it.flags.has(Flags::SPIN);
    let start = previous.map_or(0, |it| it + 1);
    steps[start..].iter().position(|it| !is_yield(it)) == Some(first - start)
}

/// Would there have been too few posts without it?
fn is_needed_post(steps: &[Step], first: usize, second: usize) -> bool {
    let on = |it: &&Step| it.object == steps[second].object && it.result == OpResult::Done;
    let count = |range: &[Step], is_post: bool| {
        range.iter().filter(on).filter(|it| (it.kind == OpKind::SemPost) == is_post).count() as i64
    };
    let now = steps[second].value as i64 + 1;
    let at_first = now + count(&steps[..second], false) - count(&steps[..second], true);
    let n_takes = count(&steps[..=second], false);
    let n_posts = count(&steps[..first], true);
    at_first + n_posts < n_takes
}

/// Goes through the queue at the variable, from the start.
fn is_woken_by(steps: &[Step], first: usize, thread: ThreadId) -> bool {
    let mut queue: Vec<ThreadId> = Vec::new();
    for (idx, step) in steps[..=first].iter().enumerate() {
        if step.object != steps[first].object {
            continue;
        }
        match (step.kind, step.result) {
            (OpKind::FutexWait, OpResult::Done) => queue.push(step.thread),
            (OpKind::FutexNotify, _) => {
                for n in 0..step.value {
                    let woken = queue.remove(if n == 0 { step.choice as usize } else { 0 });
                    if idx == first && woken == thread {
                        return true;
                    }
                }
            }
            _ => {}
        }
    }
    false
}
