//! §3.6, §3.13: Figures 24, 33, 41, 42.

use expect_test::{Expect, expect};

use super::{FIGURE_24, FIGURE_33, Figure};
use crate::{Act, Root, UseDefine, related_uses};

/// Use-defines, then what else each use could read.
fn check(text: &str, expected: &Expect) {
    let figure = Figure::new(text);
    let sets = figure.sets();
    let mut shown = String::new();
    for it in sets.use_defines() {
        let potential = sets.potential(it.use_step);
        let potential: Vec<UseDefine> =
            potential.iter().map(|define| UseDefine { define: *define, ..it }).collect();
        shown += format!("{} | {}", figure.show(it), figure.show_all(&potential)).trim_end();
        shown += "\n";
    }
    expected.assert_eq(&shown);
}

/// Figures 24 and 41, the program, by the sequence *S* of §3.6: who reads and writes what where, in order, and the branch on
/// `n` that both of thread 1's reads flow into.
#[test]
fn figures_24_and_41() {
    let figure = Figure::new(FIGURE_24);
    let mut shown = Vec::new();
    for step in &figure.history.steps {
        let what = match step.act {
            Act::Read => "read",
            Act::Write => "write",
            _ => continue,
        };
        let variable = &figure.names[&step.object];
        shown.push(format!("T{}:{} {what} {variable}", step.thread.0, step.place));
    }
    let expected = [
        "T1:1 read x",
        "T2:10 write x",
        "T1:1 read y",
        "T1:1 write n",
        "T1:2 read n",
        "T2:11 write y",
        "T1:7 read y",
        "T2:12 read x",
    ];
    assert_eq!(shown, expected);
    let reads = figure.history.reads_into(figure.branch(2));
    let places: Vec<u64> =
        reads.iter().map(|it| figure.history.steps[*it as usize].place).collect();
    assert_eq!(places, [2], "of `n`, which line 1 has written");
    let written = figure.step(1, Act::Write, "n");
    assert_eq!(figure.history.reads_into(written).len(), 2, "`x` and `y`");
    // Thread 2's writes of them can come before or after: the branch is decided by the interleaving.
    let sets = figure.sets();
    for read in figure.history.reads_into(written) {
        assert_eq!(sets.of(read).len(), 2);
    }
}

/// Figure 42's list has `(x, 1, 11)` for `(y, 1, 11)`: line 11 writes `y` (F3.9). In the trace that is printed
/// both reads of line 1 come first, so theirs are potential.
#[test]
fn figure_42() {
    check(
        FIGURE_24,
        &expect![[r"
            (x, 1, -) | (x, 1, 10)
            (y, 1, -) | (y, 1, 11)
            (n, 2, 1) |
            (y, 7, 11) | (y, 7, -)
            (x, 12, 10) |
        "]],
    );
}

/// The three potential use-defines that are printed, and one more: nothing makes thread 2 come before line 30,
/// nor line 23 before it.
#[test]
fn figure_33() {
    check(
        FIGURE_33,
        &expect![[r"
            (x, 3, 1) | (x, 3, 20)
            (y, 3, 2) |
            (n, 4, 3) |
            (x, 25, 20) | (x, 25, 1)
            (ref2, 27, 23) | (ref2, 27, 30)
            (ref1, 30, -) |
        "]],
    );
}

/// Table 2: BranchRelUD of the branch in line 2, local variables among it.
#[test]
fn table_2() {
    let figure = Figure::new(FIGURE_24);
    let sets = figure.sets();
    let uses = related_uses(&figure.history, &sets, &Root::Branch(figure.branch(2)));
    let all: Vec<UseDefine> = uses
        .iter()
        .flat_map(|it| sets.of(*it).into_iter().map(|define| UseDefine { use_step: *it, define }))
        .filter(|it| it.define.is_some())
        .collect();
    assert_eq!(figure.show_all(&all), "(x, 1, 10) (y, 1, 11) (n, 2, 1)");
}

/// The same line twice makes two defines (F3.5).
#[test]
fn the_same_line_twice_is_two_defines() {
    let figure = Figure::new(
        "
        T1:1 write x
        T1:1 write x
        T2:5 read x",
    );
    let sets = figure.sets();
    assert_eq!(sets.of(2), [None, Some(0), Some(1)]);
}

#[test]
fn creation_and_join_leave_one_define() {
    let figure = Figure::new(
        "
        T1:1 write x
        T1:2 spawn 2
        T2:5 read x
        T2:6 write x
        T1:3 join 2
        T1:4 read x",
    );
    let sets = figure.sets();
    assert_eq!(sets.of(2), [Some(0)]);
    assert_eq!(sets.of(5), [Some(3)]);
}

/// A define that is overwritten before its lock is given back is seen by nobody under that lock, and within a
/// critical section one's own define is the only one.
#[test]
fn critical_sections_hide_defines() {
    let figure = Figure::new(
        "
        T1:1 lock a
        T1:2 write x
        T1:3 write x
        T1:4 unlock a
        T2:10 lock a
        T2:11 read x
        T2:12 write x
        T2:13 read x
        T2:14 unlock a
        T2:15 read x",
    );
    let sets = figure.sets();
    assert_eq!(sets.of(figure.step(11, Act::Read, "")), [None, Some(2)]);
    assert_eq!(sets.of(figure.step(13, Act::Read, "")), [Some(6)]);
    assert_eq!(sets.of(figure.step(15, Act::Read, "")), [Some(1), Some(2), Some(6)]);
}
