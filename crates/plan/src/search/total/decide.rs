//! What decides an execution: the reads that matter, the *situations* that they were in, and what else they
//! could have read.
//!
//! A situation is a sink (a branch, a reference), the thread that comes to it, and the values that flow into
//! it: another execution with the same situation has the same outcome there, so one is enough (branch-affect
//! groups, Algorithm 4, with values for use-defines: equal values have equal outcomes, equal lines have not,
//! F3.5). A read under a lock is in one more situation, together with all reads since the thread held
//! nothing, and with the lock that it took then: locks that are taken and given back under different branches
//! make manners out of combinations.
//!
//! What else flows into a branch comes from registers and private memory, and depends on how the thread came
//! there. So what the thread has done since it was there last is part of the situation, as a hash of its
//! steps: a loop, endless or not, ends with as many situations as it has different iterations (§3.10). This
//! is where we may miss something: a branch that counts iterations in a register and does something else in
//! the thousandth.

use std::collections::{BTreeMap, BTreeSet};

use raddle_model::{ThreadId, mix};
use raddle_total::{Act, DefineSets, Locks, first_value};

use super::{
    past::{Instance, Past},
    reached::Reached,
    relevant::relevant_places,
};
use raddle_model::flows::{Flows, SinkKind};

/// A read that matters, in an execution.
#[derive(Clone, Debug)]
pub(super) struct Decider {
    /// The step.
    pub(super) read: u32,
    /// How its thread came there, as a hash.
    pub(super) visit: u64,
    /// The situations that it is part of: without its own value, and the value.
    pub(super) situations: Vec<Situation>,
}

/// See the module.
#[derive(Clone, Debug)]
pub(super) struct Situation {
    /// Everything but the read's own value.
    rest: u64,
    /// The read's part.
    place: u64,
}

impl Situation {
    /// The situation, if the read's value is this one.
    pub(super) fn key(&self, value: u64) -> u64 {
        self.rest.wrapping_add(entry(self.place, value))
    }
}

/// Parts are added up, so that their order does not matter.
fn entry(place: u64, value: u64) -> u64 {
    mix(mix(place, 11), value)
}

/// What is known of an execution.
#[derive(Debug)]
pub(super) struct Decisions {
    /// In order.
    pub(super) deciders: Vec<Decider>,
    /// By step: what it reads or writes can be something else in another schedule.
    pub(super) is_affected: Vec<bool>,
    /// By step: of a write that is affected, a hash of what flows into its value; else 0.
    pub(super) inputs: Vec<u64>,
    /// Sinks of branches that were come to, and those decided by what is affected.
    pub(super) branches: BTreeSet<u32>,
    /// See `branches`.
    pub(super) affected_branches: BTreeSet<u32>,
    /// What reads decide.
    pub(super) reached: Reached,
    /// Places of reads that matter.
    pub(super) relevant: BTreeSet<u64>,
}

/// What a thread has done so far.
#[derive(Clone, Debug, Default)]
struct ThreadState {
    /// By place: its last read there.
    latest: BTreeMap<u64, u32>,
    /// All affected reads so far, for what depends on all of them; 0 if there are none.
    all: u64,
    /// The sum of the affected reads since it held nothing, and the lock that it took then.
    in_manner: u64,
    outer: u64,
    /// The sum of the hashes of its steps.
    steps: u64,
    /// By place: that sum when it was there last.
    visits: BTreeMap<u64, u64>,
}

