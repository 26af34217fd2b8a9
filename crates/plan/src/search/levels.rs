//! Searches by levels: all schedules of cost 0, then all of cost 1, and so on, each level finished before
//! the next.
//!
//! A schedule's cost is the sum of the costs of its choices, and the tail of every task costs nothing. To
//! find the schedules of a level, those below are made again: a queue of all that lies beyond the bound
//! would grow with the number of schedules, this way memory is O(depth · threads), and a level is so much
//! larger than the one below that it hardly matters. Executions made again are counted as redundant.

mod idb;
mod ipb;

use raddle_model::{BoundUnit, Scope, ThreadId};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

pub(crate) use self::{idb::Delays, ipb::Preemptions};
use super::{
    Run, Step,
    run::is_repeat,
    tree::{Path, Policy, Verdict, Way},
};

/// What choices cost.
pub(crate) trait Cost: std::fmt::Debug + Serialize + DeserializeOwned {
    /// What it costs that this thread goes on, in the state before a step; `last` took the step before.
    fn thread(&self, step: &Step, last: ThreadId, thread: ThreadId) -> u32;
    /// What it costs to perform a step in this way.
    fn choice(&self, step: &Step, choice: u32) -> u32;
    /// What it is that is counted.
    const UNIT: BoundUnit;
}

/// See the module.
#[derive(Debug, Serialize, Deserialize)]
#[serde(bound = "")]
pub(crate) struct Bounded<C: Cost> {
    cost: C,
    may_time_out: bool,
    level: u32,
    /// The last level that is wanted.
    max: Option<u32>,
    /// Has this level left out anything?
    is_cut: bool,
}

impl<C: Cost> Bounded<C> {
    pub(crate) fn new(cost: C, may_time_out: bool, max: Option<u32>) -> Bounded<C> {
        Bounded { cost, may_time_out, level: 0, max, is_cut: false }
    }

    fn affordable(&mut self, cost: u32) -> bool {
        self.is_cut |= self.level < cost;
        cost <= self.level
    }
}

/// Nodes keep what the path to them cost, children what they cost in all.
impl<C: Cost> Policy for Bounded<C> {
    type Node = u32;
    type Child = u32;
    const IS_STATIC: bool = true;

    fn grow(&mut self, path: &mut Path<u32, u32>, from: usize, _: &Run) -> Verdict {
        let mut spent = 0;
        let mut is_waiting = false;
        if from < path.n_nodes() {
            spent = self.add_choices(path, from);
        }
        for idx in path.n_nodes()..path.steps.len() {
            let (step, last) = (path.steps[idx], path.last(idx));
            is_waiting |= idx > 0 && is_repeat(&path.steps, idx - 1);
            let node = path.push_node();
            node.extra = spent;
            node.begin(&step, spent + self.cost.thread(&step, last, step.thread));
            let others = step.options(self.may_time_out, last).filter(|_| !is_waiting);
            for thread in others {
                let cost = spent + self.cost.thread(&step, last, thread);
                if thread != step.thread && self.affordable(cost) {
                    node.add(Way { thread, choice: None }, cost);
                }
            }
            spent = self.add_choices(path, idx);
        }
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
        self.is_cut
    }

    /// Schedules of exactly this level, if all paths were like this one.
    fn sample(&self, path: &Path<u32, u32>) -> Option<f64> {
        // By what is left to spend: leaves behind a node, from the last node to the first.
        let mut leaves = vec![1.0_f64; self.level as usize + 1];
        for (idx, step) in path.steps.iter().enumerate().rev() {
            let costs = self.costs(step, path.last(idx));
            let spending = |left: usize| -> f64 {
                let behind = |it: &u32| left.checked_sub(*it as usize).map_or(0.0, |it| leaves[it]);
                costs.iter().map(behind).sum::<f64>().min(1e300)
            };
            leaves = (0..leaves.len()).map(spending).collect();
        }
        let below = leaves.len().checked_sub(2).map_or(0.0, |it| leaves[it]);
        leaves.last().map(|it| it - below)
    }

    fn scope(&self) -> Scope {
        Scope::Levels { unit: C::UNIT, level: self.level, is_cut: self.is_cut }
    }
}

impl<C: Cost> Bounded<C> {
    /// What the ways in the state before a step cost.
    fn costs(&self, step: &Step, last: ThreadId) -> Vec<u32> {
        let mut costs = Vec::new();
        for thread in step.options(self.may_time_out, last) {
            let cost = self.cost.thread(step, last, thread);
            let n_choices = if thread == step.thread { step.n_choices.max(1) } else { 1 };
            costs.extend((0..n_choices).map(|it| cost + self.cost.choice(step, it)));
        }
        costs
    }

    /// Adds the other ways to perform the step that the path takes at a node; what the path has cost so far.
    fn add_choices(&mut self, path: &mut Path<u32, u32>, idx: usize) -> u32 {
        let (step, last) = (path.steps[idx], path.last(idx));
        let node = path.node_mut(idx);
        let thread = node.extra + self.cost.thread(&step, last, step.thread);
        node.add_choices(&step);
        let is_affordable = |choice: Option<u32>| {
            thread + choice.map_or(0, |it| self.cost.choice(&step, it)) <= self.level
        };
        let n_children = node.children.len();
        node.children.retain(|it| it.way.thread != step.thread || is_affordable(it.way.choice));
        self.is_cut |= node.children.len() < n_children;
        for child in node.children.iter_mut().filter(|it| it.way.thread == step.thread) {
            child.extra = thread + child.way.choice.map_or(0, |it| self.cost.choice(&step, it));
        }
        thread + if step.n_choices > 1 { self.cost.choice(&step, step.choice) } else { 0 }
    }
}
