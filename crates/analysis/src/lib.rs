//! What a trace says beside how it ended.
//!
//! Each analysis is a function of a trace. What they find is told by the numbers of the trace (`value`);
//! places and names are found by whoever makes a [`raddle_model::Finding`] of it.

mod atomicity;
mod contrast;
mod deadlocks;
pub mod hb;
mod held;
mod hypotheses;
mod interruptions;
mod lockset;
mod needs;
mod orders;
mod races;
mod reads_from;
#[cfg(test)]
mod toy;
mod value;
mod weak;

pub use atomicity::{Intent, violations};
pub use contrast::{ReadDifference, contrast, differences};
pub use deadlocks::{PotentialDeadlock, deadlocks};
pub use held::HeldLocks;
pub use hypotheses::{Suggested, hypotheses};
pub use interruptions::{Interruption, Tear, interruptions};
pub use lockset::{Unlocked, Usage, locksets, unlocked};
pub use needs::way_to;
pub use orders::inversions;
pub use races::races;
pub use reads_from::reads_from;
pub use value::{AtomicityViolation, HeldLock, Inversion, LockCycle, LockLink, Race, Side};
