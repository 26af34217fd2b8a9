//! Schedules that are worth a try, as one execution suggests them: orders of places in the code that it has not shown.
//!
//! The accesses of a trace conflict; whatever orders two of them but creation and join of threads could have been otherwise.
//! Of each such pair the place of the first can be left to *last* (`Late`: everybody who comes there waits until nobody
//! else can go on), the second can come before it (`Order`), and where one thread has two accesses to an object, another
//! thread's can come between (`Torn`: the combinations that no serial order explains; AVIO, ASPLOS 2006). The same for two
//! objects that a thread uses one after the other, and another thread, too (`Across`; correlated variables as in MUVI,
//! SOSP 2007): first those that are protected by one lock but not in one section, for they belong together. Locks that
//! are taken while others are held make cycles (`Cycle`). Two places that are left to last together (`Twice`)
//! are for bugs with two windows.
//!
//! Accesses in critical sections of one lock are in the order of their sections: the place is where the lock is
//! taken, for only there can a thread be held back without holding back the other. What a section does need not be known:
//! memory that one thread has touched before others is no step. So sections of one lock conflict, whatever they do;
//! those of which an access to the same object was seen come first.
//!
//! Places, not steps: a hundred threads that run the same code make as many hypotheses as two. The first of the list are
//! likeliest to matter: places of accesses without a lock in common, of what is done rarely, and of the second half of
//! what a thread may mean to be one. Where the user has said where to look, what touches a place there comes before all
//! else. Time: linear in steps times threads, and in pairs of places for each object.

mod accesses;
mod objects;
#[cfg(test)]
mod tests;

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
    iter,
};

use raddle_model::{Event, Family, Hypothesis, ObjectId, PlaceOrder, SiteId, ThreadId};
use raddle_trace::Trace;

use self::{
    accesses::{Access, Accesses, What, accesses, locked},
    objects::Objects,
};
use crate::value::HeldLock;

/// Hypotheses of one family.
const FAMILY_MAX: usize = 256;
/// Accesses of a place to an object that are looked at.
const INSTANCES_MAX: usize = 6;
/// Places of an object that are combined with each other.
const PLACES_MAX: usize = 24;
/// Places that are left to last in pairs.
const TWICE_MAX: usize = 12;
/// Accesses in one section of a lock that are combined with those of the next.
const SECTION_MAX: usize = 6;
/// Combinations of places for two objects that are looked at.
const ACROSS_MAX: usize = 1 << 14;
/// Done at most so often, a place is rare.
const RARE: u32 = 3;

/// What an execution suggests, the likeliest to matter first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Suggested {
    /// What touches a place where the user wants to look.
    pub near: Vec<Hypothesis>,
    /// All others.
    pub others: Vec<Hypothesis>,
}

/// What an execution suggests to somebody who wants to look at some of its sites, or at none in particular.
pub fn hypotheses(trace: &Trace, near: &BTreeSet<SiteId>) -> Suggested {
    let mut found = Found { objects: Objects::of(trace), ..Found::default() };
    let accesses = accesses(trace, near, &mut found);
    for all in accesses.values() {
        found.meet(all);
    }
    found.cross(&accesses);
    found.ranked()
}

/// A lock that was asked for while others were held.
struct Request {
    thread: ThreadId,
    lock: ObjectId,
    key: u32,
    held: Vec<(HeldLock, u32)>,
}

impl Request {
    fn holds(&self, lock: ObjectId) -> Option<&(HeldLock, u32)> {
        self.held.iter().find(|it| it.0.lock == lock)
    }
}

/// How much there is to say for leaving a place to last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Worth {
    /// What comes before it in its thread, and conflicts with others too, is perhaps meant to be one with it.
    is_second: bool,
    is_torn: bool,
    weight: Weight,
}

/// How much there is to say for an order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Weight {
    /// No lock in common orders them. Of two objects: one lock protects both.
    is_first: bool,
    /// It was seen what is accessed.
    is_data: bool,
}

