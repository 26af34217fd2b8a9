//! How an op ended, and how an execution ended.

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

/// How an op ended.
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize), serde(rename_all = "kebab-case"))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum OpResult {
    /// Done.
    #[default]
    Done,
    /// Not done: the object was not free (`EBUSY`, `EAGAIN`).
    Busy,
    /// The deadline passed (`ETIMEDOUT`).
    TimedOut,
    /// The thread holds the lock already (`EDEADLK`).
    WouldDeadlock,
    /// Done, and the last owner ended while it held the lock (`EOWNERDEAD`).
    OwnerDied,
    /// The lock was given up for good (`ENOTRECOVERABLE`).
    NotRecoverable,
    /// The thread does not hold the lock (`EPERM`).
    NotOwner,
    /// This thread is the one to do the work (once blocks, barriers).
    Chosen,
    /// The count would overflow (`EOVERFLOW`, `EAGAIN` for recursive locks).
    Overflow,
    /// The op is an error in the program; see the execution's end.
    Misused,
    /// A signal handler ran (`EINTR`).
    Interrupted,
}

impl OpResult {
    /// All, in the order of their numbers.
    const ALL: [OpResult; 11] = [
        OpResult::Done,
        OpResult::Busy,
        OpResult::TimedOut,
        OpResult::WouldDeadlock,
        OpResult::OwnerDied,
        OpResult::NotRecoverable,
        OpResult::NotOwner,
        OpResult::Chosen,
        OpResult::Overflow,
        OpResult::Misused,
        OpResult::Interrupted,
    ];

    /// The one with this number, if there is one.
    pub fn from_number(number: u8) -> Option<OpResult> {
        OpResult::ALL.get(usize::from(number)).copied()
    }
}

macro_rules! misuses {
    ($($(#[$meta:meta])* $name:ident = $word:literal,)*) => {
        /// A use of a synchronisation object that POSIX leaves undefined.
        #[cfg_attr(feature = "serde", derive(Serialize, Deserialize), serde(rename_all = "kebab-case"))]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub enum Misuse { $($(#[$meta])* $name,)* }

        impl Misuse {
            const ALL: &[Misuse] = &[$(Misuse::$name,)*];

            /// What tools call it.
            pub const fn word(self) -> &'static str {
                match self { $(Misuse::$name => $word,)* }
            }

            /// The misuse whose number is `number`.
            pub fn from_number(number: u8) -> Option<Misuse> {
                Misuse::ALL.get(number as usize).copied()
            }
        }
    };
}

misuses! {
    /// Unlock of a mutex that nobody holds.
    UnlockUnlocked = "unlock-unlocked",
    /// Unlock of a mutex that another thread holds.
    UnlockNotOwner = "unlock-not-owner",
    /// Unlock of a rwlock that this thread does not hold.
    RwUnlockNotHeld = "rw-unlock-not-held",
    /// Destruction of a locked mutex or rwlock.
    DestroyHeld = "destroy-held",
    /// Destruction of a condition variable, semaphore or barrier with waiters.
    DestroyAwaited = "destroy-awaited",
    /// A wait with a mutex that this thread does not hold.
    WaitWithoutMutex = "wait-without-mutex",
    /// Two threads wait at one condition variable with two mutexes.
    WaitWithOtherMutex = "wait-with-other-mutex",
    /// A second join of one thread, or a join of a detached one.
    JoinTwice = "join-twice",
    /// A thread joins itself.
    JoinSelf = "join-self",
    /// A second detach, or a detach of a joined thread.
    DetachTwice = "detach-twice",
    /// Use of an object after its destruction.
    UseDestroyed = "use-destroyed",
    /// Initialisation of an object that is in use.
    InitInUse = "init-in-use",
    /// An access to memory after it was freed.
    UseAfterFree = "use-after-free",
    /// Memory freed twice.
    DoubleFree = "double-free",
    /// A semaphore post beyond its greatest value.
    SemOverflow = "sem-overflow",
    /// A function that is explored by itself has returned, and threads that it created do not come to their end.
    ThreadsLeft = "threads-left",
    /// A pointer that is not the start of a block, freed.
    FreeInside = "free-inside",
    /// A fork while another thread held a lock that the child then takes.
    LockHeldAtFork = "lock-held-at-fork",
    /// An access beyond the end of a heap block.
    HeapOverflow = "heap-buffer-overflow",
    /// An access before the beginning of a heap block.
    HeapUnderflow = "heap-buffer-underflow",
    /// A pointer that no allocation function returned, freed.
    BadFree = "bad-free",
    /// A block freed by another family of functions than the one that allocated it.
    MismatchedFree = "alloc-dealloc-mismatch",
}

/// How an execution ended.
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize), serde(rename_all = "kebab-case"))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum End {
    /// The process left with this code.
    Exit(i32),
    /// `assert()` failed; the message has the expression.
    Assert,
    /// `abort()` was called.
    Abort,
    /// An exception left a thread, or `std::terminate` was called; the message has its type.
    Exception,
    /// A Rust thread panicked, and the process ended for it; the message is the panic's.
    Panic,
    /// No order of a data structure's operations explains what they returned; the message is the history.
    NotLinearizable,
    /// A signal that kills: its number.
    Crash(i32),
    /// No thread can go on, and none ever will.
    Deadlock,
    /// The program came back to a state that it had been in, all threads that could go on having done so.
    Livelock,
    /// No step for too long: it waits where Raddle does not see it, or computes. See [`End::is_inconclusive`].
    Hang,
    /// An undefined use of a synchronisation object.
    Misuse(Misuse),
    /// Killed at the memory limit.
    OutOfMemory,
    /// The process ended in a way that Raddle did not see: a raw wait status.
    Lost(i32),
    /// The runtime has a bug; the message says which.
    Bug,
    /// Raddle ended it before it had come to its end, because its steps were spent. That says nothing about the
    /// program.
    Spent,
}

