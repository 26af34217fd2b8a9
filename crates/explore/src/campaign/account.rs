//! What a search has come to so far, beside where it stands: findings, and what limits its claims.
//!
//! A search that goes on in another process must not forget what an earlier part of it has seen: that there
//! were failures, executions that could not be followed, or operations that are explored only in part.

use std::collections::BTreeSet;

use raddle_model::{Flags, OpKind, Uncontrolled};
use raddle_plan::search::{Run, Step};
use serde::{Deserialize, Serialize};

use super::{Found, Outcome};

/// What the parts of a search so far have come to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Account {
    /// Findings: how often, and by which execution first.
    pub found: Vec<FoundCount>,
    /// Executions that failed in a way that the user does not want to hear of.
    pub n_suppressed: u64,
    /// Executions that did not come to an end of their own.
    pub n_inconclusive: u64,
    /// Those that were cut short at the step limit.
    #[serde(default)]
    pub n_spent: u64,
    /// Executions in which accesses were left out, because there were too many.
    pub n_thinned: u64,
    /// Executions that read clocks, while there were other threads.
    pub n_clocked: u64,
    /// Executions in which several threads allocated memory.
    pub n_allocating: u64,
    /// Repetitions of the first execution that were not like it.
    pub n_unlike: u64,
    /// What could not be controlled.
    pub uncontrolled: Vec<Uncontrolled>,
}

/// How often a finding was met.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FoundCount {
    /// What the user calls it.
    pub id: String,
    /// How often.
    pub count: u64,
    /// By which execution first.
    pub first: u64,
}

impl FoundCount {
    /// That of a finding.
    pub fn of(found: &Found) -> FoundCount {
        FoundCount { id: found.id.clone(), count: found.count, first: found.first }
    }
}

impl Account {
    /// What a campaign has come to.
    pub fn of(outcome: &Outcome) -> Account {
        Account {
            found: outcome.findings.iter().map(FoundCount::of).collect(),
            n_suppressed: outcome.n_suppressed(),
            n_inconclusive: outcome.figures.n_inconclusive,
            n_spent: outcome.figures.n_spent,
            n_thinned: outcome.figures.n_thinned,
            n_clocked: outcome.n_clocked,
            n_allocating: outcome.n_allocating,
            n_unlike: outcome.n_unlike,
            uncontrolled: outcome.uncontrolled.clone(),
        }
    }

    /// Does it say the same as that of `outcome`, but for how often? Asked after each execution, so it copies nothing.
    pub(super) fn is_about(&self, outcome: &Outcome) -> bool {
        self.found.len() == outcome.findings.len()
            && self.uncontrolled.len() == outcome.uncontrolled.len()
            && (self.n_suppressed == 0) == (outcome.n_suppressed() == 0)
            && self.n_inconclusive == outcome.figures.n_inconclusive
            && self.n_spent.min(1) == outcome.figures.n_spent.min(1)
            && self.n_thinned.min(1) == outcome.figures.n_thinned.min(1)
            && self.n_clocked.min(1) == outcome.n_clocked.min(1)
            && self.n_allocating.min(1) == outcome.n_allocating.min(1)
            && self.n_unlike == outcome.n_unlike
    }
}

/// An earlier part of a search, as a campaign that goes on with it knows it.
#[derive(Clone, Debug, Default)]
pub struct Earlier {
    /// Its findings that are still there.
    pub findings: Vec<Found>,
    /// What it came to.
    pub account: Account,
}

impl Earlier {
    /// Findings of which nothing but the number is left.
    pub(super) fn n_gone(&self) -> u64 {
        let is_there = |id: &str| self.findings.iter().any(|it| it.id == id);
        self.account.found.iter().filter(|it| !is_there(&it.id)).count() as u64
    }
}

/// What executions made use of that a search explores only in part.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Uses {
    /// Places of atomics and fences that are weaker than sequentially consistent, by name.
    pub weak: BTreeSet<u64>,
    /// Places of accesses to volatile objects.
    pub volatile: BTreeSet<u64>,
    /// Places where a thread yielded, or waited in a loop, so that others had to go first.
    pub yields: BTreeSet<u64>,
    /// Threads sent signals, or cancelled others.
    pub signals: bool,
    /// Threads waited on condition variables.
    pub waits: bool,
    /// Waits had deadlines.
    pub timed: bool,
    /// Threads were woken, or took from a count, by one of several that could have let them go on.
    pub wakes: bool,
}

impl Uses {
    /// Looks at one more execution.
    pub(super) fn look(&mut self, run: &Run) {
        let place = |step: &Step| run.sites.get(step.site.0 as usize).copied().unwrap_or_default();
        for step in &run.steps {
            if step.op().is_yield() {
                self.yields.insert(place(step));
            }
            let places = match step.kind {
                _ if step.is_weak => &mut self.weak,
                _ if step.flags.has(Flags::VOLATILE) => &mut self.volatile,
                kind => {
                    self.signals |= matches!(kind, OpKind::Kill | OpKind::Cancel);
                    self.waits |= kind == OpKind::CondWait;
                    self.wakes |= matches!(
                        kind,
                        OpKind::CondWake
                            | OpKind::FutexWait
                            | OpKind::FutexWake
                            | OpKind::SemWait
                            | OpKind::SemTryWait
                    );
                    self.timed |= step.flags.has(Flags::TIMED);
                    continue;
                }
            };
            places.insert(place(step));
        }
    }
}
