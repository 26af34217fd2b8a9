//! Traces by hand.

mod laws;

use expect_test::{Expect, expect};

use crate::{deadlocks, toy::trace};

/// One line for each cycle: thread, step at which it took what it holds, step at which it asks for more; and
/// the steps that lead to it, if they are known.
fn check(text: &str, expected: Expect) {
    let mut told = String::new();
    for it in deadlocks(&trace(text)) {
        let links = it.cycle.links.iter();
        let links: Vec<String> =
            links.map(|it| format!("T{} {} {}", it.thread.0, it.held_step, it.step)).collect();
        let way = match &it.steps {
            Some(steps) => format!("after {steps:?}"),
            None => "no way".to_owned(),
        };
        told.push_str(&format!("{}: {way}\n", links.join(", ")));
    }
    expected.assert_eq(&told);
}

#[test]
fn two_orders() {
    check(
        "0 spawn 1
         0 spawn 2
         1 lock a
         1 lock b
         1 unlock b
         1 unlock a
         2 lock b
         2 lock a
         2 unlock a
         2 unlock b",
        expect![[r#"
            T1 2 3, T2 6 7: after [0, 1, 2, 6]
        "#]],
    );
}

#[test]
fn one_order() {
    check(
        "0 spawn 1
         0 lock a
         0 lock b
         0 unlock b
         0 unlock a
         1 lock a
         1 lock b
         1 unlock b
         1 unlock a",
        expect![""],
    );
}

#[test]
fn a_gate_lets_only_one_in() {
    check(
        "0 spawn 1
         0 lock g
         0 lock a
         0 lock b
         0 unlock b
         0 unlock a
         0 unlock g
         1 lock g
         1 lock b
         1 lock a
         1 unlock a
         1 unlock b
         1 unlock g",
        expect![""],
    );
}

/// Two readers of the gate can both be inside.
#[test]
fn a_gate_for_readers_is_none() {
    check(
        "0 spawn 1
         0 rdlock g
         0 lock a
         0 lock b
         0 unlock b
         0 unlock a
         0 rwunlock g
         1 rdlock g
         1 lock b
         1 lock a
         1 unlock a
         1 unlock b
         1 rwunlock g",
        expect![[r#"
            T0 2 3, T1 8 9: after [0, 1, 2, 7, 8]
        "#]],
    );
}

#[test]
fn one_thread_makes_no_cycle() {
    check(
        "0 spawn 1
         0 lock a
         0 lock b
         0 unlock b
         0 unlock a
         0 lock b
         0 lock a
         0 unlock a
         0 unlock b",
        expect![""],
    );
}

#[test]
fn joined_before_the_other_begins() {
    check(
        "0 spawn 1
         1 lock a
         1 lock b
         1 unlock b
         1 unlock a
         1 finish
         0 join 1
         0 spawn 2
         2 lock b
         2 lock a",
        expect![""],
    );
}

/// What one thread reads under the lock, the other has written there: they come one after the other.
#[test]
fn ordered_by_a_value() {
    check(
        "0 spawn 1
         0 lock a
         0 lock b
         0 write x
         0 unlock b
         0 unlock a
         1 lock c
         1 read x
         1 unlock c
         1 lock b
         1 lock a",
        expect![""],
    );
}

#[test]
fn read_locks() {
    check(
        "0 spawn 1
         0 rdlock a
         0 rdlock b
         0 rwunlock b
         0 rwunlock a
         1 rdlock b
         1 rdlock a",
        expect![""],
    );
    check(
        "0 spawn 1
         0 rdlock a
         0 wrlock b
         0 rwunlock b
         0 rwunlock a
         1 rdlock b
         1 wrlock a",
        expect![[r#"
            T0 1 2, T1 5 6: after [0, 1, 5]
        "#]],
    );
}

#[test]
fn three_in_a_ring() {
    check(
        "0 spawn 1
         0 spawn 2
         0 lock a
         0 lock b
         0 unlock b
         0 unlock a
         1 lock b
         1 lock c
         1 unlock c
         1 unlock b
         2 lock c
         2 lock a
         2 unlock a
         2 unlock c",
        expect![[r#"
            T0 2 3, T1 6 7, T2 10 11: after [0, 1, 2, 6, 10]
        "#]],
    );
}

/// The second thread's way to the cycle leads through a section of the first one's second lock.
#[test]
fn no_way_past_a_section() {
    check(
        "0 spawn 1
         0 lock a
         0 write x
         0 lock b
         0 write y
         0 unlock b
         0 unlock a
         1 lock b
         1 read y
         1 lock a
         1 unlock a
         1 unlock b",
        expect![""],
    );
}

#[test]
fn attempts_do_not_wait() {
    check(
        "0 spawn 1
         0 lock a
         0 trylock b
         0 unlock b
         0 unlock a
         1 lock b
         1 lock a",
        expect![""],
    );
}
