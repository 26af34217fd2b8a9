//! FastTrack against the definition, on generated traces.

use std::collections::{BTreeMap, BTreeSet};

use proptest::{collection::vec, prelude::*, sample::select};
use raddle_model::{
    Event, MemoryOrder, ObjectId, Op, OpKind, OpResult, SiteId, ThreadId, dependent,
};

use super::super::Detector;
use crate::{hb::Atomic, toy::of_events};

const N_THREADS: u32 = 4;
const MUTEXES: [u32; 2] = [1, 2];
const SEM: u32 = 3;
const ATOMICS: [u32; 2] = [4, 5];
const VARIABLES: [u32; 2] = [6, 7];
const THREADS: u32 = 8;
const N_OBJECTS: usize = (THREADS + N_THREADS) as usize;

/// What a thread tries to do.
#[derive(Clone, Copy, Debug)]
struct Try {
    thread: u32,
    kind: OpKind,
    object: u32,
    order: MemoryOrder,
    offset: u64,
    size: usize,
    is_failed: bool,
}

fn tries() -> impl Strategy<Value = Vec<Try>> {
    let orders = select(vec![
        MemoryOrder::Relaxed,
        MemoryOrder::Acquire,
        MemoryOrder::Release,
        MemoryOrder::AcqRel,
    ]);
    let kinds = select(vec![
        OpKind::Spawn,
        OpKind::Join,
        OpKind::Finish,
        OpKind::Lock,
        OpKind::Lock,
        OpKind::Unlock,
        OpKind::Unlock,
        OpKind::SemPost,
        OpKind::SemWait,
        OpKind::Fence,
        OpKind::AtomicLoad,
        OpKind::AtomicStore,
        OpKind::AtomicRmw,
        OpKind::AtomicCas,
        OpKind::Read,
        OpKind::Read,
        OpKind::Read,
        OpKind::Write,
        OpKind::Write,
        OpKind::ReadWrite,
    ]);
    let bytes = select(vec![(0, 4), (0, 1), (1, 1), (2, 2), (0, 8), (4, 4), (3, 2)]);
    let one = (0..N_THREADS, kinds, 0_u32..2, orders, bytes, any::<bool>()).prop_map(
        |(thread, kind, which, order, (offset, size), is_failed)| {
            let object = match kind {
                OpKind::Lock | OpKind::Unlock => MUTEXES[which as usize],
                OpKind::SemPost | OpKind::SemWait => SEM,
                // Now and then an atomic access to a plain variable, or the reverse.
                OpKind::AtomicLoad
                | OpKind::AtomicStore
                | OpKind::AtomicRmw
                | OpKind::AtomicCas => ATOMICS[which as usize],
                OpKind::Read | OpKind::Write | OpKind::ReadWrite if offset == 3 => ATOMICS[0],
                OpKind::Read | OpKind::Write | OpKind::ReadWrite => VARIABLES[which as usize],
                _ => 0,
            };
            Try { thread, kind, object, order, offset, size, is_failed }
        },
    );
    vec(one, 0..60)
}

/// The possible ones of what threads try, as events.
fn events(tries: &[Try]) -> Vec<Event> {
    let mut is_live = [true, false, false, false];
    let mut was_spawned = [true, false, false, false];
    let mut owners = BTreeMap::new();
    let mut count = 0;
    let mut events: Vec<Event> = Vec::new();
    for it in tries {
        if !is_live[it.thread as usize] {
            continue;
        }
        let mut object = it.object;
        let (mut value, mut result) = (0, OpResult::Done);
        match it.kind {
            OpKind::Spawn => {
                let Some(child) = was_spawned.iter().position(|it| !it) else { continue };
                (was_spawned[child], is_live[child]) = (true, true);
                (object, value) = (THREADS + child as u32, child as u64);
            }
            OpKind::Join => {
                let ended = (1..N_THREADS as usize).find(|idx| was_spawned[*idx] && !is_live[*idx]);
                let Some(ended) = ended else { continue };
                object = THREADS + ended as u32;
            }
            // The last one alive stays: a thread alone is a case of its own.
            OpKind::Finish if it.thread == 0 || is_live.iter().filter(|it| **it).count() < 3 => {
                continue;
            }
            OpKind::Finish => is_live[it.thread as usize] = false,
            OpKind::Lock if owners.contains_key(&object) => continue,
            OpKind::Lock => _ = owners.insert(object, it.thread),
            OpKind::Unlock if owners.get(&object) != Some(&it.thread) => continue,
            OpKind::Unlock => _ = owners.remove(&object),
            OpKind::SemPost => count += 1,
            OpKind::SemWait if count == 0 => continue,
            OpKind::SemWait => count -= 1,
            OpKind::AtomicCas if it.is_failed => result = OpResult::Busy,
            _ => {}
        }
        let site = SiteId(events.len() as u32 + 1);
        let mut op = Op::on(it.kind, ObjectId(object), site).order(it.order);
        if it.kind.is_access() {
            op = op.bytes(it.offset, it.size);
        }
        events.push(Event::of(ThreadId(it.thread), &op, result, value, None));
    }
    events
}

