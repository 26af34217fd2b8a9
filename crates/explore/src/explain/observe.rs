//! What stands out about the steps of a reason: locks held on one side only, what was meant to be one thing
//! and is not, waits without a loop, signals that came too early, locks in opposite orders.
//!
//! Observed in one schedule, not proved: each observation says what is there, and leaves the mending to the
//! reader.

use raddle_analysis::HeldLocks;
use raddle_model::{
    Event, Finding, Kind, ObjectId, Observation, OpKind, OpResult, Point, ThreadState,
};
use raddle_trace::Trace;

use super::{
    edges::{Node, site_hash},
    points::Points,
    rich::Rich,
};
use crate::target::Symbols;

/// All that stands out, each thing once.
pub(super) fn observations(
    rich: &Rich,
    finding: &Finding,
    points: &mut Points<'_>,
    symbols: &mut dyn Symbols,
) -> Vec<Observation> {
    let (trace, pairs) = (&rich.trace, &rich.pairs);
    let mut scene = Scene { trace, finding, points, symbols, locks: locks_by_step(trace) };
    let mut all = Vec::new();
    if finding.kind == Kind::Deadlock {
        all.extend(scene.lock_order());
        all.extend(scene.early_signals());
    }
    let torn = scene.torn(pairs);
    let sides = scene.sides(pairs);
    all.extend(torn);
    all.extend(sides);
    all.extend(scene.no_loop());
    all
}

struct Scene<'s, 'a> {
    trace: &'s Trace,
    finding: &'s Finding,
    points: &'s mut Points<'a>,
    symbols: &'s mut dyn Symbols,
    /// By step: the locks that its thread held, and since when.
    locks: Vec<Vec<(ObjectId, u64)>>,
}

/// By step: the locks that its thread held before it, and the step at which it took each.
fn locks_by_step(trace: &Trace) -> Vec<Vec<(ObjectId, u64)>> {
    let mut held = HeldLocks::new();
    let steps = trace.events.iter().enumerate().map(|(idx, event)| {
        let locks = held.with_steps(event.thread).map(|(it, step)| (it.lock, step)).collect();
        held.step(event, idx as u64);
        locks
    });
    steps.collect()
}

impl Scene<'_, '_> {
    /// Is this what an object of the execution is called? Its number may be another than the finding's.
    fn is_called(&self, object: ObjectId, name: &str) -> bool {
        object != ObjectId::NONE && self.points.name(object) == name
    }

    fn point(&mut self, idx: usize) -> Point {
        self.points.step(idx, self.symbols)
    }

    /// Each thread of a cycle: where it took what the one before it wants, and where it waits.
    fn lock_order(&mut self) -> Option<Observation> {
        let finding = self.finding;
        let cycle: Vec<&ThreadState> = finding
            .cycle
            .iter()
            .filter_map(|thread| finding.threads.iter().find(|it| it.thread == *thread))
            .collect();
        if cycle.len() < 2 {
            return None;
        }
        let mut links = Vec::new();
        for (idx, state) in cycle.iter().enumerate() {
            let wanting = cycle[(idx + cycle.len() - 1) % cycle.len()].waits_for.as_ref()?;
            let took = self.trace.events.iter().rposition(|it| {
                let is_it = |object| self.is_called(object, &wanting.object);
                it.thread == state.thread
                    && Points::takes(it.kind)
                    && (is_it(it.object) || is_it(it.other))
            })?;
            let took = self.point(took);
            links.push([took, self.points.pending(state.thread, self.symbols)]);
        }
        Some(Observation::LockOrder { links })
    }

    /// Waits that nobody will end, whose last signal came before them.
    fn early_signals(&mut self) -> Vec<Observation> {
        let mut found = Vec::new();
        for state in &self.finding.threads {
            let Some(wait) = state.waits_for.as_ref().filter(|it| it.holders.is_empty()) else {
                continue;
            };
            let is_signal =
                |kind| matches!(kind, OpKind::Signal | OpKind::Broadcast | OpKind::FutexNotify);
            let is_wait = |kind| matches!(kind, OpKind::CondWait | OpKind::FutexWait);
            let events = &self.trace.events;
            let of_object = |it: &Event| self.is_called(it.object, &wait.object);
            let began = events
                .iter()
                .rposition(|it| it.thread == state.thread && of_object(it) && is_wait(it.kind));
            let Some(began) = began else { continue };
            let signal = events[..began].iter().rposition(|it| of_object(it) && is_signal(it.kind));
            let is_last = !events[began..].iter().any(|it| of_object(it) && is_signal(it.kind));
            if let Some(signal) = signal.filter(|_| is_last) {
                let signal = self.point(signal);
                let wait = self.point(began);
                found.push(Observation::EarlySignal { signal, wait });
            }
        }
        found.truncate(1);
        found
    }

