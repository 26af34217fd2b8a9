//! What POSIX and futex(2) say, written down without a look at the machine: plain tables, searched
//! from end to end. It looks on while a program runs, and holds every step against them: who can go
//! on, how each op ends, whom it wakes, and when nobody will ever go on again.

use std::collections::BTreeMap;

use raddle_machine::Machine;
use raddle_model::{Event, Flags, Misuse, ObjectId, Op, OpKind, OpResult, ThreadId};

use crate::toy::{BARRIER_SIZE, ERROR_CHECK, NORMAL, RECURSIVE, SEM_COUNT, Watch, thread_object};

/// Deadlines this much later than the earliest are no choice.
const SLACK_NS: u64 = 100_000;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Wake {
    /// Nobody has ended its wait.
    #[default]
    Asleep,
    Woken,
    TimedOut,
}

#[derive(Clone, Copy, Debug, Default)]
struct Thread {
    /// What it is about to do; nothing if it has finished.
    pending: Option<Op>,
    wake: Wake,
    /// How deep it held the mutex that it gave back to wait.
    depth: u32,
    has_yielded: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Once {
    #[default]
    Fresh,
    Running,
    Done,
}

/// How an op must end: result, value, misuse.
type Ending = (OpResult, u64, Option<Misuse>);

const DONE: Ending = (OpResult::Done, 0, None);

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Posix {
    now: u64,
    /// Has everybody yielded, and nobody done anything since?
    is_idle: bool,
    threads: Vec<Thread>,
    /// Owner and depth of mutexes that are held.
    held: BTreeMap<ObjectId, (ThreadId, u32)>,
    writer: Option<ThreadId>,
    readers: Vec<ThreadId>,
    n_taken: u32,
    n_posted: u32,
    /// By condition variable: who waits, with which mutex.
    waiters: BTreeMap<ObjectId, Vec<(ThreadId, ObjectId)>>,
    arrived: Vec<ThreadId>,
    once: Once,
    values: BTreeMap<ObjectId, u64>,
    /// By variable: who waits, the first first.
    sleepers: BTreeMap<ObjectId, Vec<ThreadId>>,
}

impl Watch for Posix {
    fn announces(&mut self, machine: &Machine, thread: ThreadId, op: &Op) {
        check_proposal(machine, thread, op);
        if self.threads.len() <= thread.idx() {
            self.threads.resize_with(thread.idx() + 1, Thread::default);
        }
        let it = &mut self.threads[thread.idx()];
        it.pending = Some(*op);
        it.has_yielded = op.is_yield();
        if !matches!(op.kind, OpKind::CondWake | OpKind::FutexWake | OpKind::BarrierLeave) {
            it.wake = Wake::Asleep;
        }
    }

    fn chooses(&mut self, machine: &Machine) {
        self.pass_time(machine.now());
        if self.all().all(|it| !self.can_go(it)) {
            self.is_idle = true;
            self.threads.iter_mut().for_each(|it| it.has_yielded = false);
        }
        let expected: Vec<ThreadId> = self.all().filter(|it| self.can_go(*it)).collect();
        let asked: Vec<ThreadId> = self.all().filter(|it| machine.is_enabled(*it)).collect();
        let mut listed: Vec<ThreadId> =
            (0..machine.n_enabled()).map(|it| machine.enabled(it)).collect();
        listed.sort_unstable();
        assert!(!expected.is_empty(), "somebody can go on");
        assert_eq!(listed, expected);
        assert_eq!(asked, expected);
        self.check_timed(machine);
        check_performs(machine, &listed);
    }

    fn times_out(&mut self, machine: &Machine, thread: ThreadId) {
        let op = self.pending(thread);
        if op.flags.has(Flags::TIMED) {
            assert!(op.arg <= machine.now(), "time has come to the deadline");
        } else {
            assert!(machine.may_wake_spuriously && op.kind == OpKind::CondWake);
            assert_eq!(self.threads[thread.idx()].wake, Wake::Asleep);
            self.end_wait(thread, Wake::Woken);
        }
        self.pass_time(machine.now());
    }

