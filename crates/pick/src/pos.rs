//! Partial order sampling (Yuan, Yang, Gu, CAV 2018): each pending op has a random priority, the highest that
//! can be performed is, and then every other pending op that conflicts with it draws its priority anew.
//!
//! Bound: each partial order is sampled with a probability that exceeds the random walk's exponentially in
//! the paper's analysis; for independent threads all orders of conflicts are equally likely. No parameter
//! and no earlier execution is needed.
//!
//! Where we depart: an op that can't be performed draws anew too, as the paper's definition has it and some
//! implementations do not; taking a lock conflicts with taking it (`raddle_model::dependent` says what
//! conflicts, erring on the side of conflict); timed waits end one time in sixteen. Fair with probability
//! 1: who runs draws anew each time, so it falls below any other in the end.

use raddle_model::ThreadId;

use crate::{
    dice::Dice,
    pending::Pending,
    tail::Origin,
    view::{Picker, Threads, View},
};

/// See the module.
#[derive(Clone, Debug)]
pub struct Pos {
    dice: Dice,
    pending: Pending,
    /// By thread: its op's priority.
    priorities: Vec<u64>,
}

impl Pos {
    pub(crate) fn new(origin: &Origin<'_>) -> Pos {
        let dice = Dice::new(origin.seed, origin.may_time_out);
        Pos { dice, pending: Pending::new(), priorities: Vec::with_capacity(64) }
    }

    #[inline]
    fn update<T: Threads>(&mut self, view: &View<'_, T>) {
        self.pending.update(view);
        while self.priorities.len() < self.pending.len() {
            self.priorities.push(self.dice.bits());
        }
    }

    /// A thread is about to perform its op.
    #[inline]
    fn perform<T: Threads>(&mut self, thread: ThreadId, threads: &T) {
        let Pos { dice, pending, priorities } = self;
        pending.each_dependent(thread, threads, |it| priorities[it.idx()] = dice.bits());
        priorities[thread.idx()] = dice.bits();
    }
}

/// The thread that can go on with the highest priority.
#[inline]
pub(crate) fn highest<T: Threads>(
    threads: &T,
    priorities: &[u64],
    is_candidate: impl Fn(ThreadId) -> bool,
) -> Option<ThreadId> {
    let mut best = None;
    let mut best_priority = 0;
    for idx in 0..threads.n_enabled() {
        let thread = threads.enabled(idx);
        let priority = priorities[thread.idx()];
        if (best_priority <= priority || best.is_none()) && is_candidate(thread) {
            best = Some(thread);
            best_priority = priority;
        }
    }
    best
}

impl Picker for Pos {
    #[inline]
    fn pick<T: Threads>(&mut self, view: &View<'_, T>) -> ThreadId {
        self.update(view);
        let timed = self.dice.timed(view.threads);
        let thread = timed
            .or_else(|| highest(view.threads, &self.priorities, |_| true))
            .unwrap_or_else(|| view.threads.enabled(0));
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
