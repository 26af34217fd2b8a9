//! Which sinks the threads of an execution have come to, as far as its steps tell.

use std::collections::{BTreeMap, BTreeSet};

use raddle_model::ThreadId;

use super::past::Past;
use raddle_model::flows::{Flows, Shown, SinkKind};

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Reached {
    /// By thread and place of a read: sinks that it decides. Those whose flow is not known have no entry.
    sinks: BTreeMap<(ThreadId, u64), Vec<u32>>,
}

impl Reached {
    pub(super) fn of(past: &Past, flows: &Flows) -> Reached {
        let mut places: BTreeSet<(ThreadId, u64)> = BTreeSet::new();
        let mut functions: BTreeSet<(ThreadId, u32)> = BTreeSet::new();
        for step in &past.history.steps {
            if places.insert((step.thread, step.place)) {
                let function = flows.functions.get(&step.place);
                functions.extend(function.map(|it| (step.thread, *it)));
            }
        }
        let mut reached = Reached::default();
        for (thread, place) in &places {
            let Some(sinks) = flows.sinks_of(*place) else { continue };
            let is_reached = |it: &&u32| {
                let sink = &flows.sinks[**it as usize];
                match sink.shown {
                    Shown::Never => true,
                    Shown::AtPlace => places.contains(&(*thread, sink.place)),
                    Shown::InFunction(function) => functions.contains(&(*thread, function)),
                }
            };
            let sinks = sinks.iter().filter(is_reached).copied().collect();
            reached.sinks.insert((*thread, *place), sinks);
        }
        reached
    }

    /// The sinks that a thread's read decides; `None` if that is not known.
    pub(super) fn sinks_of(&self, thread: ThreadId, place: u64) -> Option<&[u32]> {
        self.sinks.get(&(thread, place)).map(Vec::as_slice)
    }

    /// Does a thread's read decide more than what is written?
    pub(super) fn decides(&self, flows: &Flows, thread: ThreadId, place: u64) -> bool {
        let is_end = |it: &u32| flows.sinks[*it as usize].kind != SinkKind::Value;
        self.sinks_of(thread, place).is_none_or(|it| it.iter().any(is_end))
    }
}
