//! The plainest planner: one seed for each execution.
//!
//! Execution 0 is the baseline: it runs without preemption, which is how the program behaves most of
//! the time outside Raddle. If already the baseline fails, no schedule is to blame.

use raddle_model::{PickerSpec, mix};
use raddle_trace::Entry;

/// Gives every execution its own seed and all of them one picker; execution 0 is the baseline.
#[derive(Clone, Copy, Debug)]
pub struct Seeds {
    /// What all seeds are made from.
    pub campaign_seed: u64,
    /// The picker of all executions but the baseline.
    pub picker: PickerSpec,
}

impl Seeds {
    fn entry(&self, execution: u64) -> Entry {
        let seed = mix(mix(self.campaign_seed, 0x5eed), execution);
        let picker = if execution == 0 { PickerSpec::Nonpreemptive } else { self.picker };
        entry(picker, seed)
    }
}

impl Seeds {
    /// What the executions from `first` on are to do, one entry for each of `count`.
    pub fn block(&self, first: u64, count: u32) -> Vec<Entry> {
        (first..first + u64::from(count)).map(|execution| self.entry(execution)).collect()
    }
}

/// The entry of an execution with this picker and seed.
pub const fn entry(picker: PickerSpec, seed: u64) -> Entry {
    Entry::new(picker, seed)
}

/// The picker of an entry: the reverse of [`entry()`].
pub fn picker(entry: &Entry) -> PickerSpec {
    entry.picker().expect("bug: an entry of ours has one of our pickers")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use raddle_model::PickerSpec;

    use super::{Seeds, picker};

    fn seeds(campaign_seed: u64) -> Seeds {
        Seeds { campaign_seed, picker: PickerSpec::Walk }
    }

    #[test]
    fn blocks_do_not_change_entries() {
        let whole = seeds(7).block(0, 100);
        let mut parts = seeds(7).block(0, 1);
        parts.extend(seeds(7).block(1, 42));
        parts.extend(seeds(7).block(43, 57));
        assert_eq!(whole, parts);
    }

    #[test]
    fn baseline_is_not_preempted() {
        let entries = seeds(7).block(0, 10);
        assert_eq!(picker(&entries[0]), PickerSpec::Nonpreemptive);
        assert!(entries[1..].iter().all(|it| picker(it) == PickerSpec::Walk));
    }

    #[test]
    fn seeds_are_distinct() {
        let entries = (0..4).flat_map(|seed| seeds(seed).block(0, 1_000));
        assert_eq!(entries.map(|it| it.seed).collect::<BTreeSet<u64>>().len(), 4_000);
    }
}
