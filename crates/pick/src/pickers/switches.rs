//! The running thread goes on until it can't, but for the switches that a script tells.
//!
//! This is lenient replay: a switch to a thread that can't go on is passed over, one
//! whose moment never comes is not missed, and the rest is [`Nonpreemptive`]. A schedule is its list of
//! switches, and a smaller schedule is a shorter list. Switches are named by their thread's own steps, so
//! that leaving one out does not move the others.

use raddle_model::{Deviation, ThreadId};

use crate::{
    pickers::nonpreemptive::Nonpreemptive,
    view::{Picker, Threads, View},
};

/// See the module.
#[derive(Clone, Debug)]
pub struct Switches<'a> {
    script: &'a [u32],
    rest: Nonpreemptive,
    /// By thread: its steps so far.
    n_steps: Vec<u32>,
    /// Whose step is being performed.
    current: ThreadId,
}

impl<'a> Switches<'a> {
    /// Follows a script of [`Deviation`]s.
    pub fn new(script: &'a [u32]) -> Switches<'a> {
        let n_steps = Vec::with_capacity(64);
        Switches { script, rest: Nonpreemptive::new(), n_steps, current: ThreadId(0) }
    }

    /// Counts a step of a thread.
    pub(crate) fn count(&mut self, thread: ThreadId) {
        if self.n_steps.len() <= thread.idx() {
            self.n_steps.resize(thread.idx() + 1, 0);
        }
        self.n_steps[thread.idx()] += 1;
        self.current = thread;
    }

    fn n_steps(&self, thread: ThreadId) -> u32 {
        self.n_steps.get(thread.idx()).copied().unwrap_or(0)
    }

    fn told<T: Threads>(&self, view: &View<'_, T>) -> Option<ThreadId> {
        let to = Deviation::switch(self.script, view.last, self.n_steps(view.last))?;
        let is_known = to.0 < view.threads.n_threads();
        let can_go =
            is_known && (view.threads.is_enabled(to) || view.threads.timed().contains(&to));
        can_go.then_some(to)
    }
}

impl Picker for Switches<'_> {
    fn pick<T: Threads>(&mut self, view: &View<'_, T>) -> ThreadId {
        let thread = match self.told(view) {
            Some(thread) => thread,
            None => self.rest.pick(view),
        };
        self.count(thread);
        thread
    }

    fn forced<T: Threads>(&mut self, _view: &View<'_, T>, thread: ThreadId) {
        self.count(thread);
    }

    fn choose(&mut self, n_choices: u32) -> u32 {
        let n_before = self.n_steps(self.current).saturating_sub(1);
        let told = Deviation::choice(self.script, self.current, n_before);
        told.filter(|it| *it < n_choices).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use raddle_model::{Deviation, ThreadId};

    use super::Switches;
    use crate::{fake::Fake, view::Picker};

    fn switch(thread: u32, n_steps: u32, to: u32) -> Deviation {
        Deviation::Switch { thread: ThreadId(thread), n_steps, to: ThreadId(to) }
    }

    /// Who takes each step, if all three threads can always go on but `blocked`.
    fn order(deviations: &[Deviation], blocked: u32, n_steps: u64) -> Vec<u32> {
        let script = Deviation::script(deviations);
        let mut picker = Switches::new(&script);
        let enabled: Vec<u32> = (0..3).filter(|it| *it != blocked).collect();
        let threads = Fake::new(3, &enabled, &[]);
        let mut last = 0;
        let pick = |step| {
            last = picker.pick(&threads.view(step, last)).0;
            last
        };
        (0..n_steps).map(pick).collect()
    }

    #[test]
    fn switches_where_it_is_told() {
        let told = [switch(0, 2, 2), switch(2, 1, 1), switch(1, 2, 0)];
        assert_eq!(order(&told, 9, 7), [0, 0, 2, 1, 1, 0, 0]);
    }

    #[test]
    fn a_switch_that_is_not_possible_is_passed_over() {
        let told = [switch(0, 2, 2), switch(0, 3, 1), switch(1, 1, 0), switch(1, 9, 0)];
        assert_eq!(order(&told, 2, 6), [0, 0, 0, 1, 0, 0]);
    }

    #[test]
    fn ways_are_told_too() {
        let choice = Deviation::Choice { thread: ThreadId(1), n_steps: 1, choice: 2 };
        let script = Deviation::script(&[choice]);
        let mut picker = Switches::new(&script);
        let threads = Fake::new(3, &[1], &[]);
        picker.forced(&threads.view(0, 1), ThreadId(1));
        assert_eq!(picker.choose(3), 0);
        picker.forced(&threads.view(1, 1), ThreadId(1));
        assert_eq!(picker.choose(3), 2);
        assert_eq!(picker.choose(2), 0);
    }
}
