//! Test support: threads that are as they are told to be.

use raddle_model::{Op, ThreadId};

use crate::view::{Threads, View};

/// Threads of which some can go on, in the order in which they are listed, and some may time out.
#[derive(Debug, Default)]
pub(crate) struct Fake {
    pub(crate) n_threads: u32,
    pub(crate) enabled: Vec<ThreadId>,
    pub(crate) timed: Vec<ThreadId>,
    op: Op,
}

impl Fake {
    pub(crate) fn new(n_threads: u32, enabled: &[u32], timed: &[u32]) -> Fake {
        let ids = |numbers: &[u32]| numbers.iter().copied().map(ThreadId).collect();
        Fake { n_threads, enabled: ids(enabled), timed: ids(timed), op: Op::default() }
    }

    /// The state after so many steps, the last one taken by `last`.
    pub(crate) fn view(&self, step: u64, last: u32) -> View<'_, Fake> {
        View { step, last: ThreadId(last), threads: self }
    }
}

impl Threads for Fake {
    fn n_enabled(&self) -> u32 {
        self.enabled.len() as u32
    }

    fn enabled(&self, idx: u32) -> ThreadId {
        self.enabled[idx as usize]
    }

    fn is_enabled(&self, thread: ThreadId) -> bool {
        self.enabled.contains(&thread)
    }

    fn timed(&self) -> &[ThreadId] {
        &self.timed
    }

    fn op(&self, _thread: ThreadId) -> &Op {
        &self.op
    }

    fn n_threads(&self) -> u32 {
        self.n_threads
    }
}
