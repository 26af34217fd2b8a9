//! Schedules that are worth a try, as one execution suggests them: orders of places in the code that it has not shown.
//!
//! The accesses of a trace conflict; whatever orders two of them but creation and join of threads could have been otherwise.
//! Of each such pair the place of the first can be left to *last* (`Late`: everybody who comes there waits until nobody
//! else can go on), the second can come before it (`Order`), and where one thread has two accesses to an object, another
//! thread's can come between (`Torn`: the combinations that no serial order explains; AVIO, ASPLOS 2006). Locks that are
//! taken while others are held make cycles (`Cycle`). Two places that are left to last together (`Twice`) are
//! for bugs with two windows.
//!
//! Accesses in critical sections of one lock are in the order of their sections: the place is where the lock is
//! taken, for only there can a thread be held back without holding back the other.
//!
//! Places, not steps: a hundred threads that run the same code make as many hypotheses as two. The first of the list are
//! likeliest to matter: places of accesses without a lock in common, of what is done rarely, and of the second half of
//! what a thread may mean to be one. Time: linear in steps times threads, and in pairs of places for each object.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
};

use raddle_model::{Event, Family, Hypothesis, ObjectId, OpKind, PlaceOrder, Side, ThreadId};
use raddle_trace::Trace;

use crate::{held::HeldLocks, value::HeldLock};

/// Hypotheses of one family.
const FAMILY_MAX: usize = 256;
/// Accesses of a place to an object that are looked at.
const INSTANCES_MAX: usize = 6;
/// Places of an object that are combined with each other.
const PLACES_MAX: usize = 24;
/// Places that are left to last in pairs.
const TWICE_MAX: usize = 12;
/// Done at most so often, a place is rare.
const RARE: u32 = 3;

/// What an execution suggests, the likeliest to matter first.
pub fn hypotheses(trace: &Trace) -> Vec<Hypothesis> {
    let mut found = Found::default();
    let accesses = accesses(trace, &mut found);
    for all in accesses.values() {
        found.meet(all);
    }
    found.ranked()
}

/// An access, as far as it can be ordered otherwise.
#[derive(Clone, Debug)]
struct Access {
    thread: ThreadId,
    /// What and where.
    key: u32,
    is_write: bool,
    /// Steps of its thread before it.
    n_own: u32,
    /// What must have come before it, by thread: so many steps.
    known: usize,
    /// The locks of its thread, with the places where they were taken.
    locks: Vec<(HeldLock, u32)>,
}

/// The accesses to each object, in order.
type Accesses = BTreeMap<ObjectId, Vec<Access>>;

/// What is known of threads by their creation and their end alone.
struct Lives {
    /// By thread: steps so far, and what it knows.
    threads: Vec<(u32, usize)>,
    /// Steps of each thread. The first is empty.
    clocks: Vec<Vec<u32>>,
    /// Whose object it is.
    of_object: BTreeMap<ObjectId, ThreadId>,
}

impl Lives {
    fn new(n_threads: usize) -> Lives {
        let clocks = vec![Vec::new()];
        Lives { threads: vec![(0, 0); n_threads], clocks, of_object: BTreeMap::new() }
    }

    fn step(&mut self, event: &Event) {
        let me = event.thread.idx();
        match event.kind {
            OpKind::Spawn => {
                let child = ThreadId(event.value as u32);
                self.of_object.insert(event.object, child);
                if child.idx() < self.threads.len() {
                    self.threads[child.idx()].1 = self.joined(me, me);
                }
            }
            OpKind::Join => {
                if let Some(child) = self.of_object.get(&event.object).copied() {
                    self.threads[me].1 = self.joined(me, child.idx());
                }
            }
            _ => {}
        }
        self.threads[me].0 += 1;
    }

    /// What both know, and all steps of the other.
    fn joined(&mut self, one: usize, other: usize) -> usize {
        let mut clock = self.clocks[self.threads[one].1].clone();
        clock.resize(self.threads.len(), 0);
        for (mine, its) in clock.iter_mut().zip(&self.clocks[self.threads[other].1]) {
            *mine = (*mine).max(*its);
        }
        clock[other] = clock[other].max(self.threads[other].0 + 1);
        self.clocks.push(clock);
        self.clocks.len() - 1
    }
}

