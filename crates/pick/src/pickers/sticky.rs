//! The running thread goes on with probability p; else each thread that can go on is as likely as any
//! other.
//!
//! The plain form of noise: what remains of seed paper 1's scheduling loop under a scheduler of our own, and
//! the smallest change to the random walk that makes threads run in stretches, of
//! 1 / (1 - p) steps in the mean when there are many threads. Every schedule stays possible. No bound
//! beyond the walk's: n choices that switch have probability ((1 - p) / n)^n at worst.

use raddle_model::ThreadId;

use crate::{
    dice::Dice,
    origin::Origin,
    view::{Picker, Threads, View},
};

/// See the module.
#[derive(Clone, Debug)]
pub struct Sticky {
    dice: Dice,
    per_mille: u32,
}

impl Sticky {
    pub(crate) const fn new(origin: &Origin<'_>, per_mille: u32) -> Sticky {
        Sticky { dice: Dice::new(origin.seed, origin.may_time_out), per_mille }
    }
}

impl Picker for Sticky {
    #[inline]
    fn pick<T: Threads>(&mut self, view: &View<'_, T>) -> ThreadId {
        if let Some(thread) = self.dice.timed(view.threads) {
            return thread;
        }
        if view.stays() && self.dice.is_heads(self.per_mille) {
            return view.last;
        }
        self.dice.uniform(view.threads)
    }

    fn choose(&mut self, n_choices: u32) -> u32 {
        self.dice.below(n_choices)
    }
}
