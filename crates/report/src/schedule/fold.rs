//! Which steps of a long schedule are shown.
//!
//! All, if they fit. Else the ones that a reader asks for first: the end, where the locks of a deadlock
//! were taken, the last thing that another thread did to the object of the failure, then what surrounds
//! switches, later ones before earlier ones. A stretch without switches is cut to its two ends. First of all
//! come the steps that make it fail. Of a livelock whose last steps come again and again, one round is shown.

use std::cmp::Reverse;

use raddle_model::{Finding, Flags, Kind, ObjectId, OpKind, Step};

use super::own_place;

/// Steps at the end that are always shown.
const TAIL: usize = 4;
/// Steps after which a livelock may come back to where it was.
const PERIOD_MAX: usize = 30;
/// More steps than this are not kept in any case.
const CAUSES_MAX: usize = 20;
/// Steps of the way of a wrong value that are always shown.
const CHAIN_MAX: usize = 12;
/// What a write comes from is among so many steps of its thread before it.
const CHAIN_NEAR: usize = 6;
/// What comes after a panic is worth less than all else.
const AFTERWARDS: u32 = 5;
/// Steps around a switch that are shown.
const AROUND: usize = 2;

/// For each step, whether it is shown.
pub(crate) fn kept(
    finding: &Finding,
    why: &[usize],
    reasons: &[Option<String>],
    rows_max: usize,
    is_full: bool,
) -> Vec<bool> {
    let n_steps = finding.steps.len();
    let all = vec![true; n_steps];
    if is_full || n_rows(&all, reasons) <= rows_max {
        return all;
    }
    let (ranked, n_causes) = ranked(finding, why, reasons, rows_max);
    for n_kept in (n_causes.max(1)..=ranked.len()).rev() {
        let mut kept = vec![false; n_steps];
        for idx in &ranked[..n_kept] {
            kept[*idx] = true;
        }
        // What the text names, and the way of the wrong value, are kept in any case.
        if n_rows(&kept, reasons) <= rows_max || n_kept == n_causes {
            fill_gaps_of_one(&mut kept, reasons);
            return kept;
        }
    }
    vec![false; n_steps]
}

/// Of a livelock: after how many steps its last ones come again, if they have come so three times or more.
pub(crate) fn period(finding: &Finding) -> Option<usize> {
    let steps = &finding.steps;
    let is_same = |one: &Step, other: &Step| {
        (one.thread, one.kind, one.object, one.place)
            == (other.thread, other.kind, other.object, other.place)
    };
    let comes_again = |period: &usize| {
        let n_steps = 3 * period;
        n_steps <= steps.len() && {
            let last = &steps[steps.len() - n_steps..];
            last.iter().zip(&last[*period..]).all(|(one, other)| is_same(one, other))
        }
    };
    (1..=PERIOD_MAX).find(comes_again).filter(|_| finding.kind == Kind::Livelock)
}

/// Only the last steps.
pub(crate) fn last(finding: &Finding, n_steps: usize) -> Vec<bool> {
    let n_left_out = finding.steps.len().saturating_sub(n_steps);
    (0..finding.steps.len()).map(|idx| n_left_out <= idx).collect()
}

/// To say that one step was left out takes as much room as the step.
fn fill_gaps_of_one(kept: &mut [bool], reasons: &[Option<String>]) {
    for idx in 1..kept.len().saturating_sub(1) {
        let is_gap = kept[idx - 1] && !kept[idx] && kept[idx + 1];
        if is_gap && reasons[idx - 1].is_none() && reasons[idx].is_none() {
            kept[idx] = true;
        }
    }
}

/// The best steps, best first, and how many of them are never left out.
fn ranked(
    finding: &Finding,
    why: &[usize],
    reasons: &[Option<String>],
    rows_max: usize,
) -> (Vec<usize>, usize) {
    let mut causes = causes(finding);
    causes.extend(chain(finding));
    causes.retain(|it| !is_implied(&finding.steps[*it]));
    causes.extend(why);
    causes.extend(evidence(finding));
    causes.extend(ended(finding));
    let objects = objects_of_failure(finding);
    let end = end(finding);
    let mut ranked: Vec<(u32, Reverse<usize>)> = (0..finding.steps.len())
        .filter_map(|idx| {
            let step = &finding.steps[idx];
            let rank = if causes.contains(&idx) {
                0
            } else if is_implied(step) {
                rank_at_switch(step, distance(reasons, idx)?, &objects)
            } else if (idx < end && end <= idx + TAIL) || took_a_held_lock(finding, step) {
                1
            } else if end <= idx {
                rank_at_switch(step, distance(reasons, idx)?, &objects) + AFTERWARDS
            } else {
                rank_at_switch(step, distance(reasons, idx)?, &objects)
            };
            Some((rank, Reverse(idx)))
        })
        .collect();
    ranked.sort_unstable();
    let n_causes = ranked.iter().filter(|it| it.0 == 0).count().min(CAUSES_MAX);
    ranked.truncate(rows_max.max(n_causes));
    (ranked.into_iter().map(|(_, Reverse(idx))| idx).collect(), n_causes)
}

fn rank_at_switch(step: &Step, distance: usize, objects: &[ObjectId]) -> u32 {
    if is_implied(step) || Flags(step.flags).has(Flags::SPIN) || step.kind == OpKind::Start {
        5
    } else if distance > 1 {
        4
    } else if objects.contains(&step.object) {
        2
    } else {
        3
    }
}

/// How many steps there are up to the end of what failed. Others go on after a thread's panic.
fn end(finding: &Finding) -> usize {
    let is_last = |it: &Step| it.kind == OpKind::Finish && Some(it.thread) == finding.thread;
    let last = finding.steps.iter().rposition(is_last).filter(|_| finding.kind == Kind::Panic);
    last.map_or(finding.steps.len(), |it| it + 1)
}

