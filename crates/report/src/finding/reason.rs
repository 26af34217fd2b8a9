//! Why it fails, in sentences: which orders make it fail, how sure that is, what passes, what stands out.

use std::fmt::Write as _;

use raddle_model::{
    Constraint, Explanation, Finding, Observation, OpKind, Passing, Place, Point, Reason, Share,
};

use crate::{
    finding::evidence,
    layout::{
        number,
        style::{self, Ink, Style, width},
    },
    words::{delays, likelihood, names, place},
};

/// What a thread does is cut beyond this.
const WHAT_MAX: usize = 30;
/// Source text longer than this is cut.
const SOURCE_MAX: usize = 48;

/// The block below the headline; empty if there is nothing to say.
pub(crate) fn block(finding: &Finding, explanation: &Explanation, style: &Style) -> String {
    let mut out = String::new();
    if let Some(reason) = &explanation.reason {
        orders(&mut out, finding, reason, style);
        for observation in &reason.observations {
            wrapped(&mut out, "note: ", &observed(finding, observation, style), style);
        }
    }
    if let Some(passing) = &explanation.passing
        && let Some(text) = passes(finding, explanation, passing, style)
    {
        wrapped(&mut out, "passes ", &text, style);
    }
    if let Some(text) = likelihood::line(&explanation.likelihood) {
        wrapped(&mut out, "chance of one execution: ", &text, style);
    }
    out
}

/// What an analysis has said and everything that the block says, one sentence after the other, without line breaks of their own.
pub fn sentences(finding: &Finding, explanation: &Explanation, style: &Style) -> Vec<String> {
    let of_evidence = finding.evidence.as_deref().map(|it| evidence::verdict(finding, it, style));
    let mut all = of_evidence.unwrap_or_default();
    all.extend(delays::note(finding));
    if let Some(reason) = &explanation.reason {
        all.extend(whenever(finding, reason, style));
        all.push(sureness(reason));
        all.extend(reason.observations.iter().map(|it| observed(finding, it, style)));
    }
    if let Some(passing) = &explanation.passing {
        all.extend(passes(finding, explanation, passing, style).map(|it| format!("passes {it}")));
    }
    let chances = likelihood::line(&explanation.likelihood);
    all.extend(chances.map(|it| format!("chance of one execution: {it}")));
    all
}

/// "fails whenever `a` (x.c:1, T1) comes before `b` (x.c:2, T2) and …".
fn whenever(finding: &Finding, reason: &Reason, style: &Style) -> Option<String> {
    let chains = chains(&reason.orders);
    let chains = chains.iter().map(|chain| {
        let points = chain.iter().map(|it| in_line(finding, it, style)).collect::<Vec<_>>();
        match points.as_slice() {
            [first, second, rest @ ..] => {
                let rest = rest.iter().map(|it| format!(", and that before {it}"));
                format!("{first} comes before {second}{}", rest.collect::<String>())
            }
            _ => String::new(),
        }
    });
    let chains: Vec<String> = chains.collect();
    (!chains.is_empty()).then(|| format!("fails whenever {}", chains.join("; and ")))
}

fn orders(out: &mut String, finding: &Finding, reason: &Reason, style: &Style) {
    if reason.orders.is_empty() {
        return wrapped(out, "", &sureness(reason), style);
    }
    let chains = chains(&reason.orders);
    let points = || chains.iter().flatten();
    let callers = || points().filter_map(|it| it.caller.as_ref()).map(|it| &it.0);
    let places = || points().map(|it| &it.place).chain(callers());
    let first = points().next().map(|it| it.place.file.clone()).unwrap_or_default();
    // The file is said once, if it is always the same.
    let only_lines = !first.is_empty() && places().all(|it| it.file == first && it.line > 0);
    let widest = points().map(|it| width(&what(finding, it))).max().unwrap_or(0);
    let of = match only_lines {
        true => format!(" (lines of {})", first.rsplit('/').next().unwrap_or_default()),
        false => String::new(),
    };
    let _ = writeln!(out, "  {}{of}", style.paint(Ink::Strong, "fails whenever"));
    for (idx, chain) in chains.iter().enumerate() {
        for (nth, point) in chain.iter().enumerate() {
            let word = match (idx, nth) {
                (0, 0) => "",
                (_, 0) => "and",
                _ => "before",
            };
            let what = style.fit(&what(finding, point), widest.min(WHAT_MAX));
            let (at, source) = where_at(point, only_lines);
            let line = format!("  {word:>8} {what}  {at}  {}", style.tame(source));
            let _ = writeln!(out, "{}", style.cut(line.trim_end(), style.width));
        }
    }
    wrapped(out, "", &sureness(reason), style);
}

