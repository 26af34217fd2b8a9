//! What executions teach about the threads: how long each is, and what they share; learned in epochs, as
//! `sharing` learns.
//!
//! A thread is known by its role, the path of its creation. Its length is counted in two ways. All its events
//! since there has been a second thread: that is what stride and URW need, for in most executions a long
//! thread runs alone for a good part of its life, and what it does then is exactly what could be early. And its
//! events while another thread could go on, which is how seed paper 4 counts; that
//! needs the recorded options of an execution, without which all events count.
//!
//! Objects are of interest (to SURW) if at least two threads use them and one changes them. An object is
//! known by its name, so all blocks of one place count as one.
//!
//! Of several executions the largest count stands, less a quarter for each later epoch that did not come near
//! it: control flow depends on schedules, and a length that was seen once must not stand for ever.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
};

use raddle_model::{Interest, Length, Profile, Role, SiteId, ThreadId, Use};
use raddle_trace::{ObjectClass, Thread, Trace};

use crate::sharing::epoch;

/// Executions in which lengths are measured, if they are measured once: whole epochs.
const MEASURED: u64 = 16;

/// What one execution teaches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Observation {
    n_choices: u64,
    n_threads: u32,
    lengths: BTreeMap<Role, Counts>,
    /// By the object's name. Only what is of interest.
    uses: BTreeMap<u64, Uses>,
}

/// How an object is used.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Uses {
    /// The event that uses it first, the earliest that was seen. A name is made of places in the program's image, so
    /// that another linker gives another order of names: schedules must not depend on that, and this is the order.
    first: u32,
    /// How often each thread uses it, with those below it.
    n_below: BTreeMap<Role, u32>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counts {
    n_events: u32,
    n_contended: u32,
    n_below: u32,
}

/// What executions have taught so far.
#[derive(Clone, Debug, Default)]
pub struct Learning {
    /// By the first execution of each epoch.
    observed: BTreeMap<u64, Observation>,
}

impl Learning {
    /// Nothing is known.
    pub const fn new() -> Learning {
        Learning { observed: BTreeMap::new() }
    }

    /// Notes what an execution taught. The order of calls does not matter, except that of several
    /// executions of one epoch.
    pub fn learn(&mut self, execution: u64, observation: Observation) {
        let start = epoch(execution).start;
        match self.observed.get_mut(&start) {
            None => {
                self.observed.insert(start, observation);
            }
            Some(before) => before.merge(&observation, Decay::None),
        }
    }

    /// What `execution` is to know where lengths are measured once, as in seed paper 4: nothing among the first, which
    /// are for measuring; then the maximum over those of them that were looked at.
    pub fn measured(&self, execution: u64) -> Profile {
        let mut known = Observation::default();
        if execution >= MEASURED {
            for observation in self.observed.range(..MEASURED).map(|it| it.1) {
                known.merge(observation, Decay::None);
            }
        }
        known.profile()
    }

    /// What `execution` is to know: what all epochs before its own have taught.
    pub fn profile(&self, execution: u64) -> Profile {
        let mut known = Observation::default();
        for observation in self.observed.range(..epoch(execution).start).map(|it| it.1) {
            known.merge(observation, Decay::Quarter);
        }
        known.profile()
    }
}

#[derive(Clone, Copy)]
enum Decay {
    None,
    Quarter,
}

impl Decay {
    /// The new estimate.
    fn max(self, known: u32, seen: u32) -> u32 {
        match self {
            Decay::None => known.max(seen),
            Decay::Quarter => (known - known / 4).max(seen),
        }
    }
}

impl Observation {
    /// What an execution teaches.
    pub fn of(trace: &Trace) -> Observation {
        let roles = roles(&trace.threads);
        let n_kept = trace.events.len() as u64;
        let scale = Scale { n_kept, n_all: n_kept + trace.n_dropped };
        let n_choices = match trace.options.len() {
            0 => n_kept,
            _ => trace.options.iter().filter(|it| it.n_enabled > 1).count() as u64,
        };
        Observation {
            n_choices: scale.up(n_choices),
            n_threads: roles.len() as u32,
            lengths: lengths(trace, &roles, scale),
            uses: uses(trace, &roles, scale),
        }
    }

