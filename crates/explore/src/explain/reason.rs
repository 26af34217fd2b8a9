//! The orders that make it fail, found by constrained re-execution (ALGORITHMS D4).
//!
//! Of the edges of the smallest schedule, those are candidates that some passing execution has the other
//! way round. A set of orders is *sufficient* if random executions that keep them fail the same way, all of
//! them; delta debugging makes a sufficient set small, and then each of its orders is tried the other way
//! round. What passes then, and is nearest to the failing schedule, is the contrast (D5).
//!
//! Where we depart: the set is found with few executions for each try, and measured with more at the end,
//! so what is said is that measure. Where the candidates themselves are not enough (a time-out, a data
//! choice), the set is the smallest that fails as often as all of them do, and the figure says how often.

use std::collections::HashMap;

use raddle_model::{Before, PickerSpec, Plan, Record, Share, Side};
use raddle_trace::Trace;

use super::{
    edges::{self, Edge, Positions, edges, sides},
    trials::Trials,
};
use crate::target::{Execution, TargetError};

/// Executions without any order, to see what passes.
const N_FREE: u64 = 24;
/// Executions of one try.
const N_TRY: u64 = 8;
/// Executions that say how sure it is.
const N_SURE: u64 = 20;
/// Executions may fail to keep their orders; so many times more are tried.
const SLACK: u64 = 3;
/// More candidates than this are cut to the last ones.
const EDGES_MAX: usize = 64;

/// What was found.
pub(super) struct Orders {
    pub(super) edges: Vec<Edge>,
    pub(super) sufficient: Share,
    /// By edge: executions with this one the other way round, and how many failed.
    pub(super) reversed: Vec<Share>,
    /// The nearest execution that passes, its plan, and the edge that it has the other way round.
    pub(super) passing: Option<Contrast>,
    /// Passing executions that edges refer to.
    pub(super) passes: Vec<Trace>,
}

/// An execution that passes.
pub(super) struct Contrast {
    pub(super) execution: Execution,
    pub(super) plan: Plan,
    pub(super) reversed: Option<usize>,
    /// How near it is; larger is nearer.
    nearness: (usize, std::cmp::Reverse<u64>),
}

/// Finds the orders.
pub(super) struct Reasoner<'t, 'a, 'e> {
    trials: &'t mut Trials<'a>,
    /// All executions have this in common.
    base: Plan,
    failing: &'e Trace,
    contrast: Option<Contrast>,
    /// Passing executions with steps that the failing one did not come to.
    passes: Vec<Trace>,
    is_over: bool,
}

