//! Search guided by what was covered: seed paper 2's Algorithms 4 and 5 over `classic` ([`Pruned`]) and over
//! bounded preemptions ([`PrunedBounded`]), and the same knowledge as an order of search ([`Ordered`]).
//!
//! Two steps that are in a race are turned round only if the second was never seen to come right before the
//! first, in any execution that went well (`guide`). That leaves few executions, and grows little with the
//! number of threads. It has no guarantee: a bug that needs two certain orders in one execution is missed
//! when each of them has been seen by itself.
//!
//! Where we depart: threads that can't go on take part too; there are sleep sets over `classic`,
//! which the paper's baseline lacks; of races before a thread came to its op, only such count as nothing
//! else puts in order, since to turn round another is not possible by that alone; and which waiter a signal
//! wakes, which the paper leaves to the system, is tried once for each place.
//!
//! [`Ordered`] leaves nothing out. It goes by levels: first as above, by source sets; then it also turns round one
//! race in each execution whose other order was covered already, then two, then three, and at last all of them, which
//! is `dpor`. So what is new comes first, what combines few old things next, and when it has ended, it has
//! seen everything. Executions are made again on the next level.

use raddle_model::{Scope, ThreadId};
use serde::{Deserialize, Serialize};

use super::{
    Path, Rule,
    classic::chosen,
    guide::{Code, Guide},
    order::{Asked, HappensBefore},
    source::beginners,
};
use crate::search::{
    Pending,
    levels::Preemptions,
    tree::{State, Verdict, Way},
};

/// Over Flanagan and Godefroid's.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Pruned {
    guide: Guide,
    is_cut: bool,
}

/// Over bounded preemptions, level by level.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct PrunedBounded {
    guide: Guide,
    level: u32,
    max: Option<u32>,
    /// Has the bound left something out, in this level?
    is_cut: bool,
}

/// Nothing is left out in the end.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Ordered {
    guide: Guide,
    /// So many races with a covered order are turned round in one execution; `None`: all.
    level: Option<u32>,
    is_cut: bool,
}

/// The last level of [`Ordered`] before everything.
const LEVEL_MAX: u32 = 3;

impl Pruned {
    pub(crate) fn new(guide: Guide) -> Pruned {
        Pruned { guide, is_cut: false }
    }
}

impl Rule for Pruned {
    const IS_BY_OP: bool = true;

    fn turn_round(
        &mut self,
        order: &mut HappensBefore,
        path: &mut Path,
        asked: &Asked,
        pending: &[Pending],
    ) {
        let (steps, is_cut) = uncovered(&self.guide, order, path, asked);
        self.is_cut |= is_cut;
        for step in steps {
            for thread in chosen(order, path, step, asked.op.thread).iter() {
                if !path.covered(step).has(thread) {
                    path.want(step, thread, pending);
                }
            }
        }
    }

    fn limit_choices(&mut self, path: &mut Path, idx: usize, before: &[Way]) {
        self.is_cut |= limit_choices(&mut self.guide, path, idx, before, Some(0));
    }

    fn guide(&self) -> Option<&Guide> {
        Some(&self.guide)
    }

    fn guide_mut(&mut self) -> Option<&mut Guide> {
        Some(&mut self.guide)
    }

    fn is_cut(&self) -> bool {
        self.is_cut
    }

    fn scope(&self) -> Scope {
        Scope::NewOrders(None)
    }
}

impl PrunedBounded {
    pub(crate) fn new(guide: Guide, max: Option<u32>) -> PrunedBounded {
        PrunedBounded { guide, level: 0, max, is_cut: false }
    }
}

impl Rule for PrunedBounded {
    const IS_BY_OP: bool = true;
    const HAS_SLEEP: bool = false;

    fn turn_round(
        &mut self,
        order: &mut HappensBefore,
        path: &mut Path,
        asked: &Asked,
        pending: &[Pending],
    ) {
        for step in uncovered(&self.guide, order, path, asked).0 {
            let able = order.choosable(&path.steps[step]);
            for thread in able.minus(path.covered(step)).iter() {
                if self.affords(path, step, thread) {
                    path.want(step, thread, pending);
                }
            }
        }
    }

    fn limit_choices(&mut self, path: &mut Path, idx: usize, before: &[Way]) {
        limit_choices(&mut self.guide, path, idx, before, Some(0));
    }

    fn guide(&self) -> Option<&Guide> {
        Some(&self.guide)
    }

    fn guide_mut(&mut self) -> Option<&mut Guide> {
        Some(&mut self.guide)
    }

    fn affords(&mut self, path: &Path, idx: usize, thread: ThreadId) -> bool {
        let is_affordable = Preemptions::spent(path, idx, thread) <= self.level;
        self.is_cut |= !is_affordable;
        is_affordable
    }

