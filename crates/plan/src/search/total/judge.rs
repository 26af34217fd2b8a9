//! Races by access-manners, execution by execution (§3.12, §5.4): pairs of manners of one execution that creation, join and
//! notification leave in either order, each judged once. What an execution has in common with earlier ones is not
//! looked at again.
//!
//! No execution is made for what is found: the dissertation reports it as it is, and so it stays potential. Locks and
//! values that were passed on order nothing here, so more is reported than the detector for single executions does.

use std::collections::BTreeSet;

use raddle_model::Judged;
use raddle_total::{Checker, Locks, MustOrder, conflicting_steps, manners};

use super::{
    past::Past,
    sharing::Sharing,
    witness::{LocksetRace, race_of},
};

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Judge {
    checker: Checker,
    sharing: Sharing,
    told: BTreeSet<LocksetRace>,
    /// Of the last execution: pairs of steps in a race that no earlier one had.
    pub(super) new: Vec<[u32; 2]>,
}

impl Judge {
    /// Judges an execution. `earlier`: those before it, which are judged again if more is shared than was known.
    pub(super) fn judge(&mut self, past: &Past, earlier: impl Iterator<Item = Past>) {
        if self.sharing.add(&past.history) {
            self.checker.begin_again();
            earlier.for_each(|it| drop(self.races(&it)));
        }
        let races = self.races(past);
        self.new = races.into_iter().filter(|it| self.told.insert(race_of(past, *it))).collect();
    }

    /// All pairs of steps of an execution that are in a race.
    fn races(&mut self, past: &Past) -> Vec<[u32; 2]> {
        let locks = Locks::of(&past.history);
        let uses = manners(&past.history, &locks, &self.sharing.shared);
        let checked = self.checker.check(&uses, &MustOrder::of(&past.history));
        let pairs = checked.races.iter();
        pairs.flat_map(|(first, second)| conflicting_steps(&uses[*first], &uses[*second])).collect()
    }

    /// What it has counted.
    pub(super) fn judged(&self) -> Judged {
        Judged {
            n_checked: self.checker.n_checked,
            n_reused: self.checker.n_reused,
            n_groups: self.checker.n_groups() as u64,
            n_races: self.told.len() as u64,
        }
    }
}
