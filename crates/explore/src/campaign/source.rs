//! Who hands out a campaign's executions.
//!
//! A source numbers its executions, hands them out in any blocks it likes, and learns from them in the
//! order of their numbers, whatever order they come back in. So what it hands out can depend on what
//! it has learned, and still not on how many workers there are.

use std::{ops::Range, time::Duration};

use raddle_model::Bucket;

use super::crew::Job;
use crate::target::{Block, BlockResult};

/// Hands out executions and learns from them.
pub(super) trait Source {
    /// The next executions for an idle worker; `None` if there are none before more is learned. With
    /// `only_rests`, nothing that was not handed out before.
    fn next(&mut self, only_rests: bool) -> Option<Job>;

    /// Notes that of the executions handed out in one job the first `n_run` have been run.
    fn returned(&mut self, range: Range<u64>, n_run: u64, elapsed: Duration);

    /// Learns from executions, all before them having been learned from.
    fn learn(&mut self, done: &Done);

    /// Only executions up to this one are wanted.
    fn stop_after(&mut self, execution: u64);

    /// Is the execution wanted?
    fn wants(&self, execution: u64) -> bool;

    /// The execution to be learned from next.
    fn n_done(&self) -> u64;

    /// Have all wanted executions been learned from?
    fn is_finished(&self) -> bool;
}

/// Executions that were run.
#[derive(Debug)]
pub(super) struct Done {
    pub(super) range: Range<u64>,
    pub(super) block: Block,
    pub(super) result: BlockResult,
    /// The bucket of the last execution, if it failed.
    pub(super) bucket: Option<Bucket>,
}
