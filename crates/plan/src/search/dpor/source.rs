//! Source sets: Abdulla, Aronis, Jonsson and Sagonas, *Optimal dynamic partial order reduction* (POPL 2014),
//! algorithm 1. The default.
//!
//! Where two steps are in a race, the steps between them that happen in spite of the first, and the second
//! one last, must be explored from the state before; for that one of the threads that can begin must be
//! wanted there. If one is wanted already, or sleeps, nothing is added. Every class is explored, and none
//! twice; what is wasted are executions that end because everybody who could go on sleeps.
//!
//! Where we depart: races are looked for when an execution has ended, its pending ops included, instead of
//! at each step: the result is the same. If nobody who should begin can be chosen in that state (time, or
//! what lies outside the program), everybody who can is added. Cost for each step: O(threads), and the
//! accesses to the same object since its last write; for each race, the steps in between. Memory
//! O(depth · threads).

use raddle_model::ThreadId;
use serde::{Deserialize, Serialize};

use super::{
    Path, Rule,
    order::{Asked, HappensBefore},
};
use crate::search::{Pending, ThreadSet};

/// See the module.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Source;

impl Rule for Source {
    fn turn_round(
        &mut self,
        order: &mut HappensBefore,
        path: &mut Path,
        asked: &Asked,
        pending: &[Pending],
    ) {
        let races = order.immediate_races(asked, &path.steps);
        for step in &races {
            let initials = order.initials(*step, asked);
            let covered = path.covered(*step);
            if !initials.and(covered).is_empty() {
                continue;
            }
            for thread in
                beginners(initials, order.choosable(&path.steps[*step]), covered, asked.op.thread)
            {
                path.want(*step, thread, pending);
            }
        }
        order.recycle(races);
    }

    const IS_BY_OP: bool = false;
}

/// Who is to begin: the thread of the race's second step if it can, else another; if none can, everybody.
pub(crate) fn beginners(
    initials: ThreadSet,
    choosable: ThreadSet,
    covered: ThreadSet,
    second: ThreadId,
) -> impl Iterator<Item = ThreadId> {
    let able = initials.and(choosable);
    let chosen = match able.first() {
        _ if able.has(second) => ThreadSet::one(second),
        Some(thread) => ThreadSet::one(thread),
        None => choosable.minus(covered),
    };
    chosen.iter()
}
