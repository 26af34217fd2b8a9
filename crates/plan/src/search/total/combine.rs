//! Manners that were seen in different executions only, brought together (Algorithm 12, §7.6.5).
//!
//! Which of them would be a race is known without running anything; executions are made for those. Corrected: a
//! combination is of what threads did, so what led to it has to come along, out of the execution that showed it.

use raddle_model::ThreadId;
use raddle_total::{Constraint, History, PotentialRace, Woven};

use super::{Attempt, Guide, TRIES, Total, guideline::schedules, past::Past};

/// Potential races for which executions are made.
const COMBINATIONS_MAX: usize = 64;

impl Total {
    /// No guideline is left: manners that were seen apart are brought together.
    pub(super) fn combine(&mut self) {
        for race in self.checker.potential_races() {
            self.figures.n_potential += 1;
            if self.n_combinations >= COMBINATIONS_MAX {
                self.figures.n_untried += 1;
                continue;
            }
            let prefixes = self.together(&race);
            self.n_combinations += usize::from(!prefixes.is_empty());
            for prefix in prefixes.into_iter().take(TRIES) {
                let attempt = Attempt::woven(prefix);
                self.queue.push_back(Guide { attempt, ..Guide::default() });
            }
        }
    }

    /// Schedules that may have both manners: one thread as in one execution, the others as in another. Either thread can
    /// be the one; if what it reads is written only where it comes from, it is the wrong one.
    fn together(&self, race: &PotentialRace) -> Vec<Vec<u32>> {
        let ways = [(race.first, race.second), (race.second, race.first)];
        let mut ways = ways.map(|(others, alone)| self.mixed(others, alone));
        ways.sort_by_key(|it| it.n_missing);
        let n_missing = ways[0].n_missing;
        let ways = ways.into_iter().filter(|it| it.n_missing == n_missing);
        let mut all: Vec<(usize, Vec<u32>)> =
            ways.flat_map(|it| it.prefixes.into_iter().enumerate()).collect();
        all.sort_by_key(|it| it.0);
        all.dedup_by(|a, b| a.1 == b.1);
        all.into_iter().map(|it| it.1).collect()
    }

    /// Schedules with the thread of one manner as it was there, and all others as they were with the other.
    fn mixed(&self, others: SeenManner, alone: SeenManner) -> Mixed {
        let kept = |it: u64| self.pasts.get(it as usize).and_then(Option::as_ref);
        let (Some(first), Some(second)) = (kept(others.2), kept(alone.2)) else {
            return Mixed { prefixes: Vec::new(), n_missing: usize::MAX };
        };
        let mixed = mix_pasts(&first.past, &second.past, alone.0.0);
        let (mut constraints, mut n_missing) = (Vec::new(), 0);
        for (kept, (thread, manner, _)) in [(first, others), (second, alone)] {
            let end = kept.ends.get(&(thread.0, manner)).copied().unwrap_or(0);
            for it in &kept.reads {
                let instance = kept.past.instances[it.use_step as usize];
                if instance.thread != thread.0 || it.use_step > end {
                    continue;
                }
                let define = it.define.map(|it| mixed.find(kept.past.instances[it as usize]));
                match (mixed.find(instance), define) {
                    (None, _) => {}
                    (_, Some(None)) => n_missing += 1,
                    (Some(use_step), define) => {
                        constraints.push(Constraint { use_step, define: define.flatten() });
                    }
                }
            }
        }
        let is_good = |it: &Woven| it.satisfied.len() == constraints.len();
        Mixed { prefixes: schedules(&mixed, &constraints, is_good), n_missing }
    }
}

/// A manner that was seen: by whom, which, in which execution.
type SeenManner = (ThreadId, u64, u64);

/// See [`Total::mixed`].
struct Mixed {
    /// Best first.
    prefixes: Vec<Vec<u32>>,
    /// Reads whose define is not there.
    n_missing: usize,
}

/// One execution with a thread of another, in the order of both.
fn mix_pasts(first: &Past, second: &Past, thread: u32) -> Past {
    let mut steps: Vec<(u32, bool)> = Vec::new();
    let of = |past: &Past, is_second: bool| {
        let all = past.instances.iter().enumerate();
        let wanted = all.filter(|(_, it)| (it.thread == thread) == is_second);
        wanted.map(|(idx, _)| (idx as u32, is_second)).collect::<Vec<_>>()
    };
    steps.extend(of(first, false));
    steps.extend(of(second, true));
    steps.sort_unstable();
    let mut mixed = Past { history: History::default(), ..Past::default() };
    for (idx, is_second) in steps {
        let from = if is_second { second } else { first };
        let idx = idx as usize;
        mixed.history.push(from.history.steps[idx], from.history.flows[idx].clone());
        mixed.instances.push(from.instances[idx]);
        mixed.keys.push(from.keys[idx]);
        mixed.values.push(from.values[idx]);
        mixed.contexts.push(from.contexts[idx]);
        mixed.choices.push(from.choices[idx]);
        mixed.is_told.push(from.is_told[idx]);
    }
    mixed
}
