//! Which thread calls which operations.
//!
//! A scenario is drawn with [`any`], a number for each call, so that it is a part of the schedule: strategies draw or
//! enumerate it, and it is replayed and made small like everything else. 0 is no call, and small arguments have small numbers:
//! a schedule with smaller numbers has a smaller scenario. How many calls each thread makes is drawn first, every number
//! as often as any other, since small scenarios take less time and show most bugs.

use super::history::Call;
use crate::any;

/// Sequences of calls by one thread that are tried before any other thread starts.
const SHORT_MAX: usize = 64;

/// How large scenarios are, at most.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    pub(super) n_threads: usize,
    /// Calls of each thread.
    pub(super) n_each: usize,
    pub(super) n_before: usize,
    pub(super) n_after: usize,
}

impl Default for Shape {
    fn default() -> Shape {
        Shape { n_threads: 2, n_each: 3, n_before: 2, n_after: 2 }
    }
}

/// Which thread calls which operations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Scenario {
    /// Before the threads are created.
    pub(super) before: Vec<Call>,
    pub(super) threads: Vec<Vec<Call>>,
    /// After they have ended.
    pub(super) after: Vec<Call>,
}

impl Scenario {
    /// Calls of one thread, which creates no others.
    pub(super) fn of_one(calls: Vec<Call>) -> Scenario {
        Scenario { before: calls, threads: Vec::new(), after: Vec::new() }
    }

    /// One that the schedule chooses, or the same one always. Counts are of each operation's arguments.
    pub(super) fn draw(shape: &Shape, counts: &[u32], is_drawn: bool) -> Scenario {
        let Shape { n_threads, n_each, n_before, n_after } = *shape;
        if !is_drawn {
            return Scenario::regular(shape, counts);
        }
        let n_calls: u32 = counts.iter().sum();
        let call = || any(0..=n_calls).checked_sub(1).map(|it| Call::of_number(it, counts));
        let before: Vec<Call> = (0..n_before).filter_map(|_| call()).collect();
        let after: Vec<Call> = (0..n_after).filter_map(|_| call()).collect();
        let n_rounds = 1 + any(0..n_each as u32);
        let mut threads = vec![Vec::new(); n_threads];
        for _ in 0..n_rounds {
            threads.iter_mut().for_each(|it| it.extend(call()));
        }
        let is_empty = before.is_empty() && after.is_empty() && threads.iter().all(Vec::is_empty);
        // The first execution shows what the test does. An empty one would show nothing.
        if is_empty {
            Scenario::regular(shape, counts)
        } else {
            Scenario { before, threads, after }
        }
    }

    /// Every operation in turn.
    fn regular(shape: &Shape, counts: &[u32]) -> Scenario {
        let mut number = 0;
        let mut calls = |n: usize| -> Vec<Call> {
            let next = |_| {
                let op = number % counts.len();
                let argument = (number / counts.len()) as u32 % counts[op];
                number += 1;
                Call { op, argument }
            };
            (0..n).map(next).collect()
        };
        let before = calls(shape.n_before);
        let threads = (0..shape.n_threads).map(|_| calls(shape.n_each)).collect();
        Scenario { before, threads, after: calls(shape.n_after) }
    }
}

/// Short sequences of calls, the shortest first.
pub(super) fn short(counts: &[u32]) -> Vec<Vec<Call>> {
    let n_calls: u32 = counts.iter().sum();
    let mut all: Vec<Vec<Call>> = vec![Vec::new()];
    let mut idx = 0;
    while idx < all.len() && all.len() <= SHORT_MAX {
        for number in 0..n_calls {
            let mut longer = all[idx].clone();
            longer.push(Call::of_number(number, counts));
            all.push(longer);
        }
        idx += 1;
    }
    all.truncate(SHORT_MAX + 1);
    all.split_off(1)
}

#[cfg(test)]
mod tests {
    use super::{Call, Scenario, Shape, short};

    #[test]
    fn short_sequences_come_first() {
        let call = |op, argument| Call { op, argument };
        let all = short(&[2, 1]);
        assert_eq!(all[..3], [[call(0, 0)], [call(0, 1)], [call(1, 0)]]);
        assert_eq!(all[3], [call(0, 0), call(0, 0)]);
        assert_eq!(all.len(), 64);
    }

    #[test]
    fn without_a_schedule_every_operation_is_called() {
        let scenario = Scenario::draw(&Shape::default(), &[2, 1], false);
        let n_calls = scenario.threads.iter().map(Vec::len).sum::<usize>();
        assert_eq!((scenario.before.len(), n_calls, scenario.after.len()), (2, 6, 2));
        assert!(scenario.threads.iter().flatten().any(|it| it.op == 1));
    }
}
