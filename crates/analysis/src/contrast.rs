//! What a failing execution reads otherwise than one that ends well.
//!
//! Two executions of a program that differ in little: the same reads of their threads (the same place, as often as
//! before) see other values. The first such read is where they part; the last is nearest to the failure. Whose write
//! each saw is what an order of threads decided.

use std::collections::HashMap;

use raddle_model::{ObjectId, OpKind, ThreadId};
use raddle_trace::{Site, Trace};

use crate::{interruptions::side, value::Side};

/// A read, in the failing execution and in the one that ends well.
#[derive(Clone, Debug)]
pub struct Contrast {
    /// The memory, by its number in the failing execution.
    pub object: ObjectId,
    /// The read, in the failing execution.
    pub read: Side,
    /// What it sees in each.
    pub values: [u64; 2],
    /// Another thread's write that it sees, in each.
    pub writes: [Option<Side>; 2],
}

/// The last read that sees another value.
pub fn contrast(failing: &Trace, passing: &Trace) -> Option<Contrast> {
    let [step, other] = differences(failing, passing).pop()?;
    let event = &failing.events[step];
    Some(Contrast {
        object: event.object,
        read: side(failing, step),
        values: [event.value, passing.events[other].value],
        writes: [write_seen(failing, step), write_seen(passing, other)],
    })
}

/// The steps of a failing execution that see another value than the same steps of one that passes, in their order:
/// each by its numbers in both.
pub fn differences(failing: &Trace, passing: &Trace) -> Vec<[usize; 2]> {
    let others: HashMap<Read, usize> = reads(passing).collect();
    let both = reads(failing).filter_map(|(read, step)| Some([step, *others.get(&read)?]));
    both.filter(|[step, other]| failing.events[*step].value != passing.events[*other].value)
        .collect()
}

/// What tells reads apart in all executions: thread, op, place, and how often that was before.
type Read = (ThreadId, OpKind, Site, u32);

fn reads(trace: &Trace) -> impl Iterator<Item = (Read, usize)> + '_ {
    let mut counts: HashMap<(ThreadId, OpKind, Site), u32> = HashMap::new();
    trace.events.iter().enumerate().filter_map(move |(step, event)| {
        let sees = matches!(
            event.kind,
            OpKind::Read | OpKind::AtomicLoad | OpKind::AtomicRmw | OpKind::AtomicCas
        );
        let site = *trace.sites.get(event.site.0 as usize)?;
        let nth = sees.then(|| counts.entry((event.thread, event.kind, site)).or_default())?;
        *nth += 1;
        Some(((event.thread, event.kind, site, *nth), step))
    })
}

fn write_seen(trace: &Trace, step: usize) -> Option<Side> {
    let read = &trace.events[step];
    let is_write = |idx: &usize| {
        let event = &trace.events[*idx];
        event.object == read.object && event.kind.is_access() && event.kind.is_write()
    };
    let write = (0..step).rev().find(is_write)?;
    (trace.events[write].thread != read.thread).then(|| side(trace, write))
}
