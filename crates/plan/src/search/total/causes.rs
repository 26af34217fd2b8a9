//! What led to a step: all that its thread did before, with the writes that its reads read and what led to those, as
//! a hash. Reads with the same causes read the same, in whatever executions.

use std::collections::BTreeMap;

use raddle_model::mix;
use raddle_total::History;

/// By step: its causes, when steps are made in this order; 0 for those that are not made.
pub(super) fn causes(history: &History, order: impl IntoIterator<Item = u32>) -> Vec<u64> {
    let mut found = vec![0; history.steps.len()];
    let mut threads: Vec<u64> = (1..=history.n_threads() as u64).collect();
    let mut defines: BTreeMap<u64, u64> = BTreeMap::new();
    for idx in order {
        let step = &history.steps[idx as usize];
        let before = &mut threads[step.thread.idx()];
        *before = mix(mix(*before, step.place), step.object);
        if step.act.is_read() {
            *before = mix(*before, defines.get(&step.object).copied().unwrap_or(0));
        }
        if step.act.is_write() {
            defines.insert(step.object, *before);
        }
        found[idx as usize] = *before;
    }
    found
}

/// The causes of one step, when steps are made in this order.
pub(super) fn cause_of(history: &History, order: &[u32], step: u32) -> u64 {
    causes(history, order.iter().copied())[step as usize]
}
