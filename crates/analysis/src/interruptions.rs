//! Where a thread of a failing execution was interrupted, and by what that matters to it.
//!
//! A thread makes a step, others run, and it goes on: what it did before and does then were perhaps meant to be
//! one, or to come before what the others did. In an execution that ended well that says little; of one that
//! failed, whoever has these can try whether it ends well without the interruption, and then it is known what
//! the failure needs (`explore`). First those where another's access conflicts with one of the thread's own,
//! shortly before or after; then those where they used the same lock; then the rest. Of each the latest first,
//! for causes lie near their effects.

use raddle_model::{Event, ObjectId, Op, ThreadId};
use raddle_trace::Trace;

use crate::{
    held::HeldLocks,
    value::{AtomicityViolation, Side},
};

/// How many of its last and of its next steps a thread is taken to be about.
const NEAR: usize = 12;
/// Interruptions that are told.
const FOUND_MAX: usize = 32;

/// A thread that was interrupted.
#[derive(Clone, Debug)]
pub struct Interruption {
    /// Its last access before, the other's, and its next step.
    pub violation: AtomicityViolation,
    /// Steps up to the interruption: after them the thread would go on.
    pub n_steps: usize,
}

/// How much another's step has to do with those of the thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Concern {
    Conflict,
    Lock,
    Nothing,
}

/// The interruptions of a trace, as the module says.
pub fn interruptions(trace: &Trace) -> Vec<Interruption> {
    if trace.n_dropped != 0 {
        return Vec::new();
    }
    let events = &trace.events;
    let is_switch = |idx: &usize| events[*idx].thread != events[*idx + 1].thread;
    let switches = (0..events.len().saturating_sub(1)).rev().filter(is_switch);
    let mut all: Vec<(Concern, Interruption)> =
        switches.filter_map(|idx| interruption(trace, idx)).collect();
    all.sort_by_key(|(concern, _)| *concern);
    all.into_iter().map(|(_, it)| it).take(FOUND_MAX).collect()
}

/// The interruption after a step.
fn interruption(trace: &Trace, last: usize) -> Option<(Concern, Interruption)> {
    let events = &trace.events;
    let me = events[last].thread;
    let mine = |idx: &usize| events[*idx].thread == me;
    let before: Vec<usize> = (0..=last).rev().filter(mine).take(NEAR).collect();
    let after: Vec<usize> = (last + 1..events.len()).filter(mine).take(NEAR).collect();
    let pending = trace.threads.get(me.idx()).filter(|it| !it.is_finished && !it.is_blocked);
    let pending = pending.filter(|_| after.is_empty()).map(|it| it.pending);
    if after.is_empty() && pending.is_none() {
        return None;
    }
    let near: Vec<Op> =
        before.iter().chain(&after).map(|idx| op_of(&events[*idx])).chain(pending).collect();
    let end = after.first().copied().unwrap_or(events.len());
    let others = || (last + 1..end).filter(|idx| !mine(idx));
    let (concern, remote) = others()
        .map(|idx| (concern(&op_of(&events[idx]), &near), idx))
        .min_by_key(|(concern, idx)| (*concern, *idx))?;
    // What is told is the step that the other's meets, or else the last one.
    let meets = |idx: &usize| events[*idx].object == events[remote].object;
    let begin = before.iter().copied().find(meets).unwrap_or(last);
    let end_side = match (after.iter().copied().find(meets).or(after.first().copied()), pending) {
        (Some(idx), _) => side(&events[idx], idx, trace),
        (None, Some(op)) => pending_side(me, &op, events.len()),
        (None, None) => return None,
    };
    let violation = AtomicityViolation {
        object: events[remote].object,
        begin: side(&events[begin], begin, trace),
        remote: side(&events[remote], remote, trace),
        end: end_side,
    };
    Some((concern, Interruption { violation, n_steps: last + 1 }))
}

fn concern(other: &Op, near: &[Op]) -> Concern {
    let is_same = |it: &&Op| it.object == other.object && it.object != ObjectId::NONE;
    let conflicts = |it: &Op| {
        it.kind.is_access()
            && other.kind.is_access()
            && (it.kind.is_write() || other.kind.is_write())
    };
    match near.iter().filter(is_same).map(conflicts).max() {
        Some(true) => Concern::Conflict,
        Some(false) if !other.kind.is_access() => Concern::Lock,
        _ => Concern::Nothing,
    }
}

fn op_of(event: &Event) -> Op {
    Op { other: event.other, flags: event.flags, ..Op::on(event.kind, event.object, event.site) }
}

fn side(event: &Event, step: usize, trace: &Trace) -> Side {
    let mut held = HeldLocks::new();
    for (idx, event) in trace.events[..step].iter().enumerate() {
        held.step(event, idx as u64);
    }
    Side {
        thread: event.thread,
        kind: event.kind,
        offset: if event.kind.is_access() { event.offset() } else { 0 },
        size: u32::from(event.size),
        site: event.site,
        step: step as u64,
        stack: Vec::new(),
        holds: held.of(event.thread).collect(),
    }
}

/// What a thread was about to do when all ended.
fn pending_side(thread: ThreadId, op: &Op, n_steps: usize) -> Side {
    Side {
        thread,
        kind: op.kind,
        offset: 0,
        size: 0,
        site: op.site,
        step: n_steps as u64,
        stack: Vec::new(),
        holds: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use crate::{interruptions, toy::trace};

    fn check(text: &str, expected: Expect) {
        let mut told = String::new();
        for it in interruptions(&trace(text)) {
            let steps = [&it.violation.begin, &it.violation.remote, &it.violation.end];
            told.push_str(&format!("{:?} after {}\n", steps.map(|it| it.step), it.n_steps));
        }
        expected.assert_eq(&told);
    }

    /// Thread 1 was about to do something too, when all ended.
    #[test]
    fn another_writes_what_was_read() {
        check(
            "0 spawn 1
             0 load x sc
             1 store x sc
             0 store x sc",
            expect![[r#"
                [2, 3, 4] after 3
                [1, 2, 3] after 2
            "#]],
        );
    }

    /// Half of a pair is written when the other reads both. And the first thread was about to do something.
    #[test]
    fn another_reads_in_the_middle() {
        check(
            "0 spawn 1
             0 spawn 2
             1 store x sc
             2 load x sc
             2 load y sc
             1 store y sc",
            expect![[r#"
                [4, 5, 6] after 5
                [2, 3, 5] after 3
                [1, 2, 6] after 2
            "#]],
        );
    }
}
