//! What stands out about the steps of a reason: locks held on one side only, what was meant to be one thing
//! and is not, waits without a loop, signals that came too early, locks in opposite orders.
//!
//! Observed in one schedule, not proved: each observation says what is there, and leaves the mending to the
//! reader.

use std::{collections::HashSet, ops::Range};

use raddle_analysis::HeldLocks;
use raddle_model::{
    Event, Finding, Kind, Miss, Missed, NamedObject, ObjectId, Observation, OpKind, OpResult,
    Place, Point, ThreadId, ThreadState,
};
use raddle_trace::{Region, Trace};

use super::{
    edges::Node,
    points::{self, Points},
    rich::Rich,
};
use crate::{
    finding::{are_same, has_looked, waits_at},
    target::Symbols,
};

/// Looks of a thread at what it writes, back from the write.
const LOOKS_MAX: usize = 3;

/// All that stands out, each thing once; less if it does not depend on the schedule. `pairs` are the orders, the most
/// telling one first.
pub(super) fn observations(
    rich: &Rich,
    pairs: &[(Node, Node)],
    finding: &Finding,
    points: &mut Points<'_>,
    symbols: &mut dyn Symbols,
    depends: bool,
) -> Vec<Observation> {
    let trace = &rich.trace;
    let mut scene = Scene { trace, finding, points, symbols, locks: locks_by_step(trace) };
    let mut all = Vec::new();
    if finding.kind == Kind::Deadlock {
        all.extend(scene.lock_order());
        all.extend(scene.wasted_signal().or_else(|| scene.missed_signal()));
    }
    if finding.kind == Kind::Misuse {
        all.extend(scene.not_mine());
    }
    all.extend(scene.interrupted());
    // What fails in every schedule does so whatever comes in between.
    let torn = if depends { scene.torn(pairs) } else { None };
    let sides = scene.sides(pairs);
    all.extend(torn);
    all.extend(sides);
    all.extend(scene.no_loop());
    all
}

/// Who has looked, since the notification that it is said to have missed, at what its sender had written: with every
/// access to memory in the execution, that can be seen.
pub(super) fn have_looked(rich: &Rich, finding: &Finding, points: &Points<'_>) -> Vec<ThreadId> {
    let trace = &rich.trace;
    let has_looked = |state: &&ThreadState| {
        let Some(wait) = &state.waits_for else { return false };
        let is_told = |it: &Missed| {
            matches!(it.kind, OpKind::Signal | OpKind::Broadcast)
                && it.why != Miss::Another(state.thread)
        };
        let notice = trace.events.iter().rposition(|it| notifies(points, it, &wait.object));
        wait.missed.as_ref().is_some_and(is_told)
            && notice.is_some_and(|it| looked(points, trace, it, state.thread))
    };
    finding.threads.iter().filter(has_looked).map(|it| it.thread).collect()
}

/// Is a step a notification of who waits at an object?
fn notifies(points: &Points<'_>, event: &Event, object: &NamedObject) -> bool {
    let kinds = [OpKind::Signal, OpKind::Broadcast, OpKind::FutexNotify, OpKind::Kill];
    kinds.contains(&event.kind) && is_called(points, event.object, object)
}

/// Is that what an object of the execution is called? Its number may be another than the finding's.
fn is_called(points: &Points<'_>, object: ObjectId, named: &NamedObject) -> bool {
    object != ObjectId::NONE && points.named(object) == *named
}