/// Event numbers.
type Past = BTreeSet<usize>;
/// By object and byte, the number of an event.
type ByByte = BTreeMap<(ObjectId, u32), usize>;

/// The definition: all pairs of accesses, and for each thread all that happened before.
#[derive(Default)]
struct Naive {
    known: Vec<Past>,
    fenced: Vec<Past>,
    to_fence: Vec<Past>,
    /// By object and its bytes, for atomics are told apart by them.
    released: BTreeMap<(ObjectId, BTreeSet<u32>), Past>,
    heads: BTreeMap<(ObjectId, BTreeSet<u32>), BTreeSet<ThreadId>>,
    /// Pairs that race.
    pairs: BTreeSet<(usize, usize)>,
}

impl Naive {
    fn of(events: &[Event]) -> Naive {
        let none = || vec![Past::new(); N_THREADS as usize];
        let mut it = Naive { known: none(), fenced: none(), to_fence: none(), ..Naive::default() };
        for (idx, event) in events.iter().enumerate() {
            it.step(events, idx, event);
        }
        it
    }

    fn step(&mut self, events: &[Event], idx: usize, event: &Event) {
        let me = event.thread.idx();
        self.known[me].insert(idx);
        let key = (event.object, bytes(event));
        let meets = |it: &&(ObjectId, BTreeSet<u32>)| {
            it.0 == key.0 && (it.1 == key.1 || !it.1.is_disjoint(&key.1))
        };
        let released: Past =
            self.released.iter().filter(|it| meets(&it.0)).flat_map(|it| it.1.clone()).collect();
        match event.kind {
            OpKind::Spawn => self.known[event.value as usize] = self.known[me].clone(),
            OpKind::Join => {
                let ended = (event.object.0 - THREADS) as usize;
                let past = self.known[ended].clone();
                self.known[me].extend(past);
            }
            OpKind::Lock | OpKind::SemWait => self.known[me].extend(released),
            OpKind::Unlock | OpKind::SemPost => {
                let past = self.known[me].clone();
                self.released.entry(key).or_default().extend(past);
            }
            OpKind::Fence => {
                if event.order().is_acquire() {
                    let past = self.to_fence[me].clone();
                    self.known[me].extend(past);
                }
                if event.order().is_release() {
                    self.fenced[me] = self.known[me].clone();
                }
            }
            kind if kind.is_access() => self.access(events, idx, event, released),
            _ => {}
        }
    }

    fn access(&mut self, events: &[Event], idx: usize, event: &Event, released: Past) {
        let me = event.thread.idx();
        let atomic = Atomic::of(event);
        if atomic.is_some() && event.kind != OpKind::AtomicStore {
            let to = if event.order().is_acquire() {
                &mut self.known[me]
            } else {
                &mut self.to_fence[me]
            };
            to.extend(released);
        }
        for (earlier, other) in events[..idx].iter().enumerate() {
            if !self.known[me].contains(&earlier) && conflict(other, event) {
                self.pairs.insert((earlier, idx));
            }
        }
        let writes = event.kind != OpKind::AtomicLoad && event.result == OpResult::Done;
        if atomic.is_none() || !writes {
            return;
        }
        let is_release = event.order().is_release();
        let past = if is_release { self.known[me].clone() } else { self.fenced[me].clone() };
        let key = (event.object, bytes(event));
        let heads = self.heads.entry(key.clone()).or_default();
        let goes_on =
            event.kind != OpKind::AtomicStore || !is_release && heads.contains(&event.thread);
        let released = self.released.entry(key).or_default();
        if !goes_on {
            released.clear();
            heads.clear();
        }
        released.extend(past);
        heads.insert(event.thread);
    }

