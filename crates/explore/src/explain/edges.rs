//! Which steps of a trace had an order that could have been another: the candidates for a reason.
//!
//! An edge goes from a step to a later one of another thread, where both use an object and the order of the
//! two matters and is not forced by the object itself (a lock that is given back and then taken is in order,
//! two that take it are in a race). What threads waited to do when the execution ended counts as if it had
//! come last: who waits for a lock came too late for it.
//!
//! Only steps where another thread could have been chosen take part. The order of others, accesses that
//! a lock protects, say, follows from the order of those.

use std::collections::HashMap;

use raddle_model::{
    Before, Conflict, Effect, Event, ObjectId, OpKind, OpResult, Points, Side, SiteId, ThreadId,
    conflict, mix,
};
use raddle_trace::{Region, Trace};

use super::{reorder::uses, seen::Seen};

/// A step, by its number in the trace; or what a thread waited to do at the end; or a step that the failing
/// execution did not come to, by a passing one and its number there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Node {
    Step(usize),
    Pending(ThreadId),
    Absent { passing: usize, idx: usize },
}

/// One node before another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Edge {
    pub(super) first: Node,
    pub(super) second: Node,
    /// The same for other executions.
    pub(super) order: Before,
}

impl Edge {
    /// The other way round.
    pub(super) const fn reversed(&self) -> Before {
        Before { first: self.order.second, second: self.order.first }
    }
}

/// The hash of a site that pickers know it by.
pub(super) fn site_hash(trace: &Trace, site: SiteId) -> u64 {
    let site = trace.sites.get(site.0 as usize).copied().unwrap_or_default();
    mix(u64::from(site.module.unwrap_or(u32::MAX)), site.offset)
}

/// Every step of a trace as a side of an order, then what blocked threads waited to do.
pub(super) fn sides(trace: &Trace) -> (Vec<Side>, Vec<(ThreadId, Side)>) {
    let mut counts: HashMap<(ThreadId, u32), u32> = HashMap::new();
    let mut side = |thread: ThreadId, kind: OpKind, site: SiteId| {
        let key = Side::key(kind, site_hash(trace, site));
        let nth = counts.entry((thread, key)).or_default();
        *nth += 1;
        Side { thread, key, nth: *nth }
    };
    let steps = trace.events.iter().map(|it| side(it.thread, it.kind, it.site)).collect();
    let blocked =
        trace.threads.iter().enumerate().filter(|(_, it)| it.is_blocked && !it.is_finished);
    let pending = blocked.map(|(idx, it)| {
        let thread = ThreadId(idx as u32);
        (thread, side(thread, it.pending.kind, it.pending.site))
    });
    (steps, pending.collect())
}

/// The edges of a trace, as they come. `exposed`: names of variables whose accesses are points.
pub(super) fn edges(seen: &Seen, exposed: &[u64]) -> Vec<Edge> {
    let Seen { trace, sides: steps, .. } = seen;
    let mut pending = seen.pending.clone();
    let mut finder = Finder { users: HashMap::new(), edges: Vec::new() };
    for (idx, event) in trace.events.iter().enumerate() {
        // A lock that was taken already: what comes of it, a wait, is another step.
        let is_in_vain = event.kind.takes_lock() && event.result == OpResult::Busy;
        let is_tried = matches!(
            event.kind,
            OpKind::TryLock | OpKind::TryReadLock | OpKind::TryWriteLock | OpKind::CondWake
        );
        if is_in_vain && !is_tried {
            continue;
        }
        if is_point(trace, event, exposed) {
            finder.add(Node::Step(idx), steps[idx], uses(event));
        }
        if event.kind == OpKind::Free {
            let freed = in_block_of(trace, event.object).map(|it| (it, Effect::Whole));
            finder.add(Node::Step(idx), steps[idx], freed);
        }
    }
    // A reader who waits lets a writer go first who waited before it.
    pending.sort_by_key(|(thread, _)| trace.threads[thread.idx()].pending.kind == OpKind::ReadLock);
    for (thread, side) in pending {
        let op = &trace.threads[thread.idx()].pending;
        // Of a wait that nobody ended, what matters is when it began.
        if !matches!(op.kind, OpKind::CondWake | OpKind::FutexWake | OpKind::BarrierLeave) {
            let event = Event::of(thread, op, OpResult::Done, 0, None);
            finder.add(Node::Pending(thread), side, uses(&event));
        }
    }
    finder.edges
}

