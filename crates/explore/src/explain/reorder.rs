//! The same execution with fewer switches: its steps in another order of their happens-before class
//! (after SimTrace: Huang and Zhang, SAS 2011). Nothing has to run for it.
//!
//! Greedy: whoever runs goes on for as long as its next step has nothing left to wait for; then comes the
//! thread that can go on longest. The fewest switches are hard to find (the problem is NP-hard); what this
//! leaves is for replay to take away.

use std::collections::HashMap;

use raddle_model::{Conflict, Effect, Event, ObjectId, OpKind, ThreadId, conflict};
use raddle_trace::{Object, Region, Trace};

/// Steps that wait for others than the ones of their own thread: by step, the steps before it.
pub(super) fn predecessors(trace: &Trace) -> Vec<Vec<usize>> {
    let mut before = vec![Vec::new(); trace.events.len()];
    let mut users: HashMap<ObjectId, Vec<(usize, Effect)>> = HashMap::new();
    let mut starts: HashMap<ThreadId, usize> = HashMap::new();
    let mut finishes: HashMap<ThreadId, usize> = HashMap::new();
    for (idx, event) in trace.events.iter().enumerate() {
        for (object, effect) in uses(event) {
            let earlier = users.entry(object).or_default();
            // The last one of each thread that matters is enough: its own steps are in order.
            let mut seen: Vec<ThreadId> = vec![event.thread];
            for (other, done) in earlier.iter().rev() {
                let thread = trace.events[*other].thread;
                if !seen.contains(&thread) && depends(*done, effect) {
                    before[idx].push(*other);
                    seen.push(thread);
                }
                if seen.len() == trace.threads.len() {
                    break;
                }
            }
            earlier.push((idx, effect));
        }
        match event.kind {
            OpKind::Spawn => {
                starts.insert(ThreadId(event.value as u32), idx);
            }
            OpKind::Start => before[idx].extend(starts.get(&event.thread)),
            OpKind::Finish => {
                finishes.insert(event.thread, idx);
            }
            OpKind::Join | OpKind::TryJoin => {
                before[idx].extend(joined(trace, event).and_then(|it| finishes.get(&it)));
            }
            _ => {}
        }
    }
    before
}

/// The thread that an event joins.
fn joined(trace: &Trace, event: &Event) -> Option<ThreadId> {
    match trace.objects.get(event.object.idx())? {
        Object { region: Region::Thread(thread), .. } => Some(*thread),
        _ => None,
    }
}

/// What an event does to which objects.
pub(super) fn uses(event: &Event) -> impl Iterator<Item = (ObjectId, Effect)> {
    let first = (event.object, Effect::done(event.kind, event.flags, event.result));
    let second = (event.other_object(), Effect::of_other(event.kind, event.result));
    [first, second].into_iter().filter(|it| it.0 != ObjectId::NONE)
}

/// Does the order of two uses of an object matter?
pub(super) fn depends(first: Effect, second: Effect) -> bool {
    conflict(first, second) != Conflict::No || conflict(second, first) != Conflict::No
}

/// The steps in an order with fewer switches, by their numbers.
pub(super) fn order(trace: &Trace) -> Vec<usize> {
    if trace.events.iter().any(|it| trace.threads.len() <= it.thread.idx()) {
        return (0..trace.events.len()).collect();
    }
    let before = predecessors(trace);
    let mut lanes: Vec<Vec<usize>> = vec![Vec::new(); trace.threads.len()];
    for (idx, event) in trace.events.iter().enumerate() {
        lanes[event.thread.idx()].push(idx);
    }
    let mut state = State { before, lanes, next: Vec::new(), is_done: Vec::new() };
    state.next = vec![0; state.lanes.len()];
    state.is_done = vec![false; trace.events.len()];
    let mut order = Vec::with_capacity(trace.events.len());
    let mut current = trace.events.first().map_or(0, |it| it.thread.idx());
    while order.len() < trace.events.len() {
        state.run(current, &mut order);
        let longest = (0..state.lanes.len()).max_by_key(|it| (state.reach(*it), usize::MAX - it));
        current = longest.unwrap_or(0);
        assert!(
            order.len() == trace.events.len() || state.reach(current) > 0,
            "bug: what came before can always come before"
        );
    }
    order
}

struct State {
    before: Vec<Vec<usize>>,
    /// By thread: its steps.
    lanes: Vec<Vec<usize>>,
    /// By thread: how many of them are done.
    next: Vec<usize>,
    is_done: Vec<bool>,
}

impl State {
    /// A thread goes on for as long as it can.
    fn run(&mut self, lane: usize, order: &mut Vec<usize>) {
        while let Some(idx) = self.lanes[lane].get(self.next[lane]).copied() {
            if self.before[idx].iter().any(|it| !self.is_done[*it]) {
                return;
            }
            self.is_done[idx] = true;
            self.next[lane] += 1;
            order.push(idx);
        }
    }

    /// How far a thread would come.
    fn reach(&self, lane: usize) -> usize {
        let left = &self.lanes[lane][self.next[lane]..];
        let can_go = |idx: &&usize| self.before[**idx].iter().all(|it| self.is_done[*it]);
        left.iter().take_while(can_go).count()
    }
}
