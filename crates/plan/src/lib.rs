//! The next plan between executions.
//!
//! A planner is asked for executions by their index and answers with what each is to do differently.
//! Nothing here depends on a clock, on the environment, or on how many workers run the executions: the
//! same campaign seed gives the same plans.

pub mod search;
mod seeds;
mod sharing;

pub use seeds::{Planner, Seeds, entry, picker};
pub use sharing::{Sharing, epoch};
