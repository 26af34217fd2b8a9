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
//!
//! A *guide* may pass threads over: then it is sampling within what the guide asks for (`rff`, `directed`).

use raddle_model::ThreadId;

use crate::{
    dice::Dice,
    draws::Draws,
    fair::Fair,
    origin::Origin,
    pending::Pending,
    view::{Picker, Threads, View},
};

/// Partial order sampling, with a guide or without.
#[derive(Clone, Debug)]
pub struct Sampling<G> {
    dice: Dice,
    fair: Fair,
    pending: Pending,
    draws: Draws,
    pub(crate) guide: G,
}

/// See the module.
pub type Pos = Sampling<Unguided>;

/// What is asked of an execution beside priorities.
pub trait Guide {
    /// A thread's op is another than before; threads come in order.
    fn learn<T: Threads>(&mut self, thread: ThreadId, threads: &T);

    /// A thread is about to perform its op.
    fn perform(&mut self, thread: ThreadId);

    /// Who is next, of those who can go on.
    fn choose<T: Threads>(&mut self, view: &View<'_, T>, draws: &Draws) -> ThreadId;
}

/// Asks for nothing.
#[derive(Clone, Copy, Debug)]
pub struct Unguided;

impl Guide for Unguided {
    #[inline]
    fn learn<T: Threads>(&mut self, _: ThreadId, _: &T) {}

    #[inline]
    fn perform(&mut self, _: ThreadId) {}

    #[inline]
    fn choose<T: Threads>(&mut self, view: &View<'_, T>, draws: &Draws) -> ThreadId {
        draws.highest(view.threads)
    }
}

impl Pos {
    pub(crate) fn new(origin: &Origin<'_>) -> Pos {
        Pos::guided(Dice::new(origin.seed, origin.may_time_out), Unguided)
    }
}

impl<G: Guide> Sampling<G> {
    pub(crate) fn guided(dice: Dice, guide: G) -> Sampling<G> {
        Sampling { dice, fair: Fair::new(), pending: Pending::new(), draws: Draws::new(), guide }
    }

    #[inline]
    fn update<T: Threads>(&mut self, view: &View<'_, T>) {
        self.pending.update(view);
        while self.draws.len() < self.pending.len() {
            let thread = ThreadId(self.draws.len() as u32);
            self.draws.add(&mut self.dice);
            self.guide.learn(thread, view.threads);
        }
        self.guide.learn(view.last, view.threads);
    }

    /// A thread is about to perform its op.
    #[inline]
    fn perform<T: Threads>(&mut self, thread: ThreadId, threads: &T) {
        let Sampling { dice, pending, draws, guide, .. } = self;
        pending.each_dependent(thread, threads, |it| draws.redraw(it, dice));
        draws.redraw(thread, dice);
        guide.perform(thread);
    }
}

impl<G: Guide> Picker for Sampling<G> {
    #[inline]
    fn pick<T: Threads>(&mut self, view: &View<'_, T>) -> ThreadId {
        self.update(view);
        let thread = match self.dice.timed(view.threads) {
            Some(thread) => thread,
            None if self.fair.is_due() => self.dice.uniform(view.threads),
            None => self.guide.choose(view, &self.draws),
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
