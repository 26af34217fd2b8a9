//! Accesses of different threads to the same memory that have no lock in common.
//!
//! Eraser (Savage et al., SOSP 1997) and the thesis (seed paper 3, §3.2 and §3.12), with these differences:
//!
//! - Pairs of accesses are judged, not the intersection of locks over all accesses (nor, as the thesis'
//!   Algorithm 1 has it, whether *some* variable has a lock in common): two of different threads, one of them
//!   a write, and no lock held at both. A lock that both hold for reading does not count, so a writer under a
//!   read lock is seen. Memory that is only read needs no lock.
//! - Initialisation and hand-over are not states of the memory: a pair counts only if nothing but locks
//!   orders it ([`crate::weak`]): creation, join, conditions, semaphores, and values that were passed on do.
//! - A pair that really was unordered is a race, and `races` finds it. The others *could* be one, in another
//!   order of critical sections: whoever tells a user says so, or tries it first ([`Unlocked::steps`]).
//!
//! Which locks an object's accesses usually hold is kept beside ([`Usage`]). Access-manners as values are in
//! `raddle-total`.
//!
//! Time: linear in the trace, and quadratic in the kinds of accesses to one object (thread, site, locks),
//! which are bounded. Memory: a clock for each of those.

use std::collections::{BTreeMap, BTreeSet};

use raddle_model::{Event, ObjectId, OpKind, SiteId, ThreadId};
use raddle_trace::Trace;

use crate::{
    hb::Atomic,
    held::HeldLocks,
    needs::Needs,
    value::{HeldLock, Race, Side},
    weak::{Weak, WeakOrder},
};

/// Kinds of accesses to one object that are told apart.
const KINDS_MAX: usize = 48;
/// Instances of a kind that are kept: the first ones, and the last.
const INSTANCES_MAX: usize = 4;
/// Pairs that are told.
const PAIRS_MAX: usize = 64;

/// Two accesses without a lock in common, which locks alone order.
#[derive(Clone, Debug)]
pub struct Unlocked {
    /// Both accesses.
    pub race: Race,
    /// How the memory is used otherwise.
    pub usage: Usage,
    /// The steps of the trace that lead there, in order, if they are known: after them, each access is the
    /// next step of its thread.
    pub steps: Option<Vec<usize>>,
}

/// Which locks the accesses to an object hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Accesses in the trace.
    pub n_accesses: u64,
    /// The lock that most of them hold, and how many do. `None` if none is ever held.
    pub usual: Option<(ObjectId, u64)>,
}

/// The pairs of a trace, each pair of sites once, in the order in which they end.
pub fn locksets(trace: &Trace) -> Vec<Unlocked> {
    if trace.n_dropped != 0 {
        return Vec::new();
    }
    let objects = Objects::of(&trace.events);
    let mut seen = BTreeSet::new();
    let mut found: Vec<(Race, Usage)> = Vec::new();
    for (object, uses) in &objects.all {
        for (first, second) in uses.pairs() {
            let race = race(*object, first, second);
            if found.len() < PAIRS_MAX && seen.insert(race.sites()) {
                found.push((race, uses.usage()));
            }
        }
    }
    if found.is_empty() {
        return Vec::new();
    }
    found.sort_by_key(|(race, _)| race.second.step);
    complete(trace, found)
}

/// Pairs of steps that somebody else takes for races, as [`locksets`] has them: each pair of sites once. Those
/// that a lock keeps apart are left out, and so is what is no access.
pub fn unlocked(trace: &Trace, pairs: &[[usize; 2]]) -> Vec<Unlocked> {
    if trace.n_dropped != 0 || pairs.is_empty() {
        return Vec::new();
    }
    let wanted: BTreeSet<usize> = pairs.iter().flatten().copied().collect();
    let mut usages: BTreeMap<ObjectId, Uses> = BTreeMap::new();
    let mut accesses: BTreeMap<usize, Access> = BTreeMap::new();
    let mut held = HeldLocks::new();
    for (step, event) in trace.events.iter().enumerate() {
        if event.kind.is_access() {
            let locks: Vec<HeldLock> = held.of(event.thread).collect();
            usages.entry(event.object).or_default().count(&locks);
            if wanted.contains(&step) {
                accesses.insert(step, Access::of(event, locks));
            }
        }
        held.step(event, step as u64);
    }
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for pair in pairs {
        let [first, second] = [pair[0].min(pair[1]), pair[0].max(pair[1])];
        let (Some(one), Some(other)) = (accesses.get(&first), accesses.get(&second)) else {
            continue;
        };
        let object = trace.events[first].object;
        if object != trace.events[second].object || !one.is_bare_with(other) {
            continue;
        }
        let instance = |access, step| Instance { access, step };
        let race = race(object, instance(one, first), instance(other, second));
        if found.len() < PAIRS_MAX && seen.insert(race.sites()) {
            found.push((race, usages[&object].usage()));
        }
    }
    complete(trace, found)
}

/// With the steps that lead there.
fn complete(trace: &Trace, found: Vec<(Race, Usage)>) -> Vec<Unlocked> {
    let needs = Needs::of(&trace.events);
    let complete = |(race, usage): (Race, Usage)| {
        let cut = needs.before(&[race.first.step as usize, race.second.step as usize]);
        Unlocked { race, usage, steps: cut.map(|it| needs.steps(&it)) }
    };
    found.into_iter().map(complete).collect()
}

/// All accesses of a trace, by object.
#[derive(Default)]
struct Objects {
    all: BTreeMap<ObjectId, Uses>,
}

