//! Which locks each thread holds, as a trace goes by.
//!
//! Mutexes, spin locks and rwlocks. A recursive mutex counts once. What a thread took while it was the only
//! one alive is not in a trace: its release then is of a lock that it does not hold, and changes nothing.

use raddle_model::{Event, ObjectId, OpKind, OpResult, ThreadId};

use crate::value::HeldLock;

/// See the module.
#[derive(Clone, Debug, Default)]
pub struct HeldLocks {
    threads: Vec<Vec<Holding>>,
}

#[derive(Clone, Copy, Debug)]
struct Holding {
    lock: HeldLock,
    depth: u32,
    step: u64,
}

impl HeldLocks {
    /// Nobody holds anything.
    pub const fn new() -> HeldLocks {
        HeldLocks { threads: Vec::new() }
    }

    /// The locks of a thread, in the order in which it took them.
    pub fn of(&self, thread: ThreadId) -> impl Iterator<Item = HeldLock> + '_ {
        self.with_steps(thread).map(|(lock, _)| lock)
    }

    /// The same, with the step at which each was taken.
    pub fn with_steps(&self, thread: ThreadId) -> impl Iterator<Item = (HeldLock, u64)> + '_ {
        self.threads.get(thread.idx()).into_iter().flatten().map(|it| (it.lock, it.step))
    }

    /// Does the thread hold the lock, in any mode?
    pub fn holds(&self, thread: ThreadId, lock: ObjectId) -> bool {
        self.of(thread).any(|it| it.lock == lock)
    }

    /// A step was done: the locks that change hands.
    pub fn step(&mut self, event: &Event, step: u64) {
        let is_taken = matches!(event.result, OpResult::Done | OpResult::OwnerDied);
        match event.kind {
            OpKind::Lock | OpKind::TryLock | OpKind::WriteLock | OpKind::TryWriteLock
                if is_taken =>
            {
                self.take(event, event.object, false, step);
            }
            OpKind::ReadLock | OpKind::TryReadLock if is_taken => {
                self.take(event, event.object, true, step);
            }
            OpKind::Unlock | OpKind::RwUnlock if is_taken => {
                self.give_back(event.thread, event.object, false);
            }
            OpKind::CondWait if is_taken => self.give_back(event.thread, event.other, true),
            OpKind::CondWake if !matches!(event.result, OpResult::Interrupted | OpResult::Busy) => {
                self.take(event, event.other, false, step);
            }
            OpKind::Finish => {
                if let Some(held) = self.threads.get_mut(event.thread.idx()) {
                    held.clear();
                }
            }
            _ => {}
        }
    }

    fn take(&mut self, event: &Event, lock: ObjectId, is_shared: bool, step: u64) {
        let thread = event.thread.idx();
        if self.threads.len() <= thread {
            self.threads.resize_with(thread + 1, Vec::new);
        }
        let held = &mut self.threads[thread];
        match held.iter_mut().find(|it| it.lock.lock == lock) {
            Some(it) => it.depth += 1,
            None => {
                let lock = HeldLock { lock, site: event.site, is_shared };
                held.push(Holding { lock, depth: 1, step });
            }
        }
    }

    fn give_back(&mut self, thread: ThreadId, lock: ObjectId, all: bool) {
        let Some(held) = self.threads.get_mut(thread.idx()) else { return };
        let Some(idx) = held.iter().position(|it| it.lock.lock == lock) else { return };
        held[idx].depth -= 1;
        if all || held[idx].depth == 0 {
            held.remove(idx);
        }
    }
}
