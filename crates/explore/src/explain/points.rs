//! Steps of a failing execution as points that can be shown.

use raddle_model::{Event, Finding, Flags, NamedObject, ObjectId, OpKind, Place, Point, Step, ThreadId};
use raddle_trace::Trace;

use super::{edges::Node, rich::Rich};
use crate::{
    finding::{Described, Names, is_own},
    target::Symbols,
};

/// Makes points of steps.
pub(super) struct Points<'a> {
    rich: &'a Rich,
    /// The finding that is explained: its steps are the same, as far as it has them.
    finding: &'a Finding,
    described: Described,
    /// Where blocked threads wait, by thread.
    waits: Vec<(ThreadId, Place)>,
    /// The finding's objects; it may learn of more.
    objects: Vec<NamedObject>,
}

impl<'a> Points<'a> {
    pub(super) fn new(
        rich: &'a Rich,
        finding: &'a Finding,
        symbols: &mut dyn Symbols,
    ) -> Points<'a> {
        let waits = finding.threads.iter();
        let waits = waits.filter_map(|it| Some((it.thread, it.waits_for.as_ref()?.at.clone())));
        Points {
            rich,
            finding,
            described: Described::of(&rich.trace, symbols),
            waits: waits.collect(),
            objects: finding.objects.clone(),
        }
    }

    /// The finding's objects, with those that it did not know.
    pub(super) fn into_objects(self) -> Vec<NamedObject> {
        self.objects
    }

    /// The point of a node.
    pub(super) fn node(&mut self, node: Node, symbols: &mut dyn Symbols) -> Point {
        match node {
            Node::Step(idx) => self.step(idx, symbols),
            Node::Pending(thread) => self.pending(thread, symbols),
            Node::Absent { passing, idx } => self.absent(passing, idx, symbols),
        }
    }

    /// A step.
    pub(super) fn step(&mut self, idx: usize, symbols: &mut dyn Symbols) -> Point {
        let event = &self.rich.trace.events[idx];
        let (thread, kind) = (event.thread, event.kind);
        let at = self.described.place(&self.rich.trace, idx);
        let (place, caller) = led_to(&self.rich.trace, idx, at, symbols);
        let step = self.rich.steps.get(idx).copied().flatten();
        // What is one object where every access is a step may be several where only visible ones are.
        let own = self.in_finding(idx).map(|it| it.object);
        let (value, after) = (value(event), self.after(idx));
        let object = own.unwrap_or_else(|| self.object(event.object));
        let source = symbols.source_line(&place).unwrap_or_default();
        Point { thread, step, kind, object, place, source, caller, value, after }
    }

    /// When a step comes in the smallest schedule.
    pub(super) fn shown_at(&self, idx: usize) -> (Option<u64>, u32) {
        (self.rich.steps.get(idx).copied().flatten(), self.after(idx))
    }

    /// How many accesses of its thread after the last one that is a step of the smallest schedule; 0 for those.
    fn after(&self, idx: usize) -> u32 {
        let Rich { trace, steps, .. } = self.rich;
        let thread = trace.events[idx].thread;
        let own = (0..idx).rev().filter(|it| trace.events[*it].thread == thread);
        own.take_while(|it| steps[*it] == steps[idx]).count() as u32
    }

    /// The finding's own step, if this is one.
    fn in_finding(&self, idx: usize) -> Option<&'a Step> {
        let Rich { trace, steps, .. } = self.rich;
        let number = steps.get(idx).copied().flatten()?;
        let event = &trace.events[idx];
        // Steps that the finding has not have the number of their thread's last one that it has.
        let before = trace.events[..idx].iter().rposition(|it| it.thread == event.thread);
        let is_new = before.is_none_or(|it| steps[it] != Some(number));
        self.finding.step(number).filter(|it| is_new && it.kind == event.kind)
    }

    /// What a thread waited to do at the end.
    pub(super) fn pending(&mut self, thread: ThreadId, symbols: &mut dyn Symbols) -> Point {
        let pending = &self.rich.trace.threads[thread.idx()].pending;
        let (kind, object) = (pending.kind, pending.object);
        let wait = self.waits.iter().find(|it| it.0 == thread);
        let place = wait.map(|it| it.1.clone()).unwrap_or_default();
        let source = symbols.source_line(&place).unwrap_or_default();
        let object = self.object(object);
        Point { thread, step: None, kind, object, place, source, caller: None, value: None, after: 0 }
    }

    /// A step of a passing execution.
    fn absent(&mut self, passing: usize, idx: usize, symbols: &mut dyn Symbols) -> Point {
        let trace = &self.rich.passes[passing];
        let described = Described::of(trace, symbols);
        let event = &trace.events[idx];
        let (thread, kind) = (event.thread, event.kind);
        let at = described.place(trace, idx);
        let (place, caller) = led_to(trace, idx, at, symbols);
        let named = described.objects.get(event.object.idx()).cloned().unwrap_or_default();
        let source = symbols.source_line(&place).unwrap_or_default();
        let object = self.number(named);
        Point { thread, step: None, kind, object, place, source, caller, value: None, after: 0 }
    }

    /// The finding's number for an object of the execution.
    fn object(&mut self, object: ObjectId) -> ObjectId {
        let named = self.named(object);
        self.number(named)
    }

    /// The finding's number for what is this one.
    fn number(&mut self, named: NamedObject) -> ObjectId {
        if named.is_none() {
            return ObjectId::NONE;
        }
        let known = self.objects.iter().position(|it| *it == named);
        let idx = known.unwrap_or_else(|| {
            self.objects.push(named);
            self.objects.len() - 1
        });
        ObjectId(idx as u32)
    }

    /// An object of the execution.
    pub(super) fn named(&self, object: ObjectId) -> NamedObject {
        self.described.objects.get(object.idx()).cloned().unwrap_or_default()
    }

    /// Is it an op that takes a lock?
    pub(super) const fn takes(kind: OpKind) -> bool {
        matches!(
            kind,
            OpKind::Lock
                | OpKind::TryLock
                | OpKind::ReadLock
                | OpKind::TryReadLock
                | OpKind::WriteLock
                | OpKind::TryWriteLock
                | OpKind::CondWake
                | OpKind::OnceEnter
                | OpKind::SemWait
        )
    }
}

