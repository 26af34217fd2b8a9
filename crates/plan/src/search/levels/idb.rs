//! Iterative delay bounding: Emmi, Qadeer and Rakamarić, *Delay-bounded scheduling* (POPL 2011).
//!
//! A fixed scheduler (round-robin: the thread that runs goes on until it can't, then the next in the order
//! of creation) may be told to pass over the thread whose turn it is; each that is passed over costs 1.
//! With d delays there are O(k^d) schedules of k steps, whatever the number of threads: one at level 0.
//! Thomson, Donaldson and Betts (TOPC 2016) found more bugs with it than with preemption bounding in the same
//! number of schedules.
//!
//! Where we depart: waits that may end by themselves stand behind all threads that can go on, in the
//! order of creation, and the i-th way to perform a step (which waiter a signal wakes; where memory is weak, how old a
//! store a load reads) costs i; levels are
//! searched again instead of queued (`levels`).

use raddle_model::{BoundUnit, ThreadId};
use serde::{Deserialize, Serialize};

use super::Cost;
use crate::search::Step;

/// Counts delays.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Delays;

impl Cost for Delays {
    const UNIT: BoundUnit = BoundUnit::Delays;

    fn thread(&self, step: &Step, last: ThreadId, thread: ThreadId) -> u32 {
        step.options(true, last).take_while(|it| *it != thread).count() as u32
    }

    fn choice(&self, _: &Step, choice: u32) -> u32 {
        choice
    }
}
