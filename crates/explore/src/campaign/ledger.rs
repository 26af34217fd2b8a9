//! What the executions of a campaign mean: what is counted, found, named, confirmed and told.
//!
//! Executions are entered in the order of their numbers, so all of it comes out as if one worker had
//! run them one after the other.

mod predicted;
mod races;

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

use raddle_model::{Bucket, End, Finding, Kind, Plan};
use raddle_plan::{News, is_probe};

use self::{predicted::Predicted, races::KnownRaces};
use super::{
    Found, Observer, Options, Outcome, Reproduced, Suppressed, source::Done, tally::Tally,
};
use crate::{
    explain::explain,
    finding::{bucket, finding, is_failure, step_places},
    replay::{Sameness, Verdict, replay},
    store::Ids,
    target::{BlockResult, Session, Symbols, Target, TargetError},
};

/// Less than the 200 ms that observers are promised.
const PROGRESS_EVERY: Duration = Duration::from_millis(100);

/// What a campaign has come to, and all that is needed to make more of it.
pub(super) struct Ledger<'a> {
    target: &'a dyn Target,
    options: &'a Options,
    symbols: &'a mut dyn Symbols,
    observer: &'a mut dyn Observer,
    stop: &'a AtomicBool,
    ids: &'a mut Ids,
    tally: Tally,
    next_progress: Instant,
    /// For running findings again.
    session: Option<Box<dyn Session + Send>>,
    races: KnownRaces,
    predicted: Predicted,
    /// The plan of the first execution, and the digest of what it did.
    first: Option<(Plan, u64)>,
    error: Option<TargetError>,
}

/// Who takes part in a campaign.
pub(super) struct Parties<'a> {
    pub(super) target: &'a dyn Target,
    pub(super) options: &'a Options,
    pub(super) symbols: &'a mut dyn Symbols,
    pub(super) observer: &'a mut dyn Observer,
    pub(super) stop: &'a AtomicBool,
    pub(super) ids: &'a mut Ids,
}

/// Is more wanted after what has been seen?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Appetite {
    /// Yes.
    GoOn,
    /// No: nothing after the last execution entered.
    Enough,
}

