//! What is shared in any of the executions seen: two threads may touch a variable in different ones.

use std::collections::BTreeMap;

use raddle_model::ThreadId;
use raddle_total::History;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Sharing {
    /// Objects that several threads access, at least one of which writes. Sorted.
    pub(super) shared: Vec<u64>,
    /// By object: a thread, whether there are others, whether it is written.
    touched: BTreeMap<u64, (ThreadId, bool, bool)>,
}

impl Sharing {
    /// Adds an execution; `true` if more is shared than was known.
    pub(super) fn add(&mut self, history: &History) -> bool {
        let n_shared = self.shared.len();
        for step in history.steps.iter().filter(|it| it.act.is_access()) {
            let first = (step.thread, false, false);
            let (thread, has_others, is_written) = self.touched.entry(step.object).or_insert(first);
            let was_shared = *has_others && *is_written;
            *has_others |= *thread != step.thread;
            *is_written |= step.act.is_write();
            if !was_shared && *has_others && *is_written {
                self.shared.push(step.object);
            }
        }
        self.shared.sort_unstable();
        n_shared < self.shared.len()
    }
}