impl<'t, 'a, 'e> Reasoner<'t, 'a, 'e> {
    pub(super) fn new(
        trials: &'t mut Trials<'a>,
        base: &Plan,
        failing: &'e Trace,
    ) -> Reasoner<'t, 'a, 'e> {
        let record = Record { options: true, ..base.record };
        let base = Plan { picker: PickerSpec::Constrained, record, ..base.clone() };
        Reasoner { trials, base, failing, contrast: None, passes: Vec::new(), is_over: false }
    }

    /// The orders; `None` if the budget did not last, or if none of them matter.
    pub(super) fn find(mut self) -> Result<Option<Orders>, TargetError> {
        let (candidates, share) = self.candidates()?;
        if share.n == share.of && !self.is_over {
            let (passing, passes) = (self.contrast, self.passes);
            return Ok(Some(Orders {
                edges: Vec::new(),
                sufficient: share,
                reversed: Vec::new(),
                passing,
                passes,
            }));
        }
        let all = self.measure(&orders(&candidates), N_SURE, None)?;
        if all.n == 0 || self.is_over {
            return Ok(None);
        }
        let is_certain = all.n == all.of;
        let edges = self.reduce(candidates, is_certain.then_some(0), all)?;
        let sufficient = self.measure(&orders(&edges), N_SURE, None)?;
        let mut reversed = Vec::new();
        for idx in 0..edges.len() {
            let mut turned = orders(&edges);
            turned[idx] = edges[idx].reversed();
            reversed.push(self.measure(&turned, N_SURE, Some(idx))?);
        }
        let (passing, passes) = (self.contrast, self.passes);
        Ok((sufficient.n > 0).then_some(Orders { edges, sufficient, reversed, passing, passes }))
    }

    /// Edges that some passing execution has the other way round, and how many executions without any
    /// order fail.
    fn candidates(&mut self) -> Result<(Vec<Edge>, Share), TargetError> {
        let mut exposed = self.base.shared.clone();
        exposed.sort_unstable();
        let all = edges(self.failing, &exposed);
        let (steps, _) = sides(self.failing);
        let failing: HashMap<Side, usize> =
            steps.into_iter().enumerate().map(|(idx, side)| (side, idx)).collect();
        let mut is_turned = vec![false; all.len()];
        let mut absent: Vec<Edge> = Vec::new();
        let mut share = Share::default();
        for seed in 0..N_FREE {
            let Some((execution, is_shown)) = self.run(&[], seed)? else { break };
            share.of += 1;
            share.n += u64::from(is_shown);
            if is_shown {
                continue;
            }
            let positions = Positions::of(&execution.trace);
            for (edge, is_turned) in all.iter().zip(&mut is_turned) {
                *is_turned |= positions.reverse(&edge.order);
            }
            let n_before = absent.len();
            for edge in edges::absent(&execution.trace, self.passes.len(), &exposed, &failing) {
                if !absent.iter().any(|it| it.order == edge.order) {
                    absent.push(edge);
                }
            }
            if n_before < absent.len() {
                self.passes.push(execution.trace.clone());
            }
            self.compare(execution, &[], seed, None);
        }
        let turned = all.iter().zip(is_turned).filter(|it| it.1).map(|it| *it.0);
        let mut candidates: Vec<Edge> = turned.chain(absent).collect();
        candidates.sort_by_key(|it| (it.first, it.second));
        let n_too_many = candidates.len().saturating_sub(EDGES_MAX);
        Ok((candidates.split_off(n_too_many), share))
    }

    /// Delta debugging: a small set that fails as often.
    fn reduce(
        &mut self,
        mut edges: Vec<Edge>,
        certain: Option<u64>,
        all: Share,
    ) -> Result<Vec<Edge>, TargetError> {
        let mut n_parts = 2;
        while !edges.is_empty() && !self.is_over {
            let part = edges.len().div_ceil(n_parts);
            let mut is_smaller = false;
            for start in (0..edges.len()).step_by(part) {
                let end = (start + part).min(edges.len());
                let rest = [&edges[..start], &edges[end..]].concat();
                if self.is_enough(&rest, certain, all)? {
                    edges = rest;
                    is_smaller = true;
                    break;
                }
            }
            n_parts = match is_smaller {
                true => (n_parts - 1).max(2),
                false if part == 1 => break,
                false => 2 * n_parts,
            };
            n_parts = n_parts.min(edges.len().max(1));
        }
        Ok(edges)
    }

    /// Do executions that keep these orders fail as often as those that keep all?
    fn is_enough(
        &mut self,
        edges: &[Edge],
        certain: Option<u64>,
        all: Share,
    ) -> Result<bool, TargetError> {
        let orders = orders(edges);
        let first = self.measure_until(&orders, N_TRY, certain)?;
        if certain.is_some() && (first.n < first.of || first.of < N_TRY / 2) {
            return Ok(false);
        }
        let share = self.measure_until(&orders, N_SURE, certain)?;
        Ok(match certain {
            Some(_) => share.n == share.of && N_SURE / 2 <= share.of,
            // Nine tenths of how often all of them fail.
            None => share.n * all.of * 10 >= all.n * share.of * 9 && share.n > 0,
        })
    }

    fn measure(
        &mut self,
        orders: &[Before],
        n_wanted: u64,
        turned: Option<usize>,
    ) -> Result<Share, TargetError> {
        self.sample(orders, n_wanted, None, turned)
    }

    fn measure_until(
        &mut self,
        orders: &[Before],
        n_wanted: u64,
        passes_max: Option<u64>,
    ) -> Result<Share, TargetError> {
        self.sample(orders, n_wanted, passes_max, None)
    }

    /// Of executions that keep these orders, how many fail; ends when more pass than may.
    fn sample(
        &mut self,
        orders: &[Before],
        n_wanted: u64,
        passes_max: Option<u64>,
        turned: Option<usize>,
    ) -> Result<Share, TargetError> {
        let mut share = Share::default();
        for seed in 0..SLACK * n_wanted {
            let is_enough = n_wanted <= share.of;
            if is_enough || passes_max.is_some_and(|it| it < share.of - share.n) {
                break;
            }
            let Some((execution, is_shown)) = self.run(orders, seed)? else { break };
            let positions = Positions::of(&execution.trace);
            if !orders.iter().all(|it| positions.keep(it)) {
                continue;
            }
            share.of += 1;
            share.n += u64::from(is_shown);
            if !is_shown && turned.is_some() {
                self.compare(execution, orders, seed, turned);
            }
        }
        Ok(share)
    }

    /// Runs an execution within these orders; does it show the finding?
    fn run(
        &mut self,
        orders: &[Before],
        seed: u64,
    ) -> Result<Option<(Execution, bool)>, TargetError> {
        let plan = self.plan(orders, seed);
        let Some(trial) = self.trials.run(&plan)? else {
            self.is_over = true;
            return Ok(None);
        };
        let is_shown = self.trials.shows(&trial.execution);
        Ok(Some((trial.execution, is_shown)))
    }

    fn plan(&self, orders: &[Before], seed: u64) -> Plan {
        Plan {
            prefix: Before::script(orders),
            seed: self.base.seed.wrapping_add(seed),
            ..self.base.clone()
        }
    }

    /// Keeps a passing execution if it is nearer to the failing one than those before: it goes the same
    /// way for longer, or else has fewer switches.
    fn compare(
        &mut self,
        execution: Execution,
        orders: &[Before],
        seed: u64,
        reversed: Option<usize>,
    ) {
        let trace = &execution.trace;
        if self.trials.is_failure(&execution) || trace.n_dropped > 0 {
            return;
        }
        let pairs = self.failing.events.iter().zip(&trace.events);
        let n_same = pairs.take_while(|(a, b)| a.thread == b.thread && a.kind == b.kind).count();
        let nearness = (n_same, std::cmp::Reverse(trace.summary.n_switches));
        let is_first =
            |it: &Contrast| (it.reversed.is_some(), it.nearness) < (reversed.is_some(), nearness);
        if self.contrast.as_ref().is_none_or(is_first) {
            let plan = self.plan(orders, seed);
            self.contrast = Some(Contrast { execution, plan, reversed, nearness });
        }
    }
}

fn orders(edges: &[Edge]) -> Vec<Before> {
    edges.iter().map(|it| it.order).collect()
}
