//! Happens-before: what an execution orders, and accesses that it does not.
//!
//! The core that the analysis of a trace ([`crate::races`]) and the runtime inside the program share: the
//! same calls in the same order give the same races, so the two can't differ.
//!
//! - [`Causality`]: vector clocks of threads, locks and atomics; which earlier access happens before what a
//!   thread does now.
//! - [`Histories`]: the accesses to each four bytes of memory that matter for later ones. [`SharedHistories`]: the same,
//!   where many words have the same.
//!
//! - [`Stores`]: which stores an atomic load may read where memory is weaker than sequentially consistent.
//!
//! FastTrack (Flanagan and Freund, PLDI 2009) with C++11's atomics and fences. Where we depart from them is said in
//! the parts.

mod causality;
mod clock;
mod history;
mod shared;
mod stores;

pub use causality::{Atomic, Bytes, Causality};
pub use clock::Clock;
pub use history::{Accessed, Conflict, Histories, HistoryId};
pub use shared::{SharedHistories, SharedHistoryId};
pub use stores::{Access, Place, Reading, Stores, Way};

/// A stretch of a thread's execution between two releases: what others can know of it they know of all of
/// it. Numbered over all threads in the order of their beginning; 0 is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Segment(pub u32);

impl Segment {
    /// No segment.
    pub const NONE: Segment = Segment(0);
    /// Segments are numbered below this; an execution with more is not looked at any further.
    pub const LIMIT: u32 = (1 << Segment::BITS) - 1;
    /// Bits of a segment's number.
    pub const BITS: u32 = 25;
}
