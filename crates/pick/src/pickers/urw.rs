//! Uniform random walk over interleavings (URW, the base of SURW: ASPLOS 2025): a thread is chosen with a
//! probability in proportion to the events that it still has before it.
//!
//! Bound: where threads do not block and their lengths are known, every interleaving is equally likely: the
//! number of interleavings that begin with thread t is in proportion to its remaining length (multinomial
//! coefficients).
//!
//! Where we depart: lengths are what earlier executions taught about threads of the same role
//! (`raddle_model::Profile`), and never less than one event; threads that have not been created yet count
//! with their creator. Without any knowledge it is nearly a random walk.

use raddle_model::{ProfileView, ThreadId};

use crate::{
    dice::Dice,
    origin::Origin,
    roles::Roles,
    view::{Picker, Threads, View},
    weights::Weights,
};

/// See the module.
#[derive(Clone, Debug)]
pub struct Urw<'a> {
    dice: Dice,
    profile: ProfileView<'a>,
    roles: Roles,
    weights: Weights,
}

impl<'a> Urw<'a> {
    pub(crate) fn new(origin: &Origin<'a>) -> Urw<'a> {
        Urw {
            dice: Dice::new(origin.seed, origin.may_time_out),
            profile: origin.profile,
            roles: Roles::new(),
            weights: Weights::new(),
        }
    }

    #[inline]
    fn greet<T: Threads>(&mut self, threads: &T) {
        while let Some(newcomer) = self.roles.next(threads) {
            let length = self.profile.length(newcomer.role);
            self.weights.add(&newcomer, length.map(|it| u64::from(it.n_below)));
        }
    }
}

/// One of the threads that can go on, in proportion to its weight.
#[inline]
pub(crate) fn weighted<T: Threads>(threads: &T, weights: &Weights, dice: &mut Dice) -> ThreadId {
    let n_enabled = threads.n_enabled();
    let total: u64 = (0..n_enabled).map(|idx| weights.of(threads.enabled(idx))).sum();
    let mut rest = dice.below_wide(total);
    for idx in 0..n_enabled {
        let thread = threads.enabled(idx);
        let weight = weights.of(thread);
        if rest < weight {
            return thread;
        }
        rest -= weight;
    }
    threads.enabled(0)
}

impl Picker for Urw<'_> {
    #[inline]
    fn pick<T: Threads>(&mut self, view: &View<'_, T>) -> ThreadId {
        self.greet(view.threads);
        let thread = match self.dice.timed(view.threads) {
            Some(thread) => thread,
            None => weighted(view.threads, &self.weights, &mut self.dice),
        };
        self.weights.take(thread);
        thread
    }

    #[inline]
    fn forced<T: Threads>(&mut self, view: &View<'_, T>, thread: ThreadId) {
        self.greet(view.threads);
        self.weights.take(thread);
    }

    fn choose(&mut self, n_choices: u32) -> u32 {
        self.dice.below(n_choices)
    }
}
