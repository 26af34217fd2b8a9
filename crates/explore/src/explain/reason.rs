//! The orders that make it fail, found by constrained re-execution.
//!
//! Of the edges of the smallest schedule, those are candidates that some passing execution has the other
//! way round. A set of orders is *sufficient* if random executions that keep them fail the same way, all of
//! them; delta debugging makes a sufficient set small, and then each of its orders is tried the other way
//! round. What passes then, and is nearest to the failing schedule, is the contrast (D5).
//!
//! The set is found in two goes. First as if it went without saying that what came in the failing execution comes
//! at all: that gives the core, what is done too early or too late. Then what else must be so that it comes, such
//! as a check that did not see it yet.
//!
//! Where we depart: every execution that does not fail is kept as a counterexample, and a set of orders that
//! one of them has kept is not tried at all. The set is found with few executions for each try and measured
//! with others at the end; if one of those passes, it is one counterexample more, and the search begins again.
//! Where the candidates themselves are not enough (a time-out, a data choice), the set is the smallest that
//! fails as often as all of them do, and the figure says how often.
//!
//! Of a long execution, orders alone do not lead back to the failure: then its beginning is kept as it was (`start`), and
//! all of this is about what comes after.
//!
//! Several sets may be enough. What threads do to data is dearer to a reader than what they do to locks, and
//! that than how threads begin and end, so the others are left out first.

use std::{cmp::Reverse, collections::HashMap};

use raddle_model::{Before, Event, Kind, OpKind, PickerSpec, Plan, Record, Share, Side, ThreadId};
use raddle_trace::Trace;

use super::{
    edges::{self, Edge, Node, Positions, Rule, edges},
    rich::Rich,
    seen::Seen,
    start::Start,
    trials::Trials,
};
use crate::target::{Execution, TargetError};

/// Executions without any order, to see what passes: so many, or more if few of them do.
const N_FREE: u64 = 24;
const N_FREE_MAX: u64 = 96;
const N_PASSES: u64 = 12;
/// Executions that say how sure it is.
const N_SURE: u64 = 20;
/// Executions may fail to keep their orders; so many times more are tried.
const SLACK: u64 = 3;
/// Executions that did not fail, and are remembered.
const COUNTEREXAMPLES_MAX: usize = 256;
/// How often the search begins again because what it found was not enough after all.
const ROUNDS: u64 = 4;
/// More candidates than this are cut to the last ones.
const EDGES_MAX: usize = 128;
/// What an order says to a reader at most.
const WORTH_MAX: u8 = 3;
/// More orders than this tell a reader nothing: no reason is given then.
const ORDERS_MAX: usize = 12;

/// What was found.
pub(super) struct Orders {
    pub(super) edges: Vec<Edge>,
    pub(super) sufficient: Share,
    /// By edge: executions with this one the other way round, and how many failed.
    pub(super) reversed: Vec<Share>,
    /// The nearest execution that passes, its plan, and the edge that it has the other way round.
    pub(super) passing: Option<PassingExecution>,
    /// Passing executions that edges refer to.
    pub(super) passes: Vec<Trace>,
    /// What all of these executions began with.
    pub(super) start: Start,
}

impl Orders {
    /// The same for other executions.
    pub(super) fn kept(&self) -> Vec<Before> {
        self.edges.iter().map(|it| it.order).collect()
    }

    /// Does it depend on the schedule, and do they not say how?
    pub(super) fn say_little(&self) -> bool {
        let Share { n, of } = self.sufficient;
        n < of && (self.edges.is_empty() || 2 * n < of)
    }

    /// By order: does it fail seldom with that the other way round, a third as often at most? Where nobody can tell, it does
    /// if they always make it fail.
    pub(super) fn are_clear(&self) -> impl Iterator<Item = bool> {
        let Share { n, of } = self.sufficient;
        self.reversed.iter().map(move |it| match is_known(it) {
            true => 3 * it.n * of <= n * it.of,
            false => n == of,
        })
    }

    /// Do they make it fail as often as others do?
    pub(super) const fn is_as_sure(&self, other: &Orders) -> bool {
        let (own, others) = (self.sufficient, other.sufficient);
        others.n * own.of <= own.n * others.of
    }
}

/// An execution that passes.
pub(super) struct PassingExecution {
    pub(super) execution: Execution,
    pub(super) plan: Plan,
    pub(super) reversed: Option<usize>,
    /// How near it is; larger is nearer.
    nearness: (usize, Reverse<u64>),
}