    /// The same for somebody who wants to look at some sites: of interest is what is used there, if anything is.
    pub fn near(mut self, trace: &Trace, sites: &BTreeSet<SiteId>) -> Observation {
        let there = trace.events.iter().filter(|it| sites.contains(&it.site));
        let objects = there.filter_map(|it| trace.objects.get(it.object.idx()));
        let names: BTreeSet<u64> =
            objects.map(|it| it.name).filter(|it| self.uses.contains_key(it)).collect();
        if !names.is_empty() {
            self.uses.retain(|name, _| names.contains(name));
        }
        self
    }

    /// Takes another, later one into account.
    fn merge(&mut self, seen: &Observation, decay: Decay) {
        self.n_choices = self.n_choices.max(seen.n_choices);
        self.n_threads = self.n_threads.max(seen.n_threads);
        for (role, counts) in &seen.lengths {
            let known = self.lengths.entry(*role).or_default();
            known.n_events = decay.max(known.n_events, counts.n_events);
            known.n_contended = decay.max(known.n_contended, counts.n_contended);
            known.n_below = decay.max(known.n_below, counts.n_below);
        }
        for (name, uses) in &seen.uses {
            let unused = || Uses { first: uses.first, n_below: BTreeMap::new() };
            let known = self.uses.entry(*name).or_insert_with(unused);
            known.first = known.first.min(uses.first);
        }
        for (name, known) in &mut self.uses {
            let seen_uses = seen.uses.get(name).map(|it| &it.n_below);
            // Who was there and did not use it has used it no times; of who was not there nothing is known.
            for role in seen.lengths.keys() {
                let n_seen = seen_uses.and_then(|it| it.get(role)).copied().unwrap_or(0);
                if n_seen > 0 || known.n_below.contains_key(role) {
                    let n_known = known.n_below.entry(*role).or_default();
                    *n_known = decay.max(*n_known, n_seen);
                }
            }
        }
    }

    /// As plans have it: no more than a plan can carry, the objects that are used most.
    fn profile(&self) -> Profile {
        let mut lengths: Vec<Length> = Vec::with_capacity(self.lengths.len());
        for (role, counts) in self.lengths.iter().take(Profile::LENGTHS_MAX) {
            let Counts { n_events, n_contended, n_below } = *counts;
            lengths.push(Length { role: *role, n_events, n_contended, n_below, reserved: 0 });
        }
        let (interests, uses) = self.interests();
        let (n_choices, n_threads) = (self.n_choices, self.n_threads);
        Profile { n_choices, n_threads, lengths, interests, uses }
    }

    fn interests(&self) -> (Vec<Interest>, Vec<Use>) {
        // Everything is below the first thread, so its count is that of all.
        let total = |uses: &Uses| uses.n_below.values().copied().max().unwrap_or(0);
        let mut names: Vec<(u32, u32, u64)> =
            self.uses.iter().map(|(name, uses)| (total(uses), uses.first, *name)).collect();
        names.sort_by_key(|(n_uses, first, name)| (Reverse(*n_uses), *first, *name));
        names.truncate(Profile::INTERESTS_MAX);
        let (mut interests, mut uses) = (Vec::new(), Vec::new());
        for (n_uses, _, name) in names {
            let of_name = &self.uses[&name].n_below;
            if n_uses == 0 || uses.len() + of_name.len() > Profile::USES_MAX {
                continue;
            }
            let interest = interests.len() as u32;
            interests.push(Interest { name, n_uses: u64::from(n_uses) });
            uses.extend(of_name.iter().map(|(role, n)| Use { role: *role, interest, n_below: *n }));
        }
        (interests, uses)
    }
}

/// The roles of an execution's threads, by number.
pub fn roles(threads: &[Thread]) -> Vec<Role> {
    let mut roles: Vec<Role> = Vec::with_capacity(threads.len());
    let mut n_children = vec![0_u32; threads.len()];
    for thread in threads {
        let role = match thread.parent {
            Some(parent) if parent.idx() < roles.len() => {
                n_children[parent.idx()] += 1;
                roles[parent.idx()].child(n_children[parent.idx()] - 1)
            }
            _ => Role::MAIN,
        };
        roles.push(role);
    }
    roles
}

