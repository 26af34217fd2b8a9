//! Why the running thread changed.
//!
//! The trace says who ran, not who could have; so the locks are followed here, step by step. Where the
//! steps alone can't tell (a semaphore's count, a lock taken before the first kept step), the reason
//! says where the thread stood and claims no more. A condition variable's wait gives back the mutex
//! that its thread took last: the step does not name it, and in practice it is that one.

use std::collections::HashMap;

use raddle_model::{Finding, Flags, ObjectId, OpKind, OpResult, Step, ThreadId};

/// For each step, why another thread came after it; `None` if none did.
pub(crate) fn reasons(finding: &Finding) -> Vec<Option<String>> {
    let steps = &finding.steps;
    let next = next_of_same_thread(finding);
    let mut locks = Locks::default();
    let mut reasons = Vec::with_capacity(steps.len());
    for (idx, step) in steps.iter().enumerate() {
        locks.apply(step);
        let is_switch = steps.get(idx + 1).is_some_and(|it| it.thread != step.thread);
        reasons.push(is_switch.then(|| {
            let thread = format!("T{}", step.thread.0);
            reason(finding, step, next[idx], &locks, &thread)
        }));
    }
    reasons
}

/// What a thread did next, or was about to do at the end.
#[derive(Clone, Copy)]
struct Next {
    kind: OpKind,
    object: ObjectId,
    /// Known to be impossible at the end, so impossible ever since.
    is_stuck: bool,
}

fn next_of_same_thread(finding: &Finding) -> Vec<Option<Next>> {
    let mut latest: HashMap<ThreadId, Next> = finding
        .threads
        .iter()
        .filter_map(|it| {
            let kind = it.pending?;
            let object = it.waits_for.as_ref().map_or(ObjectId::NONE, |wait| wait.object_id);
            Some((it.thread, Next { kind, object, is_stuck: it.waits_for.is_some() }))
        })
        .collect();
    let mut next = vec![None; finding.steps.len()];
    for (idx, step) in finding.steps.iter().enumerate().rev() {
        let this = Next { kind: step.kind, object: step.object, is_stuck: false };
        next[idx] = latest.insert(step.thread, this);
    }
    next
}

fn reason(
    finding: &Finding,
    step: &Step,
    next: Option<Next>,
    locks: &Locks,
    thread: &str,
) -> String {
    match step.kind {
        OpKind::Finish => return format!("{thread} finished"),
        OpKind::Yield => return format!("{thread} yielded"),
        OpKind::CondWait | OpKind::FutexWait if step.result == OpResult::Done => {
            return format!("{thread} blocked");
        }
        _ if Flags(step.flags).has(Flags::SPIN) => return format!("{thread} yielded"),
        _ => {}
    }
    let Some(next) = next else { return "preempted".to_owned() };
    match blocked(finding, step.thread, next, locks) {
        Some(true) => format!("{thread} blocked"),
        Some(false) => "preempted".to_owned(),
        None => format!("{thread} at {}", next.kind.word()),
    }
}

/// Could the thread not go on? `None` if the steps don't tell.
fn blocked(finding: &Finding, thread: ThreadId, next: Next, locks: &Locks) -> Option<bool> {
    let is_start_known = finding.n_steps_dropped == 0;
    match next.kind {
        OpKind::Lock | OpKind::WriteLock => {
            let holders = locks.holders.get(&next.object);
            let is_held = holders.is_some_and(|all| all.iter().any(|it| it.0 != thread));
            (is_held || holders.is_some() || is_start_known).then_some(is_held)
        }
        OpKind::ReadLock => {
            let holders = locks.holders.get(&next.object);
            let is_held = holders.is_some_and(|all| all.iter().any(|it| it.0 != thread && it.1));
            (is_held || holders.is_some() || is_start_known).then_some(is_held)
        }
        OpKind::Join => {
            let joined = locks.threads.get(&next.object)?;
            Some(!locks.finished.contains(joined))
        }
        OpKind::SemWait
        | OpKind::BarrierLeave
        | OpKind::OnceEnter
        | OpKind::SigWait
        | OpKind::Sleep
        | OpKind::CondWake
        | OpKind::FutexWake => None,
        kind if kind.is_io() => None,
        _ => Some(next.is_stuck),
    }
}

/// Who holds what, as far as the steps tell.
#[derive(Default)]
pub(crate) struct Locks {
    /// For each lock seen so far, its holders, and whether each holds it alone.
    holders: HashMap<ObjectId, Vec<(ThreadId, bool)>>,
    /// Each thread's locks, in the order they were taken.
    held: HashMap<ThreadId, Vec<ObjectId>>,
    /// What a waiting thread gave back, to take again.
    lent: HashMap<ThreadId, ObjectId>,
    /// Objects that stand for threads.
    threads: HashMap<ObjectId, ThreadId>,
    finished: Vec<ThreadId>,
}

impl Locks {
    /// The locks that a thread holds, in the order in which it took them; twice what it took twice.
    pub(crate) fn held_by(&self, thread: ThreadId) -> &[ObjectId] {
        self.held.get(&thread).map_or(&[], Vec::as_slice)
    }

    pub(crate) fn apply(&mut self, step: &Step) {
        let thread = step.thread;
        let is_done = matches!(step.result, OpResult::Done | OpResult::OwnerDied);
        match step.kind {
            OpKind::Lock | OpKind::TryLock | OpKind::WriteLock | OpKind::TryWriteLock
                if is_done =>
            {
                self.take(thread, step.object, true);
            }
            OpKind::ReadLock | OpKind::TryReadLock if is_done => {
                self.take(thread, step.object, false);
            }
            OpKind::Unlock | OpKind::RwUnlock if is_done => self.give(thread, step.object),
            OpKind::CondWait => {
                let mutex = self.held.get(&thread).and_then(|held| held.last()).copied();
                if let Some(mutex) = mutex {
                    self.give(thread, mutex);
                    self.lent.insert(thread, mutex);
                }
            }
            OpKind::CondWake => {
                if let Some(mutex) = self.lent.remove(&thread) {
                    self.take(thread, mutex, true);
                }
            }
            OpKind::Spawn if is_done => {
                self.threads.insert(step.object, ThreadId(step.value as u32));
            }
            OpKind::Finish => self.finished.push(thread),
            _ => {}
        }
    }

    fn take(&mut self, thread: ThreadId, object: ObjectId, is_alone: bool) {
        self.holders.entry(object).or_default().push((thread, is_alone));
        self.held.entry(thread).or_default().push(object);
    }

    fn give(&mut self, thread: ThreadId, object: ObjectId) {
        let holders = self.holders.entry(object).or_default();
        if let Some(idx) = holders.iter().rposition(|it| it.0 == thread) {
            holders.remove(idx);
        }
        let held = self.held.entry(thread).or_default();
        if let Some(idx) = held.iter().rposition(|it| *it == object) {
            held.remove(idx);
        }
    }
}
