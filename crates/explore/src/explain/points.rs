//! Steps of a failing execution as points that can be shown.

use raddle_model::{
    Event, Finding, Flags, Home, NamedObject, ObjectId, OpKind, OpResult, Origin, Place, Point,
    Step, ThreadId,
};
use raddle_trace::{EnabledSet, Trace};

use super::{
    edges::Node,
    rich::{Rich, Whole},
};
use crate::{
    finding::{Described, Names, is_own},
    target::Symbols,
};

/// Makes points of steps.
pub(super) struct Points<'a> {
    trace: &'a Trace,
    /// By step: the same step of the smallest schedule, or the last one of its thread before it.
    steps: &'a [Option<u64>],
    /// Passing executions that nodes refer to.
    passes: &'a [Trace],
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
        Points::within((&rich.trace, &rich.steps, &rich.passes), finding, symbols)
    }

    /// The same with what threads did when no other was left.
    pub(super) fn of_whole(
        whole: &'a Whole,
        finding: &'a Finding,
        symbols: &mut dyn Symbols,
    ) -> Points<'a> {
        Points::within((&whole.trace, &whole.steps, &[]), finding, symbols)
    }

    fn within(
        (trace, steps, passes): (&'a Trace, &'a [Option<u64>], &'a [Trace]),
        finding: &'a Finding,
        symbols: &mut dyn Symbols,
    ) -> Points<'a> {
        let waits = finding.threads.iter();
        let waits = waits.filter_map(|it| Some((it.thread, it.waits_for.as_ref()?.at.clone())));
        Points {
            trace,
            steps,
            passes,
            finding,
            described: Described::of(trace, symbols),
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
        let event = &self.trace.events[idx];
        let (thread, kind) = (event.thread, event.kind);
        let at = self.place(idx);
        let Led { place, within, caller } = self.led_to(self.trace, idx, at, symbols);
        let step = self.steps.get(idx).copied().flatten();
        // What is one object where every access is a step may be several where only visible ones are.
        let own = self.in_finding(idx).map(|it| it.object);
        let object = own.unwrap_or_else(|| self.object(event.object));
        let source = symbols.source_line(&place).unwrap_or_default();
        Point {
            step,
            caller,
            within,
            value: value(event),
            after: self.after(idx),
            origin: self.origin(idx, symbols),
            left: left(self.trace, idx),
            ..Point::new(thread, kind, object, place, source)
        }
    }

    /// The last write of what a step reads.
    fn origin(&self, idx: usize, symbols: &mut dyn Symbols) -> Option<Box<Origin>> {
        let events = &self.trace.events;
        if !reads(events[idx].kind) {
            return None;
        }
        let is_it = |it: &Event| it.object == events[idx].object && is_written(it);
        let write = events[..idx].iter().rposition(is_it)?;
        let (step, after) = self.shown_at(write);
        let at = self.place(write);
        let place = match is_own(&at) {
            true => at,
            false => self.led_to(self.trace, write, at, symbols).place,
        };
        Some(Box::new(Origin { thread: events[write].thread, step, after, place }))
    }

    /// Where a step is.
    pub(super) fn place(&self, idx: usize) -> Place {
        self.described.place(self.trace, idx)
    }

    /// When a step comes in the smallest schedule.
    pub(super) fn shown_at(&self, idx: usize) -> (Option<u64>, u32) {
        (self.steps.get(idx).copied().flatten(), self.after(idx))
    }

    /// How many accesses of its thread after the last one that is a step of the smallest schedule; 0 for those.
    fn after(&self, idx: usize) -> u32 {
        let Points { trace, steps, .. } = *self;
        let thread = trace.events[idx].thread;
        let own = (0..idx).rev().filter(|it| trace.events[*it].thread == thread);
        own.take_while(|it| steps[*it] == steps[idx]).count() as u32
    }

    /// The finding's own step, if this is one.
    fn in_finding(&self, idx: usize) -> Option<&'a Step> {
        let Points { trace, steps, .. } = *self;
        let number = steps.get(idx).copied().flatten()?;
        let event = &trace.events[idx];
        // Steps that the finding has not have the number of their thread's last one that it has.
        let before = trace.events[..idx].iter().rposition(|it| it.thread == event.thread);
        let is_new = before.is_none_or(|it| steps[it] != Some(number));
        self.finding.step(number).filter(|it| is_new && it.kind == event.kind)
    }

    /// What a thread waited to do at the end.
    pub(super) fn pending(&mut self, thread: ThreadId, symbols: &mut dyn Symbols) -> Point {
        let pending = &self.trace.threads[thread.idx()].pending;
        let (kind, object) = (pending.kind, pending.object);
        let wait = self.waits.iter().find(|it| it.0 == thread);
        let place = wait.map(|it| it.1.clone()).unwrap_or_default();
        let source = symbols.source_line(&place).unwrap_or_default();
        let state = self.finding.threads.iter().find(|it| it.thread == thread);
        // As the finding calls it, which knows which part of a block it is.
        let waited = state.and_then(|it| it.waits_for.as_ref()).map(|it| it.object_id);
        let waited = waited.filter(|it| *it != ObjectId::NONE);
        let object = waited.unwrap_or_else(|| self.object(object));
        Point::new(thread, kind, object, place, source)
    }

    /// A step of a passing execution.
    fn absent(&mut self, passing: usize, idx: usize, symbols: &mut dyn Symbols) -> Point {
        let trace = &self.passes[passing];
        let described = Described::of(trace, symbols);
        let event = &trace.events[idx];
        let (thread, kind) = (event.thread, event.kind);
        let at = described.place(trace, idx);
        let Led { place, within, caller } = self.led_to(trace, idx, at, symbols);
        let named = described.objects.get(event.object.idx()).cloned().unwrap_or_default();
        let source = symbols.source_line(&place).unwrap_or_default();
        let object = self.number(self.as_in_finding(named));
        Point { caller, within, ..Point::new(thread, kind, object, place, source) }
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
        self.as_in_finding(self.described.objects.get(object.idx()).cloned().unwrap_or_default())
    }

    /// The same with its block called as the finding calls it: of those that are called alike it may know fewer.
    fn as_in_finding(&self, mut named: NamedObject) -> NamedObject {
        let of_block = |it: &NamedObject| match &it.location.home {
            Home::Heap { thread, nth, stack, .. } => Some((*thread, *nth, stack.clone())),
            _ => None,
        };
        let Some(block) = of_block(&named) else { return named };
        let mut known = self.finding.objects.iter().filter(|it| !it.location.name.is_empty());
        let Some(known) = known.find(|it| of_block(it).as_ref() == Some(&block)) else {
            return named;
        };
        let (own, part) = block_and_part(&named.location.name);
        let (its, _) = block_and_part(&known.location.name);
        if own.split('#').next() == its.split('#').next() {
            named.location.name = format!("{its}{part}");
        }
        named
    }

    /// Is it an op that takes a lock?
    pub(super) const fn takes(kind: OpKind) -> bool {
        kind.takes_lock() || matches!(kind, OpKind::OnceEnter | OpKind::SemWait)
    }
}

