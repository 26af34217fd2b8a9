//! Manners that were seen in different executions only, brought together (Algorithm 12, §7.6.5).
//!
//! Which of them would be a race is known without running anything; executions are made for those. Corrected: a
//! combination is of what threads did, so what led to it has to come along, out of the execution that showed it.

use std::collections::BTreeMap;

use raddle_model::{ThreadId, mix};
use raddle_total::{Constraint, History, PotentialRace, Woven};

use super::{
    Attempt, Guide, Kept, Total,
    guideline::{led, schedules},
    past::{Instance, Past},
};

/// Potential races for which executions are made.
const COMBINATIONS_MAX: usize = 64;
/// Executions that are made for one of them, at most.
const COMBINED_TRIES: usize = 6;
/// Executions that are looked at for either manner.
const EXECUTIONS_MAX: usize = 8;

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
            let pair = [race.first, race.second].map(|it| (it.0.0, it.1));
            let key = pair.iter().fold(7, |key, it| mix(mix(key, u64::from(it.0)), it.1));
            self.combined.insert(key, pair);
            for prefix in prefixes.into_iter().take(COMBINED_TRIES) {
                let attempt = Attempt::woven(prefix);
                self.queue.push_back(Guide { attempt, keys: vec![key], ..Guide::default() });
            }
        }
    }

    /// Combinations that an execution has shown: the others that were to show them are not made.
    pub(super) fn note_combined(&mut self, ends: &BTreeMap<(u32, u64), u32>) {
        let is_shown = |pair: &[(u32, u64); 2]| pair.iter().all(|it| ends.contains_key(it));
        let shown = self.combined.iter().filter(|it| is_shown(it.1)).map(|it| *it.0);
        self.seen.extend(shown);
    }

    /// Schedules that may have both manners: one thread as in one execution, the others as in another. Either thread can
    /// be the one, and of executions with the same manner any; if what it reads is written only where it comes from,
    /// it is the wrong one.
    fn together(&self, race: &PotentialRace) -> Vec<Vec<u32>> {
        let [firsts, seconds] = [race.first, race.second].map(|it| self.with_manner(it));
        let mut all: Vec<Mixed> = Vec::new();
        for (first, second) in firsts.iter().flat_map(|it| seconds.iter().map(move |at| (*it, *at)))
        {
            for (others, alone) in [(first, second), (second, first)] {
                let mixed = self.mixed(others, alone);
                if mixed.n_missing == 0 && mixed.n_doubtful == 0 && !mixed.prefixes.is_empty() {
                    return mixed.prefixes;
                }
                all.push(mixed);
            }
        }
        all.sort_by_key(|it| (it.n_missing, it.n_doubtful));
        let n_most = all.iter().map(|it| it.prefixes.len()).max().unwrap_or(0);
        let ranked =
            (0..n_most).flat_map(|rank| all.iter().filter_map(move |it| it.prefixes.get(rank)));
        let mut prefixes: Vec<Vec<u32>> = Vec::new();
        for prefix in ranked {
            if !prefixes.contains(prefix) {
                prefixes.push(prefix.clone());
            }
        }
        prefixes
    }

    /// Executions with a manner, that in which it was seen first before others.
    fn with_manner(&self, (thread, manner, execution): SeenManner) -> Vec<SeenManner> {
        let has_it = |it: &Option<Kept>| {
            it.as_ref().is_some_and(|it| it.ends.contains_key(&(thread.0, manner)))
        };
        let all = self.pasts.iter().enumerate().filter(|it| has_it(it.1)).map(|it| it.0 as u64);
        let others = all.filter(|it| *it != execution);
        let all = std::iter::once(execution).chain(others).take(EXECUTIONS_MAX);
        all.map(|it| (thread, manner, it)).collect()
    }

    /// Schedules with the thread of one manner as it was there, and all others as they were with the other.
    fn mixed(&self, others: SeenManner, alone: SeenManner) -> Mixed {
        let kept = |it: u64| self.pasts.get(it as usize).and_then(Option::as_ref);
        let (Some(first), Some(second)) = (kept(others.2), kept(alone.2)) else {
            return Mixed { prefixes: Vec::new(), n_missing: usize::MAX, n_doubtful: 0 };
        };
        let (mixed, inputs) = mix_kept(first, second, alone.0.0);
        let steps = mixed.instances.iter().zip(0..).collect::<BTreeMap<&Instance, u32>>();
        let find = |kept: &Kept, step: u32| steps.get(&kept.past.instances[step as usize]).copied();
        let mut reads: Vec<Constraint> = Vec::new();
        let (mut missing, mut doubtful) = (Vec::new(), Vec::new());
        let mut wanted = Vec::new();
        for (kept, (thread, manner, _)) in [(first, others), (second, alone)] {
            let is_of = |it: u32| {
                (kept.past.instances[it as usize].thread == alone.0.0) == (thread == alone.0)
            };
            let end = kept.ends.get(&(thread.0, manner)).copied();
            wanted.extend(end.and_then(|it| find(kept, it)));
            for it in kept.reads.iter().filter(|it| is_of(it.use_step)) {
                let Some(use_step) = find(kept, it.use_step) else { continue };
                let define = it.define.map(|it| find(kept, it));
                match define {
                    Some(None) => missing.push(use_step),
                    _ => reads.push(Constraint { use_step, define: define.flatten() }),
                }
                // A define into which something else flows has another value, perhaps.
                let is_same =
                    |(was, is): (u32, u32)| kept.inputs[was as usize] == inputs[is as usize];
                if !it.define.zip(define.flatten()).is_none_or(is_same) {
                    doubtful.push(use_step);
                }
            }
        }
        reads.sort_unstable();
        // All that led to either, as it was.
        let ends = led(&mixed, &reads, wanted.clone(), |_, _| true);
        let counts = |step: u32| {
            let thread = mixed.history.steps[step as usize].thread;
            ends.get(&thread).is_some_and(|it| step <= *it)
        };
        let n_of = |all: &[u32]| all.iter().filter(|it| counts(**it)).count();
        let (mut n_missing, n_doubtful) = (n_of(&missing), n_of(&doubtful));
        reads.retain(|it| counts(it.use_step));
        let is_good = |it: &Woven| it.satisfied.len() == reads.len();
        let mut orders = schedules(&mixed, &reads, is_good);
        if orders.is_empty() {
            // At least what both threads have read themselves.
            n_missing += 1;
            let thread = |it: u32| mixed.history.steps[it as usize].thread;
            reads.retain(|it| {
                wanted.iter().any(|end| thread(*end) == thread(it.use_step) && it.use_step <= *end)
            });
            orders = schedules(&mixed, &reads, |it| it.satisfied.len() == reads.len());
        }
        Mixed {
            prefixes: orders.iter().map(|it| mixed.prefix(it)).collect(),
            n_missing,
            n_doubtful,
        }
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
    /// Reads whose define may have another value.
    n_doubtful: usize,
}

