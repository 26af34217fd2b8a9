//! Deadlocks that could have been: locks that threads of a trace take in circles.
//!
//! Goodlock's graph (Havelund, SPIN 2000): a thread that asks for a lock while it holds others
//! is an edge from each of those. A cycle counts if its threads are different, if no lock is held by two of
//! them (a gate, that lets only one in) unless both only read it, and if nothing but locks orders them. Of
//! those, the ones that are sync-preserving (`needs`) can be made to happen, as far as the trace tells.
//!
//! Cycles of up to four threads are looked for; each abstract cycle (the same locks at the same
//! sites) is told once, by the first instance that can be made to happen, or else by the first. An attempt
//! that does not wait (`trylock`) is no edge, nor is one with a deadline.

use std::collections::BTreeMap;

use raddle_model::{Event, Flags, ObjectId, OpKind, OpResult, SiteId, ThreadId};
use raddle_trace::Trace;

use crate::{
    held::HeldLocks,
    needs::{Cut, Needs},
    value::{HeldLock, LockCycle, LockLink},
    weak::Weak,
};

/// Most threads in a cycle.
const LENGTH_MAX: usize = 4;
/// Most instances of one abstract cycle that are tried.
const INSTANCES_MAX: usize = 64;
/// Most abstract cycles.
const CYCLES_MAX: usize = 64;

/// A cycle, and how it can be made to happen.
#[derive(Clone, Debug)]
pub struct PotentialDeadlock {
    /// The cycle.
    pub cycle: LockCycle,
    /// The steps of the trace that lead to it, in order, if it can be made to happen: after them each thread
    /// asks for its lock.
    pub steps: Option<Vec<usize>>,
}

/// The cycles of a trace.
pub fn deadlocks(trace: &Trace) -> Vec<PotentialDeadlock> {
    if trace.n_dropped != 0 {
        return Vec::new();
    }
    let requests = requests(&trace.events);
    let abstracts = Abstracts::of(&requests);
    let found = abstracts.cycles();
    if found.is_empty() {
        return Vec::new();
    }
    let needs = Needs::of(&trace.events);
    found.iter().filter_map(|it| instance(it, &abstracts, &requests, &needs)).collect()
}

/// A thread asks for a lock while it holds others.
#[derive(Clone, Debug)]
struct Request {
    thread: ThreadId,
    wants: ObjectId,
    is_shared: bool,
    site: SiteId,
    step: usize,
    /// With the steps at which they were taken.
    held: Vec<(HeldLock, u64)>,
    /// What is ordered without locks: the weak segment, and what the thread knew.
    weak: Weak,
}

fn requests(events: &[Event]) -> Vec<Request> {
    let mut held = HeldLocks::new();
    let mut order = crate::weak::WeakOrder::new();
    let mut requests = Vec::new();
    for (step, event) in events.iter().enumerate() {
        order.begin(event);
        order.step(event);
        let lock = asked_for(event);
        if let Some((wants, is_shared)) = lock
            && !held.holds(event.thread, wants)
        {
            let held: Vec<_> = held.with_steps(event.thread).collect();
            if !held.is_empty() {
                let weak = order.now(event.thread);
                let (thread, site) = (event.thread, event.site);
                requests.push(Request { thread, wants, is_shared, site, step, held, weak });
            }
        }
        held.step(event, step as u64);
    }
    requests
}

/// The lock that an op waited for, or could have.
fn asked_for(event: &Event) -> Option<(ObjectId, bool)> {
    let is_taken = matches!(event.result, OpResult::Done | OpResult::OwnerDied);
    if !is_taken || event.flags.has(Flags::TIMED) {
        return None;
    }
    match event.kind {
        OpKind::Lock | OpKind::WriteLock => Some((event.object, false)),
        OpKind::ReadLock => Some((event.object, true)),
        OpKind::CondWake => Some((event.other, false)),
        _ => None,
    }
}

/// What tells abstract requests apart: thread, lock, site, and the locks held with their sites.
type Key = (ThreadId, ObjectId, bool, SiteId, Vec<HeldLock>);

/// Requests of one kind together.
struct Abstracts {
    /// Each with the indices of its requests.
    all: Vec<(Key, Vec<usize>)>,
}

impl Abstracts {
    fn of(requests: &[Request]) -> Abstracts {
        let mut by_key: BTreeMap<Key, Vec<usize>> = BTreeMap::new();
        for (idx, it) in requests.iter().enumerate() {
            let held = it.held.iter().map(|(lock, _)| *lock).collect();
            let key = (it.thread, it.wants, it.is_shared, it.site, held);
            by_key.entry(key).or_default().push(idx);
        }
        Abstracts { all: by_key.into_iter().collect() }
    }

