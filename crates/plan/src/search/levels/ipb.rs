//! Iterative preemption bounding: Musuvathi and Qadeer, *Iterative context bounding for systematic testing
//! of multithreaded programs* (PLDI 2007), which seed paper 2 calls PCB0, PCB1, …
//!
//! A switch away from a thread that could go on costs 1, every other choice nothing. For n threads of k
//! steps each, b of them blocking, at most C(nk, c)·(nb + c)! schedules have c preemptions: polynomial in k.
//! Most bugs that we know need one or two. The choices at blocking steps are free, and alone exponential in
//! the number of threads (Musuvathi and Qadeer, PLDI 2007); `idb` bounds these too.
//!
//! Where we depart: a wait that ends by itself while others can go on costs 1 as well; levels are searched
//! again instead of queued (`levels`); to leave a thread that yields is free; where memory is weak, a load of a store that is
//! not the newest, and a store that stands before an earlier one, cost 1 each.

use raddle_model::{BoundUnit, ThreadId};
use serde::{Deserialize, Serialize};

use super::Cost;
use crate::search::{Step, tree::Path};

/// Counts preemptions.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Preemptions;

impl Preemptions {
    /// What a path costs if a thread goes on at a node.
    pub(crate) fn spent<N: Clone + Default, E: Clone>(
        path: &Path<N, E>,
        idx: usize,
        thread: ThreadId,
    ) -> u32 {
        let cost = |it: usize, thread| Preemptions::cost(&path.steps[it], path.last(it), thread);
        (0..idx).map(|it| cost(it, path.steps[it].thread)).sum::<u32>() + cost(idx, thread)
    }

    pub(crate) fn cost(step: &Step, last: ThreadId, thread: ThreadId) -> u32 {
        let is_preemption = thread != last && step.enabled.has(last) && !step.gives_way;
        let is_time_out = !step.enabled.has(thread) && !step.enabled.is_empty();
        u32::from(is_preemption || is_time_out)
    }
}

impl Cost for Preemptions {
    const UNIT: BoundUnit = BoundUnit::Preemptions;

    fn thread(&self, step: &Step, last: ThreadId, thread: ThreadId) -> u32 {
        Preemptions::cost(step, last, thread)
    }

    fn choice(&self, step: &Step, choice: u32) -> u32 {
        u32::from(choice > 0 && step.kind.is_access())
    }
}