/// Reads the trace once; requests for locks while others are held go to `found`.
fn accesses(trace: &Trace, found: &mut Found) -> Accesses {
    let mut held = HeldLocks::new();
    let mut lives = Lives::new(trace.threads.len());
    let mut accesses = Accesses::new();
    // By step at which a lock was taken: the place.
    let mut taken: BTreeMap<u64, u32> = BTreeMap::new();
    for (step, event) in trace.events.iter().enumerate() {
        if event.thread.idx() >= lives.threads.len() {
            continue;
        }
        let key = Side::key(event.kind, trace.site_hash(event.site));
        let place = |at: &u64| taken.get(at).copied().unwrap_or(0);
        let locks: Vec<(HeldLock, u32)> =
            held.with_steps(event.thread).map(|(lock, at)| (lock, place(&at))).collect();
        if event.kind.takes_lock() {
            taken.insert(step as u64, key);
            found.request(event, key, locks);
        } else if is_ordered(event.kind) && event.object != ObjectId::NONE {
            found.visit(key);
            let (n_own, known) = lives.threads[event.thread.idx()];
            accesses.entry(event.object).or_default().push(Access {
                thread: event.thread,
                key,
                is_write: event.kind.is_write(),
                n_own,
                known,
                locks,
            });
        }
        held.step(event, step as u64);
        lives.step(event);
    }
    found.clocks = lives.clocks;
    accesses
}

/// Can its order matter to others, apart from locks?
const fn is_ordered(kind: OpKind) -> bool {
    kind.is_access()
        || matches!(
            kind,
            OpKind::CondWait
                | OpKind::Signal
                | OpKind::Broadcast
                | OpKind::SemWait
                | OpKind::SemTryWait
                | OpKind::SemPost
                | OpKind::Free
                | OpKind::Init
                | OpKind::Destroy
                | OpKind::Close
                | OpKind::IoRead
                | OpKind::IoWrite
                | OpKind::Cancel
                | OpKind::Call
        )
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
    is_unprotected: bool,
}

#[derive(Default)]
struct Found {
    clocks: Vec<Vec<u32>>,
    /// How often each place was come to, and after how many others first.
    visits: BTreeMap<u32, Visits>,
    /// By thread: its first step that conflicts with another's.
    begins: BTreeMap<ThreadId, u32>,
    /// Places of conflicts, and one of their steps in each thread.
    met: BTreeMap<u32, BTreeMap<ThreadId, u32>>,
    /// Locks that were taken, by thread and place.
    requests: Vec<Request>,
    late: BTreeMap<u32, Worth>,
    torn: BTreeMap<[PlaceOrder; 2], bool>,
    orders: BTreeMap<PlaceOrder, bool>,
}

/// How often a place was come to. Keys are hashes of where code is, and must order nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Visits {
    n_times: u32,
    first: usize,
}

impl Found {
    fn visit(&mut self, key: u32) {
        let first = self.visits.len();
        self.visits.entry(key).or_insert(Visits { n_times: 0, first }).n_times += 1;
    }

