//! From steps that an analysis wants to a prefix that leads along them.
//!
//! A prefix has one choice for each event, and which accesses are events depends on who has touched the
//! memory before: where threads come in another order, accesses may be events that were none, and the
//! reverse. So a prefix made from one execution's steps may lead astray in the execution that follows it.
//! Then the route is *fitted* to what that execution did: what synchronises is an event in any order, and
//! between two such steps of a thread there are as many choices as it has accesses now.

use std::collections::{BTreeMap, VecDeque};

use raddle_model::{Event, OpKind};
use raddle_trace::{Site, Trace};

/// Steps to be made, in order.
#[derive(Clone, Debug)]
pub(crate) struct Route {
    steps: Vec<Wanted>,
}

/// A step, by what is the same in every execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Wanted {
    thread: u32,
    kind: OpKind,
    site: Site,
    choice: Option<u32>,
}

impl Wanted {
    fn of(trace: &Trace, event: &Event) -> Wanted {
        let site = trace.sites.get(event.site.0 as usize).copied().unwrap_or_default();
        Wanted { thread: event.thread.0, kind: event.kind, site, choice: event.choice() }
    }

    fn is_same(&self, other: &Wanted) -> bool {
        self.kind == other.kind && self.site == other.site
    }

    fn push_to(&self, prefix: &mut Vec<u32>) {
        prefix.push(self.thread);
        prefix.extend(self.choice);
    }
}

impl Route {
    /// The steps of a trace with these numbers.
    pub(crate) fn of(trace: &Trace, steps: impl IntoIterator<Item = usize>) -> Route {
        let steps = steps.into_iter().filter_map(|idx| trace.events.get(idx));
        Route { steps: steps.map(|it| Wanted::of(trace, it)).collect() }
    }

    /// The choices that lead along it, if all of its steps are events.
    pub(crate) fn prefix(&self) -> Vec<u32> {
        let mut prefix = Vec::new();
        self.steps.iter().for_each(|it| it.push_to(&mut prefix));
        prefix
    }

    /// The choices that lead along it, by what was an event in an execution that tried.
    pub(crate) fn fitted(&self, tried: &Trace) -> Vec<u32> {
        let mut actual: BTreeMap<u32, VecDeque<Wanted>> = BTreeMap::new();
        for event in &tried.events {
            let step = Wanted::of(tried, event);
            actual.entry(step.thread).or_default().push_back(step);
        }
        let mut prefix = Vec::new();
        for wanted in &self.steps {
            match actual.get_mut(&wanted.thread) {
                Some(queue) if !queue.is_empty() => take(wanted, queue, &mut prefix),
                // It did not come so far: as it was.
                _ => wanted.push_to(&mut prefix),
            }
        }
        prefix
    }
}

/// Takes what a thread did up to a wanted step. An access that is no event now is left out; accesses that
/// are events only now come along.
fn take(wanted: &Wanted, queue: &mut VecDeque<Wanted>, prefix: &mut Vec<u32>) {
    let n_accesses = queue.iter().take_while(|it| it.kind.is_access()).count();
    let found = queue.iter().take(n_accesses + 1).position(|it| it.is_same(wanted));
    match found {
        Some(idx) => queue.drain(..=idx).for_each(|it| it.push_to(prefix)),
        None if wanted.kind.is_access() => {}
        // Another way through the program: nothing to be fitted.
        None => wanted.push_to(prefix),
    }
}

#[cfg(test)]
mod tests {
    use raddle_model::{End, OpKind};
    use raddle_trace::{ObjectClass, Trace};

    use super::Route;
    use crate::fake::{TraceExt, trace};

    /// Steps: thread, kind, line.
    fn execution(steps: &[(u32, OpKind, u32)]) -> Trace {
        let mut trace = trace(End::Exit(0), 3);
        let object = trace.global(ObjectClass::Mutex, 0);
        for (thread, kind, line) in steps {
            trace.step(*thread, *kind, object, *line);
        }
        trace
    }

    fn fitted(wanted: &[(u32, OpKind, u32)], tried: &[(u32, OpKind, u32)]) -> Vec<u32> {
        let route = Route::of(&execution(wanted), 0..wanted.len());
        route.fitted(&execution(tried))
    }

    const WANTED: [(u32, OpKind, u32); 5] = [
        (1, OpKind::Lock, 1),
        (1, OpKind::Write, 2),
        (2, OpKind::Read, 3),
        (2, OpKind::Lock, 4),
        (1, OpKind::Unlock, 5),
    ];

    #[test]
    fn the_same_events_need_no_fitting() {
        assert_eq!(fitted(&WANTED, &WANTED), [1, 1, 2, 2, 1]);
    }

    #[test]
    fn accesses_that_are_events_no_more_are_left_out() {
        let tried = [(1, OpKind::Lock, 1), (2, OpKind::Lock, 4), (1, OpKind::Unlock, 5)];
        assert_eq!(fitted(&WANTED, &tried), [1, 2, 1]);
    }

    #[test]
    fn accesses_that_are_events_now_come_along() {
        let tried = [
            (1, OpKind::Lock, 1),
            (1, OpKind::Read, 9),
            (1, OpKind::Write, 2),
            (2, OpKind::Read, 3),
            (2, OpKind::Write, 8),
            (2, OpKind::Lock, 4),
            (1, OpKind::Unlock, 5),
        ];
        assert_eq!(fitted(&WANTED, &tried), [1, 1, 1, 2, 2, 2, 1]);
    }

    #[test]
    fn what_did_not_come_so_far_stays() {
        assert_eq!(fitted(&WANTED, &WANTED[..2]), [1, 1, 2, 2, 1]);
    }
}
