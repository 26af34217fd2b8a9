//! What executions have covered, learned as they come, and whether an order of two steps would be new.

use std::collections::{BTreeMap, BTreeSet};

use raddle_model::{CoveredPairs, End, MemoryModel, SiteId};
use serde::{Deserialize, Serialize};

use super::{
    order::{Asked, HappensBefore},
    predecessors::{HapSets, Pair},
};
use crate::search::{Run, Step};

/// Learns which statement comes right before which ([`HapSets`]), from executions that end well.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Guide {
    sets: HapSets,
    /// Does a non-zero exit code count as a good end?
    exit_is_fine: bool,
    /// Does an access of the statement's own thread not hide what came before it?
    #[serde(default)]
    is_without_hiding: bool,
    n_learned: u64,
    last_new: u64,
    /// Which of several waiters a place has woken, or will: site, context, choice.
    choices: BTreeSet<(u64, u64, u32)>,
    /// So many steps of the path have been learned from.
    n_steps: usize,
    /// What the execution under way has added, and at which of its steps: at an earlier one it was not known
    /// yet (the paper's Algorithm 5 learns step by step).
    #[serde(skip)]
    fresh: BTreeMap<Pair, usize>,
    #[serde(skip)]
    is_good: bool,
}

/// Where the numbers of a path lead.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Code<'a> {
    pub(crate) steps: &'a [Step],
    pub(crate) sites: &'a [u64],
}

impl Guide {
    pub(crate) fn new(sets: HapSets, exit_is_fine: bool) -> Guide {
        Guide { sets, exit_is_fine, ..Guide::default() }
    }

    /// Learns as in the paper's Algorithm 1, not as in its Figure 1.
    pub(crate) fn without_hiding(self) -> Guide {
        Guide { is_without_hiding: true, ..self }
    }

    pub(crate) fn sets(&self) -> &HapSets {
        &self.sets
    }

    pub(crate) fn covered(&self) -> CoveredPairs {
        CoveredPairs {
            n_pairs: self.sets.len() as u64,
            n_new: self.sets.iter().filter(|it| it.1).count() as u64,
            n_learned: self.n_learned,
            last_new: self.last_new,
        }
    }

    /// An execution is gone through, which is new from a step on. Gives back from where on it is to be learned
    /// from: nothing was learned from a beginning that it shares with one that failed.
    pub(crate) fn begin(&mut self, run: &Run, from: usize) -> usize {
        self.fresh.clear();
        self.is_good = match run.end {
            Some(End::Exit(code)) => code == 0 || self.exit_is_fine,
            _ => false,
        };
        self.n_learned += u64::from(self.is_good);
        self.n_steps = self.n_steps.min(from);
        self.n_steps
    }

    /// Learns from a step, all before it having been learned from.
    pub(crate) fn learn(&mut self, order: &HappensBefore, code: Code<'_>, step: usize) {
        if !self.is_good || step < self.n_steps {
            return;
        }
        self.n_steps = step + 1;
        let it = &code.steps[step];
        for before in order.predecessors(step, !self.is_without_hiding) {
            let predecessor = &code.steps[before];
            let pair = Pair {
                site: code.name(it.site),
                context: it.context,
                is_after_younger: it.thread < predecessor.thread,
                predecessor: code.name(predecessor.site),
                predecessor_context: predecessor.context,
            };
            if self.sets.add(pair) {
                self.fresh.insert(pair, step);
                self.last_new = self.n_learned;
            }
        }
    }

    /// Was it seen before that the op asked about came right before a step, instead of after it as now? Seen
    /// before, that is when the step had been taken and the op was pending.
    pub(crate) fn is_covered(
        &self,
        order: &HappensBefore,
        code: Code<'_>,
        step: usize,
        asked: &Asked,
    ) -> bool {
        let state = step.max(asked.announced().saturating_sub(1)) + 1;
        self.is_covered_at(order, code, step, asked, state)
    }

    /// The same, by what was known in a state.
    pub(crate) fn is_covered_at(
        &self,
        order: &HappensBefore,
        code: Code<'_>,
        step: usize,
        asked: &Asked,
        state: usize,
    ) -> bool {
        let it = &code.steps[step];
        let next = code.steps.get(order.len()).filter(|next| next.thread == asked.op.thread);
        let pair = Pair {
            site: code.name(it.site),
            context: it.context,
            is_after_younger: it.thread < asked.op.thread,
            predecessor: code.name(asked.op.site),
            predecessor_context: next.map_or(0, |next| next.context),
        };
        self.sets.has(&pair) && self.fresh.get(&pair).is_none_or(|learned| *learned < state)
    }

    /// Is it new that a step at this place is performed in this way? It will not be again.
    pub(crate) fn wants_choice(&mut self, code: Code<'_>, step: usize, choice: u32) -> bool {
        let it = &code.steps[step];
        self.choices.insert((code.name(it.site), it.context, choice))
    }

    /// Learns from a whole execution that is no part of the search.
    pub(crate) fn teach(&mut self, run: &Run, may_time_out: bool) {
        let mut order = HappensBefore::new(may_time_out, MemoryModel::Sc);
        let code = Code { steps: &run.steps, sites: &run.sites };
        self.n_steps = 0;
        self.begin(run, 0);
        for step in 0..run.steps.len() {
            let asked = order.ask_step(&run.steps, &run.objects);
            order.push(&asked, &run.steps);
            self.learn(&order, code, step);
        }
        self.n_steps = 0;
    }
}

impl Code<'_> {
    /// The name of a site; its number where sites have none.
    fn name(&self, site: SiteId) -> u64 {
        self.sites.get(site.0 as usize).copied().unwrap_or(u64::from(site.0))
    }
}
