//! Random priorities of pending ops, for the pickers that draw them anew as ops are performed.

use raddle_model::ThreadId;

use crate::{dice::Dice, view::Threads};

/// The low bits of a priority are its thread's number: the largest says at once whose it is, without a
/// branch that the processor would have to guess.
const THREAD_BITS: u32 = 20;
const THREAD_MASK: u64 = (1 << THREAD_BITS) - 1;

/// By thread: its op's priority.
#[derive(Clone, Debug)]
pub struct Draws {
    priorities: Vec<u64>,
}

impl Draws {
    pub(crate) fn new() -> Draws {
        Draws { priorities: Vec::with_capacity(64) }
    }

    /// Threads that have one.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.priorities.len()
    }

    /// Draws for the next thread.
    pub(crate) fn add(&mut self, dice: &mut Dice) {
        let thread = ThreadId(self.priorities.len() as u32);
        assert!(u64::from(thread.0) < THREAD_MASK, "bug: more threads than numbers");
        self.priorities.push(0);
        self.redraw(thread, dice);
    }

    /// Draws anew.
    #[inline]
    pub(crate) fn redraw(&mut self, thread: ThreadId, dice: &mut Dice) {
        self.priorities[thread.idx()] = dice.bits() & !THREAD_MASK | u64::from(thread.0);
    }

    /// A thread's priority: larger than 0 but for one in a million million.
    #[inline]
    pub(crate) fn of(&self, thread: ThreadId) -> u64 {
        self.priorities[thread.idx()]
    }

    /// The highest of the threads that can go on.
    #[inline]
    pub(crate) fn highest<T: Threads>(&self, threads: &T) -> ThreadId {
        let n_enabled = threads.n_enabled();
        // Two at a time, for each comparison has to wait for the one before.
        let (mut best, mut other) = (0, 0);
        for pair in 0..n_enabled / 2 {
            best = self.of(threads.enabled(2 * pair)).max(best);
            other = self.of(threads.enabled(2 * pair + 1)).max(other);
        }
        if n_enabled % 2 == 1 {
            best = self.of(threads.enabled(n_enabled - 1)).max(best);
        }
        Draws::thread_of(best.max(other))
    }

    /// Whose priority it is.
    #[inline]
    pub(crate) const fn thread_of(priority: u64) -> ThreadId {
        ThreadId((priority & THREAD_MASK) as u32)
    }
}