impl<'a> Ledger<'a> {
    /// Nothing has run.
    pub(super) fn new(parties: Parties<'a>) -> Ledger<'a> {
        let Parties { target, options, symbols, observer, stop, ids } = parties;
        Ledger {
            target,
            options,
            symbols,
            observer,
            stop,
            ids,
            tally: Tally::new(),
            next_progress: Instant::now() + PROGRESS_EVERY,
            session: None,
            races: KnownRaces::default(),
            predicted: Predicted::default(),
            first: None,
            error: None,
        }
    }

    /// May more be handed out: is there time left, does nobody want us to stop, did nothing go wrong? However
    /// short the time, something is run, unless it takes very long: that nothing was found must mean something.
    pub(super) fn may_go_on(&self) -> bool {
        let elapsed = self.tally.elapsed();
        let has_run = self.tally.outcome.executions > 0;
        let patience = if has_run { Duration::ZERO } else { self.options.patience };
        let is_time_over = self.options.time.is_some_and(|it| it + patience <= elapsed);
        !is_time_over && self.error.is_none() && !self.is_stopped()
    }

    /// Does the user want no more?
    pub(super) fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Notes what ends the campaign, if nothing has before.
    pub(super) fn fail(&mut self, error: TargetError) {
        self.error.get_or_insert(error);
    }

    /// The bucket of a result's last execution, if that failed. Known before the result is entered,
    /// for nothing beyond the first failure is wanted.
    pub(super) fn bucket(&mut self, result: &BlockResult) -> Option<Bucket> {
        let last = result.last.as_ref()?;
        if !is_failure(&last.trace, self.options.exit_is_fine) {
            return None;
        }
        bucket(&last.trace, self.symbols)
    }

    /// Has the bucket been found before?
    pub(super) fn is_known(&mut self, bucket: Bucket) -> bool {
        self.tally.found(bucket).is_some() || self.tally.is_suppressed(bucket)
    }

    /// Counts executions, all before them having been counted.
    pub(super) fn enter(&mut self, done: &mut Done) -> (Appetite, Vec<News>) {
        if self.first.is_none() {
            self.first = done.result.summaries.first().map(|it| (done.plan(0), it.digest));
        }
        let news = self.tally.count_all(done, self.options);
        self.tally.outcome.steps_spared += done.result.n_steps_spared;
        self.tally.merge_uncontrolled(std::mem::take(&mut done.result.uncontrolled));
        if let Some(last) = &done.result.last {
            if self.options.verbose {
                self.observer.execution(done.range.end - 1, last);
            }
            if last.trace.end == Some(End::Bug) {
                self.fail(TargetError::Bug(last.trace.message.clone()));
            }
        }
        self.note_places(done);
        self.enter_races(done);
        let is_baseline_broken = done.bucket.is_some() && self.add(done) == Appetite::Enough;
        let has_predicted = self.options.detect.predicts() && self.predict(done, &news);
        // What nobody wants to hear of did not fail.
        done.bucket = done.bucket.filter(|it| !self.tally.is_suppressed(*it));
        let is_saturated = self.options.saturation.is_some_and(|it| self.tally.is_saturated(it));
        let outcome = &mut self.tally.outcome;
        outcome.is_saturated |= is_saturated;
        let is_alone = outcome.single_threaded && 2 <= outcome.executions;
        let is_enough = is_baseline_broken || is_alone || is_saturated || has_predicted;
        (if is_enough { Appetite::Enough } else { Appetite::GoOn }, news)
    }

    /// Notes where the steps of a probe were: one execution of each epoch, the same whatever the workers.
    fn note_places(&mut self, done: &Done) {
        let is_alone = done.range.end - done.range.start == 1;
        let last = done.result.last.as_ref().filter(|_| is_alone && is_probe(done.range.start));
        if let Some(last) = last {
            self.tally.look_at(step_places(&last.trace, self.symbols).into_iter());
        }
    }

    /// Counts a failure: the last execution of a result.
    fn add(&mut self, done: &Done) -> Appetite {
        if done.bucket.is_some_and(|it| self.tally.count_again(it)) {
            return Appetite::GoOn;
        }
        let (Some(last), Some(summary)) = (&done.result.last, done.result.summaries.last()) else {
            unreachable!("bug: a failure without its execution");
        };
        let plan = done.plan(done.result.summaries.len() - 1);
        let first = done.range.end - 1;
        let mut finding = finding(&last.trace, &plan, first, &last.output, self.symbols)
            .expect("bug: what has a bucket is a finding");
        finding.strategy = self.options.strategy_of(&plan, first);
        if let Some(label) = &done.label {
            finding.strategy = format!("{} at {label}", finding.strategy);
        }
        let is_suppressed = self.options.suppressions.find(&finding).is_some();
        if first == 0 && summary.n_threads <= self.options.n_alone && !is_suppressed {
            self.tally.outcome.baseline_failure = Some(finding);
            return Appetite::Enough;
        }
        self.add_finding(finding, 1);
        Appetite::GoOn
    }

    /// Adds a finding of a new bucket, which so many executions have shown.
    fn add_finding(&mut self, finding: Finding, count: u64) {
        if let Some(rule) = self.options.suppressions.find(&finding) {
            self.tally.outcome.suppressed.push(Suppressed { finding, rule, count });
            return;
        }
        let id = self.ids.id(finding.kind, finding.bucket);
        self.observer.finding(&finding, &id);
        let first = finding.execution;
        let mut found = Found {
            finding,
            original: None,
            explanation: None,
            id,
            count,
            first,
            reproduced: Reproduced::default(),
        };
        if found.finding.kind != Kind::Hang && self.options.confirmations > 0 {
            let since = Instant::now();
            let looked_into = self.confirm(&mut found).and_then(|()| self.explain(&mut found));
            self.tally.leave_out(since.elapsed());
            match looked_into {
                Err(TargetError::Stopped) if self.is_stopped() => {}
                Err(error) => self.fail(error),
                Ok(()) => {}
            }
            self.observer.confirmed(&found);
        }
        self.tally.outcome.findings.push(found);
    }

    /// Makes a finding's schedule small and says why it fails, if it came back at all.
    fn explain(&mut self, found: &mut Found) -> Result<(), TargetError> {
        let Some(mut budget) = self.options.explain.filter(|_| found.reproduced.n > 0) else {
            return Ok(());
        };
        if let Some(time) = self.options.time {
            // All explanations together take no longer than exploring may, or than two of them.
            let time = time.max(2 * budget.time);
            budget.time = budget.time.min(time.saturating_sub(self.tally.aside()));
        }
        let session = match &mut self.session {
            Some(session) => session,
            none => none.insert(self.target.open()?),
        };
        let exit_is_fine = self.options.exit_is_fine;
        let explained =
            explain(session.as_mut(), self.symbols, &found.finding, exit_is_fine, budget)?;
        found.take(explained);
        Ok(())
    }

    /// Runs a finding's plan again. Not to be asked of a hang, which would hold up everything.
    fn confirm(&mut self, found: &mut Found) -> Result<(), TargetError> {
        let exit_is_fine = self.options.exit_is_fine;
        let session = match &mut self.session {
            Some(session) => session,
            none => none.insert(self.target.open()?),
        };
        for _ in 0..self.options.confirmations {
            let same = Sameness::default();
            let verdict =
                replay(session.as_mut(), &found.finding, self.symbols, exit_is_fine, same);
            let verdict = match verdict {
                Err(TargetError::Stopped) if self.stop.load(Ordering::Relaxed) => break,
                verdict => verdict?,
            };
            let (is_back, is_same_trace) = match verdict {
                Verdict::Reproduced { exact, .. } => (true, exact),
                Verdict::Diverged { same_bucket, .. } => (same_bucket, false),
                Verdict::Gone => (false, false),
            };
            found.reproduced.n += u32::from(is_back);
            found.reproduced.m += 1;
            self.tally.count_confirmation(is_same_trace);
        }
        Ok(())
    }

    /// How long until progress is to be shown again.
    pub(super) fn until_progress(&self) -> Duration {
        self.next_progress.saturating_duration_since(Instant::now())
    }

    /// Shows progress, if it is time.
    pub(super) fn show_progress(&mut self, describe: impl FnOnce(&mut Outcome)) {
        let now = Instant::now();
        if self.next_progress <= now {
            self.next_progress = now + PROGRESS_EVERY;
            self.describe(describe);
            self.observer.progress(self.tally.progress());
        }
    }

    fn describe(&mut self, describe: impl FnOnce(&mut Outcome)) {
        describe(&mut self.tally.outcome);
        if let Some(search) = &self.tally.outcome.search {
            self.tally.set_diverged(search.progress.n_diverged);
        }
    }

    /// Before a search says that it has seen all: its first execution once more, several times. A program that throws
    /// dice of its own may have done the same wherever two executions had choices in common, by chance.
    fn repeat_first(&mut self) {
        const TIMES: u32 = 8;
        let outcome = &self.tally.outcome;
        let Some((plan, digest)) = self.first.take() else { return };
        if !outcome.is_exhaustive() || !outcome.findings.is_empty() || self.error.is_some() {
            return;
        }
        for _ in 0..TIMES {
            match self.run_watched(&plan) {
                Ok(again) => self.tally.count_repetition(again.trace.summary.digest == digest),
                Err(TargetError::Stopped) if self.is_stopped() => return,
                Err(error) => return self.fail(error),
            }
        }
    }

    /// What the campaign has come to, when nothing more will run.
    pub(super) fn finish(
        mut self,
        is_finished: bool,
        describe: impl FnOnce(&mut Outcome),
    ) -> Result<Outcome, TargetError> {
        self.tell_predicted();
        self.describe(describe);
        assert!(is_finished || !self.may_go_on(), "bug: executions were left over");
        self.repeat_first();
        self.tally.outcome.interrupted = self.is_stopped() && !is_finished;
        match self.error {
            Some(error) => Err(error),
            None => Ok(self.tally.finish()),
        }
    }
}