    /// Two accesses of one thread with another's in between.
    fn torn(&mut self, pairs: &[(Node, Node)]) -> Option<Observation> {
        for pair in pairs {
            let (Node::Step(from), Node::Step(between)) = *pair else {
                continue;
            };
            let Some(to) = self.next_use(from, between) else { continue };
            let common: Vec<ObjectId> = self.locks[from]
                .iter()
                .filter(|(lock, since)| {
                    let later = self.locks[to].iter().find(|it| it.0 == *lock);
                    later.is_some_and(|it| it.1 != *since)
                })
                .map(|it| it.0)
                .collect();
            // One critical section around both: what is wrong is on the other side.
            let is_one = self.locks[from].iter().any(|it| self.locks[to].contains(it));
            if is_one {
                continue;
            }
            let lock = common.first().map(|it| self.points.name(*it)).unwrap_or_default();
            let (from, between, to) = (self.point(from), self.point(between), self.point(to));
            return Some(Observation::NotOne { from, between, to, lock });
        }
        None
    }

    /// The first use of the same object, by the thread of `from`, after `between`.
    fn next_use(&self, from: usize, between: usize) -> Option<usize> {
        let events = &self.trace.events;
        let (thread, object) = (events[from].thread, events[from].object);
        let is_data = |idx: usize| events[idx].kind.is_access();
        if !is_data(from) || !is_data(between) || events[between].object != object {
            return None;
        }
        (between + 1..events.len())
            .find(|idx| events[*idx].thread == thread && events[*idx].object == object)
    }

    /// Accesses that must not come in this order: which locks does each side hold?
    fn sides(&mut self, pairs: &[(Node, Node)]) -> Option<Observation> {
        for pair in pairs {
            let (Node::Step(first), Node::Step(second)) = *pair else {
                continue;
            };
            let is_plain = |idx: usize| {
                matches!(
                    self.trace.events[idx].kind,
                    OpKind::Read | OpKind::Write | OpKind::ReadWrite
                )
            };
            if !is_plain(first) || !is_plain(second) {
                continue;
            }
            let locks =
                |idx: usize| -> Vec<ObjectId> { self.locks[idx].iter().map(|it| it.0).collect() };
            let (of_first, of_second) = (locks(first), locks(second));
            if of_first.iter().any(|it| of_second.contains(it)) {
                continue;
            }
            let name = |it: &[ObjectId]| it.last().map(|it| self.points.name(*it));
            let names = (name(&of_first), name(&of_second));
            let sides = [self.point(first), self.point(second)];
            return Some(match names {
                (Some(one), Some(other)) => {
                    Observation::DifferentLocks { sides, locks: [one, other] }
                }
                (None, None) => Observation::NoLock { sides },
                (Some(lock), None) => {
                    let [holding, other] = sides;
                    Observation::LockOnOneSide { holding, other, lock }
                }
                (None, Some(lock)) => {
                    let [other, holding] = sides;
                    Observation::LockOnOneSide { holding, other, lock }
                }
            });
        }
        None
    }

    /// A wait of the failing thread after which what was read before it is not read again.
    fn no_loop(&mut self) -> Option<Observation> {
        let thread = self.finding.thread?;
        let events = &self.trace.events;
        let woke = events.iter().rposition(|it| {
            it.thread == thread && it.kind == OpKind::CondWake && it.result == OpResult::Done
        })?;
        let waited = events[..woke]
            .iter()
            .rposition(|it| it.thread == thread && it.kind == OpKind::CondWait)?;
        let is_own = |idx: &usize| events[*idx].thread == thread;
        let looked = (0..waited).rev().filter(is_own).find(|idx| events[*idx].kind.is_access())?;
        let place = site_hash(self.trace, events[looked].site);
        let looks_again = (woke + 1..events.len())
            .filter(is_own)
            .any(|idx| site_hash(self.trace, events[idx].site) == place);
        (!looks_again).then(|| Observation::NoLoop { wait: self.point(waited) })
    }
}
