//! What flows where in the program's code, by places: which reads decide a branch, an address, a lock, or the
//! value of a write.
//!
//! A place that is not listed is not known: whatever its thread does then depends on every earlier read. So
//! the empty table is right for every program, and makes total replay as dear as reachability testing.

use std::collections::BTreeMap;

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

/// See the module. Places are names of sites, equal in all executions.
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Flows {
    /// What reads decide.
    pub sinks: Vec<Sink>,
    /// By place of a read whose flow is known: the sinks that it decides.
    pub reads: BTreeMap<u64, Vec<u32>>,
    /// By place of a write whose value is known: the reads that flow into it, by place.
    pub writes: BTreeMap<u64, Vec<u64>>,
    /// Branches in the code that was looked at.
    pub n_branches: u64,
    /// Those of which it is not known what decides them.
    pub n_unknown: u64,
    /// By place of an access: the function that it is in, by number.
    #[cfg_attr(feature = "serde", serde(default))]
    pub functions: BTreeMap<u64, u32>,
    /// By place of a compare-exchange that takes one of Rust's locks: how.
    #[cfg_attr(feature = "serde", serde(default))]
    pub locks: BTreeMap<u64, Taken>,
}

/// How a lock is taken.
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum Taken {
    /// By one thread.
    #[default]
    Alone,
    /// For reading, by several.
    Shared,
}

/// Something that reads decide.
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sink {
    /// Where.
    pub place: u64,
    /// What.
    pub kind: SinkKind,
    /// The places of the reads. Sorted.
    pub reads: Vec<u64>,
    /// How an execution shows that a thread may have come to it.
    #[cfg_attr(feature = "serde", serde(default))]
    pub shown: Shown,
}

/// See [`Sink::shown`].
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum Shown {
    /// It does not: every thread may have.
    #[default]
    Never,
    /// It is at an access, and that is a step.
    AtPlace,
    /// Every way through its function to it and on has an access: a thread without one there was not there.
    InFunction(u32),
}

/// What is decided.
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum SinkKind {
    /// Which way a branch goes.
    Branch,
    /// What an access is to, or which lock is taken.
    Reference,
    /// What is written: it decides nothing by itself, but others read it.
    Value,
}

impl Flows {
    /// Adds a sink that is decided by anything, and says so at its reads.
    pub fn add_sink(&mut self, sink: Sink) {
        if sink.reads.is_empty() {
            return;
        }
        let number = self.sinks.len() as u32;
        for read in &sink.reads {
            self.reads.entry(*read).or_default().push(number);
        }
        self.sinks.push(sink);
    }

    /// The sinks of a read; `None` if they are not known.
    pub fn sinks_of(&self, place: u64) -> Option<&[u32]> {
        self.reads.get(&place).map(Vec::as_slice)
    }
}