    /// Cycles, as indices of abstract requests; each begins at its smallest thread.
    fn cycles(&self) -> Vec<Vec<usize>> {
        let mut found = Vec::new();
        for start in 0..self.all.len() {
            let mut path = vec![start];
            self.extend(&mut path, &mut found);
            if found.len() >= CYCLES_MAX {
                break;
            }
        }
        found
    }

    fn extend(&self, path: &mut Vec<usize>, found: &mut Vec<Vec<usize>>) {
        let last = &self.all[path[path.len() - 1]].0;
        for next in 0..self.all.len() {
            if found.len() >= CYCLES_MAX {
                return;
            }
            let key = &self.all[next].0;
            if !waits_for(last, key) {
                continue;
            }
            if next == path[0] && path.len() > 1 {
                found.push(path.clone());
            } else if self.may_follow(path, next) {
                path.push(next);
                self.extend(path, found);
                path.pop();
            }
        }
    }

    fn may_follow(&self, path: &[usize], next: usize) -> bool {
        let key = &self.all[next].0;
        let first = &self.all[path[0]].0;
        let is_apart = |other: &Key| other.0 != key.0 && !has_gate(&other.4, &key.4);
        path.len() < LENGTH_MAX
            && first.0 < key.0
            && path.iter().all(|idx| is_apart(&self.all[*idx].0))
    }
}

/// Does the one want what the other holds? Two readers do not wait for each other.
fn waits_for(one: &Key, other: &Key) -> bool {
    other.4.iter().any(|it| it.lock == one.1 && !(it.is_shared && one.2))
}

/// Is there a lock that lets only one of two threads be where it is?
fn has_gate(one: &[HeldLock], other: &[HeldLock]) -> bool {
    one.iter().any(|a| other.iter().any(|b| a.lock == b.lock && !(a.is_shared && b.is_shared)))
}

/// An instance of an abstract cycle that nothing but locks orders: if possible, one that can be made to
/// happen.
fn instance(
    cycle: &[usize],
    abstracts: &Abstracts,
    requests: &[Request],
    needs: &Needs,
) -> Option<PotentialDeadlock> {
    let mut first = None;
    let mut n_tried = 0;
    let choices: Vec<&Vec<usize>> = cycle.iter().map(|idx| &abstracts.all[*idx].1).collect();
    let mut pick = vec![0; choices.len()];
    loop {
        let chosen: Vec<&Request> =
            pick.iter().zip(&choices).map(|(at, all)| &requests[all[*at]]).collect();
        n_tried += 1;
        if is_concurrent(&chosen) {
            let steps: Vec<usize> = chosen.iter().map(|it| it.step).collect();
            if let Some(cut) = needs.before(&steps) {
                return Some(potential(&chosen, Some((needs, &cut))));
            }
            first.get_or_insert_with(|| potential(&chosen, None));
        }
        if n_tried == INSTANCES_MAX || !advance(&mut pick, &choices) {
            return first;
        }
    }
}

/// The next combination, if there is one.
fn advance(pick: &mut [usize], choices: &[&Vec<usize>]) -> bool {
    for (at, all) in pick.iter_mut().zip(choices) {
        *at += 1;
        if *at < all.len() {
            return true;
        }
        *at = 0;
    }
    false
}

fn is_concurrent(chosen: &[&Request]) -> bool {
    let is_apart =
        |a: &Request, b: &Request| !a.weak.is_before(&b.weak) && !b.weak.is_before(&a.weak);
    (0..chosen.len()).all(|idx| chosen[idx + 1..].iter().all(|it| is_apart(chosen[idx], it)))
}

fn potential(chosen: &[&Request], way: Option<(&Needs, &Cut)>) -> PotentialDeadlock {
    let mut links = Vec::new();
    for (idx, it) in chosen.iter().enumerate() {
        // What the previous one wants is what this one holds.
        let wanted = chosen[(idx + chosen.len() - 1) % chosen.len()].wants;
        let held = it.held.iter().find(|(lock, _)| lock.lock == wanted);
        let (holds, held_step) = *held.expect("bug: a cycle whose links do not meet");
        links.push(LockLink {
            thread: it.thread,
            holds,
            held_step,
            wants: it.wants,
            site: it.site,
            step: it.step as u64,
        });
    }
    PotentialDeadlock {
        cycle: LockCycle { links },
        steps: way.map(|(needs, cut)| needs.steps(cut)),
    }
}

#[cfg(test)]
mod tests;
