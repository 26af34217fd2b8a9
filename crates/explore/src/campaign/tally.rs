//! An outcome in the making, with what its figures are made from.

use std::{
    cmp::Reverse,
    collections::BTreeMap,
    time::{Duration, Instant},
};

use raddle_model::{
    ArmYield, Bucket, End, Figures, Kept, PickerSpec, Place, StepsAt, Uncontrolled,
};
use raddle_plan::{News, Unseen, round};
use raddle_trace::{Entry, Summary};

use super::{
    Options,
    account::Earlier,
    curve::Curve,
    outcome::{Found, Outcome, Suppressed},
    source::Done,
};
use crate::{coverage::Covered, suppress::Suppressions};

/// A campaign is not saturated before so many executions in a row have brought no new pair.
const QUIET_MIN: u64 = 1_000;

/// An outcome in the making.
#[derive(Debug)]
pub(super) struct Tally {
    pub(super) outcome: Outcome,
    start: Instant,
    /// Time that was not spent on exploring.
    aside: Duration,
    traces: Unseen,
    pairs: Unseen,
    /// The last execution that brought a new pair.
    last_new_pair: u64,
    /// By arm of the outcome: picker and parameters, as entries have them.
    pickers: Vec<(u32, [u64; 2])>,
    /// Executions that were run again, and those of them that took the same steps.
    n_again: u64,
    n_same: u64,
    /// Executions in which something could not be controlled.
    n_uncontrolled: u64,
    /// Executions of a search that did not follow their prefix.
    n_diverged: u64,
    curve: Curve,
    /// Steps by place, of the executions that were looked at.
    steps_at: BTreeMap<Place, u64>,
}

impl Tally {
    /// Nothing has run.
    pub(super) fn new() -> Tally {
        Tally {
            outcome: Outcome::new(),
            start: Instant::now(),
            aside: Duration::ZERO,
            traces: Unseen::new(),
            pairs: Unseen::new(),
            last_new_pair: 0,
            pickers: Vec::new(),
            n_again: 0,
            n_same: 0,
            n_uncontrolled: 0,
            n_diverged: 0,
            curve: Curve::default(),
            steps_at: BTreeMap::new(),
        }
    }

    /// Takes over what earlier parts of a search have come to.
    pub(super) fn take_over(&mut self, earlier: &Earlier, suppressions: &Suppressions) {
        let outcome = &mut self.outcome;
        let account = &earlier.account;
        outcome.figures.n_inconclusive = account.n_inconclusive;
        outcome.figures.n_spent = account.n_spent;
        outcome.figures.n_thinned = account.n_thinned;
        outcome.n_clocked = account.n_clocked;
        outcome.n_allocating = account.n_allocating;
        outcome.n_unlike = account.n_unlike;
        outcome.uncontrolled = account.uncontrolled.clone();
        outcome.n_gone = earlier.n_gone();
        outcome.n_suppressed_earlier = earlier.account.n_suppressed;
        for found in &earlier.findings {
            match suppressions.find(&found.finding) {
                None => outcome.findings.push(found.clone()),
                Some(rule) => outcome.suppressed.push(Suppressed {
                    finding: found.finding.clone(),
                    rule,
                    count: found.count,
                }),
            }
        }
    }

    /// Counts executions. What has each brought?
    pub(super) fn count_all(&mut self, done: &Done, options: &Options) -> Vec<News> {
        let n_before = self.outcome.figures.executions;
        let summaries = done.result.summaries.iter();
        let mut news: Vec<News> = summaries.map(|it| self.count(it, options.n_alone)).collect();
        for covered in &done.result.covered {
            if self.cover(covered)
                && let Some(news) = news.get_mut(covered.first as usize)
            {
                news.n_pairs += 1;
                let execution = n_before + u64::from(covered.first);
                self.last_new_pair = self.last_new_pair.max(execution);
                self.curve.pair(execution);
            }
        }
        let is_new = done.bucket.is_some_and(|it| self.found(it).is_none());
        if let Some(last) = news.last_mut() {
            last.is_new_finding = is_new;
        }
        for (entry, news) in done.planned.entries().iter().zip(&news) {
            self.credit(entry, news, options);
        }
        news
    }

