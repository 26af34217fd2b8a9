//! Below the spans: which orderings make it fail, with what was measured of each, and notes that follow from them.

use raddle_model::{
    Constraint, Explanation, Fault, Finding, Home, Kind, MinimisingEnd, ObjectId, Observation,
    OpKind, Passing, Place, Point, Reason, Share,
};

use super::{
    aba::aba,
    mark::{Mark, Moment},
    marks::{explains_better, held_at, is_undecided},
    released::{Released, held_everywhere, is_read_locked, released},
    thread, unlocked,
    wakeup::unguarded,
};
use crate::{
    finding::evidence,
    layout::{number, style::Style},
    schedule::own_place,
    words::{act, delays, place, strength},
};

/// Of fewer executions there is no share to show.
const SHOWN_MIN: u64 = 3;
/// Fewer executions than this say nothing about an ordering.
pub(super) const SAMPLES_MIN: u64 = 5;

/// What notes are made of.
pub(super) struct Said<'a> {
    pub(super) finding: &'a Finding,
    pub(super) explanation: Option<&'a Explanation>,
    pub(super) marks: &'a [Mark],
    pub(super) style: &'a Style,
}

impl Said<'_> {
    pub(super) fn reason(&self) -> Option<&Reason> {
        self.explanation?.reason.as_ref()
    }

    /// "fails in 20 of 20 schedules with 1 before 2 and 3 before 4; in 0 of 20 with 2 before 1 …".
    pub(super) fn order(&self) -> Option<String> {
        let reason = self.reason()?;
        let orders = self.orders();
        if orders.is_empty() || explains_better(self.finding, reason).is_some() {
            return None;
        }
        let pairs: Vec<String> = orders.iter().map(|(_, a, b)| format!("{a} before {b}")).collect();
        let start = match reason.n_same {
            0 => String::new(),
            1 => "after the same first step, ".into(),
            n => format!("after the same first {} steps, ", number::grouped(n)),
        };
        let mut text = format!(
            "{start}fails in {} schedules with {}",
            share(reason.sufficient),
            act::listed(&pairs)
        );
        for (order, a, b) in orders.iter().filter(|it| SHOWN_MIN <= it.0.reversed.of) {
            let also = if order.reversed.n > 0 { "also " } else { "" };
            text.push_str(&format!("; {also}in {} with {b} before {a}", share(order.reversed)));
        }
        Some(text)
    }

    /// The orderings whose sides are shown, in the order that the schedule has, with what their sides are called.
    pub(super) fn orders(&self) -> Vec<(&Constraint, String, String)> {
        let Some(reason) = self.reason() else { return Vec::new() };
        let mut all: Vec<(&Constraint, String, String)> = Vec::new();
        for order in &reason.orders {
            let (Some(first), Some(second)) = (self.mark(&order.first), self.mark(&order.second))
            else {
                continue;
            };
            // What is said must be so in the schedule that is shown.
            let is_so = first.number.is_some() && first.moment < second.moment;
            let (a, b) = (self.side(first), self.side(second));
            if is_so && !self.is_implied(order) && !all.iter().any(|it| (&it.1, &it.2) == (&a, &b))
            {
                all.push((order, a, b));
            }
        }
        let moment = |point: &Point| self.mark(point).map(|it| it.moment);
        all.sort_by_key(|it| (moment(&it.0.first), moment(&it.0.second)));
        all
    }

    /// Does another ordering imply one, with what each thread does one after the other?
    fn is_implied(&self, order: &Constraint) -> bool {
        let moment = |point: &Point| self.mark(point).map(|it| (it.thread, it.moment));
        let (Some(first), Some(second)) = (moment(&order.first), moment(&order.second)) else {
            return false;
        };
        let reason = self.reason().map_or(&[][..], |it| &it.orders);
        reason.iter().any(|it| match (moment(&it.first), moment(&it.second)) {
            (Some(a), Some(b)) => {
                (a, b) != (first, second)
                    && a.1 < b.1
                    && (a.0, b.0) == (first.0, second.0)
                    && first.1 <= a.1
                    && b.1 <= second.1
                    && b.1 != Moment::Never
            }
            _ => false,
        })
    }

    /// "3"; "T1's write at :26" of a line that was not reached.
    fn side(&self, mark: &Mark) -> String {
        match mark.number {
            Some(number) => number.to_string(),
            None => format!("T{}'s {}", mark.thread.0, self.unreached(mark)),
        }
    }

    /// When a step was, by its index.
    pub(super) fn moment(&self, idx: usize) -> Moment {
        Moment::Step(self.finding.n_steps_dropped + idx as u64, 0)
    }

    /// "3", or ":26" of a step that no line shows.
    pub(super) fn at_step(&self, idx: usize) -> String {
        let moment = self.moment(idx);
        let number = self.marks.iter().find(|it| it.moment == moment).and_then(|it| it.number);
        let place = own_place(self.finding, &self.finding.steps[idx]);
        match (number, place) {
            (Some(number), _) => number.to_string(),
            (None, Some(place)) => self.beside(place),
            (None, None) => format!("step {}", self.finding.n_steps_dropped + idx as u64 + 1),
        }
    }

    /// "write at :26".
    fn unreached(&self, mark: &Mark) -> String {
        let what = mark.kind.map_or("step", act::noun);
        let from = mark.caller.as_ref().map(|it| format!(" from {}", self.beside(it)));
        let next = if mark.is_next(self.finding) { "next " } else { "" };
        format!("{next}{what} at {}{}", self.beside(&mark.place), from.unwrap_or_default())
    }

    /// A place, without its file where that is the one of the finding.
    pub(super) fn beside(&self, it: &Place) -> String {
        let primary = self.marks.iter().find(|it| it.is_primary);
        primary.map_or_else(|| place::short(it), |primary| place::beside(it, &primary.place))
    }

    /// The moment that shows a point.
    fn mark(&self, point: &Point) -> Option<&Mark> {
        let is_it = |it: &&Mark| {
            let moment = match point.step {
                Some(step) => it.moment == Moment::Step(step, point.after),
                None => it.moment >= Moment::Blocked,
            };
            let is_wait = it.is_blocked && point.place == it.place;
            let is_failure = point.step.is_none() && it.is_misuse_at(self.finding, &point.place);
            let is_there = moment && it.object == point.object || is_wait || is_failure;
            it.thread == point.thread && is_there
        };
        self.marks.iter().find(is_it)
    }

    /// The number of the span that shows a point.
    pub(super) fn number(&self, point: &Point) -> Option<usize> {
        self.mark(point).and_then(|it| it.number)
    }

    /// Is no lock held where a point is shown?
    pub(super) fn holds_nothing(&self, point: &Point) -> bool {
        self.mark(point).is_some_and(|it| held_at(self.finding, it).is_empty())
    }

    /// The locks that are held where a point is shown.
    pub(super) fn held(&self, point: &Point) -> Vec<ObjectId> {
        self.mark(point).map(|it| held_at(self.finding, it)).unwrap_or_default()
    }

    /// ` (2)`, or where it is.
    pub(super) fn at(&self, point: &Point) -> String {
        match self.number(point) {
            Some(number) => format!("({number})"),
            None => match place::short(&point.place) {
                at if at.is_empty() => at,
                at => format!("({at})"),
            },
        }
    }

    pub(super) fn notes(&self) -> Vec<String> {
        let mut all = self.stale();
        all.extend(self.explanation.and_then(|it| strength::note(it.weakness.as_ref()?)));
        if let Some(evidence) = self.finding.evidence.as_deref() {
            all.extend(evidence::verdict(self.finding, evidence, self.style));
            all.extend(evidence::location(self.finding, evidence));
        }
        let aba = aba(self.finding, self.marks);
        all.extend(aba.map(|it| it.note(self.finding, |idx| self.at_step(idx))));
        all.extend(delays::note(self.finding));
        if let Some(reason) = self.reason() {
            all.extend(self.without_orders(reason));
            all.extend(self.locks());
            // That a compare-exchange is no atomic step with the read before it is no news.
            let is_old =
                |it: &&Observation| aba.is_some() && matches!(it, Observation::NotOne { .. });
            let new = reason.observations.iter().filter(|it| !is_old(it));
            all.extend(new.filter_map(|it| self.observed(it)));
            all.extend(self.unnoticed());
        }
        all.extend(unguarded(self.finding).and_then(|it| it.note(self)));
        all.extend(unlocked::note(self));
        all.extend(self.allocated());
        all.extend(self.bystanders());
        let passing = self.explanation.and_then(|it| it.passing.as_deref());
        all.extend(passing.and_then(|it| self.passes(it)));
        all
    }

    /// "fails in every schedule tried (24)".
    fn without_orders(&self, reason: &Reason) -> Option<String> {
        let Share { n, of } = reason.sufficient;
        if is_undecided(reason) && self.orders().is_empty() {
            return Some(
                "no ordering of two steps decides it: it fails about as often with each reversed"
                    .to_owned(),
            );
        }
        if !reason.orders.is_empty() || of == 0 {
            return None;
        }
        Some(match n == of {
            true => format!(
                "fails in every schedule tried ({}): it does not depend on the schedule",
                number::grouped(of)
            ),
            false if self.was_cut_short() => format!(
                "time ran out before orderings were found ({} random schedules fail); `raddle min` searches longer",
                share(reason.sufficient)
            ),
            false => format!(
                "no small set of orderings explains it: {} random schedules fail",
                share(reason.sufficient)
            ),
        })
    }

    fn was_cut_short(&self) -> bool {
        self.explanation.is_some_and(|it| it.minimising.ending == MinimisingEnd::Time)
    }

    /// Who allocated the block that is not used as it should be.
    fn allocated(&self) -> Option<String> {
        let location = crate::words::fault::block(self.finding)?;
        let raddle_model::Home::Heap { thread: by, stack, .. } = &location.home else {
            return None;
        };
        let at = stack.iter().find(|it| !place::is_library(it)).map(place::short)?;
        let size = number::count(location.size, "byte");
        Some(format!("{size} allocated by {} at {at}", thread(self.finding, *by)))
    }

    /// Threads of a deadlock that only wait for the others.
    fn bystanders(&self) -> Option<String> {
        let finding = self.finding;
        if finding.kind != Kind::Deadlock || finding.evidence.is_some() {
            return None;
        }
        let is_shown = |thread| self.marks.iter().any(|it| it.thread == thread && it.is_blocked);
        let waiting = finding.threads.iter().filter(|it| {
            it.pending == Some(OpKind::Join) && it.waits_for.is_some() && !is_shown(it.thread)
        });
        let all: Vec<String> = waiting
            .filter_map(|it| {
                let wait = it.waits_for.as_ref()?;
                let at = place::short(&wait.at);
                let at = if at.is_empty() { at } else { format!(" ({at})") };
                let whom = match wait.object.location.home {
                    Home::Parker(_) => "the threads of its scope".to_owned(),
                    _ => act::name(&wait.object),
                };
                let whom = whom.strip_prefix("thread ").unwrap_or(&whom);
                Some(format!("{} waits for {whom} to finish{at}", thread(finding, it.thread)))
            })
            .collect();
        (!all.is_empty()).then(|| all.join("; "))
    }

    /// "the program passes in a schedule with 4 before 3: T2 then reads `hits` = 1, not 0 (5)".
    fn passes(&self, passing: &Passing) -> Option<String> {
        let difference = passing.difference.as_ref()?;
        let turned = self.reason()?.orders.get(passing.reversed?)?;
        let (_, a, b) = self.orders().into_iter().find(|it| it.0 == turned)?;
        let mark = self.mark(&difference.point)?;
        // The same as its label says.
        let number = mark.number.filter(|_| mark.value == Some(difference.values[0]))?;
        let object = self.finding.objects.get(difference.point.object.idx())?;
        if !act::is_telling(Some(object)) {
            return None;
        }
        let is_pointer = difference.values.into_iter().any(act::is_address);
        let typed = if is_pointer { act::pointer(object) } else { object.clone() };
        let [fails, passes] = difference.values.map(|it| act::shown(it, Some(&typed), self.style));
        let (who, name) = (difference.point.thread.0, act::name(object));
        Some(format!(
            "the program passes in a schedule with {b} before {a}: T{who} then reads {name} = {passes}, not {fails} ({number})"
        ))
    }

    /// "T1 releases `lock` between 1 and 4 (:24)"; that a lock is held at all accesses proves nothing.
    fn locks(&self) -> Option<String> {
        let name = |lock: ObjectId| self.finding.objects.get(lock.idx()).map(act::name);
        let everywhere = held_everywhere(self.finding, self.marks);
        let mut parts: Vec<String> = Vec::new();
        for it in self.released() {
            let to = match it.to.number {
                Some(number) => number.to_string(),
                None => format!("its {}", self.unreached(it.to)),
            };
            let when =
                format!("at {}, between {} and {to}", self.beside(&it.at), self.side(it.from));
            let lock = if everywhere == Some(it.lock) { "it".to_owned() } else { name(it.lock)? };
            parts.push(format!("T{} releases {lock} {when}", it.thread.0));
        }
        match (everywhere.and_then(name), parts.is_empty()) {
            (None, true) => None,
            (None, false) => Some(parts.join("; ")),
            (Some(lock), true)
                if everywhere.is_some_and(|it| is_read_locked(self.finding, self.marks, it)) =>
            {
                Some(format!("{lock} is only read-locked: other readers are not kept out"))
            }
            (Some(lock), true) => {
                Some(format!("{lock} is held at {}: no data race", self.accesses()))
            }
            (Some(lock), false) => {
                Some(format!("{lock} is held at {}, but {}", self.accesses(), parts.join("; ")))
            }
        }
    }

    /// "every access above", or which ones, among waits and signals: "2 and 4".
    fn accesses(&self) -> String {
        let numbers = |it: &&Mark| it.number.map(|it| it.to_string());
        let all: Vec<String> = self
            .marks
            .iter()
            .filter(|it| it.is_access() && !it.is_lone)
            .filter_map(|it| numbers(&it))
            .collect();
        match all.len() < self.marks.iter().filter(|it| it.number.is_some()).count() {
            true if !all.is_empty() => act::listed(&all),
            _ => "every access above".to_owned(),
        }
    }

    /// What a thread releases while another one changes the same data.
    pub(super) fn released(&self) -> Vec<Released<'_>> {
        match self.finding.evidence {
            Some(_) => Vec::new(),
            None => released(self.finding, self.marks),
        }
    }

    /// "T3's update of `word` (7) wakes no thread": the last change of what another still waits on.
    fn unnoticed(&self) -> Option<String> {
        let is_futex = |it: &&Mark| {
            it.is_blocked && matches!(it.kind, Some(OpKind::FutexWait | OpKind::FutexWake))
        };
        let wait = self.marks.iter().find(is_futex)?;
        let is_later = |it: &&Mark| {
            it.object == wait.object && wait.moment < it.moment && it.moment < Moment::Failure
        };
        let last = self.marks.iter().rfind(is_later)?;
        let is_change = last.is_access() && last.kind.is_some_and(OpKind::is_write);
        let number = last.number.filter(|_| is_change && last.thread != wait.thread)?;
        let name = act::name(self.finding.objects.get(last.object.idx())?);
        let what = act::noun(last.kind?);
        Some(format!("T{}'s {what} of {name} ({number}) wakes no thread", last.thread.0))
    }

    /// Is what stands out about orderings that are shown? Of others, a note would say nothing.
    pub(super) fn is_about_orders(&self, observation: &Observation) -> bool {
        let is_of_orders = matches!(
            observation,
            Observation::LockOnOneSide { .. }
                | Observation::DifferentLocks { .. }
                | Observation::NoLock { .. }
                | Observation::NotOne { .. }
        );
        let numbers: Vec<Option<usize>> =
            observation.points().into_iter().map(|it| self.number(it)).collect();
        let is_in_order = match observation {
            Observation::NotOne { .. } => numbers.is_sorted(),
            _ => true,
        };
        !is_of_orders || is_in_order && numbers.iter().all(Option::is_some)
    }

    fn observed(&self, observation: &Observation) -> Option<String> {
        if !self.is_about_orders(observation) {
            return None;
        }
        let who = |point: &Point| format!("T{}", point.thread.0);
        let at = |point: &Point| self.at(point);
        let what = |point: &Point| {
            let object = self.finding.objects.get(point.object.idx());
            act::act(point.kind, object, None, self.style)
        };
        Some(match observation {
            Observation::LockOnOneSide { holding, other, lock } => format!(
                "{} holds {} {}; {} does not {}",
                who(holding),
                act::name(lock),
                at(holding),
                who(other),
                at(other)
            ),
            Observation::DifferentLocks { sides: [one, other], locks: [first, second] } => format!(
                "different locks: {} holds {} {}, {} holds {} {}",
                who(one),
                act::name(first),
                at(one),
                who(other),
                act::name(second),
                at(other)
            ),
            Observation::NoLock { sides: [one, other] } => {
                format!(
                    "neither {} {} nor {} {} holds a lock",
                    who(one),
                    at(one),
                    who(other),
                    at(other)
                )
            }
            // The release has a note of its own.
            Observation::NotOne { lock: Some(_), .. } if !self.released().is_empty() => {
                return None;
            }
            Observation::NotOne { from, between, to, lock: None } => {
                let parts = match (act::noun(from.kind), act::noun(to.kind)) {
                    (one, other) if one == other => {
                        format!("{one}s {} and {}", at(from), at(to))
                    }
                    (one, other) => format!("{one} {} and {other} {}", at(from), at(to)),
                };
                format!(
                    "{} {parts} are not one atomic step: {} {} in between {}",
                    possessive(from),
                    who(between),
                    act::verb(between.kind),
                    at(between)
                )
            }
            Observation::NotOne { from, to, lock: Some(lock), .. } => format!(
                "{} releases {} between {} and {}",
                who(from),
                act::name(lock),
                at(from),
                at(to)
            ),
            Observation::NoLoop { wait } => format!(
                "the wait {} is not in a loop: its condition is not checked again afterwards",
                at(wait)
            ),
            Observation::EarlySignal { signal, wait } => format!(
                "lost wake-up: {} {} {} before {} waits {}",
                who(signal),
                what(signal),
                at(signal),
                who(wait),
                at(wait)
            ),
            Observation::LateSignal { left, signal, wait } => format!(
                "{} {} {} after {}'s wait {} has timed out; it waits again {}",
                who(signal),
                what(signal),
                at(signal),
                who(left),
                at(left),
                at(wait)
            ),
            Observation::TakenSignal { signal, woken, wait } => format!(
                "{} {} {}, which wakes {}; nothing wakes {} {} later",
                who(signal),
                what(signal),
                at(signal),
                who(woken),
                who(wait),
                at(wait)
            ),
            Observation::WastedSignal { signal, again, wait } => format!(
                "{} {} {}, which wakes {}, and it waits again {}; {} was not woken {}",
                who(signal),
                what(signal),
                at(signal),
                who(again),
                at(again),
                who(wait),
                at(wait)
            ),
            Observation::Interrupted { sent, at: there } => format!(
                "{} {} {}; it takes effect in {} {}",
                who(sent),
                what(sent),
                at(sent),
                who(there),
                at(there)
            ),
            Observation::LockOrder { links } => {
                let links = links.iter().map(|[took, wants]| {
                    let (first, second) = (self.lock(took), self.lock(wants));
                    format!("{} locks {first} {}, then {second} {}", who(took), at(took), at(wants))
                });
                format!("opposite lock orders: {}", links.collect::<Vec<_>>().join("; "))
            }
        })
    }

    /// What a lock is called, or else what it is.
    pub(super) fn lock(&self, point: &Point) -> String {
        match self.finding.objects.get(point.object.idx()).filter(|it| !it.is_none()) {
            Some(it) => act::name(it),
            None => "a lock".to_owned(),
        }
    }

    /// Is it a misuse, and of what sort?
    pub(super) fn misuse(&self) -> Option<raddle_model::Misuse> {
        match &self.finding.fault {
            Fault::Misuse(it) => Some(it.misuse),
            _ => None,
        }
    }
}

/// "T1's".
fn possessive(point: &Point) -> String {
    format!("T{}'s", point.thread.0)
}

/// "20 of 20".
pub(super) fn share(it: Share) -> String {
    format!("{} of {}", number::grouped(it.n), number::grouped(it.of))
}
