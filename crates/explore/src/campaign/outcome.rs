//! What a campaign has come to, at its end and on the way.

use std::time::Duration;

use raddle_model::Finding;
use raddle_trace::Summary;

use crate::target::{Execution, Uncontrolled};

/// What a campaign has come to so far: an [`Outcome`] that may still grow.
pub type Progress = Outcome;

/// What a campaign has come to.
///
/// All but the times is the same for the same options, however many workers there were, unless the
/// campaign was ended by the clock or by the user.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// Executions that count: all below the one that ended the campaign.
    pub executions: u64,
    /// Time since the start.
    pub elapsed: Duration,
    /// Executions per second, from the start.
    pub execs_per_s: f64,
    /// Executions that differ in more than the order of independent steps.
    pub distinct_traces: u64,
    /// Steps of all executions.
    pub steps_total: u64,
    /// Steps of the longest execution.
    pub steps_max: u64,
    /// One for each bucket, in the order of their first executions.
    pub findings: Vec<Found>,
    /// Percentage of executions without anything uncontrolled, and of confirmations with the same
    /// trace as the execution that they repeat.
    pub stability: f64,
    /// What could not be controlled; counts are added up.
    pub uncontrolled: Vec<Uncontrolled>,
    /// Executions that made no step for too long.
    pub n_hung: u64,
    /// How the first execution went.
    pub baseline: Option<Summary>,
    /// The first execution failed before there was a second thread: no schedule is to blame.
    pub baseline_failure: Option<Finding>,
    /// No execution had more than one thread.
    pub single_threaded: bool,
    /// The user ended the campaign.
    pub interrupted: bool,
    /// When, since the start, the last new class of traces was seen.
    pub last_new_trace: Duration,
}

/// All findings of one bucket.
#[derive(Clone, Debug)]
pub struct Found {
    /// The first of them.
    pub finding: Finding,
    /// What the user calls it: `dl-02c1`.
    pub id: String,
    /// Executions that showed it.
    pub count: u64,
    /// The first of those.
    pub first: u64,
    /// How often it came back when its plan was run again.
    pub reproduced: Reproduced,
}

/// How often a finding came back: `n` times of `m`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Reproduced {
    /// Times it came back.
    pub n: u32,
    /// Times its plan was run again.
    pub m: u32,
}

/// Is told what happens in a campaign, on the campaign's own thread, in the order of executions.
pub trait Observer {
    /// A new bucket has its first finding. Called before the finding is confirmed.
    fn finding(&mut self, _finding: &Finding, _id: &str) {}

    /// The finding's plan was run again.
    fn confirmed(&mut self, _found: &Found) {}

    /// Called every 200 ms or more often.
    fn progress(&mut self, _progress: &Progress) {}

    /// Every execution, if the options say `verbose`.
    fn execution(&mut self, _index: u64, _execution: &Execution) {}
}
