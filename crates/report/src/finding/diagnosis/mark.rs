//! A moment that the first screen shows, and its words.

use raddle_model::{
    Finding, Home, Kind, NamedObject, ObjectId, OpKind, OpResult, Origin, Place, Point, ThreadId,
};

use super::marks;
use crate::{
    layout::style::Style,
    schedule::{Spot, When, own_place},
    words::{act, place},
};

/// A failed expression longer than this is cut.
const SAID_MAX: usize = 160;

/// When something happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Moment {
    /// Before there were steps: those of a thread that is alone are not in a trace.
    Before,
    /// A step, counted from 0, or so many accesses of its thread after it.
    Step(u64, u32),
    /// When the execution failed.
    Failure,
    /// When it ended: a wait that nobody ends, and that is no step.
    Blocked,
    /// It did not come to that.
    Never,
}

/// A moment that the first screen shows.
#[derive(Clone, Debug)]
pub(crate) struct Mark {
    pub(crate) number: Option<usize>,
    pub(crate) moment: Moment,
    pub(crate) thread: ThreadId,
    /// What was done; `None` for a failure that was no access and no call.
    pub(crate) kind: Option<OpKind>,
    pub(crate) object: ObjectId,
    pub(crate) value: Option<u64>,
    /// What an update leaves.
    pub(super) left: Option<u64>,
    /// Who wrote what is read.
    pub(super) origin: Option<Origin>,
    pub(crate) place: Place,
    /// The call that led there, where the place alone does not say which one it was.
    pub(crate) caller: Option<Place>,
    /// The wrapper that does it, where the place is its call.
    pub(super) within: Option<Place>,
    pub(crate) is_primary: bool,
    /// Is it a wait that nobody ends?
    pub(crate) is_blocked: bool,
    /// Was no other thread left? Then it needs no lock.
    pub(crate) is_lone: bool,
    /// Is it an attempt that fails?
    pub(super) has_failed: bool,
    /// Does a note speak of it?
    pub(super) is_noted: bool,
    /// Is it a side of an ordering?
    pub(crate) is_order: bool,
    /// How it failed there: "assertion failed: …".
    pub(crate) failure: Option<String>,
    /// What an analysis calls the memory.
    pub(super) name: Option<String>,
    /// Locks that the thread held, if somebody's matter.
    pub(crate) holds: Option<Vec<NamedObject>>,
}

impl Mark {
    pub(super) fn new(
        thread: ThreadId,
        moment: Moment,
        kind: OpKind,
        object: ObjectId,
        place: Place,
    ) -> Mark {
        Mark {
            number: None,
            moment,
            thread,
            kind: Some(kind),
            object,
            value: None,
            left: None,
            origin: None,
            place,
            caller: None,
            within: None,
            is_noted: false,
            is_primary: false,
            is_blocked: moment == Moment::Blocked,
            is_lone: false,
            has_failed: false,
            is_order: false,
            failure: None,
            name: None,
            holds: None,
        }
    }

    /// Where it is in the schedule; nowhere, if it did not happen.
    pub(super) fn spot(&self) -> Option<Spot> {
        let when = match self.moment {
            Moment::Step(step, after) => When::Step(step, after),
            Moment::Failure | Moment::Blocked => When::End,
            Moment::Before | Moment::Never => return None,
        };
        let Mark { number, thread, kind, object, value, .. } = *self;
        Some(Spot { number, when, thread, kind, object, value, place: self.place.clone() })
    }

    /// Is it a misuse on that line? What was to be done there, and did not come to it, is the same.
    pub(super) fn is_misuse_at(&self, finding: &Finding, place: &Place) -> bool {
        self.is_primary
            && finding.kind == Kind::Misuse
            && (self.place.line, &self.place.file) == (place.line, &place.file)
    }

    /// Does the thread do something there, so that a verb comes after its name?
    pub(crate) fn has_act(&self, finding: &Finding) -> bool {
        self.kind.is_some() || matches!(finding.kind, Kind::Misuse | Kind::Abort | Kind::Livelock)
    }

