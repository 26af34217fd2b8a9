//! What an execution has accessed, and where the locks around it were taken.

use std::collections::{BTreeMap, BTreeSet};

use raddle_model::{Event, ObjectId, OpKind, OpResult, Side, SiteId, ThreadId};
use raddle_trace::Trace;

use super::Found;
use crate::{held::HeldLocks, value::HeldLock};

/// An access, as far as it can be ordered otherwise.
#[derive(Clone, Debug)]
pub(super) struct Access {
    pub(super) thread: ThreadId,
    pub(super) object: ObjectId,
    /// What and where.
    pub(super) key: u32,
    pub(super) what: What,
    /// Steps of its thread before it.
    pub(super) n_own: u32,
    /// What must have come before it, by thread: so many steps.
    pub(super) known: usize,
    /// The locks of its thread, with the places where they were taken.
    pub(super) locks: Vec<(HeldLock, u32)>,
    /// When the first of them was taken; its own step if there is none.
    pub(super) section: u64,
}

/// What is done to an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    Read,
    Write,
    /// It is a lock, and what is done while it is held is not known.
    Section,
}

impl What {
    /// Does the order of the two matter?
    pub(super) const fn meets(self, other: What) -> bool {
        !matches!((self, other), (What::Read, What::Read))
    }
}

impl Access {
    /// Is it known what is accessed?
    pub(super) const fn is_data(&self) -> bool {
        !matches!(self.what, What::Section)
    }
}

/// The accesses to each object, in order.
pub(super) type Accesses = BTreeMap<ObjectId, Vec<Access>>;

/// What is known of threads by their creation and their end alone.
struct Lives {
    /// By thread: steps so far, and what it knows.
    threads: Vec<(u32, usize)>,
    /// Steps of each thread. The first is empty.
    clocks: Vec<Vec<u32>>,
    /// Whose object it is.
    of_object: BTreeMap<ObjectId, ThreadId>,
}

impl Lives {
    fn new(n_threads: usize) -> Lives {
        let clocks = vec![Vec::new()];
        Lives { threads: vec![(0, 0); n_threads], clocks, of_object: BTreeMap::new() }
    }

    fn step(&mut self, event: &Event) {
        let me = event.thread.idx();
        match event.kind {
            OpKind::Spawn => {
                let child = ThreadId(event.value as u32);
                self.of_object.insert(event.object, child);
                if child.idx() < self.threads.len() {
                    self.threads[child.idx()].1 = self.joined(me, me);
                }
            }
            OpKind::Join => {
                if let Some(child) = self.of_object.get(&event.object).copied() {
                    self.threads[me].1 = self.joined(me, child.idx());
                }
            }
            _ => {}
        }
        self.threads[me].0 += 1;
    }

    /// What both know, and all steps of the other.
    fn joined(&mut self, one: usize, other: usize) -> usize {
        let mut clock = self.clocks[self.threads[one].1].clone();
        clock.resize(self.threads.len(), 0);
        for (mine, its) in clock.iter_mut().zip(&self.clocks[self.threads[other].1]) {
            *mine = (*mine).max(*its);
        }
        clock[other] = clock[other].max(self.threads[other].0 + 1);
        self.clocks.push(clock);
        self.clocks.len() - 1
    }
}

/// Reads the trace once; requests for locks while others are held go to `found`.
pub(super) fn accesses(trace: &Trace, near: &BTreeSet<SiteId>, found: &mut Found) -> Accesses {
    let mut held = HeldLocks::new();
    let mut lives = Lives::new(trace.threads.len());
    let mut accesses = Accesses::new();
    // By step at which a lock was taken: the place.
    let mut taken: BTreeMap<u64, u32> = BTreeMap::new();
    for (step, event) in trace.events.iter().enumerate() {
        if event.thread.idx() >= lives.threads.len() {
            continue;
        }
        let key = Side::key(event.kind, trace.site_hash(event.site));
        let place = |at: &u64| taken.get(at).copied().unwrap_or(0);
        let locks: Vec<(HeldLock, u32)> =
            held.with_steps(event.thread).map(|(lock, at)| (lock, place(&at))).collect();
        if near.contains(&event.site) {
            // What is done under a lock is held back where the lock is taken.
            found.near.extend(locks.iter().map(|it| it.1).filter(|it| *it != 0));
            found.near.insert(key);
        }
        if event.kind.takes_lock() {
            taken.insert(step as u64, key);
            let lock = locked(event);
            if event.result == OpResult::Done && lock != ObjectId::NONE {
                let (n_own, known) = lives.threads[event.thread.idx()];
                let what = if event.kind == OpKind::ReadLock { What::Read } else { What::Section };
                let section = held.with_steps(event.thread).map(|it| it.1).min();
                accesses.entry(lock).or_default().push(Access {
                    thread: event.thread,
                    object: lock,
                    key,
                    what,
                    n_own,
                    known,
                    locks: locks.clone(),
                    section: section.unwrap_or(step as u64),
                });
            }
            found.request(event, key, locks);
        } else if is_ordered(event.kind) && event.object != ObjectId::NONE {
            found.visit(key, event.object);
            let (n_own, known) = lives.threads[event.thread.idx()];
            let section = held.with_steps(event.thread).map(|it| it.1).min();
            accesses.entry(event.object).or_default().push(Access {
                thread: event.thread,
                object: event.object,
                section: section.unwrap_or(step as u64),
                key,
                what: if event.kind.is_write() { What::Write } else { What::Read },
                n_own,
                known,
                locks,
            });
        }
        held.step(event, step as u64);
        lives.step(event);
    }
    found.clocks = lives.clocks;
    accesses
}

/// Can its order matter to others, apart from locks?
const fn is_ordered(kind: OpKind) -> bool {
    kind.is_access()
        || matches!(
            kind,
            OpKind::CondWait
                | OpKind::Signal
                | OpKind::Broadcast
                | OpKind::SemWait
                | OpKind::SemTryWait
                | OpKind::SemPost
                | OpKind::Free
                | OpKind::Init
                | OpKind::Destroy
                | OpKind::Close
                | OpKind::IoRead
                | OpKind::IoWrite
                | OpKind::Cancel
                | OpKind::Call
        )
}

/// The lock that an event takes.
pub(super) const fn locked(event: &Event) -> ObjectId {
    if matches!(event.kind, OpKind::CondWake) { event.other } else { event.object }
}
