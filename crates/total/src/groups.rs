//! Branch-affect groups and the branch-condition table (Algorithms 3 to 5).
//!
//! Schedules in which the same defines flow into a branch give it the same outcome: one of each group is
//! enough. Corrected (F3.5): uses and defines are steps; a use counts through every define that it could
//! read, with the reads that flow into that define, transitively; reads that decide whether a define takes
//! place are among its flows.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    history::History,
    uses::{DefineSets, UseDefine},
};

/// The uses that can affect a step, a branch as a rule, in whatever schedule. Algorithm 3. Sorted.
pub fn related_uses(history: &History, sets: &DefineSets<'_>, step: u32) -> Vec<u32> {
    let mut found = BTreeSet::new();
    let mut open = history.reads_into(step);
    while let Some(read) = open.pop() {
        if found.insert(read) {
            for define in sets.of(read).into_iter().flatten() {
                open.extend(history.reads_into(define));
            }
        }
    }
    found.into_iter().collect()
}

/// Schedules that give a branch the same outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// Which, by number.
    pub members: Vec<u32>,
    /// The use-defines that they have in common, first values left out.
    pub uses: Vec<UseDefine>,
    /// What the outcome is, if one of them was tried.
    pub outcome: Option<bool>,
}

/// Groups schedules by what flows into a branch. Algorithm 4. Who has not come to the branch at the end of
/// its schedule goes on alone until it has.
pub fn affect_groups(
    history: &History,
    sets: &DefineSets<'_>,
    schedules: impl IntoIterator<Item = Vec<u32>>,
    branch: u32,
) -> Vec<Group> {
    let uses = related_uses(history, sets, branch);
    let mut groups: BTreeMap<Vec<UseDefine>, Vec<u32>> = BTreeMap::new();
    for (number, mut schedule) in (0..).zip(schedules) {
        let thread = history.steps[branch as usize].thread;
        let is_done: BTreeSet<u32> = schedule.iter().copied().collect();
        let steps = 0..=branch;
        schedule
            .extend(steps.filter(|it| {
                history.steps[*it as usize].thread == thread && !is_done.contains(it)
            }));
        groups.entry(defines_of(history, &uses, &schedule)).or_default().push(number);
    }
    let group = |(uses, members)| Group { members, uses, outcome: None };
    groups.into_iter().map(group).collect()
}

/// What the given uses read in a schedule, first values left out.
fn defines_of(history: &History, uses: &[u32], schedule: &[u32]) -> Vec<UseDefine> {
    let mut last = BTreeMap::new();
    let mut found = Vec::new();
    for idx in schedule {
        let step = &history.steps[*idx as usize];
        if uses.binary_search(idx).is_ok()
            && let Some(define) = last.get(&step.object).copied()
        {
            found.push(UseDefine { use_step: *idx, define: Some(define) });
        }
        if step.act.is_write() {
            last.insert(step.object, *idx);
        }
    }
    found.sort_unstable();
    found
}

/// Which outcomes of all branches were tried together, and which schedule to try next. Algorithm 5.
#[derive(Clone, Debug, Default)]
pub struct BranchTable {
    /// By branch: its groups.
    pub branches: Vec<Vec<Group>>,
    /// Combinations that were tried, and by which schedule.
    tested: BTreeMap<Vec<bool>, u32>,
}

impl BranchTable {
    /// A table of these branches.
    pub fn new(branches: Vec<Vec<Group>>) -> BranchTable {
        BranchTable { branches, tested: BTreeMap::new() }
    }

    /// A schedule was tried, and had these outcomes.
    pub fn test(&mut self, schedule: u32, outcomes: &[bool]) {
        for (groups, outcome) in self.branches.iter_mut().zip(outcomes) {
            for group in groups.iter_mut().filter(|it| it.members.contains(&schedule)) {
                group.outcome = Some(*outcome);
            }
        }
        self.tested.entry(outcomes.to_vec()).or_insert(schedule);
    }

    /// Combinations that were tried.
    pub fn n_tested(&self) -> usize {
        self.tested.len()
    }

    /// The schedules to try next: for each combination that was not, one that has it by what is known; if
    /// there is none, the one that is in most groups of which nothing is known. Empty: it is finished.
    pub fn next(&self) -> Vec<u32> {
        let n_branches = self.branches.len() as u32;
        let rows = (0..1_u64 << n_branches)
            .map(|row| (0..n_branches).map(|it| row >> it & 1 == 0).collect::<Vec<bool>>())
            .filter(|it| !self.tested.contains_key(it));
        let mut next: Vec<u32> = Vec::new();
        let mut is_any_left = false;
        for row in rows {
            is_any_left = true;
            if let Some(found) = self.candidate(&row)
                && !next.contains(&found)
            {
                next.push(found);
            }
        }
        if next.is_empty() && is_any_left {
            next.extend(self.unknown());
        }
        next
    }

    fn candidate(&self, row: &[bool]) -> Option<u32> {
        let mut candidates: Option<BTreeSet<u32>> = None;
        for (groups, outcome) in self.branches.iter().zip(row) {
            let fitting = groups.iter().filter(|it| it.outcome == Some(*outcome));
            let members: BTreeSet<u32> =
                fitting.flat_map(|it| it.members.iter().copied()).collect();
            candidates = Some(match candidates {
                Some(it) => it.intersection(&members).copied().collect(),
                None => members,
            });
        }
        candidates?.first().copied()
    }

    fn unknown(&self) -> Option<u32> {
        let mut counts: BTreeMap<u32, u32> = BTreeMap::new();
        for group in self.branches.iter().flatten().filter(|it| it.outcome.is_none()) {
            for member in &group.members {
                *counts.entry(*member).or_default() += 1;
            }
        }
        let most = counts.iter().max_by_key(|(member, n)| (**n, u32::MAX - **member));
        most.map(|(member, _)| *member)
    }
}
