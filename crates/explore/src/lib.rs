//! The campaign: plan, run, learn; findings, store, replay.

pub mod target;
