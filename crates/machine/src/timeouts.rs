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
pub const WATCHDOG_SLEEP_NS: u64 = 5_000_000_000;
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
mod tests;
