//! What executions have covered: pairs of sites and of locks, how often, and who was first.

use std::collections::BTreeMap;

use raddle_trace::{Pair, Summary};

/// A pair that executions of a block covered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Covered {
    /// Which.
    pub pair: Pair,
    /// The first of the block's executions that covered it, from 0.
    pub first: u32,
    /// How many of them did.
    pub n_executions: u32,
}

/// What a block's executions covered: their pairs one after the other, as many of each as its summary
/// says. Sorted by pair.
pub fn covered(summaries: &[Summary], pairs: &[Pair]) -> Vec<Covered> {
    if let [_] = summaries {
        let once = |it: &Pair| Covered { pair: *it, first: 0, n_executions: 1 };
        let mut all: Vec<Covered> = pairs.iter().map(once).collect();
        all.sort_unstable_by_key(|it| it.pair);
        all.dedup();
        return all;
    }
    let mut all: BTreeMap<Pair, Covered> = BTreeMap::new();
    let mut rest = pairs;
    for (idx, summary) in summaries.iter().enumerate() {
        let (own, others) = rest.split_at(rest.len().min(summary.n_pairs as usize));
        for pair in own {
            let first = idx as u32;
            all.entry(*pair)
                .or_insert(Covered { pair: *pair, first, n_executions: 0 })
                .n_executions += 1;
        }
        rest = others;
    }
    all.into_values().collect()
}

#[cfg(test)]
mod tests {
    use raddle_trace::{Pair, Summary};

    use super::{Covered, covered};

    #[test]
    fn pairs_are_counted_once_for_each_execution() {
        let summaries = [2, 0, 1, 2].map(|n_pairs| Summary { n_pairs, ..Summary::default() });
        let pairs = [5, 3, 3, 9, 5].map(Pair);
        let expected = [(3, 0, 2), (5, 0, 2), (9, 3, 1)]
            .map(|(pair, first, n_executions)| Covered { pair: Pair(pair), first, n_executions });
        assert_eq!(covered(&summaries, &pairs), expected);
        // A segment that was scribbled over makes nonsense, not a panic.
        assert_eq!(covered(&summaries, &pairs[..1]).len(), 1);
    }
}
