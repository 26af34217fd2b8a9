//! Notifications that a wait did not get: a lost wake-up, or one that another thread had instead.
//!
//! A signal to nobody is lost; who waits after it waits for the next one. The last notification of what a thread
//! waits for is told, if it is known why it was not for that thread. One that ended an earlier wait of its own was, and
//! who has looked since at what its sender wrote waits for another one.

use std::collections::HashSet;

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
    let std_sync = names.std_sync();
    let is_data = |it| it != object && std_sync.class(it).is_none_or(|it| it.is_variable());
    let is_notice = matches!(told, OpKind::Signal | OpKind::Broadcast);
    let in_vain = is_notice && wakes_in_vain(&trace.events, idx, thread, object);
    if is_notice && !in_vain && has_looked(&trace.events, idx, thread, is_data) {
        return None;
    }
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
        _ if in_vain => Miss::Another(thread),
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
    (in_vain || why != Miss::Another(thread)).then_some(missed)
}

/// Has a thread, since a notification, looked at what its sender had written last before it, of all that the thread looks
/// at? Then it knows of it, and waits for something else.
pub(crate) fn has_looked(
    events: &[Event],
    notice: usize,
    thread: ThreadId,
    is_data: impl Fn(ObjectId) -> bool,
) -> bool {
    let (before, after) = events.split_at(notice);
    let looks = |it: &Event| {
        let is_blind = matches!(it.kind, OpKind::Write | OpKind::AtomicStore);
        it.thread == thread && it.kind.is_access() && !is_blind
    };
    let looked_at: HashSet<ObjectId> =
        events.iter().filter(|it| looks(it)).map(|it| it.object).collect();
    let writes = |it: &&Event| {
        it.thread == events[notice].thread && it.kind.is_access() && it.kind.is_write()
    };
    let mut written = before.iter().rev().filter(writes);
    let last = written.find(|it| looked_at.contains(&it.object) && is_data(it.object));
    last.is_some_and(|last| after.iter().any(|it| looks(it) && are_same(it, last)))
}

/// Do two events use the same bytes, as far as is known? An object may be a block that was once copied as a whole.
pub(crate) fn are_same(one: &Event, other: &Event) -> bool {
    const MANY: u8 = 255;
    let is_known = |it: &Event| it.kind.is_access() && !matches!(it.size, 0 | MANY);
    let is_apart = |it: &Event, next: &Event| it.offset() + u32::from(it.size) <= next.offset();
    let are_apart =
        is_known(one) && is_known(other) && (is_apart(one, other) || is_apart(other, one));
    one.object == other.object && !are_apart
}

/// Does a thread wait at an object before an event?
pub(crate) fn waits_at(before: &[Event], thread: ThreadId, object: ObjectId) -> bool {
    let last = before.iter().rfind(|it| it.thread == thread);
    last.is_some_and(|it| {
        it.object == object && matches!(it.kind, OpKind::CondWait | OpKind::FutexWait)
    })
}

/// Does a notification wake a thread that only looks at something and waits again, for ever?
fn wakes_in_vain(events: &[Event], notice: usize, thread: ThreadId, object: ObjectId) -> bool {
    if !waits_at(&events[..notice], thread, object) {
        return false;
    }
    let mut own = events[notice..].iter().filter(|it| it.thread == thread);
    let wakes = own.next().is_some_and(|it| it.kind == OpKind::CondWake);
    let again = own.find(|it| !it.kind.is_access());
    let waits = |it: &Event| it.kind == OpKind::CondWait && it.object == object;
    wakes && again.is_some_and(waits) && own.next().is_none()
}

/// Was a thread's last wait at an object over because its time was?
fn has_left(before: &[Event], thread: ThreadId, object: ObjectId) -> bool {
    let last = before.iter().rfind(|it| it.thread == thread && it.object == object);
    last.is_some_and(|it| it.result == OpResult::TimedOut)
}

/// Did a thread that did not wait at an object at an event begin to wait there later?
fn begins_after(trace: &Trace, idx: usize, thread: ThreadId, object: ObjectId) -> bool {
    let (before, after) = trace.events.split_at(idx);
    let is_wait = |it: &Event| matches!(it.kind, OpKind::CondWait | OpKind::FutexWait);
    after.iter().any(|it| it.thread == thread && it.object == object && is_wait(it))
        && !waits_at(before, thread, object)
}