    /// What happened, after the thread's name.
    pub(crate) fn words(&self, finding: &Finding, marks: &[Mark], style: &Style) -> String {
        let mut parts = Vec::new();
        if let Some(kind) = self.kind {
            parts.push(self.act(kind, finding, marks, style));
        }
        if let Some(holds) = &self.holds {
            let names: Vec<String> = holds.iter().map(act::name).collect();
            parts.push(match names.as_slice() {
                [] => "holding no lock".to_owned(),
                names => format!("holding {}", act::listed(names)),
            });
        }
        parts.extend(self.led_to());
        let failure = self.failure.as_ref().map(|it| style.cut(it, SAID_MAX));
        match (parts.join(", "), failure) {
            (words, None) => words,
            (words, Some(failure)) if words.is_empty() => failure,
            (words, Some(failure)) => format!("{words}: {failure}"),
        }
    }

    /// "in publish, called from timer (:49)".
    fn led_to(&self) -> Option<String> {
        let at = |it: &Place| place::beside(it, &self.place);
        let within = self.within.as_ref().map(|it| {
            let function = place::function(&it.function);
            format!("in {function} ({})", at(it))
        });
        let caller = self.caller.as_ref().map(|it| {
            let from = match place::function(&it.function).as_str() {
                "" => format!("called from {}", at(it)),
                function => format!("called from {function} ({})", at(it)),
            };
            match (&within, place::function(&self.place.function).as_str()) {
                (None, function) if !function.is_empty() => format!("in {function}, {from}"),
                _ => from,
            }
        });
        match (within, caller) {
            (Some(within), Some(caller)) => Some(format!("{within}, {caller}")),
            (within, caller) => within.or(caller),
        }
    }

    /// " (set by T0 at :24)": of a value that no line above explains. " (stale)": of one that had been replaced.
    fn origin(&self, finding: &Finding, marks: &[Mark]) -> Option<String> {
        if self.is_stale(finding) {
            return Some(" (stale)".to_owned());
        }
        let origin = self.origin.as_ref().filter(|_| matches!(self.moment, Moment::Step(..)))?;
        let write = Moment::Step(origin.step?, origin.after);
        let is_shown = |it: &Mark| it.thread == origin.thread && it.moment == write;
        if marks.iter().any(is_shown) {
            return None;
        }
        let before = marks
            .iter()
            .rfind(|it| it.moment < self.moment && it.object == self.object && it.is_access());
        let is_explained = before.is_some_and(|it| it.then() == self.value);
        // What was there before the thread began needs no explanation.
        let began = finding.steps.iter().position(|it| it.thread == self.thread);
        let began = began.map(|it| Moment::Step(finding.n_steps_dropped + it as u64, 0));
        let is_old = before.is_none() && began.is_none_or(|it| write < it);
        if is_explained || is_old || origin.thread == self.thread && before.is_none() {
            return None;
        }
        let at = match place::beside(&origin.place, &self.place) {
            at if at.is_empty() => at,
            at => format!(" at {at}"),
        };
        Some(format!(" (set by T{}{at})", origin.thread.0))
    }

    /// Does it read what another store had replaced?
    fn is_stale(&self, finding: &Finding) -> bool {
        let Moment::Step(step, 0) = self.moment else { return false };
        let idx = step.checked_sub(finding.n_steps_dropped).map(|it| it as usize);
        let step = idx.and_then(|it| finding.steps.get(it));
        step.is_some_and(|it| it.kind != OpKind::AtomicStore && it.event().passed().is_some())
    }

    /// The value that is there afterwards, if it is known.
    fn then(&self) -> Option<u64> {
        match self.kind {
            Some(OpKind::AtomicRmw | OpKind::AtomicCas) => self.left,
            _ => self.value,
        }
    }

    pub(super) fn is_access(&self) -> bool {
        self.kind.is_some_and(OpKind::is_access)
    }

