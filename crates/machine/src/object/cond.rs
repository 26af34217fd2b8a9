//! Condition variables: a wait gives the mutex back and queues in one step; a signal wakes one of the
//! waiters, which one is a choice; the woken thread then competes for the mutex.

use raddle_model::{Misuse, ObjectId, ThreadId};

/// A condition variable.
#[derive(Clone, Debug, Default)]
pub struct Cond {
    /// Threads that wait, in the order in which they came, with the depth of their mutex.
    pub(crate) waiters: Vec<(ThreadId, u32)>,
    /// The mutex of the present waiters.
    mutex: ObjectId,
}

impl Cond {
    pub(crate) fn enqueue(
        &mut self,
        thread: ThreadId,
        depth: u32,
        mutex: ObjectId,
    ) -> Result<(), Misuse> {
        if !self.waiters.is_empty() && self.mutex != mutex {
            return Err(Misuse::WaitWithOtherMutex);
        }
        self.mutex = mutex;
        self.waiters.push((thread, depth));
        Ok(())
    }

    pub(crate) fn remove(&mut self, thread: ThreadId) {
        self.waiters.retain(|(it, _)| *it != thread);
    }

    pub(crate) fn destroy(&self) -> Result<(), Misuse> {
        if self.waiters.is_empty() { Ok(()) } else { Err(Misuse::DestroyAwaited) }
    }
}