impl Objects {
    fn of(events: &[Event]) -> Objects {
        let mut objects = Objects::default();
        let mut held = HeldLocks::new();
        let mut order = WeakOrder::new();
        for (step, event) in events.iter().enumerate() {
            order.begin(event);
            if event.kind.is_access() && !event.is_unhooked() {
                // Before the step: what a read reads does not order it after the write.
                let moment = order.now(event.thread);
                let locks: Vec<HeldLock> = held.of(event.thread).collect();
                objects.all.entry(event.object).or_default().add(event, step, locks, moment);
            } else if event.kind == OpKind::Free {
                objects.all.remove(&event.object);
            }
            order.step(event);
            held.step(event, step as u64);
        }
        objects
    }
}

/// The accesses to one object.
#[derive(Default)]
struct Uses {
    kinds: Vec<Access>,
    n_accesses: u64,
    by_lock: BTreeMap<ObjectId, u64>,
}

/// Accesses of one kind.
struct Access {
    thread: ThreadId,
    site: SiteId,
    kind: OpKind,
    is_atomic: bool,
    bytes: (u32, u32),
    locks: Vec<HeldLock>,
    moments: Vec<(usize, Weak)>,
}

impl Uses {
    fn add(&mut self, event: &Event, step: usize, locks: Vec<HeldLock>, moment: Weak) {
        self.count(&locks);
        let new = Access::of(event, locks);
        let is_it = |it: &&mut Access| {
            it.thread == new.thread
                && it.site == new.site
                && it.bytes == new.bytes
                && it.locks == new.locks
        };
        if let Some(known) = self.kinds.iter_mut().find(is_it) {
            if known.moments.len() == INSTANCES_MAX {
                known.moments.pop();
            }
            known.moments.push((step, moment));
        } else if self.kinds.len() < KINDS_MAX {
            self.kinds.push(Access { moments: vec![(step, moment)], ..new });
        }
    }

    /// Counts an access under these locks.
    fn count(&mut self, locks: &[HeldLock]) {
        self.n_accesses += 1;
        for it in locks {
            *self.by_lock.entry(it.lock).or_default() += 1;
        }
    }

    /// Pairs of instances, the earlier one first.
    fn pairs(&self) -> impl Iterator<Item = (Instance<'_>, Instance<'_>)> {
        let later = |idx: usize| self.kinds[idx + 1..].iter();
        let all = (0..self.kinds.len()).flat_map(move |idx| {
            let first = &self.kinds[idx];
            later(idx).map(move |second| (first, second))
        });
        all.filter(|(first, second)| first.is_bare_with(second))
            .filter_map(|(first, second)| unordered(first, second))
    }

    fn usage(&self) -> Usage {
        let usual = self.by_lock.iter().max_by_key(|(lock, count)| (**count, lock.0));
        Usage { n_accesses: self.n_accesses, usual: usual.map(|(lock, count)| (*lock, *count)) }
    }
}

impl Access {
    /// At no moment yet.
    fn of(event: &Event, locks: Vec<HeldLock>) -> Access {
        let atomic = Atomic::of(event);
        let start = event.offset();
        Access {
            thread: event.thread,
            site: event.site,
            kind: atomic.map_or(event.kind, Atomic::access),
            is_atomic: atomic.is_some(),
            bytes: (start, start + u32::from(event.size.max(1))),
            locks,
            moments: Vec::new(),
        }
    }

    fn overlaps(&self, other: &Access) -> bool {
        self.bytes.0 < other.bytes.1 && other.bytes.0 < self.bytes.1
    }

    /// Do the two conflict, with no lock that keeps them apart?
    fn is_bare_with(&self, other: &Access) -> bool {
        let writes = self.kind.is_write() || other.kind.is_write();
        let excludes = |mine: &HeldLock| {
            let is_same = |it: &HeldLock| it.lock == mine.lock && !(it.is_shared && mine.is_shared);
            other.locks.iter().any(is_same)
        };
        self.thread != other.thread
            && self.overlaps(other)
            && writes
            && !(self.is_atomic && other.is_atomic)
            && !self.locks.iter().any(excludes)
    }
}

/// An access as it took place.
#[derive(Clone, Copy)]
struct Instance<'a> {
    access: &'a Access,
    step: usize,
}

/// The first two instances that nothing but locks orders, the earlier one first.
fn unordered<'a>(a: &'a Access, b: &'a Access) -> Option<(Instance<'a>, Instance<'a>)> {
    let pairs = a.moments.iter().flat_map(|one| b.moments.iter().map(move |other| (one, other)));
    let is_free = |one: &Weak, other: &Weak| !one.is_before(other) && !other.is_before(one);
    let (one, other) = pairs.into_iter().find(|(one, other)| is_free(&one.1, &other.1))?;
    let (one, other) = (Instance { access: a, step: one.0 }, Instance { access: b, step: other.0 });
    Some(if one.step < other.step { (one, other) } else { (other, one) })
}

fn race(object: ObjectId, first: Instance<'_>, second: Instance<'_>) -> Race {
    let side = |it: Instance<'_>| Side {
        thread: it.access.thread,
        kind: it.access.kind,
        offset: it.access.bytes.0,
        size: it.access.bytes.1 - it.access.bytes.0,
        site: it.access.site,
        step: it.step as u64,
        stack: Vec::new(),
        holds: it.access.locks.clone(),
    };
    Race { object, first: side(first), second: side(second) }
}

#[cfg(test)]
mod tests;
