//! Follows a prefix of choices, then lets a picker go on: replay is this, with all choices known.
//!
//! One number for each step (its thread), and one more after it where the step had a data choice. A
//! choice that is not possible any more (the program was rebuilt, or is not deterministic) ends the
//! prefix, and the step is remembered as the point of divergence.

use raddle_model::{Kept, ThreadId};

use crate::{
    origin::Origin,
    pickers::AnyPicker,
    reads::Reads,
    view::{Picker, Threads, View},
};

/// See the module.
#[derive(Clone, Debug)]
pub struct Chooser<'a> {
    prefix: &'a [u32],
    position: usize,
    diverged_at: Option<u64>,
    tail: AnyPicker<'a>,
    reads: Reads,
    counts_all: bool,
}

impl<'a> Chooser<'a> {
    /// Follows `prefix`, then `tail`.
    pub const fn new(prefix: &'a [u32], tail: AnyPicker<'a>) -> Chooser<'a> {
        let counts_all = tail.counts_all();
        let reads = Reads::ANY;
        Chooser { prefix, position: 0, diverged_at: None, tail, reads, counts_all }
    }

    /// Follows what a plan says: its prefix, then its picker; or a picker whose script the prefix is.
    pub fn of(prefix: &'a [u32], origin: &Origin<'a>) -> Chooser<'a> {
        let (prefix, tail) = AnyPicker::after(prefix, origin);
        Chooser { reads: Reads::of(origin.picker, origin.seed), ..Chooser::new(prefix, tail) }
    }

    /// The first step at which the prefix could not be followed.
    pub const fn diverged_at(&self) -> Option<u64> {
        self.diverged_at
    }

    /// Did the execution come as the picker was asked?
    pub fn kept(&self) -> Kept {
        self.tail.kept()
    }

    /// Choices of the prefix that have been followed.
    pub const fn position(&self) -> usize {
        self.position
    }

    /// Is the next choice one of the prefix?
    pub const fn is_following(&self) -> bool {
        self.position < self.prefix.len()
    }

    /// Goes on with a prefix that begins as the one before, as far as that has been followed.
    pub const fn go_on_with(&mut self, prefix: &'a [u32]) {
        self.prefix = prefix;
    }

    /// The next thread.
    #[inline]
    pub fn pick<T: Threads>(&mut self, view: &View<'_, T>) -> ThreadId {
        if self.position < self.prefix.len()
            && let Some(thread) = self.follow(view)
        {
            return thread;
        }
        self.tail.pick(view)
    }

    #[cold]
    fn follow<T: Threads>(&mut self, view: &View<'_, T>) -> Option<ThreadId> {
        let thread = ThreadId(self.prefix[self.position]);
        self.position += 1;
        let is_known = thread.0 < view.threads.n_threads();
        if is_known && (view.threads.is_enabled(thread) || view.threads.timed().contains(&thread)) {
            self.tail.forced(view, thread);
            return Some(thread);
        }
        self.diverge(view.step);
        None
    }

    /// The next thread, where that is no choice: only one can go on.
    #[inline]
    pub fn forced<T: Threads>(&mut self, view: &View<'_, T>) -> ThreadId {
        let thread = view.threads.enabled(0);
        if self.position < self.prefix.len() {
            let expected = self.prefix[self.position];
            self.position += 1;
            if expected != thread.0 {
                self.diverge(view.step);
            }
        }
        self.tail.forced(view, thread);
        thread
    }

    /// A step of `thread` that nobody was asked about: it is no scheduling point.
    #[inline]
    pub fn pass(&mut self, thread: ThreadId, step: u64) {
        if self.counts_all {
            self.tail.count(thread);
        }
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
        self.tail.choose(n_choices)
    }

    /// One of `n_choices` ways to perform an access where memory is weak, the first of which is up to date.
    pub fn choose_read(&mut self, n_choices: u32, step: u64) -> u32 {
        if self.is_following() || self.reads.is_open() { self.choose(n_choices, step) } else { 0 }
    }

    fn diverge(&mut self, step: u64) {
        self.position = self.prefix.len();
        self.diverged_at.get_or_insert(step);
    }
}

#[cfg(test)]
mod tests {
    use super::{AnyPicker, Chooser};
    use crate::{Nonpreemptive, Walk, fake::Fake};