/// Finds the orders.
pub(super) struct Reasoner<'t, 'a, 'e> {
    trials: &'t mut Trials<'a>,
    /// All executions have this in common.
    base: Plan,
    failing: &'e Trace,
    /// And this, too.
    start: Start,
    /// The nearest execution that passes, without any order, and with one of them the other way round.
    contrast: Option<PassingExecution>,
    turned: Option<PassingExecution>,
    /// How much each order says to a reader.
    worths: HashMap<Before, u8>,
    /// Passing executions with steps that the failing one did not come to.
    passes: Vec<Trace>,
    /// Where steps were in executions that did not fail.
    counterexamples: Vec<Positions>,
    is_over: bool,
}

impl<'t, 'a, 'e> Reasoner<'t, 'a, 'e> {
    pub(super) fn new(
        trials: &'t mut Trials<'a>,
        base: &Plan,
        failing: &'e Trace,
        start: Start,
    ) -> Reasoner<'t, 'a, 'e> {
        let record = Record { options: true, ..base.record };
        let base = Plan { picker: PickerSpec::Constrained, record, ..base.clone() };
        let (passes, counterexamples) = (Vec::new(), Vec::new());
        Reasoner {
            trials,
            base,
            failing,
            start,
            contrast: None,
            turned: None,
            worths: HashMap::new(),
            passes,
            counterexamples,
            is_over: false,
        }
    }

    /// The orders, none if none of them matter; `None` if the budget did not last.
    pub(super) fn find(mut self) -> Result<Option<Orders>, TargetError> {
        let (mut candidates, share) = self.candidates()?;
        if share.n == share.of && !self.is_over {
            return Ok(Some(self.without_orders(share)));
        }
        let all = self.measure(&candidates, None)?;
        if self.is_over {
            return Ok(None);
        }
        if all.n > 0 {
            self.learn_worths(&candidates)?;
        }
        if all.n == 0 {
            // It takes more than orders: what stands out about the schedule is all there is to say.
            return Ok(Some(self.without_orders(share)));
        }
        let (mut edges, mut sufficient) = match all.n == all.of {
            true => self.smallest(&candidates)?,
            false => self.as_often(candidates.clone(), all)?,
        };
        if ORDERS_MAX < edges.len() {
            return Ok(Some(self.without_orders(share)));
        }
        let mut reversed = self.all_reversed(&edges)?;
        // What fails about as often the other way round is no cause.
        while let Some(idx) = reversed.iter().position(|it| says_nothing(it, sufficient)) {
            let idle = edges.remove(idx);
            candidates.retain(|it| it.order != idle.order);
            if let Some(others) = self.instead(&candidates)? {
                (edges, sufficient) = others;
            } else if edges.is_empty() || self.is_over {
                return Ok(Some(self.without_orders(share)));
            } else {
                sufficient = self.measure(&edges, None)?;
            }
            reversed = self.all_reversed(&edges)?;
        }
        if sufficient.n == 0 {
            return Ok(Some(self.without_orders(share)));
        }
        let (passing, passes, start) = (self.turned.or(self.contrast), self.passes, self.start);
        Ok(Some(Orders { edges, sufficient, reversed, passing, passes, start }))
    }

    /// Do all executions fail from the start on?
    pub(super) fn is_lost(&mut self) -> Result<bool, TargetError> {
        self.always_fails(&[], Rule::MayCome)
    }

    /// Do most of them fail that keep all orders of what comes after the start?
    pub(super) fn is_decided(&mut self) -> Result<bool, TargetError> {
        let (candidates, _) = self.candidates()?;
        let Share { n, of } = self.measure(&candidates, None)?;
        Ok(of <= 2 * n && N_SURE / 2 <= of)
    }

    /// Without an order that is no cause: others may be enough, and say what it stood for.
    fn instead(&mut self, candidates: &[Edge]) -> Result<Option<(Vec<Edge>, Share)>, TargetError> {
        if self.is_over || !self.always_fails(candidates, Rule::MayCome)? {
            return Ok(None);
        }
        let (edges, sufficient) = self.smallest(candidates)?;
        let is_it = !edges.is_empty()
            && edges.len() <= ORDERS_MAX
            && sufficient.n == sufficient.of
            && !self.is_over;
        Ok(is_it.then_some((edges, sufficient)))
    }

    /// For each order: executions that keep the others and have it the other way round, and how many of them fail.
    fn all_reversed(&mut self, edges: &[Edge]) -> Result<Vec<Share>, TargetError> {
        // What had an order of another set the other way round is none of these.
        self.turned = None;
        (0..edges.len()).map(|idx| self.measure(edges, Some(idx))).collect()
    }

    /// So many executions fail, and no order makes them.
    fn without_orders(self, sufficient: Share) -> Orders {
        let (passing, passes, start) = (self.contrast, self.passes, self.start);
        Orders { edges: Vec::new(), sufficient, reversed: Vec::new(), passing, passes, start }
    }

    /// Edges that some passing execution has the other way round, and how many executions without any
    /// order fail.
    fn candidates(&mut self) -> Result<(Vec<Edge>, Share), TargetError> {
        let mut exposed = self.base.shared.clone();
        exposed.sort_unstable();
        let seen = self.seen(self.failing);
        let (all, steps) = (edges(&seen, &exposed), seen.sides);
        let failing: HashMap<Side, usize> =
            steps.into_iter().enumerate().map(|(idx, side)| (side, idx)).collect();
        let mut is_turned = vec![false; all.len()];
        let mut absent: Vec<Edge> = Vec::new();
        let mut share = Share::default();
        for seed in 0..N_FREE_MAX {
            let n_passes = share.of - share.n;
            if N_FREE <= share.of && (N_PASSES <= n_passes || n_passes == 0) {
                break;
            }
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
            let seen = self.seen(&execution.trace);
            for edge in edges::absent(&seen, self.passes.len(), &exposed, &failing) {
                let is_known = absent.iter().any(|it| it.order == edge.order);
                if !is_known && !self.is_failure_itself(&edge) {
                    absent.push(edge);
                }
            }
            if n_before < absent.len() {
                self.passes.push(seen.trace);
            }
            self.counterexamples.push(positions);
            self.compare(execution, &[], seed, None);
        }
        let turned = all.iter().zip(is_turned).filter(|it| it.1).map(|it| *it.0);
        let mut candidates: Vec<Edge> = turned.chain(absent).collect();
        // What comes after the end of the thread that panicked did not make it panic.
        let end = self.panicked_at();
        let is_after = |node: Node| matches!(node, Node::Step(idx) if end < idx);
        candidates.retain(|it| !is_after(it.first) && !is_after(it.second));
        candidates.sort_by_key(|it| (it.first, it.second));
        if !self.start.is_none() {
            // What decides it comes soon after the start.
            candidates.truncate(EDGES_MAX);
            return Ok((candidates, share));
        }
        let n_too_many = candidates.len().saturating_sub(EDGES_MAX);
        Ok((candidates.split_off(n_too_many), share))
    }

    /// A trace as the program's author sees it; after a start, step by step.
    fn seen(&mut self, trace: &Trace) -> Seen {
        match self.start.is_none() {
            true => Seen::of(trace.clone(), self.trials.symbols),
            false => Seen::step_by_step(trace.clone(), self.trials.symbols),
        }
    }

    /// Is it a step that a thread did not reach because it is blocked forever? That is the failure, not its cause.
    fn is_failure_itself(&self, absent: &Edge) -> bool {
        let stuck =
            |it: ThreadId| self.failing.threads.get(it.idx()).is_some_and(|it| it.is_blocked);
        !self.start.is_none() && stuck(absent.order.second.thread)
    }

    /// The last step of a thread that panicked, which the others outlive; the last of all if none did.
    fn panicked_at(&self) -> usize {
        let events = &self.failing.events;
        let finding = self.trials.finding;
        let is_end = |it: &Event| Some(it.thread) == finding.thread && it.kind == OpKind::Finish;
        let is_panic = finding.kind == Kind::Panic && self.start.is_none();
        let end = events.iter().position(is_end).filter(|_| is_panic);
        end.unwrap_or(events.len())
    }

    /// A small set that always fails, and how many executions say so.
    fn smallest(&mut self, candidates: &[Edge]) -> Result<(Vec<Edge>, Share), TargetError> {
        for round in 1.. {
            let mut core = candidates.to_vec();
            self.reduce(&[], &mut core, |it, edges| it.always_fails(edges, Rule::Come))?;
            let mut rest: Vec<Edge> =
                candidates.iter().copied().filter(|it| !core.contains(it)).collect();
            self.reduce(&core, &mut rest, |it, edges| it.always_fails(edges, Rule::MayCome))?;
            let mut edges = [core, rest].concat();
            edges.sort_by_key(|it| (it.first, it.second));
            let seed = round * SLACK * N_SURE;
            let sufficient = self.sample(&edges, seed, Rule::MayCome, None, None)?;
            if sufficient.n == sufficient.of || self.is_over || round == ROUNDS {
                return Ok((edges, sufficient));
            }
        }
        unreachable!("bug: rounds end");
    }

    /// A small set that fails as often as all candidates, and how often that is.
    fn as_often(
        &mut self,
        mut edges: Vec<Edge>,
        all: Share,
    ) -> Result<(Vec<Edge>, Share), TargetError> {
        self.reduce(&[], &mut edges, |it, edges| {
            let share = it.measure(edges, None)?;
            // Nine tenths of how often all of them fail.
            Ok(share.n * all.of * 10 >= all.n * share.of * 9 && share.n > 0)
        })?;
        edges.sort_by_key(|it| (it.first, it.second));
        let sufficient = self.measure(&edges, None)?;
        Ok((edges, sufficient))
    }

    /// Those that say least come first, for they are left out first: what comes late tells the symptom rather
    /// than the cause.
    fn sort(&self, edges: &mut [Edge]) {
        edges.sort_by_key(|it| (self.worth(it), Reverse(it.second), Reverse(it.first)));
    }

    /// Leaves out all that is not needed beside what is fixed: first of what says least, as long as all that says more is
    /// there, then of the rest.
    fn reduce(
        &mut self,
        fixed: &[Edge],
        edges: &mut Vec<Edge>,
        mut is_enough: impl FnMut(&mut Self, &[Edge]) -> Result<bool, TargetError>,
    ) -> Result<(), TargetError> {
        self.sort(edges);
        for worth in 0..=WORTH_MAX {
            let (mut part, rest): (Vec<Edge>, Vec<Edge>) =
                edges.iter().copied().partition(|it| self.worth(it) == worth);
            let fixed = [fixed, &rest].concat();
            self.delta(&fixed, &mut part, &mut is_enough)?;
            *edges = [part, rest].concat();
        }
        Ok(())
    }

    /// Delta debugging.
    fn delta(
        &mut self,
        fixed: &[Edge],
        edges: &mut Vec<Edge>,
        is_enough: &mut impl FnMut(&mut Self, &[Edge]) -> Result<bool, TargetError>,
    ) -> Result<(), TargetError> {
        let mut n_parts = 1;
        while !edges.is_empty() && !self.is_over {
            let part = edges.len().div_ceil(n_parts);
            let mut is_smaller = false;
            for start in (0..edges.len()).step_by(part) {
                let end = (start + part).min(edges.len());
                let rest = [&edges[..start], &edges[end..]].concat();
                if is_enough(self, &[fixed, &rest].concat())? {
                    *edges = rest;
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
        Ok(())
    }

    /// How much orders say to a reader: of critical sections, what the accesses in them do to each other, which are no
    /// steps of the smallest schedule.
    fn learn_worths(&mut self, edges: &[Edge]) -> Result<(), TargetError> {
        let rich = Rich::failing(self.trials, &self.base, self.failing, edges, &self.start)?;
        for (idx, edge) in edges.iter().enumerate() {
            let kind = |node: Node| match node {
                Node::Step(idx) => rich.trace.events[idx].kind,
                Node::Pending(thread) => rich.trace.threads[thread.idx()].pending.kind,
                Node::Absent { passing, idx } => self.passes[passing].events[idx].kind,
            };
            let (first, second) = rich.pairs[idx];
            let kinds = (kind(first), kind(second));
            // Critical sections that have nothing to do with each other.
            let are_steps = matches!((first, second), (Node::Step(_), Node::Step(_)));
            let is_idle = kinds.0.takes_lock() && kinds.1.takes_lock() && are_steps;
            self.worths.insert(edge.order, if is_idle { 0 } else { worth(kinds) });
        }
        Ok(())
    }

    /// How much an order says to a reader.
    fn worth(&self, edge: &Edge) -> u8 {
        self.worths.get(&edge.order).copied().unwrap_or(0)
    }

    /// Do all executions fail that keep these orders?
    fn always_fails(&mut self, edges: &[Edge], rule: Rule) -> Result<bool, TargetError> {
        let refutes = |it: &Positions| edges.iter().all(|edge| it.keep(edge, rule));
        if self.counterexamples.iter().any(refutes) {
            return Ok(false);
        }
        let share = self.sample(edges, 0, rule, Some(0), None)?;
        Ok(share.n == share.of && N_SURE / 2 <= share.of)
    }

    fn measure(&mut self, edges: &[Edge], turned: Option<usize>) -> Result<Share, TargetError> {
        self.sample(edges, 0, Rule::MayCome, None, turned)
    }

    /// Of executions that keep these orders, one of them the other way round if it is `turned`, how many fail;
    /// ends when more pass than may.
    fn sample(
        &mut self,
        edges: &[Edge],
        first_seed: u64,
        rule: Rule,
        passes_max: Option<u64>,
        turned: Option<usize>,
    ) -> Result<Share, TargetError> {
        let mut orders: Vec<Before> = edges.iter().map(|it| it.order).collect();
        if let Some(idx) = turned {
            orders[idx] = edges[idx].reversed();
        }
        let mut share = Share::default();
        for seed in first_seed..first_seed + SLACK * N_SURE {
            let is_enough = N_SURE <= share.of;
            // Orders that are hardly ever kept are not what a reader wants to hear of.
            let n_runs = seed - first_seed;
            let is_rare = passes_max.is_some() && N_SURE <= n_runs && share.of < N_SURE / 4;
            let is_refuted = passes_max.is_some_and(|it| it < share.of - share.n);
            if is_enough || is_rare || is_refuted {
                break;
            }
            let Some((execution, is_shown)) = self.run(&orders, seed)? else { break };
            let positions = Positions::of(&execution.trace);
            let is_kept = match rule {
                Rule::Come => edges.iter().all(|it| positions.keep(it, rule)),
                Rule::MayCome => orders.iter().all(|it| positions.is_before(it)),
            };
            if !is_shown && self.counterexamples.len() < COUNTEREXAMPLES_MAX {
                self.counterexamples.push(positions);
            }
            if !is_kept {
                continue;
            }
            share.of += 1;
            share.n += u64::from(is_shown);
            if !is_shown && turned.is_some() {
                self.compare(execution, &orders, seed, turned);
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
            prefix: Before::script_after(&self.start.choices, orders),
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
        let nearness = (n_same, Reverse(trace.summary.n_switches));
        let is_first = |it: &PassingExecution| it.nearness < nearness;
        let best = if reversed.is_some() { &self.turned } else { &self.contrast };
        if best.as_ref().is_none_or(is_first) {
            let plan = self.plan(orders, seed);
            let passing = Some(PassingExecution { execution, plan, reversed, nearness });
            match reversed {
                Some(_) => self.turned = passing,
                None => self.contrast = passing,
            }
        }
    }
}

/// How much an order of two such ops says to a reader.
const fn worth(kinds: (OpKind, OpKind)) -> u8 {
    const fn follows_from_others(kind: OpKind) -> bool {
        matches!(
            kind,
            OpKind::Spawn
                | OpKind::Start
                | OpKind::Finish
                | OpKind::Join
                | OpKind::TryJoin
                | OpKind::CondWake
                | OpKind::FutexWake
                | OpKind::BarrierLeave
        )
    }
    const fn is_data(kind: OpKind) -> bool {
        let tries = matches!(kind, OpKind::TryLock | OpKind::TryReadLock | OpKind::TryWriteLock);
        kind.is_access() || tries
    }
    match kinds {
        (one, other) if follows_from_others(one) || follows_from_others(other) => 0,
        (one, other) if !is_data(one) || !is_data(other) => 1,
        // Who reads too early, or what is not there any more, is clearer than who writes last, or who adds first.
        (OpKind::Write | OpKind::AtomicStore, OpKind::Write | OpKind::AtomicStore) => 2,
        (OpKind::AtomicRmw, OpKind::AtomicRmw) => 2,
        _ => WORTH_MAX,
    }
}

/// Does an order say nothing that fails about as often the other way round as all orders together, nine tenths of that?
const fn says_nothing(reversed: &Share, sufficient: Share) -> bool {
    is_known(reversed) && 9 * sufficient.n * reversed.of <= 10 * reversed.n * sufficient.of
}

/// Of too few executions nobody can tell.
const fn is_known(share: &Share) -> bool {
    N_SURE <= 4 * share.of
}
