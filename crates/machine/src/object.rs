//! The objects, one file per kind.

mod barrier;
mod cond;
mod futex;
mod mutex;
mod once;
mod rwlock;
mod sem;

use raddle_model::{SiteId, ThreadId};

pub use self::mutex::MutexKind;
pub(crate) use self::{
    barrier::Barrier, cond::Cond, mutex::Mutex, once::Once, rwlock::Rwlock, sem::Sem,
};
use crate::Queue;

/// The state of one object that threads can wait for. Variables have none.
#[derive(Clone, Debug, Hash)]
pub enum ObjectState {
    /// A mutex; also spin locks and the lock of a stream.
    Mutex(Mutex),
    /// A condition variable.
    Cond(Cond),
    /// A reader-writer lock.
    Rwlock(Rwlock),
    /// A counting semaphore.
    Sem(Sem),
    /// A barrier.
    Barrier(Barrier),
    /// A once block.
    Once(Once),
    /// A thread, as what others join.
    Thread {
        /// Which.
        thread: ThreadId,
        /// Has it finished?
        is_finished: bool,
    },
    /// A variable that threads wait on.
    Futex,
    /// A descriptor: can it be read (`[0]`), written (`[1]`) now?
    Descriptor([bool; 2]),
}

impl ObjectState {
    /// A free mutex.
    pub fn mutex(kind: MutexKind, is_robust: bool) -> ObjectState {
        ObjectState::Mutex(Mutex::new(kind, is_robust))
    }

    /// A condition variable.
    pub fn cond() -> ObjectState {
        ObjectState::Cond(Cond::default())
    }

    /// A free reader-writer lock: does it let writers who wait come before readers?
    pub fn rwlock(prefers_writers: bool) -> ObjectState {
        ObjectState::Rwlock(Rwlock::new(prefers_writers))
    }

    /// A semaphore with `count`.
    pub fn sem(count: u32) -> ObjectState {
        ObjectState::Sem(Sem { count })
    }

    /// A barrier for `count` threads.
    pub fn barrier(count: u32) -> ObjectState {
        ObjectState::Barrier(Barrier::new(count))
    }

    /// A once block that has not run.
    pub fn once() -> ObjectState {
        ObjectState::Once(Once::default())
    }

    /// Are both mutexes, of the same kind?
    pub fn is_mutex_like(&self, other: &ObjectState) -> bool {
        match (self, other) {
            (ObjectState::Mutex(one), ObjectState::Mutex(two)) => one.is_like(two),
            _ => false,
        }
    }

    /// May the threads of a queue go on now?
    pub(crate) fn is_open(&self, queue: Queue) -> bool {
        match self {
            ObjectState::Mutex(mutex) => mutex.is_free(),
            ObjectState::Rwlock(rwlock) => rwlock.is_open(queue),
            ObjectState::Sem(sem) => sem.count > 0,
            ObjectState::Once(once) => !once.is_running(),
            ObjectState::Thread { is_finished, .. } => *is_finished,
            ObjectState::Descriptor(ready) => ready[queue as usize],
            ObjectState::Cond(_) | ObjectState::Barrier(_) | ObjectState::Futex => false,
        }
    }

    /// Do readers hold it, whom others can join?
    pub fn is_held_by_readers(&self) -> bool {
        matches!(self, ObjectState::Rwlock(rwlock) if rwlock.has_readers())
    }

    /// Who holds it, and where each took it.
    pub fn holders(&self) -> Vec<(ThreadId, SiteId)> {
        match self {
            ObjectState::Mutex(mutex) => {
                mutex.owner().map(|it| (it, mutex.taken_at)).into_iter().collect()
            }
            ObjectState::Rwlock(rwlock) => rwlock.holders(),
            ObjectState::Once(once) => {
                once.runner.map(|it| (it, once.entered_at)).into_iter().collect()
            }
            _ => Vec::new(),
        }
    }
}
