//! Accesses of other threads in the midst of what was meant to be one.
//!
//! AVIO's cases (Lu et al., ASPLOS 2006): of two accesses of a thread to a variable and one of
//! another thread in between, four combinations are like no serial order: read-write-read, write-write-read,
//! write-read-write, read-write-write. AVIO learns from many good executions which pairs are meant to be one;
//! here the program has to show it ([`Intent`]), and of the four cases those remain where a value is read and
//! then written:
//!
//! - a value is read in one critical section and, without being read again, written in another of the same
//!   lock; or read in one, and read and written at another place in the next: checked, then acted upon;
//! - an atomic is loaded and then stored, neither under a lock, and somebody has stored another value;
//! - two variables that are written together are read, or written, one after the other (`together`).
//!
//! Two accesses in one critical section, with one of another thread in between that does not take the lock, are a
//! race, or are ordered by something else; `races` knows. What has been waited for in between (a condition) is looked at anew by any right program, and is not told;
//! nor is what comes around in a loop at the same place. It remains a guess what was meant: warnings only.
//!
//! Time: for each access, linear in the threads that use the variable.

mod together;

use std::collections::{BTreeMap, BTreeSet};

use raddle_model::{Event, ObjectId, OpKind, OpResult, SiteId, ThreadId};
use raddle_trace::Trace;

use self::together::{Found, Together};
use crate::{
    hb::Atomic,
    held::HeldLocks,
    value::{AtomicityViolation, HeldLock, Side},
};

/// Violations that are told.
const FOUND_MAX: usize = 64;

/// What shows that two accesses were meant to be one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Intent {
    /// What is read in one critical section of this lock is written in another.
    Stale(ObjectId),
    /// What is read in one critical section of this lock is taken to be so in another.
    Checked(ObjectId),
    /// An atomic is loaded, then stored.
    Update,
    /// Sections of this lock treat the variable and this other one together.
    Together(ObjectId, ObjectId),
}

/// The violations of a trace, each triple of sites once, in the order in which they end.
pub fn violations(trace: &Trace) -> Vec<(AtomicityViolation, Intent)> {
    if trace.n_dropped != 0 {
        return Vec::new();
    }
    let mut watcher = Watcher::default();
    for (step, event) in trace.events.iter().enumerate() {
        watcher.step(event, step);
    }
    watcher.tell_together();
    watcher.found
}

/// An access, as it took place.
#[derive(Clone, Debug)]
struct Access {
    step: usize,
    thread: ThreadId,
    kind: OpKind,
    /// Is it atomic, and does it test what it replaces?
    is_atomic: bool,
    is_update: bool,
    site: SiteId,
    bytes: (u32, u32),
    value: u64,
    /// Which locks, and since when.
    locks: Vec<(HeldLock, u64)>,
}

/// What a thread has done to a variable, and others since.
#[derive(Debug, Default)]
struct View {
    last: Option<Access>,
    written: Option<Access>,
    /// Something was looked at, changed by another, and looked at again at another place: if it is written
    /// now, in the same section, that was meant to be one.
    checked: Option<(Access, Access, Access, ObjectId)>,
}

#[derive(Default)]
struct Watcher {
    held: HeldLocks,
    views: BTreeMap<ObjectId, BTreeMap<ThreadId, View>>,
    /// By thread: the last step at which it waited for a condition.
    waited: BTreeMap<ThreadId, usize>,
    together: Together,
    seen: BTreeSet<[SiteId; 3]>,
    found: Vec<(AtomicityViolation, Intent)>,
}

impl Watcher {
    fn step(&mut self, event: &Event, step: usize) {
        if event.kind.is_access() && !event.is_unhooked() {
            self.access(event, step);
        } else if event.kind == OpKind::Free {
            self.views.remove(&event.object);
        } else if matches!(event.kind, OpKind::CondWait | OpKind::CondWake | OpKind::FutexWait) {
            self.waited.insert(event.thread, step);
        }
        self.held.step(event, step as u64);
    }

