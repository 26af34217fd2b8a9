//! The scheduling function of rstest (Stoller, seed paper 1): before each visible operation a thread gives
//! way, by yielding or by sleeping, again and again as long as a coin of probability p falls that way.
//!
//! The paper's loop stands in the program and the scheduler below it is not its own; it needs the loop so
//! that every thread that can go on has a chance to be next under any fair scheduler, where one
//! conditional yield does not give it (the paper's example of three threads, which is a test). Two schedulers can be
//! below it here: a round robin without preemption in the order of creation, or the one of that example, a list of
//! those who are ready, new threads at its head, whoever gives way at its tail. A sleep takes a random number of steps
//! in virtual time. So each thread that can go on is next with probability at least p^(n-1) (1-p) / 2^n, and every
//! deadlock and assertion that can be reached keeps a probability above 0; no better bound is known.
//!
//! Where we depart: the scheduler is ours, so "sticky" has the same support at a lower price;
//! this one is kept as the paper has it, to be compared with.

use raddle_model::{Giving, OpKind, ThreadId};

use crate::{
    dice::Dice,
    origin::Origin,
    pickers::nonpreemptive::next_after,
    view::{Picker, Threads, View},
};

/// The longest sleep, in steps.
const SLEEP_MAX: u32 = 16;

/// See the module.
#[derive(Clone, Debug)]
pub struct Rstest {
    dice: Dice,
    per_mille: u32,
    giving: Giving,
    /// By thread: the step at which it wakes up, and whether it gave way before the op that it is about to do.
    threads: Vec<Way>,
    /// Those who can go on, but for the one that runs, in the order in which they will.
    ready: Vec<ThreadId>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Way {
    wakes_at: u64,
    gave: bool,
}

impl Rstest {
    pub(crate) fn new(origin: &Origin<'_>, per_mille: u32, giving: Giving) -> Rstest {
        let dice = Dice::new(origin.seed, origin.may_time_out);
        let (threads, ready) = (Vec::with_capacity(16), Vec::with_capacity(16));
        Rstest { dice, per_mille, giving, threads, ready }
    }

    /// Brings the list of those who are ready up to date: new threads to its head, those who waited to its tail.
    fn refresh<T: Threads>(&mut self, view: &View<'_, T>) {
        let n_known = self.threads.len() as u32;
        let n_threads = view.threads.n_threads();
        self.threads.resize(n_threads as usize, Way::default());
        if !self.giving.has_ready_list {
            return;
        }
        self.ready.retain(|it| view.threads.is_enabled(*it) && *it != view.last);
        for thread in (0..n_threads).map(ThreadId) {
            let is_out = thread == view.last || !view.threads.is_enabled(thread);
            if !is_out && !self.ready.contains(&thread) {
                let at = if thread.0 >= n_known { 0 } else { self.ready.len() };
                self.ready.insert(at, thread);
            }
        }
    }

    /// `thread` gives way, or can't go on: the next one that can and does not sleep; if all sleep, the first to
    /// wake up.
    fn next_awake<T: Threads>(&mut self, thread: ThreadId, view: &View<'_, T>) -> ThreadId {
        if self.giving.has_ready_list && view.threads.is_enabled(thread) {
            self.ready.push(thread);
        }
        let mut candidate = thread;
        let in_turn = (0..view.threads.n_enabled() as usize).map(|idx| {
            candidate = match self.giving.has_ready_list {
                true => self.ready[idx],
                false => next_after(candidate, view.threads),
            };
            candidate
        });
        let next = in_turn
            .min_by_key(|it| self.threads[it.idx()].wakes_at.max(view.step))
            .expect("bug: a picker is asked although nobody can go on");
        self.threads[next.idx()].wakes_at = view.step;
        self.ready.retain(|it| *it != next);
        next
    }

    /// Does the thread call the scheduling function once more, and does that let others go first?
    fn gives_way<T: Threads>(&mut self, thread: ThreadId, view: &View<'_, T>) -> bool {
        let is_called = !self.giving.has_ready_list || is_visible(view.threads.op(thread).kind);
        let is_over = self.giving.is_once && self.threads[thread.idx()].gave;
        is_called && !is_over && self.dice.is_heads(self.per_mille)
    }
}

/// Is an operation visible by the paper's rule? Those that neither wait nor choose among several are not.
const fn is_visible(kind: OpKind) -> bool {
    !matches!(
        kind,
        OpKind::Start | OpKind::Finish | OpKind::Spawn | OpKind::Detach | OpKind::Broadcast
    )
}

impl Picker for Rstest {
    fn pick<T: Threads>(&mut self, view: &View<'_, T>) -> ThreadId {
        if let Some(thread) = self.dice.timed(view.threads) {
            return thread;
        }
        self.refresh(view);
        let mut thread = view.last;
        if !view.stays() || view.step < self.threads[thread.idx()].wakes_at {
            thread = self.next_awake(thread, view);
        }
        while self.gives_way(thread, view) {
            self.threads[thread.idx()].gave = true;
            if self.dice.is_heads(self.giving.sleeps) {
                let n_steps = 1 + self.dice.below(SLEEP_MAX);
                self.threads[thread.idx()].wakes_at = view.step + u64::from(n_steps);
            }
            thread = self.next_awake(thread, view);
        }
        self.threads[thread.idx()].gave = false;
        thread
    }

    fn forced<T: Threads>(&mut self, view: &View<'_, T>, thread: ThreadId) {
        self.refresh(view);
        self.threads[thread.idx()].gave = false;
    }

    fn choose(&mut self, n_choices: u32) -> u32 {
        self.dice.below(n_choices)
    }
}
