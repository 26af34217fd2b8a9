//! The course of a campaign: what is handed out, what comes back, what it means.
//!
//! Results come back in any order and are committed in the order of executions; a result waits until
//! all before it have been committed. So everything that is counted, found, named and told comes out
//! as if one worker had done it all, and what lies beyond the execution that ends the campaign has
//! never happened.

use std::{
    collections::BTreeMap,
    ops::Range,
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

use raddle_model::{Bucket, End, Kind, Plan};
use raddle_plan::{Planner, Seeds, Sharing, picker};

use super::{
    Found, Observer, Options, Outcome, Reproduced,
    crew::{Crew, Job, Report},
    pace::Pace,
    queue::Queue,
    tally::Tally,
};
use crate::{
    finding::{bucket, finding, is_failure},
    replay::{Sameness, Verdict, replay},
    store::Ids,
    target::{Block, BlockResult, Session, Symbols, Target, TargetError},
};

/// Less than the 200 ms that observers are promised.
const PROGRESS_EVERY: Duration = Duration::from_millis(100);
/// Results that may wait for an earlier one (that hangs, say) before the others have to wait too.
const READY_MAX: usize = 256;

/// A campaign under way.
pub(super) struct Course<'a> {
    pub(super) target: &'a dyn Target,
    pub(super) options: &'a Options,
    pub(super) symbols: &'a mut dyn Symbols,
    pub(super) observer: &'a mut dyn Observer,
    pub(super) stop: &'a AtomicBool,
    pub(super) ids: &'a mut Ids,
    pub(super) state: State,
}

/// What has come of it so far.
pub(super) struct State {
    planner: Seeds,
    sharing: Sharing,
    queue: Queue,
    pace: Pace,
    tally: Tally,
    start: Instant,
    next_progress: Instant,
    /// Results that wait for earlier ones, by their first execution.
    ready: BTreeMap<u64, Ready>,
    /// For running findings again.
    session: Option<Box<dyn Session + Send>>,
    error: Option<TargetError>,
}

/// A result that can be committed when all before it have been.
struct Ready {
    range: Range<u64>,
    block: Block,
    result: BlockResult,
    /// The bucket of the last execution, if it failed.
    bucket: Option<Bucket>,
}

impl State {
    pub(super) fn new(options: &Options) -> State {
        let now = Instant::now();
        State {
            planner: Seeds { campaign_seed: options.seed, picker: options.picker },
            sharing: Sharing::new(),
            queue: Queue::new(options.executions),
            pace: Pace::new(),
            tally: Tally::new(),
            start: now,
            next_progress: now + PROGRESS_EVERY,
            ready: BTreeMap::new(),
            session: None,
            error: None,
        }
    }
}

