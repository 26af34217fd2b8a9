//! The failing schedule with every access to memory in it.
//!
//! Accesses that a lock always protects are no scheduling points, and the first ones are not even steps: the
//! smallest schedule speaks of locks where its reader thinks of what they protect. So it is run once more,
//! with every access a step, kept on its way by the orders that were found; and an order of two critical
//! sections becomes one of two accesses in them.

use std::collections::HashMap;

use raddle_model::{Before, Event, OpKind, PickerSpec, Plan, Points, Side};
use raddle_trace::Trace;

use super::{
    edges::{Edge, Node, Positions, sides},
    trials::Trials,
};
use crate::target::TargetError;

/// So many random executions are tried.
const TRIES: u64 = 12;

/// A failing execution, and where its steps are in the smallest schedule.
pub(super) struct Rich {
    pub(super) trace: Trace,
    /// By step: the same step of the smallest schedule, or the last one of its thread before it.
    pub(super) steps: Vec<Option<u64>>,
    /// By order: its two sides.
    pub(super) pairs: Vec<(Node, Node)>,
}

impl Rich {
    /// The execution with every access, or else the smallest schedule as it is.
    pub(super) fn of(
        trials: &mut Trials<'_>,
        base: &Plan,
        small: &Trace,
        edges: &[Edge],
    ) -> Result<Rich, TargetError> {
        let orders: Vec<Before> = edges.iter().map(|it| it.order).collect();
        for seed in 0..TRIES {
            let plan = Plan {
                picker: PickerSpec::Constrained,
                prefix: Before::script(&orders),
                seed: base.seed.wrapping_add(seed),
                points: Points::All,
                ..base.clone()
            };
            let Some(trial) = trials.run(&plan)? else { break };
            let trace = trial.execution.trace;
            let positions = Positions::of(&trace);
            let is_kept = orders.iter().all(|it| positions.keep(it));
            let execution = crate::target::Execution { trace, output: String::new() };
            let is_it = is_kept && execution.trace.n_dropped == 0 && trials.shows(&execution);
            if is_it && let Some(rich) = Rich::new(execution.trace, small, edges) {
                return Ok(rich);
            }
        }
        let steps = (0..small.events.len()).map(|it| Some(it as u64)).collect();
        let pairs = edges.iter().map(|it| data(small, it.first, it.second)).collect();
        Ok(Rich { trace: small.clone(), steps, pairs })
    }

    /// `None` if a side of an order is not in it.
    fn new(trace: Trace, small: &Trace, edges: &[Edge]) -> Option<Rich> {
        let (rich_sides, _) = sides(&trace);
        let (small_sides, _) = sides(small);
        let in_small: HashMap<Side, u64> =
            small_sides.iter().enumerate().map(|(idx, side)| (*side, idx as u64)).collect();
        let in_rich: HashMap<Side, usize> =
            rich_sides.iter().enumerate().map(|(idx, side)| (*side, idx)).collect();
        let mut last = HashMap::new();
        let steps = rich_sides.iter().map(|side| {
            if let Some(step) = in_small.get(side) {
                last.insert(side.thread, *step);
            }
            last.get(&side.thread).copied()
        });
        let steps = steps.collect();
        let node = |node: Node, side: &Side| match node {
            Node::Step(_) => in_rich.get(side).map(|it| Node::Step(*it)),
            other => Some(other),
        };
        let pairs = edges.iter().map(|it| {
            let first = node(it.first, &it.order.first)?;
            let second = node(it.second, &it.order.second)?;
            Some(data(&trace, first, second))
        });
        let pairs = pairs.collect::<Option<Vec<_>>>()?;
        Some(Rich { trace, steps, pairs })
    }
}

/// Of two critical sections, two accesses that are in conflict; other nodes as they are.
fn data(trace: &Trace, first: Node, second: Node) -> (Node, Node) {
    let (Node::Step(one), Node::Step(other)) = (first, second) else { return (first, second) };
    let (ones, others) = (section(trace, one), section(trace, other));
    for later in &others {
        let event = &trace.events[*later];
        let is_conflict = |it: &&usize| {
            let earlier = &trace.events[**it];
            earlier.object == event.object && (earlier.kind.is_write() || event.kind.is_write())
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

/// The accesses of a critical section that begins with a step; none if none does.
fn section(trace: &Trace, start: usize) -> Vec<usize> {
    let event = &trace.events[start];
    let lock = match event.kind {
        OpKind::Lock
        | OpKind::TryLock
        | OpKind::ReadLock
        | OpKind::TryReadLock
        | OpKind::WriteLock
        | OpKind::TryWriteLock => event.object,
        OpKind::CondWake => event.other,
        _ => return Vec::new(),
    };
    let is_end = |it: &Event| match it.kind {
        OpKind::Unlock | OpKind::RwUnlock => it.object == lock,
        OpKind::CondWait => it.other == lock,
        _ => false,
    };
    let own = (start + 1..trace.events.len()).filter(|it| trace.events[*it].thread == event.thread);
    let own = own.take_while(|it| !is_end(&trace.events[*it]));
    own.filter(|it| trace.events[*it].kind.is_access()).collect()
}