    /// For each byte, the first access that races with an earlier one.
    fn first_by_byte(&self, events: &[Event]) -> ByByte {
        let mut first = BTreeMap::new();
        for (earlier, later) in &self.pairs {
            for byte in bytes(&events[*earlier]).intersection(&bytes(&events[*later])) {
                let at = first.entry((events[*later].object, *byte)).or_insert(*later);
                *at = (*at).min(*later);
            }
        }
        first
    }
}

fn bytes(event: &Event) -> BTreeSet<u32> {
    (event.offset()..event.offset() + u32::from(event.size)).collect()
}

fn conflict(one: &Event, other: &Event) -> bool {
    let is_write = |it: &Event| {
        !matches!(it.kind, OpKind::Read | OpKind::AtomicLoad) && it.result == OpResult::Done
    };
    one.kind.is_access()
        && one.object == other.object
        && !bytes(one).is_disjoint(&bytes(other))
        && (is_write(one) || is_write(other))
        && !(Atomic::of(one).is_some() && Atomic::of(other).is_some())
}

/// For each byte, the first access that the detector finds to race; and the pairs that it names.
fn detected(events: &[Event]) -> (ByByte, Vec<(usize, usize)>) {
    let trace = of_events(events.to_vec(), N_OBJECTS);
    let mut detector = Detector::new(&trace);
    let (mut first, mut pairs) = (BTreeMap::new(), Vec::new());
    for (step, event) in events.iter().enumerate() {
        detector.step(event, step);
        for found in detector.found.drain(..) {
            for byte in 0..4 {
                if found.conflict.bytes & 1 << byte != 0 {
                    first.entry((found.object, 4 * found.word + byte)).or_insert(step);
                }
            }
            pairs.push((found.conflict.earlier.site.0 as usize - 1, step));
        }
        detector.seen.clear();
    }
    (first, pairs)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    /// For each byte, the first race is found, and found where it is.
    #[test]
    fn the_first_race_of_each_byte(tries in tries()) {
        let events = events(&tries);
        let expected = Naive::of(&events).first_by_byte(&events);
        prop_assert_eq!(detected(&events).0, expected);
    }

    /// Whatever is reported is a race, and where there is one there is a report.
    #[test]
    fn nothing_but_races(tries in tries()) {
        let events = events(&tries);
        let naive = Naive::of(&events);
        let (first, pairs) = detected(&events);
        for pair in &pairs {
            prop_assert!(naive.pairs.contains(pair), "{pair:?} is no race");
        }
        let earliest = naive.first_by_byte(&events).values().min().copied();
        prop_assert_eq!(first.values().min().copied(), earliest);
    }

    /// Neighbours that do not depend on each other may be exchanged: the same bytes race.
    #[test]
    fn exchanged_neighbours(tries in tries(), at in 0_usize..60) {
        let mut events = events(&tries);
        let before: Vec<_> = detected(&events).0.into_keys().collect();
        if at + 1 < events.len() && may_be_exchanged(&events[at], &events[at + 1]) {
            events.swap(at, at + 1);
        }
        let after: Vec<_> = detected(&events).0.into_keys().collect();
        prop_assert_eq!(before, after);
    }
}

/// Ops of different threads that do not depend on each other; creating a thread comes before all it does,
/// joining it after.
fn may_be_exchanged(one: &Event, other: &Event) -> bool {
    let op = |it: &Event| Op::on(it.kind, it.object, it.site);
    let is_tie = |it: &Event| matches!(it.kind, OpKind::Spawn | OpKind::Join | OpKind::Finish);
    one.thread != other.thread && !is_tie(one) && !is_tie(other) && !dependent(&op(one), &op(other))
}
