//! What the executions of a campaign mean: what is counted, found, named, confirmed and told.
//!
//! Executions are entered in the order of their numbers, so all of it comes out as if one worker had
//! run them one after the other.

mod numbers;
mod predicted;
mod races;

use std::{
    cell::Cell,
    collections::VecDeque,
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

use raddle_model::{Bucket, End, Finding, Kind, Plan, Reproduced, TIMING_US};
use raddle_plan::{News, is_looked_at, is_probe};

use self::{predicted::Predicted, races::KnownRaces};
use super::{
    CampaignEvent, CutAt, Found, Observer, Options, Outcome, Suppressed,
    source::{Done, Near},
    tally::Tally,
};
use crate::{
    explain::explain,
    finding::{Ids, Inconclusive, bucket, end_stack, finding, is_failure, step_places},
    replay::{Sameness, Verdict, replay},
    target::{BlockResult, Execution, Session, Symbols, Target, TargetError, Until},
};

/// Less than the 200 ms that observers are promised.
const PROGRESS_EVERY: Duration = Duration::from_millis(100);
/// How much longer than it has time for may a campaign wait for its first execution, or look into what it has
/// found? Users are promised that it ends within a second.
const PATIENCE: Duration = Duration::from_millis(200);

/// One part in so many of a campaign's time, at most, goes to looking into what it has found while it explores, and as
/// much is kept for that at its end.
const SHARE: u32 = 3;

/// After so many executions, one after the other, that say nothing, the others are not waited for.
const INCONCLUSIVE_MAX: u32 = 5;

/// A failure of the baseline that none of so many executions is without may be one that no schedule can change: what
/// comes later does not end the campaign on its account.
const SETTLED: u64 = 16;
/// After so many executions that all show the baseline's failure, and nothing else, there is nothing more to see.
const CONSTANT_MAX: u64 = 1_000;

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
    /// Failures that wait to be looked into, by their bucket.
    waiting: VecDeque<Bucket>,
    /// The plan of the first execution, and the digest of what it did.
    first: Option<(Plan, u64)>,
    /// Executions that said nothing, since the last one that did.
    n_in_a_row: u32,
    /// The baseline's failure, which may show in every schedule.
    constant: Option<Constant>,
    /// There is no time left for exploring.
    is_over: Cell<bool>,
    error: Option<TargetError>,
}

