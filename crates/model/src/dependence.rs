//! Which ops depend on each other: two neighbouring steps of different threads that don't may be exchanged
//! without changing what either does, who can go on, or the state that follows (ALGORITHMS §0 and B13).
//!
//! Partial order sampling, partial order reduction and the classes of schedules all stand on this one
//! relation. Where an op's effect is not known from the op alone, it errs on the side of dependence: that
//! costs schedules, never bugs. So a compare-exchange counts as a write although it may fail, a release of
//! a rwlock as one of a write lock, two arrivals at a barrier as a race for the leader's place, and two
//! posts of a semaphore as ordered.
//!
//! What it does not know: the ops of one thread are ordered anyway; spawning a thread comes before all its
//! ops and joining it after; a signal comes before the end of the wait that it ended; a thread that is
//! cancelled acts on it in any op that is a cancellation point. Whoever needs these adds them: they are
//! relations between threads, not between ops.

use crate::{ObjectId, Op, OpKind};

/// Does it matter which of two ops, of different threads, comes first?
#[inline]
pub fn dependent(a: &Op, b: &Op) -> bool {
    let (use_of_a, use_of_b) = (USES[a.kind as usize], USES[b.kind as usize]);
    is_same(a.object, b.object) & !commute(use_of_a, use_of_b)
        // The mutex of a wait is given back, or taken.
        || is_same(a.object, b.other) | is_same(a.other, b.object) | is_same(a.other, b.other)
        || use_of_a.is_wide | use_of_b.is_wide && reaches_further(a.kind, b.kind)
}

#[inline]
fn is_same(a: ObjectId, b: ObjectId) -> bool {
    (a == b) & (a != ObjectId::NONE)
}

/// Ops that concern more than the objects they name.
const fn reaches_further(a: OpKind, b: OpKind) -> bool {
    match (a, b) {
        // What has not been done when the process ends is never done.
        (OpKind::Exit, _) | (_, OpKind::Exit) => true,
        // Two descriptors may be the ends of one pipe.
        (OpKind::Io, OpKind::Io) => true,
        // A signal to the process is handled by any thread.
        (OpKind::Kill, OpKind::Kill | OpKind::Handle | OpKind::SigWait) => true,
        (OpKind::Handle | OpKind::SigWait, OpKind::Kill) => true,
        // A block is many variables, of which the op names one.
        (OpKind::Free, other) | (other, OpKind::Free) => {
            matches!(other, OpKind::Free) || other.is_access()
        }
        _ => false,
    }
}

/// What an op does to its object, as far as others can tell.
#[derive(Clone, Copy)]
#[repr(u8)]
enum Use {
    /// Nothing.
    Nothing,
    /// Reads a variable.
    Look,
    /// Writes a variable.
    Change,
    /// Uses the queue of those who wait on a variable.
    Queue,
    /// Reads a variable and queues at it.
    LookAndQueue,
    /// Takes a lock that others may have too.
    Share,
    /// All there is to it.
    Whole,
}

impl Use {
    const ALL: [Use; 7] = [
        Use::Nothing,
        Use::Look,
        Use::Change,
        Use::Queue,
        Use::LookAndQueue,
        Use::Share,
        Use::Whole,
    ];

    const fn of(kind: OpKind) -> Use {
        match kind {
            OpKind::Fence | OpKind::Yield | OpKind::Sleep => Use::Nothing,
            OpKind::Read | OpKind::AtomicLoad => Use::Look,
            OpKind::Write
            | OpKind::ReadWrite
            | OpKind::AtomicStore
            | OpKind::AtomicRmw
            | OpKind::AtomicCas => Use::Change,
            OpKind::FutexNotify | OpKind::FutexWake => Use::Queue,
            OpKind::FutexWait => Use::LookAndQueue,
            OpKind::ReadLock | OpKind::TryReadLock => Use::Share,
            _ => Use::Whole,
        }
    }

    const fn commutes_with(self, other: Use) -> bool {
        use Use::*;
        matches!(
            (self, other),
            (Nothing, _)
                | (_, Nothing)
                | (Share, Share)
                | (Look, Look | Queue | LookAndQueue)
                | (Queue | LookAndQueue, Look)
                | (Queue, Change)
                | (Change, Queue)
        )
    }
}

/// The same as a table: this is asked at every step, and branches on it can't be foretold.
#[derive(Clone, Copy)]
struct UseOf {
    /// One bit: which use it is.
    bit: u8,
    /// The bits of all uses that commute with it.
    commuting: u8,
    /// May it concern more than the objects it names?
    is_wide: bool,
}

const USES: [UseOf; OpKind::ALL.len()] = {
    let mut uses = [UseOf { bit: 0, commuting: 0, is_wide: false }; OpKind::ALL.len()];
    let mut idx = 0;
    while idx < uses.len() {
        let kind = OpKind::ALL[idx];
        let of_kind = Use::of(kind);
        let mut other = 0;
        while other < Use::ALL.len() {
            if of_kind.commutes_with(Use::ALL[other]) {
                uses[idx].commuting |= 1 << other;
            }
            other += 1;
        }
        uses[idx].bit = 1 << of_kind as u8;
        uses[idx].is_wide = kind.is_wide();
        idx += 1;
    }
    uses
};

