//! Follows a prefix of choices, then lets a picker go on: replay is this, with all choices known.
//!
//! One number for each step (its thread), and one more after it where the step had a data choice. A
//! choice that is not possible any more (the program was rebuilt, or is not deterministic) ends the
//! prefix, and the step is remembered as the point of divergence.

use raddle_model::ThreadId;

use crate::{
    nonpreemptive::Nonpreemptive,
    view::{Threads, View},
    walk::Walk,
};

/// Who chooses after the prefix.
#[derive(Clone, Debug)]
pub enum Tail {
    /// See [`Nonpreemptive`].
    Nonpreemptive(Nonpreemptive),
    /// See [`Walk`].
    Walk(Walk),
}

/// See the module.
#[derive(Clone, Debug)]
pub struct Chooser<'a> {
    prefix: &'a [u32],
    position: usize,
    diverged_at: Option<u64>,
    tail: Tail,
}

impl<'a> Chooser<'a> {
    /// Follows `prefix`, then `tail`.
    pub const fn new(prefix: &'a [u32], tail: Tail) -> Chooser<'a> {
        Chooser { prefix, position: 0, diverged_at: None, tail }
    }

    /// The first step at which the prefix could not be followed.
    pub const fn diverged_at(&self) -> Option<u64> {
        self.diverged_at
    }

    /// The next thread.
    #[inline]
    pub fn pick<T: Threads>(&mut self, view: &View<'_, T>) -> ThreadId {
        if self.position < self.prefix.len()
            && let Some(thread) = self.follow(view)
        {
            return thread;
        }
        match &mut self.tail {
            Tail::Nonpreemptive(picker) => picker.pick(view),
            Tail::Walk(picker) => picker.pick(view),
        }
    }

    #[cold]
    fn follow<T: Threads>(&mut self, view: &View<'_, T>) -> Option<ThreadId> {
        let thread = ThreadId(self.prefix[self.position]);
        self.position += 1;
        let is_known = thread.0 < view.threads.n_threads();
        if is_known && (view.threads.is_enabled(thread) || view.threads.timed().contains(&thread)) {
            return Some(thread);
        }
        self.diverge(view.step);
        None
    }

    /// A step that was no choice: only `thread` could go on.
    #[inline]
    pub fn forced(&mut self, thread: ThreadId, step: u64) {
        if self.position < self.prefix.len() {
            let expected = self.prefix[self.position];
            self.position += 1;
            if expected != thread.0 {
                self.diverge(step);
            }
        }
    }

    /// One of `n_choices` ways to perform a step.
    pub fn choose(&mut self, n_choices: u32, step: u64) -> u32 {
        if let Some(choice) = self.prefix.get(self.position).copied() {
            self.position += 1;
            if choice < n_choices {
                return choice;
            }
            self.diverge(step);
        }
        match &mut self.tail {
            Tail::Nonpreemptive(_) => 0,
            Tail::Walk(picker) => picker.choose(n_choices),
        }
    }

    fn diverge(&mut self, step: u64) {
        self.position = self.prefix.len();
        self.diverged_at.get_or_insert(step);
    }
}