    fn access(&mut self, event: &Event, step: usize) {
        let access = self.describe(event, step);
        let waited = self.waited.get(&event.thread).copied().unwrap_or(0);
        self.together.access(event.object, &access, waited);
        let views = self.views.entry(event.object).or_default();
        for (_, view) in views.iter_mut().filter(|(thread, _)| **thread != event.thread) {
            if access.kind.is_write() {
                view.written.get_or_insert_with(|| access.clone());
            }
            view.checked = None;
        }
        let view = views.entry(event.thread).or_default();
        let found = view.judge(&access, waited);
        view.last = Some(access);
        view.written = None;
        if let Some((accesses, intent)) = found {
            self.tell(event.object, accesses, intent);
        }
    }

    /// What needs all of the trace.
    fn tell_together(&mut self) {
        for Found { accesses, object, other, lock } in self.together.found() {
            self.tell(object, accesses, Intent::Together(lock, other));
        }
    }

    fn describe(&self, event: &Event, step: usize) -> Access {
        let atomic = Atomic::of(event);
        let start = event.offset();
        Access {
            step,
            thread: event.thread,
            kind: atomic.map_or(event.kind, Atomic::access),
            is_atomic: atomic.is_some(),
            is_update: matches!(
                event.kind,
                OpKind::ReadWrite | OpKind::AtomicRmw | OpKind::AtomicCas
            ) && event.result != OpResult::Busy,
            site: event.site,
            bytes: (start, start + u32::from(event.size.max(1))),
            value: event.value,
            locks: self.held.with_steps(event.thread).collect(),
        }
    }

    fn tell(&mut self, object: ObjectId, accesses: [Access; 3], intent: Intent) {
        let sites = accesses.each_ref().map(|it| it.site);
        if self.found.len() < FOUND_MAX && self.seen.insert(sites) {
            let [begin, remote, end] = accesses.each_ref().map(side);
            let remotes = vec![remote];
            let other = match intent {
                Intent::Together(_, other) => Some(other),
                _ => None,
            };
            self.found.push((AtomicityViolation { object, other, begin, remotes, end }, intent));
        }
    }
}

impl View {
    /// Does an access end something that was meant to be one, and was not?
    fn judge(&mut self, end: &Access, waited: usize) -> Option<([Access; 3], Intent)> {
        if let Some((begin, remote, again, lock)) = self.checked.take()
            && end.kind.is_write()
            && section(&again, lock) == section(end, lock)
        {
            return Some(([begin, remote, end.clone()], Intent::Checked(lock)));
        }
        let begin = self.last.as_ref().filter(|it| it.bytes == end.bytes && !end.is_update)?;
        let writes_last = end.kind.is_write();
        if begin.kind.is_write() {
            return None;
        }
        let remote = self
            .written
            .as_ref()
            .filter(|it| it.bytes.0 < end.bytes.1 && end.bytes.0 < it.bytes.1)?;
        let common =
            |it: &&(HeldLock, u64)| end.locks.iter().any(|other| other.0.lock == it.0.lock);
        let triple = || [begin.clone(), remote.clone(), end.clone()];
        let Some((lock, since)) = begin.locks.iter().find(common) else {
            let all = [begin, remote, end];
            let is_update = all.iter().all(|it| it.is_atomic && it.locks.is_empty())
                && writes_last
                && (remote.is_update || remote.value != end.value)
                && waited < begin.step;
            return is_update.then(|| (triple(), Intent::Update));
        };
        let lock = lock.lock;
        let is_one = section(end, lock) == Some(*since);
        if is_one || waited > begin.step || section(remote, lock).is_none() {
            return None;
        }
        if writes_last {
            return Some((triple(), Intent::Stale(lock)));
        }
        if begin.site != end.site {
            let [begin, remote, end] = triple();
            self.checked = Some((begin, remote, end, lock));
        }
        None
    }
}

/// Since when an access's thread has held a lock.
fn section(access: &Access, lock: ObjectId) -> Option<u64> {
    access.locks.iter().find(|(it, _)| it.lock == lock).map(|(_, since)| *since)
}

fn side(access: &Access) -> Side {
    Side {
        thread: access.thread,
        kind: access.kind,
        offset: access.bytes.0,
        size: access.bytes.1 - access.bytes.0,
        site: access.site,
        step: access.step as u64,
        stack: Vec::new(),
        holds: access.locks.iter().map(|(lock, _)| *lock).collect(),
    }
}

#[cfg(test)]
mod tests;