/// A failure that every execution has shown so far.
#[derive(Clone, Copy)]
struct Constant {
    bucket: Bucket,
    /// Has an execution done otherwise?
    is_refuted: bool,
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
pub(super) enum Continue {
    /// Yes.
    GoOn,
    /// No: nothing after the last execution entered.
    Enough,
    /// No: this execution is without the baseline's failure, so that one depends on the schedule after all.
    Settled,
}

impl<'a> Ledger<'a> {
    /// Nothing has run.
    pub(super) fn new(parties: Parties<'a>) -> Ledger<'a> {
        let Parties { target, options, symbols, observer, stop, ids } = parties;
        let saved = options.method.search().and_then(|it| it.saved.as_ref());
        let mut tally = Tally::new();
        if let Some(saved) = saved {
            tally.take_over(&saved.earlier, &options.suppressions);
        }
        Ledger {
            target,
            options,
            symbols,
            observer,
            stop,
            ids,
            tally,
            next_progress: Instant::now() + PROGRESS_EVERY,
            session: None,
            races: KnownRaces::default(),
            predicted: Predicted::default(),
            waiting: VecDeque::new(),
            first: None,
            n_in_a_row: 0,
            constant: None,
            is_over: Cell::new(false),
            error: None,
        }
    }

    /// May more be handed out: is there time left, does nobody want us to stop, did nothing go wrong? However
    /// short the time, something is begun.
    pub(super) fn may_go_on(&self) -> bool {
        let has_run = self.tally.outcome.figures.executions > 0;
        let patience = if has_run { Duration::ZERO } else { PATIENCE };
        let is_explored = self.options.time.is_some_and(|it| it + patience <= self.tally.elapsed());
        let now = Instant::now() + self.reserve();
        let is_late = self.options.deadline.is_some_and(|it| it + patience <= now);
        // What has ended is not begun again, though less may be left to do than was thought.
        self.is_over.set(self.is_over.get() || is_explored || is_late);
        !self.is_over.get() && self.error.is_none() && !self.is_stopped()
    }

    /// May what was found be looked into now? If time is short, it is shared with exploring.
    fn has_time_aside(&self) -> bool {
        let total = self.tally.elapsed() + self.tally.aside();
        let is_short = self.options.time.is_some() && self.options.keep_going;
        // What is predicted depends on what is known.
        !is_short || self.options.detect.predicts() || self.tally.aside() <= total / SHARE
    }

    /// How long executions may go on, whoever has asked for them.
    pub(super) fn until(&self) -> Until {
        Until::at(self.options.deadline.map(|it| it + PATIENCE))
    }

    /// A session of our own, beside those of the workers.
    fn session(&mut self) -> Result<&mut (dyn Session + Send + 'static), TargetError> {
        if self.session.is_none() {
            self.session = Some(self.target.open_until(&self.until())?);
        }
        Ok(self.session.as_deref_mut().expect("bug: it was just opened"))
    }

    /// Notes an execution that was ended because time was over, or the user wanted no more.
    pub(super) fn cut_short(&mut self, cut: &Execution) {
        self.tally.outcome.figures.n_cut_short += 1;
        if self.tally.outcome.cut_at.is_none() {
            let n_steps = cut.trace.summary.n_steps.max(cut.trace.events.len() as u64);
            let places = end_stack(&cut.trace, self.symbols);
            self.tally.outcome.cut_at = Some(CutAt { n_steps, places });
        }
    }

    /// What the campaign has come to so far, but for what only its source knows.
    pub(super) fn outcome(&self) -> &Outcome {
        &self.tally.outcome
    }

    /// Does the user want no more?
    pub(super) fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Notes what ends the campaign, if nothing has before. That time is over, or that the user wants no more, is
    /// no failure.
    pub(super) fn fail(&mut self, error: TargetError) {
        if !matches!(error, TargetError::Stopped) || self.may_go_on() {
            self.error.get_or_insert(error);
        }
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

    /// Where the user wants to look, in an execution that will be learned from.
    pub(super) fn near(&mut self, execution: u64, result: &BlockResult) -> Near {
        let focus = &self.options.focus;
        let last = result.last.as_ref().filter(|_| is_looked_at(execution) && !focus.is_empty());
        let Some(last) = last else { return Near::default() };
        let (sites, distance) = focus.sites(&last.trace, self.symbols);
        Near { sites, distance }
    }

    /// Has the bucket been found before?
    pub(super) fn is_known(&mut self, bucket: Bucket) -> bool {
        self.tally.found(bucket).is_some() || self.tally.is_suppressed(bucket)
    }

    /// Has what an execution shows been found before? What was only a timing assumption then, and needs no long delay
    /// here, has not.
    pub(super) fn has_shown(&mut self, bucket: Bucket, result: &BlockResult) -> bool {
        self.is_known(bucket) && (is_late(result) || !self.is_timing(bucket))
    }

    /// Is a bucket known as a timing assumption?
    fn is_timing(&mut self, bucket: Bucket) -> bool {
        self.tally.found(bucket).is_some_and(|it| it.finding.is_timing())
    }

    /// Counts executions, all before them having been counted.
    pub(super) fn enter(&mut self, done: &mut Done) -> (Continue, Vec<News>) {
        if self.first.is_none() {
            self.first = done.result.summaries.first().map(|it| (done.plan(0), it.digest));
        }
        let news = self.tally.count_all(done, self.options);
        self.tally.outcome.steps_spared += done.result.n_steps_spared;
        self.tally.merge_uncontrolled(std::mem::take(&mut done.result.uncontrolled));
        if let Some(last) = &done.result.last {
            if self.options.verbose {
                let number = done.range.end - 1;
                self.observer.see(CampaignEvent::Executed { number, execution: last });
            }
            if last.trace.end == Some(End::Bug) {
                self.fail(TargetError::Bug(last.trace.message.clone()));
            }
        }
        let is_hopeless = self.enter_inconclusive(done);
        self.note_places(done);
        self.enter_races(done);
        self.look_into_failures();
        self.look_into_races();
        let is_baseline_broken = done.bucket.is_some() && self.add(done) == Continue::Enough;
        let constant = self.enter_constant(done);
        let has_predicted = self.options.detect.predicts() && self.predict(done, &news);
        // What nobody wants to hear of did not fail, and a timing assumption is no end.
        done.bucket =
            done.bucket.filter(|it| !self.tally.is_suppressed(*it) && !self.is_timing(*it));
        let is_saturated = self.options.saturation.is_some_and(|it| self.tally.is_saturated(it));
        let outcome = &mut self.tally.outcome;
        outcome.figures.is_saturated |= is_saturated;
        let is_alone = outcome.figures.single_threaded && 2 <= outcome.figures.executions;
        let is_enough =
            is_baseline_broken || is_alone || is_saturated || has_predicted || is_hopeless;
        (if is_enough { Continue::Enough } else { constant }, news)
    }

    /// A failure of the very first execution, which has no preemption, may be one that no schedule can change: it is
    /// told, and the search for others goes on. It ends there if others are without it, for then it is a finding like
    /// any other.
    fn enter_constant(&mut self, done: &mut Done) -> Continue {
        let execution = done.range.end - 1;
        if execution == 0 {
            let is_wanted = !self.options.keep_going && !self.options.until_first;
            let bucket = done.bucket.filter(|it| is_wanted && self.tally.found(*it).is_some());
            self.constant = bucket.map(|bucket| Constant { bucket, is_refuted: false });
            done.bucket = done.bucket.filter(|_| self.constant.is_none());
            return Continue::GoOn;
        }
        let Some(constant) = &mut self.constant else { return Continue::GoOn };
        let is_shown = done.bucket == Some(constant.bucket) && done.result.summaries.len() == 1;
        constant.is_refuted |= !is_shown;
        match constant.is_refuted {
            true if done.range.start < SETTLED => Continue::Settled,
            false if CONSTANT_MAX <= execution + 1 => Continue::Enough,
            _ => Continue::GoOn,
        }
    }

    /// Counts an execution that says nothing, if the last one is one. Have there been too many, one after the
    /// other?
    fn enter_inconclusive(&mut self, done: &Done) -> bool {
        let told = done.result.last.as_ref();
        let told = told.and_then(|it| Inconclusive::of(&it.trace, self.symbols));
        self.n_in_a_row = match (&told, done.result.summaries.len()) {
            (None, _) => 0,
            (Some(_), 1) => self.n_in_a_row + 1,
            (Some(_), _) => 1,
        };
        let outcome = &mut self.tally.outcome;
        if let Some(told) = told {
            match outcome.inconclusive.iter_mut().find(|it| it.is_like(&told)) {
                Some(known) => known.count += 1,
                None => outcome.inconclusive.push(told),
            }
        }
        outcome.is_given_up |= self.n_in_a_row >= INCONCLUSIVE_MAX;
        outcome.is_given_up
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
    fn add(&mut self, done: &Done) -> Continue {
        let mut count = 1;
        if let Some(bucket) = done.bucket.filter(|it| self.tally.count_again(*it)) {
            if self.has_shown(bucket, &done.result) {
                return Continue::GoOn;
            }
            count = self.tally.forget(bucket);
        }
        let (Some(last), Some(summary)) = (&done.result.last, done.result.summaries.last()) else {
            unreachable!("bug: a failure without its execution");
        };
        let plan = done.plan(done.result.summaries.len() - 1);
        let first = done.range.end - 1;
        let mut finding = finding(&last.trace, &plan, first, &last.output, self.symbols)
            .expect("bug: what has a bucket is a finding");
        finding.strategy = self.options.strategy_of(&plan, first);
        finding.position.clone_from(&done.label);
        let is_suppressed = self.options.suppressions.find(&finding).is_some();
        if first == 0 && summary.n_threads <= self.options.n_alone && !is_suppressed {
            self.tally.outcome.baseline_failure = Some(finding);
            return Continue::Enough;
        }
        self.add_finding(finding, count);
        Continue::GoOn
    }

    /// Adds a finding of a new bucket, which so many executions have shown.
    fn add_finding(&mut self, finding: Finding, count: u64) {
        if let Some(rule) = self.options.suppressions.find(&finding) {
            self.tally.outcome.suppressed.push(Suppressed { finding, rule, count });
            return;
        }
        let id = self.ids.id(finding.kind, finding.bucket);
        self.observer.see(CampaignEvent::Found { id: &id, finding: &finding });
        let (first, kind, bucket) = (finding.execution, finding.kind, finding.bucket);
        let found = Found {
            finding,
            original: None,
            explanation: None,
            id,
            count,
            first,
            reproduced: Reproduced::default(),
        };
        self.tally.outcome.findings.push(found);
        match kind {
            Kind::Race => self.race_waits(bucket),
            _ => {
                self.waiting.push_back(bucket);
                self.look_into_failures();
            }
        }
    }

    /// Looks into failures that wait, as far as there is time for it.
    fn look_into_failures(&mut self) {
        while self.has_time_aside() {
            let Some(bucket) = self.waiting.pop_front() else { return };
            self.look_into_bucket(bucket, true);
        }
    }

    /// The campaign is over: all that wait are run again before the first of them is explained.
    fn look_into_last_failures(&mut self) {
        let waiting = std::mem::take(&mut self.waiting);
        for bucket in &waiting {
            self.look_into_bucket(*bucket, false);
        }
        for bucket in &waiting {
            self.look_into_bucket(*bucket, true);
        }
    }

    /// By bucket: a finding that is replaced by a better one changes the places of all after it.
    fn look_into_bucket(&mut self, bucket: Bucket, is_explained: bool) {
        let all = &self.tally.outcome.findings;
        if let Some(idx) = all.iter().position(|it| it.finding.bucket == bucket) {
            self.look_into(idx, is_explained);
        }
    }

    /// Runs a finding again, and says why it happens if that is wanted.
    fn look_into(&mut self, idx: usize, is_explained: bool) {
        if self.options.confirmations == 0 || self.until().is_over() {
            return;
        }
        let mut found = self.tally.outcome.findings[idx].clone();
        let since = Instant::now();
        let n_times = if is_explained { self.options.confirmations } else { 1 };
        let n_times = n_times.saturating_sub(found.reproduced.of);
        let mut looked_into = self.confirm(&mut found, n_times);
        if is_explained {
            looked_into = looked_into.and_then(|()| self.explain(&mut found));
        }
        self.tally.leave_out(since.elapsed());
        if let Err(error) = looked_into {
            self.fail(error);
        }
        self.observer.see(CampaignEvent::Confirmed(&found));
        self.tally.outcome.findings[idx] = found;
    }

    /// Makes a finding's schedule small and says why it fails, if it came back at all.
    fn explain(&mut self, found: &mut Found) -> Result<(), TargetError> {
        let Some(mut budget) = self.options.explain.filter(|_| found.reproduced.n > 0) else {
            return Ok(());
        };
        if let Some(deadline) = self.options.deadline {
            budget.time = budget.time.min(deadline.saturating_duration_since(Instant::now()));
        }
        if let Some(time) = self.options.time.filter(|_| self.options.keep_going) {
            // All of them together leave most of the time to exploring.
            let all = (time / SHARE).max(budget.time / 5);
            budget.time = budget.time.min(all.saturating_sub(self.tally.aside()));
        }
        let exit_is_fine = self.options.exit_is_fine;
        self.session()?;
        let Ledger { session: Some(session), symbols, .. } = self else { return Ok(()) };
        let explained = explain(session.as_mut(), *symbols, &found.finding, exit_is_fine, budget)?;
        found.take(explained);
        Ok(())
    }

    /// Runs a finding's plan again.
    fn confirm(&mut self, found: &mut Found, n_times: u32) -> Result<(), TargetError> {
        let exit_is_fine = self.options.exit_is_fine;
        self.session()?;
        let Ledger { session: Some(session), symbols, tally, .. } = self else { return Ok(()) };
        for _ in 0..n_times {
            let same = Sameness::default();
            let verdict = replay(session.as_mut(), &found.finding, *symbols, exit_is_fine, same)?;
            let (is_back, is_same_trace) = match verdict {
                Verdict::Reproduced { exact, .. } => (true, exact),
                Verdict::Diverged { same_bucket, .. } => (same_bucket, false),
                Verdict::Gone => (false, false),
            };
            found.reproduced.n += u32::from(is_back);
            found.reproduced.of += 1;
            tally.count_confirmation(is_same_trace);
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
            self.observer.see(CampaignEvent::Progress(self.tally.progress()));
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
    ///
    /// A search that was at its end when it was gone on with has had no execution: then its `baseline` is repeated.
    fn repeat_first(&mut self, baseline: Option<Plan>) {
        const TIMES: u32 = 8;
        let outcome = &self.tally.outcome;
        let first = self.first.take().map(|(plan, digest)| (plan, Some(digest)));
        let Some((plan, mut digest)) = first.or(baseline.map(|it| (it, None))) else { return };
        if !outcome.is_complete() || !outcome.findings.is_empty() || self.error.is_some() {
            return;
        }
        for time in 0..TIMES {
            match self.run_watched(&plan) {
                Ok(again) => {
                    let now = again.trace.summary.digest;
                    self.tally.count_repetition(now == *digest.get_or_insert(now));
                    if time == 0 {
                        self.tally.outcome.unhooked = self.target.unhooked(&again.trace.modules);
                    }
                }
                Err(error) => {
                    self.tally.outcome.is_unrepeated = true;
                    return self.fail(error);
                }
            }
        }
    }

    /// What the campaign has come to, when nothing more will run.
    pub(super) fn finish(
        mut self,
        is_finished: bool,
        baseline: Option<Plan>,
        describe: impl FnOnce(&mut Outcome),
    ) -> Result<Outcome, TargetError> {
        self.meet_last_races();
        self.tell_predicted();
        self.look_into_last_failures();
        self.look_into_races();
        self.confirm_races();
        if self.races.has_waited {
            // They come where they were seen.
            self.tally.outcome.findings.sort_by_key(|it| (it.first, it.finding.kind != Kind::Race));
        }
        self.describe(describe);
        assert!(is_finished || !self.may_go_on(), "bug: executions were left over");
        self.repeat_first(baseline);
        self.tally.outcome.gaps = self.tally.outcome.find_gaps(self.options);
        self.tally.outcome.figures.interrupted = self.is_stopped() && !is_finished;
        match self.error {
            Some(error) => Err(error),
            None => {
                let outcome = self.tally.finish();
                self.observer.see(CampaignEvent::Ended(&outcome));
                Ok(outcome)
            }
        }
    }
}

/// Has the last execution of a result a delay that makes a failure a timing assumption?
pub(super) fn is_late(result: &BlockResult) -> bool {
    result.summaries.last().is_some_and(|it| TIMING_US <= it.delay_us)
}