    fn request(&mut self, event: &Event, key: u32, held: Vec<(HeldLock, u32)>) {
        self.visit(key);
        let lock = if event.kind == OpKind::CondWake { event.other } else { event.object };
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
        let places = places(all);
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
            a.thread != b.thread && (a.is_write || b.is_write) && !self.are_ordered(a, b)
        };
        let all = one.iter().flat_map(|a| other.iter().map(move |b| (*a, *b)));
        let Some((a, b)) = all.clone().find(meets) else { return };
        let sides = [a, b];
        let (a, b, is_protected) = handles(a, b);
        for (access, key) in sides.into_iter().zip([a, b]) {
            let begin = self.begins.entry(access.thread).or_insert(access.n_own);
            *begin = access.n_own.min(*begin);
            self.met.entry(key).or_default().entry(access.thread).or_insert(access.n_own);
        }
        for key in [a, b] {
            self.late.entry(key).or_default().is_unprotected |= !is_protected;
        }
        if a != b {
            for order in [PlaceOrder { first: a, second: b }, PlaceOrder { first: b, second: a }] {
                *self.orders.entry(order).or_default() |= !is_protected;
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
                        && is_torn(before.is_write, it.is_write, after.is_write)
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
        let is_protected = begin.2 && end.2;
        let late = self.late.entry(end.1).or_default();
        late.is_torn = true;
        late.is_unprotected |= !is_protected;
        let first = PlaceOrder { first: begin.0, second: begin.1 };
        let second = PlaceOrder { first: end.0, second: end.1 };
        *self.torn.entry([first, second]).or_default() |= !is_protected;
    }

    /// All of them, in the order in which they are worth a try.
    fn ranked(mut self) -> Vec<Hypothesis> {
        self.find_seconds();
        let visits = |key: u32| self.visits.get(&key).copied().unwrap_or_default();
        let is_rare = |key: u32| visits(key).n_times <= RARE;
        // Orders by where their places were first.
        let shape = |it: &PlaceOrder| (visits(it.second), visits(it.first));
        let mut late: Vec<(Worth, u32)> = self.late.iter().map(|it| (*it.1, *it.0)).collect();
        late.sort_by_key(|(worth, key)| (Reverse((*worth, is_rare(*key))), visits(*key)));
        let mut torn: Vec<([PlaceOrder; 2], bool)> =
            self.torn.iter().map(|it| (*it.0, *it.1)).collect();
        torn.sort_by_key(|(orders, is_unprotected)| {
            (Reverse((*is_unprotected, is_rare(orders[1].second))), orders.each_ref().map(shape))
        });
        let mut orders: Vec<(PlaceOrder, bool)> =
            self.orders.iter().map(|it| (*it.0, *it.1)).collect();
        orders.sort_by_key(|(order, is_unprotected)| {
            (Reverse((*is_unprotected, is_rare(order.second))), shape(order))
        });
        let wait = |key| PlaceOrder { first: 0, second: key };
        let one = |order| [order, PlaceOrder::NONE];
        let twice = late.iter().take(TWICE_MAX).enumerate().flat_map(|(idx, first)| {
            late[..idx].iter().map(move |second| [wait(second.1), wait(first.1)])
        });
        let families: [(Family, Vec<[PlaceOrder; 2]>); 5] = [
            (Family::Cycle, self.cycles()),
            (Family::Late, late.iter().map(|it| one(wait(it.1))).collect()),
            (Family::Torn, torn.iter().map(|it| it.0).collect()),
            (Family::Order, orders.iter().map(|it| one(it.0)).collect()),
            (Family::Twice, twice.collect()),
        ];
        let all = families.into_iter().flat_map(|(family, orders)| {
            orders.into_iter().take(FAMILY_MAX).map(move |orders| Hypothesis { family, orders })
        });
        all.collect()
    }

    /// Which places come after another conflict of their thread.
    fn find_seconds(&mut self) {
        for (key, worth) in &mut self.late {
            let met = self.met.get(key).into_iter().flatten();
            worth.is_second = met.into_iter().any(|(thread, n_own)| self.begins[thread] < *n_own);
        }
    }

    /// Cycles of locks: places that are left to last, then orders for cycles of two.
    fn cycles(&self) -> Vec<[PlaceOrder; 2]> {
        let visits = |key: u32| self.visits.get(&key).copied().unwrap_or_default();
        let mut nested: Vec<u32> = self.nested().into_iter().collect();
        nested.sort_by_key(|it| visits(*it));
        let mut pairs: Vec<[PlaceOrder; 2]> = self.pairs_of_locks().into_iter().collect();
        pairs.sort_by_key(|it| it.map(|it| (visits(it.second), visits(it.first))));
        let late = |key| [PlaceOrder { first: 0, second: key }, PlaceOrder::NONE];
        nested.into_iter().map(late).chain(pairs).collect()
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

/// The places of an object, with a few accesses of each: of several threads, if there are.
fn places(all: &[Access]) -> Vec<Vec<&Access>> {
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
    places.truncate(PLACES_MAX);
    places
}

/// Where each of two accesses can be held back: at a lock that both hold, or at the access itself. Is it a lock?
fn handles(one: &Access, other: &Access) -> (u32, u32, bool) {
    let common = one.locks.iter().find_map(|(lock, key)| {
        let same =
            |it: &&(HeldLock, u32)| it.0.lock == lock.lock && !(it.0.is_shared && lock.is_shared);
        other.locks.iter().find(same).map(|it| (*key, it.1))
    });
    match common {
        Some((one, other)) if one != 0 && other != 0 => (one, other, true),
        _ => (one.key, other.key, false),
    }
}

/// Are two accesses in one section of a lock that the third needs?
fn is_one_section(before: &Access, between: &Access, after: &Access) -> bool {
    before.locks.iter().any(|(lock, _)| {
        after.locks.iter().any(|it| it.0 == *lock)
            && between.locks.iter().any(|it| it.0.lock == lock.lock)
    })
}

/// Two accesses of a thread with another's between: does no serial order explain them? (AVIO)
const fn is_torn(before: bool, between: bool, after: bool) -> bool {
    matches!((before, between, after), (_, true, false) | (false, true, true) | (true, false, true))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use expect_test::{Expect, expect};
    use raddle_model::{Family, PlaceOrder, Side, SiteId};

    use super::hypotheses;
    use crate::toy;

    /// Of some families, with lines instead of places: `1<3` is line 1 before line 3, `*<3` line 3 as late as can be.
    fn check(text: &str, families: &[Family], expected: Expect) {
        let mut trace = toy::trace(text);
        for (idx, site) in trace.sites.iter_mut().enumerate() {
            site.offset = idx as u64;
        }
        let lines: BTreeMap<u32, usize> = trace
            .events
            .iter()
            .enumerate()
            .map(|(idx, it)| (Side::key(it.kind, trace.site_hash(SiteId(idx as u32 + 1))), idx))
            .collect();
        let name = |key: u32| lines.get(&key).map_or_else(|| "*".to_owned(), usize::to_string);
        let mut told = String::new();
        for it in hypotheses(&trace).iter().filter(|it| families.contains(&it.family)) {
            told.push_str(it.family.name());
            for order in it.orders.iter().filter(|it| **it != PlaceOrder::NONE) {
                told.push_str(&format!(" {}<{}", name(order.first), name(order.second)));
            }
            told.push('\n');
        }
        expected.assert_eq(&told);
    }

    /// One thread writes two variables, another reads both: the second write and the second read come first, for what is
    /// before them in their threads matters to others as well.
    #[test]
    fn second_halves_first() {
        check(
            "0 spawn 1
             0 spawn 2
             1 write x
             1 write y
             2 read x
             2 read y",
            &[Family::Late, Family::Order, Family::Twice],
            expect![[r#"
                late *<3
                late *<5
                late *<2
                late *<4
                order 4<2
                order 5<3
                order 2<4
                order 3<5
                twice *<3 *<5
                twice *<3 *<2
                twice *<5 *<2
                twice *<3 *<4
                twice *<5 *<4
                twice *<2 *<4
            "#]],
        );
    }

    /// A read and a write of one thread, and another's write.
    #[test]
    fn an_update_that_is_torn() {
        check(
            "0 spawn 1
             0 spawn 2
             1 read x
             1 write x
             2 write x",
            &[Family::Torn],
            expect![[r#"
                torn 2<4 4<3
            "#]],
        );
    }

    /// In sections of a lock, sections come in other orders: threads are held back where they take it.
    #[test]
    fn sections_of_a_lock() {
        check(
            "0 spawn 1
             0 spawn 2
             1 lock m
             1 read x
             1 unlock m
             1 lock m
             1 write x
             1 unlock m
             2 lock m
             2 write x
             2 unlock m",
            &[Family::Late, Family::Torn],
            expect![[r#"
                late *<5
                late *<2
                late *<8
                torn 2<8 8<5
            "#]],
        );
    }

    /// In one section, nothing comes between.
    #[test]
    fn one_section_is_not_torn() {
        check(
            "0 spawn 1
             0 spawn 2
             1 lock m
             1 read x
             1 write x
             1 unlock m
             2 lock m
             2 write x
             2 unlock m",
            &[Family::Torn],
            expect![[""]],
        );
    }

    /// What a thread did before it created the other, and after it has joined it, is ordered.
    #[test]
    fn creation_and_join_order() {
        check(
            "0 write x
             0 spawn 1
             1 write x
             0 join 1
             0 read x",
            &[Family::Late, Family::Order, Family::Torn],
            expect![[r#"
                late *<4
                torn 0<2 2<4
            "#]],
        );
    }

    /// A cycle of three: whoever holds one waits before the next. No two threads hold what the other wants.
    #[test]
    fn locks_in_a_ring() {
        check(
            "0 spawn 1
             0 spawn 2
             0 spawn 3
             1 lock a
             1 lock b
             1 unlock b
             1 unlock a
             2 lock b
             2 lock c
             2 unlock c
             2 unlock b
             3 lock c
             3 lock a
             3 unlock a
             3 unlock c",
            &[Family::Cycle],
            expect![[r#"
                cycle *<4
                cycle *<8
                cycle *<12
            "#]],
        );
    }

    /// Of two, there is an order for each, too.
    #[test]
    fn two_locks_in_both_orders() {
        let text = "0 spawn 1
             0 spawn 2
             1 lock a
             1 lock b
             1 unlock b
             1 unlock a
             2 lock b
             2 lock a
             2 unlock a
             2 unlock b";
        check(
            text,
            &[Family::Cycle],
            expect![[r#"
                cycle *<3
                cycle *<7
                cycle 2<7 6<3
            "#]],
        );
    }
}