/// `:18`, or `:18 from :26` with the text of the call, where that tells it from others.
fn where_at(point: &Point, only_lines: bool) -> (String, &str) {
    let short = |it: &Place| match only_lines {
        true => format!(":{}", it.line),
        false => place::short(it),
    };
    match &point.caller {
        Some((from, source)) => (format!("{} from {}", short(&point.place), short(from)), source),
        None => (short(&point.place), &point.source),
    }
}

/// Orders that follow on each other are told in one go.
fn chains(orders: &[Constraint]) -> Vec<Vec<&Point>> {
    let mut chains: Vec<Vec<&Point>> = Vec::new();
    let mut left: Vec<&Constraint> = orders.iter().collect();
    while !left.is_empty() {
        let is_follower = |it: &&Constraint| {
            chains
                .last()
                .and_then(|chain| chain.last())
                .is_some_and(|last| is_same(last, &it.first))
        };
        match left.iter().position(is_follower) {
            Some(idx) => {
                let next = left.remove(idx);
                chains.last_mut().expect("bug: it was just looked at").push(&next.second);
            }
            None => {
                let first = left.remove(0);
                chains.push(vec![&first.first, &first.second]);
            }
        }
    }
    chains
}

fn is_same(one: &Point, other: &Point) -> bool {
    one.thread == other.thread
        && one.step == other.step
        && (one.step.is_some() || one.place == other.place)
}

/// How sure it is: "20 of 20 random schedules that keep this order fail".
fn sureness(reason: &Reason) -> String {
    let Share { n, of } = reason.sufficient;
    let (n, of) = (number::grouped(n), number::grouped(of));
    if reason.orders.is_empty() {
        return match n == of {
            true => format!("fails in whatever order: {n} of {of} random schedules do"),
            false => format!("no few orders make it fail: {n} of {of} random schedules do"),
        };
    }
    let keep = if reason.orders.len() == 1 { "this order" } else { "these orders" };
    let mut text = format!("{n} of {of} random schedules that keep {keep} fail");
    let turned = reason.orders.iter().map(|it| it.reversed).filter(|it| it.of > 0);
    let turned: Vec<String> = turned.map(|it| format!("{} of {}", it.n, it.of)).collect();
    match turned.as_slice() {
        [] => {}
        [one] if reason.orders.len() == 1 => {
            let _ = write!(text, ", the other way round {one}");
        }
        many => {
            let _ = write!(text, "; one of them the other way round: {}", many.join(", "));
        }
    }
    text
}

/// "when `b` comes before `a`: then T1 reads 1, not 0, at x.c:4".
fn passes(
    finding: &Finding,
    explanation: &Explanation,
    passing: &Passing,
    style: &Style,
) -> Option<String> {
    let orders = explanation.reason.as_ref().map_or(&[][..], |it| &it.orders);
    let turned = passing.reversed.and_then(|it| orders.get(it));
    let difference = passing.difference.as_ref().map(|it| {
        let [fails, passes] = it.values.map(|it| number::value(it, style));
        let at = place::short(&it.point.place);
        let what = object(finding, &it.point);
        let what = if what.is_empty() { String::new() } else { format!(" from {what}") };
        format!("T{} then reads {passes}{what} at {at}, not {fails}", it.point.thread.0)
    });
    Some(match (turned, difference) {
        (Some(order), difference) => {
            let (first, second) = (in_passing(&order.second), in_passing(&order.first));
            let difference = difference.map(|it| format!(": {it}")).unwrap_or_default();
            format!("when {first} comes before {second}{difference}")
        }
        (None, Some(difference)) => format!("where {difference}"),
        (None, None) => return None,
    })
}

