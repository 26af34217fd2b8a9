//! Locks that are held at two moments which belong together, and not all the way from one to the other.

use raddle_model::{Finding, Kind, ObjectId, OpKind, Place, ThreadId};

use super::{
    mark::{Mark, Moment},
    marks::{held_at, steps_before},
};
use crate::{
    schedule::{held_before, own_place},
    words::place,
};

/// A lock that a thread releases between two moments, while another thread does something to the same data.
pub(super) struct Released<'a> {
    pub(super) thread: ThreadId,
    pub(super) lock: ObjectId,
    pub(super) from: &'a Mark,
    /// It may be a line that was not reached.
    pub(super) to: &'a Mark,
    /// Where it is released.
    pub(super) at: Place,
}

/// All of them, as they came.
pub(super) fn released<'a>(finding: &Finding, marks: &'a [Mark]) -> Vec<Released<'a>> {
    let is_misuse = |it: &Mark| it.is_primary && finding.kind == Kind::Misuse;
    let is_part = |it: &Mark| it.is_access() || it.is_blocked || is_misuse(it);
    let mut all = Vec::new();
    for (i, from) in marks.iter().enumerate().filter(|it| it.1.is_access()) {
        let mut rest = marks.iter().enumerate().skip(i + 1);
        let next = rest.find(|(_, it)| it.thread == from.thread && is_part(it));
        let Some((j, to)) = next else { continue };
        let between = marks[i + 1..j].iter();
        let is_end =
            |it: &Mark| is_misuse(to) && matches!(it.kind, Some(OpKind::Free | OpKind::Destroy));
        let between = between
            .filter(|it| it.thread != from.thread && (in_conflict(it, from, to) || is_end(it)));
        let between: Vec<&Mark> = between.collect();
        // The same line again is the next round of a loop.
        let line = |it: &Mark| (it.place.file.clone(), it.place.line, it.caller.clone());
        let is_round = line(from) == line(to);
        if !between.is_empty() && !is_round {
            all.extend(one(finding, from, to, &between));
        }
    }
    // Who looks twice is not to blame where another acts on what it has looked at.
    let acts = |it: &Released<'_>| {
        [it.from, it.to].iter().any(|it| it.is_blocked || it.kind.is_some_and(OpKind::is_write))
    };
    if all.iter().any(acts) {
        all.retain(acts);
    }
    all
}

/// Does a moment change what one of the two is about, or see what one of them changes?
fn in_conflict(it: &Mark, from: &Mark, to: &Mark) -> bool {
    let writes = |it: &Mark| it.kind.is_some_and(OpKind::is_write);
    let is_notice = matches!(it.kind, Some(OpKind::Signal | OpKind::Broadcast));
    [from, to].iter().any(|side| {
        let is_data = it.is_access() && side.is_access() && (writes(it) || writes(side));
        it.object == side.object && (is_data || is_notice)
    })
}

fn one<'a>(
    finding: &Finding,
    from: &'a Mark,
    to: &'a Mark,
    between: &[&Mark],
) -> Option<Released<'a>> {
    let start = steps_before(finding, from)?;
    let end = steps_before(finding, to).unwrap_or(finding.steps.len());
    let held_after = match to.moment {
        Moment::Failure => held_before(finding, finding.steps.len(), to.thread),
        _ => held_at(finding, to),
    };
    // Of a line that was not reached, who else uses the same data tells.
    let guards = |lock: &ObjectId| {
        let mut others = between.iter().filter(|it| it.object == to.object);
        others.any(|it| held_at(finding, it).contains(lock))
    };
    let is_held = |lock: &ObjectId| match to.moment {
        Moment::Never => guards(lock),
        _ => held_after.contains(lock),
    };
    let lock = held_at(finding, from).into_iter().rfind(is_held)?;
    let step = finding.steps.get(start..end)?.iter().find(|it| {
        it.thread == from.thread
            && it.object == lock
            && matches!(it.kind, OpKind::Unlock | OpKind::RwUnlock)
    })?;
    let direct = finding.places.get(step.place as usize);
    let direct = direct.filter(|it| !place::is_library(it) && it.line > 0);
    let at = direct.or(own_place(finding, step)).cloned().unwrap_or_default();
    Some(Released { thread: from.thread, lock, from, to, at })
}

/// The lock that is held at every access of several threads, if it is one.
pub(super) fn held_everywhere(finding: &Finding, marks: &[Mark]) -> Option<ObjectId> {
    let is_it = |it: &&Mark| it.is_access() && !it.is_lone && it.moment < Moment::Failure;
    let accesses = || marks.iter().filter(is_it);
    let first = accesses().next()?;
    let [lock] = held_at(finding, first)[..] else { return None };
    let is_shared = accesses().any(|it| it.thread != first.thread);
    (is_shared && accesses().all(|it| held_at(finding, it) == [lock])).then_some(lock)
}

/// Is a lock only read-locked at some access? That keeps no other reader out.
pub(super) fn is_read_locked(finding: &Finding, marks: &[Mark], lock: ObjectId) -> bool {
    let mut accesses = marks.iter().filter(|it| it.is_access() && it.moment < Moment::Failure);
    accesses.any(|mark| {
        let n_steps = steps_before(finding, mark).unwrap_or(0);
        let before = finding.steps.get(..n_steps).unwrap_or_default().iter();
        let own = before.filter(|it| it.thread == mark.thread && it.object == lock);
        let took = own.rev().find(|it| !matches!(it.kind, OpKind::Unlock | OpKind::RwUnlock));
        took.is_some_and(|it| matches!(it.kind, OpKind::ReadLock | OpKind::TryReadLock))
    })
}
