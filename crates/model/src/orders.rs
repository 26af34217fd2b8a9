//! What the order of two accesses that race changes.

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use crate::{Fault, Kind, Place};

/// What came of both orders of two accesses, run from the same moment on, with nothing else changed.
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BothOrders {
    /// In the order of [`Evidence::accesses`](crate::Evidence::accesses), then the other way round.
    pub outcomes: [Outcome; 2],
}

/// What came of one order.
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// How the execution failed; `None` if it ended well.
    pub failure: Option<(Kind, Fault)>,
    /// What each access read, in the order of [`Evidence::accesses`](crate::Evidence::accesses); `None` of one that reads nothing, or was not
    /// made.
    pub reads: [Option<u64>; 2],
    /// What the memory held when somebody read it next, and where.
    pub next_read: Option<(u64, Place)>,
    /// A hash of what the program wrote.
    pub output: u64,
}

/// What the order of two accesses changes, the worst first.
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize), serde(rename_all = "kebab-case"))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Change {
    /// How the execution ends.
    End,
    /// What the program writes.
    Output,
    /// A value that is read.
    Value,
    /// Nothing that was looked at.
    Nothing,
}

impl BothOrders {
    /// What differs between the two orders.
    pub fn change(&self) -> Change {
        let [one, other] = &self.outcomes;
        // What is read next somewhere else says nothing.
        let next = |it: &Outcome| it.next_read.clone();
        let is_next_other = match (next(one), next(other)) {
            (Some(a), Some(b)) => a.1 == b.1 && a.0 != b.0,
            _ => false,
        };
        if one.failure != other.failure {
            Change::End
        } else if one.output != other.output {
            Change::Output
        } else if one.reads != other.reads || is_next_other {
            Change::Value
        } else {
            Change::Nothing
        }
    }
}