/// One execution with a thread of another, in the order of both; and by step what flows into it, as a hash.
fn mix_kept(first: &Kept, second: &Kept, thread: u32) -> (Past, Vec<u64>) {
    let mut steps: Vec<(u32, bool)> = Vec::new();
    let of = |past: &Past, is_second: bool| {
        let all = past.instances.iter().enumerate();
        let wanted = all.filter(|(_, it)| (it.thread == thread) == is_second);
        wanted.map(|(idx, _)| (idx as u32, is_second)).collect::<Vec<_>>()
    };
    steps.extend(of(&first.past, false));
    steps.extend(of(&second.past, true));
    steps.sort_unstable();
    let mut mixed = Past { history: History::default(), ..Past::default() };
    let mut inputs = Vec::with_capacity(steps.len());
    for (idx, is_second) in steps {
        let Kept { past, inputs: its_inputs, .. } = if is_second { second } else { first };
        let idx = idx as usize;
        inputs.push(its_inputs[idx]);
        mixed.history.push(past.history.steps[idx], past.history.flows[idx].clone());
        mixed.instances.push(past.instances[idx]);
        mixed.keys.push(past.keys[idx]);
        mixed.values.push(past.values[idx]);
        mixed.contexts.push(past.contexts[idx]);
        mixed.choices.push(past.choices[idx]);
        mixed.is_told.push(past.is_told[idx]);
    }
    (mixed, inputs)
}
