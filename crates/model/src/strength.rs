//! Memory orders in place of those in the source: is an order too weak, could it be weaker?
//!
//! A plan can say with which order an atomic op at a place of the program is performed. The program is the same, and so is
//! all else that it does.

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use crate::{MemoryOrder, OpKind, Place, hash_bytes};

/// The order with which all atomic ops, or fences, of one place are performed.
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OrderAt {
    /// A hash of the module's file name, as [`OrderAt::module`] makes it.
    pub module: u64,
    /// Where in the module: the return address of the op's hook.
    pub offset: u64,
    /// The order. Of a compare-exchange that fails, what of it is a load's.
    pub order: MemoryOrder,
}

impl OrderAt {
    /// The most that a plan may carry.
    pub const MAX: usize = 1 << 12;

    /// What a module is known by, from one build's execution to the next, wherever it is.
    pub fn module(path: &str) -> u64 {
        hash_bytes(path.rsplit('/').next().unwrap_or(path).as_bytes())
    }
}

/// An atomic op or fence in the source, with the order that it has there and another one.
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reordered {
    /// Which place of the program, and the other order.
    pub at: OrderAt,
    /// Where in the source.
    pub place: Place,
    /// What it does.
    pub kind: OpKind,
    /// What the program calls the variable; empty of a fence, and where it is not always the same.
    pub variable: String,
    /// The order in the source.
    pub from: MemoryOrder,
}

/// What stands behind the claim that no execution fails.
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Support {
    /// All schedules and all choices of memory were explored; else it was tested only.
    pub is_proved: bool,
    /// In so many executions.
    pub n_executions: u64,
}

/// Which memory orders of a program are too weak for it.
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize), serde(rename_all = "kebab-case"))]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Weakness {
    /// With these ones stronger, it does not fail.
    Repaired(Repair),
    /// It fails even if all atomics and fences of the program (so many places) are sequentially consistent.
    NotOrders {
        /// How many places.
        n_places: u64,
    },
    /// There was no time to find out.
    Undecided,
}

/// Memory orders with which a program does not fail.
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Repair {
    /// What must be stronger. None of these can be left out.
    pub changes: Vec<Reordered>,
    /// How it is known that this is enough.
    pub support: Support,
    /// Was every set of fewer places seen to fail?
    pub is_smallest: bool,
    /// Did other failures remain, so that only this one counted?
    pub others_remain: bool,
}

impl MemoryOrder {
    /// As it is written in the source, without prefix.
    pub const fn word(self) -> &'static str {
        match self {
            MemoryOrder::Relaxed => "relaxed",
            MemoryOrder::Acquire => "acquire",
            MemoryOrder::Release => "release",
            MemoryOrder::AcqRel => "acq_rel",
            MemoryOrder::SeqCst => "seq_cst",
        }
    }

    /// What of it a load has; that is the order of a compare-exchange that fails.
    pub const fn of_load(self) -> MemoryOrder {
        match self {
            MemoryOrder::Relaxed | MemoryOrder::Release => MemoryOrder::Relaxed,
            MemoryOrder::Acquire | MemoryOrder::AcqRel => MemoryOrder::Acquire,
            MemoryOrder::SeqCst => MemoryOrder::SeqCst,
        }
    }

    /// The orders that such an op can have, none before a weaker one. A relaxed fence is none.
    pub const fn of_kind(kind: OpKind) -> &'static [MemoryOrder] {
        use MemoryOrder::{AcqRel, Acquire, Relaxed, Release, SeqCst};
        match kind {
            OpKind::AtomicLoad => &[Relaxed, Acquire, SeqCst],
            OpKind::AtomicStore => &[Relaxed, Release, SeqCst],
            OpKind::AtomicRmw | OpKind::AtomicCas | OpKind::Fence => {
                &[Relaxed, Acquire, Release, AcqRel, SeqCst]
            }
            _ => &[],
        }
    }

    /// Does it forbid all that the other one forbids, and more?
    pub const fn is_stronger_than(self, other: MemoryOrder) -> bool {
        let implies = (self.is_acquire() || !other.is_acquire())
            && (self.is_release() || !other.is_release());
        match (self, other) {
            (MemoryOrder::SeqCst, MemoryOrder::SeqCst) => false,
            (MemoryOrder::SeqCst, _) => true,
            (_, MemoryOrder::SeqCst) => false,
            _ => implies && self as u8 != other as u8,
        }
    }

    /// Of two orders in one chain the stronger, or the weaker one.
    const fn limited(self, by: MemoryOrder, is_raised: bool) -> MemoryOrder {
        let is_stronger = by.is_stronger_than(self);
        if is_stronger == is_raised { by } else { self }
    }

    /// With which order a compare-exchange fails that had these two orders, if it is performed with another one: not
    /// weaker than before if that is stronger, not stronger if it is weaker.
    pub const fn failing(
        success: MemoryOrder,
        failure: MemoryOrder,
        now: MemoryOrder,
    ) -> MemoryOrder {
        let load = now.of_load();
        if now as u8 == success as u8 {
            failure
        } else {
            failure.limited(load, now.is_stronger_than(success))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use MemoryOrder::{AcqRel, Acquire, Relaxed, Release, SeqCst};

    #[test]
    fn orders_are_a_lattice() {
        assert!(SeqCst.is_stronger_than(AcqRel) && AcqRel.is_stronger_than(Acquire));
        assert!(AcqRel.is_stronger_than(Release) && Acquire.is_stronger_than(Relaxed));
        assert!(!Acquire.is_stronger_than(Release) && !Release.is_stronger_than(Acquire));
        for order in MemoryOrder::of_kind(OpKind::AtomicRmw) {
            assert!(!order.is_stronger_than(*order), "{order:?}");
        }
    }

    #[test]
    fn what_fails_follows() {
        assert_eq!(MemoryOrder::failing(Relaxed, Relaxed, AcqRel), Acquire);
        assert_eq!(MemoryOrder::failing(AcqRel, SeqCst, SeqCst), SeqCst);
        assert_eq!(MemoryOrder::failing(Release, Acquire, AcqRel), Acquire);
        assert_eq!(MemoryOrder::failing(SeqCst, SeqCst, Release), Relaxed);
        assert_eq!(MemoryOrder::failing(AcqRel, Relaxed, Acquire), Relaxed);
        assert_eq!(MemoryOrder::failing(AcqRel, Acquire, AcqRel), Acquire);
    }

    #[test]
    fn modules_are_known_by_their_names() {
        assert_eq!(OrderAt::module("/a/prog"), OrderAt::module("/b/c/prog"));
        assert_ne!(OrderAt::module("/a/prog"), OrderAt::module("/a/libx.so"));
    }
}
