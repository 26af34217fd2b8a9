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
pub struct ReadDifference {
    /// The memory, by its number in the failing execution.
    pub object: ObjectId,
    /// The read, in the failing execution.
    pub read: Side,
    /// What it sees in each.
    pub values: [u64; 2],
    /// Another thread's write that it sees, in each.
    pub writes: [Option<Side>; 2],
}

/// The last read that sees another value, of another write: what the same write brings otherwise, its thread has read
/// otherwise before. If there is none, the last one that sees another value.
pub fn contrast(failing: &Trace, passing: &Trace) -> Option<ReadDifference> {
    let all = differences(failing, passing).into_iter().rev();
    let all = all.map(|[step, other]| {
        let event = &failing.events[step];
        ReadDifference {
            object: event.object,
            read: side(failing, step),
            values: [event.value, passing.events[other].value],
            writes: [write_seen(failing, step), write_seen(passing, other)],
        }
    });
    let place = |trace: &Trace, it: &Option<Side>| {
        it.as_ref().map(|it| (it.thread, trace.sites.get(it.site.0 as usize).copied()))
    };
    let is_same = |it: &ReadDifference| {
        let [seen, instead] = &it.writes;
        seen.is_some() && place(failing, seen) == place(passing, instead)
    };
    let mut all = all.peekable();
    let last = all.peek().cloned();
    all.find(|it| !is_same(it)).or(last)
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

#[cfg(test)]
mod tests {
    use raddle_trace::{Site, Trace};

    use super::contrast;
    use crate::toy;

    /// One takes from an account, one puts something in, one looks.
    const LINES: [&str; 6] =
        ["0 spawn 1", "0 spawn 2", "1 write x", "2 read x", "2 write x", "0 read x"];

    /// Lines in this order, each with the value that it reads or writes; the same line is at the same place.
    fn execution(steps: &[(usize, u64)]) -> Trace {
        let lines: Vec<&str> = steps.iter().map(|it| LINES[it.0]).collect();
        let mut trace = toy::trace(&lines.join("\n"));
        for (idx, (line, value)) in steps.iter().enumerate() {
            trace.events[idx].value = *value;
            trace.sites[idx + 1] =
                Site { module: Some(0), offset: *line as u64, ..Site::default() };
        }
        trace
    }

    #[test]
    fn what_the_same_write_brings_was_read_before() {
        let failing = execution(&[(0, 0), (1, 0), (3, 10), (4, 7), (5, 7)]);
        let passing = execution(&[(0, 0), (1, 0), (2, 14), (3, 14), (4, 11), (5, 11)]);
        let found = contrast(&failing, &passing).expect("they differ");
        assert_eq!((found.read.thread.0, found.values), (2, [10, 14]));
        let [seen, instead] = found.writes.map(|it| it.map(|it| it.thread.0));
        assert_eq!((seen, instead), (None, Some(1)));
    }
}
