//! Four bytes of memory that are watched: who accessed them.

use raddle_analysis::{HeldLock, hb::Segment};
use raddle_model::{OpKind, SiteId, ThreadId, Watch};
use raddle_trace::protocol::RegionTag;

/// What is kept about memory that is watched.
#[derive(Debug, Default)]
pub(crate) struct Watched {
    pub(crate) watch: Watch,
    /// The last access of each segment and kind.
    pub(crate) log: Vec<Logged>,
}

/// An access to the memory.
#[derive(Debug)]
pub(crate) struct Logged {
    pub(crate) thread: ThreadId,
    pub(crate) segment: Segment,
    pub(crate) kind: OpKind,
    pub(crate) mask: u8,
    pub(crate) shift: i16,
    pub(crate) size: u8,
    pub(crate) step: u64,
    pub(crate) site: SiteId,
    /// Return addresses, innermost first.
    pub(crate) callers: Vec<usize>,
    pub(crate) holds: Vec<HeldLock>,
}

impl Watched {
    /// Is any memory watched?
    pub(crate) const fn is_used(&self) -> bool {
        self.watch.region != RegionTag::Unknown as u32
    }
}