    /// Is it something that its thread has done before, and did not come to again?
    pub(super) fn is_next(&self, finding: &Finding) -> bool {
        self.moment == Moment::Never
            && finding.steps.iter().any(|it| {
                (it.thread, Some(it.kind), it.object) == (self.thread, self.kind, self.object)
                    && own_place(finding, it).is_some_and(|at| *at == self.place)
            })
    }

    /// "sets `hits` to 1".
    pub(super) fn act(
        &self,
        kind: OpKind,
        finding: &Finding,
        marks: &[Mark],
        style: &Style,
    ) -> String {
        let object = finding.objects.get(self.object.idx());
        match self.moment {
            _ if self.is_blocked => self.waits(finding, marks),
            Moment::Blocked => waits(finding, ""),
            Moment::Never => {
                let name = object.filter(|it| !it.is_none()).map(act::name);
                let is_free = kind == OpKind::Free;
                let name = name.map(|it| if is_free { act::whole(&it) } else { it });
                let of = name.map(|it| format!(" of {it}")).unwrap_or_default();
                let next = if self.is_next(finding) { "next " } else { "" };
                format!("{next}{}{of}", act::noun(kind))
            }
            _ if self.has_failed && is_attempt(kind) => {
                format!("{} and fails", act::act(kind, object, None, style))
            }
            Moment::Before | Moment::Step(..) | Moment::Failure => {
                let named =
                    self.name.as_ref().map(|it| NamedObject::called(Default::default(), it));
                let pointer = object.filter(|_| is_pointer(self.object, marks)).map(act::pointer);
                let object = named.as_ref().or(pointer.as_ref()).or(object);
                let origin = self.origin(finding, marks).unwrap_or_default();
                act::change(kind, object, self.value, self.left, self.has_failed, &origin, style)
                    .unwrap_or_else(|| {
                        format!("{}{origin}", act::act(kind, object, self.value, style))
                    })
            }
        }
    }

    /// "waits forever for `disk`, held by T2 (2)".
    fn waits(&self, finding: &Finding, marks: &[Mark]) -> String {
        let state = finding.threads.iter().find(|it| it.thread == self.thread);
        let Some(wait) = state.and_then(|it| it.waits_for.as_ref()) else {
            return waits(finding, "");
        };
        let name = act::name(&wait.object);
        let what =
            match state.and_then(|it| it.pending) {
                Some(OpKind::Join) if matches!(wait.object.location.home, Home::Parker(_)) => {
                    waits(finding, " for the threads of its scope to finish")
                }
                Some(OpKind::Join) => {
                    let whom = name.strip_prefix("thread ").unwrap_or(&name);
                    waits(finding, &format!(" for {whom} to finish"))
                }
                Some(
                    OpKind::CondWait | OpKind::CondWake | OpKind::FutexWait | OpKind::FutexWake,
                ) if wait.holders.is_empty() => waits(finding, &format!(" on {name}")),
                Some(OpKind::BarrierArrive | OpKind::BarrierLeave) => {
                    waits(finding, &format!(" at {name}"))
                }
                Some(OpKind::SigWait) => waits(finding, " for a signal"),
                _ => waits(finding, &format!(" for {name}")),
            };
        let holders = wait.holders.iter().map(|(holder, taken)| {
            let is_it = |it: &&Mark| {
                it.thread == *holder
                    && it.object == wait.object_id
                    && it.moment < Moment::Failure
                    && !it.is_blocked
            };
            let there = marks.iter().filter(is_it).find(|it| it.place == *taken);
            let which = there.or_else(|| marks.iter().find(is_it));
            let which = which.and_then(|it| it.number).map(|it| format!(" ({it})"));
            let at = || match place::short(taken) {
                at if at.is_empty() => at,
                at => format!(" since {at}"),
            };
            let which = which.unwrap_or_else(at);
            match (place::is_ahead(finding, *holder, wait), *holder == self.thread) {
                (true, _) => format!(", queued behind T{}, which waits to write", holder.0),
                (_, true) => format!(", which it already holds{which}"),
                _ => format!(", held by T{}{which}", holder.0),
            }
        });
        let holders: String = holders.collect();
        format!("{what}{holders}")
    }

