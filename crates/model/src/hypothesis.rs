//! Schedules that no execution has shown, and that what executions have shown makes worth a try.

use std::fmt;

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use crate::PlaceOrder;

/// Why a schedule is worth a try.
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize), serde(rename_all = "kebab-case"))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Family {
    /// Threads take locks in a cycle.
    Cycle,
    /// A place is left to last: whoever comes there waits for as long as anybody else can go on.
    #[default]
    Late,
    /// Another thread's access comes between two of one thread.
    Torn,
    /// Another thread changes two objects between the accesses that one thread has to them.
    Across,
    /// Two accesses come in the other order.
    Order,
    /// Two places are left to last.
    Twice,
    /// A place is left to last, or comes in the other order, for one only of the objects that it is about.
    Object,
}

impl Family {
    /// All of them.
    pub const ALL: [Family; 7] = [
        Family::Cycle,
        Family::Late,
        Family::Torn,
        Family::Across,
        Family::Order,
        Family::Twice,
        Family::Object,
    ];

    /// The family of a number.
    pub const fn from_number(number: u32) -> Option<Family> {
        if number < Family::ALL.len() as u32 { Some(Family::ALL[number as usize]) } else { None }
    }

    /// Its name, as the user writes it.
    pub const fn name(self) -> &'static str {
        match self {
            Family::Cycle => "cycle",
            Family::Late => "late",
            Family::Torn => "torn",
            Family::Across => "across",
            Family::Order => "order",
            Family::Twice => "twice",
            Family::Object => "object",
        }
    }
}

impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Hypotheses of a family that are known, and how many of them were tried.
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tried {
    /// Which family.
    pub family: Family,
    /// Hypotheses that executions have suggested.
    pub known: u64,
    /// Those of them that were tried at least once.
    pub tried: u64,
    /// Those of them of which there is little left to hope for: see [`Kept`].
    #[cfg_attr(feature = "serde", serde(default))]
    pub refuted: u64,
}

/// Did an execution come as its hypothesis asks?
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u32)]
pub enum Kept {
    /// It had none, or it is not known.
    #[default]
    Unknown,
    /// It did not come to one of the places.
    Unreached,
    /// It came to them, in another order: those who waited were all that could go on.
    Broken,
    /// Yes.
    Yes,
}

impl Kept {
    /// What a number says.
    pub const fn from_number(number: u32) -> Kept {
        match number {
            1 => Kept::Unreached,
            2 => Kept::Broken,
            3 => Kept::Yes,
            _ => Kept::Unknown,
        }
    }
}

/// Orders of places that are worth a try.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hypothesis {
    /// Why.
    pub family: Family,
    /// Which.
    pub orders: [PlaceOrder; 2],
}
