//! Which variables are known to be shared, learned in epochs.
//!
//! An access to a variable that one thread alone has touched is no scheduling point; once another
//! thread touches it, later executions should treat it as one from its first access on. If they did so
//! as soon as some worker found out, what execution 500 does would depend on how far the other workers
//! had come. So knowledge comes into force at fixed indices: executions [2^k, 2^(k+1)) know exactly
//! what executions below 2^k found, and execution 0 knows nothing. Most sharing shows in the first few
//! executions, so the doubling costs little.

use std::{collections::BTreeMap, ops::Range};

/// The names of variables found to be shared, and since when.
#[derive(Clone, Debug, Default)]
pub struct Sharing {
    /// What was known before the first execution. Sorted, no duplicates.
    given: Vec<u64>,
    /// For each other name the first execution of the earliest epoch that found it.
    found: BTreeMap<u64, u64>,
}

/// The executions that know what `execution` knows: an epoch.
pub fn epoch(execution: u64) -> Range<u64> {
    match execution.checked_ilog2() {
        None => 0..1,
        Some(exponent) => 1 << exponent..(1_u64 << exponent).saturating_mul(2),
    }
}

impl Sharing {
    /// Nothing is known.
    pub const fn new() -> Sharing {
        Sharing { given: Vec::new(), found: BTreeMap::new() }
    }

    /// Earlier campaigns have found names to be shared.
    pub fn knowing(names: &[u64]) -> Sharing {
        let mut given = names.to_vec();
        given.sort_unstable();
        given.dedup();
        Sharing { given, found: BTreeMap::new() }
    }

    /// Notes that an execution, or a block of executions of one epoch, found names to be shared.
    ///
    /// The order of calls does not matter.
    pub fn learn(&mut self, execution: u64, names: &[u64]) {
        let start = epoch(execution).start;
        for name in names {
            let since = self.found.entry(*name).or_insert(start);
            *since = start.min(*since);
        }
    }

    /// What `execution` is to know. Sorted, no duplicates.
    ///
    /// The executions before its epoch must all have been learned from.
    pub fn known(&self, execution: u64) -> Vec<u64> {
        let start = epoch(execution).start;
        let found = self.found.iter().filter(|(_, since)| **since < start).map(|(name, _)| *name);
        self.with_given(found)
    }

    /// All names found so far. Sorted, no duplicates.
    pub fn all(&self) -> Vec<u64> {
        self.with_given(self.found.keys().copied())
    }

    fn with_given(&self, found: impl Iterator<Item = u64>) -> Vec<u64> {
        let mut names: Vec<u64> = self.given.iter().copied().chain(found).collect();
        names.sort_unstable();
        names.dedup();
        names
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::{collection::vec, prelude::*};

    use super::{Sharing, epoch};

    #[test]
    fn epochs_double() {
        let mut starts = Vec::new();
        let mut next = 0;
        while next < 1_000 {
            let epoch = epoch(next);
            assert_eq!(epoch.start, next);
            starts.push(next);
            next = epoch.end;
        }
        assert_eq!(starts, [0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512]);
        assert_eq!(epoch(u64::MAX), 1 << 63..u64::MAX);
    }

    /// What the module says, word by word.
    fn known_by_definition(found: &[Vec<u64>], execution: u64) -> Vec<u64> {
        let start = epoch(execution).start as usize;
        let names: BTreeSet<u64> = found.iter().take(start).flatten().copied().collect();
        names.into_iter().collect()
    }

    #[test]
    fn what_is_given_is_known_from_the_first() {
        let mut sharing = Sharing::knowing(&[7, 3, 7]);
        sharing.learn(0, &[5, 3]);
        assert_eq!(sharing.known(0), [3, 7]);
        assert_eq!(sharing.known(1), [3, 5, 7]);
        assert_eq!(sharing.all(), [3, 5, 7]);
    }

    proptest! {
        /// `found[i]` is what execution `i` found; they are learned in any order.
        #[test]
        fn order_does_not_matter(
            (found, order) in vec(vec(0_u64..20, 0..4), 1..40).prop_flat_map(|found| {
                let order = (0..found.len()).collect::<Vec<_>>();
                (Just(found), Just(order).prop_shuffle())
            })
        ) {
            let mut sharing = Sharing::new();
            for execution in order {
                sharing.learn(execution as u64, &found[execution]);
            }
            for execution in 0..=found.len() as u64 {
                prop_assert_eq!(
                    sharing.known(execution),
                    known_by_definition(&found, execution)
                );
            }
        }

        /// What is learned from an epoch or later changes nothing for its executions.
        #[test]
        fn the_present_teaches_nothing(execution in 0_u64..1_000, later in 0_u64..1_000, name: u64) {
            let mut sharing = Sharing::new();
            sharing.learn(epoch(execution).start + later, &[name]);
            prop_assert_eq!(sharing.known(execution), Vec::<u64>::new());
        }

        /// Knowledge only grows.
        #[test]
        fn nothing_is_forgotten(finds in vec((0_u64..100, 0_u64..20), 0..30)) {
            let mut sharing = Sharing::new();
            for (execution, name) in finds {
                sharing.learn(execution, &[name]);
            }
            let mut before = Vec::new();
            for execution in 0..200 {
                let now = sharing.known(execution);
                prop_assert!(before.iter().all(|it| now.contains(it)));
                before = now;
            }
            prop_assert_eq!(before, sharing.all());
        }
    }
}
