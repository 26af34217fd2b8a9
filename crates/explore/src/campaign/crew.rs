//! The workers: threads that each own a session and run the blocks that they are given.

use std::{
    collections::BTreeSet,
    ops::Range,
    sync::mpsc::{self, Receiver, RecvTimeoutError, Sender},
    thread::{Scope, ScopedJoinHandle},
    time::{Duration, Instant},
};

use raddle_plan::search::{ModuleNames, Run, RunError};
use raddle_trace::Briefs;

use crate::target::{
    Block, BlockResult, PrefixBatch, PrefixBatchResult, Session, Target, TargetError, Until,
};

/// Executions for one worker.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) range: Range<u64>,
    pub(super) what: What,
}

/// What a worker is to do.
#[derive(Debug)]
pub(super) enum What {
    /// To run a block.
    Block(Box<Block>),
    /// To run the first of these executions, as many as are run at once.
    PrefixBatch(Box<PrefixBatch>, Briefs),
}

impl Job {
    /// A block.
    pub(super) fn block(range: Range<u64>, block: Block) -> Job {
        Job { range, what: What::Block(Box::new(block)) }
    }
}

/// How a job went.
#[derive(Debug)]
pub(super) struct Report {
    pub(super) job: Job,
    pub(super) elapsed: Duration,
    pub(super) ran: Result<PrefixBatchResult, TargetError>,
    /// The choices of the last execution, if they were recorded: read here, for it takes a while.
    pub(super) run: Option<Result<Run, RunError>>,
    worker: usize,
}

/// The workers. They end when the crew is dropped, each after its job.
pub(super) struct Crew<'scope> {
    workers: Vec<Worker<'scope>>,
    idle: BTreeSet<usize>,
    reports: Receiver<Report>,
    until: Until,
}

struct Worker<'scope> {
    jobs: Sender<Job>,
    thread: ScopedJoinHandle<'scope, ()>,
}

impl<'scope> Crew<'scope> {
    /// Starts workers; they open their sessions when they get their first job.
    pub(super) fn start<'env>(
        scope: &'scope Scope<'scope, 'env>,
        target: &'env dyn Target,
        n_workers: usize,
        until: Until,
    ) -> Crew<'scope> {
        let (report_sender, reports) = mpsc::channel();
        let start = |worker| {
            let (jobs, job_receiver) = mpsc::channel();
            let report_sender = report_sender.clone();
            let until = until.clone();
            let open = move || target.open_until(&until);
            let thread = scope.spawn(move || work(worker, open, &job_receiver, &report_sender));
            Worker { jobs, thread }
        };
        let workers: Vec<Worker<'scope>> = (0..n_workers).map(start).collect();
        Crew { workers, idle: (0..n_workers).collect(), reports, until }
    }

    /// Nobody wants what is still under way: executions may be too long to be waited for.
    pub(super) fn give_up(&self) {
        self.until.give_up();
    }

    /// Is anybody at work?
    pub(super) fn is_busy(&self) -> bool {
        self.idle.len() < self.workers.len()
    }

    /// Does anybody wait for a job?
    pub(super) fn has_idle(&self) -> bool {
        !self.idle.is_empty()
    }

    /// Gives a job to the first idle worker.
    pub(super) fn give(&mut self, job: Job) {
        let worker = self.idle.pop_first().expect("bug: a job for nobody");
        // A worker that has died is noticed by `wait`, and the campaign ends with its panic.
        let _ = self.workers[worker].jobs.send(job);
    }

    /// Waits for a report, but not for longer than `timeout`.
    pub(super) fn wait(&mut self, timeout: Duration) -> Option<Report> {
        match self.reports.recv_timeout(timeout) {
            Ok(report) => {
                self.idle.insert(report.worker);
                Some(report)
            }
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                let has_died = self.workers.iter().any(|it| it.thread.is_finished());
                assert!(!has_died, "bug: a worker has died");
                None
            }
        }
    }
}

/// A worker's life.
fn work(
    worker: usize,
    open: impl Fn() -> Result<Box<dyn Session + Send>, TargetError>,
    jobs: &Receiver<Job>,
    reports: &Sender<Report>,
) {
    let mut session: Option<Box<dyn Session + Send>> = None;
    let mut names = ModuleNames::default();
    while let Ok(mut job) = jobs.recv() {
        let start = Instant::now();
        let ran = run(&open, &mut session, &mut job.what);
        let elapsed = start.elapsed();
        let last = ran.as_ref().ok().and_then(|it| it.last.as_ref());
        let run = last.and_then(|it| recorded(it, &mut names));
        let report = Report { job, elapsed, ran, run, worker };
        if reports.send(report).is_err() {
            return;
        }
    }
}

fn recorded(result: &BlockResult, names: &mut ModuleNames) -> Option<Result<Run, RunError>> {
    let trace = &result.last.as_ref()?.trace;
    let is_recorded = !trace.options.is_empty() || trace.events.is_empty();
    is_recorded.then(|| Run::of(trace, names))
}

fn run(
    open: &impl Fn() -> Result<Box<dyn Session + Send>, TargetError>,
    session: &mut Option<Box<dyn Session + Send>>,
    what: &mut What,
) -> Result<PrefixBatchResult, TargetError> {
    let session = match session {
        Some(session) => session,
        None => session.insert(open()?),
    };
    match what {
        What::Block(block) => Ok(PrefixBatchResult {
            last: Some(session.run(block)?),
            ..PrefixBatchResult::default()
        }),
        What::PrefixBatch(each, room) => session.run_each(each, std::mem::take(room)),
    }
}
