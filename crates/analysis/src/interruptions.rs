//! Where a thread of a failing execution was interrupted, and by what that matters to it.
//!
//! A thread makes a step, others run, and it goes on: what it did before and does then were perhaps meant to be
//! one, or to come before what the others did. In an execution that ended well that says little; of one that
//! failed, whoever has these can try whether it ends well without the interruption, and then it is known what
//! the failure needs (`explore`). First those where others' accesses conflict with the thread's own, shortly
//! before or after; then those where they used the same lock; then the rest. Of each the latest first,
//! for causes lie near their effects.
//!
//! What is told are two conflicts: of the thread's last access before that others conflict with, a read if there is
//! one, and the first such access of theirs; of its next one after, and the last such access of theirs, which is what it sees. Often they are
//! one and the same variable and access. Where they are two, what was meant to be one is about both (AVIO and MUVI in
//! one; a value that went away and came back, A-B-A, is such a case: what hangs on it did not come back).

use raddle_model::{Event, ObjectId, Op, OpKind, ThreadId};
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
    /// Its last access before, the others', and its next step.
    pub violation: AtomicityViolation,
    /// Steps up to the interruption: after them the thread would go on.
    pub n_steps: usize,
    /// What was meant to be one, as far as accesses tell.
    pub tear: Tear,
}

/// What others' accesses have to do with the thread's. The first tells most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tear {
    /// What the thread has read is written, and then it does what conflicts with the others too.
    Stale,
    /// What it has written is seen or changed, and so is what it does then: half of a change.
    Half,
    /// What it has read is written, or what it has written is read, and what it does then meets nobody.
    OneSide,
    /// They conflict with what it does then, or with what is atomic by itself, or not at all.
    Loose,
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
        switches.filter_map(|idx| Gap::after(trace, idx)?.interruption()).collect();
    all.sort_by_key(|(concern, _)| *concern);
    all.into_iter().map(|(_, it)| it).take(FOUND_MAX).collect()
}

/// A step of the thread or, by the number of the first step that never came, what it was about to do.
type Own = (usize, Op);

/// What a thread did and does around an interruption.
struct Gap<'t> {
    trace: &'t Trace,
    thread: ThreadId,
    /// The latest first.
    before: Vec<Own>,
    /// In their order. Invariant: not empty.
    after: Vec<Own>,
    /// Others' steps in between. Invariant: not empty.
    others: Vec<usize>,
    /// Does the thread wait at the end, without having made a step? It was perhaps interrupted, or already waited.
    is_blocked: bool,
}

