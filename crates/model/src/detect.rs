//! Which detectors are on.

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

/// What to look for beside executions that fail.
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Detect {
    /// Data races, by happens-before.
    pub races: bool,
    /// Accesses without a lock that all others hold.
    pub locksets: bool,
    /// Deadlocks that could have been.
    pub deadlocks: bool,
    /// Accesses of others in the midst of what was meant to be one.
    pub atomicity: bool,
}

impl Detect {
    /// Nothing.
    pub const NONE: Detect =
        Detect { races: false, locksets: false, deadlocks: false, atomicity: false };

    /// Is anything looked for that takes whole traces?
    pub const fn predicts(self) -> bool {
        self.locksets || self.deadlocks || self.atomicity
    }
}
