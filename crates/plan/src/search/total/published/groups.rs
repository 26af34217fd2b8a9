//! Branch-affect groups (Algorithms 3 to 5): of all variants of all traces, one for each combination of branch outcomes
//! that they are known to have, and for each group of which nothing is known: then the branch's thread goes on alone from
//! where the variant differs until it is there (Algorithm 4, step 2.1). A variant that gives every branch what it had
//! in an execution is left out.
//!
//! Where we depart: traces do not say which way a branch goes, so its outcome is what its reads have read; references
//! and locks count as branches do (§5.3.6); what is not known of the code depends on every earlier read of its
//! thread. What it misses: a variant that changes no branch is not executed, nor what can only come after it.

use std::collections::BTreeMap;

use raddle_model::mix;
use raddle_total::{BranchTable, DefineSets, Locks, MustOrder, Taken, Tried, affect_groups};

use super::{
    super::{DEFINES_MAX, past::Past},
    Method, Setting, Size,
    reachability::Reachability,
    roots::{affected, decided, is_affected, name_of},
    variation::Variation,
};

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Groups {
    reachability: Reachability,
    traces: Vec<Trace>,
    /// By number, each with its trace.
    variants: Vec<(usize, Variation)>,
    table: BranchTable,
}

#[derive(Debug)]
struct Trace {
    past: Past,
    /// By branch: the last read before it is decided.
    ends: BTreeMap<u64, u32>,
}

impl Groups {
    /// The test case of a variant: on from where it differs until a branch is decided, as far as that is known.
    fn case(&self, Tried { variant, branch }: Tried, with: &Setting<'_>) -> Variation {
        let (trace, it) = &self.variants[variant as usize];
        let Trace { past, ends } = &self.traces[*trace];
        let longer = branch.and_then(|it| ends.get(&it)).and_then(|end| {
            let thread = past.history.steps[*end as usize].thread;
            let is_left = |step: &u32| {
                let is_own = past.history.steps[*step as usize].thread == thread;
                is_own && it.steps.iter().all(|it| it.step != *step)
            };
            let left = (0..=*end).filter(is_left);
            let left = left.map(|step| Taken { step, way: past.history.steps[step as usize].way });
            let schedule: Vec<Taken> = it.steps.iter().copied().chain(left).collect();
            Variation::of(past, &schedule, None, with)
        });
        longer.unwrap_or_else(|| it.clone())
    }
}

impl Method for Groups {
    fn take_in(&mut self, past: &Past, with: &Setting<'_>) {
        let new = self.reachability.derive(past, with);
        let (history, branches) = decided(past, with.flows);
        let order = MustOrder::of(&history);
        let locks = Locks::of(&history);
        let sets = DefineSets::new(&history, &order, &locks).at_most(DEFINES_MAX);
        let affected = affected(&history, &sets);
        let whole: Vec<u32> = (0..history.steps.len() as u32).collect();
        let mut tested = Vec::new();
        let mut groups: Vec<Vec<(u64, u64)>> = vec![Vec::new(); new.len()];
        for branch in branches.iter().filter(|it| is_affected(&history, &affected, &it.root)) {
            let schedules = std::iter::once(&whole).chain(new.iter().map(|it| &it.order)).cloned();
            for group in affect_groups(&history, &sets, schedules, &branch.root) {
                let uses = group.uses.iter().map(|it| name_of(past, *it));
                let key = uses.fold(1, |all, it| mix(mix(all, it.0), it.1));
                for member in group.members {
                    match member.checked_sub(1) {
                        None => tested.push((branch.key, key, branch.outcome)),
                        Some(variant) => groups[variant as usize].push((branch.key, key)),
                    }
                }
            }
        }
        self.table.test(&tested);
        for (variant, mut groups) in new.into_iter().zip(groups) {
            groups.sort_unstable();
            self.table.add(self.variants.len() as u32, groups);
            self.variants.push((self.traces.len(), variant));
        }
        let ends = branches.iter().filter_map(|it| Some((it.key, it.root.last()?)));
        self.traces.push(Trace { past: past.clone(), ends: ends.collect() });
    }

    fn next(&mut self, with: &Setting<'_>) -> Option<Vec<u32>> {
        loop {
            let next = *self.table.next().first()?;
            self.table.ask(next);
            let it = self.case(next, with);
            if !self.reachability.is_shown(&it) {
                return Some(it.prefix);
            }
        }
    }

    fn is_cut(&self) -> bool {
        self.reachability.is_cut()
    }

    fn most(&self) -> Size {
        self.reachability.most()
    }
}
