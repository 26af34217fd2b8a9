//! What limits the claim of a search, as far as its campaign knows.

use raddle_model::{Gap, MemoryModel, Timeouts};
use raddle_plan::search::SearchSpec;

use super::{Options, Outcome};

impl Outcome {
    /// What limits the claim of its search.
    pub(super) fn find_gaps(&self, options: &Options) -> Vec<Gap> {
        let Some(search) = &self.search else { return Vec::new() };
        let uses = &search.uses;
        let has = |count: u64, gap: fn(u64) -> Gap| (count > 0).then(|| gap(count));
        let if_so = |is_so: bool, gap: Gap| is_so.then_some(gap);
        let is_late = options.conditions.timeouts == Timeouts::Last;
        let spec = options.method.search().map(|it| &it.spec);
        let is_reduced =
            !matches!(spec, Some(SearchSpec::Dfs | SearchSpec::Ipb(_) | SearchSpec::Idb(_)));
        let memory = options.conditions.memory_model;
        let weak = match memory {
            MemoryModel::Sc => Gap::WeakAtomics,
            MemoryModel::Tso => Gap::StoreOrder,
            MemoryModel::C11 => Gap::BeyondModel,
        };
        [
            has(uses.weak.len() as u64, weak),
            if_so(
                memory == MemoryModel::C11 && is_reduced && uses.wakes && !uses.weak.is_empty(),
                Gap::WakeOrder,
            ),
            has(uses.volatile.len() as u64, Gap::Volatile),
            has(uses.yields.len() as u64, Gap::Courtesy),
            has(self.n_clocked, Gap::Clock),
            has(self.n_allocating, Gap::Addresses),
            if_so(uses.signals && is_reduced, Gap::Signals),
            if_so(!options.detect.races, Gap::NoRaces),
            if_so(uses.waits && !options.conditions.spurious, Gap::NoSpurious),
            if_so(uses.timed && is_late, Gap::LateTimeouts),
            if_so(!self.unhooked.is_empty(), Gap::Unhooked(self.unhooked.clone())),
            has(self.figures.n_thinned, Gap::Thinned),
            has(self.uncontrolled.len() as u64, Gap::Uncontrolled),
            has(self.figures.n_inconclusive + self.figures.n_spent, Gap::Unfinished),
            has(search.effort.n_too_long, Gap::TooLong),
            has(search.progress.n_diverged, Gap::Diverged),
            has(self.n_unlike, Gap::Unlike),
            if_so(self.is_unrepeated, Gap::NotRepeated),
            has(self.n_suppressed(), Gap::Suppressed),
            has(self.n_gone, Gap::Gone),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}