    /// Notes a pair; is it new?
    fn cover(&mut self, covered: &Covered) -> bool {
        let Covered { pair, n_executions, .. } = *covered;
        if !self.pairs.see(pair.0, n_executions) {
            return false;
        }
        let coverage = &mut self.outcome.figures.coverage;
        let has_reverse = self.pairs.has(pair.reverse().0);
        let is_first = !has_reverse || pair == pair.reverse();
        if pair.is_of_locks() {
            coverage.lock_pairs += 1;
        } else {
            coverage.site_pairs += u64::from(is_first);
            coverage.both_ways += u64::from(has_reverse);
        }
        true
    }

    fn credit(&mut self, entry: &Entry, news: &News, options: &Options) {
        let picker = match raddle_plan::picker(entry) {
            PickerSpec::Directed { .. } | PickerSpec::Rff { .. } => (entry.picker, [0, 0]),
            _ => (entry.picker, entry.params),
        };
        let idx = match self.pickers.iter().position(|it| *it == picker) {
            Some(idx) => idx,
            None => {
                let strategy = options.name_of(raddle_plan::picker(entry));
                self.pickers.push(picker);
                self.outcome.figures.arms.push(ArmYield { strategy, ..ArmYield::default() });
                self.pickers.len() - 1
            }
        };
        let arm = &mut self.outcome.figures.arms[idx];
        arm.executions += 1;
        arm.new_pairs += u64::from(news.n_pairs);
        arm.new_traces += u64::from(news.is_new_trace);
        arm.findings += u64::from(news.is_new_finding);
    }

    /// How much is left, as far as can be told.
    fn estimate(&mut self) {
        let n_executions = self.outcome.figures.executions;
        self.outcome.figures.unseen_pairs = self.pairs.estimate(n_executions);
        self.outcome.figures.unseen_traces = self.traces.estimate(n_executions);
    }

    /// Is it unlikely enough that one more execution shows a new pair? Asked where a round ends, for only
    /// there does the answer not depend on the workers.
    pub(super) fn is_saturated(&self, bound: f64) -> bool {
        let n_executions = self.outcome.figures.executions;
        let is_round_over = n_executions > 0 && round(n_executions - 1).end == n_executions;
        let n_quiet = n_executions.saturating_sub(self.last_new_pair + 1);
        is_round_over
            && n_quiet >= (n_executions / 2).max(QUIET_MIN)
            && self.pairs.estimate(n_executions).upper <= bound
    }

    /// Counts one execution.
    fn count(&mut self, summary: &Summary, n_alone: u32) -> News {
        let outcome = &mut self.outcome;
        if outcome.figures.executions == 0 {
            outcome.baseline = Some(*summary);
            outcome.figures.single_threaded = true;
        }
        outcome.figures.executions += 1;
        outcome.figures.single_threaded &= summary.n_threads <= n_alone;
        outcome.figures.steps_total += summary.n_steps;
        outcome.figures.steps_max = outcome.figures.steps_max.max(summary.n_steps);
        outcome.figures.points_total += summary.n_points;
        outcome.figures.points_max = outcome.figures.points_max.max(summary.n_points);
        let is_new_trace = self.traces.see(summary.class, 1);
        if is_new_trace {
            outcome.figures.distinct_traces += 1;
            outcome.figures.last_new_trace = self.start.elapsed().saturating_sub(self.aside);
        }
        self.curve.count(outcome.figures.executions, outcome.figures.distinct_traces);
        let end = End::from_numbers(summary.end_kind as u8, summary.end_detail);
        outcome.figures.n_inconclusive += u64::from(end.is_some_and(End::is_inconclusive));
        outcome.figures.n_spent += u64::from(end == Some(End::Spent));
        outcome.figures.n_thinned += u64::from(summary.n_thinned != 0);
        outcome.n_clocked += u64::from(summary.n_clock_reads != 0);
        outcome.n_allocating += u64::from(summary.n_allocators > 1);
        self.n_uncontrolled += u64::from(summary.n_uncontrolled != 0);
        self.measure_stability();
        News {
            is_new_trace,
            n_steps: summary.n_steps,
            class: summary.class,
            kept: Kept::from_number(summary.kept),
            ..News::default()
        }
    }

    /// Counts one repetition of an execution.
    pub(super) fn count_confirmation(&mut self, is_same_trace: bool) {
        self.n_again += 1;
        self.n_same += u64::from(is_same_trace);
        self.measure_stability();
    }

