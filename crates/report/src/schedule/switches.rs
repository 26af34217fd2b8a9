//! Why the running thread changed.
//!
//! The trace says who ran, not who could have; so the locks are followed here, step by step. Where the
//! steps alone can't tell (a semaphore's count, a lock taken before the first kept step), the reason
//! says where the thread stood and claims no more.

use std::collections::{BTreeSet, HashMap};

use raddle_analysis::HeldLocks;
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
            locks.is_taken(next.object, thread, false).or(is_start_known.then_some(false))
        }
        OpKind::ReadLock => {
            locks.is_taken(next.object, thread, true).or(is_start_known.then_some(false))
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
    held: HeldLocks,
    /// Locks that were taken or given back so far.
    seen: BTreeSet<ObjectId>,
    /// Objects that stand for threads.
    threads: HashMap<ObjectId, ThreadId>,
    finished: Vec<ThreadId>,
}

impl Locks {
    /// The locks that a thread holds, in the order in which it took them; twice what it took twice.
    pub(crate) fn held_by(&self, thread: ThreadId) -> Vec<ObjectId> {
        self.held.counted(thread).collect()
    }

    pub(crate) fn apply(&mut self, step: &Step) {
        let event = step.event();
        let is_done = matches!(step.result, OpResult::Done | OpResult::OwnerDied);
        // Who ends with a lock in its hands keeps it from the others for ever.
        if step.kind != OpKind::Finish {
            self.held.step(&event, 0);
        }
        self.seen.extend(self.held.of(step.thread).map(|it| it.lock));
        match step.kind {
            OpKind::Unlock | OpKind::RwUnlock if is_done => {
                self.seen.insert(step.object);
            }
            OpKind::Spawn if is_done => {
                self.threads.insert(step.object, ThreadId(step.value as u32));
            }
            OpKind::Finish => self.finished.push(step.thread),
            _ => {}
        }
    }

    /// Is a lock in other hands, all of them or only those that hold it alone? `None` if nothing was seen of it.
    fn is_taken(&self, lock: ObjectId, thread: ThreadId, alone: bool) -> Option<bool> {
        let mut others = self.held.holders(lock).filter(|it| it.0 != thread);
        let is_taken = others.any(|(_, it)| !alone || !it.is_shared);
        self.seen.contains(&lock).then_some(is_taken)
    }
}
