//! Lines that have no parts of their own.

use serde::Serialize;

use super::{FiguresLine, call::CallLine};

/// The figures, and how the campaign ended.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct SummaryLine<'a> {
    #[serde(flatten)]
    pub(super) figures: FiguresLine,
    pub(super) seed: u64,
    pub(super) interrupted: bool,
    pub(super) single_threaded: bool,
    pub(super) uncontrolled: u64,
    pub(super) uncontrolled_calls: Vec<CallLine<'a>>,
    pub(super) inconclusive_calls: Vec<CallLine<'a>>,
    pub(super) baseline_failed: bool,
}

/// A finding that the user does not want to hear of.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct SuppressedLine<'a> {
    pub(super) kind: &'static str,
    pub(super) message: String,
    pub(super) executions: u64,
    pub(super) rule: &'a str,
    pub(super) reason: Option<&'a str>,
}

/// What one execution wrote.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct OutputLine<'a> {
    pub(super) execution: u64,
    pub(super) output: &'a str,
}

/// A strategy on a program.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct ComparedLine<'a> {
    pub(super) program: &'a str,
    pub(super) strategy: &'a str,
    pub(super) repeats: u64,
    pub(super) found: u64,
    /// Executions by which so many had found something; null if that was not reached.
    pub(super) median: Option<u64>,
    pub(super) p95: Option<u64>,
    pub(super) failures: u64,
    pub(super) executions: u64,
    pub(super) failure_rate: f64,
    pub(super) points_per_execution: f64,
    pub(super) points_max: u64,
    pub(super) execs_per_s: f64,
}

/// Whether a change fixed a finding.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Regressed<'a> {
    /// The finding.
    pub id: &'a str,
    /// What its schedule does now.
    pub schedule: &'a str,
    /// The strategy that was used.
    pub strategy: &'a str,
    /// Executions that failed.
    pub shown: u64,
    /// All executions.
    pub executions: u64,
    /// How often it failed before.
    pub was: Ratio,
    /// The confidence that it is gone; null if it is not.
    pub gone: Option<f64>,
}

/// So many of so many.
#[derive(Clone, Copy, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Ratio {
    /// Those that are meant.
    pub n: u64,
    /// All.
    pub of: u64,
}