    fn did(&mut self, machine: &Machine, event: &Event, misuse: Option<Misuse>) {
        let thread = event.thread;
        let op = self.pending(thread);
        assert_eq!((event.kind, event.object, event.other), (op.kind, op.object, op.other));
        if op.kind == OpKind::CondWake && event.result == OpResult::Busy {
            // It was chosen that its wait ends, and it can't have its mutex yet.
            assert_ne!(self.threads[thread.idx()].wake, Wake::Asleep);
            assert!(self.held.contains_key(&op.other));
            return;
        }
        assert!(self.can_go(thread), "{thread:?} was blocked: {event:?}");
        let is_late = op.flags.has(Flags::TIMED) && op.arg <= self.now;
        assert!(is_late || !event.flags.has(Flags::TIMED_OUT), "{event:?}");
        let expected = self.perform(thread, &op, event);
        assert_eq!((event.result, event.value, misuse), expected, "{event:?}");
        if op.kind != OpKind::Yield {
            self.is_idle = false;
            self.threads.iter_mut().for_each(|it| it.has_yielded = false);
        }
        self.pass_time(machine.now());
    }

    fn deadlocks(&mut self, machine: &Machine) {
        self.pass_time(machine.now());
        self.threads.iter_mut().for_each(|it| it.has_yielded = false);
        for thread in self.all().filter(|it| self.threads[it.idx()].pending.is_some()) {
            assert!(!self.can_go(thread), "{thread:?} can go on");
            let has_deadline = self.pending(thread).flags.has(Flags::TIMED);
            let is_asleep = self.threads[thread.idx()].wake == Wake::Asleep;
            assert!(!(has_deadline && is_asleep), "{thread:?} has a deadline");
            assert!(machine.is_blocked(thread));
        }
    }
}

/// A thread that need not be announced could have been, and would have done the same.
fn check_proposal(machine: &Machine, thread: ThreadId, op: &Op) {
    let mut proposing = machine.clone();
    if proposing.can_perform(thread, op) {
        let mut announcing = machine.clone();
        announcing.announce(thread, *op);
        assert!(announcing.is_enabled(thread), "{op:?}");
        assert_eq!(proposing.perform_now(thread, op, 0), announcing.perform(thread, 0), "{op:?}");
        assert_eq!(proposing.n_enabled(), announcing.n_enabled());
    }
}

/// Whoever can go on does so without a panic, whatever the data choice.
fn check_performs(machine: &Machine, enabled: &[ThreadId]) {
    for thread in enabled {
        for choice in 0..machine.n_choices(*thread) {
            machine.clone().perform(*thread, choice);
        }
    }
}

impl Posix {
    fn all(&self) -> impl Iterator<Item = ThreadId> + use<> {
        (0..self.threads.len() as u32).map(ThreadId)
    }

    fn pending(&self, thread: ThreadId) -> Op {
        self.threads[thread.idx()].pending.expect("a thread that has not finished")
    }

    /// Of the blocked threads those with the earliest deadline are a choice, and those whose wait may end for no
    /// reason; but nobody is while all only wait in circles.
    fn check_timed(&self, machine: &Machine) {
        let waiting = self.all().filter(|it| {
            let Thread { pending, wake, .. } = self.threads[it.idx()];
            pending.is_some() && wake == Wake::Asleep && !self.can_go(*it)
        });
        let waiting: Vec<(ThreadId, Op)> = waiting.map(|it| (it, self.pending(it))).collect();
        let timed = waiting.iter().filter(|it| it.1.flags.has(Flags::TIMED));
        let earliest = timed.map(|it| it.1.arg).min().unwrap_or(0);
        let expected = waiting.iter().filter(|(_, op)| {
            let is_spurious = machine.may_wake_spuriously && op.kind == OpKind::CondWake;
            let is_near = op.arg - earliest.min(op.arg) <= SLACK_NS;
            if op.flags.has(Flags::TIMED) { is_near } else { is_spurious }
        });
        let expected = expected.map(|it| it.0).filter(|_| !self.is_idle);
        let mut timed = machine.timed().to_vec();
        timed.sort_unstable();
        assert_eq!(timed, expected.collect::<Vec<_>>());
    }

