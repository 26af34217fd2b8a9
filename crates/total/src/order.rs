//! What must come before what, whatever the schedule: program order, creation, join, and who was woken by
//! whom. Not the order of locks, which another schedule may turn around.
//!
//! The dissertation joins its conditions on creation by "or", which is always true, and has neither joins nor
//! transitivity (F3.2). Here: the transitive closure, as a vector clock for each step. Time and memory
//! O(steps · threads).
//!
//! A wait counts as ended by the notification that woke it; one whose time was over, by nobody. Another schedule may have
//! another notification wake it: what is ordered by it there is found in that execution.

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
        let mut waiting: Vec<(u64, usize)> = Vec::new();
        // By thread: what it was woken by.
        let mut notified: Vec<Option<Vec<u32>>> = vec![None; n_threads];
        let mut released: BTreeMap<u64, Vec<u32>> = BTreeMap::new();
        for step in &history.steps {
            let me = step.thread.idx();
            match step.act {
                Act::Join(target) if target.idx() < n_threads => {
                    let last = now[target.idx()].clone();
                    join(&mut now[me], &last);
                }
                Act::Wait => waiting.push((step.object, me)),
                Act::Wake => {
                    waiting.retain(|it| it.1 != me);
                    if let Some(clock) = notified[me].take() {
                        join(&mut now[me], &clock);
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
                    for woken in woken(&mut waiting, step) {
                        notified[woken] = Some(now[me].clone());
                    }
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

/// Takes off those that a notification wakes.
fn woken(waiting: &mut Vec<(u64, usize)>, step: &Step) -> Vec<usize> {
    let (here, others): (Vec<_>, Vec<_>) = waiting.drain(..).partition(|it| it.0 == step.object);
    let is_woken = |idx: usize| step.act == Act::NotifyAll || idx == step.way as usize;
    let (mut woken, mut left) = (Vec::new(), others);
    for (idx, it) in here.into_iter().enumerate() {
        if is_woken(idx) { woken.push(it.1) } else { left.push(it) }
    }
    *waiting = left;
    woken
}

/// What a step waits for others to give: locks, and everything that is not told apart here.
fn acquired(step: &Step) -> Option<u64> {
    match step.done() {
        Act::Lock | Act::ReadLock | Act::Other => Some(step.object).filter(|it| *it != 0),
        Act::Wake => Some(step.other),
        act if act.is_read() && step.is_atomic => Some(step.object),
        _ => None,
    }
}

/// What a step gives.
fn given(step: &Step) -> Option<u64> {
    match step.done() {
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