impl Gap<'_> {
    /// The one after a step, unless its thread never went on.
    fn after(trace: &Trace, last: usize) -> Option<Gap<'_>> {
        let events = &trace.events;
        let thread = events[last].thread;
        let own = |idx: usize| (events[idx].thread == thread).then(|| (idx, op_of(&events[idx])));
        let before = (0..=last).rev().filter_map(own).take(NEAR).collect();
        let mut after: Vec<Own> = (last + 1..events.len()).filter_map(own).take(NEAR).collect();
        let end = after.first().map_or(events.len(), |it| it.0);
        let state = trace.threads.get(thread.idx())?;
        let is_blocked = after.is_empty() && state.is_blocked;
        if after.is_empty() && !state.is_finished {
            after.push((events.len(), state.pending));
        }
        let others = (last + 1..end).collect();
        (!after.is_empty()).then_some(Gap { trace, thread, before, after, others, is_blocked })
    }

    /// What is told of it; nothing if it is not even known whether it was one, and it meets no access.
    fn interruption(&self) -> Option<(Concern, Interruption)> {
        let last = self.before[0].0;
        let begins = self.begins();
        let ends = self.after.iter().find_map(|it| Some((it, self.conflicting(it).next_back()?)));
        let (begin, remotes, end) = match (begins, ends) {
            // One access of the others', if one meets both.
            (Some((begin, _)), Some((end, remote))) if conflict(&begin.1, &self.op(remote)) => {
                (begin, vec![remote], end)
            }
            (Some((begin, first)), Some((end, second))) => (begin, vec![first, second], end),
            (Some((begin, remote)), None) => (begin, vec![remote], self.like(remote, &self.after)),
            (None, Some((end, remote))) => (self.like(remote, &self.before), vec![remote], end),
            (None, None) => {
                let remote = self.nearest();
                (self.like(remote, &self.before), vec![remote], self.like(remote, &self.after))
            }
        };
        let object = self.op(remotes[0]).object;
        let other = remotes.last().map(|it| self.op(*it).object).filter(|it| *it != object);
        let concern = if begins.is_some() || ends.is_some() {
            Concern::Conflict
        } else {
            self.concern(remotes[0])
        };
        let violation = AtomicityViolation {
            object,
            other,
            begin: self.side(begin),
            remotes: remotes.iter().map(|it| side(self.trace, *it)).collect(),
            end: self.side(end),
        };
        let tear = match (begins.map(|(begin, _)| begin.1.kind), ends) {
            (Some(kind), Some(_)) if !kind.is_write() => Tear::Stale,
            (Some(OpKind::Write | OpKind::AtomicStore), Some(_)) => Tear::Half,
            (Some(OpKind::Write | OpKind::AtomicStore), None) => Tear::OneSide,
            (Some(kind), None) if !kind.is_write() => Tear::OneSide,
            _ => Tear::Loose,
        };
        let is_told = !self.is_blocked || tear < Tear::Loose;
        is_told.then_some((concern, Interruption { violation, n_steps: last + 1, tear }))
    }

    /// The thread's last step before that others conflict with, and the first of theirs that does: what it only read,
    /// if there is such, for that is what it acts upon.
    fn begins(&self) -> Option<(&Own, usize)> {
        let meets = |it| Some((it, self.conflicting(it).next()?));
        let reads = self.before.iter().filter(|it| !it.1.kind.is_write());
        reads.chain(&self.before).find_map(meets)
    }

    /// Others' steps that conflict with one of the thread's.
    fn conflicting<'s>(&'s self, own: &'s Own) -> impl DoubleEndedIterator<Item = usize> + 's {
        self.others.iter().copied().filter(move |it| conflict(&own.1, &self.op(*it)))
    }

    /// The other's step that has most to do with the thread.
    fn nearest(&self) -> usize {
        *self
            .others
            .iter()
            .min_by_key(|it| self.concern(**it))
            .expect("bug: an interruption by nobody")
    }

    fn concern(&self, other: usize) -> Concern {
        let other = self.op(other);
        let is_same = |it: &Own| it.1.object == other.object && other.object != ObjectId::NONE;
        let is_met = self.before.iter().chain(&self.after).any(is_same);
        if is_met && !other.kind.is_access() { Concern::Lock } else { Concern::Nothing }
    }

    /// The step of the thread's that is about the same as another's, or else the nearest.
    fn like<'s>(&self, other: usize, own: &'s [Own]) -> &'s Own {
        let object = self.op(other).object;
        own.iter().find(|it| it.1.object == object).unwrap_or(&own[0])
    }

    fn op(&self, idx: usize) -> Op {
        op_of(&self.trace.events[idx])
    }

    fn side(&self, own: &Own) -> Side {
        if own.0 < self.trace.events.len() {
            side(self.trace, own.0)
        } else {
            pending_side(self.thread, &own.1, own.0)
        }
    }
}

/// Are they accesses to the same memory, and is one a write?
fn conflict(one: &Op, other: &Op) -> bool {
    let is_same = one.object == other.object && one.object != ObjectId::NONE;
    let (a, b) = (one.kind, other.kind);
    is_same && a.is_access() && b.is_access() && (a.is_write() || b.is_write())
}

fn op_of(event: &Event) -> Op {
    Op {
        other: event.other_object(),
        flags: event.flags,
        ..Op::on(event.kind, event.object, event.site)
    }
}

/// A step of a trace.
pub(crate) fn side(trace: &Trace, step: usize) -> Side {
    let mut held = HeldLocks::new();
    for (idx, event) in trace.events[..step].iter().enumerate() {
        held.step(event, idx as u64);
    }
    let event = &trace.events[step];
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
        size: if op.kind.is_access() { u32::from(op.size) } else { 0 },
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
            let steps: Vec<u64> = it.violation.sides().map(|it| it.step).collect();
            told.push_str(&format!("{steps:?} after {}\n", it.n_steps));
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
                [2, 3, 4, 5] after 3
                [1, 2, 6] after 2
            "#]],
        );
    }
}
