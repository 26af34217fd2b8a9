//! Two accesses of a failing execution in an order that was perhaps not meant.
//!
//! The other common cause of failures beside violated atomicity (Lu et al., ASPLOS 2008): one thread's access comes
//! before another's, the program takes the opposite for granted, and nothing sees to it. Whoever has these can try
//! whether the execution ends well if the second comes first (`explore`). Of two accesses in critical sections of the
//! same lock the sections are turned round: the second thread goes first where the first one takes the lock. So
//! a waiter that was woken and finds that another has taken what it waited for is such a case.
//!
//! Each access is paired with the last one of each other thread before it that conflicts with it, if its own thread
//! existed by then; the latest first, for causes lie near their effects. Time: for each access, linear in the threads.

use std::collections::{BTreeMap, BTreeSet};

use raddle_model::{Event, ObjectId, OpKind, ThreadId};
use raddle_trace::Trace;

use crate::{
    held::HeldLocks,
    interruptions::side,
    value::{HeldLock, Inversion},
};

/// Pairs that are told.
const FOUND_MAX: usize = 32;

/// An access, and the locks of its thread with the steps at which they were taken.
struct Access {
    step: usize,
    thread: ThreadId,
    locks: Vec<(HeldLock, u64)>,
}

/// The last accesses to a variable, by thread.
#[derive(Default)]
struct Last {
    writes: BTreeMap<ThreadId, Access>,
    reads: BTreeMap<ThreadId, Access>,
}

/// The pairs of a trace, as the module says.
pub fn inversions(trace: &Trace) -> Vec<Inversion> {
    if trace.n_dropped != 0 {
        return Vec::new();
    }
    let mut pairs = pairs(&trace.events);
    pairs.reverse();
    let mut seen = BTreeSet::new();
    pairs.retain(|it| seen.insert((it.n_steps, trace.events[it.second].thread)));
    pairs.truncate(FOUND_MAX);
    let inversion = |it: Pair| Inversion {
        object: trace.events[it.first].object,
        first: side(trace, it.first),
        second: side(trace, it.second),
        n_steps: it.n_steps,
    };
    pairs.into_iter().map(inversion).collect()
}

/// Steps that conflict, and when the thread of the second would have to go first.
struct Pair {
    first: usize,
    second: usize,
    n_steps: usize,
}

fn pairs(events: &[Event]) -> Vec<Pair> {
    let mut held = HeldLocks::new();
    let mut last: BTreeMap<ObjectId, Last> = BTreeMap::new();
    // By thread: since when it has been there.
    let mut alive: BTreeMap<ThreadId, usize> = BTreeMap::from([(ThreadId(0), 0)]);
    let mut found = Vec::new();
    for (step, event) in events.iter().enumerate() {
        if event.kind == OpKind::Spawn {
            alive.entry(ThreadId(event.value as u32)).or_insert(step);
        }
        if event.kind.is_access() {
            let locks = held.with_steps(event.thread).collect();
            let access = Access { step, thread: event.thread, locks };
            let last = last.entry(event.object).or_default();
            for first in last.before(&access, event.kind.is_write()) {
                let n_steps = turn(first, &access);
                if alive.get(&event.thread).is_some_and(|it| *it < n_steps) {
                    found.push(Pair { first: first.step, second: step, n_steps });
                }
            }
            last.add(access, event.kind);
        }
        held.step(event, step as u64);
    }
    found
}

impl Last {
    /// The last accesses of other threads that conflict with this one, in their order.
    fn before(&self, access: &Access, is_write: bool) -> Vec<&Access> {
        let reads = self.reads.values().filter(|_| is_write);
        let others = reads.chain(self.writes.values()).filter(|it| it.thread != access.thread);
        let mut others: Vec<&Access> = others.collect();
        others.sort_by_key(|it| it.step);
        others
    }

    fn add(&mut self, access: Access, kind: OpKind) {
        let all = if kind.is_write() { &mut self.writes } else { &mut self.reads };
        all.insert(access.thread, access);
    }
}

/// Steps after which the second would have to go first: where the first begins, or takes a lock that both hold.
fn turn(first: &Access, second: &Access) -> usize {
    let is_common =
        |it: &&(HeldLock, u64)| second.locks.iter().any(|other| other.0.lock == it.0.lock);
    let sections = first.locks.iter().filter(is_common).map(|(_, since)| *since as usize);
    sections.min().unwrap_or(first.step)
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use crate::{inversions, toy::trace};

    fn check(text: &str, expected: Expect) {
        let mut told = String::new();
        for it in inversions(&trace(text)) {
            let steps = [it.first.step, it.second.step];
            told.push_str(&format!("{steps:?} after {}\n", it.n_steps));
        }
        expected.assert_eq(&told);
    }

    #[test]
    fn a_read_that_comes_too_late() {
        check(
            "0 spawn 1
             0 spawn 2
             1 store x sc
             2 load x sc",
            expect![[r#"
                [2, 3] after 2
            "#]],
        );
    }

    /// Thread 2 was woken; thread 1 takes the lock before it.
    #[test]
    fn a_section_that_comes_too_early() {
        check(
            "0 spawn 1
             0 spawn 2
             1 lock m
             1 write x
             1 unlock m
             2 lock m
             2 read x",
            expect![[r#"
                [3, 6] after 2
            "#]],
        );
    }

    /// It cannot have come first.
    #[test]
    fn a_thread_that_was_not_there() {
        check(
            "0 store x sc
             0 spawn 1
             1 load x sc",
            expect![[""]],
        );
    }
}
