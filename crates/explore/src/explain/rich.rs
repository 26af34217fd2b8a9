//! The failing schedule with every access to memory in it.
//!
//! Accesses that a lock always protects are no scheduling points, and the first ones are not even steps: the
//! smallest schedule speaks of locks where its reader thinks of what they protect. So it is run once more,
//! with every access a step, kept on its way by the orders that were found; and an order of two critical
//! sections becomes one of two accesses in them. A section that the failing execution did not come to, or
//! whose thread waited for it at the end, is looked at in executions that pass.

use std::collections::HashMap;

use raddle_model::{Before, Event, Flags, OpKind, PickerSpec, Plan, Record, Side, ThreadId};
use raddle_trace::Trace;

use super::{
    edges::{self, Edge, Node, Positions, Rule, sides},
    seen::Seen,
    start::{Start, segments},
    trials::Trials,
};
use crate::{
    finding::are_same,
    target::{Execution, TargetError},
};

/// So many random executions are tried, of the failing kind, and for each order the other way round.
const TRIES: u64 = 12;
const TRIES_TURNED: u64 = 4;
/// More races than this are cut to the last ones.
const EDGES_MAX: usize = 128;

/// A failing execution, and where its steps are in the smallest schedule.
pub(super) struct Rich {
    pub(super) trace: Trace,
    /// Its steps as sides of orders.
    sides: Vec<Side>,
    /// By step: the same step of the smallest schedule, or the last one of its thread before it.
    pub(super) steps: Vec<Option<u64>>,
    /// By order: its two sides.
    pub(super) pairs: Vec<(Node, Node)>,
    /// Passing executions that nodes refer to.
    pub(super) passes: Vec<Trace>,
    /// The same with what threads did when no other was left.
    pub(super) whole: Option<Box<Whole>>,
}

/// An execution with accesses that were no steps, as no other thread was left.
pub(super) struct Whole {
    pub(super) trace: Trace,
    /// By step: the same as of [`Rich`].
    pub(super) steps: Vec<Option<u64>>,
}

impl Whole {
    /// `steps`: of the steps that are in both.
    fn of(trace: Trace, steps: &[Option<u64>]) -> Whole {
        let mut others = steps.iter().copied();
        let mut last: HashMap<ThreadId, Option<u64>> = HashMap::new();
        let steps = trace.events.iter().map(|event| {
            let last = last.entry(event.thread).or_default();
            if !is_lone(event) {
                *last = others.next().flatten();
            }
            *last
        });
        Whole { steps: steps.collect(), trace }
    }
}

/// Was it made when no other thread was left?
pub(super) const fn is_lone(event: &Event) -> bool {
    event.kind.is_access() && event.flags.has(Flags::LONE)
}

/// Takes such accesses out of a trace: they were no steps, so orders do not count them.
fn without_lone(trace: &mut Trace) {
    let is_step: Vec<bool> = trace.events.iter().map(|it| !is_lone(it)).collect();
    let mut kept = is_step.iter();
    trace.events.retain(|_| kept.next() == Some(&true));
    if !trace.options.is_empty() {
        let mut kept = is_step.iter();
        trace.options.retain(|_| kept.next() == Some(&true));
    }
}

impl Rich {
    /// The execution with every access, or else the smallest schedule as it is. `passes` are the executions
    /// that orders refer to.
    pub(super) fn of(
        trials: &mut Trials<'_>,
        base: &Plan,
        small: &Trace,
        edges: &[Edge],
        passes: Vec<Trace>,
        start: &Start,
    ) -> Result<Rich, TargetError> {
        let mut rich = Rich::failing(trials, base, small, edges, start)?;
        rich.passes = passes;
        // Of locks that are taken in opposite orders, the locks are what matters.
        let is_lock_order = trials.finding.cycle.len() > 1;
        for idx in 0..edges.len() {
            let is_pending = matches!(rich.pairs[idx].1, Node::Pending(_));
            let is_fine = rich.is_told(idx) || (is_lock_order && is_pending);
            if !is_fine {
                rich.look_at_passing(trials, base, edges, idx, start)?;
            }
            if !rich.is_told(idx) {
                let (first, second) = rich.pairs[idx];
                rich.pairs[idx] = told(&rich.trace, first, second);
            }
        }
        Ok(rich)
    }