/// `Vec#1[4].count`: the block, and what is in it.
fn block_and_part(name: &str) -> (&str, &str) {
    name.split_at(name.find(['[', '.']).unwrap_or(name.len()))
}

/// What an event read or wrote, if it says so.
fn value(event: &Event) -> Option<u64> {
    let is_written = event.kind == OpKind::AtomicStore || event.flags.has(Flags::WRITTEN);
    // Of a copy of many bytes, the event has no value.
    let is_one = event.size <= 8;
    ((reads(event.kind) || is_written) && is_one).then_some(event.value)
}

/// Is the value of such an event what it read?
const fn reads(kind: OpKind) -> bool {
    matches!(kind, OpKind::Read | OpKind::AtomicLoad | OpKind::AtomicRmw | OpKind::AtomicCas)
}

/// Did an event change an object?
fn is_written(event: &Event) -> bool {
    event.kind.is_access() && event.kind.is_write() && event.result != OpResult::Busy
}

/// What an update leaves: nobody says so but who reads it next.
fn left(trace: &Trace, idx: usize) -> Option<u64> {
    let events = &trace.events;
    let event = &events[idx];
    if !matches!(event.kind, OpKind::AtomicRmw | OpKind::AtomicCas) {
        return None;
    }
    if event.result == OpResult::Busy {
        return Some(event.value);
    }
    let told = trace.options.get(idx).and_then(EnabledSet::left);
    if told.is_some() {
        return told;
    }
    let is_next = |it: &&Event| it.object == event.object && it.kind.is_access();
    let next = events[idx + 1..].iter().find(is_next)?;
    (reads(next.kind) && next.size == event.size).then_some(next.value)
}