impl Weight {
    fn add(&mut self, other: Weight) {
        self.is_first |= other.is_first;
        self.is_data |= other.is_data;
    }
}

#[derive(Default)]
struct Found {
    clocks: Vec<Vec<u32>>,
    /// Places where the user wants to look.
    near: BTreeSet<u32>,
    /// How often each place was come to, and after how many others first.
    visits: BTreeMap<u32, Visits>,
    /// By thread: its first step that conflicts with another's.
    begins: BTreeMap<ThreadId, u32>,
    /// Places of conflicts, and one of their steps in each thread.
    met: BTreeMap<u32, BTreeMap<ThreadId, u32>>,
    /// Locks that were taken, by thread and place.
    requests: Vec<Request>,
    late: BTreeMap<u32, Worth>,
    torn: BTreeMap<[PlaceOrder; 2], Weight>,
    across: BTreeMap<[PlaceOrder; 2], Weight>,
    orders: BTreeMap<PlaceOrder, Weight>,
    objects: Objects,
}

/// How often a place was come to. Keys are hashes of where code is, and must order nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Visits {
    n_times: u32,
    first: usize,
}

impl Found {
    fn visit(&mut self, key: u32, object: ObjectId) {
        self.objects.visit(key, object);
        let first = self.visits.len();
        self.visits.entry(key).or_insert(Visits { n_times: 0, first }).n_times += 1;
    }

    fn request(&mut self, event: &Event, key: u32, held: Vec<(HeldLock, u32)>) {
        let lock = locked(event);
        self.visit(key, lock);
        let is_new = !self.requests.iter().any(|it| {
            (it.thread, it.lock, it.key) == (event.thread, lock, key)
                && it.held.iter().map(|it| it.0.lock).eq(held.iter().map(|it| it.0.lock))
        });
        if is_new && !held.is_empty() && self.requests.len() < FAMILY_MAX {
            self.requests.push(Request { thread: event.thread, lock, key, held });
        }
    }

    /// Must the one come before the other?
    fn is_before(&self, one: &Access, other: &Access) -> bool {
        if one.thread == other.thread {
            return one.n_own < other.n_own;
        }
        self.clocks[other.known].get(one.thread.idx()).is_some_and(|it| one.n_own < *it)
    }

    fn are_ordered(&self, one: &Access, other: &Access) -> bool {
        self.is_before(one, other) || self.is_before(other, one)
    }

    /// The accesses to one object.
    fn meet(&mut self, all: &[Access]) {
        let places = self.places(all);
        for (idx, one) in places.iter().enumerate() {
            for other in &places[idx..] {
                self.pair(one, other);
            }
        }
        self.tear(all, &places);
    }

    /// Two places that touch one object.
    fn pair(&mut self, one: &[&Access], other: &[&Access]) {
        let meets = |(a, b): &(&Access, &Access)| {
            a.thread != b.thread && a.what.meets(b.what) && !self.are_ordered(a, b)
        };
        let all = one.iter().flat_map(|a| other.iter().map(move |b| (*a, *b)));
        let Some((a, b)) = all.clone().find(meets) else { return };
        let sides = [a, b];
        let is_data = a.is_data() && b.is_data();
        let handled = handled(a, b);
        let (a, b, is_protected) = handles(a, b);
        let weight = Weight { is_first: is_data && !is_protected, is_data };
        self.objects.meet([(a, handled), (b, handled)], weight);
        for (access, key) in sides.into_iter().zip([a, b]) {
            let begin = self.begins.entry(access.thread).or_insert(access.n_own);
            *begin = access.n_own.min(*begin);
            self.met.entry(key).or_default().entry(access.thread).or_insert(access.n_own);
        }
        for key in [a, b] {
            self.late.entry(key).or_default().weight.add(weight);
        }
        if a != b {
            for order in [PlaceOrder { first: a, second: b }, PlaceOrder { first: b, second: a }] {
                self.orders.entry(order).or_default().add(weight);
            }
        }
    }

