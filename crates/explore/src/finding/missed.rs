//! Notifications that a wait did not get: a lost wake-up, or one that another thread had instead.
//!
//! A signal to nobody is lost; who waits after it waits for the next one. The last notification of what a thread
//! waits for is told, if it is known why it was not for that thread. One that ended an earlier wait of its own was.

use raddle_model::{Event, Miss, Missed, ObjectId, OpKind, OpResult, ThreadId};
use raddle_trace::Trace;

use super::names::Names;

/// What a thread missed that waits for an object by an op of this kind.
pub(super) fn missed(
    trace: &Trace,
    thread: ThreadId,
    (kind, object): (OpKind, ObjectId),
    names: &mut Names<'_>,
) -> Option<Missed> {
    let notifies: &[OpKind] = match kind {
        OpKind::CondWait | OpKind::CondWake => &[OpKind::Signal, OpKind::Broadcast],
        OpKind::FutexWait | OpKind::FutexWake => &[OpKind::FutexNotify],
        OpKind::SemWait => &[OpKind::SemPost],
        _ => return None,
    };
    let of_object = |it: &Event| it.object == object;
    let is_notice = |it: &Event| of_object(it) && notifies.contains(&it.kind);
    let idx = trace.events.iter().rposition(is_notice)?;
    let event = &trace.events[idx];
    let told = names.std_sync().kind(event.kind, event.site);
    let why = match event.kind {
        OpKind::SemPost => {
            let takes = |it: &&Event| {
                of_object(it)
                    && matches!(it.kind, OpKind::SemWait | OpKind::SemTryWait)
                    && it.result == OpResult::Done
            };
            let taker = trace.events.iter().rfind(takes)?;
            Miss::Another(taker.thread)
        }
        _ if event.value == 0 && has_left(&trace.events[..idx], thread, object) => Miss::TooLate,
        _ if event.value == 0 => Miss::TooEarly,
        // It woke all who waited: this one did not yet.
        _ if told == OpKind::Broadcast && begins_after(trace, idx, thread, object) => {
            Miss::TooEarly
        }
        OpKind::Signal => Miss::Another(ThreadId(event.value as u32 - 1)),
        OpKind::FutexNotify if event.value == 1 => {
            let is_woken = |it: &&Event| {
                of_object(it) && it.kind == OpKind::FutexWake && it.result == OpResult::Done
            };
            // Of several, one may have been woken before.
            let mut woken = trace.events[idx..].iter().filter(is_woken);
            match (woken.next(), woken.next()) {
                (Some(alone), None) => Miss::Another(alone.thread),
                _ => return None,
            }
        }
        _ => return None,
    };
    let missed = Missed {
        thread: event.thread,
        kind: told,
        at: names.place(event.site),
        step: trace.n_dropped + idx as u64 + 1,
        why,
    };
    (why != Miss::Another(thread)).then_some(missed)
}

/// Was a thread's last wait at an object over because its time was?
fn has_left(before: &[Event], thread: ThreadId, object: ObjectId) -> bool {
    let last = before.iter().rfind(|it| it.thread == thread && it.object == object);
    last.is_some_and(|it| it.result == OpResult::TimedOut)
}

/// Did a thread begin to wait at an object after an event?
fn begins_after(trace: &Trace, idx: usize, thread: ThreadId, object: ObjectId) -> bool {
    let is_wait = |it: &Event| matches!(it.kind, OpKind::CondWait | OpKind::FutexWait);
    let after = &trace.events[idx..];
    after.iter().any(|it| it.thread == thread && it.object == object && is_wait(it))
}