/// What came before something in a passing execution, and never came in the failing one: whose steps are
/// `failing`. The other way round, it is an order of the failing one.
pub(super) fn absent(
    seen: &Seen,
    passing: usize,
    exposed: &[u64],
    failing: &HashMap<Side, usize>,
) -> Vec<Edge> {
    let turned = edges(seen, exposed).into_iter().filter_map(|edge| {
        let (Node::Step(idx), Node::Step(_)) = (edge.first, edge.second) else { return None };
        let later = *failing.get(&edge.order.second)?;
        (!failing.contains_key(&edge.order.first)).then_some(Edge {
            first: Node::Step(later),
            second: Node::Absent { passing, idx },
            order: Before { first: edge.order.second, second: edge.order.first },
        })
    });
    turned.collect()
}

/// The other objects in the heap block of one: whoever frees the one frees them, too.
fn in_block_of(trace: &Trace, object: ObjectId) -> impl Iterator<Item = ObjectId> {
    let block = |idx: usize| match trace.objects.get(idx)?.region {
        Region::Heap { site, ordinal, .. } => Some((site, ordinal)),
        _ => None,
    };
    let freed = block(object.idx());
    let others = (1..trace.objects.len()).filter(move |idx| *idx != object.idx());
    others.filter(move |idx| freed.is_some() && block(*idx) == freed).map(|it| ObjectId(it as u32))
}

/// Could another thread have been chosen before this step, if it is to matter? (Where all steps are points, the order of
/// accesses that a lock protects still follows from that of others.)
pub(super) fn is_point(trace: &Trace, event: &Event, exposed: &[u64]) -> bool {
    let name = trace.objects.get(event.object.idx()).map_or(0, |it| it.name);
    // Where objects have no names (toys), all steps are points.
    let is_exposed = || name == 0 || exposed.binary_search(&name).is_ok();
    Points::Visible.is_point(event.kind, event.flags, is_exposed)
}

/// Uses of an object by one other thread that are looked at, and by all of them.
const USES_MAX: usize = 3;
const LOOK_BACK: usize = 64;

struct Finder {
    /// By object: who has used it how.
    users: HashMap<ObjectId, Vec<(Node, Side, Effect)>>,
    edges: Vec<Edge>,
}

impl Finder {
    /// Adds a node and the edges from the last uses of each other thread that are in a race with it: an
    /// earlier one may be what matters, a check before the act.
    fn add(&mut self, node: Node, side: Side, uses: impl Iterator<Item = (ObjectId, Effect)>) {
        for (object, effect) in uses {
            let earlier = self.users.entry(object).or_default();
            let mut n_seen: HashMap<ThreadId, usize> = HashMap::from([(side.thread, USES_MAX)]);
            for (other, other_side, other_effect) in earlier.iter().rev().take(LOOK_BACK) {
                let is_race = conflict(*other_effect, effect) == Conflict::Race;
                let n_seen = n_seen.entry(other_side.thread).or_default();
                if is_race && *n_seen < USES_MAX {
                    *n_seen += 1;
                    let order = Before { first: *other_side, second: side };
                    self.edges.push(Edge { first: *other, second: node, order });
                }
            }
            earlier.push((node, side, effect));
        }
    }
}

/// When an order counts as kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rule {
    /// What came in the failing execution must come.
    Come,
    /// What never comes is not too early.
    MayCome,
}

/// Where the sides of orders are in a trace.
pub(super) struct Positions(HashMap<Side, usize>);

impl Positions {
    pub(super) fn of(trace: &Trace) -> Positions {
        let (steps, _) = sides(trace);
        Positions(steps.into_iter().enumerate().map(|(idx, side)| (side, idx)).collect())
    }

    /// Was an order kept?
    pub(super) fn keep(&self, edge: &Edge, rule: Rule) -> bool {
        let has_come = |node: Node, side: &Side| {
            rule == Rule::MayCome || !matches!(node, Node::Step(_)) || self.0.contains_key(side)
        };
        let Before { first, second } = &edge.order;
        has_come(edge.first, first) && has_come(edge.second, second) && self.is_before(&edge.order)
    }

    /// Did the one come before the other? What never came was not too early.
    pub(super) fn is_before(&self, order: &Before) -> bool {
        match (self.0.get(&order.first), self.0.get(&order.second)) {
            (_, None) => true,
            (None, Some(_)) => false,
            (Some(first), Some(second)) => first < second,
        }
    }

    /// Did both come, in the other order?
    pub(super) fn reverse(&self, order: &Before) -> bool {
        self.0
            .get(&order.second)
            .is_some_and(|second| self.0.get(&order.first).is_none_or(|first| second < first))
    }
}
