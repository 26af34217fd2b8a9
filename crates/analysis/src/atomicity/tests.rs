//! Traces by hand.

use expect_test::{Expect, expect};

use crate::{Intent, toy::trace, violations};

/// One line for each violation: the steps of the three accesses, and what shows that two were meant to be one.
fn check(text: &str, expected: Expect) {
    let mut told = String::new();
    for (it, intent) in violations(&trace(text)) {
        let steps: Vec<u64> = it.sides().map(|it| it.step).collect();
        let intent = match intent {
            Intent::Stale(_) => "stale",
            Intent::Checked(_) => "checked",
            Intent::Update => "update",
            Intent::Together(..) => "together",
        };
        told.push_str(&format!("{steps:?} {intent}\n"));
    }
    expected.assert_eq(&told);
}

#[test]
fn a_value_that_was_read_before() {
    check(
        "0 spawn 1
         0 lock m
         0 read x
         0 unlock m
         1 lock m
         1 write x
         1 unlock m
         0 lock m
         0 write x
         0 unlock m",
        expect![[r#"
            [2, 5, 8] stale
        "#]],
    );
    // It is read again.
    check(
        "0 spawn 1
         0 lock m
         0 update x
         0 unlock m
         1 lock m
         1 write x
         1 unlock m
         0 lock m
         0 update x
         0 unlock m",
        expect![""],
    );
}

#[test]
fn checked_then_acted_upon() {
    check(
        "0 spawn 1
         0 lock m
         0 read x
         0 unlock m
         1 lock m
         1 write x
         1 unlock m
         0 lock m
         0 read x
         0 write x
         0 unlock m",
        expect![[r#"
            [2, 5, 9] checked
        "#]],
    );
}

#[test]
fn loaded_then_stored() {
    check(
        "0 spawn 1
         0 load x sc
         1 rmw x sc
         0 store x sc wakes",
        expect![[r#"
            [1, 2, 3] update
        "#]],
    );
    check(
        "0 spawn 1
         0 rmw x sc
         1 rmw x sc
         0 rmw x sc",
        expect![""],
    );
}

/// The sum and the count are written together, and read one after the other.
#[test]
fn two_that_belong_together() {
    let written = "1 lock m
         1 write sum
         1 write count
         1 unlock m";
    let read_apart = format!(
        "0 spawn 1
         0 lock m
         0 read sum
         0 unlock m
         {written}
         0 lock m
         0 read count
         0 unlock m"
    );
    check(
        &read_apart,
        expect![[r#"
            [2, 5, 9] together
        "#]],
    );
    // Nothing came in between.
    check(
        &format!(
            "0 spawn 1
             {written}
             0 lock m
             0 read sum
             0 unlock m
             0 lock m
             0 read count
             0 unlock m"
        ),
        expect![""],
    );
    // Written one after the other, and read together: half of a change.
    let half = "0 lock m
         0 write sum
         0 unlock m
         1 lock m
         1 read sum
         1 read count
         1 unlock m
         0 lock m
         0 write count
         0 unlock m";
    check(
        &format!("0 spawn 1\n{written}\n{half}"),
        expect![[r#"
            [6, 9, 13] together
        "#]],
    );
    // Nobody writes both at once: they need not belong together.
    check(&format!("0 spawn 1\n{half}"), expect![""]);
}