/// What was counted in the kept events stands for all of them.
#[derive(Clone, Copy)]
struct Scale {
    n_kept: u64,
    n_all: u64,
}

impl Scale {
    fn up(self, count: u64) -> u64 {
        (count * self.n_all).checked_div(self.n_kept).unwrap_or(count)
    }

    fn up_narrow(self, count: u32) -> u32 {
        self.up(u64::from(count)).min(u64::from(u32::MAX)) as u32
    }
}

fn lengths(trace: &Trace, roles: &[Role], scale: Scale) -> BTreeMap<Role, Counts> {
    let mut counts = vec![Counts::default(); roles.len()];
    for (idx, event) in trace.events.iter().enumerate() {
        if let Some(it) = counts.get_mut(event.thread.idx()) {
            it.n_events += 1;
            it.n_contended += u32::from(trace.options.get(idx).is_none_or(|it| it.n_enabled > 1));
        }
    }
    for (it, thread) in counts.iter_mut().zip(&trace.threads) {
        it.n_events = it.n_events.max(thread.n_events);
        it.n_contended = scale.up_narrow(it.n_contended);
        it.n_below = it.n_events;
    }
    let mut below: Vec<u32> = counts.iter().map(|it| it.n_below).collect();
    add_to_parents(&mut below, &trace.threads);
    for (it, n_below) in counts.iter_mut().zip(below) {
        it.n_below = n_below;
    }
    roles.iter().copied().zip(counts).collect()
}

/// Adds each thread's count to that of the thread that created it, the youngest first.
fn add_to_parents(counts: &mut [u32], threads: &[Thread]) {
    for idx in (0..counts.len()).rev() {
        if let Some(parent) = threads[idx].parent.map(ThreadId::idx)
            && parent < idx
        {
            counts[parent] = counts[parent].saturating_add(counts[idx]);
        }
    }
}

/// How threads use one object.
#[derive(Default)]
struct Usage {
    first: u32,
    n_uses: BTreeMap<ThreadId, u32>,
    is_changed: bool,
}

fn uses(trace: &Trace, roles: &[Role], scale: Scale) -> BTreeMap<u64, Uses> {
    let mut usages: BTreeMap<u64, Usage> = BTreeMap::new();
    for (idx, event) in trace.events.iter().enumerate() {
        let object = trace.objects.get(event.object.idx()).filter(|it| it.name != 0);
        let Some(object) = object.filter(|it| is_of_interest(it.class)) else { continue };
        if event.kind.is_release() || event.thread.idx() >= roles.len() {
            continue;
        }
        let usage = usages
            .entry(object.name)
            .or_insert_with(|| Usage { first: idx as u32, ..Usage::default() });
        *usage.n_uses.entry(event.thread).or_default() += 1;
        usage.is_changed |= event.kind.is_write();
    }
    usages.retain(|_, usage| usage.is_changed && usage.n_uses.len() > 1);
    let by_role = |usage: Usage| {
        let mut below = vec![0_u32; roles.len()];
        for (thread, n_uses) in usage.n_uses {
            below[thread.idx()] = scale.up_narrow(n_uses);
        }
        add_to_parents(&mut below, &trace.threads);
        let n_below = roles.iter().copied().zip(below).filter(|it| it.1 > 0).collect();
        Uses { first: usage.first, n_below }
    };
    usages.into_iter().map(|(name, usage)| (name, by_role(usage))).collect()
}

/// Threads are created and joined in one order; descriptors have no order of their own.
fn is_of_interest(class: ObjectClass) -> bool {
    !matches!(class, ObjectClass::Thread | ObjectClass::Descriptor)
}

#[cfg(test)]
mod tests {
    use raddle_model::{Event, ObjectId, OpKind, Profile, Role, SiteId, ThreadId};
    use raddle_trace::{EnabledSet, Object, ObjectClass, Thread, Trace};

    use super::{Learning, Observation, roles};

    const MAIN: Role = Role::MAIN;

    fn thread(parent: Option<u32>) -> Thread {
        Thread { parent: parent.map(ThreadId), ..Thread::default() }
    }