    /// The failing execution alone.
    pub(super) fn failing(
        trials: &mut Trials<'_>,
        base: &Plan,
        small: &Trace,
        edges: &[Edge],
        start: &Start,
    ) -> Result<Rich, TargetError> {
        let orders: Vec<Before> = edges.iter().map(|it| it.order).collect();
        // All that was in a race comes in the same order, if that can be, so that values are the same.
        let mut exposed = base.shared.clone();
        exposed.sort_unstable();
        let seen = Seen::of(small.clone(), trials.symbols);
        let all = edges::edges(&seen, &exposed);
        let mut kept = match start.is_none() {
            true => all[all.len().saturating_sub(EDGES_MAX)..].to_vec(),
            // Orders do not lead to a start that the schedule's own switches do not lead to.
            false => Vec::new(),
        };
        if kept.is_empty() || edges.is_empty() {
            kept.extend(segments(small, base));
        }
        let mut same: Vec<Before> = kept.iter().map(|it| it.order).collect();
        same.extend(orders.iter().filter(|it| !kept.iter().any(|edge| edge.order == **it)));
        for seed in 0..TRIES {
            let is_first = seed < TRIES / 2 || !start.is_none() || edges.is_empty();
            let orders = if is_first { &same } else { &orders };
            let Some(mut execution) = run(trials, base, orders, seed)? else { break };
            let whole = execution.trace.clone();
            without_lone(&mut execution.trace);
            let positions = Positions::of(&execution.trace);
            let is_kept = edges.iter().all(|it| positions.keep(it, Rule::MayCome))
                && (TRIES / 2 <= seed || orders.iter().all(|it| positions.is_before(it)));
            let alike = |of: fn(OpKind) -> bool| are_alike(small, &execution.trace, of);
            // Without orders nothing else says that it is this execution; and who is woken is no matter of order.
            let is_same = match (edges.is_empty(), start.is_none()) {
                (true, _) => alike(|it| !it.is_access()),
                (false, true) => true,
                (false, false) => alike(is_wait_or_signal),
            };
            let is_it =
                is_kept && is_same && execution.trace.n_dropped == 0 && trials.shows(&execution);
            let aligned = is_it.then(|| aligned(small, &execution.trace));
            if let Some(in_rich) = aligned
                && let Some(mut rich) =
                    Rich::new(Seen::of(execution.trace, trials.symbols), &in_rich, edges)
            {
                let whole = Seen::of(whole, trials.symbols).trace;
                rich.whole = Some(Box::new(Whole::of(whole, &rich.steps)));
                return Ok(rich);
            }
        }
        let steps = (0..small.events.len()).map(|it| Some(it as u64)).collect();
        let Seen { trace, sides, .. } = seen;
        let pairs = edges.iter().map(|it| data(&trace, it.first, it.second)).collect();
        Ok(Rich { trace, sides, steps, pairs, passes: Vec::new(), whole: None })
    }

    /// Is an order one of two accesses already, or of something else than critical sections?
    pub(super) fn is_told(&self, idx: usize) -> bool {
        let begins_section = |node: Node| {
            let kind = match node {
                Node::Step(idx) => self.trace.events[idx].kind,
                Node::Pending(thread) => self.trace.threads[thread.idx()].pending.kind,
                Node::Absent { passing, idx } => self.passes[passing].events[idx].kind,
            };
            kind.takes_lock()
        };
        let (first, second) = self.pairs[idx];
        !begins_section(first) || !begins_section(second)
    }

