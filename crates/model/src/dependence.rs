//! Which ops depend on each other: two neighbouring steps of different threads that don't may be exchanged
//! without changing what either does, who can go on, or the state that follows (Mazurkiewicz, 1977;
//! Flanagan and Godefroid, POPL 2005).
//!
//! Partial order sampling, partial order reduction and the classes of schedules all stand on this one
//! relation. An op is known by what it does to its object, its [`Effect`]; [`conflict`] says whether the order
//! of two uses of one object matters, and whether both can be possible in one state: a lock that is given
//! back and then taken is in order, not in a race.
//!
//! What an op will do is not always known from the op alone; what a step did is. Of ops, [`Effect::of`] errs on
//! the side of dependence, which costs schedules, never bugs: a compare-exchange counts as a write although
//! it may fail, a release of a rwlock as one of a write lock, an arrival at a barrier as the last one.
//! [`Effect::done`] knows the result: a compare-exchange that failed is a load, a `trylock` that failed a
//! look at the lock.
//!
//! What it does not know: the ops of one thread are ordered anyway; spawning a thread comes before all its
//! ops and joining it after; a signal comes before the end of the wait that it ended; a thread that is
//! cancelled acts on it in any op that is a cancellation point. Whoever needs these adds them: they are
//! relations between threads, not between ops. Two accesses to one object that touch different bytes of
//! it count as dependent.

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use crate::{Flags, ObjectId, Op, OpKind, OpResult};

/// Does it matter which of two ops, of different threads, comes first?
#[inline]
pub fn dependent(a: &Op, b: &Op) -> bool {
    let (effect_of_a, effect_of_b) = (EFFECTS[a.kind as usize], EFFECTS[b.kind as usize]);
    is_same(a.object, b.object) & !commute(effect_of_a, effect_of_b)
        // The mutex of a wait is given back, or taken.
        || is_same(a.object, b.other) | is_same(a.other, b.object) | is_same(a.other, b.other)
        || effect_of_a.is_wide | effect_of_b.is_wide && reaches_further(a.kind, b.kind)
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
        // What others hold, and have written, is what a child finds.
        (OpKind::Fork, _) | (_, OpKind::Fork) => true,
        // Two descriptors may be the ends of one pipe.
        (a, b) if a.is_io() && b.is_io() => true,
        // Threads are numbered in the order of their creation.
        (OpKind::Spawn, OpKind::Spawn) => true,
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
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize), serde(rename_all = "kebab-case"))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Effect {
    /// Nothing.
    #[default]
    Nothing,
    /// Reads a variable.
    Look,
    /// Writes a variable.
    Change,
    /// Joins the queue of those who wait on an object.
    Queue,
    /// Reads a variable and joins the queue at it.
    LookAndQueue,
    /// Leaves a queue although nobody called.
    Leave,
    /// Calls somebody out of a queue.
    Notify,
    /// Takes a lock, when it is free.
    Take,
    /// Takes a lock; had it not been free, the op would have ended otherwise.
    TryTake,
    /// Sees that a lock is not free.
    Peek,
    /// Gives a lock back.
    Give,
    /// Takes a lock that others may have too, when nobody has it alone.
    Share,
    /// The same; had that not been possible, the op would have ended otherwise.
    TryShare,
    /// Gives such a lock back.
    Unshare,
    /// Goes past a once block that was run before.
    Pass,
    /// Takes one from a count, when it is not 0.
    Draw,
    /// Takes one from a count; had it been 0, the op would have ended otherwise.
    TryDraw,
    /// Sees that a count is 0.
    SeeNone,
    /// Adds one to a count.
    Post,
    /// Arrives at a barrier before others.
    Arrive,
    /// Arrives at a barrier as the last but one: whoever comes next will be the last.
    ArriveBeforeLast,
    /// Arrives at a barrier as the last one.
    ArriveLast,
    /// A thread begins.
    Begin,
    /// A thread ends.
    Finish,
    /// Takes note of a thread's end, when it has ended.
    Join,
    /// Says that nobody will.
    Detach,
    /// All there is to it.
    Whole,
    /// Reads a value, and is one of the reads that have one order: whoever comes later reads nothing older.
    LookInOrder,
}

impl Effect {
    /// In the order of their numbers.
    const ALL: &[Effect] = &[
        Effect::Nothing,
        Effect::Look,
        Effect::Change,
        Effect::Queue,
        Effect::LookAndQueue,
        Effect::Leave,
        Effect::Notify,
        Effect::Take,
        Effect::TryTake,
        Effect::Peek,
        Effect::Give,
        Effect::Share,
        Effect::TryShare,
        Effect::Unshare,
        Effect::Pass,
        Effect::Draw,
        Effect::TryDraw,
        Effect::SeeNone,
        Effect::Post,
        Effect::Arrive,
        Effect::ArriveBeforeLast,
        Effect::ArriveLast,
        Effect::Begin,
        Effect::Finish,
        Effect::Join,
        Effect::Detach,
        Effect::Whole,
        Effect::LookInOrder,
    ];