    /// Two accesses of a thread in a row, and what could come between.
    fn tear(&mut self, all: &[Access], places: &[Vec<&Access>]) {
        let mut last: BTreeMap<ThreadId, &Access> = BTreeMap::new();
        let mut done = BTreeSet::new();
        for after in all {
            let Some(before) = last.insert(after.thread, after) else { continue };
            if !done.insert((before.key, after.key)) {
                continue;
            }
            for place in places {
                let between = place.iter().find(|it| {
                    it.thread != after.thread
                        && is_torn(before.what, it.what, after.what)
                        && !self.is_before(it, before)
                        && !self.is_before(after, it)
                });
                if let Some(between) = between {
                    self.torn_by(before, between, after);
                }
            }
        }
    }

    fn torn_by(&mut self, before: &Access, between: &Access, after: &Access) {
        // Both in one section of a lock that the other needs, too: nothing comes between.
        let begin = handles(before, between);
        let end = handles(between, after);
        if begin.2 && end.2 && begin.0 == end.1 && is_one_section(before, between, after) {
            return;
        }
        let is_data = before.is_data() && between.is_data() && after.is_data();
        let is_protected = begin.2 && end.2;
        let weight = Weight { is_first: is_data && !is_protected, is_data };
        let late = self.late.entry(end.1).or_default();
        late.is_torn = true;
        late.weight.add(weight);
        let first = PlaceOrder { first: begin.0, second: begin.1 };
        let second = PlaceOrder { first: end.0, second: end.1 };
        self.torn.entry([first, second]).or_default().add(weight);
    }

    /// Two objects that a thread uses one after the other, and what another thread does to both could come between.
    fn cross(&mut self, accesses: &Accesses) {
        let of_object: BTreeMap<ObjectId, Vec<Vec<&Access>>> =
            accesses.iter().map(|(object, all)| (*object, self.places(all))).collect();
        let mut done = BTreeSet::new();
        let mut n_left = ACROSS_MAX;
        for sections in self.sections(&of_object, accesses).values() {
            for (idx, first) in sections.iter().enumerate() {
                // The next one, and the next one of the same lock.
                let next = sections.get(idx + 1);
                let same = sections[idx + 1..].iter().find(|it| have_lock_in_common(first, it));
                let same = same.filter(|it| next.is_none_or(|next| it[0].n_own != next[0].n_own));
                for second in next.into_iter().chain(same) {
                    for (before, after) in pairs_of(first, second) {
                        if before.object != after.object && done.insert((before.key, after.key)) {
                            self.cross_pair(before, after, &of_object, &mut n_left);
                        }
                    }
                }
            }
        }
    }