    /// A trace of (thread, kind, object) with so many threads that could go on at each; thread 0 creates
    /// all others. Object 1 is a mutex, all others are variables; they are named by their numbers.
    fn trace(n_threads: u32, steps: &[(u32, OpKind, u32, u32)]) -> Trace {
        let event = |it: &(u32, OpKind, u32, u32)| Event {
            kind: it.1,
            thread: ThreadId(it.0),
            object: ObjectId(it.2),
            site: SiteId(1),
            ..Event::default()
        };
        let option =
            |it: &(u32, OpKind, u32, u32)| EnabledSet { n_enabled: it.3, ..EnabledSet::default() };
        let object = |number: u64| Object {
            class: if number == 1 { ObjectClass::Mutex } else { ObjectClass::Variable },
            name: number,
            ..Object::default()
        };
        Trace {
            events: steps.iter().map(event).collect(),
            options: steps.iter().map(option).collect(),
            objects: (0..10).map(object).collect(),
            threads: (0..n_threads).map(|it| thread((it > 0).then_some(0))).collect(),
            ..Trace::default()
        }
    }

    fn profile(trace: &Trace) -> Profile {
        let mut learning = Learning::new();
        learning.learn(0, Observation::of(trace));
        learning.profile(1)
    }

    /// Events, contended events and events below, of a role.
    fn counts(profile: &Profile, role: Role) -> [u32; 3] {
        let view = profile.view();
        view.length(role).map_or([0; 3], |it| [it.n_events, it.n_contended, it.n_below])
    }

    /// The long thread's last event comes when it is alone: it counts for its length, and not for the
    /// paper's.
    #[test]
    fn two_ways_to_count() {
        use OpKind::*;
        let steps = [
            (0, Spawn, 0, 1),
            (1, Start, 0, 2),
            (1, Write, 2, 2),
            (1, Finish, 0, 2),
            (0, Write, 2, 1),
            (0, Write, 2, 1),
        ];
        let profile = profile(&trace(2, &steps));
        assert_eq!(counts(&profile, MAIN), [3, 0, 6]);
        assert_eq!(counts(&profile, MAIN.child(0)), [3, 3, 3]);
        assert_eq!((profile.n_choices, profile.n_threads), (3, 2));
    }

    #[test]
    fn what_the_runtime_counted_stands_for_what_was_not_kept() {
        let steps: Vec<_> = (0..10).map(|idx| (idx % 2, OpKind::Write, 2, 2)).collect();
        let mut trace = trace(2, &steps);
        trace.n_dropped = 90;
        trace.threads[1].n_events = 70;
        let profile = profile(&trace);
        assert_eq!(counts(&profile, MAIN.child(0)), [70, 50, 70]);
        assert_eq!(profile.n_choices, 100);
        assert_eq!(profile.view().n_uses_below(0, MAIN), 100);
    }

    #[test]
    fn roles_are_those_of_the_pickers() {
        let parents = [None, Some(0), Some(1), Some(1), Some(0), Some(4)];
        let (a, b) = (MAIN.child(0), MAIN.child(1));
        assert_eq!(roles(&parents.map(thread)), [MAIN, a, a.child(0), a.child(1), b, b.child(0)]);
    }

    /// Variable 2 is written and read by two; 3 only read; 4 is one thread's; mutex 1 is taken by two, and
    /// giving it back is no use. The last line is an op without object.
    #[test]
    fn what_is_of_interest() {
        use OpKind::*;
        let steps = [
            (1, Write, 2, 2),
            (2, Read, 2, 2),
            (2, Read, 2, 2),
            (1, Read, 3, 2),
            (2, Read, 3, 2),
            (1, Write, 4, 2),
            (1, Write, 4, 2),
            (1, Lock, 1, 2),
            (1, Unlock, 1, 2),
            (2, Lock, 1, 2),
            (2, Yield, 0, 2),
        ];
        let profile = profile(&trace(3, &steps));
        let interests: Vec<(u64, u64)> =
            profile.interests.iter().map(|it| (it.name, it.n_uses)).collect();
        assert_eq!(interests, [(2, 3), (1, 2)]);
        let n_uses = |interest| {
            [MAIN, MAIN.child(0), MAIN.child(1)]
                .map(|role| profile.view().n_uses_below(interest, role))
        };
        assert_eq!(n_uses(0), [3, 1, 2]);
        assert_eq!(n_uses(1), [2, 1, 1]);
        assert!(profile.fits());
    }

