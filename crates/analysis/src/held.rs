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
    /// Threads that wait, and how often each held the mutex that it gave back.
    lent: Vec<(ThreadId, u32)>,
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
        HeldLocks { threads: Vec::new(), lent: Vec::new() }
    }

    /// The locks of a thread, in the order in which it took them.
    pub fn of(&self, thread: ThreadId) -> impl Iterator<Item = HeldLock> + '_ {
        self.with_steps(thread).map(|(lock, _)| lock)
    }

    /// The same, with the step at which each was taken.
    pub fn with_steps(&self, thread: ThreadId) -> impl Iterator<Item = (HeldLock, u64)> + '_ {
        self.threads.get(thread.idx()).into_iter().flatten().map(|it| (it.lock, it.step))
    }

    /// The locks of a thread, each as often as it took it.
    pub fn counted(&self, thread: ThreadId) -> impl Iterator<Item = ObjectId> + '_ {
        let held = self.threads.get(thread.idx()).into_iter().flatten();
        held.flat_map(|it| std::iter::repeat_n(it.lock.lock, it.depth as usize))
    }

    /// Who holds a lock: threads, and how.
    pub fn holders(&self, lock: ObjectId) -> impl Iterator<Item = (ThreadId, HeldLock)> + '_ {
        let all = (0..self.threads.len()).map(|it| ThreadId(it as u32));
        let held = all.flat_map(|thread| self.of(thread).map(move |it| (thread, it)));
        held.filter(move |(_, it)| it.lock == lock)
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
                self.take(event, event.object, false, step, 1);
            }
            OpKind::ReadLock | OpKind::TryReadLock if is_taken => {
                self.take(event, event.object, true, step, 1);
            }
            OpKind::Unlock | OpKind::RwUnlock if is_taken => {
                self.give_back(event.thread, event.object, false);
            }
            OpKind::CondWait if is_taken => {
                let depth = self.give_back(event.thread, event.other, true);
                self.lent.push((event.thread, depth.max(1)));
            }
            OpKind::CondWake if !matches!(event.result, OpResult::Interrupted | OpResult::Busy) => {
                let lent = self.lent.iter().position(|it| it.0 == event.thread);
                let depth = lent.map_or(1, |it| self.lent.swap_remove(it).1);
                self.take(event, event.other, false, step, depth);
            }
            OpKind::Finish => {
                if let Some(held) = self.threads.get_mut(event.thread.idx()) {
                    held.clear();
                }
            }
            _ => {}
        }
    }

    fn take(&mut self, event: &Event, lock: ObjectId, is_shared: bool, step: u64, depth: u32) {
        let thread = event.thread.idx();
        if self.threads.len() <= thread {
            self.threads.resize_with(thread + 1, Vec::new);
        }
        let held = &mut self.threads[thread];
        match held.iter_mut().find(|it| it.lock.lock == lock) {
            Some(it) => it.depth += depth,
            None => {
                let lock = HeldLock { lock, site: event.site, is_shared };
                held.push(Holding { lock, depth, step });
            }
        }
    }

    /// How often the thread held it.
    fn give_back(&mut self, thread: ThreadId, lock: ObjectId, all: bool) -> u32 {
        let Some(held) = self.threads.get_mut(thread.idx()) else { return 0 };
        let Some(idx) = held.iter().position(|it| it.lock.lock == lock) else { return 0 };
        let depth = held[idx].depth;
        held[idx].depth -= 1;
        if all || depth == 1 {
            held.remove(idx);
        }
        depth
    }
}

#[cfg(test)]
mod tests {
    use raddle_model::{Event, ObjectId, OpKind, ThreadId};

    use super::HeldLocks;

    /// A recursive mutex that was taken twice is given back whole by a wait, and taken twice again by its end.
    #[test]
    fn a_wait_takes_back_as_often_as_it_gave() {
        let (mutex, cond, thread) = (ObjectId(1), ObjectId(2), ThreadId(1));
        let mut held = HeldLocks::new();
        let mut after = |kind| {
            let (object, other) = match kind {
                OpKind::CondWait | OpKind::CondWake => (cond, mutex),
                _ => (mutex, ObjectId::NONE),
            };
            held.step(&Event { kind, thread, object, other, ..Event::default() }, 0);
            (held.holds(thread, mutex), held.holders(mutex).count())
        };
        let kinds = [
            (OpKind::Lock, true),
            (OpKind::Lock, true),
            (OpKind::CondWait, false),
            (OpKind::CondWake, true),
            (OpKind::Unlock, true),
            (OpKind::Unlock, false),
        ];
        for (idx, (kind, is_held)) in kinds.into_iter().enumerate() {
            assert_eq!(after(kind), (is_held, usize::from(is_held)), "step {idx}");
        }
    }
}
