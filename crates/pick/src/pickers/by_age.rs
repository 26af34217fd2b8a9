//! Threads by age: the oldest that can go on does, or the newest.
//!
//! Of any two threads, one order lets the first run to its end (or until it blocks) before the other takes
//! its first step, the other order the reverse: two executions for all pairs of threads (RankChecker, seed
//! paper 0, but for one thing: after a block it is the order of those who can go on).
//!
//! Deterministic but for fair spells (`fair`) and waits with a deadline, which end one time in sixteen.

use raddle_model::ThreadId;

use crate::{
    dice::Dice,
    fair::Fair,
    origin::Origin,
    view::{Picker, Threads, View},
};

/// See the module.
#[derive(Clone, Debug)]
pub struct ByAge {
    dice: Dice,
    fair: Fair,
    newest_first: bool,
}

impl ByAge {
    pub(crate) fn new(origin: &Origin<'_>, newest_first: bool) -> ByAge {
        let dice = Dice::new(origin.seed, origin.may_time_out);
        ByAge { dice, fair: Fair::new(), newest_first }
    }
}

impl Picker for ByAge {
    #[inline]
    fn pick<T: Threads>(&mut self, view: &View<'_, T>) -> ThreadId {
        if let Some(thread) = self.dice.timed(view.threads) {
            return thread;
        }
        if self.fair.is_due() {
            return self.dice.uniform(view.threads);
        }
        let all = (0..view.threads.n_enabled()).map(|idx| view.threads.enabled(idx));
        let first = if self.newest_first { all.max() } else { all.min() };
        first.unwrap_or_else(|| view.threads.enabled(0))
    }

    fn choose(&mut self, n_choices: u32) -> u32 {
        self.dice.below(n_choices)
    }
}

#[cfg(test)]
mod tests {
    use raddle_model::{PickerSpec, ProfileView};

    use super::ByAge;
    use crate::{fake::Fake, origin::Origin, view::Picker};

    #[test]
    fn the_oldest_or_the_newest() {
        let origin = Origin {
            picker: PickerSpec::Walk,
            seed: 1,
            may_time_out: false,
            profile: ProfileView::default(),
        };
        let threads = Fake::new(6, &[3, 1, 4], &[]);
        assert_eq!(ByAge::new(&origin, false).pick(&threads.view(0, 3)).0, 1);
        assert_eq!(ByAge::new(&origin, true).pick(&threads.view(0, 3)).0, 4);
    }
}
