//! Verdicts on pairs of manners, kept (§5.4), and combinations of manners seen apart (Algorithm 12).
//!
//! A pair of equal manners has the same verdict in every execution, so a new execution asks only about pairs
//! that have a manner which is new. An execution of a race-equivalent group that was seen asks about none.
//!
//! Manners of two threads that were never in one execution are combined without one: if they are free of races
//! no execution is needed for them, else it is a *potential race*, worth an execution that has both.

use std::collections::{BTreeMap, BTreeSet};

use raddle_model::ThreadId;

use crate::{
    manners::{Manner, MannerUse, is_race},
    order::MustOrder,
};

/// What came of checking an execution.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checked {
    /// Pairs that were looked at.
    pub n_checked: u64,
    /// Pairs whose verdict was known.
    pub n_reused: u64,
    /// Pairs in a race, as numbers of manners: concurrent, in this execution.
    pub races: Vec<(usize, usize)>,
    /// No execution before had the same manners.
    pub is_new_group: bool,
}

/// Manners that were seen apart, and would be in a race if they came together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PotentialRace {
    /// A thread, its manner by fingerprint, and the execution that showed it.
    pub first: (ThreadId, u64, u64),
    /// The other.
    pub second: (ThreadId, u64, u64),
}

/// See the module.
#[derive(Clone, Debug, Default)]
pub struct Checker {
    verdicts: BTreeMap<(u64, u64), bool>,
    groups: BTreeSet<Vec<(ThreadId, u64)>>,
    pool: BTreeMap<(ThreadId, u64), (Manner, u64)>,
    /// Pairs that were in one execution, the smaller thread first.
    together: BTreeSet<((ThreadId, u64), (ThreadId, u64))>,
    n_executions: u64,
    /// Of all executions.
    pub n_checked: u64,
    /// Of all executions.
    pub n_reused: u64,
    /// Pairs that were never in one execution, and were looked at all the same.
    pub n_combined: u64,
}

impl Checker {
    /// Checks the manners of an execution.
    pub fn check(&mut self, uses: &[MannerUse], order: &MustOrder) -> Checked {
        let mut by_manner: BTreeMap<(ThreadId, u64), Vec<usize>> = BTreeMap::new();
        for (idx, it) in uses.iter().enumerate() {
            by_manner.entry((it.thread, it.manner.fingerprint())).or_default().push(idx);
        }
        let group: Vec<(ThreadId, u64)> = by_manner.keys().copied().collect();
        let mut checked = Checked { is_new_group: self.groups.insert(group), ..Checked::default() };
        for (key, all) in &by_manner {
            let manner = || (uses[all[0]].manner.clone(), self.n_executions);
            self.pool.entry(*key).or_insert_with(manner);
        }
        let entries: Vec<(&(ThreadId, u64), &Vec<usize>)> = by_manner.iter().collect();
        for (at, (first, first_uses)) in entries.iter().enumerate() {
            for (second, second_uses) in &entries[at + 1..] {
                if first.0 == second.0 {
                    continue;
                }
                self.together.insert((**first, **second));
                let Some(pair) = concurrent(uses, order, first_uses, second_uses) else { continue };
                let key = (first.1.min(second.1), first.1.max(second.1));
                let verdict = match self.verdicts.get(&key) {
                    Some(known) => {
                        checked.n_reused += 1;
                        *known
                    }
                    None => {
                        checked.n_checked += 1;
                        let verdict = is_race(&uses[pair.0].manner, &uses[pair.1].manner);
                        self.verdicts.insert(key, verdict);
                        verdict
                    }
                };
                if verdict {
                    checked.races.push(pair);
                }
            }
        }
        self.n_executions += 1;
        self.n_checked += checked.n_checked;
        self.n_reused += checked.n_reused;
        checked
    }

    /// Forgets the executions, but not the verdicts: what is shared has changed, and with it their manners.
    pub fn begin_again(&mut self) {
        self.groups.clear();
        self.pool.clear();
        self.together.clear();
        self.n_executions = 0;
    }

    /// Pairs that were never in one execution and would be in a race, in order. Each is told once.
    pub fn potential_races(&mut self) -> Vec<PotentialRace> {
        let all: Vec<((ThreadId, u64), Manner, u64)> =
            self.pool.iter().map(|(key, (manner, seen))| (*key, manner.clone(), *seen)).collect();
        let mut found = Vec::new();
        for (at, (first, first_manner, first_seen)) in all.iter().enumerate() {
            for (second, second_manner, second_seen) in &all[at + 1..] {
                if first.0 == second.0 || !self.together.insert((*first, *second)) {
                    continue;
                }
                self.n_checked += 1;
                self.n_combined += 1;
                if is_race(first_manner, second_manner) {
                    found.push(PotentialRace {
                        first: (first.0, first.1, *first_seen),
                        second: (second.0, second.1, *second_seen),
                    });
                }
            }
        }
        found
    }

    /// Race-equivalent groups seen.
    pub fn n_groups(&self) -> usize {
        self.groups.len()
    }
}

/// The first two uses of two manners that can come in either order.
fn concurrent(
    uses: &[MannerUse],
    order: &MustOrder,
    first: &[usize],
    second: &[usize],
) -> Option<(usize, usize)> {
    let begin = |it: usize| uses[it].steps[0];
    let end = |it: usize| uses[it].steps[uses[it].steps.len() - 1];
    first.iter().find_map(|a| {
        // Of one thread's, those that end before this one begins come first.
        let n_before = second.partition_point(|b| order.is_before(end(*b), begin(*a)));
        let next = second.get(n_before)?;
        (!order.is_before(end(*a), begin(*next))).then_some((*a, *next))
    })
}