    fn pass_time(&mut self, now: u64) {
        assert!(self.now <= now, "time goes back from {} to {now}", self.now);
        self.now = now;
        for thread in self.all() {
            let it = &self.threads[thread.idx()];
            let Some(op) = it.pending else { continue };
            let is_wait = matches!(op.kind, OpKind::CondWake | OpKind::FutexWake);
            let is_late = op.flags.has(Flags::TIMED) && op.arg <= now;
            if is_wait && is_late && it.wake == Wake::Asleep {
                self.end_wait(thread, Wake::TimedOut);
            }
        }
    }

    fn end_wait(&mut self, thread: ThreadId, wake: Wake) {
        self.threads[thread.idx()].wake = wake;
        self.waiters.values_mut().for_each(|all| all.retain(|it| it.0 != thread));
        self.sleepers.values_mut().for_each(|all| all.retain(|it| *it != thread));
        self.arrived.retain(|it| *it != thread);
    }

    fn n_left_in_sem(&self) -> u32 {
        (SEM_COUNT + self.n_posted).checked_sub(self.n_taken).expect("no more taken than posted")
    }

    fn has_finished(&self, object: ObjectId) -> bool {
        let target = self.all().find(|it| thread_object(it.0) == object);
        target.is_some_and(|it| self.threads[it.idx()].pending.is_none())
    }

    /// Could this thread do what it is about to do?
    fn can_go(&self, thread: ThreadId) -> bool {
        let it = &self.threads[thread.idx()];
        let Some(op) = it.pending else { return false };
        let is_late = op.flags.has(Flags::TIMED) && op.arg <= self.now;
        let is_free = |mutex| !self.held.contains_key(mutex);
        match op.kind {
            OpKind::Lock => match self.held.get(&op.object) {
                Some((owner, _)) if *owner == thread => is_late || op.object != NORMAL,
                Some(_) => is_late,
                None => true,
            },
            OpKind::ReadLock => is_late || self.writer.is_none_or(|it| it == thread),
            OpKind::WriteLock => {
                let is_free = self.writer.is_none() && self.readers.is_empty();
                is_late || is_free || self.writer == Some(thread)
            }
            OpKind::SemWait => is_late || self.n_left_in_sem() > 0,
            OpKind::OnceEnter => self.once != Once::Running,
            OpKind::Join => self.has_finished(op.object),
            OpKind::CondWake => it.wake != Wake::Asleep && is_free(&op.other),
            OpKind::FutexWake | OpKind::BarrierLeave => it.wake != Wake::Asleep,
            OpKind::Sleep => is_late,
            _ => !it.has_yielded,
        }
    }

    /// Takes the step, and says how it must end.
    fn perform(&mut self, thread: ThreadId, op: &Op, event: &Event) -> Ending {
        match op.kind {
            OpKind::Spawn => {
                let start = Op { kind: OpKind::Start, object: op.object, ..Op::default() };
                self.threads.push(Thread { pending: Some(start), ..Thread::default() });
                DONE
            }
            OpKind::Finish => {
                self.threads[thread.idx()].pending = None;
                DONE
            }
            OpKind::Lock | OpKind::TryLock | OpKind::Unlock => self.use_mutex(thread, op),
            OpKind::ReadLock | OpKind::TryReadLock | OpKind::WriteLock | OpKind::TryWriteLock => {
                self.take_rwlock(thread, op)
            }
            OpKind::RwUnlock => self.give_rwlock_back(thread),
            OpKind::SemWait | OpKind::SemTryWait | OpKind::SemPost => self.use_sem(op),
            OpKind::CondWait => self.wait(thread, op),
            OpKind::CondWake => self.come_back(thread, op),
            OpKind::Signal => self.signal(op.object, event.value),
            OpKind::Broadcast => self.broadcast(op.object),
            OpKind::BarrierArrive => self.arrive(thread),
            OpKind::OnceEnter => match self.once {
                Once::Done => DONE,
                Once::Fresh => {
                    self.once = Once::Running;
                    (OpResult::Chosen, 0, None)
                }
                Once::Running => panic!("two threads in a once block"),
            },
            OpKind::OnceDone | OpKind::OnceAbort => {
                assert_eq!(self.once, Once::Running);
                self.once = if op.kind == OpKind::OnceDone { Once::Done } else { Once::Fresh };
                DONE
            }
            OpKind::FutexWait => self.sleep(thread, op),
            OpKind::FutexWake if self.threads[thread.idx()].wake == Wake::TimedOut => {
                (OpResult::TimedOut, 0, None)
            }
            OpKind::FutexNotify => self.wake(op, event.choice().unwrap_or(0) as usize),
            OpKind::Read | OpKind::Write | OpKind::AtomicCas => self.access(op),
            _ => DONE,
        }
    }