impl Course<'_> {
    /// Hands out executions and takes in results until there is nothing more to do.
    pub(super) fn run(mut self, mut crew: Crew<'_>) -> Result<Outcome, TargetError> {
        self.hand_out(&mut crew);
        while crew.is_busy() {
            let until_progress = self.state.next_progress.saturating_duration_since(Instant::now());
            if let Some(report) = crew.wait(until_progress) {
                self.receive(report);
                // Before the commit, which may take its time over a finding.
                self.hand_out(&mut crew);
            }
            while let Some(ready) = self.state.ready.remove(&self.state.queue.n_done()) {
                self.commit(ready);
            }
            self.hand_out(&mut crew);
            self.show_progress();
        }
        self.commit_leftovers();
        self.finish()
    }

    fn hand_out(&mut self, crew: &mut Crew<'_>) {
        while crew.has_idle() && self.may_go_on() {
            let n_max = if self.options.verbose { 1 } else { self.state.pace.n_block() };
            let range = self.state.queue.take_rest(n_max).or_else(|| self.take_new(n_max));
            let Some(range) = range else { return };
            crew.give(self.job(range));
        }
    }

    /// Nothing new while too many results wait: an early execution hangs, and traces are large.
    fn take_new(&mut self, n_max: u64) -> Option<Range<u64>> {
        let is_full = READY_MAX <= self.state.ready.len();
        let n_workers = self.options.jobs.max(1) as u64;
        if is_full { None } else { self.state.queue.take_new(n_max, n_workers) }
    }

    fn may_go_on(&self) -> bool {
        let is_time_over = self.options.time.is_some_and(|it| it <= self.state.start.elapsed());
        !is_time_over && self.state.error.is_none() && !self.is_stopped()
    }

    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn job(&mut self, range: Range<u64>) -> Job {
        let entries = self.state.planner.block(range.start, (range.end - range.start) as u32);
        let plan = Plan {
            prefix: Vec::new(),
            picker: picker(&entries[0]),
            seed: entries[0].seed,
            limits: self.options.limits,
            timeouts: self.options.timeouts,
            spurious: self.options.spurious,
            shared: self.state.sharing.known(range.start),
        };
        Job { range, block: Block { plan, entries, exit_is_fine: self.options.exit_is_fine } }
    }

    /// Takes in a result: what must be known before more is handed out.
    fn receive(&mut self, report: Report) {
        let Job { range, block } = report.job;
        let mut result = match report.result {
            Ok(result) => result,
            // Its executions never happened.
            Err(TargetError::Stopped) if self.is_stopped() => return,
            Err(error) => return self.fail(error),
        };
        let n_run = result.summaries.len() as u64;
        if n_run == 0 || range.end - range.start < n_run {
            return self.fail(TargetError::Bug(format!(
                "{n_run} executions came back where {} were asked for",
                range.end - range.start
            )));
        }
        let (range, rest) = (range.start..range.start + n_run, range.start + n_run..range.end);
        if !rest.is_empty() {
            self.state.queue.give_back(rest);
        }
        self.state.pace.measure(n_run, report.elapsed);
        let bucket = self.bucket(&result);
        if bucket.is_some() && !self.options.keep_going {
            self.state.queue.stop_after(range.end - 1);
        }
        let is_known = bucket.is_some_and(|it| self.state.tally.found(it).is_some());
        if is_known && !self.options.verbose {
            // It will only be counted; traces are large.
            result.last = None;
        }
        self.state.ready.insert(range.start, Ready { range, block, result, bucket });
    }

    fn bucket(&mut self, result: &BlockResult) -> Option<Bucket> {
        let last = result.last.as_ref()?;
        if !is_failure(&last.trace, self.options.exit_is_fine) {
            return None;
        }
        bucket(&last.trace, self.symbols)
    }

    /// Counts the executions of a result, all before it having been counted.
    fn commit(&mut self, mut ready: Ready) {
        if !self.state.queue.wants(ready.range.start) {
            return;
        }
        self.state.sharing.learn(ready.range.start, &ready.result.shared_found);
        for summary in &ready.result.summaries {
            self.state.tally.count(summary);
        }
        self.state.tally.merge_uncontrolled(std::mem::take(&mut ready.result.uncontrolled));
        self.state.queue.set_done(ready.range.end);
        if let Some(last) = &ready.result.last {
            if self.options.verbose {
                self.observer.execution(ready.range.end - 1, last);
            }
            if last.trace.end == Some(End::Bug) {
                self.fail(TargetError::Bug(last.trace.message.clone()));
            }
        }
        if ready.bucket.is_some() {
            self.add(&ready);
        }
        if self.state.tally.outcome.single_threaded && 2 <= self.state.tally.outcome.executions {
            self.state.queue.stop_after(ready.range.end - 1);
        }
    }

    /// Counts a failure: the last execution of a result.
    fn add(&mut self, ready: &Ready) {
        if let Some(found) = ready.bucket.and_then(|it| self.state.tally.found(it)) {
            found.count += 1;
            return;
        }
        let (Some(last), Some(entry), Some(summary)) = (
            ready.result.last.as_ref(),
            ready.block.entries.get(ready.result.summaries.len() - 1),
            ready.result.summaries.last(),
        ) else {
            unreachable!("bug: a failure without its execution");
        };
        let plan = Plan { picker: picker(entry), seed: entry.seed, ..ready.block.plan.clone() };
        let first = ready.range.end - 1;
        let finding = finding(&last.trace, &plan, first, &last.output, self.symbols)
            .expect("bug: what has a bucket is a finding");
        if first == 0 && summary.n_threads <= 1 {
            self.state.tally.outcome.baseline_failure = Some(finding);
            self.state.queue.stop_after(0);
            return;
        }
        let id = self.ids.id(finding.kind, finding.bucket);
        self.observer.finding(&finding, &id);
        let mut found = Found { finding, id, count: 1, first, reproduced: Reproduced::default() };
        if let Err(error) = self.confirm(&mut found) {
            self.fail(error);
        }
        self.state.tally.outcome.findings.push(found);
    }

    /// Runs a finding's plan again. Not that of a hang, which would hold up everything.
    fn confirm(&mut self, found: &mut Found) -> Result<(), TargetError> {
        let exit_is_fine = self.options.exit_is_fine;
        if found.finding.kind == Kind::Hang || self.options.confirmations == 0 {
            return Ok(());
        }
        let session = match &mut self.state.session {
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
            self.state.tally.count_confirmation(is_same_trace);
        }
        self.observer.confirmed(found);
        Ok(())
    }

    fn show_progress(&mut self) {
        let now = Instant::now();
        if self.state.next_progress <= now {
            self.state.next_progress = now + PROGRESS_EVERY;
            self.observer.progress(self.state.tally.progress());
        }
    }

    /// When the campaign ended early, results may wait for others that will never come.
    fn commit_leftovers(&mut self) {
        while let Some((_, ready)) = self.state.ready.pop_first() {
            self.commit(ready);
        }
    }

    fn finish(mut self) -> Result<Outcome, TargetError> {
        let is_finished = self.state.queue.is_finished();
        assert!(is_finished || !self.may_go_on(), "bug: executions were left over");
        self.state.tally.outcome.interrupted = self.is_stopped() && !self.state.queue.is_finished();
        match self.state.error {
            Some(error) => Err(error),
            None => Ok(self.state.tally.finish()),
        }
    }

    fn fail(&mut self, error: TargetError) {
        self.state.error.get_or_insert(error);
    }
}
