//! Rust's locks and condition variables as such: in a trace they are atomics and futexes.
//!
//! Which exchanges take a lock is known from the code ([`Flows::locks`]); an object that one was made on is a lock, and
//! a read-modify-write of it gives the lock back. The slow path of taking one has no hooks: whatever the thread did to
//! the lock last, before it gave it back, is where it had it.
//!
//! A wait at a `Condvar` is a look at its word that names the mutex, which is given back unseen right after it, a wait at the
//! futex, and its end, after which the mutex is taken again unseen. The second and the third count as the wait and the
//! waking. A notification is a step on the word that has no size (and names the word again, if it is for all), and one of
//! the futex.
//!
//! What it misses: the mutex counts as held until the thread sleeps, so guidelines that need another to have it between
//! the look and that are infeasible; and a thread that finds itself notified there counts as holding it all the time.

use std::collections::{BTreeMap, BTreeSet};

use raddle_model::{ObjectId, OpKind, OpResult, ThreadId};
use raddle_total::Act;

use super::super::Run;
use raddle_model::flows::{Flows, Taken};

/// A step to such an object, as what it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct StdStep {
    /// `Act::Other` is part of something else.
    pub(super) act: Act,
    /// Of a wait and its end: the lock.
    pub(super) lock: ObjectId,
}

/// What a run has of Rust's std.
#[derive(Debug, Default)]
pub(super) struct StdSteps {
    pub(super) by_step: BTreeMap<usize, StdStep>,
    /// By thread that was left at a condition variable: its lock.
    pub(super) waiting: BTreeMap<ThreadId, ObjectId>,
}

/// The steps that are locks or condition variables of std.
pub(super) fn std_steps(run: &Run, flows: &Flows) -> StdSteps {
    let acts = std_locks(run, flows).into_iter();
    let by_step = acts.map(|(idx, act)| (idx, StdStep { act, lock: ObjectId::NONE }));
    let mut steps = StdSteps { by_step: by_step.collect(), ..StdSteps::default() };
    // By thread: the condition variable that its last step was about, and how.
    let mut about: BTreeMap<ThreadId, (ObjectId, About)> = BTreeMap::new();
    for (idx, step) in run.steps.iter().enumerate() {
        let of = about.remove(&step.thread).filter(|it| it.0 == step.object).map(|it| it.1);
        let is_marked = step.size == 0 && step.object != ObjectId::NONE;
        let next = match (step.kind, of) {
            (OpKind::AtomicLoad, _) if is_marked && step.other != ObjectId::NONE => {
                Some((Act::Other, ObjectId::NONE, Some(About::Wait(step.other))))
            }
            (OpKind::AtomicRmw, _) if is_marked => {
                let act = if step.other == step.object { Act::NotifyAll } else { Act::Notify };
                Some((Act::Other, ObjectId::NONE, Some(About::Notify(act))))
            }
            (OpKind::FutexWait, Some(About::Wait(lock))) => {
                let sleeps = step.result == OpResult::Done;
                Some((Act::Wait, lock, sleeps.then_some(About::Wait(lock))))
            }
            (OpKind::FutexWake, Some(About::Wait(lock))) => Some((Act::Wake, lock, None)),
            (OpKind::FutexNotify, Some(About::Notify(act))) => Some((act, ObjectId::NONE, None)),
            _ => None,
        };
        let Some((act, lock, then)) = next else { continue };
        steps.by_step.insert(idx, StdStep { act, lock });
        about.extend(then.map(|it| (step.thread, (step.object, it))));
    }
    let left = about.into_iter().filter_map(|(thread, (_, about))| match about {
        About::Wait(lock) => Some((thread, lock)),
        About::Notify(_) => None,
    });
    steps.waiting = left.collect();
    steps
}

/// What a step at a condition variable is part of.
#[derive(Clone, Copy, Debug)]
enum About {
    /// A wait with this lock.
    Wait(ObjectId),
    /// A notification: of one, or of all.
    Notify(Act),
}

/// By step to such a lock: what it is. `Act::Other` is part of taking or giving it.
fn std_locks(run: &Run, flows: &Flows) -> BTreeMap<usize, Act> {
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

    /// Thread 1 waits; thread 0 takes the lock, gives it back, and notifies.
    #[test]
    fn a_wait_gives_its_lock_back() {
        let (lock, word) = (ObjectId(1), ObjectId(2));
        let step = |thread, kind, object, size, site| Step {
            thread: ThreadId(thread),
            kind,
            object,
            size,
            site: SiteId(site),
            ..Step::default()
        };
        let wait = Step { other: lock, ..step(1, OpKind::AtomicLoad, word, 0, 3) };
        let to_all = Step { other: word, ..step(0, OpKind::AtomicRmw, word, 0, 3) };
        let steps = vec![
            step(1, OpKind::AtomicCas, lock, 4, 1),
            wait,
            step(1, OpKind::FutexWait, word, 0, 3),
            step(0, OpKind::AtomicCas, lock, 4, 1),
            step(0, OpKind::AtomicRmw, lock, 4, 2),
            step(0, OpKind::AtomicRmw, word, 0, 3),
            step(0, OpKind::FutexNotify, word, 0, 3),
            step(1, OpKind::FutexWake, word, 0, 3),
            to_all,
            step(0, OpKind::FutexNotify, word, 0, 3),
            // Not at a condition variable: nothing is known.
            step(0, OpKind::FutexNotify, word, 0, 3),
            step(1, OpKind::AtomicRmw, lock, 4, 2),
            wait,
            step(1, OpKind::FutexWait, word, 0, 3),
        ];
        let run = Run { steps, sites: vec![0, 11, 12, 13], ..Run::default() };
        let flows = Flows { locks: BTreeMap::from([(11, Taken::Alone)]), ..Flows::default() };
        let seen = std_steps(&run, &flows);
        let acts: Vec<(usize, Act)> = seen.by_step.iter().map(|it| (*it.0, it.1.act)).collect();
        let expected = [
            (0, Act::Lock),
            (1, Act::Other),
            (2, Act::Wait),
            (3, Act::Lock),
            (4, Act::Unlock),
            (5, Act::Other),
            (6, Act::Notify),
            (7, Act::Wake),
            (8, Act::Other),
            (9, Act::NotifyAll),
            (11, Act::Unlock),
            (12, Act::Other),
            (13, Act::Wait),
        ];
        assert_eq!(acts, expected);
        assert_eq!(seen.by_step[&2].lock, lock);
        assert_eq!(seen.by_step[&7].lock, lock);
        assert_eq!(seen.waiting, BTreeMap::from([(ThreadId(1), lock)]));
    }
}