    /// Tells an order of two critical sections by what is in them in an execution that has it the other
    /// way round, and passes.
    fn look_at_passing(
        &mut self,
        trials: &mut Trials<'_>,
        base: &Plan,
        edges: &[Edge],
        idx: usize,
        start: &Start,
    ) -> Result<(), TargetError> {
        let order = |(at, it): (usize, &Edge)| if at == idx { it.reversed() } else { it.order };
        let orders = edges.iter().enumerate().map(order);
        let orders: Vec<Before> = start.orders.iter().copied().chain(orders).collect();
        for seed in 0..TRIES_TURNED {
            let Some(mut execution) = run(trials, base, &orders, seed)? else { break };
            without_lone(&mut execution.trace);
            let Seen { trace, sides: steps, .. } = Seen::of(execution.trace, trials.symbols);
            let find = |side: &Side| steps.iter().position(|it| it == side);
            let Before { first, second } = &edges[idx].order;
            let (Some(first), Some(second)) = (find(first), find(second)) else { continue };
            let told = data(&trace, Node::Step(second), Node::Step(first));
            if told == (Node::Step(second), Node::Step(first)) {
                continue;
            }
            let own = &self.sides;
            let passing = self.passes.len();
            let node = |node: Node| match node {
                Node::Step(idx) => match own.iter().position(|it| *it == steps[idx]) {
                    Some(idx) => Node::Step(idx),
                    None => Node::Absent { passing, idx },
                },
                other => other,
            };
            self.pairs[idx] = (node(told.1), node(told.0));
            self.passes.push(trace);
            break;
        }
        Ok(())
    }

    /// `None` if a side of an order is not in it.
    fn new(seen: Seen, in_rich: &[Option<usize>], edges: &[Edge]) -> Option<Rich> {
        let Seen { trace, sides, .. } = seen;
        let in_small: HashMap<usize, u64> =
            (0..).zip(in_rich).filter_map(|(step, rich)| rich.map(|it| (it, step))).collect();
        let mut last = HashMap::new();
        let steps = trace.events.iter().enumerate().map(|(idx, event)| {
            if let Some(step) = in_small.get(&idx) {
                last.insert(event.thread, *step);
            }
            last.get(&event.thread).copied()
        });
        let steps = steps.collect();
        let node = |node: Node| match node {
            Node::Step(idx) => in_rich.get(idx).copied().flatten().map(Node::Step),
            other => Some(other),
        };
        let pairs = edges.iter().map(|it| Some(data(&trace, node(it.first)?, node(it.second)?)));
        let pairs = pairs.collect::<Option<Vec<_>>>()?;
        Some(Rich { trace, sides, steps, pairs, passes: Vec::new(), whole: None })
    }
}

/// Do threads the same in both, in the same order, as far as ops of these kinds go?
fn are_alike(small: &Trace, rich: &Trace, is_it: fn(OpKind) -> bool) -> bool {
    let ops = |it: &Event| (it.thread, it.kind);
    let small = small.events.iter().filter(|it| is_it(it.kind)).map(ops);
    small.eq(rich.events.iter().filter(|it| is_it(it.kind)).map(ops))
}

const fn is_wait_or_signal(kind: OpKind) -> bool {
    use OpKind::{Broadcast, CondWait, CondWake, Signal};
    matches!(kind, CondWait | CondWake | Signal | Broadcast)
}

/// By step of the smallest schedule: the same one in the execution with every access. What a thread does in the one is
/// part of what it does in the other, in the same order; counted by place alone, the accesses that are no steps in the
/// first would be taken for those that are, where a library's function makes both.
fn aligned(small: &Trace, rich: &Trace) -> Vec<Option<usize>> {
    let (small_sides, rich_sides) = (sides(small).0, sides(rich).0);
    let mut found = vec![None; small_sides.len()];
    for thread in 0..small.threads.len() {
        let of = |it: &Vec<Side>| -> Vec<usize> {
            let all = it.iter().enumerate();
            all.filter(|(_, it)| it.thread.idx() == thread).map(|it| it.0).collect()
        };
        let mut left = of(&rich_sides).into_iter();
        let own = of(&small_sides);
        let matched: Vec<Option<usize>> = own
            .iter()
            .map(|step| left.find(|it| rich_sides[*it].key == small_sides[*step].key))
            .collect();
        let is_whole = matched.iter().all(Option::is_some);
        for (step, matched) in own.iter().zip(matched) {
            // It went another way: places, counted, are what there is.
            let counted = || rich_sides.iter().position(|it| *it == small_sides[*step]);
            found[*step] = if is_whole { matched } else { counted() };
        }
    }
    found
}

