//! Execution-variants of a trace as test cases, and which of them an execution has shown.
//!
//! What a variant is does not depend on the order of steps that have nothing to do with each other: it is how far each
//! thread is, with the version of every variable that it read or wrote on the way, what its calls returned, and whom its
//! notifications woke. So a variant is shown by an execution whose threads all have come so far in the same way.

use std::collections::{BTreeMap, BTreeSet};

use raddle_model::{ThreadId, flows::Flows, mix};
use raddle_total::{History, Step, Taken, complete, is_in_time, woken};

use super::{
    super::{guideline::defines, past::Past, reached::Reached},
    Setting,
};

/// A variant.
#[derive(Clone, Debug)]
pub(super) struct Variation {
    /// By thread that has made a step: all that it did, as a hash.
    pub(super) ids: Vec<u64>,
    /// The choices that lead there.
    pub(super) prefix: Vec<u32>,
    /// The steps that it is made of.
    pub(super) steps: Vec<Taken>,
    /// Those of the trace; what its thread was blocked at is left out.
    pub(super) order: Vec<u32>,
}

impl Variation {
    /// The variant of a trace that has these steps; `None` if nobody can make them in this order. `pair`: all other
    /// threads go on as they did.
    pub(super) fn of(
        past: &Past,
        schedule: &[Taken],
        pair: Option<[ThreadId; 2]>,
        with: &Setting<'_>,
    ) -> Option<Variation> {
        let mut past = past.clone();
        let n_made = past.history.steps.len() as u32;
        for step in std::mem::take(&mut past.history.blocked) {
            past.push_call(step);
        }
        for it in schedule {
            past.history.steps[it.step as usize].way = it.way;
        }
        let steps: Vec<u32> = schedule.iter().map(|it| it.step).collect();
        let mut order =
            complete(&past.history, &steps, |it| pair.is_some_and(|pair| !pair.contains(&it)))?;
        if !with.may_time_out && !is_in_time(&past.history, &order) {
            return None;
        }
        // Others of a pair, or whoever goes on after the step that differs, have perhaps read something else.
        order.truncate(n_certain(&past, with.flows, &order));
        let ids = chain_ids(&past.history, &order);
        let prefix = past.prefix(&order);
        let order = steps.into_iter().filter(|it| *it < n_made).collect();
        Some(Variation { ids, prefix, steps: schedule.to_vec(), order })
    }
}

/// By thread: all that it does in these steps, as a hash.
pub(super) fn chain_ids(history: &History, order: &[u32]) -> Vec<u64> {
    let mut last = BTreeMap::new();
    for (thread, id) in chains(history, order) {
        last.insert(thread, id);
    }
    last.into_values().collect()
}

/// By step of an order: its thread, and all that it has done since it began, as a hash.
fn chains(history: &History, order: &[u32]) -> Vec<(u32, u64)> {
    let mut threads: BTreeMap<u32, u64> = BTreeMap::new();
    let mut versions: BTreeMap<u64, u64> = BTreeMap::new();
    let steps = order.iter().map(|it| &history.steps[*it as usize]);
    let one = |(step, woken): (&Step, Option<ThreadId>)| {
        let version = versions.entry(step.object).or_default();
        *version += u64::from(step.act.is_write());
        let told = match step.act.is_access() {
            true => *version,
            false => mix(step.answer as u64, woken.map_or(0, |it| u64::from(it.0) + 1)),
        };
        let chain = threads.entry(step.thread.0).or_insert(u64::from(step.thread.0) + 1);
        *chain = mix(mix(mix(*chain, step.place), step.object), told);
        (step.thread.0, *chain)
    };
    steps.zip(woken(history, order)).map(one).collect()
}

/// How many of these steps come as they are written: up to one of a thread that has read something else before, where
/// that decides what it does.
pub(super) fn n_certain(past: &Past, flows: &Flows, steps: &[u32]) -> usize {
    let reached = Reached::of(past, flows);
    let as_it_was: Vec<u32> = (0..past.history.steps.len() as u32).collect();
    let (was, is) = (defines(past, &as_it_was), defines(past, steps));
    // Threads that have read something else, those that go on in another way for it, and writes of the former.
    let (mut others, mut astray) = (BTreeSet::new(), BTreeSet::new());
    let mut tainted = BTreeSet::new();
    for (n_done, idx) in steps.iter().enumerate() {
        let step = &past.history.steps[*idx as usize];
        if astray.contains(&step.thread) {
            return n_done;
        }
        if step.act.is_read() {
            let define = is.get(idx).copied().flatten();
            if was.get(idx) != is.get(idx) || define.is_some_and(|it| tainted.contains(&it)) {
                others.insert(step.thread);
                if reached.decides(flows, step.thread, step.place) {
                    astray.insert(step.thread);
                }
            }
        }
        if step.act.is_write() && others.contains(&step.thread) {
            tainted.insert(*idx);
        }
    }
    steps.len()
}

/// What executions have shown.
#[derive(Debug, Default)]
pub(super) struct Shown {
    n_executions: u32,
    /// By what a thread has done: the executions in which it has. Each list is sorted.
    by_chain: BTreeMap<u64, Vec<u32>>,
}

impl Shown {
    /// Adds an execution.
    pub(super) fn add(&mut self, history: &History) {
        let all: Vec<u32> = (0..history.steps.len() as u32).collect();
        for (_, id) in chains(history, &all) {
            self.by_chain.entry(id).or_default().push(self.n_executions);
        }
        self.n_executions += 1;
    }

    /// Did an execution have all of these?
    pub(super) fn has(&self, ids: &[u64]) -> bool {
        let lists: Option<Vec<&Vec<u32>>> = ids.iter().map(|it| self.by_chain.get(it)).collect();
        let Some(mut lists) = lists else { return false };
        lists.sort_by_key(|it| it.len());
        let Some((first, others)) = lists.split_first() else { return self.n_executions > 0 };
        first.iter().any(|it| others.iter().all(|list| list.binary_search(it).is_ok()))
    }
}