    /// What each thread does to objects that others use as well, by sections of locks; what is done without a lock is a
    /// section of its own.
    fn sections<'a>(
        &self,
        of_object: &BTreeMap<ObjectId, Vec<Vec<&Access>>>,
        accesses: &'a Accesses,
    ) -> BTreeMap<ThreadId, Vec<Vec<&'a Access>>> {
        let is_shared = |it: &&Access| {
            let places = &of_object[&it.object];
            places.iter().flatten().any(|other| {
                other.thread != it.thread
                    && other.what.meets(it.what)
                    && !self.are_ordered(other, it)
            })
        };
        let mut of_thread: BTreeMap<ThreadId, Vec<&Access>> = BTreeMap::new();
        // One of each place of an object is as good as all: is there anything to be ordered?
        let mut shared: BTreeMap<(ThreadId, ObjectId, u32), bool> = BTreeMap::new();
        for access in accesses.values().flatten() {
            let of_place = (access.thread, access.object, access.key);
            if *shared.entry(of_place).or_insert_with(|| is_shared(&access)) {
                of_thread.entry(access.thread).or_default().push(access);
            }
        }
        let by_section = |(thread, mut all): (ThreadId, Vec<&'a Access>)| {
            all.sort_by_key(|it| it.n_own);
            let mut sections: Vec<Vec<&Access>> = Vec::new();
            for access in all {
                match sections.last_mut() {
                    Some(last) if last[0].section == access.section => last.push(access),
                    _ => sections.push(vec![access]),
                }
            }
            (thread, sections)
        };
        of_thread.into_iter().map(by_section).collect()
    }

    /// One thread's accesses to two objects, and all that others do to both.
    fn cross_pair(
        &mut self,
        before: &Access,
        after: &Access,
        of_object: &BTreeMap<ObjectId, Vec<Vec<&Access>>>,
        n_left: &mut usize,
    ) {
        let meets =
            |one: &Access, other: &Access| one.thread != other.thread && one.what.meets(other.what);
        for ours in &of_object[&before.object] {
            for theirs in &of_object[&after.object] {
                if *n_left == 0 {
                    return;
                }
                *n_left -= 1;
                let mut ours =
                    ours.iter().filter(|it| meets(before, it) && !self.is_before(it, before));
                let found = ours.find_map(|one| {
                    let is_pair = |it: &&&Access| {
                        it.thread == one.thread && meets(after, it) && !self.is_before(after, it)
                    };
                    theirs.iter().find(is_pair).map(|other| (*one, *other))
                });
                let Some((one, other)) = found else { continue };
                let (begin, end) = (handles(before, one), handles(other, after));
                // In one section of a lock that the other needs, too, nothing comes between.
                if begin.2 && end.2 && begin.0 == end.1 && before.section == after.section {
                    continue;
                }
                let all = [before, after, one, other];
                let weight = Weight {
                    is_data: all.iter().all(|it| it.is_data()),
                    is_first: begin.2 && end.2 && have_lock_in_common(&[before], &[after]),
                };
                let first = PlaceOrder { first: begin.0, second: begin.1 };
                let second = PlaceOrder { first: end.0, second: end.1 };
                self.across.entry([first, second]).or_default().add(weight);
            }
        }
    }

    /// The places of an object, with a few accesses of each: of several threads, if there are.
    fn places<'a>(&self, all: &'a [Access]) -> Vec<Vec<&'a Access>> {
        let mut places: Vec<Vec<&Access>> = Vec::new();
        let mut of_key: BTreeMap<u32, usize> = BTreeMap::new();
        for access in all {
            let idx = *of_key.entry(access.key).or_insert_with(|| {
                places.push(Vec::new());
                places.len() - 1
            });
            let place = &mut places[idx];
            let n_own = place.iter().filter(|it| it.thread == access.thread).count();
            if n_own < 2 && place.len() < INSTANCES_MAX {
                place.push(access);
            }
        }
        if PLACES_MAX < places.len() && !self.near.is_empty() {
            places.sort_by_key(|it| !self.near.contains(&it[0].key));
        }
        places.truncate(PLACES_MAX);
        places
    }

    /// Does it touch a place where the user wants to look?
    fn is_near(&self, orders: &[PlaceOrder; 2]) -> bool {
        let mut keys = orders.iter().flat_map(|it| [it.first, it.second]);
        keys.any(|it| self.near.contains(&it))
    }

    /// All of them, in the order in which they are worth a try.
    fn ranked(mut self) -> Suggested {
        self.find_seconds();
        let visits = |key: u32| self.visits.get(&key).copied().unwrap_or_default();
        let is_rare = |key: u32| visits(key).n_times <= RARE;
        // Orders by where their places were first.
        let shape = |it: &PlaceOrder| (visits(it.second), visits(it.first));
        let mut late: Vec<(Worth, u32)> = self.late.iter().map(|it| (*it.1, *it.0)).collect();
        late.sort_by_key(|(worth, key)| {
            (!self.near.contains(key), Reverse((*worth, is_rare(*key))), visits(*key))
        });
        let mut torn: Vec<([PlaceOrder; 2], Weight)> =
            self.torn.iter().map(|it| (*it.0, *it.1)).collect();
        torn.sort_by_key(|(orders, weight)| {
            (Reverse((*weight, is_rare(orders[1].second))), orders.each_ref().map(shape))
        });
        let mut across: Vec<([PlaceOrder; 2], Weight)> =
            self.across.iter().map(|it| (*it.0, *it.1)).collect();
        across.sort_by_key(|(orders, weight)| {
            (Reverse((*weight, is_rare(orders[1].second))), orders.each_ref().map(shape))
        });
        let mut orders: Vec<(PlaceOrder, Weight)> =
            self.orders.iter().map(|it| (*it.0, *it.1)).collect();
        orders.sort_by_key(|(order, weight)| {
            (Reverse((*weight, is_rare(order.second))), shape(order))
        });
        let wait = |key| PlaceOrder { first: 0, second: key };
        let one = |order| [order, PlaceOrder::NONE];
        let twice = late.iter().take(TWICE_MAX).enumerate().flat_map(|(idx, first)| {
            late[..idx].iter().map(move |second| [wait(second.1), wait(first.1)])
        });
        let families: [(Family, Vec<[PlaceOrder; 2]>); Family::ALL.len()] = [
            (Family::Cycle, self.cycles()),
            (Family::Late, late.iter().map(|it| one(wait(it.1))).collect()),
            (Family::Torn, torn.iter().map(|it| it.0).collect()),
            (Family::Across, across.iter().map(|it| it.0).collect()),
            (Family::Order, orders.iter().map(|it| one(it.0)).collect()),
            (Family::Twice, twice.collect()),
            (Family::Object, self.objects.ranked()),
        ];
        let mut suggested = Suggested::default();
        for (family, all) in families {
            let (near, others): (Vec<_>, Vec<_>) = all.into_iter().partition(|it| self.is_near(it));
            let hypothesis = |orders| Hypothesis { family, orders };
            suggested.near.extend(near.into_iter().take(FAMILY_MAX).map(hypothesis));
            suggested.others.extend(others.into_iter().take(FAMILY_MAX).map(hypothesis));
        }
        suggested
    }

    /// Which places come after another conflict of their thread.
    fn find_seconds(&mut self) {
        for (key, worth) in &mut self.late {
            let met = self.met.get(key).into_iter().flatten();
            worth.is_second = met.into_iter().any(|(thread, n_own)| self.begins[thread] < *n_own);
        }
    }

    /// Cycles of locks: in turns, orders for a cycle of two, and a place that is left to last for cycles of any length.
    fn cycles(&self) -> Vec<[PlaceOrder; 2]> {
        let visits = |key: u32| self.visits.get(&key).copied().unwrap_or_default();
        let mut nested: Vec<u32> = self.nested().into_iter().collect();
        nested.sort_by_key(|it| visits(*it));
        let mut pairs: Vec<[PlaceOrder; 2]> = self.pairs_of_locks().into_iter().collect();
        pairs.sort_by_key(|it| it.map(|it| (visits(it.second), visits(it.first))));
        let late = |key| [PlaceOrder { first: 0, second: key }, PlaceOrder::NONE];
        let mut nested = nested.into_iter().map(late);
        let mut cycles: Vec<[PlaceOrder; 2]> =
            pairs.into_iter().flat_map(|it| iter::once(it).chain(nested.next())).collect();
        cycles.extend(nested);
        cycles
    }

    /// Places where locks are taken that are part of a cycle, of whatever length: if all wait there, it closes.
    fn nested(&self) -> BTreeSet<u32> {
        let mut after: BTreeMap<ObjectId, BTreeSet<ObjectId>> = BTreeMap::new();
        for it in &self.requests {
            for (held, _) in &it.held {
                after.entry(held.lock).or_default().insert(it.lock);
            }
        }
        let leads_back = |it: &&Request| {
            let mut reached: BTreeSet<ObjectId> = BTreeSet::new();
            let mut waiting = vec![it.lock];
            while let Some(lock) = waiting.pop() {
                let next = after.get(&lock).into_iter().flatten();
                waiting.extend(next.filter(|it| reached.insert(**it)));
            }
            it.held.iter().any(|(held, _)| reached.contains(&held.lock))
        };
        self.requests.iter().filter(leads_back).map(|it| it.key).collect()
    }

    /// Two threads that each hold what the other asks for, in sections that no third lock keeps apart.
    fn pairs_of_locks(&self) -> BTreeSet<[PlaceOrder; 2]> {
        let mut cycles = BTreeSet::new();
        for (idx, one) in self.requests.iter().enumerate() {
            for other in &self.requests[..idx] {
                let has_gate =
                    one.held.iter().any(|it| other.held.iter().any(|its| its.0.lock == it.0.lock));
                let (Some(mine), Some(its)) = (one.holds(other.lock), other.holds(one.lock)) else {
                    continue;
                };
                if one.thread != other.thread && !has_gate {
                    let first = PlaceOrder { first: its.1, second: one.key };
                    let second = PlaceOrder { first: mine.1, second: other.key };
                    cycles.insert([first.min(second), first.max(second)]);
                }
            }
        }
        cycles
    }
}

