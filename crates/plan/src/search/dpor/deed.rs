//! What a step does to which objects: all that partial order reduction wants to know about it.

use raddle_model::{Conflict, Effect, Flags, MemoryModel, OpKind, OpResult, conflict};
use serde::{Deserialize, Serialize};

use crate::search::{ObjectName, Pending, Step};

/// Objects that no program sees.
const THREADS: u64 = 2;
const DESCRIPTORS: u64 = 4;
const SIGNALS: u64 = 6;
const TIME: u64 = 8;
/// The one order of sequentially consistent fences, where memory is weak; under TSO, that of all stores.
pub(super) const FENCES: u64 = 10;

/// The objects of a step, by the names that they have in all executions, and what it does to each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Deed {
    /// The object, the mutex beside it (or the order of fences), and what no op names: the block that the object is in,
    /// the order of threads. The name is 0 where there is none.
    pub(crate) uses: [(u64, Effect); 3],
}

impl Deed {
    /// What a step has done.
    pub(crate) fn done(step: &Step, objects: &[ObjectName], marks: Marks) -> Deed {
        let mut on_object = Effect::done(step.kind, marks.flags(step.flags), step.result);
        if on_object == Effect::Arrive && step.value == 1 {
            on_object = Effect::ArriveBeforeLast;
        }
        let on_other = match Effect::of_other(step.kind, step.result) {
            // Its time was over: had the mutex been held, it would have left the queue only.
            Effect::Take if marks.is_over && !marks.has_left => Effect::TryTake,
            Effect::Nothing if step.kind == OpKind::CondWake => Effect::Peek,
            it => it,
        };
        Deed::new(
            &step.op(),
            objects,
            (step.object.idx(), on_object),
            (step.other.idx(), on_other),
            marks,
        )
    }

    /// What a pending op may do.
    pub(crate) fn pending(op: &Pending, objects: &[ObjectName], marks: Marks) -> Deed {
        let on_object = match Effect::of(op.kind) {
            // Nothing, unless it has a deadline.
            Effect::Leave | Effect::Arrive => {
                Effect::done(op.kind, marks.flags(op.flags), OpResult::Done)
            }
            it if !marks.is_timed => it,
            _ => Effect::done(op.kind, marks.flags(op.flags), OpResult::Done),
        };
        let on_other = match Effect::of_other(op.kind, OpResult::Done) {
            Effect::Take if marks.is_timed && !marks.has_left => Effect::TryTake,
            it => it,
        };
        Deed::new(op, objects, (op.object.idx(), on_object), (op.other.idx(), on_other), marks)
    }

    fn new(
        op: &Pending,
        objects: &[ObjectName],
        mut object: (usize, Effect),
        mut other: (usize, Effect),
        marks: Marks,
    ) -> Deed {
        let kind = op.kind;
        match object.1 {
            Effect::Give if marks.is_read => object.1 = Effect::Unshare,
            Effect::Leave if marks.has_left => object.1 = Effect::Nothing,
            _ => {}
        }
        if marks.is_nested {
            match kind {
                OpKind::CondWait | OpKind::CondWake => other.1 = Effect::Nothing,
                _ => object.1 = Effect::Nothing,
            }
        }
        let name = |idx: usize| objects.get(idx).copied().unwrap_or_default();
        let of_object = name(object.0);
        let beyond = match kind {
            OpKind::Spawn => (THREADS, Effect::Whole),
            kind if kind.is_io() => (DESCRIPTORS, Effect::Whole),
            OpKind::Kill | OpKind::Handle | OpKind::SigWait | OpKind::Cancel => {
                (SIGNALS, Effect::Whole)
            }
            OpKind::Free => (of_object.block, Effect::Whole),
            // A deadline that passes lets all earlier ones pass, and ends the waits that they were for; then
            // nobody is there to be called.
            OpKind::CondWake | OpKind::FutexWake if marks.is_timed && !marks.has_left => {
                (TIME, Effect::Whole)
            }
            _ if marks.is_timed => (TIME, Effect::TryShare),
            OpKind::Signal | OpKind::Broadcast | OpKind::FutexNotify => (TIME, Effect::Peek),
            kind if kind.is_access() => (of_object.block, Effect::Share),
            _ => (0, Effect::Nothing),
        };
        let of_other = (name(other.0).name, other.1);
        let deed = Deed { uses: [(of_object.name, object.1), of_other, beyond] };
        match marks.memory {
            MemoryModel::Sc => deed,
            MemoryModel::Tso => deed.buffered(op),
            MemoryModel::C11 => deed.weakly(op, marks.is_in_order),
        }
    }

