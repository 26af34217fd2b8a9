//! Partial order reduction under a bound of preemptions: Coons, Musuvathi and McKinley, *Bounded partial-order
//! reduction* (OOPSLA 2013).
//!
//! To cut a reduced search at a bound loses schedules, as seed paper 2 warns: the schedule that stands for a
//! class may have more preemptions than another of the class. So whoever is wanted before a step is also wanted
//! where the thread of that step began to run, where to switch costs nothing more; and there are no sleep
//! sets. Where we add to the paper: a thread that has to wait is left for nothing, so whoever takes a lock is
//! also wanted before it was given back, and where the thread that gave it back began to run. A wait that ends
//! by itself while others can go on costs 1, as in `ipb`, even where to switch costs nothing; so whoever waits so
//! is wanted wherever a thread began to run since then. Every state of a thread, every deadlock and every failure
//! that can be reached with so many preemptions is reached with so many. Classes may be explored more than once.
//!
//! Memory O(depth · threads).

use raddle_model::{Scope, ThreadId};
use serde::{Deserialize, Serialize};

use super::{
    Path, Rule,
    order::{Asked, HappensBefore},
};
use crate::search::{Pending, ThreadSet, levels::Preemptions};

/// See the module.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Bounded {
    max: u32,
    is_cut: bool,
}

impl Rule for Bounded {
    const IS_BY_OP: bool = true;
    const HAS_SLEEP: bool = false;

    fn turn_round(
        &mut self,
        order: &mut HappensBefore,
        path: &mut Path,
        asked: &Asked,
        pending: &[Pending],
    ) {
        let thread = asked.op.thread;
        for step in order.races_by_thread(asked, &path.steps) {
            for idx in wanted_at(path, step, asked) {
                // Whose wait could only end by itself may be too dear there; others may end it for nothing.
                let wanted = match path.steps[idx].enabled.has(thread) {
                    true => ThreadSet::one(thread),
                    false => order.choosable(&path.steps[idx]),
                };
                self.want(path, idx, wanted, pending);
            }
        }
        for step in order.releases_by_thread(asked) {
            for idx in [step, start_of_stretch(path, step)] {
                let wanted = path.steps[idx].enabled.and(ThreadSet::one(thread));
                self.want(path, idx, wanted, pending);
            }
        }
    }

    fn affords(&mut self, path: &Path, idx: usize, thread: ThreadId) -> bool {
        let is_affordable = Preemptions::spent(path, idx, thread) <= self.max;
        self.is_cut |= !is_affordable;
        is_affordable
    }

    fn is_cut(&self) -> bool {
        self.is_cut
    }

    fn scope(&self) -> Scope {
        Scope::Classes(Some(self.max))
    }
}

impl Bounded {
    pub(crate) fn new(max: u32) -> Bounded {
        Bounded { max, is_cut: false }
    }

    /// Adds ways at a node, as far as the bound allows.
    fn want(&mut self, path: &mut Path, idx: usize, wanted: ThreadSet, pending: &[Pending]) {
        for thread in wanted.minus(path.covered(idx)).iter() {
            if self.affords(path, idx, thread) {
                path.want(idx, thread, pending);
            }
        }
    }
}

/// Where a thread is wanted that is in a race with a step: before it, and where the step's thread began to run;
/// if its wait could only have ended by itself there, wherever a thread did since it came to that.
fn wanted_at(path: &Path, step: usize, asked: &Asked) -> Vec<usize> {
    let mut idx = start_of_stretch(path, step);
    let mut all = vec![step, idx];
    while asked.announced() < idx && !path.steps[idx].enabled.has(asked.op.thread) {
        idx = start_of_stretch(path, idx - 1);
        all.push(idx);
    }
    all
}

/// Where the thread of a step began to run without a break.
fn start_of_stretch(path: &Path, step: usize) -> usize {
    let thread = path.steps[step].thread;
    let before = path.steps[..step].iter().rposition(|it| it.thread != thread);
    before.map_or(0, |it| it + 1)
}
