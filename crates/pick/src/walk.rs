//! Uniform random walk: each thread that can go on is as likely as any other.
//!
//! The baseline of all randomized testing; no bound better than 1/n for each choice, so a bug that
//! needs k given choices among n threads has probability n^-k at worst (ALGORITHMS A1). Seed paper 4
//! shows where it fails: long threads make the unlikely orders of event pairs very unlikely. The order of
//! two events after a common beginning, `b` the j-th of its thread and `a` the i-th of the other:
//! P(b before a) = P(Bin(i + j - 1, 1/2) >= j).

use raddle_model::ThreadId;

use crate::{
    dice::Dice,
    view::{Picker, Threads, View},
};

/// See the module.
#[derive(Clone, Debug)]
pub struct Walk {
    dice: Dice,
}

impl Walk {
    /// A walk; `may_time_out` as the plan says.
    pub const fn new(seed: u64, may_time_out: bool) -> Walk {
        Walk { dice: Dice::new(seed, may_time_out) }
    }
}

impl Picker for Walk {
    #[inline]
    fn pick<T: Threads>(&mut self, view: &View<'_, T>) -> ThreadId {
        match self.dice.timed(view.threads) {
            Some(thread) => thread,
            None => self.dice.uniform(view.threads),
        }
    }

    fn choose(&mut self, n_choices: u32) -> u32 {
        self.dice.below(n_choices)
    }
}

#[cfg(test)]
mod tests {
    use super::Walk;
    use crate::{fake::Fake, view::Picker};

    /// How often each of 6 threads is picked in 60,000 picks.
    fn picks(threads: &Fake, may_time_out: bool) -> [u32; 6] {
        let mut walk = Walk::new(7, may_time_out);
        let mut counts = [0; 6];
        for step in 0..60_000 {
            counts[walk.pick(&threads.view(step, 0)).idx()] += 1;
        }
        counts
    }

    fn assert_near(count: u32, expected: u32, tolerance: u32) {
        assert!(count.abs_diff(expected) < tolerance, "{count}, but {expected} was expected");
    }

    /// Each of 5: 60,000 / 5 = 12,000 times, with standard deviation sqrt(60,000 * 0.2 * 0.8) = 98; five of
    /// them is 490. Thread 3 can't go on.
    #[test]
    fn threads_are_equally_likely() {
        let counts = picks(&Fake::new(6, &[4, 0, 5, 1, 2], &[]), true);
        assert_eq!(counts[3], 0);
        for thread in [0, 1, 2, 4, 5] {
            assert_near(counts[thread], 12_000, 490);
        }
    }

    /// Threads 3 and 5 share one pick in 16: 60,000 / 32 = 1,875 each, deviation sqrt(1,875 * 31 / 32) = 43,
    /// five of them 213. Threads 0 and 1 share the rest: 60,000 * 15 / 32 = 28,125 each, deviation
    /// sqrt(28,125 * 17 / 32) = 122, five of them 611.
    #[test]
    fn time_outs_are_rare() {
        let counts = picks(&Fake::new(6, &[0, 1], &[3, 5]), true);
        assert_near(counts[3], 1_875, 213);
        assert_near(counts[5], 1_875, 213);
        assert_near(counts[0], 28_125, 611);
        assert_near(counts[1], 28_125, 611);
    }

    #[test]
    fn no_time_outs_where_the_plan_allows_none() {
        let counts = picks(&Fake::new(6, &[0, 1], &[3, 5]), false);
        assert_eq!(counts[3] + counts[5], 0);
    }

    /// A single thread that can go on is no choice, and takes no random number.
    #[test]
    fn the_only_thread_costs_nothing() {
        let mut walk = Walk::new(7, true);
        let mut untouched = Walk::new(7, true);
        for step in 0..10 {
            assert_eq!(walk.pick(&Fake::new(6, &[2], &[]).view(step, 0)).0, 2);
        }
        let all = Fake::new(6, &[0, 1, 2, 3, 4, 5], &[]);
        for step in 0..10 {
            assert_eq!(walk.pick(&all.view(step, 0)), untouched.pick(&all.view(step, 0)));
        }
    }

    /// Each of 3: 20,000 times, with standard deviation sqrt(60,000 / 3 * 2 / 3) = 115; five of them is 577.
    #[test]
    fn data_choices_are_equally_likely() {
        let mut walk = Walk::new(7, true);
        let mut counts = [0; 3];
        for _ in 0..60_000 {
            counts[walk.choose(3) as usize] += 1;
        }
        for count in counts {
            assert_near(count, 20_000, 577);
        }
    }
}
