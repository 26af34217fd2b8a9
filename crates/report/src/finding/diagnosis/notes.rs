//! Below the spans: which orderings make it fail, with what was measured of each, and notes that follow from them.

use raddle_model::{
    Constraint, Explanation, Fault, Finding, Kind, Observation, OpKind, Passing, Point, Reason,
    Share,
};

use super::{
    marks::{Mark, Moment},
    thread,
};
use crate::{
    finding::evidence,
    layout::{number, style::Style},
    words::{act, delays, place},
};

/// Fewer executions than this say nothing about an ordering.
const SAMPLES_MIN: u64 = 5;

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

    /// "1 before 2, 3 before 4: 20 of 20 schedules with these orderings fail; with 1 reversed …".
    pub(super) fn order(&self) -> Option<String> {
        let reason = self.reason()?;
        let orders = self.orders();
        if orders.is_empty() {
            return None;
        }
        let pairs: Vec<String> = orders.iter().map(|(_, a, b)| format!("{a} before {b}")).collect();
        let these = if orders.len() == 1 { "this ordering" } else { "these orderings" };
        let mut text = format!(
            "{}: {} schedules with {these} fail",
            pairs.join(", "),
            share(reason.sufficient)
        );
        for (order, a, b) in orders.iter().filter(|it| SAMPLES_MIN <= it.0.reversed.of) {
            text.push_str(&format!("; with {b} before {a}: {}", share(order.reversed)));
        }
        Some(text)
    }

    /// The orderings whose sides are shown, in the order that the schedule has, with their numbers.
    pub(super) fn orders(&self) -> Vec<(&Constraint, usize, usize)> {
        let Some(reason) = self.reason() else { return Vec::new() };
        let mut all: Vec<(&Constraint, usize, usize)> = Vec::new();
        for order in &reason.orders {
            let (Some(a), Some(b)) = (self.number(&order.first), self.number(&order.second)) else {
                continue;
            };
            // What is said must be so in the schedule that is shown.
            if a < b && !all.iter().any(|it| (it.1, it.2) == (a, b)) {
                all.push((order, a, b));
            }
        }
        all
    }

    /// The number of the span that shows a point.
    pub(super) fn number(&self, point: &Point) -> Option<usize> {
        let is_it = |it: &&Mark| {
            let moment = match point.step {
                Some(step) => it.moment == Moment::Step(step, point.after),
                None => it.moment >= Moment::Blocked,
            };
            let is_wait = it.moment == Moment::Blocked && point.place == it.place;
            it.thread == point.thread && (moment && it.object == point.object || is_wait)
        };
        self.marks.iter().find(is_it).and_then(|it| it.number)
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
        let mut all = Vec::new();
        if let Some(evidence) = self.finding.evidence.as_deref() {
            all.extend(evidence::verdict(self.finding, evidence, self.style));
            all.extend(evidence::location(self.finding, evidence));
        }
        all.extend(delays::note(self.finding));
        if let Some(reason) = self.reason() {
            all.extend(self.without_orders(reason));
            all.extend(reason.observations.iter().filter_map(|it| self.observed(it)));
        }
        all.extend(self.allocated());
        all.extend(self.bystanders());
        let passing = self.explanation.and_then(|it| it.passing.as_deref());
        all.extend(passing.and_then(|it| self.passes(it)));
        all
    }

    /// "fails in every schedule tried (24)".
    fn without_orders(&self, reason: &Reason) -> Option<String> {
        let Share { n, of } = reason.sufficient;
        if !reason.orders.is_empty() || of == 0 {
            return None;
        }
        Some(match n == of {
            true => format!(
                "fails in every schedule tried ({}): it does not depend on the schedule",
                number::grouped(of)
            ),
            false => format!(
                "no small set of orderings explains it: {} random schedules fail",
                share(reason.sufficient)
            ),
        })
    }

    /// Who allocated what was freed too early.
    fn allocated(&self) -> Option<String> {
        let freed = self.finding.freed.as_deref()?;
        let raddle_model::Home::Heap { thread: by, stack, .. } = &freed.location.home else {
            return None;
        };
        let at = stack.iter().find(|it| !place::is_library(it)).map(place::short)?;
        let size = number::count(freed.location.size, "byte");
        Some(format!("{size} allocated by {} at {at}", thread(self.finding, *by)))
    }

    /// Threads of a deadlock that only wait for the others.
    fn bystanders(&self) -> Option<String> {
        let finding = self.finding;
        if finding.kind != Kind::Deadlock || finding.evidence.is_some() {
            return None;
        }
        let is_shown = |thread| {
            self.marks.iter().any(|it| it.thread == thread && it.moment == Moment::Blocked)
        };
        let waiting = finding.threads.iter().filter(|it| {
            it.pending == Some(OpKind::Join) && it.waits_for.is_some() && !is_shown(it.thread)
        });
        let all: Vec<String> = waiting
            .filter_map(|it| {
                let wait = it.waits_for.as_ref()?;
                let at = place::short(&wait.at);
                let at = if at.is_empty() { at } else { format!(" ({at})") };
                let whom = act::name(&wait.object);
                let whom = whom.strip_prefix("thread ").unwrap_or(&whom);
                Some(format!("{} waits for {whom} to finish{at}", thread(finding, it.thread)))
            })
            .collect();
        (!all.is_empty()).then(|| all.join("; "))
    }

    /// "with 4 before 3, it passes: T2 then reads `hits` = 1 (5), not 0".
    fn passes(&self, passing: &Passing) -> Option<String> {
        let difference = passing.difference.as_ref()?;
        let reason = self.reason()?;
        let turned = reason.orders.get(passing.reversed?)?;
        let (a, b) = (self.number(&turned.first)?, self.number(&turned.second)?);
        let [fails, passes] = difference.values.map(|it| number::value(it, self.style));
        let name = act::name(self.finding.objects.get(difference.point.object.idx())?);
        let at = self.at(&difference.point);
        let who = difference.point.thread.0;
        Some(format!(
            "it passes with {b} before {a}: T{who} then reads {name} = {passes}, not {fails} {at}"
        ))
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
            Observation::NotOne { from, between, to, lock } => match lock {
                None => format!(
                    "{} {} and {} are not atomic: {} {} in between {}",
                    possessive(from),
                    at(from),
                    at(to),
                    who(between),
                    act::verb(between.kind),
                    at(between)
                ),
                Some(lock) => format!(
                    "{} releases {} between {} and {}: not atomic",
                    who(from),
                    act::name(lock),
                    at(from),
                    at(to)
                ),
            },
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
                "{} {} {}, which wakes {}; no later one reaches {} {}",
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