    /// Counts one repetition of the first execution, after a search that claims to have seen all.
    pub(super) fn count_repetition(&mut self, is_same_trace: bool) {
        self.count_confirmation(is_same_trace);
        self.outcome.n_unlike += u64::from(!is_same_trace);
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

    /// Counts one more execution that showed a bucket; `false` if the bucket is new.
    pub(super) fn count_again(&mut self, bucket: Bucket) -> bool {
        self.count_more(bucket, 1)
    }

    /// Counts more executions that showed a bucket; `false` if the bucket is new.
    pub(super) fn count_more(&mut self, bucket: Bucket, n_more: u64) -> bool {
        let outcome = &mut self.outcome;
        let found = outcome.findings.iter_mut().find(|it| it.finding.bucket == bucket);
        let suppressed = outcome.suppressed.iter_mut().find(|it| it.finding.bucket == bucket);
        let count = found.map(|it| &mut it.count).or(suppressed.map(|it| &mut it.count));
        count.map(|it| *it += n_more).is_some()
    }

    /// Forgets a finding, since there is a better one of its bucket; how many executions showed it.
    pub(super) fn forget(&mut self, bucket: Bucket) -> u64 {
        let findings = &mut self.outcome.findings;
        let idx = findings.iter().position(|it| it.finding.bucket == bucket);
        idx.map_or(0, |it| findings.remove(it).count)
    }

    /// Is it one that the user does not want to hear of?
    pub(super) fn is_suppressed(&self, bucket: Bucket) -> bool {
        self.outcome.suppressed.iter().any(|it| it.finding.bucket == bucket)
    }

    /// Time since the start, without what was left out.
    pub(super) fn elapsed(&self) -> Duration {
        self.start.elapsed().saturating_sub(self.aside)
    }

    /// Time that was left out.
    pub(super) const fn aside(&self) -> Duration {
        self.aside
    }

    /// Leaves out a time that was not spent on exploring.
    pub(super) fn leave_out(&mut self, time: Duration) {
        self.aside += time;
    }

    /// The outcome so far, with the time up to now.
    pub(super) fn progress(&mut self) -> &Outcome {
        self.outcome.figures.elapsed = self.elapsed();
        self.estimate();
        &self.outcome
    }

    /// The outcome at the end.
    pub(super) fn finish(mut self) -> Outcome {
        self.progress();
        let Figures { executions, distinct_traces, .. } = self.outcome.figures;
        self.outcome.curve = self.curve.finish(executions, distinct_traces);
        let steps_at = self.steps_at.into_iter().map(|(place, n_steps)| StepsAt { place, n_steps });
        self.outcome.steps_at = steps_at.collect();
        self.outcome.steps_at.sort_by_key(|it| Reverse(it.n_steps));
        self.outcome
    }

    /// Notes where an execution's steps were.
    pub(super) fn look_at(&mut self, steps: impl Iterator<Item = Place>) {
        self.outcome.n_looked_at += 1;
        for place in steps {
            *self.steps_at.entry(place).or_default() += 1;
        }
    }

    /// Notes how many executions of a search did not follow their prefix.
    pub(super) fn set_diverged(&mut self, n_diverged: u64) {
        self.n_diverged = n_diverged;
        self.measure_stability();
    }

    /// Does the same plan give the same steps? As far as plans were run again, that is known; otherwise those count as
    /// stable in which nothing uncontrolled happened. Both are shares that do not depend on how many executions there
    /// were. In a search each execution also runs a part of another one's plan again.
    /// Executions in which accesses were no scheduling points, though they should have been, are not stable.
    fn measure_stability(&mut self) {
        let share = |n: u64, of: u64| if of == 0 { 1.0 } else { n as f64 / of as f64 };
        let n_all = self.outcome.figures.executions;
        let repeated = match self.n_again {
            0 => share(n_all.saturating_sub(self.n_uncontrolled), n_all),
            n_again => share(self.n_same, n_again),
        };
        let followed = share(n_all.saturating_sub(self.n_diverged), n_all);
        // Where accesses were left out, schedules were, too.
        let whole = share(n_all.saturating_sub(self.outcome.figures.n_thinned), n_all);
        self.outcome.figures.stability = 100.0 * repeated.min(followed).min(whole);
    }
}