/// What an event read or wrote, if it says so.
fn value(event: &Event) -> Option<u64> {
    let reads = matches!(
        event.kind,
        OpKind::Read | OpKind::AtomicLoad | OpKind::AtomicRmw | OpKind::AtomicCas
    );
    let is_written = event.kind == OpKind::AtomicStore || event.flags.has(Flags::WRITTEN);
    (reads || is_written).then_some(event.value)
}

/// Where a step is in the program's own code, and the call that led to that function.
fn led_to(
    trace: &Trace,
    idx: usize,
    place: Place,
    symbols: &mut dyn Symbols,
) -> (Place, Option<(Place, String)>) {
    let stack = trace.options.get(idx).map_or(0, |it| it.stack);
    if stack == 0 {
        return (place, None);
    }
    let frames = Names::new(trace, symbols).stack(stack);
    let mut own = frames.into_iter().filter(is_own);
    let Some(first) = own.next() else { return (place, None) };
    let place = if is_own(&place) { place } else { first };
    let caller = own.next().map(|it| {
        let source = symbols.source_line(&it).unwrap_or_default();
        (it, source)
    });
    (place, caller)
}

/// Leaves the calls where they tell points apart: of functions that are called from several places.
pub(super) fn keep_callers(points: &mut [&mut Point]) {
    let all: Vec<(Place, Option<Place>)> =
        points.iter().map(|it| (it.place.clone(), it.caller.clone().map(|it| it.0))).collect();
    for point in points {
        let is_told_apart = all.iter().any(|(place, caller)| {
            let is_same = place.function == point.place.function && place.file == point.place.file;
            is_same && *caller != point.caller.as_ref().map(|it| it.0.clone())
        });
        if !is_told_apart {
            point.caller = None;
        }
    }
}
