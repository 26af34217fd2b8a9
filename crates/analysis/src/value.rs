//! What analyses find, by the numbers of the trace.

use raddle_model::{ObjectId, OpKind, SiteId, ThreadId};

/// Two accesses to the same memory, at least one of them a write and one not atomic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Race {
    /// The memory.
    pub object: ObjectId,
    /// The access that came first in the trace.
    pub first: Side,
    /// The one that came second.
    pub second: Side,
}

impl Race {
    /// Both sites, the smaller first: the same for both orders.
    pub fn sites(&self) -> [SiteId; 2] {
        let mut sites = [self.first.site, self.second.site];
        sites.sort_unstable();
        sites
    }
}

/// One access.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Side {
    /// Who.
    pub thread: ThreadId,
    /// What: an access, or [`OpKind::Free`].
    pub kind: OpKind,
    /// Where the bytes begin in the object.
    pub offset: u32,
    /// How many bytes.
    pub size: u32,
    /// Where in the code; 0 if that is not known.
    pub site: SiteId,
    /// Steps that the execution had done before it.
    pub step: u64,
    /// The calls that led there, innermost first, if they are known.
    pub stack: Vec<SiteId>,
    /// The locks that the thread held, in the order in which it took them.
    pub holds: Vec<HeldLock>,
}

/// A lock that a thread holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HeldLock {
    /// Which.
    pub lock: ObjectId,
    /// Where it was taken.
    pub site: SiteId,
    /// Is it a read lock?
    pub is_shared: bool,
}

/// Threads that could each hold what another one wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockCycle {
    /// Each thread's part; each wants what the next one holds, and the last what the first holds.
    pub links: Vec<LockLink>,
}

/// A thread's part in a cycle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockLink {
    /// Who.
    pub thread: ThreadId,
    /// What it holds.
    pub holds: HeldLock,
    /// The step at which it took it.
    pub held_step: u64,
    /// What it wants.
    pub wants: ObjectId,
    /// Where it asks for it.
    pub site: SiteId,
    /// The step at which it does.
    pub step: u64,
}

/// Another thread's access between two accesses of one thread that were meant to be one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AtomicityViolation {
    /// The memory of the first access.
    pub object: ObjectId,
    /// The access that begins what was meant to be one.
    pub begin: Side,
    /// The other thread's.
    pub remote: Side,
    /// The access that ends it.
    pub end: Side,
}
