//! Threads by priority, for the pickers that let the highest one go on: new threads come in at a random
//! rank among the undisturbed, and those that a change point has hit are below all of them, ordered by the
//! index of the change point.
//!
//! That a change point's *index* is the priority is what the theorem of PCT needs. To move the thread to
//! the very end instead, as is often done, makes the last one hit always the lowest, and some schedules
//! impossible.

use raddle_model::{OpKind, ThreadId};

use crate::{dice::Dice, points::Points, view::Threads};

/// See the module.
#[derive(Clone, Debug)]
pub(crate) struct Priorities {
    /// Threads that no change point has hit, highest first.
    high: Vec<ThreadId>,
    /// By index of the change point: whom it has hit, if nothing else has since.
    low: Vec<Option<ThreadId>>,
    /// Threads that have been given a priority.
    n_known: u32,
}

impl Priorities {
    /// With room for so many change points.
    pub(crate) fn new(n_points: usize) -> Priorities {
        Priorities { high: Vec::with_capacity(16), low: vec![None; n_points], n_known: 0 }
    }

    /// The next thread, after the change points that are due have hit.
    #[inline]
    pub(crate) fn next<T: Threads>(
        &mut self,
        threads: &T,
        points: &mut Points,
        dice: &mut Dice,
    ) -> ThreadId {
        self.greet(threads, dice);
        let mut thread = self.top(threads);
        if threads.n_enabled() > 1 {
            points.step();
            while let Some(idx) = points.take() {
                self.demote(thread, idx as usize);
                thread = self.top(threads);
            }
        }
        thread
    }

    /// A thread is about to perform its op: if it is the last one, it needs no priority any more.
    #[inline]
    pub(crate) fn perform<T: Threads>(&mut self, thread: ThreadId, threads: &T) {
        if threads.op(thread).kind == OpKind::Finish {
            self.remove(thread);
        }
    }

    #[inline]
    fn greet<T: Threads>(&mut self, threads: &T, dice: &mut Dice) {
        while self.n_known < threads.n_threads() {
            let rank = dice.below(self.high.len() as u32 + 1);
            self.high.insert(rank as usize, ThreadId(self.n_known));
            self.n_known += 1;
        }
    }

    /// The highest thread that can go on.
    #[inline]
    fn top<T: Threads>(&self, threads: &T) -> ThreadId {
        let low = self.low.iter().rev().flatten();
        let mut all = self.high.iter().chain(low);
        // One that finished and lives again would have no rank; there is none, but who knows.
        all.find(|it| threads.is_enabled(**it)).copied().unwrap_or_else(|| threads.enabled(0))
    }

    #[cold]
    fn demote(&mut self, thread: ThreadId, point: usize) {
        self.remove(thread);
        self.low[point] = Some(thread);
    }

    #[cold]
    fn remove(&mut self, thread: ThreadId) {
        self.high.retain(|it| *it != thread);
        for slot in &mut self.low {
            if *slot == Some(thread) {
                *slot = None;
            }
        }
    }
}
