//! Which executions are still to be run, in which order.
//!
//! Blocks are handed out in the order of their indices and come back in any order. They never reach
//! over the end of a round, and a round begins when all executions before it are done: only then is it
//! settled what its executions know.

use std::{collections::BTreeMap, ops::Range};

use raddle_plan::round;

/// The executions of a campaign.
#[derive(Debug)]
pub(super) struct Queue {
    /// The first that was never handed out.
    next: u64,
    /// What was handed out and not run, by its start.
    rests: BTreeMap<u64, u64>,
    /// Executions from here on are not wanted.
    wanted: u64,
    /// All executions below are done.
    done: u64,
}

impl Queue {
    /// All executions, or the first so many.
    pub(super) fn new(executions: Option<u64>) -> Queue {
        Queue { next: 0, rests: BTreeMap::new(), wanted: executions.unwrap_or(u64::MAX), done: 0 }
    }

    /// Hands out executions that were handed out before and not run, at most `n_max`.
    pub(super) fn take_rest(&mut self, n_max: u64) -> Option<Range<u64>> {
        let (start, end) = self.rests.pop_first()?;
        if self.wanted <= start {
            self.rests.clear();
            return None;
        }
        let taken = start..end.min(start + n_max);
        if taken.end < end {
            self.rests.insert(taken.end, end);
        }
        Some(taken)
    }

    /// Hands out the next executions, at most `n_max`, leaving something for the others of `n_workers`.
    pub(super) fn take_new(&mut self, n_max: u64, n_workers: u64) -> Option<Range<u64>> {
        let end = round(self.done).end.min(self.wanted);
        let n_left = end.checked_sub(self.next).filter(|it| *it != 0)?;
        let count = n_max.min(n_left.div_ceil(n_workers)).max(1);
        let taken = self.next..self.next + count;
        self.next = taken.end;
        Some(taken)
    }

    /// The first execution that was never handed out.
    pub(super) fn next_new(&self) -> u64 {
        self.next
    }

    /// Takes back executions that were handed out and not run.
    pub(super) fn give_back(&mut self, rest: Range<u64>) {
        self.rests.insert(rest.start, rest.end);
    }

    /// Only executions up to this one are wanted.
    pub(super) fn stop_after(&mut self, execution: u64) {
        self.wanted = self.wanted.min(execution + 1);
    }

    /// Is the execution wanted?
    pub(super) fn wants(&self, execution: u64) -> bool {
        execution < self.wanted
    }

    /// The execution that comes next in the count of those done.
    pub(super) fn n_done(&self) -> u64 {
        self.done
    }

    /// Notes that the next executions in order, up to `end`, are done.
    pub(super) fn set_done(&mut self, end: u64) {
        assert!(self.done < end, "bug: executions up to {end} were done before");
        self.done = end;
    }

    /// Are all wanted executions done?
    pub(super) fn is_finished(&self) -> bool {
        self.wanted <= self.done
    }
}

#[cfg(test)]
mod tests {
    use std::ops::Range;

    use super::Queue;

    fn take(queue: &mut Queue, n_max: u64, n_workers: u64) -> Option<Range<u64>> {
        queue.take_rest(n_max).or_else(|| queue.take_new(n_max, n_workers))
    }

    #[test]
    fn rounds_wait_for_each_other() {
        let mut queue = Queue::new(None);
        for round in [0..1, 1..2, 2..3, 3..4, 4..5, 5..8, 8..9] {
            assert_eq!(take(&mut queue, 100, 1), Some(round.clone()));
            assert_eq!(take(&mut queue, 100, 1), None);
            queue.set_done(round.end);
        }
    }

    #[test]
    fn work_is_shared() {
        let mut queue = Queue::new(None);
        queue.next = 256;
        queue.done = 256;
        assert_eq!(take(&mut queue, 100, 4), Some(256..257));
        queue.set_done(257);
        assert_eq!(take(&mut queue, 100, 4), Some(257..273));
        assert_eq!(take(&mut queue, 3, 4), Some(273..276));
        queue.give_back(260..273);
        assert_eq!(take(&mut queue, 4, 4), Some(260..264));
        assert_eq!(take(&mut queue, 100, 4), Some(264..273));
        assert_eq!(take(&mut queue, 100, 1), Some(276..320));
        assert_eq!(take(&mut queue, 100, 1), None);
    }

    #[test]
    fn nothing_beyond_a_finding_is_wanted() {
        let mut queue = Queue::new(Some(1_000));
        queue.next = 100;
        queue.done = 64;
        queue.give_back(70..80);
        queue.give_back(90..100);
        queue.stop_after(85);
        assert_eq!(take(&mut queue, 100, 1), Some(70..80));
        assert_eq!(take(&mut queue, 100, 1), None);
        assert!(!queue.is_finished());
        queue.set_done(86);
        assert!(queue.is_finished());
    }

    #[test]
    fn the_last_round_is_cut() {
        let mut queue = Queue::new(Some(70));
        queue.next = 65;
        queue.done = 65;
        assert_eq!(take(&mut queue, 100, 1), Some(65..70));
        queue.set_done(70);
        assert_eq!(take(&mut queue, 100, 1), None);
        assert!(queue.is_finished());
    }
}
