//! Seed paper 1's classes of memory, as far as one execution has seen them (`memory/locksets`).

use std::collections::BTreeMap;

use raddle_analysis::HeldLocks;
use raddle_model::{ObjectId, ThreadId};

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Locksets {
    /// Is memory classified?
    pub(crate) is_on: bool,
    /// Who holds which locks; followed only if somebody asks.
    pub(crate) held: HeldLocks,
    /// By address: what is known of four bytes since they were initialised.
    words: BTreeMap<usize, Word>,
    /// Executions so far in this process.
    epoch: u64,
}

/// Four bytes of memory.
#[derive(Debug)]
struct Word {
    /// Who accessed them first.
    thread: ThreadId,
    /// Has another thread accessed them, too?
    is_shared: bool,
    is_written: bool,
    /// Locks that were held at every access.
    locks: Vec<ObjectId>,
}

/// The classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// One thread has accessed it.
    Unshared,
    /// Only read, or there is a lock that was held at every access.
    Protected,
    Unprotected,
}

impl Locksets {
    /// A moment of this process, between two steps.
    pub(crate) const fn moment(&self, n_steps: u64) -> u64 {
        (self.epoch << 40) | n_steps
    }

    /// Begins another execution.
    pub(crate) fn restart(&mut self) {
        self.is_on = false;
        self.held = HeldLocks::new();
        self.words.clear();
        self.epoch += 1;
    }

    /// Nothing is known any more: the memory is initialised anew.
    pub(crate) fn forget(&mut self, at: usize) {
        self.words.remove(&at);
    }

    /// A thread accesses four bytes that are initialised: their class from now on.
    pub(crate) fn access(&mut self, at: usize, thread: ThreadId, is_write: bool) -> Class {
        // A lock for readers protects nothing against those who write.
        let held = self.held.of(thread).filter(|it| !is_write || !it.is_shared).map(|it| it.lock);
        let Some(word) = self.words.get_mut(&at) else {
            let (is_shared, is_written) = (false, is_write);
            self.words.insert(at, Word { thread, is_shared, is_written, locks: held.collect() });
            return Class::Unshared;
        };
        if !word.locks.is_empty() {
            let held: Vec<ObjectId> = held.collect();
            word.locks.retain(|it| held.contains(it));
        }
        word.is_shared |= word.thread != thread;
        word.is_written |= is_write;
        match (word.is_shared, word.is_written && word.locks.is_empty()) {
            (false, _) => Class::Unshared,
            (true, false) => Class::Protected,
            (true, true) => Class::Unprotected,
        }
    }
}

#[cfg(test)]
mod tests {
    use raddle_model::{Event, ObjectId, OpKind, ThreadId};

    use super::{
        Class::{Protected, Unprotected, Unshared},
        Locksets,
    };

    const A: ThreadId = ThreadId(1);
    const B: ThreadId = ThreadId(2);

    fn step(locksets: &mut Locksets, thread: ThreadId, kind: OpKind, lock: u32) {
        let event = Event { kind, thread, object: ObjectId(lock), ..Event::default() };
        locksets.held.step(&event, 0);
    }

    /// What the first thread did before the second came counts, unlike Eraser's.
    #[test]
    fn the_first_accesses_count() {
        let mut locksets = Locksets::default();
        assert_eq!(locksets.access(0, A, true), Unshared);
        step(&mut locksets, B, OpKind::Lock, 7);
        assert_eq!(locksets.access(0, B, false), Unprotected);
    }

    #[test]
    fn one_lock_in_common_protects() {
        let mut locksets = Locksets::default();
        for lock in [7, 8] {
            step(&mut locksets, A, OpKind::Lock, lock);
        }
        assert_eq!(locksets.access(0, A, true), Unshared);
        step(&mut locksets, A, OpKind::Unlock, 7);
        step(&mut locksets, B, OpKind::Lock, 7);
        assert_eq!(locksets.access(4, B, true), Unshared);
        assert_eq!(locksets.access(0, B, false), Protected);
        // 8 was not held by the second, 7 is not by the first.
        assert_eq!(locksets.access(0, A, false), Unprotected);
    }

    #[test]
    fn readers_need_no_lock_and_theirs_is_none_to_write_with() {
        let mut locksets = Locksets::default();
        assert_eq!(locksets.access(0, A, false), Unshared);
        assert_eq!(locksets.access(0, B, false), Protected);
        assert_eq!(locksets.access(0, A, true), Unprotected);
        for thread in [A, B] {
            step(&mut locksets, thread, OpKind::ReadLock, 9);
            assert_ne!(locksets.access(4, thread, false), Unprotected);
        }
        assert_eq!(locksets.access(4, B, true), Unprotected);
    }
}
