//! Processes that the program has forked.

use libc::pid_t;
use raddle_model::{ObjectId, SiteId, ThreadId};

/// What the program has forked.
#[derive(Debug, Default)]
pub(crate) struct Forks {
    /// Threads that are about to fork.
    pub(crate) n_pending: u32,
    pub(crate) made: Vec<Fork>,
    /// Locks that other threads held at the last one, and whether for reading.
    pub(crate) held: Vec<(ObjectId, bool)>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Fork {
    pub(crate) thread: ThreadId,
    pub(crate) site: SiteId,
    pub(crate) child: pid_t,
    /// Did other threads hold locks?
    pub(crate) is_risky: bool,
}

impl Forks {
    /// Is a thread about to fork?
    pub(crate) fn is_pending(&self) -> bool {
        self.n_pending > 0
    }

    /// Has the program forked in this execution?
    pub(crate) fn is_any(&self) -> bool {
        !self.made.is_empty()
    }
}
