//! Branch-affect groups and the branch-condition table (Algorithms 3 to 5).
//!
//! Schedules in which the same defines flow into a branch give it the same outcome: one of each group is
//! enough. Corrected (F3.5): uses and defines are steps; a use counts through every define that it could
//! read, with the reads that flow into that define, transitively; reads that decide whether a define takes
//! place are among its flows.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    graph::Root,
    history::{History, Sources},
    uses::{DefineSets, UseDefine},
};

/// The uses that can affect a branch, or whatever else is decided, in whatever schedule. Algorithm 3. Sorted.
pub fn related_uses(history: &History, sets: &DefineSets<'_>, root: &Root) -> Vec<u32> {
    let mut found = BTreeSet::new();
    let mut open = root.reads(history);
    let mut sources = Sources::of(history);
    while let Some(read) = open.pop() {
        if found.insert(read) {
            for define in sets.of(read).into_iter().flatten() {
                open.extend(sources.reads_into(define));
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
}

/// Groups schedules by what flows into a branch. Algorithm 4. Who has not come to the branch at the end of
/// its schedule goes on alone until it has.
pub fn affect_groups(
    history: &History,
    sets: &DefineSets<'_>,
    schedules: impl IntoIterator<Item = Vec<u32>>,
    root: &Root,
) -> Vec<Group> {
    let uses = related_uses(history, sets, root);
    let mut groups: BTreeMap<Vec<UseDefine>, Vec<u32>> = BTreeMap::new();
    for (number, mut schedule) in (0..).zip(schedules) {
        if let Some(last) = root.last() {
            let thread = history.steps[last as usize].thread;
            let is_done: BTreeSet<u32> = schedule.iter().copied().collect();
            let is_left =
                |it: &u32| history.steps[*it as usize].thread == thread && !is_done.contains(it);
            schedule.extend((0..=last).filter(is_left));
        }
        groups.entry(defines_of(history, &uses, &schedule)).or_default().push(number);
    }
    groups.into_iter().map(|(uses, members)| Group { members, uses }).collect()
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

/// Which outcomes of all branches were tried together, and which variant to try next. Algorithm 5. Branches, groups and
/// outcomes are named by whoever asks.
///
/// Corrected: its second condition ends it when every group was tried, though there may be variants that are known to
/// combine their outcomes as nobody did; those are tried here, too. Its rows, two to the number of branches, are not
/// enumerated: only those count that a variant could fill.
#[derive(Clone, Debug, Default)]
pub struct BranchTable {
    /// How many combinations there can be, if that is known: when all were tried, it is finished.
    pub n_rows: Option<usize>,
    /// By branch and group: its outcome, if one of the group was tried.
    outcomes: BTreeMap<(u64, u64), u64>,
    /// Combinations of branches and outcomes that were tried.
    tested: BTreeSet<Vec<(u64, u64)>>,
    /// By variant that was not tried: its groups, each with its branch.
    open: BTreeMap<u32, Vec<(u64, u64)>>,
    /// Variants that were tried for a branch.
    asked: BTreeSet<(u32, u64)>,
}

/// A variant that is to be tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tried {
    /// Which.
    pub variant: u32,
    /// The branch whose outcome nobody knows; its thread has to come to it first. `None`: the outcomes of all are known,
    /// and nobody had them together.
    pub branch: Option<u64>,
}

impl BranchTable {
    /// There is a variant, in these groups: each branch with its group. Sorted.
    pub fn add(&mut self, variant: u32, groups: Vec<(u64, u64)>) {
        self.open.insert(variant, groups);
    }

    /// A variant is tried.
    pub fn ask(&mut self, tried: Tried) {
        match tried.branch {
            Some(branch) => _ = self.asked.insert((tried.variant, branch)),
            None => _ = self.open.remove(&tried.variant),
        }
    }

    /// One was tried: each branch with its group and its outcome.
    pub fn test(&mut self, found: &[(u64, u64, u64)]) {
        self.outcomes.extend(found.iter().map(|it| ((it.0, it.1), it.2)));
        let mut row: Vec<(u64, u64)> = found.iter().map(|it| (it.0, it.2)).collect();
        row.sort_unstable();
        self.tested.insert(row);
    }

    /// Combinations that were tried.
    pub fn n_tested(&self) -> usize {
        self.tested.len()
    }

    /// The variants to try next: for each combination that was not, one that has it by what is known; if
    /// there is none, the one that is in most groups of which nothing is known. Empty: it is finished.
    pub fn next(&self) -> Vec<Tried> {
        if self.n_rows == Some(self.tested.len()) {
            return Vec::new();
        }
        let mut rows = BTreeSet::new();
        let next = self.open.iter().filter_map(|(variant, groups)| {
            let outcome = |it: &(u64, u64)| Some((it.0, *self.outcomes.get(it)?));
            let row: Vec<(u64, u64)> = groups.iter().map(outcome).collect::<Option<_>>()?;
            let is_new = !self.is_tested(&row) && rows.insert(row);
            is_new.then_some(Tried { variant: *variant, branch: None })
        });
        let mut next: Vec<Tried> = next.collect();
        if next.is_empty() {
            next.extend(self.unknown());
        }
        next
    }

    /// Did something that was tried have all of these outcomes?
    fn is_tested(&self, row: &[(u64, u64)]) -> bool {
        self.tested.iter().any(|it| row.iter().all(|of| it.binary_search(of).is_ok()))
    }

    fn unknown(&self) -> Option<Tried> {
        let counts = self.open.iter().filter_map(|(variant, groups)| {
            let is_unknown = |it: &&(u64, u64)| {
                !self.outcomes.contains_key(it) && !self.asked.contains(&(*variant, it.0))
            };
            let branch = Some(groups.iter().find(is_unknown)?.0);
            Some((groups.iter().filter(is_unknown).count(), Tried { variant: *variant, branch }))
        });
        counts.max_by_key(|(n, it)| (*n, u32::MAX - it.variant)).map(|it| it.1)
    }
}