    fn chooser(prefix: &[u32]) -> Chooser<'_> {
        Chooser::new(prefix, AnyPicker::Nonpreemptive(Nonpreemptive::new()))
    }

    /// Picks once for each step, with the first thread as the one that ran last.
    fn picks(chooser: &mut Chooser<'_>, threads: &Fake, n_steps: u64) -> Vec<u32> {
        (0..n_steps).map(|step| chooser.pick(&threads.view(step, 0)).0).collect()
    }

    /// A step at which only this thread can go on.
    fn forced(chooser: &mut Chooser<'_>, thread: u32, step: u64) {
        assert_eq!(chooser.forced(&Fake::new(3, &[thread], &[]).view(step, 0)).0, thread);
    }

    #[test]
    fn follows_the_prefix_then_the_tail() {
        let mut chooser = chooser(&[2, 1, 2]);
        assert_eq!(picks(&mut chooser, &Fake::new(3, &[0, 1, 2], &[]), 5), [2, 1, 2, 0, 0]);
        assert_eq!(chooser.diverged_at(), None);
    }

    #[test]
    fn follows_a_time_out() {
        let mut chooser = chooser(&[2, 1]);
        assert_eq!(picks(&mut chooser, &Fake::new(3, &[0, 1], &[2]), 2), [2, 1]);
        assert_eq!(chooser.diverged_at(), None);
    }

    #[test]
    fn a_blocked_thread_ends_the_prefix() {
        let mut chooser = chooser(&[1, 2, 1]);
        assert_eq!(picks(&mut chooser, &Fake::new(3, &[0, 1], &[]), 4), [1, 0, 0, 0]);
        assert_eq!(chooser.diverged_at(), Some(1));
    }

    #[test]
    fn an_unknown_thread_ends_the_prefix() {
        let mut chooser = chooser(&[7]);
        assert_eq!(picks(&mut chooser, &Fake::new(3, &[0, 1], &[]), 1), [0]);
        assert_eq!(chooser.diverged_at(), Some(0));
    }

    #[test]
    fn a_forced_step_uses_up_a_choice() {
        let mut chooser = chooser(&[0, 1, 2]);
        forced(&mut chooser, 0, 0);
        forced(&mut chooser, 1, 1);
        assert_eq!(picks(&mut chooser, &Fake::new(3, &[0, 1, 2], &[]), 2), [2, 0]);
        forced(&mut chooser, 1, 5);
        assert_eq!(chooser.diverged_at(), None);
    }

    #[test]
    fn another_forced_thread_ends_the_prefix() {
        let mut chooser = chooser(&[0, 1, 2]);
        forced(&mut chooser, 0, 3);
        forced(&mut chooser, 2, 4);
        assert_eq!(picks(&mut chooser, &Fake::new(3, &[0, 1, 2], &[]), 1), [0]);
        assert_eq!(chooser.diverged_at(), Some(4));
    }

    #[test]
    fn data_choices_stand_between_threads() {
        let threads = Fake::new(3, &[0, 1, 2], &[]);
        let mut chooser = chooser(&[2, 4, 1]);
        assert_eq!(chooser.pick(&threads.view(0, 0)).0, 2);
        assert_eq!(chooser.choose(5, 0), 4);
        assert_eq!(chooser.pick(&threads.view(1, 2)).0, 1);
        assert_eq!(chooser.choose(5, 1), 0);
        assert_eq!(chooser.diverged_at(), None);
    }

    #[test]
    fn an_impossible_data_choice_ends_the_prefix() {
        let mut chooser = chooser(&[4, 1]);
        assert_eq!(chooser.choose(4, 9), 0);
        assert_eq!(chooser.pick(&Fake::new(3, &[0, 1, 2], &[]).view(10, 2)).0, 2);
        assert_eq!(chooser.diverged_at(), Some(9));
    }

    /// Only the first divergence counts.
    #[test]
    fn divergence_is_remembered() {
        let mut chooser = chooser(&[1, 1]);
        let threads = Fake::new(2, &[0], &[]);
        for step in 3..6 {
            chooser.pick(&threads.view(step, 0));
        }
        assert_eq!(chooser.diverged_at(), Some(3));
    }

    /// The prefix takes no random number: the tail goes on as if it had just begun.
    #[test]
    fn the_tail_does_not_see_the_prefix() {
        let tail = || AnyPicker::Walk(Walk::new(3, true));
        let threads = Fake::new(4, &[0, 1, 2, 3], &[]);
        let alone = picks(&mut Chooser::new(&[], tail()), &threads, 20);
        let after = picks(&mut Chooser::new(&[3, 3, 3], tail()), &threads, 23);
        assert_eq!(after[3..], alone);
    }
}
