//! The running thread goes on until it can't; then the next in the order of creation that can, round
//! and round. What most programs do most of the time on an idle machine: the baseline execution.

use raddle_model::ThreadId;

use crate::view::{Threads, View};

/// See the module.
#[derive(Clone, Copy, Debug, Default)]
pub struct Nonpreemptive;

impl Nonpreemptive {
    pub(crate) fn pick<T: Threads>(&mut self, view: &View<'_, T>) -> ThreadId {
        if view.threads.is_enabled(view.last) {
            return view.last;
        }
        let n_threads = view.threads.n_threads();
        (1..=n_threads)
            .map(|distance| ThreadId((view.last.0 + distance) % n_threads))
            .find(|thread| view.threads.is_enabled(*thread))
            .unwrap_or_else(|| view.threads.enabled(0))
    }
}

#[cfg(test)]
mod tests {
    use super::Nonpreemptive;
    use crate::fake::Fake;

    /// Who is next after thread `last` of six, by the threads that can go on.
    fn next(enabled: &[u32], last: u32) -> u32 {
        Nonpreemptive.pick(&Fake::new(6, enabled, &[]).view(0, last)).0
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
        assert_eq!(Nonpreemptive.pick(&threads.view(0, 0)).0, 2);
    }
}