    const fn commutes_with(self, other: Effect) -> bool {
        matches!((rule(self, other), rule(other, self)), (Conflict::No, Conflict::No))
    }

    /// What an op may do to its object.
    pub const fn of(kind: OpKind) -> Effect {
        match kind {
            OpKind::Fence | OpKind::Yield | OpKind::Sleep | OpKind::Any => Effect::Nothing,
            OpKind::Read | OpKind::AtomicLoad | OpKind::Query => Effect::Look,
            OpKind::Call
            | OpKind::Write
            | OpKind::ReadWrite
            | OpKind::AtomicStore
            | OpKind::AtomicRmw
            | OpKind::AtomicCas => Effect::Change,
            OpKind::FutexNotify | OpKind::Signal | OpKind::Broadcast => Effect::Notify,
            OpKind::FutexWake | OpKind::CondWake => Effect::Leave,
            OpKind::FutexWait => Effect::LookAndQueue,
            OpKind::CondWait => Effect::Queue,
            OpKind::Lock | OpKind::WriteLock | OpKind::OnceEnter => Effect::Take,
            OpKind::TryLock | OpKind::TryWriteLock => Effect::TryTake,
            OpKind::Unlock | OpKind::RwUnlock | OpKind::OnceDone | OpKind::OnceAbort => {
                Effect::Give
            }
            OpKind::ReadLock => Effect::Share,
            OpKind::TryReadLock => Effect::TryShare,
            OpKind::SemWait => Effect::Draw,
            OpKind::SemTryWait => Effect::TryDraw,
            OpKind::SemPost => Effect::Post,
            OpKind::BarrierArrive => Effect::ArriveLast,
            OpKind::BarrierLeave => Effect::Arrive,
            OpKind::Start => Effect::Begin,
            OpKind::Finish => Effect::Finish,
            OpKind::Join => Effect::Join,
            OpKind::Detach => Effect::Detach,
            _ => Effect::Whole,
        }
    }

    /// What a step has done to its object. A result may only take away what no third step could have given
    /// back: whether a wait on a variable joins the queue depends on the variable, so it counts as if it
    /// had, or a store in between would make two steps independent that are not.
    ///
    /// The release of a rwlock counts as one of a write lock; whoever knows that it was a read lock says
    /// [`Effect::Unshare`] instead. Likewise [`Effect::ArriveBeforeLast`].
    pub const fn done(kind: OpKind, flags: Flags, result: OpResult) -> Effect {
        let has_failed = matches!(result, OpResult::Busy | OpResult::TimedOut);
        match (Effect::of(kind), has_failed) {
            // It knows without a look at others.
            (Effect::Take | Effect::TryTake | Effect::Share | Effect::TryShare, _)
                if matches!(result, OpResult::WouldDeadlock) =>
            {
                Effect::Nothing
            }
            (Effect::Change, true) => Effect::Look,
            (Effect::Take | Effect::TryTake | Effect::Share | Effect::TryShare, true) => {
                Effect::Peek
            }
            (Effect::Draw | Effect::TryDraw, true) => Effect::SeeNone,
            (Effect::Take, false) if matches!(kind, OpKind::OnceEnter) => match result {
                OpResult::Chosen => Effect::Take,
                _ => Effect::Pass,
            },
            // It would have ended at its deadline.
            (Effect::Take, false) if flags.has(Flags::TIMED) => Effect::TryTake,
            (Effect::Share, false) if flags.has(Flags::TIMED) => Effect::TryShare,
            (Effect::Draw, false) if flags.has(Flags::TIMED) => Effect::TryDraw,
            (Effect::Join, _) if flags.has(Flags::TIMED) => Effect::Whole,
            (Effect::ArriveLast, _) if !matches!(result, OpResult::Chosen) => Effect::Arrive,
            // Whoever was called out of a queue, or let go by a barrier, does nothing to it any more.
            (Effect::Arrive, _) => Effect::Nothing,
            (Effect::Leave, _) if !flags.has(Flags::TIMED) && !flags.has(Flags::SPURIOUS) => {
                Effect::Nothing
            }
            (it, _) => it,
        }
    }

    /// What an op does to the mutex beside its condition variable; a wait whose time is over may have to
    /// wait for its mutex.
    pub const fn of_other(kind: OpKind, result: OpResult) -> Effect {
        match kind {
            OpKind::CondWait => Effect::Give,
            OpKind::CondWake if matches!(result, OpResult::Busy) => Effect::Nothing,
            OpKind::CondWake => Effect::Take,
            // At a condition variable of Rust's std: what happens to its mutex has steps of its own, or none.
            OpKind::AtomicLoad | OpKind::AtomicRmw => Effect::Nothing,
            _ => Effect::Whole,
        }
    }
}

