//! Who hands out a campaign's executions.
//!
//! A source hands out executions in any blocks it likes, and gives them back in an order of its own,
//! numbered, whatever order they came back in from the workers. What it hands out can depend on what it has
//! learned, and still not on how many workers there are.

use std::{collections::BTreeSet, ops::Range, time::Duration};

use raddle_model::{Bucket, Plan, SiteId};
use raddle_plan::{
    News,
    search::{Run, RunError},
};

use super::{
    Outcome,
    batch::{Batch, Planned},
    crew::Job,
};
use crate::target::{BlockResult, TargetError};

/// Hands out executions and learns from them.
pub(super) trait Source {
    /// The next executions for an idle worker; `None` if there are none before more is learned.
    fn next(&mut self) -> Option<Job>;

    /// Takes in what came back of a job.
    fn take_in(&mut self, done: Done) -> Result<(), TargetError>;

    /// Takes in what came back of a job in brief, from an execution on.
    fn take_in_briefs(&mut self, _first: u64, _batch: Batch) -> Result<(), TargetError> {
        unreachable!("bug: executions in brief that were not asked for");
    }

    /// The job that began with an execution is over, after this time; of those `left` nothing came back.
    fn close(&mut self, _first: u64, _left: Range<u64>, _elapsed: Duration) {}

    /// The next executions to be entered, if they have come back. They have been learned from.
    fn next_done(&mut self) -> Option<Done>;

    /// Hears what the executions from `first` on have brought, when they have been entered.
    fn hear(&mut self, _first: u64, _news: &[News]) {}

    /// Hears what the campaign has come to: after each execution that was entered, and at the end.
    fn account(&mut self, _outcome: &Outcome, _is_last: bool) {}

    /// An execution that any of its kind begins like, to be repeated; `None` if there is nothing to claim.
    fn baseline(&self) -> Option<Plan> {
        None
    }

    /// When the campaign has ended early: executions that came back, but wait for others that never will.
    fn leftover(&mut self) -> Option<Done>;

    /// Only executions up to this one are wanted.
    fn stop_after(&mut self, execution: u64);

    /// Only executions up to this one are wanted, and those that are entered together with it.
    fn stop_after_round(&mut self, execution: u64) {
        self.stop_after(execution);
    }

    /// Have all wanted executions been entered?
    fn is_finished(&self) -> bool;

    /// Adds what only the source knows.
    fn describe(&self, _outcome: &mut Outcome) {}
}

/// Executions that were run.
#[derive(Debug)]
pub(super) struct Done {
    /// Their numbers: as handed out, and when they are entered, those under which they count.
    pub(super) range: Range<u64>,
    pub(super) planned: Planned,
    pub(super) result: BlockResult,
    /// The bucket of the last execution, if it failed.
    pub(super) bucket: Option<Bucket>,
    /// Was the bucket found before?
    pub(super) is_met: bool,
    /// Was it, and is nothing else wanted of it? Then its trace is good for learning only; traces are large.
    pub(super) is_known: bool,
    /// The choices that the only execution had, if they were recorded.
    pub(super) run: Option<Result<Run, RunError>>,
    /// How long it took.
    pub(super) elapsed: Duration,
    /// Where in a search it was, for whoever reads its finding.
    pub(super) label: Option<String>,
    /// Pairs of its steps that the search takes for races.
    pub(super) judged: Vec<[usize; 2]>,
    /// Where the user wants to look, in the only execution, if that is to be learned from.
    pub(super) near: Near,
}

/// Sites of an execution where the user wants to look.
#[derive(Clone, Debug, Default)]
pub(super) struct Near {
    pub(super) sites: BTreeSet<SiteId>,
    /// Lines that they are away, at most.
    pub(super) distance: u32,
}

impl Done {
    /// Lets go of what nobody needs any more.
    pub(super) fn slim(mut self) -> Done {
        self.run = None;
        if self.is_known {
            self.result.last = None;
        }
        self
    }

    /// The plan of one of its executions.
    pub(super) fn plan(&self, idx: usize) -> Plan {
        self.planned.plan(idx)
    }

    /// Executions that were run, of those that were handed out.
    pub(super) fn n_run(&self) -> u64 {
        self.result.summaries.len() as u64
    }
}
