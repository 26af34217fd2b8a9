//! Access-manners (§3.9), race-equivalence (§3.10), concurrent pairs (§3.11), no-race (§3.12).
//!
//! A *manner* is what a thread does from the lock that it takes while it holds none, to the release after
//! which it holds none; an access without any lock is a manner of its own, and so is a release of what is not
//! held. Manners are equal if they do the same at the same places; two executions are *race-equivalent* if
//! each thread has the same set of manners.
//!
//! Algorithm 1 is corrected (F3.1): it calls a pair free of races as soon as one variable has a lock in
//! common, wants locks for variables that both only read, and intersects over all accesses of both. Here:
//! there is a race if two accesses of the two manners are to the same variable, one of them writes, and no
//! lock is held at both (one that both hold as readers does not count).

use raddle_model::{ThreadId, mix};

use crate::{
    history::{Act, History},
    locks::Locks,
};

/// One thing that a manner does.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Deed {
    /// What.
    pub act: Act,
    /// To what.
    pub object: u64,
    /// Where.
    pub place: u64,
    /// Of an access: the locks that are held, and whether each is shared. Sorted.
    pub holds: Vec<(u64, bool)>,
    /// An access that is in no race with others of its kind.
    pub is_atomic: bool,
}

/// See the module.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Manner {
    /// In order.
    pub deeds: Vec<Deed>,
}

/// A manner as it took place.
#[derive(Clone, Debug)]
pub struct MannerUse {
    /// Whose.
    pub thread: ThreadId,
    /// What.
    pub manner: Manner,
    /// Its steps, in order.
    pub steps: Vec<u32>,
}

impl Manner {
    /// Equal manners have the same.
    pub fn fingerprint(&self) -> u64 {
        self.deeds.iter().fold(1, |hash, deed| {
            let act = match deed.act {
                Act::Read => 1,
                Act::Write => 2,
                Act::Update => 3,
                Act::Lock => 4,
                Act::ReadLock => 5,
                Act::Unlock => 6,
                Act::Wait => 7,
                Act::Wake => 8,
                _ => 9,
            };
            mix(mix(mix(hash, act), deed.object), deed.place)
        })
    }

    /// Its accesses.
    pub fn accesses(&self) -> impl Iterator<Item = &Deed> {
        self.deeds.iter().filter(|it| it.act.is_access())
    }
}

/// The manners of an execution, in the order in which they began. `shared`: which objects count, sorted.
pub fn manners(history: &History, locks: &Locks, shared: &[u64]) -> Vec<MannerUse> {
    let mut found: Vec<MannerUse> = Vec::new();
    let mut open: Vec<Option<usize>> = vec![None; history.n_threads()];
    for (idx, step) in history.steps.iter().enumerate() {
        let act = step.done();
        let is_access = act.is_access() && shared.binary_search(&step.object).is_ok();
        let is_lock =
            matches!(act, Act::Lock | Act::ReadLock | Act::Unlock | Act::Wait | Act::Wake);
        if !is_access && !is_lock {
            continue;
        }
        let held = locks.at(idx as u32);
        let mut holds: Vec<(u64, bool)> = match is_access {
            true => held.iter().map(|it| (it.lock, it.is_shared)).collect(),
            false => Vec::new(),
        };
        holds.sort_unstable();
        let object = if matches!(act, Act::Wait | Act::Wake) { step.other } else { step.object };
        let is_atomic = step.is_atomic;
        let deed = Deed { act, object, place: step.place, holds, is_atomic };
        let me = step.thread.idx();
        // Nothing held, or nothing seen of how it was taken: a new one.
        let at = match open[me] {
            Some(at) if !held.is_empty() => at,
            _ => {
                let manner = Manner { deeds: Vec::new() };
                found.push(MannerUse { thread: step.thread, manner, steps: Vec::new() });
                found.len() - 1
            }
        };
        found[at].manner.deeds.push(deed);
        found[at].steps.push(idx as u32);
        open[me] = Some(at);
    }
    found
}

/// Repetitions within a thread folded away (§3.10): what is left of each thread is the first of each of its
/// manners, so that an endless loop leaves as many as it has different iterations.
pub fn fold(uses: &[MannerUse]) -> Vec<&MannerUse> {
    let mut seen = std::collections::BTreeSet::new();
    uses.iter().filter(|it| seen.insert((it.thread, &it.manner))).collect()
}

/// Could accesses of the two manners be in a race, if both are under way at once?
pub fn is_race(first: &Manner, second: &Manner) -> bool {
    first.accesses().any(|a| second.accesses().any(|b| is_conflict(a, b)))
}

/// The steps of two manners that could be in a race.
pub fn conflicting_steps<'a>(
    first: &'a MannerUse,
    second: &'a MannerUse,
) -> impl Iterator<Item = [u32; 2]> + 'a {
    let all = |it: &'a MannerUse| {
        let deeds = it.manner.deeds.iter().zip(&it.steps);
        deeds.filter(|(deed, _)| deed.act.is_access())
    };
    all(first).flat_map(move |(a, a_step)| {
        let others = all(second).filter(move |(b, _)| is_conflict(a, b));
        others.map(move |(_, b_step)| [*a_step, *b_step])
    })
}

fn is_conflict(a: &Deed, b: &Deed) -> bool {
    let excludes = |(lock, is_shared): &(u64, bool)| {
        b.holds
            .iter()
            .any(|(other, other_is_shared)| lock == other && !(*is_shared && *other_is_shared))
    };
    a.object == b.object
        && (a.act.is_write() || b.act.is_write())
        && !(a.is_atomic && b.is_atomic)
        && !a.holds.iter().any(excludes)
}