    /// What an op does under total store order. All stores have one order, and whoever reads one sees all that were made before
    /// it. What empties its thread's buffer comes after all stores that were made before. Loads matter to the
    /// stores to their location only.
    fn buffered(mut self, op: &Pending) -> Deed {
        match op.kind {
            OpKind::AtomicStore | OpKind::AtomicRmw | OpKind::AtomicCas => {
                self.uses[0].1 = Effect::Change;
                self.uses[1] = (FENCES, Effect::Change);
            }
            OpKind::Fence if !op.is_weak => self.uses[1] = (FENCES, Effect::Look),
            kind if kind.empties_buffers() => {
                // There is room for one name beyond the objects: what shares it is taken for dependent.
                let how = if self.uses[2].0 == 0 { Effect::Look } else { Effect::Whole };
                self.uses[2] = (FENCES, how);
            }
            _ => {}
        }
        self
    }

    /// What an op does where what an atomic reads is a choice. The choice is part of the step, so two steps may be
    /// exchanged if each has the same ways in both orders.
    ///
    /// - Two loads of one location have, unless both are sequentially consistent: then the second one reads nothing older
    ///   than the first. If all stores are so as well, both read the last one anyway.
    /// - Fences that are sequentially consistent have an order, and an op that is so comes after all earlier ones of
    ///   those. Other fences and ops know only what their own thread does.
    /// - A compare-exchange may be another one in each way: it always counts as a store, and by its order of success and
    ///   that of failure.
    fn weakly(mut self, op: &Pending, is_in_order: bool) -> Deed {
        let is_cas = op.kind == OpKind::AtomicCas;
        let reads_the_last = op.kind == OpKind::AtomicLoad && is_in_order;
        if !op.kind.is_atomic() || op.is_weak && !is_cas || reads_the_last {
            return self;
        }
        let on_fences = if op.kind == OpKind::Fence { Effect::Change } else { Effect::Look };
        self.uses[1] = (FENCES, on_fences);
        match op.kind {
            OpKind::AtomicLoad => self.uses[0].1 = Effect::LookInOrder,
            OpKind::AtomicCas => self.uses[0].1 = Effect::Change,
            _ => {}
        }
        self
    }

    /// Does it matter which comes first, in a state in which both are possible? That the one may let the
    /// other go on does not count then; and of two arrivals at a barrier that needs two, one is the last.
    pub(crate) fn is_dependent(&self, other: &Deed) -> bool {
        self.uses.iter().any(|(name, it)| {
            *name != 0
                && other.uses.iter().any(|(other_name, other)| {
                    name == other_name && (matters(*it, *other) || matters(*other, *it))
                })
        })
    }
}

const fn matters(first: Effect, second: Effect) -> bool {
    use Effect::{Arrive, ArriveBeforeLast};
    matches!(conflict(first, second), Conflict::Ordered | Conflict::Race)
        || matches!((first, second), (Arrive | ArriveBeforeLast, ArriveBeforeLast))
}

/// What is known about a step beside what it says itself.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Marks {
    /// A rwlock that is given back was shared.
    pub(crate) is_read: bool,
    /// The thread had the lock before, or still has it.
    pub(crate) is_nested: bool,
    /// It has left the queue in a step before, and only waits for its mutex.
    pub(crate) has_left: bool,
    /// Its wait ended by itself.
    pub(crate) is_over: bool,
    /// Its wait could have ended by itself, although others could go on.
    pub(crate) is_timed: bool,
    /// What atomics may read.
    pub(crate) memory: MemoryModel,
    /// All stores to the location so far are sequentially consistent.
    pub(crate) is_in_order: bool,
}

impl Marks {
    /// A deadline that can't pass while others can go on is none; a wait that may end for no reason has one.
    fn flags(self, flags: Flags) -> Flags {
        if self.is_timed || self.is_over {
            flags.with(Flags::TIMED)
        } else {
            Flags(flags.0 & !Flags::TIMED.0)
        }
    }
}
