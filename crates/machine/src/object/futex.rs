//! Futex words. A wait compares and queues in one step (the runtime compares, since the value is the
//! program's memory); a wake takes the given number of waiters whose bits match, the first of them by
//! choice, the others in the order in which they came. `FUTEX_REQUEUE` moves the rest elsewhere.
//!
//! The waiters of all futexes stand here by object; see [`crate::Machine::futex_waiters`].

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use crate::script::check;

    /// The first one by choice, the other one because it came first.
    #[test]
    fn wakes_count_waiters() {
        check(
            "
             0 futex_wait f
             0 futex_woken f
             1 futex_wait f
             1 futex_woken f
             2 futex_wait f
             2 futex_woken f
             3 futex_wake f 0
             who
             3 futex_wake f 2/7 choosing 1
             who
             3 futex_wake f 2/7
             3 futex_wake f 2/7
             0 goes",
            expect![[r#"
                0 futex_wait f: Done
                0 futex_woken f: Parked
                1 futex_wait f: Done
                1 futex_woken f: Parked
                2 futex_wait f: Done
                2 futex_woken f: Parked
                3 futex_wake f 0: Done
                who: []
                3 futex_wake f 2/7 choosing 1: Done 2, one of 3 ways
                who: [0, 1]
                3 futex_wake f 2/7: Done 1
                3 futex_wake f 2/7: Done
                0 goes: Done
            "#]],
        );
    }

    /// 8 is in no waiter's bit set; 2 and 4 are in that of thread 1.
    #[test]
    fn bit_sets() {
        check(
            "
             0 futex_wait f 1
             0 futex_woken f
             1 futex_wait f 6
             1 futex_woken f
             3 futex_wake f 1/8
             who
             3 futex_wake f 9/4
             who
             3 futex_wake f 9/1
             who",
            expect![[r#"
                0 futex_wait f 1: Done
                0 futex_woken f: Parked
                1 futex_wait f 6: Done
                1 futex_woken f: Parked
                3 futex_wake f 1/8: Done, one of 2 ways
                who: []
                3 futex_wake f 9/4: Done 1
                who: [1]
                3 futex_wake f 9/1: Done 1
                who: [0, 1]
            "#]],
        );
    }

    #[test]
    fn requeue_moves_the_first() {
        check(
            "
             0 futex_wait f
             0 futex_woken f
             1 futex_wait f
             1 futex_woken f until 9000
             2 futex_wait f
             2 futex_woken f
             requeue f g 2
             3 futex_wake f 9/7
             2 goes
             1 times out
             1 goes
             3 futex_wake g 9/7
             0 goes",
            expect![[r#"
                0 futex_wait f: Done
                0 futex_woken f: Parked
                1 futex_wait f: Done
                1 futex_woken f until 9000: Parked
                2 futex_wait f: Done
                2 futex_woken f: Parked
                requeue f g 2: 2
                3 futex_wake f 9/7: Done 1
                2 goes: Done
                1 times out: [1]
                1 goes: TimedOut
                3 futex_wake g 9/7: Done 1
                0 goes: Done
            "#]],
        );
    }

    #[test]
    fn a_wake_is_not_kept() {
        check(
            "
             3 futex_wake f 1/7
             0 futex_wait f
             0 futex_woken f
             settle",
            expect![[r#"
                3 futex_wake f 1/7: Done
                0 futex_wait f: Done
                0 futex_woken f: Parked
                settle: deadlock
            "#]],
        );
    }
}
