//! What the machine knows about one thread.

use raddle_model::{ObjectId, Op, OpResult, SiteId, ThreadId};

use crate::Queue;

/// Where a thread stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    /// It runs: it has no pending op.
    Running,
    /// Its pending op can be performed, whatever others do.
    Ready,
    /// It wants an object, and stands in that object's queue.
    Queued(ObjectId, Queue),
    /// Something has to wake it first.
    Parked,
    /// It has let others go first.
    Yielded,
    /// It has finished.
    Finished,
}

#[derive(Clone, Debug)]
pub(crate) struct Thread {
    pub(crate) status: Status,
    /// What it is about to do. Meaningful unless it runs or has finished.
    pub(crate) pending: Op,
    /// Where it stands in the list that `status` names.
    pub(crate) slot: u32,
    /// May its wait end as a choice?
    pub(crate) is_timed: bool,
    /// Somebody ended its wait.
    pub(crate) is_woken: bool,
    /// How its pending op ends, if that was decided from outside (timeout, signal).
    pub(crate) verdict: Option<OpResult>,
    /// How deep it held the mutex that it gave back to wait.
    pub(crate) depth: u32,
    pub(crate) is_joined: bool,
    pub(crate) is_detached: bool,
    /// The object that others join.
    pub(crate) object: ObjectId,
    pub(crate) created_at: SiteId,
    pub(crate) parent: Option<ThreadId>,
}

impl Thread {
    pub(crate) fn new(object: ObjectId, parent: Option<ThreadId>, created_at: SiteId) -> Thread {
        Thread {
            status: Status::Running,
            pending: Op::default(),
            slot: u32::MAX,
            is_timed: false,
            is_woken: false,
            verdict: None,
            depth: 0,
            is_joined: false,
            is_detached: false,
            object,
            created_at,
            parent,
        }
    }
}