/// Where each of two accesses can be held back: at a lock that both hold, or at the access itself. Is it a lock?
fn handles(one: &Access, other: &Access) -> (u32, u32, bool) {
    match common_lock(one, other) {
        Some((one, other, _)) => (one, other, true),
        None => (one.key, other.key, false),
    }
}

/// The object at which they are held back.
fn handled(one: &Access, other: &Access) -> ObjectId {
    common_lock(one, other).map_or(one.object, |it| it.2)
}

/// Where each of two accesses takes a lock that both hold, and which.
fn common_lock(one: &Access, other: &Access) -> Option<(u32, u32, ObjectId)> {
    let common = one.locks.iter().find_map(|(lock, key)| {
        let same =
            |it: &&(HeldLock, u32)| it.0.lock == lock.lock && !(it.0.is_shared && lock.is_shared);
        other.locks.iter().find(same).map(|it| (*key, it.1, lock.lock))
    });
    common.filter(|(one, other, _)| *one != 0 && *other != 0)
}

/// Are two accesses in one section of a lock that the third needs?
fn is_one_section(before: &Access, between: &Access, after: &Access) -> bool {
    before.locks.iter().any(|(lock, _)| {
        after.locks.iter().any(|it| it.0 == *lock)
            && between.locks.iter().any(|it| it.0.lock == lock.lock)
    })
}

/// Accesses of one section, each with each of another, as far as there are not too many.
fn pairs_of<'a>(
    first: &'a [&'a Access],
    second: &'a [&'a Access],
) -> impl Iterator<Item = (&'a Access, &'a Access)> {
    let last = first.len().saturating_sub(SECTION_MAX);
    first[last..]
        .iter()
        .flat_map(|before| second.iter().take(SECTION_MAX).map(move |after| (*before, *after)))
}

/// Is a lock held in both sections?
fn have_lock_in_common(one: &[&Access], other: &[&Access]) -> bool {
    let held = |it: &HeldLock| other[0].locks.iter().any(|its| its.0.lock == it.lock);
    one[0].locks.iter().any(|it| held(&it.0))
}

/// Two accesses of a thread with another's between: does no serial order explain them? (AVIO)
const fn is_torn(before: What, between: What, after: What) -> bool {
    use What::{Read, Section, Write};
    matches!(
        (before, between, after),
        (_, Write, Read) | (Read, Write, Write) | (Write, Read, Write) | (_, Section, _)
    )
}
