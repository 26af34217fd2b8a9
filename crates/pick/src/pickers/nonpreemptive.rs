//! The running thread goes on until it can't; then the next in the order of creation that can, round
//! and round. What most programs do most of the time on an idle machine: the baseline execution.
//!
//! A thread that has gone on for so long that it must be waiting for another in a way that the runtime
//! does not recognise is passed by once, and each time it happens the next comes twice as soon:
//! whoever waits so once does it again.

use raddle_model::ThreadId;

use crate::view::{Picker, Threads, View};

/// After so many steps of one thread, while others could go on, the next has its turn: at first, and at last.
const STAY_MAX: u32 = 20_000;
const STAY_MIN: u32 = 1_000;

/// How long a thread goes on, for pickers that let it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stay {
    /// Choices since the last one that was not for the running thread.
    n_stayed: u32,
    /// Threads that were passed by.
    n_passed: u32,
}

impl Stay {
    pub(crate) const fn new() -> Stay {
        Stay { n_stayed: 0, n_passed: 0 }
    }

    /// The running thread can go on: does it, or who does in its place?
    #[inline]
    pub(crate) fn stay_or_pass<T: Threads>(&mut self, view: &View<'_, T>) -> ThreadId {
        if self.n_stayed < STAY_MAX.checked_shr(self.n_passed).unwrap_or(0).max(STAY_MIN) {
            self.n_stayed += 1;
            return view.last;
        }
        self.end();
        let next = next_after(view.last, view.threads);
        self.n_passed += u32::from(next != view.last);
        next
    }

    /// The running thread can't go on, or lets others go first.
    #[inline]
    pub(crate) fn end(&mut self) {
        self.n_stayed = 0;
    }
}

/// See the module.
#[derive(Clone, Debug, Default)]
pub struct Nonpreemptive(Stay);

impl Nonpreemptive {
    /// Has picked nothing yet.
    pub const fn new() -> Nonpreemptive {
        Nonpreemptive(Stay::new())
    }
}

impl Picker for Nonpreemptive {
    #[inline]
    fn pick<T: Threads>(&mut self, view: &View<'_, T>) -> ThreadId {
        if view.stays() {
            return self.0.stay_or_pass(view);
        }
        self.0.end();
        next_after(view.last, view.threads)
    }

    fn choose(&mut self, _n_choices: u32) -> u32 {
        0
    }
}

/// The next thread after this one, in the order of creation, round and round, that can go on.
pub(crate) fn next_after<T: Threads>(thread: ThreadId, threads: &T) -> ThreadId {
    let n_threads = threads.n_threads();
    (thread.0 + 1..n_threads)
        .chain(0..=thread.0.min(n_threads - 1))
        .map(ThreadId)
        .find(|it| threads.is_enabled(*it))
        .unwrap_or_else(|| threads.enabled(0))
}

#[cfg(test)]
mod tests {
    use raddle_model::{Flags, ObjectId, Op, OpKind, SiteId};

    use super::Nonpreemptive;
    use crate::{fake::Fake, view::Picker};

    /// Who is next after thread `last` of six, by the threads that can go on.
    fn next(enabled: &[u32], last: u32) -> u32 {
        Nonpreemptive::new().pick(&Fake::new(6, enabled, &[]).view(0, last)).0
    }

    #[test]
    fn the_running_thread_goes_on() {
        assert_eq!(next(&[5, 0, 3, 1], 3), 3);
    }

    #[test]
    fn then_the_next_in_order_of_creation_round_and_round() {
        assert_eq!(next(&[5, 0, 4, 1], 3), 4);
        assert_eq!(next(&[5, 0, 1], 3), 5);
        assert_eq!(next(&[1, 0], 3), 0);
        assert_eq!(next(&[2, 1], 3), 1);
        assert_eq!(next(&[2], 3), 2);
        assert_eq!(next(&[4, 0], 5), 0);
    }

    /// Thread 3 can go on, but yields.
    #[test]
    fn who_yields_is_left() {
        let hint = Op::on(OpKind::Yield, ObjectId::NONE, SiteId(1));
        let ops = vec![Op { flags: Flags::HINT, ..hint }; 6];
        let next = |enabled: &[u32]| {
            let threads = Fake { ops: ops.clone(), ..Fake::new(6, enabled, &[]) };
            Nonpreemptive::new().pick(&threads.view(0, 3)).0
        };
        assert_eq!(next(&[5, 0, 3, 1]), 5);
        assert_eq!(next(&[0, 3]), 0);
        assert_eq!(next(&[3]), 3);
    }

    /// Each goes to its end, in order, from whichever is first.
    #[test]
    fn threads_that_finish_one_by_one() {
        let mut steps_left = [2_u32, 1, 3, 1];
        let mut last = 1;
        let mut order = Vec::new();
        while steps_left.iter().any(|it| *it > 0) {
            let enabled: Vec<u32> = (0..4).filter(|it| steps_left[*it as usize] > 0).collect();
            last = next(&enabled, last);
            steps_left[last as usize] -= 1;
            order.push(last);
        }
        assert_eq!(order, [1, 2, 2, 2, 3, 0, 0]);
    }

    #[test]
    fn never_times_out() {
        let threads = Fake::new(3, &[2], &[0, 1]);
        assert_eq!(Nonpreemptive::new().pick(&threads.view(0, 0)).0, 2);
    }

    /// Thread 1 spins; the others get one step when it has had its 20,000, its next 10,000, and so on.
    #[test]
    fn a_thread_that_never_stops_is_passed_by() {
        let threads = Fake::new(3, &[0, 1, 2], &[]);
        let mut picker = Nonpreemptive::new();
        let mut stays = || (0..).take_while(|_| picker.pick(&threads.view(0, 1)).0 == 1).count();
        assert_eq!([stays(), stays(), stays()], [20_000, 10_000, 5_000]);
        assert_eq!((0..100).map(|_| stays()).last(), Some(1_000));
    }

    /// Nobody is passed by while nobody else can go on.
    #[test]
    fn a_thread_that_is_alone_stays() {
        let (alone, all) = (Fake::new(3, &[1], &[]), Fake::new(3, &[0, 1, 2], &[]));
        let mut picker = Nonpreemptive::new();
        (0..100_005).for_each(|_| assert_eq!(picker.pick(&alone.view(0, 1)).0, 1));
        picker.pick(&all.view(0, 0));
        assert!((0..10_000).all(|_| picker.pick(&all.view(0, 0)).0 == 0));
    }
}
