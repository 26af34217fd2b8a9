//! What every report of a finding is made from.

use raddle_model::{Explanation, Finding, Reproduced};

/// A finding, with what is known around it.
#[derive(Clone, Copy, Debug)]
pub struct Shown<'a> {
    /// What went wrong.
    pub finding: &'a Finding,
    /// The name that commands take; empty if it has none, because it was not kept.
    pub id: &'a str,
    /// The campaign's seed, if it is known.
    pub seed: Option<u64>,
    /// How often it came back when its plan was run again, if that was tried.
    pub reproduced: Option<Reproduced>,
    /// The directory below which paths are shown without it; empty for none.
    pub base: &'a str,
    /// Why it happens, if that was looked into.
    pub explanation: Option<&'a Explanation>,
    /// The test that shows it, if it is one of a suite: `queue tests::two_pushers`.
    pub test: Option<&'a str>,
}
