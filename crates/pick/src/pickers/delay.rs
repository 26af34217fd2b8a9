//! Random delay bounding (Emmi, Qadeer, Rakamarić, POPL 2011, with delays drawn at random): the threads take
//! turns in the order of creation, each running until it can't go on; n times, at steps drawn uniformly,
//! the thread whose turn it is is passed by.
//!
//! No bound is known for the random form; each execution with n delays has probability k^-n, for k steps.
//! Weak where many threads have to be in an unlikely order (Thomson et al., TOPC 2016), but its base visits schedules
//! that priorities never do.
//!
//! Where we depart: k counts only steps at which more than one thread can go on; a delayed thread is passed
//! by once, and has its turn again when it comes round; fair spells (`fair`).

use raddle_model::{Amount, ThreadId};

use crate::{
    dice::Dice,
    fair::Fair,
    origin::Origin,
    pickers::nonpreemptive::next_after,
    points::{Points, choices},
    view::{Picker, Threads, View},
};

/// Delays are drawn from 1 ..= this, if the number is not given.
const DELAYS_DRAWN: u32 = 5;

/// See the module.
#[derive(Clone, Debug)]
pub struct Delay {
    dice: Dice,
    fair: Fair,
    points: Points,
}

impl Delay {
    pub(crate) fn new(origin: &Origin<'_>, n_delays: Amount) -> Delay {
        let mut dice = Dice::new(origin.seed, origin.may_time_out);
        let n_delays = match n_delays {
            Amount::Fixed(n_delays) => n_delays,
            Amount::Drawn => 1 + dice.below(DELAYS_DRAWN),
        };
        let k = choices(&origin.profile);
        let points = Points::new((0..n_delays).map(|_| 1 + dice.below_wide(k)));
        Delay { dice, fair: Fair::new(), points }
    }
}

impl Picker for Delay {
    #[inline]
    fn pick<T: Threads>(&mut self, view: &View<'_, T>) -> ThreadId {
        if let Some(thread) = self.dice.timed(view.threads) {
            return thread;
        }
        if self.fair.is_due() {
            return self.dice.uniform(view.threads);
        }
        let is_choice = view.threads.n_enabled() > 1;
        let mut thread = view.last;
        if !view.stays() {
            thread = next_after(thread, view.threads);
        }
        if is_choice {
            self.points.step();
            while self.points.take().is_some() {
                thread = next_after(thread, view.threads);
            }
        }
        thread
    }

    fn choose(&mut self, n_choices: u32) -> u32 {
        self.dice.below(n_choices)
    }
}
