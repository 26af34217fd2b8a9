//! Virtual time. A step takes a moment; a blocked thread with a deadline goes on when time has come
//! so far, when nobody else can go on (then time jumps), or when the picker chooses so.
//!
//! Long waits are watchdogs: a program that sleeps five seconds, or waits one with a time limit, means
//! "never, if all goes well". Such deadlines pass only when nobody else can go on, so that a
//! watchdog is not reported as the bug that it watches for.

use raddle_model::{Flags, ObjectId, OpKind, OpResult, ThreadId};

use crate::{
    machine::{Machine, Stuck},
    object::ObjectState,
    thread::Status,
};

/// What a step takes.
const STEP_NS: u64 = 100;
/// A sleep this long, or longer, is a watchdog.
const WATCHDOG_SLEEP_NS: u64 = 5_000_000_000;
/// A timed wait this long, or longer, is a watchdog.
const WATCHDOG_WAIT_NS: u64 = 1_000_000_000;
/// How often everybody may yield before time jumps: more often than a loop spins before it waits in
/// earnest (libstdc++'s `atomic::wait` does sixteen times), or no sleeper would ever come too late.
const IDLE_ROUNDS_MAX: u32 = 32;
/// Stands for the alarm among the threads with a deadline.
const ALARM: ThreadId = ThreadId(u32::MAX);

impl Machine {
    /// Makes sure that some thread can go on, or that the alarm is due: recalls those who yielded, or
    /// lets time jump to the earliest deadline.
    pub fn settle(&mut self) -> Result<(), Stuck> {
        while self.n_enabled() == 0 && !self.is_alarm_due {
            let may_recall = self.n_idle_rounds < IDLE_ROUNDS_MAX || self.deadlines.is_empty();
            if !self.yielded.is_empty() && may_recall {
                self.n_idle_rounds += 1;
                self.recall_yielded();
            } else if let Some((_, thread)) = self.deadlines.first().copied() {
                self.n_idle_rounds = 0;
                self.time_out(thread);
            } else if self.awaited_descriptors().next().is_some() {
                return Err(Stuck::Descriptors);
            } else {
                return Err(Stuck::Deadlock);
            }
        }
        Ok(())
    }

    /// Time passes by itself.
    #[inline]
    pub(crate) fn tick(&mut self) {
        self.advance(STEP_NS);
    }

    /// Time passes by `nanoseconds`.
    #[inline]
    pub fn advance(&mut self, nanoseconds: u64) {
        self.now = self.now.saturating_add(nanoseconds);
        while self.next_deadline <= self.now {
            // At the end of time, "never" has come too.
            let Some((_, thread)) = self.deadlines.first().copied() else { break };
            self.pass_deadline(thread);
        }
    }

    /// The deadline of a blocked thread passes: its op ends now, or, if it waits on a condition
    /// variable, when it has its mutex again. So do all deadlines that are not later.
    pub fn time_out(&mut self, thread: ThreadId) {
        self.pass_deadline(thread);
        self.advance(0);
    }

    fn pass_deadline(&mut self, thread: ThreadId) {
        if thread == ALARM {
            return self.sound_alarm();
        }
        let op = self.threads[thread.idx()].pending;
        if !op.flags.has(Flags::TIMED) {
            return self.wake_spuriously(thread);
        }
        self.now = self.now.max(op.arg);
        self.detach(thread);
        let it = &mut self.threads[thread.idx()];
        it.pending.flags = op.flags.with(Flags::TIMED_OUT);
        match op.kind {
            OpKind::CondWake => {
                it.verdict = Some(OpResult::TimedOut);
                it.is_woken = true;
                self.stop_waiting(thread, op.object);
                self.after_wake(thread);
            }
            OpKind::FutexWake => {
                it.verdict = Some(OpResult::TimedOut);
                self.stop_waiting(thread, op.object);
                self.set_ready(thread);
            }
            OpKind::Sleep => self.set_ready(thread),
            _ => {
                it.verdict = Some(OpResult::TimedOut);
                self.set_ready(thread);
            }
        }
    }

    /// Sets the alarm, in virtual nanoseconds, or stops it: `is_alarm_due` becomes true at that time.
    pub fn set_alarm(&mut self, at: Option<u64>) {
        if let Some(old) = std::mem::replace(&mut self.alarm, at) {
            self.deadlines.remove(&(old, ALARM));
        }
        if let Some(at) = at {
            self.deadlines.insert((at, ALARM));
        }
        self.next_deadline = self.deadlines.first().map_or(u64::MAX, |it| it.0);
    }

    fn sound_alarm(&mut self) {
        self.now = self.now.max(self.alarm.unwrap_or(0));
        self.set_alarm(None);
        self.is_alarm_due = true;
    }

    /// A signal handler is to run in a blocked thread: its op ends with `EINTR`. One that waits on a
    /// condition variable or barrier keeps its place, and announces the same op again.
    pub fn interrupt(&mut self, thread: ThreadId) {
        let op = self.threads[thread.idx()].pending;
        if self.threads[thread.idx()].verdict.is_some() {
            return;
        }
        self.detach(thread);
        self.threads[thread.idx()].verdict = Some(OpResult::Interrupted);
        if op.kind == OpKind::FutexWake {
            self.stop_waiting(thread, op.object);
        }
        self.set_ready(thread);
    }

