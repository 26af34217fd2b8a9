//! Executions that are drawn at random, each with a seed of its own.

use std::{ops::Range, time::Duration};

use raddle_model::{Plan, Record};
use raddle_plan::{Planner, Seeds, Sharing, picker};

use super::{
    Options,
    crew::Job,
    pace::Pace,
    queue::Queue,
    source::{Done, Source},
};
use crate::target::Block;

/// Hands out ranges of numbers; seed and picker of an execution follow from its number.
pub(super) struct Sampling<'a> {
    options: &'a Options,
    planner: Seeds,
    sharing: Sharing,
    queue: Queue,
    pace: Pace,
}

impl Sampling<'_> {
    pub(super) fn new(options: &Options) -> Sampling<'_> {
        Sampling {
            options,
            planner: Seeds { campaign_seed: options.seed, picker: options.picker },
            sharing: Sharing::new(),
            queue: Queue::new(options.executions),
            pace: Pace::new(),
        }
    }

    fn job(&mut self, range: Range<u64>) -> Job {
        let entries = self.planner.block(range.start, (range.end - range.start) as u32);
        let plan = Plan {
            prefix: Vec::new(),
            picker: picker(&entries[0]),
            seed: entries[0].seed,
            limits: self.options.limits,
            timeouts: self.options.timeouts,
            spurious: self.options.spurious,
            shared: self.sharing.known(range.start),
            record: Record::default(),
        };
        let exit_is_fine = self.options.exit_is_fine;
        Job { range, block: Block { plan, entries, exit_is_fine, keep: Vec::new() } }
    }
}

impl Source for Sampling<'_> {
    fn next(&mut self, only_rests: bool) -> Option<Job> {
        let n_max = if self.options.verbose { 1 } else { self.pace.n_block() };
        let n_workers = self.options.jobs.max(1) as u64;
        let range = match self.queue.take_rest(n_max) {
            None if !only_rests => self.queue.take_new(n_max, n_workers),
            rest => rest,
        };
        Some(self.job(range?))
    }

    fn returned(&mut self, range: Range<u64>, n_run: u64, elapsed: Duration) {
        let rest = range.start + n_run..range.end;
        if !rest.is_empty() {
            self.queue.give_back(rest);
        }
        self.pace.measure(n_run, elapsed);
    }

    fn learn(&mut self, done: &Done) {
        self.sharing.learn(done.range.start, &done.result.shared_found);
        self.queue.set_done(done.range.end);
    }

    fn stop_after(&mut self, execution: u64) {
        self.queue.stop_after(execution);
    }

    fn wants(&self, execution: u64) -> bool {
        self.queue.wants(execution)
    }

    fn n_done(&self) -> u64 {
        self.queue.n_done()
    }

    fn is_finished(&self) -> bool {
        self.queue.is_finished()
    }
}
