//! Traces by hand, and laws on generated ones.

mod laws;

use expect_test::{Expect, expect};

use crate::{races, toy::trace};

/// One line for each race: the variable's number, its steps, what they do.
fn check(text: &str, expected: Expect) {
    let mut told = String::new();
    for race in races(&trace(text)) {
        let sides = [&race.first, &race.second].map(|it| {
            let held: Vec<String> = it
                .holds
                .iter()
                .map(|it| format!("{}{}", it.lock.0, if it.is_shared { "r" } else { "" }))
                .collect();
            let held =
                if held.is_empty() { String::new() } else { format!(" [{}]", held.join(" ")) };
            format!(
                "{} T{} {} {}+{}{held}",
                it.step,
                it.thread.0,
                it.kind.verb(),
                it.offset,
                it.size
            )
        });
        told.push_str(&format!("{} | {}\n", sides[0], sides[1]));
    }
    expected.assert_eq(&told);
}

#[test]
fn nothing_orders_two_writes() {
    check(
        "0 spawn 1
         0 write x
         1 write x",
        expect![[r#"
            1 T0 write 0+4 | 2 T1 write 0+4
        "#]],
    );
}

#[test]
fn creation_and_join_order() {
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
fn a_lock_orders() {
    check(
        "0 spawn 1
         0 lock m
         0 write x
         0 unlock m
         1 lock m
         1 read x
         1 unlock m",
        expect![""],
    );
}

#[test]
fn another_lock_does_not() {
    check(
        "0 spawn 1
         0 lock m
         0 write x
         0 unlock m
         1 lock n
         1 read x
         1 unlock n",
        expect![[r#"
            2 T0 write 0+4 [2] | 5 T1 read 0+4 [4]
        "#]],
    );
}

/// What is done after a release is not known to those who acquire it.
#[test]
fn after_the_release_is_too_late() {
    check(
        "0 spawn 1
         0 lock m
         0 unlock m
         0 write x
         1 lock m
         1 read x",
        expect![[r#"
            3 T0 write 0+4 | 5 T1 read 0+4 [2]
        "#]],
    );
}

#[test]
fn readers_are_not_ordered_among_each_other_and_need_not_be() {
    check(
        "0 write x
         0 spawn 1
         0 spawn 2
         1 read x
         2 read x
         0 read x",
        expect![""],
    );
}

#[test]
fn a_write_races_with_any_of_its_readers() {
    check(
        "0 write x
         0 spawn 1
         0 spawn 2
         1 read x
         2 read x
         2 finish
         0 join 2
         0 write x",
        expect![[r#"
            3 T1 read 0+4 | 7 T0 write 0+4
        "#]],
    );
}

#[test]
fn publication_by_release_and_acquire() {
    check(
        "0 spawn 1
         0 write x
         0 store f rel
         1 load f acq
         1 read x",
        expect![""],
    );
}

#[test]
fn publication_by_relaxed_stores_is_none() {
    check(
        "0 spawn 1
         0 write x
         0 store f rlx
         1 load f acq
         1 read x",
        expect![[r#"
            1 T0 write 0+4 | 4 T1 read 0+4
        "#]],
    );
    check(
        "0 spawn 1
         0 write x
         0 store f rel
         1 load f rlx
         1 read x",
        expect![[r#"
            1 T0 write 0+4 | 4 T1 read 0+4
        "#]],
    );
}

#[test]
fn publication_by_fences() {
    check(
        "0 spawn 1
         0 write x
         0 fence rel
         0 store f rlx
         1 load f rlx
         1 fence acq
         1 read x",
        expect![""],
    );
    check(
        "0 spawn 1
         0 fence rel
         0 write x
         0 store f rlx
         1 load f rlx
         1 fence acq
         1 read x",
        expect![[r#"
            2 T0 write 0+4 | 6 T1 read 0+4
        "#]],
    );
}

#[test]
fn release_sequences() {
    check(
        "0 spawn 1
         0 spawn 2
         0 write x
         0 store f rel
         1 rmw f rlx
         2 load f acq
         2 read x",
        expect![""],
    );
    check(
        "0 spawn 1
         0 spawn 2
         0 write x
         0 store f rel
         1 store f rlx
         2 load f acq
         2 read x",
        expect![[r#"
            2 T0 write 0+4 | 6 T2 read 0+4
        "#]],
    );
}

/// A compare-exchange that fails writes nothing, so it releases nothing.
#[test]
fn failed_compare_exchange() {
    check(
        "0 spawn 1
         0 write x
         0 cas f acqrel busy
         1 load f acq
         1 read x",
        expect![[r#"
            1 T0 write 0+4 | 4 T1 read 0+4
        "#]],
    );
}

#[test]
fn atomics_race_with_plain_accesses_only() {
    check(
        "0 spawn 1
         0 store x rlx
         1 store x rlx
         1 read x
         0 rmw x sc",
        expect![[r#"
            1 T0 store 0+4 | 3 T1 read 0+4
            3 T1 read 0+4 | 4 T0 rmw 0+4
        "#]],
    );
}

#[test]
fn neighbours_in_one_word() {
    check(
        "0 spawn 1
         0 write x 0+1
         1 write x 1+1
         0 write x 2+2
         1 read x 1+1
         1 read x 0+8",
        expect![[r#"
            1 T0 write 0+1 | 5 T1 read 0+8
        "#]],
    );
}

/// Passes on one byte and goes on with the other: earlier bytes keep their time.
#[test]
fn bytes_are_passed_on_one_by_one() {
    check(
        "0 spawn 1
         0 write x 0+1
         0 store f rel
         0 write x 1+1
         1 load f acq
         1 read x 0+1",
        expect![""],
    );
}

#[test]
fn read_locks_order_readers_and_writers_only() {
    check(
        "0 spawn 1
         0 rdlock m
         0 write x
         0 rwunlock m
         1 rdlock m
         1 read x
         1 rwunlock m",
        expect![[r#"
            2 T0 write 0+4 [2r] | 5 T1 read 0+4 [2r]
        "#]],
    );
    check(
        "0 spawn 1
         0 wrlock m
         0 write x
         0 rwunlock m
         1 rdlock m
         1 read x
         1 rwunlock m
         0 wrlock m
         0 write x
         0 rwunlock m",
        expect![""],
    );
}

#[test]
fn signals_barriers_semaphores_once() {
    check(
        "0 spawn 1
         1 lock m
         1 wait c m
         0 write x
         0 signal c wakes
         1 wake c m
         1 read x",
        expect![""],
    );
    check(
        "0 spawn 1
         0 write x
         1 write y
         0 barrier b
         1 barrier b last
         1 read x
         0 leave b
         0 read y",
        expect![""],
    );
    check(
        "0 spawn 1
         0 write x
         0 sem_post s
         1 sem_wait s
         1 read x",
        expect![""],
    );
    check(
        "0 spawn 1
         0 once o last
         0 write x
         0 once_done o
         1 once o
         1 read x",
        expect![""],
    );
}

/// A timed wait that runs out is not ordered after the signal that came too late.
#[test]
fn a_signal_to_nobody_orders_nothing() {
    check(
        "0 spawn 1
         0 write x
         0 signal c
         1 lock m
         1 wait c m
         1 wake c m late
         1 read x",
        expect![[r#"
            1 T0 write 0+4 | 6 T1 read 0+4 [4]
        "#]],
    );
}

/// A race orders nothing: what the reader reads next is a race of its own.
#[test]
fn no_race_hides_another() {
    check(
        "0 spawn 1
         0 write data
         0 write flag
         1 read flag
         1 read data",
        expect![[r#"
            2 T0 write 0+4 | 3 T1 read 0+4
            1 T0 write 0+4 | 4 T1 read 0+4
        "#]],
    );
}

#[test]
fn volatile_orders_nothing() {
    check(
        "0 spawn 1
         0 write data
         0 write flag volatile
         1 read flag volatile
         1 read data",
        expect![[r#"
            2 T0 write 0+4 | 3 T1 read 0+4
            1 T0 write 0+4 | 4 T1 read 0+4
        "#]],
    );
}

#[test]
fn freed_while_in_use() {
    check(
        "0 spawn 1
         1 read x
         0 free x",
        expect![[r#"
            1 T1 read 0+4 | 2 T0 free 0+0
        "#]],
    );
}

#[test]
fn a_thread_alone_knows_all() {
    check(
        "0 spawn 1
         1 write x
         1 finish
         0 spawn 2
         2 read x",
        expect![""],
    );
}

/// Nobody knows what an atomic instruction without a hook orders: all that its thread did before, and all that others did.
#[test]
fn an_instruction_without_a_hook_may_order_all() {
    let of = |unhooked: &[usize]| {
        let mut trace = trace(
            "0 spawn 1
             0 write x
             1 rmw y
             1 write x",
        );
        for step in unhooked {
            trace.events[*step].flags = raddle_model::Flags::UNHOOKED;
        }
        races(&trace).len()
    };
    assert_eq!(of(&[]), 1);
    assert_eq!(of(&[2]), 0);
}
