//! The campaign: plan, run, learn; findings, store, replay.
//!
//! Everything here works on a [`Target`]: something that runs plans and gives back traces. That the
//! target is a native program in a fork server is known to `launch` alone; the tests of this crate
//! explore toy programs.

pub mod campaign;
pub mod classes;
pub mod compare;
pub mod coverage;
pub mod explain;
#[cfg(test)]
mod fake;
pub mod finding;
pub mod focus;
pub mod regression;
pub mod replay;
mod route;
pub mod store;
pub mod strength;
pub mod suppress;
pub mod target;

pub use campaign::{
    Campaign, CampaignEvent, CoveredOrders, Found, Journal, Method, Observer, Options, Outcome,
    Saved, SearchOptions, Searched, Suppressed, unless_over,
};
pub use explain::{Budget, Explained, explain};
pub use finding::{Ids, finding, is_system_file, runs_tasks};
pub use focus::{Focus, Spot};
pub use replay::{Sameness, Verdict, is_same, replay};
pub use store::{Store, StoreError, StoredFinding, StoredTarget};
pub use target::{
    Block, BlockResult, Execution, PrefixBatch, PrefixBatchResult, Session, Symbols, Target,
    TargetError, Until,
};
