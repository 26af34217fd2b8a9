//! Places of reads that matter in an execution: those that decide something, and those that flow into what such
//! reads read.

use std::collections::{BTreeMap, BTreeSet};

use raddle_model::ThreadId;

use super::{past::Past, reached::Reached};
use raddle_model::flows::Flows;

/// When a thread accessed something from a place, first and last.
#[derive(Clone, Copy, Debug)]
struct When {
    first: usize,
    last: usize,
}

/// By what is accessed and from where.
type Accesses = BTreeMap<u64, BTreeMap<(u64, ThreadId), When>>;

/// See the module.
pub(super) fn relevant_places(past: &Past, flows: &Flows, reached: &Reached) -> BTreeSet<u64> {
    // By place of a read, what it reads; by object, where it is written; by thread, where it reads.
    let (mut reads, mut writes, mut places) = (Accesses::new(), Accesses::new(), Accesses::new());
    for (idx, step) in past.history.steps.iter().enumerate() {
        let note = |all: &mut Accesses, key: u64, other: u64| {
            let when = When { first: idx, last: idx };
            let known = all.entry(key).or_default().entry((other, step.thread)).or_insert(when);
            known.last = idx;
        };
        if step.act.is_read() {
            note(&mut reads, step.place, step.object);
            note(&mut places, u64::from(step.thread.0), step.place);
        }
        if step.act.is_write() {
            note(&mut writes, step.object, step.place);
        }
    }
    let all = places.values().flatten().map(|it| *it.0);
    let deciding = all.filter(|(place, thread)| reached.decides(flows, *thread, *place));
    let mut found: BTreeSet<u64> = deciding.map(|it| it.0).collect();
    let mut open: Vec<u64> = found.iter().copied().collect();
    let mut done = BTreeSet::new();
    while let Some(place) = open.pop() {
        for ((object, reader), read) in reads.get(&place).into_iter().flatten() {
            for ((write, writer), written) in writes.get(object).into_iter().flatten() {
                // What a thread writes after all of its reads is nothing to them.
                let is_late = reader == writer && written.first > read.last;
                if is_late || !done.insert((*write, *writer)) {
                    continue;
                }
                let of_thread = || places.get(&u64::from(writer.0)).into_iter().flatten();
                let sources: Vec<u64> = match flows.writes.get(write) {
                    Some(places) => places.clone(),
                    None => {
                        let earlier = of_thread().filter(|it| it.1.first <= written.last);
                        earlier.map(|it| it.0.0).collect()
                    }
                };
                open.extend(sources.into_iter().filter(|it| found.insert(*it)));
            }
        }
    }
    found
}