    fn use_mutex(&mut self, thread: ThreadId, op: &Op) -> Ending {
        let mutex = op.object;
        let is_try = op.kind == OpKind::TryLock;
        match (op.kind, self.held.get_mut(&mutex)) {
            (OpKind::Unlock, Some((owner, depth))) if *owner == thread => {
                *depth -= 1;
                if *depth == 0 {
                    self.held.remove(&mutex);
                }
                DONE
            }
            (OpKind::Unlock, _) if mutex != NORMAL => (OpResult::NotOwner, 0, None),
            (OpKind::Unlock, None) => (OpResult::Misused, 0, Some(Misuse::UnlockUnlocked)),
            (OpKind::Unlock, _) => (OpResult::Misused, 0, Some(Misuse::UnlockNotOwner)),
            (_, None) => {
                self.held.insert(mutex, (thread, 1));
                DONE
            }
            (_, Some((owner, depth))) if *owner == thread && mutex == RECURSIVE => {
                *depth += 1;
                DONE
            }
            (_, Some(_)) if is_try => (OpResult::Busy, 0, None),
            (_, Some((owner, _))) if *owner == thread && mutex == ERROR_CHECK => {
                (OpResult::WouldDeadlock, 0, None)
            }
            (_, Some(_)) => (OpResult::TimedOut, 0, None),
        }
    }

    fn take_rwlock(&mut self, thread: ThreadId, op: &Op) -> Ending {
        let wants_to_write = matches!(op.kind, OpKind::WriteLock | OpKind::TryWriteLock);
        let is_try = matches!(op.kind, OpKind::TryReadLock | OpKind::TryWriteLock);
        match (self.writer, wants_to_write) {
            (None, true) if self.readers.is_empty() => self.writer = Some(thread),
            (None, false) => self.readers.push(thread),
            _ if is_try => return (OpResult::Busy, 0, None),
            (Some(it), _) if it == thread => return (OpResult::WouldDeadlock, 0, None),
            _ => return (OpResult::TimedOut, 0, None),
        }
        DONE
    }

    fn give_rwlock_back(&mut self, thread: ThreadId) -> Ending {
        if self.writer == Some(thread) {
            self.writer = None;
        } else if let Some(idx) = self.readers.iter().position(|it| *it == thread) {
            self.readers.remove(idx);
        } else {
            return (OpResult::Misused, 0, Some(Misuse::RwUnlockNotHeld));
        }
        DONE
    }

    fn use_sem(&mut self, op: &Op) -> Ending {
        match op.kind {
            OpKind::SemPost => self.n_posted += 1,
            _ if self.n_left_in_sem() > 0 => self.n_taken += 1,
            OpKind::SemTryWait => return (OpResult::Busy, 0, None),
            _ => return (OpResult::TimedOut, 0, None),
        }
        (OpResult::Done, u64::from(self.n_left_in_sem()), None)
    }