/// Where a step is in the program's own code.
struct Led {
    place: Place,
    /// The wrapper, where the place is its call.
    within: Option<Place>,
    /// The call that led to the place's function, with its text.
    caller: Option<(Place, String)>,
}

impl Points<'_> {
    /// Where a step is in the program's own code, and the call that led there. A wrapper gives way to its caller, but
    /// for the line that fails.
    fn led_to(&self, trace: &Trace, idx: usize, place: Place, symbols: &mut dyn Symbols) -> Led {
        let stack = trace.options.get(idx).map_or(0, |it| it.stack);
        if stack == 0 {
            return Led { place, within: None, caller: None };
        }
        let frames = Names::new(trace, symbols).stack(stack);
        let mut own = frames.into_iter().filter(is_own);
        let Some(first) = own.next() else { return Led { place, within: None, caller: None } };
        let mut place = if is_own(&place) { place } else { first };
        let mut next = own.next();
        let mut within = None;
        let fails_here =
            self.finding.sites.iter().any(|it| (it.line, &it.file) == (place.line, &place.file));
        let is_wrapper = !fails_here && (is_header(&place) || is_accessor(&place, symbols));
        if let Some(call) = next.take_if(|it| is_wrapper && it.line > 0) {
            within = Some(std::mem::replace(&mut place, call));
            next = own.next();
        }
        let caller = next.map(|it| {
            let source = symbols.source_line(&it).unwrap_or_default();
            (it, source)
        });
        Led { place, within, caller }
    }
}

/// Is it in a file that others include?
fn is_header(place: &Place) -> bool {
    let ending = place.file.rsplit_once('.').map_or("", |it| it.1);
    matches!(ending, "h" | "hh" | "hpp" | "hxx" | "inl" | "ipp" | "tcc")
}

/// Is the function that a place is in so small that its name says it all: one that returns what it reads, in a body of
/// at most two lines, braces left out?
fn is_accessor(place: &Place, symbols: &mut dyn Symbols) -> bool {
    const BODY_MAX: u32 = 2;
    let mut line = |line: u32| symbols.source_line(&Place { line, ..place.clone() });
    let here = line(place.line).unwrap_or_default();
    if !here.starts_with("return ") {
        return here.contains("{ return ") && here.ends_with('}');
    }
    let above = (1..=BODY_MAX).find(|n| {
        let text = place.line.checked_sub(*n).and_then(&mut line).unwrap_or_default();
        text == "{" || text.ends_with(") {") && !is_statement(&text)
    });
    let below = (1..=BODY_MAX).find(|n| line(place.line + n).is_some_and(|it| it == "}"));
    matches!((above, below), (Some(above), Some(below)) if above + below <= BODY_MAX + 1)
}

/// Does a line that ends with a brace begin a statement, not a function?
fn is_statement(line: &str) -> bool {
    let word = line.split(|it: char| !it.is_alphanumeric()).next().unwrap_or_default();
    matches!(word, "if" | "for" | "while" | "switch" | "do" | "else")
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
