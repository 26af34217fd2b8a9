//! Virtual time: one clock, which goes by one rule (docs/time.md).
//!
//! - A step takes a moment, always the same. A blocked thread with a deadline goes on when time has come so far: never
//!   earlier, and in the order of deadlines.
//! - When nobody can go on, time jumps to the earliest deadline.
//! - While others could go on, time may jump to the earliest deadline as a choice, a *delay*: those who could go on were
//!   preempted for so long. Later deadlines are no choice before that one has passed. (To a search they are, and
//!   the earlier ones pass with them: `may_reorder`.)
//! - When everybody only waits in circles, and does so for long, time is hurried, but stops at each deadline.

use raddle_model::{Flags, ObjectId, OpKind, OpResult, ThreadId};

use crate::{
    machine::{Machine, Stuck},
    object::ObjectState,
    thread::Status,
};

/// What a step takes.
const STEP_NS: u64 = 100;
/// Deadlines that are no further apart count as one: no system's timers are more exact, and a few steps more or
/// less don't decide which of two waits can end first.
const SLACK_NS: u64 = 100_000;
/// How often everybody may yield, at a step's time each, before time is hurried: more often than a loop spins before it
/// waits in earnest.
const IDLE_ROUNDS_MAX: u32 = 1_024;
/// Each further time takes so much longer than the one before. A wait of a second is over after 1,414 of them, one of
/// a minute after 11,000; a loop that ends by itself after all has not gone far.
const HURRY_NS: u64 = 1_000;
/// Steps that take longer than this altogether, since everybody had yielded last, are work.
const IDLE_GAP_NS: u64 = 64 * STEP_NS;
/// The argument of a yield whose thread may have something to do: time is not hurried for it.
pub const MAY_WORK: u64 = 1;
/// Stands for the alarm among the threads with a deadline.
const ALARM: ThreadId = ThreadId(u32::MAX);

impl Machine {
    /// Makes sure that some thread can go on, or that the alarm is due: recalls those who yielded, or
    /// lets time jump to the earliest deadline.
    pub fn settle(&mut self) -> Result<(), Stuck> {
        while self.n_enabled() == 0 && !self.is_alarm_due {
            if !self.yielded.is_empty() {
                self.idle();
            } else if let Some((_, thread)) = self.deadlines.first().copied() {
                self.time_out(thread);
            } else if self.awaited_descriptors().next().is_some() {
                return Err(Stuck::Descriptors);
            } else {
                return Err(Stuck::Deadlock);
            }
        }
        Ok(())
    }

    /// Everybody who is not blocked has yielded. They are recalled; if that goes on for long, time is hurried, and whoever
    /// has the next deadline goes first when it is reached.
    fn idle(&mut self) {
        if IDLE_GAP_NS < self.now - self.idle_since {
            self.n_idle_rounds = 0;
        }
        let is_sure = |it: &ThreadId| {
            let op = self.pending(*it);
            op.kind != OpKind::Yield || op.arg != MAY_WORK
        };
        self.n_idle_rounds += u32::from(self.yielded.iter().all(is_sure));
        let hurry = u64::from(self.n_idle_rounds.saturating_sub(IDLE_ROUNDS_MAX)) * HURRY_NS;
        let time = self.now.saturating_add(hurry);
        if hurry > 0 && self.next_deadline <= time {
            self.n_idle_rounds = IDLE_ROUNDS_MAX;
            self.advance(self.next_deadline.saturating_sub(self.now));
        } else {
            self.now = time;
            self.is_idle = true;
            self.recall_yielded();
        }
        self.idle_since = self.now;
    }

    /// Blocked threads whose wait may end now, as a choice. None while everybody only waits in circles: nobody
    /// would be delayed.
    #[inline]
    pub fn timed(&self) -> &[ThreadId] {
        if self.is_idle && !self.may_reorder { &[] } else { &self.timed }
    }

    /// Time passes by itself.
    #[inline]
    pub(crate) fn tick(&mut self) {
        self.advance(STEP_NS);
    }

    /// A clock is read: that takes as long as a step.
    #[inline]
    pub fn read_clock(&mut self) -> u64 {
        self.advance(STEP_NS);
        self.n_clock_reads += 1;
        self.now
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

    /// Time jumps to the earliest deadline, and so far; `None` if there is none.
    pub fn hurry(&mut self) -> Option<u64> {
        let length = self.deadlines.first()?.0.saturating_sub(self.now);
        self.advance(length);
        Some(length)
    }

    /// How far the alarm is away, if it goes off before the deadline of a blocked thread.
    pub fn alarm_before(&self, thread: ThreadId) -> Option<u64> {
        let op = self.pending(thread);
        let alarm = self.alarm.filter(|it| op.flags.has(Flags::TIMED) && *it < op.arg)?;
        Some(alarm.saturating_sub(self.now))
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
        self.spurious.push(thread);
        self.list_timed(thread);
    }

    pub(crate) fn add_deadline(&mut self, thread: ThreadId) {
        let it = &self.threads[thread.idx()];
        if matches!(it.status, Status::Ready) {
            return;
        }
        let deadline = it.pending.arg;
        self.deadlines.insert((deadline, thread));
        self.next_deadline = self.next_deadline.min(deadline);
        if deadline <= self.timed_end {
            self.choose_timed();
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
        let was_choice = it.is_timed;
        let deadline = it.pending.arg;
        if self.deadlines.remove(&(deadline, thread)) {
            self.next_deadline = self.deadlines.first().map_or(u64::MAX, |it| it.0);
        }
        if was_choice {
            self.spurious.retain(|it| *it != thread);
            self.choose_timed();
        }
    }

    /// Finds out anew whose wait may end as a choice: of the blocked threads. One that can go on loses nothing if time
    /// passes its deadline; nor does the alarm, which goes off on the way.
    pub(crate) fn choose_timed(&mut self) {
        for thread in std::mem::take(&mut self.timed) {
            self.threads[thread.idx()].is_timed = false;
        }
        for idx in 0..self.spurious.len() {
            self.list_timed(self.spurious[idx]);
        }
        let is_waiting = |it: &&(u64, ThreadId)| it.1 != ALARM && !self.is_enabled(it.1);
        let mut waiting = self.deadlines.iter().filter(is_waiting).peekable();
        let slack = if self.may_reorder { u64::MAX } else { SLACK_NS };
        let end = waiting.peek().map_or(u64::MAX, |it| it.0.saturating_add(slack));
        let near: Vec<ThreadId> = waiting.take_while(|it| it.0 <= end).map(|it| it.1).collect();
        near.into_iter().for_each(|it| self.list_timed(it));
        self.timed_end = end;
    }

    fn list_timed(&mut self, thread: ThreadId) {
        self.threads[thread.idx()].is_timed = true;
        self.timed.push(thread);
    }
}

#[cfg(test)]
mod tests;
