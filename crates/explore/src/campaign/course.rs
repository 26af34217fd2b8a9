//! The course of a campaign: executions go out to the workers and come back.
//!
//! Results come back in any order and are entered in the order of executions, as the source says. So
//! everything that is learned, counted, found, named and told comes out as if one worker had done it all,
//! and what lies beyond the execution that ends the campaign has never happened.

use std::sync::Arc;

use super::{
    Outcome,
    batch::{Batch, Planned},
    crew::{Crew, Job, Report, What},
    ledger::{Continue, Ledger},
    options::Options,
    source::{Done, Source},
};
use crate::target::{PrefixBatchResult, TargetError};

/// A campaign under way.
pub(super) struct Course<'a, S> {
    options: &'a Options,
    source: S,
    ledger: Ledger<'a>,
}

impl<'a, S: Source> Course<'a, S> {
    pub(super) fn new(options: &'a Options, source: S, ledger: Ledger<'a>) -> Course<'a, S> {
        Course { options, source, ledger }
    }

    /// Hands out executions and takes in results until there is nothing more to do.
    pub(super) fn run(mut self, mut crew: Crew<'_>) -> Result<Outcome, TargetError> {
        self.hand_out(&mut crew);
        while crew.is_busy() {
            if let Some(report) = crew.wait(self.ledger.until_progress()) {
                self.receive(report);
                // Before they are entered, which may take its time over a finding.
                self.hand_out(&mut crew);
            }
            while let Some(done) = self.source.next_done() {
                self.enter(done);
            }
            self.hand_out(&mut crew);
            if !self.ledger.may_go_on() {
                crew.give_up();
            }
            self.ledger.show_progress(|outcome| self.source.describe(outcome));
        }
        while let Some(done) = self.source.leftover() {
            self.enter(done);
        }
        let is_finished = self.source.is_finished();
        let baseline = self.source.baseline();
        let outcome =
            self.ledger.finish(is_finished, baseline, |outcome| self.source.describe(outcome))?;
        self.source.account(&outcome, true);
        Ok(outcome)
    }

    fn hand_out(&mut self, crew: &mut Crew<'_>) {
        while crew.has_idle() && self.ledger.may_go_on() {
            let Some(job) = self.source.next() else { return };
            crew.give(job);
        }
    }

    /// Takes in a result: what must be known before more is handed out.
    fn receive(&mut self, report: Report) {
        let Job { range, what } = report.job;
        let PrefixBatchResult { briefs, races, last } = match report.ran {
            Ok(ran) => ran,
            Err(error) => return self.ledger.fail(error),
        };
        if let Some(cut) = last.as_ref().and_then(|it| it.cut.as_ref()) {
            self.ledger.cut_short(cut);
        }
        let last = last.filter(|it| it.cut.is_none() || !it.summaries.is_empty());
        let is_cut = last.is_none() && !self.ledger.may_go_on();
        let n_briefs = briefs.len() as u64;
        let n_last = last.as_ref().map_or(0, |it| it.summaries.len() as u64);
        let n_run = n_briefs + n_last;
        if n_run == 0 && is_cut {
            return;
        }
        if n_run == 0 || range.end - range.start < n_run {
            return self.ledger.fail(TargetError::Bug(format!(
                "{n_run} executions came back where {} were asked for",
                range.end - range.start
            )));
        }
        let (planned, is_each) = match what {
            What::Block(block) => (Planned::Block(block), false),
            What::PrefixBatch(each, _) => {
                (Planned::One { each: Arc::from(each), idx: briefs.len() }, true)
            }
        };
        let end = if is_each { range.start + n_run } else { range.end };
        if let Planned::One { each, .. } = &planned
            && !briefs.is_empty()
        {
            let batch = Batch { each: Arc::clone(each), briefs, races };
            if let Err(error) = self.source.take_in_briefs(range.start, batch) {
                self.ledger.fail(error);
            }
        }
        if let Some(result) = last {
            let bucket = self.ledger.bucket(&result);
            let is_known = bucket.is_some_and(|it| self.ledger.has_shown(it, &result));
            let is_met = is_known;
            let is_known = is_known && !self.options.verbose;
            let own = range.start + n_briefs..end;
            let near = self.ledger.near(own.start, &result);
            let run = report.run;
            let elapsed = report.elapsed;
            let done = Done {
                range: own,
                planned,
                result,
                bucket,
                is_met,
                is_known,
                run,
                elapsed,
                label: None,
                judged: Vec::new(),
                near,
            };
            if let Err(error) = self.source.take_in(done) {
                self.ledger.fail(error);
            }
        }
        self.source.close(range.start, range.start + n_run..range.end, report.elapsed);
    }

    /// Enters a result, all before it having been.
    fn enter(&mut self, mut done: Done) {
        let (first, last) = (done.range.start, done.range.end - 1);
        let (appetite, news) = self.ledger.enter(&mut done);
        // What an earlier part of a search has found is no reason to end this one.
        let has_failed = done.bucket.is_some() && news.last().is_some_and(|it| it.is_new_finding);
        self.source.hear(first, &news);
        self.source.account(self.ledger.outcome(), false);
        if appetite == Continue::Enough || has_failed && !self.options.keep_going {
            self.source.stop_after(last);
        } else if appetite == Continue::Settled {
            self.source.stop_after_round(first);
        }
    }
}
