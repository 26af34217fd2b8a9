//! What led to a step: all that its thread has read before, with the writes that it read and what led to those, as a
//! hash. Reads with the same causes read the same, in whatever executions.
//!
//! What a thread does follows from what it has read. So where it was and what it accessed are no part of it: of an
//! order of steps that nobody has executed they may not be true, for a thread that reads something else goes elsewhere.

use std::collections::BTreeMap;

use raddle_model::{ThreadId, mix};
use raddle_total::History;

/// What led to a step.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cause {
    /// Without what it reads itself.
    pub(super) before: u64,
    /// With it.
    pub(super) whole: u64,
}

/// By step: its causes, when steps are made in this order; none for those that are not made.
pub(super) fn causes(history: &History, order: impl IntoIterator<Item = u32>) -> Vec<Cause> {
    let mut found = vec![Cause::default(); history.steps.len()];
    // By thread, and its writes since it last read something.
    let mut threads: Vec<(u64, u64)> = (1..=history.n_threads() as u64).map(|it| (it, 0)).collect();
    let mut defines: BTreeMap<u64, u64> = BTreeMap::new();
    for idx in order {
        let step = &history.steps[idx as usize];
        let (whole, n_writes) = &mut threads[step.thread.idx()];
        let before = *whole;
        if step.act.is_read() {
            *whole = mix(before, defines.get(&step.object).copied().unwrap_or(0));
            *n_writes = 0;
        }
        if step.act.is_write() {
            *n_writes += 1;
            defines.insert(step.object, mix(mix(*whole, step.place), *n_writes));
        }
        found[idx as usize] = Cause { before, whole: *whole };
    }
    found
}

/// The causes of one step, when steps are made in this order.
pub(super) fn cause_of(history: &History, order: &[u32], step: u32) -> u64 {
    causes(history, order.iter().copied())[step as usize].whole
}

/// What threads are to do, each by itself: how many steps, and which, as a hash.
pub(super) type Ways = BTreeMap<ThreadId, (usize, u64)>;

/// The ways of threads that make these steps.
pub(super) fn ways(history: &History, order: impl IntoIterator<Item = u32>) -> Ways {
    let mut ways = Ways::new();
    for step in order.into_iter().map(|it| &history.steps[it as usize]) {
        let (n_steps, way) = ways.entry(step.thread).or_default();
        *n_steps += 1;
        *way = mix(mix(*way, step.place), step.object);
    }
    ways
}

/// Has an execution gone these ways?
pub(super) fn has_gone(history: &History, wanted: &Ways) -> bool {
    let mut n_left: BTreeMap<ThreadId, usize> = wanted.iter().map(|it| (*it.0, it.1.0)).collect();
    let begin = (0..history.steps.len() as u32).filter(|it| {
        let n_left = n_left.get_mut(&history.steps[*it as usize].thread).filter(|it| **it > 0);
        n_left.map(|it| *it -= 1).is_some()
    });
    ways(history, begin) == *wanted
}
