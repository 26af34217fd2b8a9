//! Access-manners and verdicts: Figures 26, 29, 31, 57, Algorithm 1, §5.4, Algorithm 12.

use expect_test::{Expect, expect};

use super::Figure;
use crate::{Act, Checker, Manner, MannerUse, fold, is_race, manners};

fn uses(figure: &Figure) -> Vec<MannerUse> {
    manners(&figure.history, &figure.locks, &figure.history.shared())
}

fn show(manner: &Manner) -> String {
    let word = |act: Act| match act {
        Act::Read => "read",
        Act::Write => "write",
        Act::Lock => "lock",
        Act::Unlock => "unlock",
        _ => "other",
    };
    let deeds: Vec<String> =
        manner.deeds.iter().map(|it| format!("{}:{}", it.place, word(it.act))).collect();
    format!("({})", deeds.join(", "))
}

fn check(text: &str, expected: &Expect) {
    let figure = Figure::new(text);
    let uses = uses(&figure);
    let mut shown = String::new();
    for it in fold(&uses) {
        shown += &format!("T{} {}\n", it.thread.0, show(&it.manner));
    }
    let checked = Checker::default().check(&uses, &figure.order);
    shown += &format!("races: {}\n", checked.races.len());
    expected.assert_eq(&shown);
}

const T2: &str = "
    T2:20 lock a
    T2:21 lock b
    T2:22 read y
    T2:23 write x
    T2:24 unlock b
    T2:25 unlock a";

/// Figure 26 (a) and (b): the branch is true, and lock `a` is common. `y` is shared, too, in the program.
#[test]
fn figure_26_true() {
    check(
        &format!("T3:1 write y\n{T2}\nT1:10 if true\nT1:11 lock a\nT1:12 write x\nT1:13 unlock a"),
        &expect![[r"
            T3 (1:write)
            T2 (20:lock, 21:lock, 22:read, 23:write, 24:unlock, 25:unlock)
            T1 (11:lock, 12:write, 13:unlock)
            races: 1
        "]],
    );
}

/// Figure 26 (c) and (d): the branch is false.
#[test]
fn figure_26_false() {
    check(
        &format!("{T2}\nT1:10 if false\nT1:15 write x"),
        &expect![[r"
            T2 (20:lock, 21:lock, 23:write, 24:unlock, 25:unlock)
            T1 (15:write)
            races: 1
        "]],
    );
}

fn figure_29(n_iterations: usize) -> String {
    let iterations = "T1:3 write x\nT1:4 unlock a\n".repeat(n_iterations);
    format!("T1:1 lock a\n{iterations}T2:20 lock a\nT2:21 read x\nT2:22 unlock a")
}

/// Figure 29: a loop that gives its lock back in the first iteration.
#[test]
fn figure_29_folds() {
    let set = |n: usize| {
        let figure = Figure::new(&figure_29(n));
        fold(&uses(&figure)).iter().map(|it| show(&it.manner)).collect::<Vec<String>>()
    };
    assert_eq!(set(1), ["(1:lock, 3:write, 4:unlock)", "(20:lock, 21:read, 22:unlock)"]);
    assert_eq!(
        set(2),
        ["(1:lock, 3:write, 4:unlock)", "(3:write)", "(4:unlock)", "(20:lock, 21:read, 22:unlock)"]
    );
    assert_eq!(set(2), set(3));
    assert_eq!(set(2), set(500));
}

/// Executions 2 and 3 are race-equivalent, 1 is not; nothing of the third is checked anew.
#[test]
fn figure_29_groups() {
    let mut checker = Checker::default();
    let mut run = |n: usize| {
        let figure = Figure::new(&figure_29(n));
        checker.check(&uses(&figure), &figure.order)
    };
    let first = run(1);
    assert_eq!((first.is_new_group, first.n_checked, first.n_reused), (true, 1, 0));
    let second = run(2);
    assert_eq!((second.is_new_group, second.n_checked, second.n_reused), (true, 2, 1));
    assert_eq!(second.races.len(), 1);
    let third = run(3);
    assert_eq!((third.is_new_group, third.n_checked, third.n_reused), (false, 0, 3));
}

/// Algorithm 1 says no race as soon as one variable has a lock in common (F3.1): `x` has, `y` has not.
#[test]
fn one_lock_in_common_is_not_enough() {
    let figure = Figure::new(
        "
        T1:1 lock a
        T1:2 write x
        T1:3 lock b
        T1:4 write y
        T1:5 unlock b
        T1:6 unlock a
        T2:10 lock a
        T2:11 write x
        T2:12 unlock a
        T2:13 write y",
    );
    let uses = uses(&figure);
    assert!(!is_race(&uses[0].manner, &uses[1].manner));
    assert!(is_race(&uses[0].manner, &uses[2].manner));
}

/// Figure 57: thread 2 writes through `ref2`, under lock `b`, if its branch lets it; thread 1 writes what `ref1` refers
/// to under lock `a`. Executions 1 and 2 show no race: the branch goes the other way, or the references refer to
/// two objects. In execution 3 they refer to one.
#[test]
fn figure_57() {
    let first = "T1:10 lock a\nT1:11 write one\nT1:12 unlock a\n";
    let second = |object: &str| {
        format!("T2:20 if true\nT2:24 lock b\nT2:27 write {object}\nT2:28 unlock b\n")
    };
    let races = |text: String| {
        let figure = Figure::new(&text);
        Checker::default().check(&uses(&figure), &figure.order).races.len()
    };
    // What both threads have in common in all executions, so that something is shared.
    let common =
        "T1:1 lock c\nT1:2 write z\nT1:3 unlock c\nT2:5 lock c\nT2:6 read z\nT2:7 unlock c\n";
    assert_eq!(races(format!("{common}{first}T2:20 if false\n")), 0);
    assert_eq!(races(format!("{common}{first}{}", second("two"))), 0);
    assert_eq!(races(format!("{common}{first}{}", second("one"))), 1);
}

/// What is only read needs no lock (F3.1), and what must come first is in no race (F3.2).
#[test]
fn reads_and_creation() {
    let text = "
        T1:1 write x
        T1:2 spawn 2
        T1:3 spawn 3
        T2:10 read x
        T3:20 read x
        T1:4 join 2
        T1:5 join 3
        T1:6 write x";
    let figure = Figure::new(text);
    let checked = Checker::default().check(&uses(&figure), &figure.order);
    assert_eq!(checked.races, []);
}

/// Algorithm 12: two manners that were never in one execution.
#[test]
fn manners_seen_apart_are_combined() {
    let mut checker = Checker::default();
    let locked = "T1:1 lock a\nT1:2 write x\nT1:3 unlock a\n";
    let free = "T1:5 write x\n";
    let other_locked = "T2:11 lock a\nT2:12 write x\nT2:13 unlock a";
    let other_free = "T2:15 write x";
    let mut run = |text: String| {
        let figure = Figure::new(&text);
        checker.check(&uses(&figure), &figure.order).races.len()
    };
    assert_eq!(run(format!("{locked}{other_free}")), 1);
    assert_eq!(run(format!("{free}{other_locked}")), 1);
    // Both free: a potential race. Both locked: none, and no execution is needed for it.
    assert_eq!(checker.potential_races().len(), 1);
    assert_eq!(checker.potential_races().len(), 0);
}
