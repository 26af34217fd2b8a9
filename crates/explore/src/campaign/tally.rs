//! An outcome in the making, with what its figures are made from.

use std::{collections::HashSet, time::Instant};

use raddle_model::{Bucket, End};
use raddle_trace::Summary;

use super::outcome::{Found, Outcome};
use crate::target::Uncontrolled;

/// An outcome in the making.
#[derive(Debug)]
pub(super) struct Tally {
    pub(super) outcome: Outcome,
    start: Instant,
    classes: HashSet<u64>,
    n_confirmations: u64,
    n_unstable: u64,
    /// Executions of a search that did not follow their prefix.
    n_diverged: u64,
}

impl Tally {
    /// Nothing has run.
    pub(super) fn new() -> Tally {
        Tally {
            outcome: Outcome { stability: 100.0, ..Outcome::default() },
            start: Instant::now(),
            classes: HashSet::new(),
            n_confirmations: 0,
            n_unstable: 0,
            n_diverged: 0,
        }
    }

    /// Counts one execution.
    pub(super) fn count(&mut self, summary: &Summary) {
        let outcome = &mut self.outcome;
        if outcome.executions == 0 {
            outcome.baseline = Some(*summary);
            outcome.single_threaded = true;
        }
        outcome.executions += 1;
        outcome.single_threaded &= summary.n_threads <= 1;
        outcome.steps_total += summary.n_steps;
        outcome.steps_max = outcome.steps_max.max(summary.n_steps);
        if self.classes.insert(summary.class) {
            outcome.distinct_traces += 1;
            outcome.last_new_trace = self.start.elapsed();
        }
        let (hang_kind, _) = End::Hang.to_numbers();
        outcome.n_hung += u64::from(summary.end_kind == u32::from(hang_kind));
        self.n_unstable += u64::from(summary.n_uncontrolled != 0);
        self.measure_stability();
    }

    /// Counts one repetition of an execution.
    pub(super) fn count_confirmation(&mut self, is_same_trace: bool) {
        self.n_confirmations += 1;
        self.n_unstable += u64::from(!is_same_trace);
        self.measure_stability();
    }

    /// Adds up what could not be controlled, by what it was and where; the first way there is kept.
    pub(super) fn merge_uncontrolled(&mut self, more: Vec<Uncontrolled>) {
        let all = &mut self.outcome.uncontrolled;
        for new in more {
            let is_same = |old: &&mut Uncontrolled| {
                old.what == new.what && old.stack.first() == new.stack.first()
            };
            match all.iter_mut().find(is_same) {
                Some(old) => old.count += new.count,
                None => all.push(new),
            }
        }
    }

    /// What is known of a bucket.
    pub(super) fn found(&mut self, bucket: Bucket) -> Option<&mut Found> {
        self.outcome.findings.iter_mut().find(|it| it.finding.bucket == bucket)
    }

    /// The outcome so far, with the time up to now.
    pub(super) fn progress(&mut self) -> &Outcome {
        let elapsed = self.start.elapsed();
        self.outcome.elapsed = elapsed;
        self.outcome.execs_per_s = self.outcome.executions as f64 / elapsed.as_secs_f64().max(1e-9);
        &self.outcome
    }

    /// The outcome at the end.
    pub(super) fn finish(mut self) -> Outcome {
        self.progress();
        self.outcome
    }

    /// Notes how many executions of a search did not follow their prefix.
    pub(super) fn set_diverged(&mut self, n_diverged: u64) {
        self.n_diverged = n_diverged;
        self.measure_stability();
    }

    fn measure_stability(&mut self) {
        let n_all = self.outcome.executions + self.n_confirmations;
        if n_all == 0 {
            return;
        }
        let n_stable = n_all.saturating_sub(self.n_unstable + self.n_diverged);
        self.outcome.stability = 100.0 * n_stable as f64 / n_all as f64;
    }
}
