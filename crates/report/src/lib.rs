//! Findings, progress and closing lines as text and as JSON lines.
//!
//! Values in, strings out: nothing here prints, reads a file or asks the time. The caller says how wide
//! and how colourful the text may be ([`Style`]) and hands in the source lines.

mod brief;
pub mod closing;
mod columns;
pub mod compare;
mod delays;
mod doubt;
pub mod escape;
mod evidence;
pub mod fault;
mod fold;
pub mod formats;
mod gap;
pub mod json;
pub mod likelihood;
mod listing;
mod markup;
pub mod minimised;
pub mod named;
mod names;
pub mod number;
mod orders;
pub mod page;
mod place;
pub mod progress;
pub mod reason;
pub mod sampling;
mod schedule;
mod scope;
pub mod search;
mod stacks;
mod steps;
mod style;
pub mod suite;
mod switches;
pub mod table;
#[cfg(test)]
mod tests;
pub mod text;
mod timeline;

pub use style::Style;
pub use text::{Shown, Sources};

/// How a campaign stands, while it runs and when it is over.
#[derive(Clone, Debug, Default)]
pub struct Status {
    /// Executions that have ended.
    pub executions: u64,
    /// Seconds since the start.
    pub elapsed_s: f64,
    /// Classes of traces that differ in more than independent steps.
    pub distinct_traces: u64,
    /// Seconds since the last new class, if there was one.
    pub last_new_s: Option<f64>,
    /// Steps of all executions together.
    pub steps: u64,
    /// Steps of the longest execution.
    pub steps_max: u64,
    /// Percent of executions in which everything was controlled.
    pub stability: f64,
    /// Executions that did not come to an end of their own, and say nothing about the program.
    pub n_inconclusive: u64,
    /// Executions that were still running when time was over, and were ended.
    pub n_cut_short: u64,
    /// Executions that were ended because their steps were spent.
    pub n_spent: u64,
    /// Pairs of places that raced, for which there was no time to make a finding.
    pub n_unmet_races: u64,
    /// What was found so far, in order.
    pub findings: Vec<Tally>,
    /// How far the search has come, if it is one.
    pub search: Option<search::SearchStatus>,
    /// What random executions have covered, if it is no search.
    pub sampling: Option<sampling::SamplingStatus>,
}

impl Status {
    /// Executions in a second.
    pub fn execs_per_s(&self) -> f64 {
        if self.elapsed_s > 0.0 { self.executions as f64 / self.elapsed_s } else { 0.0 }
    }
}

/// A finding and how often it was met.
#[derive(Clone, Debug)]
pub struct Tally {
    /// Its id.
    pub id: String,
    /// How often.
    pub count: u64,
    /// Where, as short as it can be said: `bank.c:31`.
    pub place: String,
    /// Does it take a very long delay?
    pub is_timing: bool,
}