/// Works it all out. Linear in the steps, but for define sets and the reads of sinks.
pub(super) fn decide(
    past: &Past,
    flows: &Flows,
    sets: &DefineSets<'_>,
    locks: &Locks,
) -> Decisions {
    let reached = Reached::of(past, flows);
    let relevant = relevant_places(past, flows, &reached);
    let n_threads = past.history.n_threads();
    let mut threads = vec![ThreadState::default(); n_threads];
    let mut decisions = Decisions {
        deciders: Vec::new(),
        is_affected: vec![false; past.history.steps.len()],
        inputs: vec![0; past.history.steps.len()],
        branches: BTreeSet::new(),
        affected_branches: BTreeSet::new(),
        reached,
        relevant,
    };
    for (idx, step) in past.history.steps.iter().enumerate() {
        let thread = &mut threads[step.thread.idx()];
        let idx = idx as u32;
        thread.count_step(step.place, step.object);
        if locks.at(idx).is_empty() {
            thread.in_manner = 0;
            thread.outer = if matches!(step.done(), Act::Lock | Act::ReadLock | Act::Wake) {
                mix(step.place, step.object)
            } else {
                0
            };
        }
        if step.act.is_read() && decisions.relevant.contains(&step.place) {
            let define_is_affected =
                sets.actual(idx).is_some_and(|it| decisions.is_affected[it as usize]);
            let is_affected = define_is_affected || sets.of(idx).len() > 1;
            decisions.is_affected[idx as usize] = is_affected;
            let value = value(past, sets, idx);
            let under_lock = !locks.at(idx).is_empty();
            let visit = mix(thread.visit(step.place), past.contexts[idx as usize]);
            note_branches(&mut decisions, flows, (step.thread, step.place), is_affected);
            thread.latest.insert(step.place, idx);
            if is_affected {
                let situations = situations(
                    &Scene { past, flows, sets, decisions: &decisions },
                    thread,
                    &At { thread: step.thread, read: idx, visit, under_lock },
                );
                decisions.deciders.push(Decider { read: idx, visit, situations });
                let part = entry(step.place, value);
                thread.all = mix(thread.all, part);
                thread.in_manner = thread.in_manner.wrapping_add(part);
            }
        }
        if step.act.is_write() {
            let inputs = match flows.writes.get(&step.place) {
                Some(reads) => {
                    let latest = reads.iter().filter_map(|it| thread.latest.get(it).copied());
                    let affected = latest.filter(|it| decisions.is_affected[*it as usize]);
                    let part = |it: u32| {
                        let place = past.history.steps[it as usize].place;
                        entry(place, value(past, sets, it))
                    };
                    affected.map(part).fold(0, u64::wrapping_add)
                }
                None => thread.all,
            };
            decisions.inputs[idx as usize] = inputs;
            // An update has noted what it reads already.
            decisions.is_affected[idx as usize] |= inputs != 0;
        }
    }
    decisions
}

impl ThreadState {
    fn count_step(&mut self, place: u64, object: u64) {
        self.steps = self.steps.wrapping_add(mix(place, object));
    }

    /// How the thread came here: its steps since it was here last, as a hash; 0 the first time.
    fn visit(&mut self, place: u64) -> u64 {
        let now = self.steps;
        self.visits.insert(place, now).map_or(0, |before| now.wrapping_sub(before))
    }
}

fn note_branches(
    decisions: &mut Decisions,
    flows: &Flows,
    (thread, place): (ThreadId, u64),
    is_affected: bool,
) {
    for sink in decisions.reached.sinks_of(thread, place).into_iter().flatten() {
        if flows.sinks[*sink as usize].kind == SinkKind::Branch {
            decisions.branches.insert(*sink);
            if is_affected {
                decisions.affected_branches.insert(*sink);
            }
        }
    }
}

struct Scene<'a> {
    past: &'a Past,
    flows: &'a Flows,
    sets: &'a DefineSets<'a>,
    decisions: &'a Decisions,
}

struct At {
    thread: ThreadId,
    read: u32,
    visit: u64,
    under_lock: bool,
}

/// The situations of a read, its own value left out. `thread` has come to the read.
fn situations(scene: &Scene<'_>, thread: &ThreadState, at: &At) -> Vec<Situation> {
    let place = scene.past.history.steps[at.read as usize].place;
    let start = |tag: u64| mix(mix(mix(tag, u64::from(at.thread.0)), at.visit), place);
    let mut found = Vec::new();
    match scene.decisions.reached.sinks_of(at.thread, place) {
        Some(sinks) => {
            for sink in sinks {
                let reads = &scene.flows.sinks[*sink as usize].reads;
                let others = reads.iter().filter(|it| **it != place);
                let parts = others.filter_map(|other| {
                    let read = *thread.latest.get(other)?;
                    let is_affected = scene.decisions.is_affected[read as usize];
                    is_affected.then(|| entry(*other, value(scene.past, scene.sets, read)))
                });
                let rest = parts.fold(mix(start(1), u64::from(*sink)), u64::wrapping_add);
                found.push(Situation { rest, place });
            }
        }
        None => found.push(Situation { rest: mix(start(3), thread.all), place }),
    }
    if at.under_lock {
        let rest = mix(start(4), thread.outer).wrapping_add(thread.in_manner);
        found.push(Situation { rest, place });
    }
    found
}

/// What a read has read, as a number: the value, or else the define's name.
fn value(past: &Past, sets: &DefineSets<'_>, read: u32) -> u64 {
    past.values[read as usize].unwrap_or_else(|| match sets.actual(read) {
        Some(define) => name(&past.instances[define as usize]),
        None => first_value(past.history.steps[read as usize].object),
    })
}

/// Instances of a write that are told apart by number: what comes later in a loop counts as the last of these.
const NTH_MAX: u32 = 15;

/// An instance as a number.
pub(super) fn name(instance: &Instance) -> u64 {
    let nth = instance.nth.min(NTH_MAX);
    mix(mix(mix(6, u64::from(instance.thread)), instance.place), u64::from(nth))
}
