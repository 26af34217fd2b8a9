//! Rust's locks as locks: in a trace they are atomics and futexes.
//!
//! Which exchanges take a lock is known from the code ([`Flows::locks`]); an object that one was made on is a lock, and
//! a read-modify-write of it gives the lock back. The slow path of taking one has no hooks: whatever the thread did to
//! the lock last, before it gave it back, is where it had it.
//!
//! What it misses: a wait at a `Condvar` gives its lock back and takes it again where nobody sees it. The thread counts
//! as holding it all the time, and guidelines that need another to have it meanwhile are infeasible.

use std::collections::{BTreeMap, BTreeSet};

use raddle_model::{ObjectId, OpKind, OpResult, ThreadId};
use raddle_total::Act;

use super::super::Run;
use raddle_model::flows::{Flows, Taken};

/// By step to such a lock: what it is. `Act::Other` is part of taking or giving it.
pub(super) fn std_locks(run: &Run, flows: &Flows) -> BTreeMap<usize, Act> {
    let place = |site: raddle_model::SiteId| run.sites.get(site.0 as usize).copied();
    let taken = |step: &super::super::Step| {
        let at = place(step.site).and_then(|it| flows.locks.get(&it));
        at.filter(|_| step.kind == OpKind::AtomicCas).copied()
    };
    let locks: BTreeSet<ObjectId> =
        run.steps.iter().filter(|it| taken(it).is_some()).map(|it| it.object).collect();
    let mut acts = BTreeMap::new();
    let mut last: BTreeMap<(ThreadId, ObjectId), (usize, Taken)> = BTreeMap::new();
    for (idx, step) in run.steps.iter().enumerate().filter(|it| locks.contains(&it.1.object)) {
        let tries = last.get(&(step.thread, step.object)).copied();
        let act = match (taken(step), step.kind) {
            (Some(how), _) if step.result == OpResult::Done => act(how),
            (_, OpKind::AtomicRmw) => {
                if let Some((tried, how)) = tries {
                    acts.insert(tried, act(how));
                }
                Act::Unlock
            }
            _ => Act::Other,
        };
        acts.insert(idx, act);
        if act == Act::Other {
            let how = taken(step).or(tries.map(|it| it.1)).unwrap_or_default();
            last.insert((step.thread, step.object), (idx, how));
        } else {
            last.remove(&(step.thread, step.object));
        }
    }
    acts
}

const fn act(how: Taken) -> Act {
    match how {
        Taken::Alone => Act::Lock,
        Taken::Shared => Act::ReadLock,
    }
}

#[cfg(test)]
mod tests {
    use raddle_model::SiteId;

    use super::*;
    use crate::search::Step;

    #[test]
    fn a_lock_that_was_waited_for() {
        let step = |thread, kind, result, site| Step {
            thread: ThreadId(thread),
            kind,
            result,
            object: ObjectId(1),
            site: SiteId(site),
            ..Step::default()
        };
        let steps = vec![
            step(0, OpKind::AtomicCas, OpResult::Done, 1),
            step(1, OpKind::AtomicCas, OpResult::Busy, 1),
            step(1, OpKind::FutexWait, OpResult::Done, 3),
            step(0, OpKind::AtomicRmw, OpResult::Done, 2),
            step(1, OpKind::FutexWake, OpResult::Done, 3),
            step(1, OpKind::AtomicRmw, OpResult::Done, 2),
        ];
        let run = Run { steps, sites: vec![0, 11, 12, 13], ..Run::default() };
        let flows = Flows { locks: BTreeMap::from([(11, Taken::Alone)]), ..Flows::default() };
        let acts: Vec<Act> = std_locks(&run, &flows).into_values().collect();
        let expected = [Act::Lock, Act::Other, Act::Other, Act::Unlock, Act::Lock, Act::Unlock];
        assert_eq!(acts, expected);
    }
}
