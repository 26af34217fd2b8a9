//! Uniform random walk: each thread that can go on is as likely as any other.
//!
//! The baseline of all randomized testing; no bound better than 1/n for each choice, so a bug that
//! needs k given choices among n threads has probability n^-k at worst. Seed paper 4
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
    fn picks(threads: &Fake) -> [u32; 6] {
        let mut walk = Walk::new(7, true);
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
        let counts = picks(&Fake::new(6, &[4, 0, 5, 1, 2], &[]));
        assert_eq!(counts[3], 0);
        for thread in [0, 1, 2, 4, 5] {
            assert_near(counts[thread], 12_000, 490);
        }
    }

    /// How many of 1,000 picks are delays, in each of 4,000 executions.
    fn delays() -> Vec<u32> {
        let threads = Fake::new(6, &[0, 1], &[3, 5]);
        let n_delays = |seed| {
            let mut walk = Walk::new(seed, true);
            let picks = (0..1_000).map(|step| walk.pick(&threads.view(step, 0)).0);
            picks.filter(|it| matches!(it, 3 | 5)).count() as u32
        };
        (0..4_000).map(n_delays).collect()
    }

    /// Half of them have none: 2,000, and 2 % of the 500 with one delay in 256 picks; deviation sqrt(4,000 / 4) = 32, five of
    /// them 160. An eighth has one in four: over 150 of 1,000, deviation sqrt(4,000 * 7) / 8 = 21, five of them 105.
    #[test]
    fn delays_are_many_few_or_none() {
        let delays = delays();
        let count = |range: std::ops::Range<u32>| {
            delays.iter().filter(|it| range.contains(it)).count() as u32
        };
        assert_near(count(0..1), 2_010, 160);
        assert_near(count(150..1_000), 500, 105);
        assert_near(count(35..150), 500, 105);
    }

    #[test]
    fn no_time_outs_where_the_plan_allows_none() {
        let threads = Fake::new(6, &[0, 1], &[3, 5]);
        for seed in 0..64 {
            let mut walk = Walk::new(seed, false);
            assert!((0..100).all(|step| walk.pick(&threads.view(step, 0)).0 < 3));
        }
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
