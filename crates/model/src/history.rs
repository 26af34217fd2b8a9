//! Operations of a data structure as several threads called them, and why no order of them explains what they returned.

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use crate::ThreadId;

/// What no order explains.
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct History {
    /// Which orders were tried.
    pub consistency: Consistency,
    /// By the moment when they took effect at the earliest.
    pub operations: Vec<Operation>,
    /// The longest order that explains all that is in it: indices into the operations.
    pub explained: Vec<u32>,
    /// After that order: what each operation that could come next would have done.
    pub refused: Vec<Refused>,
}

/// Which orders of operations explain a history.
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize), serde(rename_all = "kebab-case"))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Consistency {
    /// Those that keep the order of operations that do not overlap (Herlihy and Wing, 1990).
    #[default]
    Linearizable,
    /// Those that keep each thread's order (Lamport, 1979).
    Sequential,
    /// Those that keep the order of operations between which no operation was running (Aspnes, Herlihy, Shavit, 1994).
    Quiescent,
}

impl Consistency {
    const ALL: [Consistency; 3] =
        [Consistency::Linearizable, Consistency::Sequential, Consistency::Quiescent];

    /// The one with this number, if there is one.
    pub fn from_number(number: u8) -> Option<Consistency> {
        Consistency::ALL.get(usize::from(number)).copied()
    }
}

/// A call of an operation.
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Operation {
    /// Who called it.
    pub thread: ThreadId,
    /// `push(1)`.
    pub call: String,
    /// What it returned; `None` if it has not returned.
    pub result: Option<String>,
    /// Steps of the execution before its first one.
    pub invoked: u64,
    /// Steps of the execution before it returned.
    pub returned: u64,
}

/// An operation that could come next, but does not fit.
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Refused {
    /// Its index.
    pub operation: u32,
    /// What it would return there; `None` if it would block, or has not returned and would not block.
    pub expected: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::Consistency;

    #[test]
    fn numbers_come_back() {
        for it in Consistency::ALL {
            assert_eq!(Consistency::from_number(it as u8), Some(it));
        }
        assert_eq!(Consistency::from_number(3), None);
    }
}