    /// Another linker, other names: the same objects in the same order.
    #[test]
    fn names_order_nothing() {
        use OpKind::*;
        let steps = [(1, Write, 4, 2), (1, Write, 2, 2), (2, Write, 2, 2), (2, Write, 4, 2)];
        let names = |trace: &Trace| -> Vec<u64> {
            profile(trace).interests.iter().map(|it| it.name).collect()
        };
        let mut trace = trace(3, &steps);
        assert_eq!(names(&trace), [4, 2]);
        trace.objects[2].name = 9;
        assert_eq!(names(&trace), [4, 9]);
    }

    /// An execution with so many writes of a variable by the child and one by main.
    fn writes(n_writes: usize) -> Observation {
        let mut steps = vec![(1, OpKind::Write, 2, 2); n_writes];
        steps.push((0, OpKind::Write, 2, 2));
        Observation::of(&trace(2, &steps))
    }

    #[test]
    fn knowledge_comes_into_force_with_the_next_epoch() {
        let mut learning = Learning::new();
        learning.learn(4, writes(40));
        learning.learn(2, writes(20));
        learning.learn(0, writes(10));
        let length = |execution| counts(&learning.profile(execution), MAIN.child(0))[0];
        let known = [0, 1, 2, 3, 4, 7, 8, 15].map(length);
        assert_eq!(known, [0, 10, 10, 10, 20, 20, 40, 40]);
    }

    /// 64 - 16 = 48, 48 - 12 = 36, and then 40 is seen.
    #[test]
    fn what_does_not_come_back_fades() {
        let mut learning = Learning::new();
        for (execution, n_writes) in [(0, 64), (1, 4), (2, 4), (4, 40)] {
            learning.learn(execution, writes(n_writes));
        }
        let child = MAIN.child(0);
        let known = [1, 2, 4, 8].map(|execution| {
            let profile = learning.profile(execution);
            (counts(&profile, child)[0], profile.view().n_uses_below(0, child))
        });
        assert_eq!(known, [(64, 64), (48, 48), (36, 36), (40, 40)]);
        assert_eq!(learning.profile(8).n_choices, 65);
    }

    /// Measured once: nothing is known in the first sixteen executions, then the longest of them, whatever comes later.
    #[test]
    fn lengths_that_are_measured_once() {
        let of = |n_steps: usize| trace(1, &vec![(0, OpKind::Write, 2, 2); n_steps]);
        let mut learning = Learning::new();
        for (execution, n_steps) in [(0, 3), (1, 9), (2, 1), (4, 1), (8, 1), (16, 50)] {
            learning.learn(execution, Observation::of(&of(n_steps)));
        }
        assert_eq!(learning.measured(15), Profile::EMPTY);
        for execution in [16, 17, 1_000_000] {
            assert_eq!(counts(&learning.measured(execution), MAIN), [9; 3], "{execution}");
        }
        assert_eq!(counts(&learning.profile(32), MAIN)[0], 50);
        assert!(counts(&learning.profile(16), MAIN)[0] < 9, "it fades");
    }

    /// Of a thread that was not there nothing is learned.
    #[test]
    fn who_is_absent_keeps_its_length() {
        let mut learning = Learning::new();
        learning.learn(0, writes(64));
        learning.learn(1, Observation::of(&trace(1, &[(0, OpKind::Write, 2, 1)])));
        let profile = learning.profile(2);
        assert_eq!(counts(&profile, MAIN.child(0))[0], 64);
        assert_eq!(profile.view().n_uses_below(0, MAIN.child(0)), 64);
        assert_eq!(profile.n_threads, 2);
    }

    #[test]
    fn a_profile_fits_into_a_plan() {
        let mut trace = trace(300, &[]);
        trace.objects = (0..300).map(|name| Object { name, ..Object::default() }).collect();
        for object in 1..300 {
            for thread in 0..300 {
                trace.events.push(Event {
                    kind: OpKind::Write,
                    thread: ThreadId(thread),
                    object: ObjectId(object),
                    ..Event::default()
                });
            }
        }
        let profile = profile(&trace);
        assert!(profile.fits());
        assert!(profile.interests.len() > 50, "{}", profile.interests.len());
    }
}
