//! How large a search will be, from what has been seen of it.
//!
//! Knuth (1975): a random descent that chooses evenly among b1, b2, … ways at its nodes ends in a leaf that
//! stands for X = b1·b2·… leaves; the mean of X over descents is the number of leaves. A depth-first search
//! visits leaves in order instead of at random, so each leaf is weighted with the probability 1/X of a
//! random descent to it, as Kilby, Slaney, Thiébaux and Walsh (2006) do: n leaves whose weights sum up
//! to w let expect n/w, and when all are visited, w = 1 and the estimate is exact.
//!
//! Where ways cost something and a level bounds the cost, that goes wrong: the leaves that come first are those
//! with most left to spend, and stand for far too many. There a leaf's path is a sample instead: a way of
//! cost c leads to as many leaves as the path itself would, with c less to spend. That is Chen's *heuristic
//! sampling* (1992), Knuth's method by strata, with depth and what is left as strata ([`Samples`]).
//!
//! The spread is the weighted standard deviation of X: large where the tree is uneven, and then the
//! estimate is worth little. It is no confidence interval: neighbouring leaves are alike.
//!
//! Where the ways at a node are found only as the search goes on (partial order reduction), estimates are far too
//! low at first (a tenth of 7,134 when a twentieth is done), and then may be too high as well (up to four times,
//! measured on 27 small programs; with bounded preemptions 33 times, and once 315). So such a search says beside it how
//! many there are at least, which is certain: those that were made, and the ways that wait.

use raddle_model::SearchSize;
use serde::{Deserialize, Serialize};

/// Leaves seen so far.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Leaves {
    n: u64,
    /// Sum of weights.
    weight: f64,
    /// Sum of weight · X².
    square: f64,
}

impl Leaves {
    /// Adds a leaf by its X.
    pub(crate) fn add(&mut self, x: f64) {
        self.n += 1;
        self.weight += 1.0 / x;
        self.square += x;
    }

    /// Adds what was seen elsewhere.
    pub(crate) fn add_all(&mut self, other: &Leaves) {
        self.n += other.n;
        self.weight += other.weight;
        self.square += other.square;
    }

    /// How many.
    pub(crate) fn n(&self) -> u64 {
        self.n
    }

    /// `done`: the weight of what has been visited, if that is known better than by what was added.
    pub(crate) fn estimate(&self, done: Option<f64>) -> Option<SearchSize> {
        let done = done.unwrap_or(self.weight).min(1.0);
        if self.n == 0 || done <= 0.0 {
            return None;
        }
        let total = self.n as f64 / done;
        let mean = self.n as f64 / self.weight;
        let variance = (self.square / self.weight - mean * mean).max(0.0);
        let spread = if done >= 1.0 { 0.0 } else { variance.sqrt() };
        Some(SearchSize { total, spread, done, least: None })
    }
}

/// Samples of the number of leaves.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Samples {
    n: u64,
    sum: f64,
    square: f64,
}

impl Samples {
    pub(crate) fn add(&mut self, x: f64) {
        self.n += 1;
        self.sum += x;
        self.square += x * x;
    }

    pub(crate) fn mean(&self) -> f64 {
        self.sum / self.n.max(1) as f64
    }

    pub(crate) fn variance(&self) -> f64 {
        (self.square / self.n.max(1) as f64 - self.mean() * self.mean()).max(0.0)
    }

    /// `n_done` leaves were visited, and at least one was not.
    pub(crate) fn estimate(&self, n_done: u64) -> Option<SearchSize> {
        let total = self.mean().max(n_done as f64 + 1.0);
        let done = n_done as f64 / total;
        (self.n > 0).then(|| SearchSize {
            total,
            spread: self.variance().sqrt(),
            done,
            least: None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Leaves;

    /// A node with two ways: one leaf, and a node with four leaves.
    #[test]
    fn all_leaves_give_the_exact_number() {
        let mut leaves = Leaves::default();
        leaves.add(2.0);
        let first = leaves.estimate(None).expect("a leaf was added");
        assert_eq!((first.total, first.spread, first.done), (2.0, 0.0, 0.5));
        for _ in 0..4 {
            leaves.add(8.0);
        }
        let last = leaves.estimate(None).expect("leaves were added");
        assert_eq!((last.total, last.spread, last.done), (5.0, 0.0, 1.0));
    }

    /// Half of it at X = 2, a quarter at X = 8: mean 4, variance (0.5·4 + 0.25·64)/0.75 − 16 = 8.
    #[test]
    fn spread() {
        let mut leaves = Leaves::default();
        for x in [2.0, 8.0, 8.0] {
            leaves.add(x);
        }
        let estimate = leaves.estimate(None).expect("leaves were added");
        assert!((estimate.total - 4.0).abs() < 1e-9, "{estimate:?}");
        assert!((estimate.spread - 8.0_f64.sqrt()).abs() < 1e-9, "{estimate:?}");
    }
}