#[inline]
const fn commute(a: UseOf, b: UseOf) -> bool {
    a.commuting & b.bit != 0
}

impl OpKind {
    /// May an op of this kind depend on ops of other threads that name other objects?
    #[inline]
    pub const fn is_wide(self) -> bool {
        matches!(
            self,
            OpKind::Exit
                | OpKind::Io
                | OpKind::Kill
                | OpKind::Handle
                | OpKind::SigWait
                | OpKind::Free
        )
    }
}

#[cfg(test)]
mod tests {
    use super::dependent;
    use crate::{ObjectId, Op, OpKind, SiteId};

    fn op(kind: OpKind, object: u32) -> Op {
        Op::on(kind, ObjectId(object), SiteId(1))
    }

    fn wait(kind: OpKind, cond: u32, mutex: u32) -> Op {
        op(kind, cond).other(ObjectId(mutex))
    }

    /// Both orders of the question, on one object and on two.
    #[track_caller]
    fn check(a: OpKind, b: OpKind, on_one: bool, on_two: bool) {
        for (a, b) in [(a, b), (b, a)] {
            assert_eq!(dependent(&op(a, 1), &op(b, 1)), on_one, "{a:?} and {b:?} on one object");
            assert_eq!(dependent(&op(a, 1), &op(b, 2)), on_two, "{a:?} and {b:?} on two objects");
        }
    }

    #[test]
    fn variables() {
        use OpKind::*;
        for look in [Read, AtomicLoad] {
            check(look, Read, false, false);
            check(look, AtomicLoad, false, false);
            for change in [Write, ReadWrite, AtomicStore, AtomicRmw, AtomicCas] {
                check(look, change, true, false);
                check(Write, change, true, false);
                check(AtomicRmw, change, true, false);
            }
        }
    }

    #[test]
    fn locks() {
        use OpKind::*;
        check(Lock, Lock, true, false);
        check(Lock, Unlock, true, false);
        check(TryLock, Unlock, true, false);
        check(TryLock, Lock, true, false);
        check(ReadLock, ReadLock, false, false);
        check(ReadLock, TryReadLock, false, false);
        check(ReadLock, WriteLock, true, false);
        check(ReadLock, RwUnlock, true, false);
        check(WriteLock, WriteLock, true, false);
        check(OnceEnter, OnceEnter, true, false);
        check(BarrierArrive, BarrierArrive, true, false);
        check(SemWait, SemPost, true, false);
    }

    /// A wait concerns its condition variable and its mutex.
    #[test]
    fn waits() {
        use OpKind::*;
        let waits = [wait(CondWait, 1, 2), wait(CondWake, 1, 2)];
        for it in &waits {
            for (other, expected) in [
                (op(Signal, 1), true),
                (op(Broadcast, 1), true),
                (op(Lock, 2), true),
                (op(Unlock, 2), true),
                (wait(CondWait, 3, 2), true),
                (wait(CondWait, 1, 4), true),
                (op(Lock, 3), false),
                (op(Signal, 4), false),
                (op(Write, 5), false),
            ] {
                assert_eq!(dependent(it, &other), expected, "{it:?} and {other:?}");
                assert_eq!(dependent(&other, it), expected, "{other:?} and {it:?}");
            }
        }
        check(Signal, Signal, true, false);
    }

    /// A futex is a variable with a queue: waiting reads the one and joins the other.
    #[test]
    fn futexes() {
        use OpKind::*;
        check(FutexWait, AtomicStore, true, false);
        check(FutexWait, AtomicLoad, false, false);
        check(FutexWait, FutexNotify, true, false);
        check(FutexWait, FutexWait, true, false);
        check(FutexNotify, AtomicStore, false, false);
        check(FutexNotify, AtomicLoad, false, false);
        check(FutexNotify, FutexNotify, true, false);
        check(FutexNotify, FutexWake, true, false);
    }

    #[test]
    fn what_reaches_further_than_its_object() {
        use OpKind::*;
        for kind in OpKind::ALL {
            check(Exit, *kind, true, true);
        }
        check(Io, Io, true, true);
        check(Kill, Handle, true, true);
        check(Free, Read, true, true);
        check(Free, Lock, true, false);
        check(Free, Free, true, true);
    }

    /// What is not wide depends on nothing without an object in common.
    #[test]
    fn only_wide_kinds_reach_further() {
        for (a, b) in OpKind::ALL.iter().flat_map(|a| OpKind::ALL.iter().map(move |b| (*a, *b))) {
            let reaches = dependent(&op(a, 1), &op(b, 2));
            assert!(!reaches || a.is_wide() || b.is_wide(), "{a:?} and {b:?}");
        }
    }

    #[test]
    fn without_objects_nothing_is_shared() {
        use OpKind::*;
        for (a, b) in [(Yield, Yield), (Fence, Write), (Sleep, Lock), (Yield, CondWait)] {
            assert!(!dependent(&op(a, 0), &op(b, 0)), "{a:?} and {b:?}");
        }
    }

    #[test]
    fn threads() {
        use OpKind::*;
        check(Finish, TryJoin, true, false);
        check(Finish, Join, true, false);
        check(Spawn, Start, true, false);
    }
}
