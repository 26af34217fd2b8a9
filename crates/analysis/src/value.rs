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

/// Another thread's accesses between two accesses of one thread that were meant to be one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AtomicityViolation {
    /// The memory of the first access.
    pub object: ObjectId,
    /// That of the last one, if it is other memory.
    pub other: Option<ObjectId>,
    /// The access that begins what was meant to be one.
    pub begin: Side,
    /// The other thread's: one, or one that meets the first access and one that meets the last.
    pub remotes: Vec<Side>,
    /// The access that ends it.
    pub end: Side,
}

impl AtomicityViolation {
    /// All accesses, in their order.
    pub fn sides(&self) -> impl Iterator<Item = &Side> {
        [&self.begin].into_iter().chain(&self.remotes).chain([&self.end])
    }
}

/// Two accesses of different threads in an order that was perhaps not meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inversion {
    /// The memory.
    pub object: ObjectId,
    /// The access that came first.
    pub first: Side,
    /// The one that came second.
    pub second: Side,
    /// Steps after which the second one's thread would go first.
    pub n_steps: usize,
}
