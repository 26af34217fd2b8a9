//! Partial order sampling (Yuan, Yang, Gu, CAV 2018): each pending op has a random priority, the highest that
//! can be performed is, and then every other pending op that conflicts with it draws its priority anew.
//!
//! Bound: each partial order is sampled with a probability that exceeds the random walk's exponentially in
//! the paper's analysis; for independent threads all orders of conflicts are equally likely. No parameter
//! and no earlier execution is needed.
//!
//! Where we depart: an op that can't be performed draws anew too, as the paper's definition has it and some
//! implementations do not; taking a lock conflicts with taking it (`raddle_model::dependent` says what
//! conflicts, erring on the side of conflict); timed waits end one time in sixteen; fair spells (`fair`). Who runs draws
//! anew each time, so it falls below any other in the end, but where many spin around one that has drawn low and
//! conflicts with none of them, all must fall below it at once: that may take for ever.

use raddle_model::ThreadId;

use crate::{
    dice::Dice,
    draws::Draws,
    fair::Fair,
    origin::Origin,
    pending::Pending,
    view::{Picker, Threads, View},
};

/// See the module.
#[derive(Clone, Debug)]
pub struct Pos {
    dice: Dice,
    fair: Fair,
    pending: Pending,
    draws: Draws,
}

impl Pos {
    pub(crate) fn new(origin: &Origin<'_>) -> Pos {
        let dice = Dice::new(origin.seed, origin.may_time_out);
        Pos { dice, fair: Fair::new(), pending: Pending::new(), draws: Draws::new() }
    }

    #[inline]
    fn update<T: Threads>(&mut self, view: &View<'_, T>) {
        self.pending.update(view);
        while self.draws.len() < self.pending.len() {
            self.draws.add(&mut self.dice);
        }
    }

    /// A thread is about to perform its op.
    #[inline]
    fn perform<T: Threads>(&mut self, thread: ThreadId, threads: &T) {
        let Pos { dice, pending, draws, .. } = self;
        pending.each_dependent(thread, threads, |it| draws.redraw(it, dice));
        draws.redraw(thread, dice);
    }
}

impl Picker for Pos {
    #[inline]
    fn pick<T: Threads>(&mut self, view: &View<'_, T>) -> ThreadId {
        self.update(view);
        let thread = match self.dice.timed(view.threads) {
            Some(thread) => thread,
            None if self.fair.is_due() => self.dice.uniform(view.threads),
            None => self.draws.highest(view.threads),
        };
        self.perform(thread, view.threads);
        thread
    }

    #[inline]
    fn forced<T: Threads>(&mut self, view: &View<'_, T>, thread: ThreadId) {
        self.update(view);
        self.perform(thread, view.threads);
    }

    fn choose(&mut self, n_choices: u32) -> u32 {
        self.dice.below(n_choices)
    }
}