fn observed(finding: &Finding, observation: &Observation, style: &Style) -> String {
    let at = |point: &Point| place::short(&point.place);
    let who = |point: &Point| format!("T{}", point.thread.0);
    match observation {
        Observation::LockOnOneSide { holding, other, lock } => format!(
            "{} holds {lock} at {}; {} does not at {}",
            who(holding),
            at(holding),
            who(other),
            at(other)
        ),
        Observation::DifferentLocks { sides: [one, other], locks: [first, second] } => format!(
            "{} holds {first} at {}, {} holds {second} at {}: not the same lock",
            who(one),
            at(one),
            who(other),
            at(other)
        ),
        Observation::NoLock { sides: [one, other] } => {
            format!("no lock is held at {} or at {}", at(one), at(other))
        }
        Observation::NotOne { from, between, to, lock } => {
            let split = match lock {
                None => format!("{} and {} are not one step of {}", at(from), at(to), who(from)),
                Some(lock) => {
                    format!("{} gives {lock} back between {} and {}", who(from), at(from), at(to))
                }
            };
            format!("{split}, and {} comes in between", in_passing(between))
        }
        Observation::NoLoop { wait } => format!(
            "the wait at {} is in no loop: what it waits for is not looked at again afterwards",
            at(wait)
        ),
        Observation::EarlySignal { signal, wait } => format!(
            "{} comes too early: {} waits only later, at {}",
            in_line(finding, signal, style),
            who(wait),
            at(wait)
        ),
        Observation::LateSignal { left, signal, wait } => format!(
            "{} comes when {}'s wait at {} has timed out: it waits again only later, at {}",
            in_line(finding, signal, style),
            who(left),
            at(left),
            at(wait)
        ),
        Observation::TakenSignal { signal, woken, wait } => format!(
            "{} woke {}; nothing comes after it for {}, who waits at {}",
            in_line(finding, signal, style),
            who(woken),
            who(wait),
            at(wait)
        ),
        Observation::WastedSignal { signal, again, wait } => format!(
            "{} wakes one of those who wait: {}, who waits again at {}, not {}, who waits at {}",
            in_line(finding, signal, style),
            who(again),
            with_caller(again),
            who(wait),
            with_caller(wait)
        ),
        Observation::Interrupted { sent, at: there } => format!(
            "{} takes effect at {}'s {}",
            in_line(finding, sent, style),
            who(there),
            in_line(finding, there, style)
        ),
        Observation::LockOrder { links } => {
            let links = links.iter().map(|[took, wants]| {
                let (first, second) = (lock(finding, took), lock(finding, wants));
                format!("{} takes {first} ({}), then {second} ({})", who(took), at(took), at(wants))
            });
            format!("opposite orders: {}", links.collect::<Vec<_>>().join("; "))
        }
    }
}

/// `T1's read of hits (x.c:14)` where it was spoken of before: its thread, and where it is.
fn in_passing(point: &Point) -> String {
    format!("T{}'s {} ({})", point.thread.0, point.kind.word(), place::short(&point.place))
}

/// "`int seen = hits;` (x.c:14, T1)".
fn in_line(finding: &Finding, point: &Point, style: &Style) -> String {
    let what = match point.source.as_str() {
        "" => {
            let object = object(finding, point);
            format!("{} {object}", point.kind.word()).trim_end().to_owned()
        }
        source => style.cut(&style.tame(source), SOURCE_MAX),
    };
    format!("`{what}` ({}, T{})", with_caller(point), point.thread.0)
}

/// `x.c:14`, or `x.c:14 from x.c:30`.
fn with_caller(point: &Point) -> String {
    let from = point.caller.as_ref().map(|it| format!(" from {}", place::short(&it.0)));
    format!("{}{}", place::short(&point.place), from.unwrap_or_default())
}

/// "T1 read hits".
fn what(finding: &Finding, point: &Point) -> String {
    let object = object(finding, point);
    let kind = match point.kind {
        OpKind::Start | OpKind::Finish => point.kind.word().to_owned(),
        kind => format!("{} {object}", kind.word()).trim_end().to_owned(),
    };
    format!("T{} {kind}", point.thread.0)
}

/// What reports call the object, if that is short.
fn object(finding: &Finding, point: &Point) -> String {
    finding.objects.get(point.object.idx()).and_then(names::bare).unwrap_or_default()
}

/// What reports call a lock, or else what it is.
fn lock(finding: &Finding, point: &Point) -> String {
    match finding.objects.get(point.object.idx()).filter(|it| !it.is_none()) {
        Some(it) => names::bare(it).unwrap_or_else(|| format!("a {}", it.class.word())),
        None => "a lock".to_owned(),
    }
}

/// A note in as many lines as it takes, all but the first indented.
pub(crate) fn wrapped(out: &mut String, head: &str, text: &str, style: &Style) {
    let indent = " ".repeat(2 + width(head));
    let room = style.width.saturating_sub(indent.len()).max(20);
    for (idx, line) in style::wrapped(text, room).iter().enumerate() {
        let before = match idx {
            0 => format!("  {}", style.paint(Ink::Strong, head)),
            _ => indent.clone(),
        };
        let _ = writeln!(out, "{before}{line}");
    }
}