/// Is it what the program did not write?
pub(super) fn is_implied(step: &Step) -> bool {
    Flags(step.flags).has(Flags::IMPLIED)
}

/// Steps to the nearest switch, if it is near.
fn distance(reasons: &[Option<String>], idx: usize) -> Option<usize> {
    (1..=AROUND).find(|distance| {
        let after = reasons.get(idx + distance - 1);
        let before = idx.checked_sub(*distance).and_then(|it| reasons.get(it));
        [after, before].into_iter().flatten().any(Option::is_some)
    })
}

/// The steps that an analysis speaks of, and those right before accesses that were no steps.
fn evidence(finding: &Finding) -> Vec<usize> {
    let Some(evidence) = &finding.evidence else { return Vec::new() };
    let of_accesses = evidence.accesses.iter().map(|it| it.step);
    let of_links = evidence.links.iter().flat_map(|it| it.steps);
    let kept = of_accesses.chain(of_links).filter_map(|n_steps| {
        let n_kept = n_steps.checked_sub(finding.n_steps_dropped)?;
        let idx = usize::try_from(n_kept.checked_sub(1)?).ok()?;
        (idx < finding.steps.len()).then_some(idx)
    });
    kept.collect()
}

/// The last thing that another thread did to each object of the failure.
fn causes(finding: &Finding) -> Vec<usize> {
    let objects = objects_of_failure(finding);
    let last_touch = |object: &ObjectId| {
        finding.steps.iter().rposition(|it| {
            it.object == *object && Some(it.thread) != finding.thread && it.kind.is_write()
        })
    };
    objects.iter().filter_map(last_touch).collect()
}

/// What ended the lifetime of something that is used afterwards.
fn ended(finding: &Finding) -> Option<usize> {
    let ends = |it: &Step| matches!(it.kind, OpKind::Free | OpKind::Destroy | OpKind::Close);
    let is_use = matches!(finding.kind, Kind::Misuse | Kind::Crash | Kind::Abort);
    finding.steps.iter().rposition(ends).filter(|_| is_use)
}

/// The way of the wrong value, backwards: what the failing thread read where it failed, or else last, the write that each
/// read saw, what that write's thread had read for it. By the trace alone: a write is taken to come from the reads of the same line, or of
/// the same object, right before it.
fn chain(finding: &Finding) -> Vec<usize> {
    let steps = &finding.steps;
    let Some(thread) = finding.thread else { return Vec::new() };
    let is_read = |it: &Step| it.kind.is_access() && it.kind != OpKind::Write;
    let of_failing = (0..steps.len()).rev().filter(|it| steps[*it].thread == thread);
    let mut todo: Vec<usize> = of_failing.filter(|it| is_read(&steps[*it])).take(2).collect();
    // What was read elsewhere need not be a part of the condition.
    let failed_at = finding.sites.first();
    let is_there = |step: &Step| {
        let here = own_place(finding, step).zip(failed_at);
        here.is_some_and(|(it, at)| (it.line, &it.file) == (at.line, &at.file))
    };
    if todo.iter().any(|it| is_there(&steps[*it])) {
        todo.retain(|it| is_there(&steps[*it]));
    }
    let mut found: Vec<usize> = Vec::new();
    while let Some(read) = todo.pop() {
        if CHAIN_MAX <= found.len() {
            break;
        }
        if found.contains(&read) {
            continue;
        }
        found.push(read);
        let wrote = steps[..read].iter().rposition(|it| {
            it.object == steps[read].object && it.kind.is_access() && it.kind.is_write()
        });
        let Some(wrote) = wrote.filter(|it| !found.contains(it)) else { continue };
        found.push(wrote);
        let step = &steps[wrote];
        let own = (0..wrote).rev().filter(|it| steps[*it].thread == step.thread);
        let own = own.take(CHAIN_NEAR).filter(|it| {
            let it = &steps[*it];
            is_read(it) && (it.object == step.object || it.place == step.place)
        });
        todo.extend(own.take(1));
    }
    found
}

/// Is it one of the places where a lock was taken that somebody waits for at the end?
fn took_a_held_lock(finding: &Finding, step: &Step) -> bool {
    let place = finding.places.get(step.place as usize);
    finding.threads.iter().filter_map(|it| it.waits_for.as_ref()).any(|wait| {
        wait.object_id == step.object
            && wait.holders.iter().any(|(holder, at)| *holder == step.thread && Some(at) == place)
    })
}

/// What the threads wait for at the end, or what the failing thread touched last.
fn objects_of_failure(finding: &Finding) -> Vec<ObjectId> {
    let waited = finding.threads.iter().filter_map(|it| it.waits_for.as_ref());
    let mut objects: Vec<ObjectId> = waited.map(|wait| wait.object_id).collect();
    let of_failing = finding.steps.iter().rev().filter(|it| Some(it.thread) == finding.thread);
    objects.extend(of_failing.take(3).map(|it| it.object));
    objects.retain(|it| *it != ObjectId::NONE);
    objects
}

/// Lines that these steps take up, with their switches and folds.
fn n_rows(kept: &[bool], reasons: &[Option<String>]) -> usize {
    let mut n_rows = 0;
    let mut was_kept = true;
    for (idx, is_kept) in kept.iter().enumerate() {
        let is_after_switch = idx > 0 && reasons[idx - 1].is_some();
        n_rows += match (was_kept, is_kept) {
            (true, true) => 1 + usize::from(is_after_switch),
            (false, true) | (true, false) => 1,
            (false, false) => 0,
        };
        was_kept = *is_kept;
    }
    n_rows
}
