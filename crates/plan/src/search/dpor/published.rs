//! As published: Wang, Said and Gupta, *Coverage guided systematic concurrency testing* (ICSE 2011), seed paper 2.
//! Its Algorithm 2 with the backtrack sets of §4.2, and its Algorithm 4.
//!
//! In every state, for every thread that can go on there: the latest step that its op depends on and may be
//! co-enabled with (line 18), and whose other order was never covered (Algorithm 4, line 3). Before that step come, in
//! an execution of their own:
//!
//! - `dpor:plain`, `hapset:paper`: the thread, or one that comes before its op; or whoever can (Algorithm 3).
//! - `pcb:K`, `hapset:pcb=K`: whoever can with at most K preemptions (§4.2.1).
//!
//! No sleep sets: they assume that a sibling was explored, and over a pruned tree it was not. What is learned is as
//! in Algorithm 1, line 18: of each thread the last access to the object, whoever used it since.
//!
//! Where we depart: a step that comes before the op by other steps is not the latest one (line 18 does not say
//! that, Flanagan and Godefroid, on whom it builds, do); a release is no race. What it misses: a thread that can't go on
//! turns nothing round, so a schedule may be missed in which it never can (`dpor:classic` lets it take part); a bound
//! over backtrack sets misses schedules within it (`dpor:preemptions=K` does not); and pruning by
//! covered orders what only combines them.

use raddle_model::{Scope, ThreadId};
use serde::{Deserialize, Serialize};

use super::{
    Path, Rule,
    classic::chosen,
    guide::{Code, Guide},
    hapset::limit_choices,
    order::{Asked, HappensBefore},
};
use crate::search::{Pending, ThreadSet, levels::Preemptions, tree::Way};

/// See the module.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Published {
    /// What was covered, if that guides it.
    guide: Option<Guide>,
    /// The most preemptions, if whoever can goes first.
    max: Option<u32>,
}

impl Published {
    pub(crate) fn new(guide: Option<Guide>, max: Option<u32>) -> Published {
        Published { guide: guide.map(Guide::without_hiding), max }
    }

    /// For each state since the thread came to its op and in which it could go on: the latest step that it is to come
    /// before.
    fn latest(
        &self,
        order: &HappensBefore,
        path: &Path,
        asked: &Asked,
        is_blocked: bool,
    ) -> Vec<usize> {
        let races = order.all_races(asked, &path.steps);
        let code = Code { steps: &path.steps, sites: &path.sites };
        let mut found: Vec<usize> = Vec::new();
        for state in asked.announced()..=order.len() {
            let can_go_on = match path.steps.get(state) {
                Some(step) => order.choosable(step).has(asked.op.thread),
                None => !is_blocked,
            };
            if !can_go_on {
                continue;
            }
            let is_new = |it: &usize| match &self.guide {
                Some(guide) => !guide.is_covered_at(order, code, *it, asked, state),
                None => true,
            };
            let latest = races.iter().copied().find(|it| *it < state && is_new(it));
            found.extend(latest.filter(|it| !found.contains(it)));
        }
        found
    }
}

impl Rule for Published {
    const IS_BY_OP: bool = true;
    const HAS_SLEEP: bool = false;

    fn turn_round(
        &mut self,
        order: &mut HappensBefore,
        path: &mut Path,
        asked: &Asked,
        pending: &[Pending],
    ) {
        let thread = asked.op.thread;
        let at_end = pending.iter().find(|it| it.thread == thread);
        let is_blocked = at_end.is_some_and(|it| it.is_blocked);
        for step in self.latest(order, path, asked, is_blocked) {
            let wanted: ThreadSet = match self.max {
                None => chosen(order, path, step, thread),
                Some(_) => order.choosable(&path.steps[step]),
            };
            for thread in wanted.minus(path.covered(step)).iter() {
                if self.affords(path, step, thread) {
                    path.want(step, thread, pending);
                }
            }
        }
    }

    fn affords(&mut self, path: &Path, idx: usize, thread: ThreadId) -> bool {
        self.max.is_none_or(|max| Preemptions::spent(path, idx, thread) <= max)
    }

    fn limit_choices(&mut self, path: &mut Path, idx: usize, before: &[Way]) {
        if let Some(guide) = &mut self.guide {
            limit_choices(guide, path, idx, before, Some(0));
        }
    }

    fn guide(&self) -> Option<&Guide> {
        self.guide.as_ref()
    }

    fn guide_mut(&mut self) -> Option<&mut Guide> {
        self.guide.as_mut()
    }

    /// Whatever it has explored, it claims nothing of the rest.
    fn is_cut(&self) -> bool {
        true
    }

    fn scope(&self) -> Scope {
        match self.guide {
            Some(_) => Scope::NewOrders(self.max),
            None => Scope::Backtracked(self.max),
        }
    }
}
