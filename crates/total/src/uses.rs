//! Use-defines, potential use-defines, define sets (§3.13), over steps.
//!
//! The *define set* of a use are all defines that some schedule could give it: its own thread's last one, and
//! of every other thread those that neither must come after the use nor are surely overwritten before it. A
//! define is surely overwritten by one that must come after it and before the use, and by a later one in the
//! same critical section if the use is under the same lock (ours: the dissertation does not look at locks,
//! and enforces what can't be).
//!
//! Of another thread's defines of one variable at most so many count as the caller says, the earliest: what a
//! thread writes ten thousand times can't be tried ten thousand times.
//!
//! A set may still hold a define that no schedule can give. It is found out when the schedule is made.

use std::collections::BTreeMap;

use crate::{
    history::History,
    locks::{HeldAt, Locks},
    order::MustOrder,
};

/// A use, and the define that it reads; `None` is the value before the first step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UseDefine {
    /// The step that reads.
    pub use_step: u32,
    /// The step that wrote.
    pub define: Option<u32>,
}

/// What all uses of a history can read.
#[derive(Debug)]
pub struct DefineSets<'a> {
    history: &'a History,
    order: &'a MustOrder,
    locks: &'a Locks,
    /// By object: its defines by thread, each in order.
    defines: BTreeMap<u64, Vec<Vec<u32>>>,
    /// By step: what it reads, if it reads.
    actual: Vec<Option<u32>>,
    /// Of another thread's defines of a variable, for one use.
    n_max: usize,
}

impl<'a> DefineSets<'a> {
    /// Looks through a history.
    pub fn new(history: &'a History, order: &'a MustOrder, locks: &'a Locks) -> DefineSets<'a> {
        let n_threads = history.n_threads();
        let mut defines: BTreeMap<u64, Vec<Vec<u32>>> = BTreeMap::new();
        let mut last: BTreeMap<u64, u32> = BTreeMap::new();
        let mut actual = vec![None; history.steps.len()];
        for (idx, step) in history.steps.iter().enumerate() {
            if step.act.is_read() {
                actual[idx] = last.get(&step.object).copied();
            }
            if step.act.is_write() {
                last.insert(step.object, idx as u32);
                let of_object =
                    defines.entry(step.object).or_insert_with(|| vec![Vec::new(); n_threads]);
                of_object[step.thread.idx()].push(idx as u32);
            }
        }
        DefineSets { history, order, locks, defines, actual, n_max: usize::MAX }
    }

    /// At most so many defines of each other thread, for each use.
    pub fn at_most(self, n_max: usize) -> DefineSets<'a> {
        DefineSets { n_max, ..self }
    }

    /// The define that a use read.
    pub fn actual(&self, use_step: u32) -> Option<u32> {
        self.actual[use_step as usize]
    }

    /// All use-defines, in the order of the uses.
    pub fn use_defines(&self) -> impl Iterator<Item = UseDefine> + '_ {
        let steps = self.history.steps.iter().zip(&self.actual).enumerate();
        steps
            .filter(|(_, (step, _))| step.act.is_read())
            .map(|(idx, (_, define))| UseDefine { use_step: idx as u32, define: *define })
    }

    /// What a use could read, in another schedule, beside what it read. Sorted; the first value first.
    pub fn potential(&self, use_step: u32) -> Vec<Option<u32>> {
        let mut all = self.of(use_step);
        all.retain(|it| *it != self.actual(use_step));
        all
    }

    /// The define set of a use: what it read, and what it could. Sorted; the first value first.
    pub fn of(&self, use_step: u32) -> Vec<Option<u32>> {
        let step = self.history.steps[use_step as usize];
        let Some(by_thread) = self.defines.get(&step.object) else { return vec![None] };
        let own = by_thread.get(step.thread.idx()).and_then(|own| {
            let n_before = own.partition_point(|it| *it < use_step);
            n_before.checked_sub(1).map(|it| own[it])
        });
        let mut found: Vec<Option<u32>> = own.iter().map(|it| Some(*it)).collect();
        for (thread, defines) in by_thread.iter().enumerate() {
            if thread != step.thread.idx() {
                self.of_other(use_step, own, defines, &mut found);
            }
        }
        let is_before = |it: &u32| self.order.is_before(*it, use_step);
        if !by_thread.iter().any(|it| it.first().is_some_and(is_before)) {
            found.push(None);
        }
        // What is overwritten for sure by a third thread.
        let covers: Vec<u32> = found.iter().flatten().copied().filter(|it| is_before(it)).collect();
        found.retain(|it| {
            it.is_none_or(|it| !covers.iter().any(|cover| self.order.is_before(it, *cover)))
        });
        if !found.contains(&self.actual(use_step)) {
            found.push(self.actual(use_step));
        }
        found.sort_unstable();
        found
    }

    fn of_other(
        &self,
        use_step: u32,
        own: Option<u32>,
        defines: &[u32],
        found: &mut Vec<Option<u32>>,
    ) {
        // Of one thread, what must come before the use comes first, what must come after it last.
        let n_before = defines.partition_point(|it| self.order.is_before(*it, use_step));
        let n_not_after = defines.partition_point(|it| !self.order.is_before(use_step, *it));
        let first = n_before.saturating_sub(1);
        for idx in first..n_not_after.min(first.saturating_add(self.n_max)) {
            let is_hidden = self.is_hidden(use_step, own, defines[idx], defines.get(idx + 1));
            if !is_hidden {
                found.push(Some(defines[idx]));
            }
        }
    }

    /// Do critical sections keep a use from seeing another thread's define?
    fn is_hidden(&self, use_step: u32, own: Option<u32>, define: u32, next: Option<&u32>) -> bool {
        let of_use = self.locks.at(use_step);
        let of_define = self.locks.at(define);
        let excludes = |a: &HeldAt| {
            of_define.iter().find(|b| b.lock == a.lock && !(a.is_shared && b.is_shared)).copied()
        };
        of_use.iter().filter_map(|it| excludes(it).map(|other| (*it, other))).any(
            |(mine, theirs)| {
                let is_overwritten = next.is_some_and(|it| self.locks.at(*it).contains(&theirs));
                let has_written = own.is_some_and(|it| self.locks.at(it).contains(&mine));
                is_overwritten || has_written
            },
        )
    }
}
