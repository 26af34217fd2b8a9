//! Test support: threads that are as they are told to be.

use raddle_model::{ObjectId, Op, OpKind, SiteId, ThreadId};

use crate::view::{Threads, View};

/// Threads of which some can go on, in the order in which they are listed, and some may time out.
#[derive(Debug, Default)]
pub(crate) struct Fake {
    pub(crate) n_threads: u32,
    pub(crate) enabled: Vec<ThreadId>,
    pub(crate) timed: Vec<ThreadId>,
    /// Who created each thread from the second on; the first did if nothing is said.
    pub(crate) parents: Vec<u32>,
    /// By thread: what it is about to do; the same for all if nothing is said.
    pub(crate) ops: Vec<Op>,
}

impl Fake {
    pub(crate) fn new(n_threads: u32, enabled: &[u32], timed: &[u32]) -> Fake {
        let ids = |numbers: &[u32]| numbers.iter().copied().map(ThreadId).collect();
        Fake { n_threads, enabled: ids(enabled), timed: ids(timed), ..Fake::default() }
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

    fn op(&self, thread: ThreadId) -> &Op {
        const START: Op = Op::on(OpKind::Start, ObjectId::NONE, SiteId(0));
        self.ops.get(thread.idx()).unwrap_or(&START)
    }

    fn n_threads(&self) -> u32 {
        self.n_threads
    }

    fn parent(&self, thread: ThreadId) -> Option<ThreadId> {
        let idx = thread.idx().checked_sub(1)?;
        Some(ThreadId(self.parents.get(idx).copied().unwrap_or(0)))
    }

    /// Objects are named by their numbers.
    fn name(&self, object: ObjectId) -> u64 {
        u64::from(object.0)
    }
}
