//! Virtual time, in schedules written out by hand.

use expect_test::expect;
use raddle_model::{ObjectId, Op, OpKind, SiteId, ThreadId};

use super::{IDLE_ROUNDS_MAX, STEP_NS};
use crate::{Machine, script::check};

#[test]
fn time_out_of_each_kind() {
    check(
        "
         0 lock m
         0 sem_wait s
         0 wrlock w
         1 lock m until 90000
         2 sem_wait s until 80000
         3 rdlock w until 70000
         who
         3 times out
         3 goes
         2 times out
         2 goes
         settle
         1 goes
         2 join t1 until 200000
         3 wrlock w until 100
         3 goes
         settle
         2 goes",
        expect![[r#"
            0 lock m: Done
            0 sem_wait s: Done
            0 wrlock w: Done
            1 lock m until 90000: Queued
            2 sem_wait s until 80000: Queued
            3 rdlock w until 70000: Queued
            who: [], timed [1, 2, 3]
            3 times out: [3], timed [1, 2]
            3 goes: TimedOut
            2 times out: [2], timed [1]
            2 goes: TimedOut
            settle: [1] at 90000
            1 goes: TimedOut
            2 join t1 until 200000: Queued
            3 wrlock w until 100: TimedOut
            3 goes: can't, "wrlock"
            settle: [2] at 200000
            2 goes: TimedOut
        "#]],
    );
}

#[test]
fn time_out_of_a_wait() {
    check(
        "
         1 lock m
         1 wait c m
         1 wake c m until 90000
         0 lock m
         1 times out
         0 signal c
         0 unlock m
         1 goes
         1 unlock m
         1 futex_wait f
         1 futex_woken f until 200000
         settle
         1 goes
         0 futex_wake f 1/7
         1 sleep until 300000
         1 times out
         1 goes
         advance 0",
        expect![[r#"
            1 lock m: Done
            1 wait c m: Done
            1 wake c m until 90000: Parked
            0 lock m: Done
            1 times out: []
            0 signal c: Done
            0 unlock m: Done
            1 goes: TimedOut
            1 unlock m: Done
            1 futex_wait f: Done
            1 futex_woken f until 200000: Parked
            settle: [1] at 200000
            1 goes: TimedOut
            0 futex_wake f 1/7: Done
            1 sleep until 300000: Parked
            1 times out: [1]
            1 goes: Done
            advance 0: [] at 300100
        "#]],
    );
}

#[test]
fn a_deadline_that_has_passed() {
    check(
        "
         0 lock m
         advance 5000
         1 lock m until 4000
         1 goes
         1 lock n until 4000
         1 sleep until 4000
         2 lock e
         2 wait c e
         2 wake c e until 4000",
        expect![[r#"
            0 lock m: Done
            advance 5000: [] at 5400
            1 lock m until 4000: TimedOut
            1 goes: can't, "lock"
            1 lock n until 4000: Done
            1 sleep until 4000: Done
            2 lock e: Done
            2 wait c e: Done
            2 wake c e until 4000: TimedOut
        "#]],
    );
}

/// POSIX: no timed lock fails that could be taken at once.
#[test]
fn a_free_lock_does_not_time_out() {
    check(
        "
         0 lock m
         1 lock m until 5000
         0 unlock m
         advance 6000
         1 goes
         0 lock n
         2 lock n until 7000
         3 lock n until 8000
         advance 6000
         0 unlock n
         3 goes
         2 goes",
        expect![[r#"
            0 lock m: Done
            1 lock m until 5000: Queued
            0 unlock m: Done
            advance 6000: [1] at 6500
            1 goes: Done
            0 lock n: Done
            2 lock n until 7000: Queued
            3 lock n until 8000: Queued
            advance 6000: [2, 3] at 12700
            0 unlock n: Done
            3 goes: Done
            2 goes: TimedOut
        "#]],
    );
}

/// Time passes within the step of the signal: it must not take the chosen waiter away.
#[test]
fn a_signal_at_the_deadline() {
    check(
        "
         1 lock m
         1 wait c m
         1 wake c m until 2000
         2 lock m
         2 wait c m
         2 wake c m until 2000
         advance 1250
         0 signal c choosing 1
         who
         2 goes
         2 unlock m
         1 goes",
        expect![[r#"
            1 lock m: Done
            1 wait c m: Done
            1 wake c m until 2000: Parked
            2 lock m: Done
            2 wait c m: Done
            2 wake c m until 2000: Parked
            advance 1250: [], timed [1, 2] at 1950
            0 signal c choosing 1: Done 3, one of 2 ways
            who: [1, 2]
            2 goes: Done
            2 unlock m: Done
            1 goes: TimedOut
        "#]],
    );
}

#[test]
fn a_woken_thread_does_not_time_out() {
    check(
        "
         1 lock r
         1 lock r
         1 wait c r
         1 wake c r until 9000
         1 is interrupted
         0 signal c
         1 goes
         0 lock r
         1 wake c r until 9000
         who
         advance 10000
         0 unlock r
         1 goes
         1 unlock r
         1 unlock r",
        expect![[r#"
            1 lock r: Done
            1 lock r: Done
            1 wait c r: Done
            1 wake c r until 9000: Parked
            1 is interrupted: [1]
            0 signal c: Done 2
            1 goes: Interrupted
            0 lock r: Done
            1 wake c r until 9000: Queued
            who: []
            advance 10000: [] at 10900
            0 unlock r: Done
            1 goes: Done
            1 unlock r: Done
            1 unlock r: Done
        "#]],
    );
}

/// However long it is until then. One that is as early, up to the slack, is a choice too.
#[test]
fn only_the_earliest_deadline_is_a_choice() {
    check(
        "
         0 lock m
         0 lock n
         1 lock m until 10000000000
         2 sleep until 60000000000
         who
         3 lock n until 10000100000
         who
         1 times out
         1 goes
         1 sleep until 10000200300
         who
         1 times out
         who
         1 goes
         3 goes
         settle",
        expect![[r#"
            0 lock m: Done
            0 lock n: Done
            1 lock m until 10000000000: Queued
            2 sleep until 60000000000: Parked
            who: [], timed [1]
            3 lock n until 10000100000: Queued
            who: [], timed [1, 3]
            1 times out: [1], timed [3]
            1 goes: TimedOut
            1 sleep until 10000200300: Parked
            who: [], timed [3]
            1 times out: [1, 3], timed [2]
            who: [1, 3], timed [2]
            1 goes: Done
            3 goes: TimedOut
            settle: [2] at 60000000000
        "#]],
    );
}

/// A lock that is free can be had at whatever time: its deadline keeps no other from being a choice.
#[test]
fn the_deadline_of_who_can_go_on_is_none() {
    check(
        "
         0 lock m
         1 lock m until 10000
         2 sleep until 900000000
         who
         0 unlock m
         who
         2 times out
         1 goes
         2 goes",
        expect![[r#"
            0 lock m: Done
            1 lock m until 10000: Queued
            2 sleep until 900000000: Parked
            who: [], timed [1]
            0 unlock m: Done
            who: [1], timed [2]
            2 times out: [1, 2]
            1 goes: Done
            2 goes: Done
        "#]],
    );
}

/// An alarm that is due before goes off on the way.
#[test]
fn an_alarm_is_no_obstacle() {
    check(
        "
         1 sleep until 900000000
         alarm 700
         who
         1 times out",
        expect![[r#"
            1 sleep until 900000000: Parked
            alarm 700: set
            who: [], timed [1]
            1 times out: [1], alarm
        "#]],
    );
}

/// What goes off before a wait is over may end the wait.
#[test]
fn an_alarm_before_a_deadline() {
    let mut machine = Machine::new(ObjectId(1));
    let sleep = Op::on(OpKind::Sleep, ObjectId::NONE, SiteId(1)).until(Some(900));
    machine.announce(ThreadId(0), sleep);
    assert_eq!(machine.alarm_before(ThreadId(0)), None);
    for (alarm, expected) in [(700, Some(700)), (900, None), (1_000, None)] {
        machine.set_alarm(Some(alarm));
        assert_eq!(machine.alarm_before(ThreadId(0)), expected, "{alarm}");
    }
}

#[test]
fn yielders_are_recalled_by_what_others_do() {
    check(
        "
         2 sleep until 50000
         1 yield
         who
         0 write
         who
         1 goes
         1 yield
         settle",
        expect![[r#"
            2 sleep until 50000: Parked
            1 yield: Yielded
            who: [], timed [2]
            0 write: Done
            who: [1], timed [2]
            1 goes: Done
            1 yield: Yielded
            settle: [1] at 500
        "#]],
    );
}

/// How often two threads yield until the machine's time is `time`, and the machine then. The second has a deadline
/// perhaps.
fn yield_until(time: u64, deadline: Option<u64>) -> (u32, Machine) {
    let (yielder, site) = (ThreadId(0), SiteId(1));
    let mut machine = Machine::new(ObjectId(1));
    let sleeper = machine.create_thread(ObjectId(2), Some(yielder), site);
    machine.perform(sleeper, 0);
    match deadline {
        Some(_) => {
            machine.announce(sleeper, Op::on(OpKind::Sleep, ObjectId::NONE, site).until(deadline));
        }
        None => machine.finish_thread(sleeper),
    }
    for n_times in 0.. {
        if time <= machine.now() {
            return (n_times, machine);
        }
        machine.announce(yielder, Op::on(OpKind::Yield, ObjectId::NONE, site));
        machine.settle().unwrap();
        if machine.is_enabled(yielder) {
            machine.perform(yielder, 0);
        }
    }
    unreachable!("it comes to an end")
}

#[test]
fn time_is_hurried_when_everybody_waits_in_circles_for_long() {
    let n_times = |time| yield_until(time, None).0;
    assert_eq!(n_times(50_000), 499, "a step's time each");
    assert_eq!(n_times(u64::from(IDLE_ROUNDS_MAX) * STEP_NS), IDLE_ROUNDS_MAX - 1);
    assert_eq!(n_times(10_000_000), 1_165);
    assert_eq!(n_times(1_000_000_000), 2_438);
    assert_eq!(n_times(60_000_000_000), 11_978);
}

/// It stops at the deadline, exactly.
#[test]
fn hurried_time_stops_at_deadlines() {
    for deadline in [20_000, 10_000_000, 1_000_000_000] {
        let (_, machine) = yield_until(deadline, Some(deadline));
        assert_eq!(machine.now(), deadline);
        assert!(machine.is_enabled(ThreadId(1)));
    }
}

/// Threads that work, and all yield now and then, don't wait in circles.
#[test]
fn work_in_between_does_not_hurry() {
    let (worker, site) = (ThreadId(0), SiteId(1));
    let mut machine = Machine::new(ObjectId(1));
    for _ in 0..10_000 {
        for _ in 0..100 {
            machine.announce(worker, Op::on(OpKind::AtomicStore, ObjectId(7), site));
            machine.perform(worker, 0);
        }
        machine.announce(worker, Op::on(OpKind::Yield, ObjectId::NONE, site));
        machine.settle().unwrap();
        machine.perform(worker, 0);
    }
    assert_eq!(machine.now(), 10_000 * 101 * STEP_NS);
}

#[test]
fn yielders_alone_go_on_for_ever() {
    check(
        "
         1 yield
         2 yield
         settle
         1 goes
         1 yield
         who
         2 goes
         2 yield
         settle
         1 goes
         1 yield
         2 goes
         2 yield
         settle",
        expect![[r#"
            1 yield: Yielded
            2 yield: Yielded
            settle: [1, 2] at 300
            1 goes: Done
            1 yield: Yielded
            who: [2]
            2 goes: Done
            2 yield: Yielded
            settle: [1, 2] at 500
            1 goes: Done
            1 yield: Yielded
            2 goes: Done
            2 yield: Yielded
            settle: [1, 2] at 700
        "#]],
    );
}

#[test]
fn alarm() {
    check(
        "
         0 lock m
         1 lock m
         2 lock m until 900
         alarm 700
         settle
         advance 0",
        expect![[r#"
            0 lock m: Done
            1 lock m: Queued
            2 lock m until 900: Queued
            alarm 700: set
            settle: [], alarm at 700
            advance 0: [], alarm at 700
        "#]],
    );
}

/// The end of time is a deadline like others, and time stays there.
#[test]
fn the_end_of_time() {
    check(
        "
         0 sleep until 18446744073709551615
         settle
         0 goes
         0 write
         advance 100",
        expect![[r#"
            0 sleep until 18446744073709551615: Parked
            settle: [0] at 18446744073709551615
            0 goes: Done
            0 write: Done
            advance 100: [] at 18446744073709551615
        "#]],
    );
}

#[test]
fn descriptors() {
    check(
        "
         0 io fd
         1 io fd m
         who
         settle",
        expect![[r#"
            0 io fd: Queued
            1 io fd m: Done
            who: []
            settle: descriptors
        "#]],
    );
}

#[test]
fn descriptors_are_awaited_when_nobody_can_go_on() {
    check(
        "
         0 io fd
         settle
         1 io fd until 5000
         settle",
        expect![[r#"
            0 io fd: Queued
            settle: descriptors
            1 io fd until 5000: Queued
            settle: [1] at 5000
        "#]],
    );
}

#[test]
fn interrupted_waits_end() {
    check(
        "
         0 lock m
         1 sem_wait s
         1 sem_wait s
         2 sleep until 50000
         3 futex_wait f
         3 futex_woken f
         1 is interrupted
         2 is interrupted
         3 is interrupted
         1 goes
         2 goes
         3 goes
         0 futex_wake f 1/7
         0 sem_post s
         1 sem_wait s",
        expect![[r#"
            0 lock m: Done
            1 sem_wait s: Done
            1 sem_wait s: Queued
            2 sleep until 50000: Parked
            3 futex_wait f: Done
            3 futex_woken f: Parked
            1 is interrupted: [1], timed [2]
            2 is interrupted: [1, 2]
            3 is interrupted: [1, 2, 3]
            1 goes: Interrupted
            2 goes: Interrupted
            3 goes: Interrupted
            0 futex_wake f 1/7: Done
            0 sem_post s: Done 1
            1 sem_wait s: Done
        "#]],
    );
}

#[test]
fn interrupted_waits_keep_their_place() {
    check(
        "
         1 lock m
         1 wait c m
         1 wake c m
         2 barrier pair
         2 leave pair
         1 is interrupted
         2 is interrupted
         1 goes
         2 goes
         0 signal c
         0 barrier pair
         1 wake c m
         2 leave pair",
        expect![[r#"
            1 lock m: Done
            1 wait c m: Done
            1 wake c m: Parked
            2 barrier pair: Done 1
            2 leave pair: Parked
            1 is interrupted: [1]
            2 is interrupted: [1, 2]
            1 goes: Interrupted
            2 goes: Interrupted
            0 signal c: Done 2
            0 barrier pair: Chosen 1
            1 wake c m: Done
            2 leave pair: Done
        "#]],
    );
}

/// A thread whose time is out can't be interrupted.
#[test]
fn time_out_comes_first() {
    check(
        "
         0 lock m
         1 lock m until 900
         1 times out
         1 is interrupted
         1 goes",
        expect![[r#"
            0 lock m: Done
            1 lock m until 900: Queued
            1 times out: [1]
            1 is interrupted: [1]
            1 goes: TimedOut
        "#]],
    );
}

#[test]
fn cancelled_wait_takes_its_mutex_first() {
    check(
        "
         1 lock r
         1 lock r
         1 wait c r
         1 wake c r until 9000
         0 lock r
         1 is cancelled
         1 is cancelled
         0 signal c
         0 unlock r
         1 goes
         1 unlock r
         1 unlock r",
        expect![[r#"
            1 lock r: Done
            1 lock r: Done
            1 wait c r: Done
            1 wake c r until 9000: Parked
            0 lock r: Done
            1 is cancelled: []
            1 is cancelled: []
            0 signal c: Done
            0 unlock r: Done
            1 goes: Done
            1 unlock r: Done
            1 unlock r: Done
        "#]],
    );
}