/// Runs an execution with every access a step.
fn run(
    trials: &mut Trials<'_>,
    base: &Plan,
    orders: &[Before],
    seed: u64,
) -> Result<Option<Execution>, TargetError> {
    let plan = Plan {
        picker: PickerSpec::Constrained,
        prefix: Before::script(orders),
        seed: base.seed.wrapping_add(seed),
        conditions: base.conditions.at_every_access(),
        record: Record { options: true, stacks: true, lone: true, ..base.record },
        ..base.clone()
    };
    Ok(trials.run(&plan)?.map(|it| it.execution))
}

/// Of two critical sections that have nothing to do with each other, the first access in each: others may come in
/// between.
fn told(trace: &Trace, first: Node, second: Node) -> (Node, Node) {
    let (Node::Step(one), Node::Step(other)) = (first, second) else { return (first, second) };
    let access = |it: usize| {
        let all = section(trace, it);
        // Its thread's own memory is not what the section is for.
        all.into_iter().find(|it| {
            let event = &trace.events[*it];
            let is_others = |it: &Event| it.thread != event.thread && are_same(it, event);
            event.kind.is_access() && !event.kind.is_atomic() && trace.events.iter().any(is_others)
        })
    };
    match (access(one), access(other)) {
        (Some(one), Some(other)) => (Node::Step(one), Node::Step(other)),
        _ => (first, second),
    }
}

/// Of two critical sections, two accesses that are in conflict; other nodes as they are.
pub(super) fn data(trace: &Trace, first: Node, second: Node) -> (Node, Node) {
    let (Node::Step(one), Node::Step(other)) = (first, second) else { return (first, second) };
    let (ones, others) = (section(trace, one), section(trace, other));
    for later in &others {
        let event = &trace.events[*later];
        let is_conflict = |it: &&usize| {
            let earlier = &trace.events[**it];
            let is_signal = |kind| matches!(kind, OpKind::Signal | OpKind::Broadcast);
            let is_missed =
                |one: &Event, other: &Event| is_signal(one.kind) && other.kind == OpKind::CondWait;
            let is_changed = earlier.kind.is_access()
                && event.kind.is_access()
                && (earlier.kind.is_write() || event.kind.is_write());
            are_same(earlier, event)
                && (is_changed || is_missed(earlier, event) || is_missed(event, earlier))
        };
        let earlier = match event.kind.is_write() {
            true => ones.iter().find(is_conflict),
            false => ones.iter().rev().find(is_conflict),
        };
        if let Some(earlier) = earlier {
            return (Node::Step(*earlier), Node::Step(*later));
        }
    }
    (first, second)
}

/// What is done in a critical section that begins with a step, up to the wait that ends it, if one does;
/// nothing if none begins.
fn section(trace: &Trace, start: usize) -> Vec<usize> {
    let event = &trace.events[start];
    let lock = match event.kind {
        OpKind::CondWake => event.other,
        kind if kind.takes_lock() => event.object,
        _ => return Vec::new(),
    };
    let is_end = |it: &Event| match it.kind {
        OpKind::Unlock | OpKind::RwUnlock => it.object == lock,
        OpKind::CondWait => it.other == lock,
        _ => false,
    };
    let own = (start + 1..trace.events.len()).filter(|it| trace.events[*it].thread == event.thread);
    let mut done = Vec::new();
    for idx in own {
        done.push(idx);
        if is_end(&trace.events[idx]) {
            break;
        }
    }
    done
}
