//! The course of a campaign: executions go out to the workers and come back.
//!
//! Results come back in any order and are committed in the order of executions; a result waits until
//! all before it have been committed. So everything that is learned, counted, found, named and told
//! comes out as if one worker had done it all, and what lies beyond the execution that ends the
//! campaign has never happened.

use std::collections::BTreeMap;

use super::{
    Outcome,
    crew::{Crew, Job, Report},
    ledger::{Appetite, Ledger},
    options::Options,
    source::{Done, Source},
};
use crate::target::TargetError;

/// Results that may wait for an earlier one (that hangs, say) before the others have to wait too.
const READY_MAX: usize = 256;

/// A campaign under way.
pub(super) struct Course<'a, S> {
    options: &'a Options,
    source: S,
    ledger: Ledger<'a>,
    /// Results that wait for earlier ones, by their first execution.
    ready: BTreeMap<u64, Done>,
}

impl<'a, S: Source> Course<'a, S> {
    pub(super) fn new(options: &'a Options, source: S, ledger: Ledger<'a>) -> Course<'a, S> {
        Course { options, source, ledger, ready: BTreeMap::new() }
    }

    /// Hands out executions and takes in results until there is nothing more to do.
    pub(super) fn run(mut self, mut crew: Crew<'_>) -> Result<Outcome, TargetError> {
        self.hand_out(&mut crew);
        while crew.is_busy() {
            if let Some(report) = crew.wait(self.ledger.until_progress()) {
                self.receive(report);
                // Before the commit, which may take its time over a finding.
                self.hand_out(&mut crew);
            }
            while let Some(done) = self.ready.remove(&self.source.n_done()) {
                self.commit(done);
            }
            self.hand_out(&mut crew);
            self.ledger.show_progress();
        }
        self.commit_leftovers();
        self.ledger.finish(self.source.is_finished())
    }

    /// Nothing new while too many results wait: an early execution hangs, and traces are large.
    fn hand_out(&mut self, crew: &mut Crew<'_>) {
        while crew.has_idle() && self.ledger.may_go_on() {
            let is_full = READY_MAX <= self.ready.len();
            let Some(job) = self.source.next(is_full) else { return };
            crew.give(job);
        }
    }

    /// Takes in a result: what must be known before more is handed out.
    fn receive(&mut self, report: Report) {
        let Job { range, block } = report.job;
        let mut result = match report.result {
            Ok(result) => result,
            // Its executions never happened.
            Err(TargetError::Stopped) if self.ledger.is_stopped() => return,
            Err(error) => return self.ledger.fail(error),
        };
        let n_run = result.summaries.len() as u64;
        if n_run == 0 || range.end - range.start < n_run {
            return self.ledger.fail(TargetError::Bug(format!(
                "{n_run} executions came back where {} were asked for",
                range.end - range.start
            )));
        }
        self.source.returned(range.clone(), n_run, report.elapsed);
        let range = range.start..range.start + n_run;
        let bucket = self.ledger.bucket(&result);
        if bucket.is_some() && !self.options.keep_going {
            self.source.stop_after(range.end - 1);
        }
        let is_known = bucket.is_some_and(|it| self.ledger.is_known(it));
        if is_known && !self.options.verbose {
            // It will only be counted; traces are large.
            result.last = None;
        }
        self.ready.insert(range.start, Done { range, block, result, bucket });
    }

    /// Learns from a result and enters it, all before it having been.
    fn commit(&mut self, mut done: Done) {
        if !self.source.wants(done.range.start) {
            return;
        }
        self.source.learn(&done);
        if self.ledger.enter(&mut done) == Appetite::Enough {
            self.source.stop_after(done.range.end - 1);
        }
    }

    /// When the campaign ended early, results may wait for others that will never come.
    fn commit_leftovers(&mut self) {
        while let Some((_, done)) = self.ready.pop_first() {
            self.commit(done);
        }
    }
}
