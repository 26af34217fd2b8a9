//! Every schedule, depth first. For straight-line threads with L1, L2, … steps these are
//! (L1 + L2 + …)! / (L1! · L2! · …): of use for toys, and as what other searches are measured against.
//!
//! A wait that may end by itself is one more way at each state in which it may; so is each waiter that a
//! signal may wake, and, where memory is weak, each store that may be read. After a look of a thread that waits by looking (`run/spin`), nothing branches: else a loop
//! would make the search endless. Memory O(depth · threads).

use raddle_model::Scope;
use serde::{Deserialize, Serialize};

use super::{
    Run,
    run::is_repeat,
    tree::{Path, Policy, Verdict, Way},
};

/// Every way is wanted.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Dfs {
    /// May waits end by themselves although others can go on?
    pub(crate) may_time_out: bool,
}

impl Policy for Dfs {
    type Node = ();
    type Child = ();
    const IS_STATIC: bool = true;

    fn grow(&mut self, path: &mut Path<(), ()>, from: usize, _: &Run) -> Verdict {
        if from < path.n_nodes() {
            let step = path.steps[from];
            path.node_mut(from).add_choices(&step);
        }
        let mut is_waiting = false;
        for idx in path.n_nodes()..path.steps.len() {
            let step = path.steps[idx];
            let last = path.last(idx);
            is_waiting |= idx > 0 && is_repeat(&path.steps, idx - 1);
            let node = path.push_node();
            node.begin(&step, ());
            node.add_choices(&step);
            if is_waiting {
                continue;
            }
            for thread in step.options(self.may_time_out, last) {
                if thread != step.thread {
                    node.add(Way { thread, choice: None }, ());
                }
            }
        }
        Verdict::New
    }

    fn scope(&self) -> Scope {
        Scope::All
    }
}
