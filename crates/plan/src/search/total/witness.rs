//! Races by locks, and executions that show them to a detector that goes by happens-before.

use std::collections::BTreeSet;

use raddle_total::{
    Checker, Constraint, DefineSets, Locks, MannerUse, MustOrder, conflicting_steps, is_in_time,
    manners, meet,
};

use super::{super::Run, Attempt, Guide, KEPT_MAX, Total, decide::Decisions, past::Past};
use raddle_model::flows::Flows;

/// Two accesses that no lock keeps apart, by places, the smaller first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LocksetRace {
    /// The variable.
    pub object: u64,
    /// The places.
    pub places: [u64; 2],
}

pub(super) fn race_of(past: &Past, pair: [u32; 2]) -> LocksetRace {
    let mut places = pair.map(|it| past.history.steps[it as usize].place);
    places.sort_unstable();
    LocksetRace { object: past.history.steps[pair[0] as usize].object, places }
}

/// The lockset races of one execution: accesses of manners that can come in either order.
pub fn lockset_races(run: &Run) -> BTreeSet<LocksetRace> {
    let past = Past::of(run, &Flows::default());
    let order = MustOrder::of(&past.history);
    let locks = Locks::of(&past.history);
    let uses = manners(&past.history, &locks, &past.history.shared());
    let checked = Checker::default().check(&uses, &order);
    let mut found = BTreeSet::new();
    for (first, second) in checked.races {
        let pairs = conflicting_steps(&uses[first], &uses[second]);
        found.extend(pairs.map(|it| race_of(&past, it)));
    }
    found
}

impl Total {
    /// Races that a detector by happens-before does not see in this execution get one in which it does.
    pub(super) fn witness(
        &mut self,
        past: &Past,
        sets: &DefineSets<'_>,
        decisions: &Decisions,
        uses: &[MannerUse],
        races: &[(usize, usize)],
    ) {
        if races.is_empty() {
            return;
        }
        let as_it_was = MustOrder::as_it_was(&past.history);
        for (first, second) in races {
            for pair in conflicting_steps(&uses[*first], &uses[*second]) {
                let key = race_of(past, pair);
                if self.shown.contains(&key) {
                    continue;
                }
                let is_shown = as_it_was.is_concurrent(pair[0], pair[1]);
                if !is_shown && !self.tried.insert(key) {
                    continue;
                }
                if is_shown {
                    self.shown.insert(key);
                    continue;
                }
                let threads = pair.map(|it| past.history.steps[it as usize].thread);
                let keep = decisions.deciders.iter().filter(|it| {
                    let thread = past.history.steps[it.read as usize].thread;
                    (0..2).any(|idx| threads[idx] == thread && it.read < pair[idx])
                });
                let keep: Vec<Constraint> = keep
                    .rev()
                    .take(KEPT_MAX)
                    .map(|it| Constraint { use_step: it.read, define: sets.actual(it.read) })
                    .collect();
                let is_possible =
                    |it: &Vec<u32>| self.model.may_time_out || is_in_time(&past.history, it);
                if let Some(steps) = meet(&past.history, pair, &keep).filter(is_possible) {
                    let attempt = Attempt::woven(past.prefix(&steps));
                    self.queue.push_back(Guide { attempt, is_witness: true, ..Guide::default() });
                }
            }
        }
    }
}
