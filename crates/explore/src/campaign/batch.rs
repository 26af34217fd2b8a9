//! Executions of a search that came back together and are entered one by one.

use std::sync::Arc;

use raddle_model::Plan;
use raddle_plan::picker;
use raddle_trace::{Briefs, Entry, SeenRaces};

use super::source::{Done, Near};
use crate::{
    coverage::covered,
    target::{Block, BlockResult, PrefixBatch},
};

/// Executions that ended well, told in brief.
#[derive(Debug)]
pub(super) struct Batch {
    pub(super) each: Arc<PrefixBatch>,
    pub(super) briefs: Briefs,
    pub(super) races: SeenRaces,
}

impl Batch {
    /// One of them, as it is entered: execution `number`.
    pub(super) fn done(&self, idx: usize, number: u64) -> Done {
        let brief = self.briefs.get(idx);
        let summaries = vec![*brief.summary];
        Done {
            range: number..number + 1,
            planned: Planned::One { each: Arc::clone(&self.each), idx },
            result: BlockResult {
                covered: covered(&summaries, brief.pairs),
                races: self.races.of(idx as u32),
                summaries,
                ..BlockResult::default()
            },
            bucket: None,
            is_met: false,
            is_known: false,
            run: None,
            elapsed: std::time::Duration::ZERO,
            label: None,
            judged: Vec::new(),
            near: Near::default(),
        }
    }
}

/// What executions were to do.
#[derive(Debug)]
pub(super) enum Planned {
    /// All of a block.
    Block(Box<Block>),
    /// One of several.
    One { each: Arc<PrefixBatch>, idx: usize },
}

impl Planned {
    /// Seed and picker of each execution.
    pub(super) fn entries(&self) -> &[Entry] {
        match self {
            Planned::Block(block) => &block.entries,
            Planned::One { each, idx } => &each.entries()[*idx..=*idx],
        }
    }

    /// The prefix that all follow.
    pub(super) fn prefix(&self) -> &[u32] {
        match self {
            Planned::Block(block) => &block.plan.prefix,
            Planned::One { each, idx } => each.prefix(*idx),
        }
    }

    /// The plan of one execution.
    pub(super) fn plan(&self, idx: usize) -> Plan {
        match self {
            Planned::Block(block) => {
                let entry = &block.entries[idx];
                let prefix = block.prefix_of(entry).to_vec();
                Plan { picker: picker(entry), prefix, seed: entry.seed, ..block.plan.clone() }
            }
            Planned::One { each, idx } => each.alone(*idx).plan,
        }
    }
}