fn looked(points: &Points<'_>, trace: &Trace, notice: usize, thread: ThreadId) -> bool {
    let object = trace.events[notice].object;
    let is_data = |it| it != object && points.named(it).class.is_variable();
    has_looked(&trace.events, notice, thread, is_data)
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
    fn point(&mut self, idx: usize) -> Point {
        Point { caller: None, ..self.points.step(idx, self.symbols) }
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
                let is_it = |object| is_called(self.points, object, &wanting.object);
                it.thread == state.thread
                    && Points::takes(it.kind)
                    && (is_it(it.object) || is_it(it.other_object()))
            })?;
            // Of a recursive lock, where it was taken first.
            let known = self.locks[took].iter();
            let mut first =
                known.filter(|it| is_called(self.points, it.0, &wanting.object)).map(|it| it.1);
            let took = first.next_back().and_then(|it| usize::try_from(it).ok()).unwrap_or(took);
            let took = self.point(took);
            links.push([took, self.points.pending(state.thread, self.symbols)]);
        }
        Some(Observation::LockOrder { links })
    }

    /// A signal that woke one who waits again without having passed it on, while another waited, too.
    fn wasted_signal(&mut self) -> Option<Observation> {
        let signals = (0..self.trace.events.len()).rev();
        let (signal, again, wait) = signals
            .filter_map(|it| self.wasted(it).map(|(again, wait)| (it, again, wait)))
            .next()?;
        let signal = self.point(signal);
        let [mut again, mut wait] = [again, wait].map(|it| self.points.step(it, self.symbols));
        points::keep_callers(&mut [&mut again, &mut wait]);
        Some(Observation::WastedSignal { signal, again, wait })
    }

    /// If a step is such a signal, one of the two waiting at the end: where the woken one waits again, and where the
    /// other waited.
    fn wasted(&self, signal: usize) -> Option<(usize, usize)> {
        let (before, after) = self.trace.events.split_at(signal);
        let condition = after[0].object;
        let is_at = |it: &Event, kind| it.object == condition && it.kind == kind;
        if after[0].kind != OpKind::Signal {
            return None;
        }
        let woke = after.iter().position(|it| is_at(it, OpKind::CondWake))?;
        let woken = after[woke].thread;
        let again = woke
            + after[woke..].iter().position(|it| {
                let kinds = [OpKind::CondWait, OpKind::Signal, OpKind::Broadcast];
                it.thread == woken && kinds.into_iter().any(|kind| is_at(it, kind))
            })?;
        // Whoever waits again after all were woken has missed that.
        if after[..again].iter().any(|it| is_at(it, OpKind::Broadcast)) {
            return None;
        }
        let stuck = |thread: ThreadId| {
            self.finding.threads.iter().any(|it| it.thread == thread && it.waits_for.is_some())
        };
        let others = (0..self.trace.threads.len()).map(|it| ThreadId(it as u32));
        let wait =
            others.filter(|it| *it != woken && (stuck(*it) || stuck(woken))).find_map(|other| {
                let last = before.iter().rposition(|it| it.thread == other)?;
                is_at(&before[last], OpKind::CondWait).then_some(last)
            })?;
        (after[again].kind == OpKind::CondWait).then_some((signal + again, wait))
    }

    /// A wait that nobody will end: its last signal came before it, or woke somebody else.
    fn missed_signal(&mut self) -> Option<Observation> {
        let events = &self.trace.events;
        for state in &self.finding.threads {
            let Some(wait) = state.waits_for.as_ref().filter(|it| it.holders.is_empty()) else {
                continue;
            };
            let is_it = |it: &Event| is_called(self.points, it.object, &wait.object);
            let is_signal = |it: &Event| notifies(self.points, it, &wait.object);
            let Some(signal) = events.iter().rposition(is_signal) else { continue };
            let is_wait = |kind| matches!(kind, OpKind::CondWait | OpKind::FutexWait);
            let began = events
                .iter()
                .rposition(|it| it.thread == state.thread && is_it(it) && is_wait(it.kind));
            let thread = state.thread;
            let is_end = |it: &Event| {
                let is_wake = matches!(it.kind, OpKind::CondWake | OpKind::FutexWake);
                it.thread == thread && is_it(it) && is_wake && it.result == OpResult::Done
            };
            let ended_own = waits_at(&events[..signal], thread, events[signal].object)
                && events[signal..].iter().any(is_end);
            let has_condition = matches!(state.pending, Some(OpKind::CondWait | OpKind::CondWake));
            if ended_own || has_condition && looked(self.points, self.trace, signal, thread) {
                continue;
            }
            let is_early = began.map_or(state.pending == Some(OpKind::SigWait), |it| signal < it);
            // Of two that are alike, another one than in the finding may have been woken.
            let woken = events[signal..].iter().position(|it| {
                is_it(it)
                    && matches!(it.kind, OpKind::CondWake | OpKind::FutexWake)
                    && it.thread != state.thread
            });
            let left = events[..signal].iter().rposition(|it| {
                it.thread == state.thread && is_it(it) && it.result == OpResult::TimedOut
            });
            let wait = match began {
                Some(began) => self.point(began),
                None => self.points.pending(state.thread, self.symbols),
            };
            if let Some(left) = left.filter(|_| is_early) {
                let (left, signal) = (self.point(left), self.point(signal));
                return Some(Observation::LateSignal { left, signal, wait });
            }
            if is_early {
                return Some(Observation::EarlySignal { signal: self.point(signal), wait });
            }
            if let Some(woken) = woken.map(|it| signal + it) {
                let (signal, woken) = (self.point(signal), self.point(woken));
                return Some(Observation::TakenSignal { signal, woken, wait });
            }
        }
        None
    }

    /// The last signal to a thread, or cancellation, that was sent by another and took effect.
    fn interrupted(&mut self) -> Option<Observation> {
        let events = &self.trace.events;
        let is_sent = |it: &Event| matches!(it.kind, OpKind::Kill | OpKind::Cancel);
        let sent = events.iter().rposition(is_sent)?;
        let target = match self.trace.objects.get(events[sent].object.idx())?.region {
            Region::Thread(thread) => thread,
            _ => return None,
        };
        let takes_effect = |it: &Event| {
            let is_wait_over = matches!(it.kind, OpKind::CondWake | OpKind::FutexWake)
                && events[sent].kind == OpKind::Cancel;
            it.thread == target && (it.kind == OpKind::Handle || is_wait_over)
        };
        let at = sent + events[sent..].iter().position(takes_effect)?;
        let (sent, at) = (self.point(sent), self.point(at));
        Some(Observation::Interrupted { sent, at })
    }

    /// Two accesses of one thread with another's in between.
    fn torn(&mut self, pairs: &[(Node, Node)]) -> Option<Observation> {
        let steps = pairs.iter().filter_map(|pair| match *pair {
            (Node::Step(first), Node::Step(second)) => Some((first, second)),
            _ => None,
        });
        let of_pairs = steps.clone().flat_map(|(first, second)| {
            let after = self.next_use(first, second).map(|it| (first, second, it));
            let before = self.last_use(first, second).map(|it| (it, first, second));
            after.into_iter().chain(before)
        });
        // An order may be of steps that come along with those that matter.
        let of_sides = steps.flat_map(|it| [it.1, it.0]);
        // Without orders, any step will do.
        let n_others = if pairs.is_empty() { self.trace.events.len() } else { 0 };
        let of_sides = of_sides.chain(0..n_others).flat_map(|it| self.overtaken(it));
        // What is said must be so in the schedule that is shown, too, which may have another order of independent steps.
        let is_so = |it: &(usize, usize, usize)| {
            let [a, b, c] = [it.0, it.1, it.2].map(|it| self.points.shown_at(it));
            a < b && b < c
        };
        let all = of_pairs.chain(of_sides).filter_map(|it| self.conflict(it)).filter(is_so);
        let mut all = all.filter_map(|it| Some((it, self.gap(it.0, it.2)?)));
        // Who acts on what it has looked at before is to blame rather than who looks twice.
        let acts = |it: &((usize, usize, usize), _)| {
            let kind = |idx: usize| self.trace.events[idx].kind;
            !kind(it.0.0).is_write() && kind(it.0.1).is_write() && kind(it.0.2).is_write()
        };
        let first = all.next()?;
        let best = if acts(&first) { None } else { all.find(acts) };
        let (parts, lock) = best.unwrap_or(first);
        let lock = lock.map(|it| self.points.named(it));
        let [from, between, to] = <[usize; 3]>::from(parts).map(|it| self.point(it));
        Some(Observation::NotOne { from, between, to, lock })
    }

    /// Of what comes in between, the first write to the same data: two reads do nothing to each other. If there is none,
    /// what it is between must be writes.
    fn conflict(
        &self,
        (from, between, to): (usize, usize, usize),
    ) -> Option<(usize, usize, usize)> {
        let events = &self.trace.events;
        let writes =
            |idx: usize| events[idx].kind.is_write() && events[idx].result != OpResult::Busy;
        let is_data = |idx: &usize| events[*idx].kind.is_access();
        if ![from, between, to].iter().all(is_data) {
            return Some((from, between, to));
        }
        // Of three that only write, the last one counts, whoever was in between.
        let only_writes =
            |idx: &usize| matches!(events[*idx].kind, OpKind::Write | OpKind::AtomicStore);
        if writes(between) {
            let is_blind = [from, between, to].iter().all(only_writes);
            return (!is_blind).then_some((from, between, to));
        }
        let is_other = |idx: &usize| {
            let it = &events[*idx];
            it.thread == events[between].thread && are_same(it, &events[to])
        };
        let write = (between..to).find(|idx| is_other(idx) && is_data(idx) && writes(*idx));
        match write {
            Some(write) => Some((from, write, to)),
            // A read between a read and a write could as well have come before both.
            None => (writes(from) && writes(to)).then_some((from, between, to)),
        }
    }

    /// A write of what its thread had looked at before, and another has written since: by each of the last looks.
    fn overtaken(&self, to: usize) -> Vec<(usize, usize, usize)> {
        let events = &self.trace.events;
        let thread = events[to].thread;
        let is_data =
            |idx: &usize| events[*idx].kind.is_access() && are_same(&events[*idx], &events[to]);
        let writes = |it: &Event| it.kind.is_write() && it.result != OpResult::Busy;
        // What is added to whatever is there minds nobody.
        let minds = !matches!(events[to].kind, OpKind::AtomicRmw | OpKind::ReadWrite);
        if !is_data(&to) || !minds || !writes(&events[to]) {
            return Vec::new();
        }
        let mut looks =
            (0..to).rev().filter(|idx| events[*idx].thread == thread && is_data(idx)).peekable();
        // Looked at in the same critical section: what it saw before matters only if the same lock was released since.
        let is_one = looks.peek().is_some_and(|it| self.gap(*it, to).is_none());
        let is_between = |idx: &usize| {
            let it = &events[*idx];
            it.thread != thread && is_data(idx) && writes(it)
        };
        let line = |idx| {
            let place = self.points.place(idx);
            (place.file, place.line)
        };
        let all = looks.take(LOOKS_MAX).enumerate().filter_map(|(n, from)| {
            let between = (from..to).find(is_between)?;
            let is_released = matches!(self.gap(from, to), Some(Some(_)));
            // The same line before is the round of a loop that is over.
            let is_it = (n == 0 || line(from) != line(to)) && (!is_one || is_released);
            is_it.then_some((from, between, to))
        });
        all.collect()
    }

    /// Are two steps of a thread not one critical section? Then the lock that was held at both, if one was.
    fn gap(&self, from: usize, to: usize) -> Option<Option<ObjectId>> {
        // One critical section around both: what is wrong is on the other side.
        let is_one = self.locks[from].iter().any(|it| self.locks[to].contains(it));
        // A wait gives it back in the open.
        let thread = self.trace.events[from].thread;
        let mut own = self.trace.events[from..to].iter().filter(|it| it.thread == thread);
        if is_one || own.any(|it| it.kind == OpKind::CondWait) {
            return None;
        }
        let is_taken_again = |lock: ObjectId| self.locks[to].iter().any(|it| it.0 == lock);
        Some(self.locks[from].iter().map(|it| it.0).find(|it| is_taken_again(*it)))
    }

    /// The last use of the same object, by the thread of `to`, before `between`.
    fn last_use(&self, between: usize, to: usize) -> Option<usize> {
        let events = &self.trace.events;
        let thread = events[to].thread;
        let is_data =
            |idx: usize| events[idx].kind.is_access() && are_same(&events[idx], &events[to]);
        if !is_data(between) || !is_data(to) {
            return None;
        }
        (0..between).rev().find(|idx| events[*idx].thread == thread && is_data(*idx))
    }

    /// Who gives back a lock that another holds: where that one took it.
    fn not_mine(&mut self) -> Option<Observation> {
        let events = &self.trace.events;
        let last = events.last().filter(|it| it.result == OpResult::Misused)?;
        let took = events.iter().rposition(|it| {
            it.object == last.object
                && it.thread != last.thread
                && it.result == OpResult::Done
                && Points::takes(it.kind)
        })?;
        let lock = self.points.named(last.object);
        let (holding, other) = (self.point(took), self.point(events.len() - 1));
        Some(Observation::LockOnOneSide { holding, other, lock })
    }

    /// The first use of the same object, by the thread of `from`, after `between`.
    fn next_use(&self, from: usize, between: usize) -> Option<usize> {
        let events = &self.trace.events;
        let thread = events[from].thread;
        let is_data = |idx: usize| events[idx].kind.is_access();
        if !is_data(from) || !is_data(between) || !are_same(&events[between], &events[from]) {
            return None;
        }
        (between + 1..events.len())
            .find(|idx| events[*idx].thread == thread && are_same(&events[*idx], &events[from]))
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
            let name = |it: &[ObjectId]| it.last().map(|it| self.points.named(*it));
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

    /// A wait of the failing thread after which nothing of what it looked at before, under the lock, is looked at again. Lines
    /// count: of a loop, compilers put the first look elsewhere than the others, and of a condition with several
    /// parts, the last one is not always looked at.
    fn no_loop(&mut self) -> Option<Observation> {
        let thread = self.finding.thread?;
        let events = &self.trace.events;
        let woke = events.iter().rposition(|it| {
            it.thread == thread && it.kind == OpKind::CondWake && it.result == OpResult::Done
        })?;
        let waited = events[..woke]
            .iter()
            .rposition(|it| it.thread == thread && it.kind == OpKind::CondWait)?;
        let is_own = |it: &Event| it.thread == thread;
        let locked = events[..waited].iter().rposition(|it| is_own(it) && it.kind.takes_lock());
        let looks = |range: Range<usize>| {
            range.filter(|idx| is_own(&events[*idx]) && events[*idx].kind.is_access())
        };
        let line = |idx: usize| {
            let Place { function, file, line, offset, .. } = self.points.place(idx);
            (function, file, line, offset)
        };
        let before: HashSet<_> = looks(locked.unwrap_or(0)..waited).map(line).collect();
        let looks_again = looks(woke + 1..events.len()).any(|idx| before.contains(&line(idx)));
        if before.is_empty() || looks_again {
            return None;
        }
        Some(Observation::NoLoop { wait: self.point(waited) })
    }
}
