//! The next plan between executions.
//!
//! A planner is asked for executions by their index and answers with what each is to do differently.
//! Nothing here depends on a clock, on the environment, or on how many workers run the executions: the
//! same campaign seed gives the same plans.

mod directions;
mod fuzzer;
mod lengths;
mod portfolio;
mod ratio;
mod rounds;
pub mod search;
mod seeds;
mod sharing;
mod strategy;
mod unseen;

pub use directions::Directions;
pub use fuzzer::Fuzzer;
pub use lengths::{Learning, Observation, roles};
pub use portfolio::{Arm, News, Portfolio};
pub use ratio::{Goal, Sum, edge_probability, stride_ratio};
pub use rounds::{is_looked_at, is_probe, round};
pub use seeds::{Seeds, entry, picker};
pub use sharing::{Sharing, epoch};
pub use strategy::{Edges, FORMS, Form, Recipe, Strategy, StrategyError};
pub use unseen::Unseen;
