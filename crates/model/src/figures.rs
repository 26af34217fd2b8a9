//! What a campaign has come to, in figures: the same value on the way, at the end, in the store and in reports.

use std::time::Duration;

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use crate::{Escape, Place, Tried};

/// What a campaign has come to, in figures.
///
/// All but the times is the same for the same options, however many workers there were, unless the campaign was ended by
/// the clock or by the user.
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize), serde(default))]
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Figures {
    /// Executions that count: all below the one that ended the campaign.
    pub executions: u64,
    /// Time since the start, without that for confirming and explaining findings.
    #[cfg_attr(feature = "serde", serde(rename = "elapsed_ms", with = "millis"))]
    pub elapsed: Duration,
    /// When, since the start, the last new class of traces was seen.
    #[cfg_attr(feature = "serde", serde(rename = "last_new_trace_ms", with = "millis"))]
    pub last_new_trace: Duration,
    /// Executions that differ in more than the order of independent steps.
    pub distinct_traces: u64,
    /// Steps of all executions.
    pub steps_total: u64,
    /// Steps of the longest execution.
    pub steps_max: u64,
    /// Scheduling points of all executions.
    pub points_total: u64,
    /// Scheduling points of the execution that had most.
    pub points_max: u64,
    /// Percentage of the executions that were run again which took the same steps; if none was, of those in which
    /// nothing uncontrolled happened. In a search no more than the percentage that followed their plan.
    pub stability: f64,
    /// Executions that did not come to an end of their own, and say nothing about the program.
    #[cfg_attr(feature = "serde", serde(alias = "n_hung"))]
    pub n_inconclusive: u64,
    /// Executions that were still running when time was over, or the user wanted no more, and were ended. They
    /// count nowhere else.
    pub n_cut_short: u64,
    /// Executions that were ended because their steps were spent.
    pub n_spent: u64,
    /// Executions in which accesses that others can tell were no scheduling points: there were too many of them, or of
    /// what has to be known about them.
    pub n_thinned: u64,
    /// Pairs of places that raced, for which there was no time to make a finding.
    pub n_unmet_races: u64,
    /// No execution had more than one thread.
    pub single_threaded: bool,
    /// The user ended the campaign.
    pub interrupted: bool,
    /// The campaign ended because there was hardly anything new to be seen.
    pub is_saturated: bool,
    /// Pairs of places and of locks that were met.
    pub coverage: Coverage,
    /// The chance that one more execution shows a new pair.
    #[cfg_attr(feature = "serde", serde(rename = "new_pair_chance"))]
    pub unseen_pairs: Estimate,
    /// The chance that one more execution has a new trace.
    pub unseen_traces: Estimate,
    /// What each strategy has yielded, in the order in which they came.
    pub arms: Vec<ArmYield>,
    /// Hypotheses about what would break the program, by family.
    pub hypotheses: Vec<Tried>,
    /// What there was to try where the user wanted to look; `None` if that was nowhere in particular.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub around: Option<Around>,
}

impl Figures {
    /// Seconds since the start.
    pub const fn elapsed_s(&self) -> f64 {
        self.elapsed.as_secs_f64()
    }

    /// Executions in a second.
    pub fn execs_per_s(&self) -> f64 {
        if self.elapsed.is_zero() { 0.0 } else { self.executions as f64 / self.elapsed_s() }
    }
}

/// What there was to try where the user wanted to look.
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Around {
    /// Sites there that other threads can tell of, in the executions that were looked at.
    pub sites: u64,
    /// Lines that such a site may be away from there.
    pub distance: u32,
    /// Hypotheses that touch one of them.
    pub known: u64,
    /// Those of them that were tried at least once.
    pub tried: u64,
}

/// Pairs of places and of locks that were met.
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    /// Pairs of places whose steps conflicted, in either order.
    pub site_pairs: u64,
    /// Those of them that were met in both orders.
    pub both_ways: u64,
    /// Pairs of locks of which one was taken while the other was held.
    pub lock_pairs: u64,
}

/// What the executions of one strategy have brought.
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ArmYield {
    /// What the user calls it.
    #[cfg_attr(feature = "serde", serde(alias = "name"))]
    pub strategy: String,
    /// Its executions.
    pub executions: u64,
    /// Pairs of places and of locks that nobody had met before.
    pub new_pairs: u64,
    /// Traces that nobody had seen before.
    pub new_traces: u64,
    /// Buckets that it was the first to find.
    pub findings: u64,
}

/// The chance that one more execution sees something new.
#[cfg_attr(
    feature = "serde",
    derive(Serialize, Deserialize),
    serde(from = "[f64; 2]", into = "[f64; 2]")
)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Estimate {
    /// The best guess.
    pub chance: f64,
    /// It is hardly more: 95 % sure.
    pub upper: f64,
}

impl From<[f64; 2]> for Estimate {
    fn from([chance, upper]: [f64; 2]) -> Estimate {
        Estimate { chance, upper }
    }
}

impl From<Estimate> for [f64; 2] {
    fn from(Estimate { chance, upper }: Estimate) -> [f64; 2] {
        [chance, upper]
    }
}

/// What had been seen after so many executions.
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CurvePoint {
    /// Executions.
    pub executions: u64,
    /// Classes of traces.
    pub traces: u64,
    /// Pairs of places and of locks.
    pub pairs: u64,
}

/// Steps at a place, in the executions that were looked at step by step.
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepsAt {
    /// Where.
    pub place: Place,
    /// How many.
    pub n_steps: u64,
}

/// Something that Raddle could not control, with its stack.
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Uncontrolled {
    /// What.
    pub what: Escape,
    /// How often.
    pub count: u64,
    /// Where, innermost first.
    pub stack: Vec<Place>,
}

/// A time in whole milliseconds.
#[cfg(feature = "serde")]
mod millis {
    use std::time::Duration;

    use serde::{Deserialize as _, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(time: &Duration, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_u64(u64::try_from(time.as_millis()).unwrap_or(u64::MAX))
    }

    pub(super) fn deserialize<'a, D: Deserializer<'a>>(from: D) -> Result<Duration, D::Error> {
        u64::deserialize(from).map(Duration::from_millis)
    }
}