    fn wait(&mut self, thread: ThreadId, op: &Op) -> Ending {
        match self.held.get(&op.other) {
            Some((owner, depth)) if *owner == thread => {
                self.threads[thread.idx()].depth = *depth;
            }
            _ => return (OpResult::Misused, 0, Some(Misuse::WaitWithoutMutex)),
        }
        self.held.remove(&op.other);
        let waiters = self.waiters.entry(op.object).or_default();
        if waiters.iter().any(|it| it.1 != op.other) {
            return (OpResult::Misused, 0, Some(Misuse::WaitWithOtherMutex));
        }
        waiters.push((thread, op.other));
        self.threads[thread.idx()].wake = Wake::Asleep;
        DONE
    }

    fn come_back(&mut self, thread: ThreadId, op: &Op) -> Ending {
        let Thread { wake, depth, .. } = self.threads[thread.idx()];
        let before = self.held.insert(op.other, (thread, depth));
        assert_eq!(before, None, "mutual exclusion");
        self.threads[thread.idx()].wake = Wake::Asleep;
        if wake == Wake::TimedOut { (OpResult::TimedOut, 0, None) } else { DONE }
    }

    /// `told`: who was woken, plus one. It may be any of the waiters, and must be one.
    fn signal(&mut self, cond: ObjectId, told: u64) -> Ending {
        let waiters = self.waiters.entry(cond).or_default();
        if waiters.is_empty() {
            return DONE;
        }
        let woken = waiters.iter().map(|it| it.0).find(|it| u64::from(it.0) + 1 == told);
        self.end_wait(woken.expect("a signal wakes a waiter"), Wake::Woken);
        (OpResult::Done, told, None)
    }

    fn broadcast(&mut self, cond: ObjectId) -> Ending {
        let waiters = self.waiters.remove(&cond).unwrap_or_default();
        for (thread, _) in &waiters {
            self.end_wait(*thread, Wake::Woken);
        }
        (OpResult::Done, waiters.len() as u64, None)
    }

    fn arrive(&mut self, thread: ThreadId) -> Ending {
        if self.arrived.len() as u32 + 1 < BARRIER_SIZE {
            self.arrived.push(thread);
            self.threads[thread.idx()].wake = Wake::Asleep;
            return (OpResult::Done, u64::from(BARRIER_SIZE) - self.arrived.len() as u64, None);
        }
        let arrived = std::mem::take(&mut self.arrived);
        for thread in &arrived {
            self.end_wait(*thread, Wake::Woken);
        }
        (OpResult::Chosen, arrived.len() as u64, None)
    }

    fn sleep(&mut self, thread: ThreadId, op: &Op) -> Ending {
        if self.values.get(&op.object).copied().unwrap_or(0) != op.arg {
            return (OpResult::Busy, 0, None);
        }
        self.sleepers.entry(op.object).or_default().push(thread);
        self.threads[thread.idx()].wake = Wake::Asleep;
        DONE
    }

    /// The first to be woken is chosen, the others are those who came first.
    fn wake(&mut self, op: &Op, choice: usize) -> Ending {
        let mut sleepers = self.sleepers.remove(&op.object).unwrap_or_default();
        let count = sleepers.len().min(op.arg as u32 as usize);
        let mut next = choice;
        for _ in 0..count {
            let thread = sleepers.remove(next);
            self.end_wait(thread, Wake::Woken);
            next = 0;
        }
        self.sleepers.insert(op.object, sleepers);
        (OpResult::Done, count as u64, None)
    }

    fn access(&mut self, op: &Op) -> Ending {
        let value = self.values.entry(op.object).or_default();
        let before = *value;
        match op.kind {
            OpKind::Write => {
                *value = op.arg;
                DONE
            }
            OpKind::AtomicCas if before == op.arg >> 32 => {
                *value = op.arg & 0xffff_ffff;
                (OpResult::Done, before, None)
            }
            OpKind::AtomicCas => (OpResult::Busy, before, None),
            _ => (OpResult::Done, before, None),
        }
    }
}
