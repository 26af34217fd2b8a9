//! How sure a finding is, and why it is not surer: as data. Sentences are `report`'s.

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use crate::{NamedObject, Place};

/// How sure it is.
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize), serde(rename_all = "kebab-case"))]
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Certainty {
    /// It happened: the plan shows it.
    #[default]
    Shown,
    /// It follows from an execution that it could happen, and none has shown it: a warning.
    Potential(Box<Doubt>),
}

/// Why something is only potential.
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize), serde(rename_all = "kebab-case"))]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Doubt {
    /// Nothing has been tried.
    Untried,
    /// It would take another order of critical sections, or of waits, than that of the execution.
    OtherOrder,
    /// A schedule that should lead there went another way.
    Astray,
    /// Accesses that no lock has in common were not seen unordered: for the reason within, and with what is known of
    /// the locks that the variable's accesses hold.
    Unlocked(Box<Doubt>, LockUsage),
    /// That the second of two accesses was meant to come first is a guess.
    MeantFirst,
    /// That two accesses were meant to be one is a guess; by what, if it is more than that the execution fails.
    MeantAsOne(Option<Intention>),
    /// This library runs parts of the program and has no hooks: it may order the accesses.
    Library(String),
    /// There is an atomic instruction without hooks, which may order the accesses: here, if that is known.
    Unhooked(Place),
}

/// The locks that accesses to a variable hold.
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockUsage {
    /// Accesses in the execution.
    pub n_accesses: u64,
    /// The lock that most of them hold, and how many do; `None` if none is ever held.
    pub usual: Option<(NamedObject, u64)>,
}

/// By what two accesses seem to be meant to be one.
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize), serde(rename_all = "kebab-case"))]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Intention {
    /// What was read under this lock is written when that has been given back and taken again.
    Stale(NamedObject),
    /// What was seen under this lock is acted upon when that has been given back and taken again.
    Checked(NamedObject),
    /// The value that was loaded is replaced by another.
    Update,
    /// Sections of this lock, the first, write the variable together with the second.
    Together(Box<[NamedObject; 2]>),
}

/// What another schedule led to when it was tried.
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize), serde(rename_all = "kebab-case"))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remedy {
    /// The execution ends well if the second access comes before the first.
    OtherFirst,
    /// It ends well if the thread of the first access is not interrupted there.
    Uninterrupted,
}
