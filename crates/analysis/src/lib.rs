//! What a trace says beside how it ended.
//!
//! Each analysis is a function of a trace. What they find is told by the numbers of the trace (`value`);
//! places and names are found by whoever makes a [`raddle_model::Finding`] of it.

pub mod hb;
mod held;
mod races;
#[cfg(test)]
mod toy;
mod value;

pub use held::HeldLocks;
pub use races::races;
pub use value::{AtomicityViolation, HeldLock, LockCycle, LockLink, Race, Side};
