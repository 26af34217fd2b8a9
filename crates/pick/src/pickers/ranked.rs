//! The running thread goes on until it can't; then the first by a given ranking of threads that can
//! (RankChecker, seed paper 0). One thread may be the last of all: the one that was preempted where the prefix ends.
//!
//! Strictly: the first by rank that can go on at every point, whoever runs (line 27 of the paper's algorithm); who
//! yields is passed by.
//!
//! Waits with a deadline don't end while others can go on, and a signal wakes who has waited longest: who
//! searches sees to other choices himself. Nobody is passed by for fairness but who goes on for too long alone.

use raddle_model::{Ranking, ThreadId};

use crate::{
    pickers::nonpreemptive::Stay,
    view::{Picker, Threads, View},
};

/// See the module.
#[derive(Clone, Debug)]
pub struct Ranked {
    ranking: Ranking,
    last_of_all: Option<ThreadId>,
    is_strict: bool,
    stay: Stay,
}

impl Ranked {
    pub(crate) const fn new(
        ranking: Ranking,
        last_of_all: Option<ThreadId>,
        is_strict: bool,
    ) -> Ranked {
        Ranked { ranking, last_of_all, is_strict, stay: Stay::new() }
    }
}

impl Picker for Ranked {
    #[inline]
    fn pick<T: Threads>(&mut self, view: &View<'_, T>) -> ThreadId {
        let stays = view.stays();
        if stays && !self.is_strict {
            return self.stay.stay_or_pass(view);
        }
        let all = (0..view.threads.n_enabled()).map(|idx| view.threads.enabled(idx));
        let rank = |it: &ThreadId| {
            (*it == view.last && !stays, self.last_of_all == Some(*it), self.ranking.key(*it))
        };
        let first = all.min_by_key(rank).unwrap_or_else(|| view.threads.enabled(0));
        if stays && first == view.last {
            return self.stay.stay_or_pass(view);
        }
        self.stay.end();
        first
    }

    fn choose(&mut self, _n_choices: u32) -> u32 {
        0
    }
}

#[cfg(test)]
mod tests {
    use raddle_model::{Ranking, ThreadId};

    use super::Ranked;
    use crate::{fake::Fake, view::Picker};

    #[test]
    fn who_runs_goes_on_and_then_the_first_by_rank() {
        let threads = Fake::new(6, &[3, 1, 4], &[]);
        let pick = |ranking, last_of_all, last| {
            Ranked::new(ranking, last_of_all, false).pick(&threads.view(0, last)).0
        };
        let strict = |ranking, last_of_all, last| {
            Ranked::new(ranking, last_of_all, true).pick(&threads.view(0, last)).0
        };
        assert_eq!(strict(Ranking::OLDEST, None, 3), 1);
        assert_eq!(strict(Ranking::OLDEST, Some(ThreadId(1)), 3), 3);
        assert_eq!(strict(Ranking::NEWEST, None, 3), 4);
        assert_eq!(pick(Ranking::OLDEST, None, 3), 3);
        assert_eq!(pick(Ranking::OLDEST, None, 0), 1);
        assert_eq!(pick(Ranking::NEWEST, None, 0), 4);
        assert_eq!(pick(Ranking::NEWEST, Some(ThreadId(4)), 0), 3);
    }
}
