//! The words every crate uses.
//!
//! *program* (under test), *execution* (one run of it), *step* (one visible operation done), *thread*,
//! *object*, *op* (what a thread is about to do), *event* (what it did), *choice*, *schedule* (its
//! choices), *plan* (prefix + picker + seed + limits), *picker*, *search*, *campaign*, *finding*.
//!
//! Plain data only: no clock, no environment, no I/O, no addresses.

mod dependence;
mod detect;
mod doubt;
mod drawing;
mod end;
mod escape;
mod explanation;
mod fault;
mod figures;
mod finding;
pub mod flows;
mod function;
mod gap;
mod history;
mod hypothesis;
mod location;
mod object;
mod op;
mod orders;
mod picker;
mod plan;
mod profile;
mod reads_from;
mod rng;
mod script;
mod search;
mod strength;
mod threads;

pub use dependence::{Conflict, Effect, conflict, dependent};
pub use detect::Detect;
pub use doubt::{Certainty, Doubt, Intention, LockUsage, Remedy};
pub use drawing::{Drawing, DrawnEdge, DrawnNode, Shape};
pub use end::{End, Misuse, OpResult};
pub use escape::Escape;
pub use explanation::{
    Constraint, Difference, Explanation, Likelihood, Minimising, MinimisingEnd, Observation,
    Origin, Passing, Point, Reason, Share, Size,
};
pub use fault::{
    Allocator, Blocked, Expected, Fault, HeapError, HeapFault, MemoryLimit, Misused, Moment,
    Nested, Standstill, StdWait, signal_name,
};
pub use figures::{
    ArmYield, Around, Coverage, CurvePoint, Estimate, Figures, StepsAt, Uncontrolled,
};
pub use finding::{
    Access, Bucket, Contrast, Evidence, Finding, Frame, FreedMemory, Held, Kind, Link, Miss,
    Missed, Place, Reproduced, Step, TIMING_US, ThreadState, WaitFor,
};
pub use function::short_function;
pub use gap::Gap;
pub use history::{Consistency, History, Operation, Refused};
pub use hypothesis::{Family, Hypothesis, Kept, Tried};
pub use location::{BlockSort, Content, Enumerators, Home, Location};
pub use object::{Common, NamedObject, ObjectClass};
pub use op::{Event, Flags, MemoryOrder, ObjectId, Op, OpKind, SiteId, ThreadId};
pub use orders::{BothOrders, Change, Outcome};
pub use picker::{Amount, Counting, Depth, Giving, PickerSpec, Ranking, Smax};
pub use plan::{
    Carrier, Conditions, Handlers, Limits, MemoryModel, Plan, Points, Record, Timeouts, Watch,
};
pub use profile::{Interest, Length, Profile, ProfileView, Role, Use};
pub use reads_from::{AbstractSchedule, ReadsFrom, Wish};
pub use rng::Rng;
pub use script::{Before, Deviation, PlaceOrder, Side};
pub use search::{
    BoundUnit, Count, CoveredPairs, Decided, Derived, Divergence, Judged, Scope, SearchEffort,
    SearchProgress, SearchSize, TraceSize, Unreached,
};
pub use strength::{OrderAt, Reordered, Repair, Support, Weakness};
pub use threads::ThreadSet;

/// Mixes a value into a hash; the one hash function of Raddle (wyhash's folded multiply).
#[inline]
pub const fn mix(hash: u64, value: u64) -> u64 {
    let product =
        ((hash ^ 0xa076_1d64_78bd_642f) as u128) * ((value ^ 0xe703_7ed1_a0b4_28db) as u128);
    (product as u64) ^ ((product >> 64) as u64)
}

/// Hashes bytes with [`mix`].
pub const fn hash_bytes(bytes: &[u8]) -> u64 {
    let mut hash = bytes.len() as u64;
    let mut idx = 0;
    while idx < bytes.len() {
        let mut word = 0;
        let mut byte_idx = 0;
        while byte_idx < 8 && idx < bytes.len() {
            word |= (bytes[idx] as u64) << (8 * byte_idx);
            byte_idx += 1;
            idx += 1;
        }
        hash = mix(hash, word);
    }
    hash
}
