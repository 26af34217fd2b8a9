//! Reader-writer locks. Readers are preferred, as glibc does by default: a reader enters although a
//! writer waits, which is also what lets one thread take the read lock twice.

use raddle_model::{Misuse, OpResult, SiteId, ThreadId};

use crate::Queue;

/// A reader-writer lock.
#[derive(Clone, Debug, Default)]
pub struct Rwlock {
    writer: Option<(ThreadId, SiteId)>,
    /// One entry for each read lock held; a thread may have several.
    readers: Vec<(ThreadId, SiteId)>,
}

impl Rwlock {
    pub(crate) fn is_open(&self, queue: Queue) -> bool {
        self.writer.is_none() && (queue == Queue::Shared || self.readers.is_empty())
    }

    /// Is the answer to a lock by `thread` known at once? Its writer gets `EDEADLK`.
    pub(crate) fn answers_at_once(&self, thread: ThreadId) -> bool {
        self.writer.is_some_and(|(it, _)| it == thread)
    }

    pub(crate) fn lock(&mut self, thread: ThreadId, queue: Queue, site: SiteId) -> OpResult {
        if self.answers_at_once(thread) {
            return OpResult::WouldDeadlock;
        }
        assert!(self.is_open(queue), "bug: a rwlock was taken although it is held");
        match queue {
            Queue::Exclusive => self.writer = Some((thread, site)),
            Queue::Shared => self.readers.push((thread, site)),
        }
        OpResult::Done
    }

    pub(crate) fn try_lock(&mut self, thread: ThreadId, queue: Queue, site: SiteId) -> OpResult {
        if self.is_open(queue) { self.lock(thread, queue, site) } else { OpResult::Busy }
    }

    pub(crate) fn unlock(&mut self, thread: ThreadId) -> Result<OpResult, Misuse> {
        if self.answers_at_once(thread) {
            self.writer = None;
            return Ok(OpResult::Done);
        }
        let held = self.readers.iter().rposition(|(it, _)| *it == thread);
        let held = held.ok_or(Misuse::RwUnlockNotHeld)?;
        self.readers.swap_remove(held);
        Ok(OpResult::Done)
    }

    pub(crate) fn holders(&self) -> Vec<(ThreadId, SiteId)> {
        self.writer.iter().chain(&self.readers).copied().collect()
    }

    pub(crate) fn destroy(&self) -> Result<(), Misuse> {
        if self.writer.is_none() && self.readers.is_empty() {
            Ok(())
        } else {
            Err(Misuse::DestroyHeld)
        }
    }
}
