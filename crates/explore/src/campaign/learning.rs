//! The executions before a search: what does the program share?
//!
//! A search needs scheduling points that stay where they are, so what is shared must be known before it
//! begins, as far as some random executions can tell (see [`raddle_plan::Sharing`]). The first of them is
//! the baseline. What only the search itself finds to be shared makes it begin again.

use std::collections::BTreeMap;

use raddle_model::PickerSpec;
use raddle_plan::{Seeds, Sharing};
use raddle_trace::Entry;

use super::{Options, queue::Queue, source::Done};

/// Random executions, one by one.
pub(super) struct Learning {
    seeds: Seeds,
    sharing: Sharing,
    queue: Queue,
    /// Results that wait for earlier ones, by number.
    ready: BTreeMap<u64, Done>,
}

impl Learning {
    /// So many executions, one at least.
    pub(super) fn new(options: &Options, n_learning: u64) -> Learning {
        let n_learning = n_learning.max(1).min(options.executions.unwrap_or(u64::MAX));
        Learning {
            seeds: Seeds { campaign_seed: options.seed, picker: PickerSpec::Walk },
            sharing: Sharing::knowing(&options.exposed),
            queue: Queue::new(Some(n_learning)),
            ready: BTreeMap::new(),
        }
    }

    /// The next execution: its number, what it does, what it knows to be shared.
    pub(super) fn next(&mut self) -> Option<(u64, Entry, Vec<u64>)> {
        let number = self.queue.take_new(1, 1)?.start;
        let entry = self.seeds.block(number, 1)[0];
        Some((number, entry, self.sharing.known(number)))
    }

    pub(super) fn take_in(&mut self, done: Done) {
        self.ready.insert(done.range.start, done);
    }

    /// The next execution in order, if it has come back.
    pub(super) fn next_done(&mut self) -> Option<Done> {
        let done = self.ready.remove(&self.queue.n_done())?;
        if !self.queue.wants(done.range.start) {
            return None;
        }
        self.sharing.learn(done.range.start, &done.result.shared_found);
        self.queue.set_done(done.range.end);
        Some(done)
    }

    /// Only executions up to this one are wanted.
    pub(super) fn stop_after(&mut self, execution: u64) {
        self.queue.stop_after(execution);
    }

    pub(super) fn is_finished(&self) -> bool {
        self.queue.is_finished()
    }

    /// What was found to be shared.
    pub(super) fn shared(&self) -> Vec<u64> {
        self.sharing.all()
    }
}
