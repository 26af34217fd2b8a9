//! Persistent sets: Flanagan and Godefroid, *Dynamic partial-order reduction for model checking software* (POPL
//! 2005), with sleep sets. What seed paper 2 compares itself with, and builds on.
//!
//! For every thread and every state, the last step that is in a race with what the thread is about to do is to
//! come later: the thread is wanted in the state before that step, or one of those that must go first if it
//! can't be chosen there; or everybody, if none of these can.
//!
//! Where we depart: threads that can't go on take part too, or nobody would turn round the
//! race that blocked them; a release is no race, and hides none; of those that could be wanted, one that
//! sleeps is not enough, since a set is persistent only if the way is really gone. More executions than
//! `source` needs, by far: a race is turned round in every state in which it is pending.

use raddle_model::ThreadId;
use serde::{Deserialize, Serialize};

use super::{
    Path, Rule,
    order::{Asked, HappensBefore},
};
use crate::search::{Pending, ThreadSet};

/// See the module.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Classic;

impl Rule for Classic {
    fn turn_round(
        &mut self,
        order: &mut HappensBefore,
        path: &mut Path,
        asked: &Asked,
        pending: &[Pending],
    ) {
        for step in order.pending_races(asked, &path.steps) {
            for thread in chosen(order, path, step, asked.op.thread).iter() {
                if !path.covered(step).has(thread) {
                    path.want(step, thread, pending);
                }
            }
        }
    }

    const IS_BY_OP: bool = true;
}

/// Who is wanted before a step, so that the other one comes first.
pub(crate) fn chosen(
    order: &HappensBefore,
    path: &Path,
    step: usize,
    second: ThreadId,
) -> ThreadSet {
    let asleep = path.node(step).extra.threads();
    let able = order.choosable(&path.steps[step]).minus(asleep);
    let first: ThreadSet = order.needed(step).with(second).and(able);
    match first.first() {
        _ if first.has(second) => ThreadSet::one(second),
        Some(thread) => ThreadSet::one(thread),
        None => able,
    }
}