/// Whether the order of two uses of one object matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conflict {
    /// It does not.
    No,
    /// The first may be what lets the second go on; otherwise it does not.
    Enables,
    /// It does, but where the second is possible, the first is not, or the reverse.
    Ordered,
    /// It does, and both may be possible in one state.
    Race,
}

/// Whether the order of two uses of one object by different threads, this one first, matters.
#[inline]
pub const fn conflict(first: Effect, second: Effect) -> Conflict {
    CONFLICTS[first as usize][second as usize]
}

/// A search asks all the time, and branches on it can't be foretold.
static CONFLICTS: [[Conflict; Effect::ALL.len()]; Effect::ALL.len()] = {
    let mut all = [[Conflict::No; Effect::ALL.len()]; Effect::ALL.len()];
    let mut idx = 0;
    while idx < Effect::ALL.len() * Effect::ALL.len() {
        let (first, second) = (idx / Effect::ALL.len(), idx % Effect::ALL.len());
        all[first][second] = rule(Effect::ALL[first], Effect::ALL[second]);
        idx += 1;
    }
    all
};

const fn rule(first: Effect, second: Effect) -> Conflict {
    use Conflict::*;
    use Effect::*;
    match (first, second) {
        (Nothing, _) | (_, Nothing) => No,
        (Begin, Whole) | (Whole, Begin) => Ordered,
        (Begin, _) | (_, Begin) => No,
        (Whole, _) | (_, Whole) => Race,
        // Variables, and the queues at them and at condition variables.
        (Look | LookInOrder, LookAndQueue) | (LookAndQueue, Look | LookInOrder) => No,
        (Look, Look | LookInOrder) | (LookInOrder, Look) => No,
        (Look | LookInOrder | Change, Notify | Leave | Queue)
        | (Notify | Leave | Queue, Look | LookInOrder | Change) => No,
        (Leave, Leave) => No,
        // Locks: what waits for one to be given back is not possible before.
        (Peek | Pass, Peek | Pass) => No,
        (Share | TryShare | Unshare, Share | TryShare | Unshare) => No,
        (Give | Unshare, Take) | (Give, Share | Pass) | (Give | Unshare, Give | Unshare) => Ordered,
        (Take | TryTake, Give | Unshare) | (Share | TryShare, Give) => Ordered,
        (Peek | Pass, Take) => Ordered,
        // Counts.
        (Post, Draw) => Enables,
        (Draw, Post) => No,
        (SeeNone, Draw) => Ordered,
        (SeeNone, SeeNone) => No,
        // Barriers.
        (Arrive | ArriveBeforeLast, Arrive | ArriveBeforeLast) => No,
        // Threads.
        (Finish, Join) | (Join, Finish) => Ordered,
        (Finish, Detach) | (Detach, Finish) => No,
        _ => Race,
    }
}

/// What ops of each kind may do, as a table: this is asked at every step, and branches on it can't be foretold.
#[derive(Clone, Copy)]
struct EffectOf {
    /// One bit: which effect it is.
    bit: u32,
    /// The bits of all effects that commute with it.
    commuting: u32,
    /// May it concern more than the objects it names?
    is_wide: bool,
}

const EFFECTS: [EffectOf; OpKind::ALL.len()] = {
    let mut effects = [EffectOf { bit: 0, commuting: 0, is_wide: false }; OpKind::ALL.len()];
    let mut idx = 0;
    while idx < effects.len() {
        let kind = OpKind::ALL[idx];
        let effect = Effect::of(kind);
        let mut other = 0;
        while other < Effect::ALL.len() {
            if effect.commutes_with(Effect::ALL[other]) {
                effects[idx].commuting |= 1 << other;
            }
            other += 1;
        }
        effects[idx].bit = 1 << effect as u8;
        effects[idx].is_wide = kind.is_wide();
        idx += 1;
    }
    effects
};

#[inline]
const fn commute(a: EffectOf, b: EffectOf) -> bool {
    a.commuting & b.bit != 0
}

impl OpKind {
    /// May an op of this kind depend on ops of other threads that name other objects?
    #[inline]
    pub const fn is_wide(self) -> bool {
        let is_listed = matches!(
            self,
            OpKind::Exit
                | OpKind::Fork
                | OpKind::Spawn
                | OpKind::Kill
                | OpKind::Handle
                | OpKind::SigWait
                | OpKind::Free
        );
        is_listed || self.is_io()
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
            check(Fork, *kind, true, true);
        }
        check(Io, Io, true, true);
        check(IoRead, IoWrite, true, true);
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
