//! Barriers: the last thread to arrive lets all go, and is the chosen one.

use raddle_model::{Misuse, ThreadId};

/// A barrier.
#[derive(Clone, Debug)]
pub struct Barrier {
    needed: u32,
    /// Threads that have arrived and wait.
    pub(crate) arrived: Vec<ThreadId>,
}

impl Barrier {
    pub(crate) fn new(needed: u32) -> Barrier {
        Barrier { needed, arrived: Vec::new() }
    }

    /// Arrives. The threads to let go, if this was the last one needed.
    pub(crate) fn arrive(&mut self, thread: ThreadId) -> Option<Vec<ThreadId>> {
        if self.arrived.len() as u32 + 1 >= self.needed {
            return Some(std::mem::take(&mut self.arrived));
        }
        self.arrived.push(thread);
        None
    }

    pub(crate) fn destroy(&self) -> Result<(), Misuse> {
        if self.arrived.is_empty() { Ok(()) } else { Err(Misuse::DestroyAwaited) }
    }
}
