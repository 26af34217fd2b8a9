//! Manners that were seen in different executions only, brought together (Algorithm 12, §7.6.5).
//!
//! Which of them would be a race is known without running anything; a schedule that has both is looked for in what threads
//! are known to do ([`super::model`]), and executed. Corrected: a combination is of what threads did, so what led to it
//! has to come along. If there is no such schedule, they can't come together; unless some thread reads on the way what it
//! was not seen to read there, and nobody knows what it would do then: a few executions are made to find out.

use std::collections::BTreeMap;

use raddle_model::mix;
use raddle_total::{At, Goal, PotentialRace, Reached};

use super::{
    Guide, Total,
    model::{Model, WayEnd, WayTo},
};

/// Potential races for which executions are made.
const COMBINATIONS_MAX: usize = 64;
/// Executions that are made for one of them, at most.
const COMBINED_TRIES: u32 = 6;

/// A thread and its manner.
type ManneredThread = (u32, u64);

/// Manners seen apart that would be a race.
#[derive(Debug)]
pub(super) struct Apart {
    pair: [ManneredThread; 2],
    n_tries: u32,
}

/// They are to be in one execution.
struct Together<'a> {
    model: &'a Model,
    threads: [usize; 2],
    ways: [WayTo; 2],
    /// Or a thread reads on the way what it was not seen to read there.
    or_unknown: bool,
}

impl Goal for Together<'_> {
    fn is_met(&self, at: At<'_>) -> bool {
        self.distance(at) == Some(0)
    }

    fn is_read(&self, node: u32, value: u64, is_known: bool) -> bool {
        self.or_unknown && !is_known && !self.model.is_asked(node, value)
    }

    fn distance(&self, at: At<'_>) -> Option<u32> {
        let n_left = |idx: usize| self.ways[idx].n_left(self.threads[idx], at);
        let either = self.or_unknown.then_some(1);
        Some(n_left(0).or(either)? + n_left(1).or(either)?)
    }
}

impl Total {
    /// No guideline is left: manners that were seen apart are brought together, two at a time.
    pub(super) fn combine(&mut self) {
        for race in self.checker.potential_races() {
            self.figures.n_potential += 1;
            if self.n_combinations >= COMBINATIONS_MAX {
                self.figures.n_untried += 1;
                continue;
            }
            self.n_combinations += 1;
            self.apart.push(apart(&race));
        }
        while let Some(apart) = self.apart.pop() {
            if self.bring_together(apart) {
                return;
            }
        }
    }

    /// Plans an execution for two manners; `false` if that is of no use.
    fn bring_together(&mut self, mut apart: Apart) -> bool {
        if apart.n_tries >= COMBINED_TRIES {
            self.figures.n_unsettled += 1;
            return false;
        }
        apart.n_tries += 1;
        let ends = apart.pair.map(|it| self.ends_of(it));
        for or_unknown in [false, true] {
            let goal = Together {
                model: &self.model,
                threads: apart.pair.map(|it| it.0 as usize),
                ways: [self.model.way_to(&ends[0]), self.model.way_to(&ends[1])],
                or_unknown,
            };
            match self.model.search(&goal) {
                Reached::By { steps, value: None } => {
                    let attempt = self.model.attempt(&self.pasts, &steps, 0);
                    let keys = vec![key(&apart.pair)];
                    self.queue.push_back(Guide { attempt, keys, ..Guide::default() });
                }
                Reached::By { steps, value } => self.try_unseen(&steps, value),
                Reached::Never => continue,
                Reached::Cut => {
                    self.figures.n_unsettled += 1;
                    return false;
                }
            }
            self.apart.push(apart);
            return true;
        }
        false
    }

    /// Where a thread has done with a manner.
    fn ends_of(&self, of: ManneredThread) -> Vec<WayEnd> {
        let kept = self.pasts.iter().enumerate();
        let ends = kept.filter_map(|(idx, it)| Some((idx, *it.as_ref()?.ends.get(&of)?)));
        let mut ends: Vec<WayEnd> = ends.filter_map(|it| self.model.way_end(it.0, it.1)).collect();
        ends.sort_unstable();
        ends.dedup();
        ends
    }

    /// Combinations that an execution has shown: the others that were to show them are not made.
    pub(super) fn note_combined(&mut self, ends: &BTreeMap<ManneredThread, u32>) {
        let is_shown = |it: &Apart| it.pair.iter().all(|it| ends.contains_key(it));
        self.apart.retain(|it| !is_shown(it));
    }
}

fn apart(race: &PotentialRace) -> Apart {
    Apart { pair: [race.first, race.second].map(|it| (it.0.0, it.1)), n_tries: 0 }
}

fn key(pair: &[ManneredThread; 2]) -> u64 {
    pair.iter().fold(7, |key, it| mix(mix(key, u64::from(it.0)), it.1))
}