    /// Ends the wait on a condition variable of a thread that is to be cancelled, or that of a thread
    /// that is about to wait: it goes on when it has its mutex again. `false` if it was woken before.
    pub fn cancel_wait(&mut self, thread: ThreadId, cond: ObjectId) -> bool {
        if self.threads[thread.idx()].is_woken {
            return false;
        }
        let was_parked = self.status(thread) == Status::Parked;
        self.threads[thread.idx()].is_woken = true;
        self.stop_waiting(thread, cond);
        if was_parked {
            self.detach(thread);
            self.after_wake(thread);
        }
        true
    }

    /// Ends a wait on a condition variable although nobody signalled.
    fn wake_spuriously(&mut self, thread: ThreadId) {
        let op = self.threads[thread.idx()].pending;
        assert_eq!(op.kind, OpKind::CondWake, "bug: only waits end spuriously");
        self.detach(thread);
        self.threads[thread.idx()].pending.flags = op.flags.with(Flags::SPURIOUS);
        self.threads[thread.idx()].is_woken = true;
        self.stop_waiting(thread, op.object);
        self.after_wake(thread);
    }

    fn stop_waiting(&mut self, thread: ThreadId, object: ObjectId) {
        let it = self.object_mut(object);
        it.futex_waiters.retain(|(waiter, _)| *waiter != thread);
        if let ObjectState::Cond(cond) = &mut it.state {
            let depth = cond.waiters.iter().find(|(waiter, _)| *waiter == thread).map(|it| it.1);
            cond.remove(thread);
            self.threads[thread.idx()].depth = depth.unwrap_or(1);
        }
    }

    /// Lets a wait on a condition variable end spuriously, as a choice.
    pub(crate) fn add_spurious(&mut self, thread: ThreadId) {
        self.threads[thread.idx()].timed_slot = self.timed.len() as u32;
        self.timed.push(thread);
    }

    pub(crate) fn add_deadline(&mut self, thread: ThreadId) {
        let it = &self.threads[thread.idx()];
        if matches!(it.status, Status::Ready) {
            return;
        }
        let deadline = it.pending.arg;
        let watchdog =
            if it.pending.kind == OpKind::Sleep { WATCHDOG_SLEEP_NS } else { WATCHDOG_WAIT_NS };
        self.deadlines.insert((deadline, thread));
        self.next_deadline = self.next_deadline.min(deadline);
        if deadline < self.now.saturating_add(watchdog) {
            self.threads[thread.idx()].timed_slot = self.timed.len() as u32;
            self.timed.push(thread);
        }
        if deadline <= self.now && !self.is_enabled(thread) {
            self.pass_deadline(thread);
        }
    }

    #[inline]
    pub(crate) fn remove_deadline(&mut self, thread: ThreadId) {
        if self.timed.is_empty() && self.deadlines.is_empty() {
            return;
        }
        let it = &mut self.threads[thread.idx()];
        let slot = std::mem::replace(&mut it.timed_slot, u32::MAX);
        let deadline = it.pending.arg;
        if self.deadlines.remove(&(deadline, thread)) {
            self.next_deadline = self.deadlines.first().map_or(u64::MAX, |it| it.0);
        }
        if slot != u32::MAX {
            self.timed.swap_remove(slot as usize);
            if let Some(moved) = self.timed.get(slot as usize) {
                self.threads[moved.idx()].timed_slot = slot;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use raddle_model::{ObjectId, Op, OpKind, SiteId, ThreadId};

    use super::IDLE_ROUNDS_MAX;
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

    /// A second is a watchdog for waits, five for sleeps: such deadlines are no choice.
    #[test]
    fn watchdogs() {
        check(
            "
             0 lock m
             0 lock n
             1 lock m until 1000000499
             2 sleep until 5000000499
             3 lock n until 1000000500
             who
             1 times out
             1 goes
             1 sleep until 6000000600
             who
             settle
             3 goes
             settle
             2 goes
             settle
             1 goes",
            expect![[r#"
                0 lock m: Done
                0 lock n: Done
                1 lock m until 1000000499: Queued
                2 sleep until 5000000499: Parked
                3 lock n until 1000000500: Queued
                who: [], timed [1, 2]
                1 times out: [1], timed [2]
                1 goes: TimedOut
                1 sleep until 6000000600: Parked
                who: [3], timed [2]
                settle: [3], timed [2] at 1000000599
                3 goes: TimedOut
                settle: [2] at 5000000499
                2 goes: Done
                settle: [1] at 6000000600
                1 goes: Done
            "#]],
        );
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
                settle: [1], timed [2] at 500
            "#]],
        );
    }

    #[test]
    fn yielders_are_recalled_before_time_jumps() {
        let (yielder, site) = (ThreadId(0), SiteId(1));
        let mut machine = Machine::new(ObjectId(1));
        let sleeper = machine.create_thread(ObjectId(2), Some(yielder), site);
        machine.perform(sleeper, 0);
        for deadline in [50_000, 100_000] {
            let sleep = Op::on(OpKind::Sleep, ObjectId::NONE, site).until(Some(deadline));
            machine.announce(sleeper, sleep);
            for _ in 0..IDLE_ROUNDS_MAX {
                machine.announce(yielder, Op::on(OpKind::Yield, ObjectId::NONE, site));
                machine.settle().unwrap();
                assert!(!machine.is_enabled(sleeper));
                machine.perform(yielder, 0);
            }
            machine.announce(yielder, Op::on(OpKind::Yield, ObjectId::NONE, site));
            machine.settle().unwrap();
            assert!(machine.is_enabled(sleeper));
            assert_eq!(machine.now(), deadline);
            machine.perform(sleeper, 0);
            machine.perform(yielder, 0);
        }
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
                0 sem_post s: Done
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
                2 barrier pair: Done
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
}
