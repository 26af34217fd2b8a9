//! The running thread goes on until it can't, then the next in the order of creation; but a thread that
//! sleeps is not chosen while another can be.
//!
//! Partial order reduction puts a thread to sleep whose next step has been explored beside this execution;
//! the first step that depends on that one wakes it (Godefroid 1996). The planner says who sleeps when the
//! prefix ends; who wakes is seen here, by ops, which wakes somewhat too early where a result would tell more.
//! That costs the planner a second execution, never a schedule. If everybody sleeps who could go on, all
//! that follows has been seen: the execution runs to its end without preemption, and the planner
//! counts it as redundant. So it does if those who are awake only yield: they wait for one who sleeps.

use raddle_model::{Op, ThreadId, dependent};

use crate::view::{Picker, Threads, View};

/// See the module.
#[derive(Clone, Debug)]
pub struct Awake {
    /// Bit set.
    asleep: u64,
    /// Bit set: threads that have yielded since then.
    yielded: u64,
    /// The first step at which it counts.
    from: u64,
}

impl Awake {
    pub(crate) const fn new(asleep: u64, from: u32) -> Awake {
        Awake { asleep, yielded: 0, from: from as u64 }
    }

    const fn is_wanted(&self, thread: ThreadId) -> bool {
        u64::BITS <= thread.0 || (self.asleep | self.yielded) >> thread.0 & 1 == 0
    }

    /// A thread is about to perform its op.
    fn wake<T: Threads>(&mut self, view: &View<'_, T>, thread: ThreadId) {
        if self.asleep == 0 || view.step < self.from {
            return;
        }
        let op: Op = *view.threads.op(thread);
        if op.is_yield() && thread.0 < u64::BITS {
            self.yielded |= 1 << thread.0;
        }
        let mut left = self.asleep;
        while left != 0 {
            let sleeper = ThreadId(left.trailing_zeros());
            left &= left - 1;
            if sleeper == thread || dependent(&op, view.threads.op(sleeper)) {
                self.asleep &= !(1 << sleeper.0);
            }
        }
    }

    fn choose_awake<T: Threads>(&self, view: &View<'_, T>) -> ThreadId {
        let n_threads = view.threads.n_threads();
        let first = view.last.0 + u32::from(!view.stays());
        let in_turn = || (0..n_threads).map(|it| ThreadId((first + it) % n_threads));
        let can = |it: &ThreadId| view.threads.is_enabled(*it);
        let awake = in_turn().find(|it| can(it) && self.is_wanted(*it));
        awake.or_else(|| in_turn().find(can)).unwrap_or_else(|| view.threads.enabled(0))
    }
}

impl Picker for Awake {
    fn pick<T: Threads>(&mut self, view: &View<'_, T>) -> ThreadId {
        let thread = self.choose_awake(view);
        self.wake(view, thread);
        thread
    }

    fn forced<T: Threads>(&mut self, view: &View<'_, T>, thread: ThreadId) {
        self.wake(view, thread);
    }

    fn choose(&mut self, _n_choices: u32) -> u32 {
        0
    }
}

#[cfg(test)]
mod tests {
    use raddle_model::{ObjectId, Op, OpKind, SiteId, ThreadId};

    use super::Awake;
    use crate::{fake::Fake, view::Picker};

    /// Four threads; 0 and 1 write one variable, 2 another, 3 reads that one.
    fn threads(enabled: &[u32]) -> Fake {
        let op = |kind, object| Op::on(kind, ObjectId(object), SiteId(1));
        let ops = vec![
            op(OpKind::Write, 1),
            op(OpKind::Write, 1),
            op(OpKind::Write, 2),
            op(OpKind::Read, 2),
        ];
        Fake { ops, ..Fake::new(4, enabled, &[]) }
    }

    #[test]
    fn sleepers_are_passed_over() {
        let mut awake = Awake::new(0b0011, 5);
        let all = threads(&[0, 1, 2, 3]);
        assert_eq!(awake.pick(&all.view(5, 0)).0, 2);
        assert_eq!(awake.pick(&all.view(6, 3)).0, 3);
    }

    #[test]
    fn a_dependent_step_wakes() {
        let mut awake = Awake::new(0b1001, 5);
        let all = threads(&[0, 1, 2, 3]);
        assert_eq!(awake.pick(&all.view(5, 0)).0, 1);
        assert_eq!(awake.pick(&all.view(6, 0)).0, 0);
        awake.forced(&all.view(7, 0), ThreadId(2));
        assert_eq!(awake.pick(&all.view(8, 3)).0, 3);
    }

    /// What happens on the way there wakes nobody: the planner has reckoned with it.
    #[test]
    fn the_prefix_wakes_nobody() {
        let mut awake = Awake::new(0b0001, 5);
        let all = threads(&[0, 1, 2, 3]);
        awake.forced(&all.view(4, 0), ThreadId(1));
        assert_eq!(awake.pick(&all.view(5, 0)).0, 1);
    }

    /// Thread 0 is awake, but waits for 1, who sleeps.
    #[test]
    fn who_yields_does_not_keep_sleepers_from_going_on() {
        let mut awake = Awake::new(0b0010, 0);
        let mut both = threads(&[0, 1]);
        both.ops[0] = Op::on(OpKind::Yield, ObjectId(0), SiteId(1));
        assert_eq!(awake.pick(&both.view(0, 0)).0, 0);
        assert_eq!(awake.pick(&both.view(1, 1)).0, 1);
    }

    #[test]
    fn if_all_sleep_somebody_goes_on() {
        let mut awake = Awake::new(0b0110, 0);
        assert_eq!(awake.pick(&threads(&[1, 2]).view(0, 0)).0, 1);
    }
}
