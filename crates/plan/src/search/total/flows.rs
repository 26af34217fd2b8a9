//! What flows where in the program's code, by places: which reads decide a branch, an address, a lock, or the
//! value of a write.
//!
//! A place that is not listed is not known: whatever its thread does then depends on every earlier read. So
//! the empty table is right for every program, and makes total replay as dear as reachability testing.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// See the module. Places are names of sites, equal in all executions ([`super::super::Run::sites`]).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
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
}

/// Something that reads decide.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sink {
    /// Where.
    pub place: u64,
    /// What.
    pub kind: SinkKind,
    /// The places of the reads. Sorted.
    pub reads: Vec<u64>,
}

/// What is decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SinkKind {
    /// Which way a branch goes.
    Branch,
    /// What an access is to, or which lock is taken.
    Reference,
    /// What is written: it decides nothing by itself, but others read it.
    Value,
}

impl Flows {
    /// Adds a sink, and says so at its reads.
    pub fn add_sink(&mut self, sink: Sink) {
        let number = self.sinks.len() as u32;
        for read in &sink.reads {
            self.reads.entry(*read).or_default().push(number);
        }
        self.sinks.push(sink);
    }

    /// Does a read decide more than what is written?
    pub fn decides(&self, place: u64) -> bool {
        let is_end = |it: &u32| self.sinks[*it as usize].kind != SinkKind::Value;
        self.sinks_of(place).is_none_or(|it| it.iter().any(is_end))
    }

    /// The sinks of a read; `None` if they are not known.
    pub fn sinks_of(&self, place: u64) -> Option<&[u32]> {
        self.reads.get(&place).map(Vec::as_slice)
    }
}