    fn verdict(&self, path: &Path) -> Verdict {
        let last = path.steps.len().checked_sub(1);
        let spent = last.map_or(0, |it| Preemptions::spent(path, it, path.steps[it].thread));
        if spent < self.level { Verdict::Redundant } else { Verdict::New }
    }

    fn next_level(&mut self) -> bool {
        let is_last = !self.is_cut || self.max == Some(self.level);
        if !is_last {
            self.level += 1;
            self.is_cut = false;
        }
        !is_last
    }

    fn level(&self) -> Option<u32> {
        Some(self.level)
    }

    fn is_cut(&self) -> bool {
        true
    }

    fn scope(&self) -> Scope {
        Scope::NewOrders(Some(self.level))
    }
}

impl Ordered {
    pub(crate) fn new(guide: Guide) -> Ordered {
        Ordered { guide, level: Some(0), is_cut: false }
    }
}

impl Rule for Ordered {
    const IS_BY_OP: bool = false;

    fn turn_round(
        &mut self,
        order: &mut HappensBefore,
        path: &mut Path,
        asked: &Asked,
        pending: &[Pending],
    ) {
        let races = order.immediate_races(asked, &path.steps);
        for step in &races {
            let initials = order.initials(*step, asked);
            let covered = path.covered(*step);
            if !initials.and(covered).is_empty() {
                continue;
            }
            let code = Code { steps: &path.steps, sites: &path.sites };
            let cost = u32::from(self.guide.is_covered(order, code, *step, asked));
            if self.level.is_some_and(|it| it < path.cost(*step) + cost) {
                self.is_cut = true;
                continue;
            }
            let able = order.choosable(&path.steps[*step]);
            for thread in beginners(initials, able, covered, asked.op.thread) {
                path.want(*step, thread, pending);
                path.set_cost(*step, cost);
            }
        }
        order.recycle(races);
    }

    fn limit_choices(&mut self, path: &mut Path, idx: usize, before: &[Way]) {
        let room = self.level.map(|it| it.saturating_sub(path.cost(idx)));
        self.is_cut |= limit_choices(&mut self.guide, path, idx, before, room);
    }

    fn guide(&self) -> Option<&Guide> {
        Some(&self.guide)
    }

    fn guide_mut(&mut self) -> Option<&mut Guide> {
        Some(&mut self.guide)
    }

    fn verdict(&self, path: &Path) -> Verdict {
        let is_again = match self.level {
            Some(level) => path.cost(path.steps.len()) < level,
            None => path.cost(path.steps.len()) <= LEVEL_MAX,
        };
        if is_again { Verdict::Redundant } else { Verdict::New }
    }

    fn next_level(&mut self) -> bool {
        let is_last = !self.is_cut;
        if !is_last {
            self.level = self.level.filter(|it| *it < LEVEL_MAX).map(|it| it + 1);
            self.is_cut = false;
        }
        !is_last
    }

    fn level(&self) -> Option<u32> {
        Some(self.level.unwrap_or(LEVEL_MAX + 1))
    }

    fn scope(&self) -> Scope {
        Scope::NewOrdersFirst(self.level)
    }
}

/// The steps before which an op would be new, the last one first: all since its thread came to it, and one of
/// those before; and whether others were left out.
fn uncovered(
    guide: &Guide,
    order: &HappensBefore,
    path: &Path,
    asked: &Asked,
) -> (Vec<usize>, bool) {
    let code = Code { steps: &path.steps, sites: &path.sites };
    let mut steps = order.maximal_races(asked, &path.steps);
    let n_races = steps.len();
    steps.retain(|step| !guide.is_covered(order, code, *step, asked));
    let n_new = steps.len();
    let n_since = steps.iter().filter(|it| asked.announced() <= **it).count();
    steps.truncate(n_since + 1);
    (steps, n_new < n_races)
}

/// Which waiter a signal wakes is wanted once for each place; others cost 1, if that much is left. Was something left
/// out?
pub(super) fn limit_choices(
    guide: &mut Guide,
    path: &mut Path,
    idx: usize,
    before: &[Way],
    room: Option<u32>,
) -> bool {
    let step = path.steps[idx];
    let code = Code { steps: &path.steps, sites: &path.sites };
    let mut costs = Vec::new();
    guide.wants_choice(code, idx, step.choice);
    for child in &path.node(idx).children {
        let is_added = child.state == State::Waiting && !before.contains(&child.way);
        let choice = child.way.choice.filter(|_| is_added && child.way.thread == step.thread);
        costs.push(choice.map(|it| u32::from(!guide.wants_choice(code, idx, it))));
    }
    let children = &mut path.node_mut(idx).children;
    let n_children = children.len();
    let mut costs = costs.into_iter();
    children.retain_mut(|child| {
        let Some(cost) = costs.next().flatten() else { return true };
        child.extra.cost += cost;
        room.is_none_or(|it| child.extra.cost <= it)
    });
    children.len() < n_children
}
