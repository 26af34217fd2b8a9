//! Traces by hand.

use expect_test::{Expect, expect};

use crate::{locksets, toy::trace};

/// One line for each pair: threads and steps, how many accesses hold the usual lock, and the way there.
fn check(text: &str, expected: Expect) {
    let mut told = String::new();
    for it in locksets(&trace(text)) {
        let side = |it: &crate::Side| format!("T{} at {}", it.thread.0, it.step);
        let usual = it.usage.usual.map_or(0, |it| it.1);
        let way = match &it.steps {
            Some(steps) => format!("after {steps:?}"),
            None => "no way".to_owned(),
        };
        told.push_str(&format!(
            "{}, {}; {usual} of {} with the usual lock; {way}\n",
            side(&it.race.first),
            side(&it.race.second),
            it.usage.n_accesses
        ));
    }
    expected.assert_eq(&told);
}

/// In this order the lock orders both accesses, by chance.
#[test]
fn ordered_by_chance() {
    check(
        "0 spawn 1
         0 spawn 2
         1 write x
         1 lock m
         1 unlock m
         2 lock m
         2 unlock m
         2 read x",
        expect![[r#"
            T1 at 2, T2 at 7; 0 of 2 with the usual lock; after [0, 1, 5, 6]
        "#]],
    );
}

#[test]
fn one_lock_for_all() {
    check(
        "0 spawn 1
         0 lock m
         0 write x
         0 unlock m
         1 lock m
         1 write x
         1 unlock m",
        expect![""],
    );
}

/// One variable with a lock in common does not excuse another without (the thesis' Algorithm 1 would).
#[test]
fn one_variable_is_right_and_the_other_is_not() {
    check(
        "0 spawn 1
         0 lock m
         0 write x
         0 unlock m
         0 lock n
         0 write y
         0 unlock n
         1 lock m
         1 write x
         1 write y
         1 unlock m",
        expect![[r#"
            T0 at 5, T1 at 9; 1 of 2 with the usual lock; after [0, 1, 2, 3, 4, 7, 8]
        "#]],
    );
}

#[test]
fn a_writer_under_a_read_lock() {
    check(
        "0 spawn 1
         0 rdlock m
         0 write x
         0 rwunlock m
         1 rdlock m
         1 read x
         1 rwunlock m",
        expect![[r#"
            T0 at 2, T1 at 5; 2 of 2 with the usual lock; after [0, 1, 4]
        "#]],
    );
    check(
        "0 spawn 1
         0 wrlock m
         0 write x
         0 rwunlock m
         1 rdlock m
         1 read x
         1 rwunlock m",
        expect![""],
    );
}

/// Memory that is prepared before it is passed on needs no lock.
#[test]
fn handed_over() {
    check(
        "0 spawn 1
         0 write item
         0 lock m
         0 write head
         0 unlock m
         1 lock m
         1 read head
         1 unlock m
         1 write item",
        expect![""],
    );
    check(
        "0 write x
         0 spawn 1
         1 write x
         1 finish
         0 join 1
         0 write x",
        expect![""],
    );
}

#[test]
fn other_bytes_and_atomics_do_not_conflict() {
    check(
        "0 spawn 1
         0 write x 0+2
         1 write x 2+2
         0 store f rlx
         1 store f rlx
         0 read z
         1 read z",
        expect![""],
    );
}

/// Who takes a lock of one atomic word has read what the last one left in it, and so has the one before.
#[test]
fn a_lock_made_by_hand() {
    check(
        "0 spawn 1
         0 rmw l acq
         0 write x
         0 store l rel
         1 rmw l acq
         1 write x
         1 store l rel
         0 rmw l acq
         0 write x
         0 store l rel
         1 rmw l acq
         1 write x",
        expect![""],
    );
}

/// A wait at a condition variable of Rust's std gives its mutex back and takes it again without a step; the look at the
/// condition variable names the mutex. One that names none gives nothing back.
#[test]
fn a_condvar_of_rust_gives_its_mutex_back() {
    let with = |mutex: &str| {
        format!(
            "0 spawn 1
             0 spawn 2
             1 cas m acq
             1 read x
             1 load c {mutex} 0+0
             1 futex_wait c
             0 cas m acq
             0 write x
             0 rmw m rel
             0 futex_wake c wakes
             1 futex_woken c
             2 cas m acq
             2 write y
             2 rmw m rel
             1 write y
             1 rmw m rel"
        )
    };
    check(&with("m"), expect![""]);
    check(
        &with(""),
        expect![[r#"
        T1 at 3, T0 at 7; 0 of 2 with the usual lock; after [0, 1, 2, 6]
        T2 at 12, T1 at 14; 0 of 2 with the usual lock; after [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]
    "#]],
    );
}
