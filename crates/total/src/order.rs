//! What must come before what, whatever the schedule: program order, creation, join, and who was woken by
//! whom. Not the order of locks, which another schedule may turn around.
//!
//! The dissertation joins its conditions on creation by "or", which is always true, and has neither joins nor
//! transitivity (F3.2). Here: the transitive closure, as a vector clock for each step. Time and memory
//! O(steps · threads).
//!
//! A wait that was ended counts as ended by the last notification of its condition variable before it.

use std::collections::BTreeMap;

use raddle_model::ThreadId;

use crate::history::{Act, History, Step};

/// See the module.
#[derive(Clone, Debug)]
pub struct MustOrder {
    n_threads: usize,
    /// By step: its number in its thread, from 1.
    numbers: Vec<u32>,
    threads: Vec<ThreadId>,
    /// By step and thread: how many steps of that thread must come before, its own included.
    clocks: Vec<u32>,
}

impl MustOrder {
    /// Works it out.
    pub fn of(history: &History) -> MustOrder {
        MustOrder::work_out(history, false)
    }

    /// The same, with the order of critical sections as it was: what happened before what.
    pub fn as_it_was(history: &History) -> MustOrder {
        MustOrder::work_out(history, true)
    }

    fn work_out(history: &History, has_locks: bool) -> MustOrder {
        let n_threads = history.n_threads();
        let mut order = MustOrder {
            n_threads,
            numbers: Vec::with_capacity(history.steps.len()),
            threads: history.steps.iter().map(|it| it.thread).collect(),
            clocks: Vec::with_capacity(history.steps.len() * n_threads),
        };
        let mut now = vec![vec![0_u32; n_threads]; n_threads];
        let mut notified: BTreeMap<u64, Vec<u32>> = BTreeMap::new();
        let mut released: BTreeMap<u64, Vec<u32>> = BTreeMap::new();
        for step in &history.steps {
            let me = step.thread.idx();
            match step.act {
                Act::Join(target) if target.idx() < n_threads => {
                    let last = now[target.idx()].clone();
                    join(&mut now[me], &last);
                }
                Act::Wake => {
                    if let Some(clock) = notified.get(&step.object) {
                        join(&mut now[me], clock);
                    }
                }
                _ => {}
            }
            if has_locks && let Some(clock) = acquired(step).and_then(|it| released.get(&it)) {
                join(&mut now[me], clock);
            }
            now[me][me] += 1;
            order.numbers.push(now[me][me]);
            order.clocks.extend_from_slice(&now[me]);
            match step.act {
                Act::Spawn(child) if child.idx() < n_threads => {
                    let clock = now[me].clone();
                    join(&mut now[child.idx()], &clock);
                }
                Act::Notify | Act::NotifyAll => {
                    notified.insert(step.object, now[me].clone());
                }
                _ => {}
            }
            if let Some(lock) = given(step).filter(|_| has_locks) {
                let clock = now[me].clone();
                let known = released.entry(lock).or_insert_with(|| vec![0; n_threads]);
                join(known, &clock);
            }
        }
        order
    }

    /// Must the first step come before the second? Not if they are the same.
    pub fn is_before(&self, first: u32, second: u32) -> bool {
        let (first, second) = (first as usize, second as usize);
        first != second
            && self.numbers[first]
                <= self.clocks[second * self.n_threads + self.threads[first].idx()]
    }

    /// Can they come in either order?
    pub fn is_concurrent(&self, first: u32, second: u32) -> bool {
        first != second && !self.is_before(first, second) && !self.is_before(second, first)
    }
}

/// What a step waits for others to give: locks, and everything that is not told apart here.
fn acquired(step: &Step) -> Option<u64> {
    match step.act {
        Act::Lock | Act::ReadLock | Act::Other => Some(step.object).filter(|it| *it != 0),
        Act::Wake => Some(step.other),
        act if act.is_read() && step.is_atomic => Some(step.object),
        _ => None,
    }
}

/// What a step gives.
fn given(step: &Step) -> Option<u64> {
    match step.act {
        Act::Unlock | Act::Other => Some(step.object).filter(|it| *it != 0),
        Act::Wait => Some(step.other),
        act if act.is_write() && step.is_atomic => Some(step.object),
        _ => None,
    }
}

fn join(clock: &mut [u32], other: &[u32]) {
    for (mine, theirs) in clock.iter_mut().zip(other) {
        *mine = (*mine).max(*theirs);
    }
}