    /// What the line's underline stands for: the data of an access; nothing for a call.
    pub(crate) fn underlined(&self, finding: &Finding) -> String {
        let is_data = self.kind.is_some_and(OpKind::is_access) && self.within.is_none();
        if let Some(wrapper) = &self.within {
            // The call of the wrapper.
            let function = place::function(&wrapper.function);
            return function.rsplit("::").next().unwrap_or_default().to_owned();
        }
        if let Some(name) = &self.name {
            return name.clone();
        }
        let object = finding.objects.get(self.object.idx()).filter(|_| is_data);
        object.map(|it| it.location.name.clone()).unwrap_or_default()
    }

    pub(super) fn of_point(finding: &Finding, point: &Point) -> Mark {
        let blocked = finding.threads.iter().find(|it| it.thread == point.thread);
        let blocked = blocked.and_then(|it| it.waits_for.as_ref());
        let moment = match point.step {
            Some(step) => Moment::Step(step, point.after),
            None if blocked.is_some_and(|it| it.at == point.place) => Moment::Blocked,
            None => Moment::Never,
        };
        let own = point.step.filter(|_| point.after == 0).and_then(|it| finding.step(it));
        let mut mark =
            Mark::new(point.thread, moment, point.kind, point.object, point.place.clone());
        mark.caller = point.caller.as_ref().map(|it| it.0.clone());
        mark.within.clone_from(&point.within);
        mark.value = own.and_then(marks::value).or(point.value);
        mark.origin = point.origin.as_deref().cloned();
        mark.left = point.left;
        mark.has_failed =
            point.kind == OpKind::AtomicCas && point.left.is_some() && point.left == point.value;
        // The values of the schedule that is shown.
        if let Some(step) = own.filter(|it| it.kind == point.kind) {
            mark.has_failed = step.result == OpResult::Busy;
            if mark.value != point.value
                && let Some(idx) = marks::steps_before(finding, &mark)
            {
                mark.left = marks::left(finding, idx);
                mark.origin = marks::origin(finding, idx);
            }
        }
        mark
    }

    pub(super) fn of_step(finding: &Finding, idx: usize) -> Mark {
        let step = &finding.steps[idx];
        let moment = Moment::Step(finding.n_steps_dropped + idx as u64, 0);
        let place = own_place(finding, step).cloned().unwrap_or_default();
        let mut mark = Mark::new(step.thread, moment, step.kind, step.object, place);
        mark.value = marks::value(step);
        mark.left = marks::left(finding, idx);
        mark.origin = marks::origin(finding, idx);
        mark.has_failed = step.result == OpResult::Busy;
        mark
    }

    pub(super) fn is_same(&self, other: &Mark) -> bool {
        let is_wait = |it: &Mark| it.is_blocked;
        let is_act = (self.moment, self.kind, self.object)
            == (other.moment, other.kind, other.object)
            && self.place == other.place;
        self.thread == other.thread && (is_act || is_wait(self) && is_wait(other))
    }
}

/// Does an op try something, and go on if that is not possible?
const fn is_attempt(kind: OpKind) -> bool {
    matches!(
        kind,
        OpKind::TryLock | OpKind::TryReadLock | OpKind::TryWriteLock | OpKind::SemTryWait
    )
}

/// Has an object held an address?
fn is_pointer(object: ObjectId, marks: &[Mark]) -> bool {
    let of_object = marks.iter().filter(|it| it.object == object && it.is_access());
    let mut values = of_object.flat_map(|it| [it.value, it.left]).flatten();
    values.any(act::is_address)
}

/// A wait that nobody ends: forever where nothing goes on; in an execution that failed otherwise, until then.
fn waits(finding: &Finding, what: &str) -> String {
    let forever = match finding.kind {
        Kind::Deadlock | Kind::Livelock => " forever",
        _ => "",
    };
    format!("waits{forever}{what}")
}
