//! A toy language: programs of a few threads over fixed objects, and what runs them on the machine.
//!
//! A program is started in one of two ways: `main` spawns all threads, then joins them; or, for
//! counting, all threads are there from the first step on and nobody joins.

mod run;

use raddle_model::{ObjectId, SiteId};

use raddle_machine::{Machine, MutexKind, ObjectState};

pub(crate) use run::{Ended, Run, Watch, run};

pub(crate) const NORMAL: ObjectId = ObjectId(10);
pub(crate) const RECURSIVE: ObjectId = ObjectId(11);
pub(crate) const ERROR_CHECK: ObjectId = ObjectId(12);
pub(crate) const RWLOCK: ObjectId = ObjectId(13);
pub(crate) const COND: ObjectId = ObjectId(14);
pub(crate) const OTHER_COND: ObjectId = ObjectId(15);
pub(crate) const SEM: ObjectId = ObjectId(16);
pub(crate) const BARRIER: ObjectId = ObjectId(17);
pub(crate) const ONCE: ObjectId = ObjectId(18);
/// Variables; threads can wait on them as futex words.
pub(crate) const X: ObjectId = ObjectId(19);
pub(crate) const Y: ObjectId = ObjectId(20);

/// What the semaphore has at the start.
pub(crate) const SEM_COUNT: u32 = 1;
/// How many threads the barrier is for.
pub(crate) const BARRIER_SIZE: u32 = 2;

/// One statement. Times are nanoseconds from the moment when the thread comes to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Do {
    Lock(ObjectId),
    TimedLock(ObjectId, u64),
    TryLock(ObjectId),
    Unlock(ObjectId),
    ReadLock,
    TimedReadLock(u64),
    TryReadLock,
    WriteLock,
    TimedWriteLock(u64),
    TryWriteLock,
    RwUnlock,
    Wait(ObjectId, ObjectId),
    TimedWait(ObjectId, ObjectId, u64),
    Signal(ObjectId),
    Broadcast(ObjectId),
    SemWait,
    TimedSemWait(u64),
    SemTryWait,
    SemPost,
    Barrier,
    /// Runs the once block if it has not run.
    Once,
    /// The same, but the block ends by an exception.
    OnceThatThrows,
    FutexWait(ObjectId, u64),
    TimedFutexWait(ObjectId, u64, u64),
    FutexWake(ObjectId, u32),
    Read(ObjectId),
    Write(ObjectId, u64),
    /// From the first value to the second.
    Cas(ObjectId, u64, u64),
    Sleep(u64),
    Yield,
    /// For the first time at its place.
    HintedYield,
}

/// A program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Program {
    pub(crate) threads: Vec<Vec<Do>>,
    /// Does `main` spawn and join the threads, or are they there from the first step on?
    pub(crate) has_main: bool,
    pub(crate) may_wake_spuriously: bool,
}

impl Program {
    /// Threads that `main` spawns and joins.
    pub(crate) fn spawned(threads: Vec<Vec<Do>>) -> Program {
        Program { threads, has_main: true, may_wake_spuriously: false }
    }

    /// Threads that are there from the first step on.
    pub(crate) fn bare(threads: &[&[Do]]) -> Program {
        let threads = threads.iter().map(|it| it.to_vec()).collect();
        Program { threads, has_main: false, may_wake_spuriously: false }
    }
}

/// The object of the thread with this number.
pub(crate) fn thread_object(number: u32) -> ObjectId {
    ObjectId(1 + number)
}

fn machine() -> Machine {
    let mut machine = Machine::new(thread_object(0));
    let states = [
        (NORMAL, ObjectState::mutex(MutexKind::Normal, false)),
        (RECURSIVE, ObjectState::mutex(MutexKind::Recursive, false)),
        (ERROR_CHECK, ObjectState::mutex(MutexKind::ErrorCheck, false)),
        (RWLOCK, ObjectState::rwlock(false)),
        (COND, ObjectState::cond()),
        (OTHER_COND, ObjectState::cond()),
        (SEM, ObjectState::sem(SEM_COUNT)),
        (BARRIER, ObjectState::barrier(BARRIER_SIZE)),
        (ONCE, ObjectState::once()),
    ];
    for (object, state) in states {
        machine.set_object(object, state);
    }
    machine
}

/// Every statement has its site.
fn site(thread: usize, position: usize) -> SiteId {
    SiteId((thread * 100 + position + 1) as u32)
}
