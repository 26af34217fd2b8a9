//! History-aware predecessor sets: which statement has come right before which, in executions that went well.
//! Wang, Said and Gupta, *Coverage guided systematic concurrency testing* (ICSE 2011), seed paper 2.
//!
//! HaPSet\[st\] is the set of statements of other threads that st was immediately dependent upon. A statement is a
//! place in the code with the last five calls that led there and, of the two threads, whether its own is the
//! older one; so the sets do not grow with the number of threads.
//!
//! Where we depart: a place is an instruction instead of a line, so a set is good for one build of a program; and
//! "immediately" is as in the paper's Figure 1, not as in its Algorithm 1: an access of the statement's own
//! thread hides what came before it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// A statement, and one of its predecessors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Pair {
    /// The statement's place.
    pub site: u64,
    /// A hash of the calls that led there.
    pub context: u64,
    /// Is the predecessor's thread the younger of the two?
    pub is_after_younger: bool,
    /// The predecessor's place.
    pub predecessor: u64,
    /// A hash of the calls that led there.
    pub predecessor_context: u64,
}

/// All pairs that were seen.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Vec<(Pair, bool)>", into = "Vec<(Pair, bool)>")]
pub struct HapSets {
    /// With whether it is new.
    pairs: BTreeMap<Pair, bool>,
}

impl HapSets {
    /// What earlier campaigns have seen.
    pub fn of_earlier(pairs: impl IntoIterator<Item = Pair>) -> HapSets {
        HapSets { pairs: pairs.into_iter().map(|it| (it, false)).collect() }
    }

    /// Adds a pair; `false` if it was there.
    pub fn add(&mut self, pair: Pair) -> bool {
        let n_before = self.pairs.len();
        self.pairs.entry(pair).or_insert(true);
        n_before < self.pairs.len()
    }

    /// Was the pair seen? If the predecessor's context is unknown (0): in any.
    pub fn has(&self, pair: &Pair) -> bool {
        if pair.predecessor_context != 0 {
            return self.pairs.contains_key(pair);
        }
        let last = Pair { predecessor_context: u64::MAX, ..*pair };
        self.pairs.range(*pair..=last).next().is_some()
    }

    /// All pairs in order, and which are new.
    pub fn iter(&self) -> impl Iterator<Item = (&Pair, bool)> {
        self.pairs.iter().map(|(pair, is_new)| (pair, *is_new))
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.pairs.len()
    }

    /// Was nothing seen?
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }
}

impl From<Vec<(Pair, bool)>> for HapSets {
    fn from(pairs: Vec<(Pair, bool)>) -> HapSets {
        HapSets { pairs: pairs.into_iter().collect() }
    }
}

impl From<HapSets> for Vec<(Pair, bool)> {
    fn from(sets: HapSets) -> Vec<(Pair, bool)> {
        sets.pairs.into_iter().collect()
    }
}
