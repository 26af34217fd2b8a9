//! What the failing thread read on the line where it failed: the operands of an assertion, what a `return` of `main` was
//! decided by. When all other threads have ended, accesses are no steps; an execution with every access has them all the
//! same.

use raddle_model::{Event, Finding, OpKind, Place, Point};
use raddle_trace::Trace;

use super::{
    points::{self, Points},
    rich::{Rich, is_lone},
};
use crate::{finding::is_own, target::Symbols};

/// More objects than this are a loop over what is not all wrong.
const LOOKS_MAX: usize = 3;

/// The reads, in their order; each object once. It adds objects to the finding.
pub(super) fn looks(rich: &Rich, small: &mut Finding, symbols: &mut dyn Symbols) -> Vec<Point> {
    let Some(whole) = &rich.whole else { return Vec::new() };
    let mut points = Points::of_whole(whole, small, symbols);
    let reads = reads(&whole.trace, small, &points);
    let mut looks: Vec<Point> = reads.into_iter().map(|it| points.step(it, symbols)).collect();
    points::keep_callers(&mut looks.iter_mut().collect::<Vec<_>>());
    let objects = points.into_objects();
    if !looks.is_empty() {
        small.objects = objects;
    }
    looks
}

/// The last reads of the failing thread, on the line where it failed, of what another thread has touched.
fn reads(trace: &Trace, finding: &Finding, points: &Points<'_>) -> Vec<usize> {
    let events = &trace.events;
    let thread = finding.thread.or_else(|| events.last().map(|it| it.thread));
    let own = |it: &usize| Some(events[*it].thread) == thread;
    let Some(last) = (0..events.len()).rev().filter(own).find(|it| is_lone(&events[*it])) else {
        return Vec::new();
    };
    let failed_at = finding.sites.first().filter(|it| is_own(it) && it.line > 0);
    let line = |it: &Place| (it.line, it.file.clone());
    let failed_at = failed_at.map_or_else(|| line(&points.place(last)), line);
    // What came after the last of them was not what it failed for.
    let mut found: Vec<usize> = Vec::new();
    for idx in (0..=last).rev().filter(own) {
        let event = &events[idx];
        if !is_lone(event) || line(&points.place(idx)) != failed_at {
            break;
        }
        let is_known = found.iter().any(|it| events[*it].object == event.object);
        let is_of_others = |it: &Event| it.object == event.object && it.thread != event.thread;
        let is_read = matches!(event.kind, OpKind::Read | OpKind::AtomicLoad) && event.size <= 8;
        if is_read && !is_known && events.iter().any(is_of_others) {
            found.push(idx);
        }
    }
    if LOOKS_MAX < found.len() {
        return Vec::new();
    }
    found.reverse();
    found
}
