//! Schedules out of what threads are known to do.

use super::Figure;
use crate::{Act, At, Goal, Known, Labels, Reached, follow, reach};

/// A thread reads a value.
struct Reads(u32, u64);

impl Goal for Reads {
    fn is_read(&self, node: u32, value: u64, _is_known: bool) -> bool {
        (node, value) == (self.0, self.1)
    }
}

/// Threads have come so far.
struct Made(Vec<Option<u32>>);

impl Goal for Made {
    fn is_met(&self, At { last, .. }: At<'_>) -> bool {
        self.0.iter().zip(last).all(|(wanted, it)| wanted.is_none() || wanted == it)
    }
}

/// Adds an execution in which each write writes its line.
fn add(known: &mut Known, text: &str) -> Vec<u32> {
    let figure = Figure::new(text);
    let steps = &figure.history.steps;
    let sets = figure.sets();
    let place = |it: u32| steps[it as usize].place;
    let all = || 0..steps.len() as u32;
    let is_read = |it: &u32| steps[*it as usize].act == Act::Read;
    let define = |it: u32| Some(it).filter(is_read).and_then(|it| sets.actual(it));
    let labels: Vec<Option<u64>> =
        all().map(|it| is_read(&it).then(|| define(it).map_or(0, place))).collect();
    let names: Vec<u64> = all().map(place).collect();
    let defines: Vec<Option<u32>> = all().map(define).collect();
    let with = Labels { labels: &labels, names: &names, defines: &defines };
    known.add(&figure.history, &with)
}

/// Thread 1 goes two ways, and thread 2 two others, each seen with the other's first one only.
#[test]
fn ways_seen_apart_come_together() {
    let mut known = Known::default();
    add(&mut known, "T1:1 read x\n T1:2 write y\n T2:10 write x\n T2:11 read z\n T2:12 write a");
    let one = add(
        &mut known,
        "T2:10 write x\n T1:1 read x\n T1:3 write z\n T2:11 read z\n T2:13 write b",
    );
    let other = add(
        &mut known,
        "T2:10 write x\n T2:11 read z\n T2:12 write a\n T1:1 read x\n T1:3 write z",
    );
    // Thread 1 has made its line 3 in both, after the same: one node. Thread 2's lines 12 and 13 are two.
    assert_eq!(one[2], other[4]);
    let lines = |last: Vec<Option<u32>>| match reach(&known, &Made(last), 1_000) {
        Reached::By { steps, .. } => steps.len(),
        other => panic!("{other:?}"),
    };
    assert_eq!(lines(vec![None, Some(one[2]), Some(one[4])]), 5);
    assert_eq!(lines(vec![None, Some(one[2]), Some(other[2])]), 5);
    // Line 2 is made by who did not see line 10, line 13 by who saw line 3.
    let first = add(&mut known, "T1:1 read x\n T1:2 write y");
    let never = Made(vec![None, Some(first[1]), Some(one[4])]);
    assert_eq!(reach(&known, &never, 1_000), Reached::Never);
    assert_eq!(reach(&known, &never, 1), Reached::Cut);
}

/// Between two writes of one critical section nobody reads under the same lock.
#[test]
fn locks_are_kept() {
    let mut known = Known::default();
    let section = "T2:10 lock m\n T2:11 write x\n T2:12 write x\n T2:13 unlock m\n";
    let nodes = add(&mut known, &format!("T1:1 lock m\n T1:2 read x\n T1:3 unlock m\n {section}"));
    let read = |value: u64| reach(&known, &Reads(nodes[1], value), 1_000);
    assert!(matches!(read(12), Reached::By { .. }));
    assert!(matches!(read(0), Reached::By { .. }));
    assert_eq!(read(11), Reached::Never);
}

/// What is independent comes in the other order; conflicting accesses, critical sections and the last step stay.
#[test]
fn the_same_but_as_before() {
    let figure = Figure::new(
        "
        T2:10 lock m
        T2:11 write x
        T2:12 unlock m
        T1:1 write a
        T1:2 read x
        T1:3 lock m
        T1:4 unlock m
        T2:13 read a",
    );
    let steps = &figure.history.steps;
    // Thread 1 first, as far as it can.
    let order = follow(steps, |it| steps[it].thread.0);
    let lines: Vec<u64> = order.iter().map(|it| steps[*it].place).collect();
    assert_eq!(lines, [1, 10, 11, 2, 12, 3, 4, 13]);
    // Thread 2 first, but for its last step, which has to be the last.
    let order = follow(steps, |it| 5 - steps[it].thread.0);
    assert_eq!(order, [0, 1, 2, 3, 4, 5, 6, 7]);
    assert!(follow(&[], |_| 0).is_empty());
}