impl End {
    /// Does it say nothing about the program? The execution did not come to an end of its own, and nobody can say
    /// whose fault that is: it is counted and told, and is never a finding.
    pub const fn is_inconclusive(self) -> bool {
        matches!(self, End::Hang)
    }

    /// Two numbers that stand for it in the shared segment.
    pub const fn to_numbers(self) -> (u8, i32) {
        match self {
            End::Exit(code) => (1, code),
            End::Assert => (2, 0),
            End::Abort => (3, 0),
            End::Exception => (4, 0),
            End::Crash(signal) => (5, signal),
            End::Deadlock => (6, 0),
            End::Livelock => (7, 0),
            End::Hang => (8, 0),
            End::Misuse(misuse) => (9, misuse as i32),
            End::OutOfMemory => (10, 0),
            End::Lost(status) => (11, status),
            End::Bug => (12, 0),
            End::Panic => (13, 0),
            End::Spent => (14, 0),
            End::NotLinearizable => (15, 0),
        }
    }

    /// The reverse of [`End::to_numbers`]; `None` where nothing was written or it makes no sense.
    pub fn from_numbers(kind: u8, detail: i32) -> Option<End> {
        Some(match kind {
            1 => End::Exit(detail),
            2 => End::Assert,
            3 => End::Abort,
            4 => End::Exception,
            5 => End::Crash(detail),
            6 => End::Deadlock,
            7 => End::Livelock,
            8 => End::Hang,
            9 => End::Misuse(Misuse::from_number(u8::try_from(detail).ok()?)?),
            10 => End::OutOfMemory,
            11 => End::Lost(detail),
            12 => End::Bug,
            13 => End::Panic,
            14 => End::Spent,
            15 => End::NotLinearizable,
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{End, Misuse, OpResult};

    #[test]
    fn numbers_of_results_come_back() {
        for (number, result) in (0..).zip(OpResult::ALL) {
            assert_eq!(result as u8, number);
            assert_eq!(OpResult::from_number(number), Some(result));
        }
        assert_eq!(OpResult::from_number(11), None);
    }

    #[test]
    fn numbers_come_back() {
        let ends = [
            End::Exit(3),
            End::Assert,
            End::Abort,
            End::Exception,
            End::Panic,
            End::NotLinearizable,
            End::Crash(11),
            End::Deadlock,
            End::Livelock,
            End::Hang,
            End::Misuse(Misuse::JoinSelf),
            End::OutOfMemory,
            End::Lost(9),
            End::Bug,
            End::Spent,
        ];
        for end in ends {
            let (kind, detail) = end.to_numbers();
            assert_eq!(End::from_numbers(kind, detail), Some(end));
        }
        assert_eq!(End::from_numbers(0, 0), None);
    }
}
