//! The scheduling function of rstest (Stoller, seed paper 1): before each visible operation a thread gives
//! way, by yielding or by sleeping, again and again as long as a coin of probability p falls that way.
//!
//! The paper's loop stands in the program and the scheduler below it is not its own; it needs the loop so
//! that every thread that can go on has a chance to be next under any fair scheduler, where one
//! conditional yield does not give it (the paper's example of three threads). Here the scheduler below is
//! the one of that example, a round robin without preemption in the order of creation, and a sleep takes
//! a random number of steps in virtual time. So each thread that can go on is next with probability at
//! least p^(n-1) (1-p) / 2^n, and every deadlock and assertion that can be reached keeps a probability
//! above 0; no better bound is known.
//!
//! Where we depart: the scheduler is ours, so "sticky" has the same support at a lower price;
//! this one is kept as the paper has it, to be compared with.

use raddle_model::ThreadId;

use crate::{
    dice::Dice,
    origin::Origin,
    pickers::nonpreemptive::next_after,
    view::{Picker, Threads, View},
};

/// The longest sleep, in steps.
const SLEEP_MAX: u32 = 16;
/// A thread that gives way sleeps with this probability, per mille, or yields.
const SLEEPS: u32 = 500;

/// See the module.
#[derive(Clone, Debug)]
pub struct Rstest {
    dice: Dice,
    per_mille: u32,
    /// By thread: the step at which it wakes up.
    wakes_at: Vec<u64>,
}

impl Rstest {
    pub(crate) fn new(origin: &Origin<'_>, per_mille: u32) -> Rstest {
        let dice = Dice::new(origin.seed, origin.may_time_out);
        Rstest { dice, per_mille, wakes_at: Vec::with_capacity(16) }
    }

    /// The next one after `thread` that can go on and does not sleep; if all sleep, the first to wake up.
    fn next_awake<T: Threads>(&mut self, thread: ThreadId, view: &View<'_, T>) -> ThreadId {
        let n_enabled = view.threads.n_enabled();
        let first = next_after(thread, view.threads);
        let (mut next, mut earliest) = (first, first);
        for _ in 0..n_enabled {
            if self.wakes_at[next.idx()] <= view.step {
                return next;
            }
            if self.wakes_at[next.idx()] < self.wakes_at[earliest.idx()] {
                earliest = next;
            }
            next = next_after(next, view.threads);
        }
        self.wakes_at[earliest.idx()] = view.step;
        earliest
    }
}

impl Picker for Rstest {
    fn pick<T: Threads>(&mut self, view: &View<'_, T>) -> ThreadId {
        if let Some(thread) = self.dice.timed(view.threads) {
            return thread;
        }
        if self.wakes_at.len() < view.threads.n_threads() as usize {
            self.wakes_at.resize(view.threads.n_threads() as usize, 0);
        }
        let mut thread = view.last;
        if !view.stays() || view.step < self.wakes_at[thread.idx()] {
            thread = self.next_awake(thread, view);
        }
        while self.dice.is_heads(self.per_mille) {
            if self.dice.is_heads(SLEEPS) {
                let n_steps = 1 + self.dice.below(SLEEP_MAX);
                self.wakes_at[thread.idx()] = view.step + u64::from(n_steps);
            }
            thread = self.next_awake(thread, view);
        }
        thread
    }

    fn choose(&mut self, n_choices: u32) -> u32 {
        self.dice.below(n_choices)
    }
}
