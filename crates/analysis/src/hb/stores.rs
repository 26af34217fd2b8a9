//! Memory as C and C++20 have it: which store an atomic load may read, and where in a location's modification order a
//! store may go.
//!
//! A [`Place`] is one atomic location: its stores in modification order, each with its value, the segment that it was made
//! in, what whoever reads it learns (its release sequence included), and who has read it. An op asks for its [`Way`]s, the
//! newest first; one is chosen, like a thread is; and it is performed. No bytes and no addresses: a function of ops.
//!
//! - **Coherence.** What happens before an op, a store or a read of one, is its floor: it reads nothing older, and its own
//!   store goes after it. A store need not be the last in modification order because it is the last that was executed.
//! - **Read-modify-writes** read the store right before their own. So nothing may go between the two.
//! - **SC.** The one order of sequentially consistent ops and fences is that of execution. An op before which such an op, or
//!   a fence that happens before it, has been executed must not precede it in coherence order (C++20,
//!   \[atomics.order\]): that is a floor, too. [`Clock::fence`] says which fences are known, and what those knew is kept.
//! - **Release sequences** are C++20's: read-modify-writes only.
//!
//! What this leaves out of C++20: loads of stores that are executed later (load buffering, out of thin air), as RC11
//! does; orders of SC ops that contradict program order or reads-from of weaker ops; what is more than `KEPT` stores old.
//! All of it makes fewer executions, none that the standard forbids: `tests/weak` holds it to an enumeration of candidate
//! executions by the axioms.
//!
//! Under TSO and SC less can be read (`moments`); what is ordered and what is a race is still the language's matter.

mod moments;

use std::collections::VecDeque;

use raddle_model::{MemoryModel, MemoryOrder, ThreadId};

use self::moments::Moments;
use super::{Causality, Clock, Segment};

/// Stores of a location that can still be read. Of an older one it is as if everybody knew that it is overwritten.
pub(super) const KEPT: usize = 32;

/// Of how many sequentially consistent fences it is known what they knew; of an older one, what the oldest of these did.
const FENCES: usize = 32;

/// No sequentially consistent access to a store.
const NEVER: u32 = u32::MAX;

/// One atomic location.
#[derive(Debug, Default)]
pub struct Place {
    /// In modification order. Invariant: not empty.
    stores: VecDeque<Store>,
    /// Of stores that nobody can read any more, to be used again.
    spare: Vec<Store>,
}

#[derive(Debug, Default)]
struct Store {
    value: u64,
    /// Its number, for whoever tells of it.
    step: u64,
    segment: Segment,
    /// What whoever reads it learns.
    message: Clock,
    /// Of each thread that has read it, the segment in which it first did so.
    readers: Vec<Segment>,
    /// How many SC fences there had been at the first SC access to it.
    sc_at: u32,
    /// Has a read-modify-write read it?
    is_taken: bool,
    /// Under TSO: when it was made, and by whom.
    moment: u32,
    writer: Option<ThreadId>,
}

/// What the fences know that are sequentially consistent. Those are in one order, so that each knows what the earlier ones
/// did.
#[derive(Debug, Default)]
pub struct Stores {
    /// How many there have been.
    n_fences: u32,
    /// What the last ones know, the last one last.
    known: VecDeque<Clock>,
    /// Which rules hold.
    model: MemoryModel,
    /// Under TSO: how much of memory each thread sees.
    moments: Moments,
}

/// An atomic op on a location, as the rules see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// A load.
    Load,
    /// A store.
    Store,
    /// A read-modify-write that always writes.
    Rmw,
    /// A compare-exchange: a read-modify-write of a store with this value, a load of any other.
    Cas {
        /// The value.
        expected: u64,
        /// The order of the load.
        failure: MemoryOrder,
        /// May it fail although it finds the value?
        is_weak: bool,
    },
}

/// One of the ways to perform an op.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Way {
    /// Which store is read, or stands right before the new one; counted from the oldest that is kept.
    store: u32,
    /// How many stores there are after that one.
    pub age: u32,
    /// Does a compare-exchange only load?
    pub is_load: bool,
    /// Is it a compare-exchange?
    is_exchange: bool,
}

/// What an op has read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading {
    /// The value.
    pub value: u64,
    /// The number of the store.
    pub step: u64,
}

impl Place {
    /// A location that holds a value since before all that any thread does.
    pub fn new(value: u64) -> Place {
        let mut place = Place::default();
        place.reset(value);
        place
    }

    /// The location holds this value, and everybody knows.
    pub fn reset(&mut self, value: u64) {
        while let Some(store) = self.stores.pop_front() {
            self.spare.push(store);
        }
        self.spare.truncate(2);
        let base = self.fresh(value, 0, Segment::NONE);
        self.stores.push_back(base);
    }

    /// The value of the store that is last in modification order.
    pub fn newest(&self) -> Reading {
        self.reading(self.stores.len() - 1)
    }

    /// What the store that follows a way's store in modification order is.
    pub fn after(&self, way: Way) -> Option<Reading> {
        let next = way.store as usize + 1;
        (next < self.stores.len()).then(|| self.reading(next))
    }

    /// How many stores are kept.
    pub fn n_kept(&self) -> usize {
        self.stores.len()
    }

    fn reading(&self, idx: usize) -> Reading {
        Reading { value: self.stores[idx].value, step: self.stores[idx].step }
    }

    fn fresh(&mut self, value: u64, step: u64, segment: Segment) -> Store {
        let mut store = self.spare.pop().unwrap_or_default();
        store.message.clear();
        store.readers.clear();
        Store {
            value,
            step,
            segment,
            sc_at: NEVER,
            is_taken: false,
            moment: 0,
            writer: None,
            ..store
        }
    }
}

impl Stores {
    /// Nothing has happened.
    pub const fn new(model: MemoryModel) -> Stores {
        Stores { n_fences: 0, known: VecDeque::new(), model, moments: Moments::new() }
    }

    /// Begins another execution, under a model.
    pub fn restart(&mut self, model: MemoryModel) {
        self.n_fences = 0;
        self.known.clear();
        self.model = model;
        self.moments.clear();
    }

    /// The ways to perform an op, the newest store first. There is at least one.
    pub fn ways(
        &self,
        place: &Place,
        thread: ThreadId,
        access: Access,
        order: MemoryOrder,
        causality: &Causality,
        ways: &mut Vec<Way>,
    ) {
        ways.clear();
        if self.model != MemoryModel::C11 {
            return self.ways_in_order(place, thread, access, ways);
        }
        let last = place.stores.len() - 1;
        let is_sc = order == MemoryOrder::SeqCst;
        let failure = match access {
            Access::Cas { failure, .. } => failure == MemoryOrder::SeqCst,
            _ => is_sc,
        };
        let mut may_write = true;
        let mut may_load = true;
        for idx in (0..=last).rev() {
            let store = &place.stores[idx];
            let is_exchange = matches!(access, Access::Cas { .. });
            let (store_idx, age) = (idx as u32, (last - idx) as u32);
            let mut add = |is_load| ways.push(Way { store: store_idx, age, is_load, is_exchange });
            match access {
                Access::Load => add(true),
                Access::Store | Access::Rmw if !store.is_taken => add(false),
                Access::Cas { expected, is_weak, .. } if store.value == expected => {
                    if may_write && !store.is_taken {
                        add(false);
                    }
                    if may_load && is_weak {
                        add(true);
                    }
                }
                Access::Cas { .. } if may_load => add(true),
                _ => {}
            }
            let floor = |is_sc| self.is_floor(store, thread, is_sc, causality);
            may_write = may_write && !floor(is_sc);
            may_load = may_load && if failure == is_sc { may_write } else { !floor(failure) };
            let goes_on = match access {
                Access::Cas { .. } => may_write || may_load,
                _ => may_write,
            };
            if !goes_on {
                return;
            }
        }
    }

    /// Under SC and TSO stores stand in the order in which they were made, and what writes reads the last one; so does all
    /// that reads under SC.
    fn ways_in_order(&self, place: &Place, thread: ThreadId, access: Access, ways: &mut Vec<Way>) {
        let last = place.stores.len() - 1;
        let is_exchange = matches!(access, Access::Cas { .. });
        let is_load = match access {
            Access::Load => true,
            Access::Cas { expected, .. } => place.stores[last].value != expected,
            Access::Store | Access::Rmw => false,
        };
        for idx in (0..=last).rev() {
            ways.push(Way { store: idx as u32, age: (last - idx) as u32, is_load, is_exchange });
            let store = &place.stores[idx];
            let is_lagging = access == Access::Load && self.model == MemoryModel::Tso;
            if !is_lagging || self.moments.is_floor(store.moment, store.writer, thread) {
                return;
            }
        }
    }

    /// The thread does what no processor does before its stores are in memory: it takes a lock, or calls the system.
    #[inline]
    pub fn catch_up(&mut self, thread: ThreadId) {
        if self.model == MemoryModel::Tso {
            self.moments.catch_up(thread);
        }
    }

    /// Must nothing that the thread does now come before a store in coherence order?
    fn is_floor(
        &self,
        store: &Store,
        thread: ThreadId,
        is_sc: bool,
        causality: &Causality,
    ) -> bool {
        let is_known = |knows: &dyn Fn(Segment) -> bool| {
            knows(store.segment) || store.readers.iter().any(|it| knows(*it))
        };
        if is_known(&|it| causality.is_before(it, thread)) {
            return true;
        }
        if is_sc && store.sc_at != NEVER {
            return true;
        }
        // An SC op itself comes after all fences so far; another only after those that happen before it.
        let fence = if is_sc { self.n_fences } else { causality.clock(thread).fence() };
        if fence == 0 {
            return false;
        }
        if !is_sc && store.sc_at < fence {
            return true;
        }
        let n_later = (self.n_fences - fence) as usize;
        let known = &self.known[(self.known.len() - 1).saturating_sub(n_later)];
        is_known(&|it| it <= known.get(causality.owner(it)))
    }

    /// Performs a load, or a compare-exchange that only loads: what it reads.
    pub fn load(
        &mut self,
        place: &mut Place,
        thread: ThreadId,
        order: MemoryOrder,
        way: Way,
        causality: &mut Causality,
    ) -> Reading {
        self.receive(place, thread, order, way, causality);
        // Acquiring ends no segment, and what was read before is still known by this one's number.
        let segment = causality.segment(thread);
        let store = &mut place.stores[way.store as usize];
        let is_known = store.readers.iter().any(|it| causality.owner(*it) == thread);
        if !is_known && store.segment != segment {
            store.readers.push(segment);
        }
        if self.model == MemoryModel::Tso {
            self.moments.see(store.moment, store.writer, thread);
            if way.is_exchange {
                self.moments.catch_up(thread);
            }
        }
        Reading { value: store.value, step: store.step }
    }

    /// What a load or read-modify-write learns by what it reads. Of the latter the access itself comes after this, and
    /// before [`Stores::update`].
    pub fn receive(
        &mut self,
        place: &mut Place,
        thread: ThreadId,
        order: MemoryOrder,
        way: Way,
        causality: &mut Causality,
    ) {
        let store = &mut place.stores[way.store as usize];
        causality.receive(thread, &store.message, order.is_acquire());
        if order == MemoryOrder::SeqCst {
            store.sc_at = store.sc_at.min(self.n_fences);
        }
    }

    /// Performs a store. The access itself comes before this, which may end a segment.
    pub fn store(
        &mut self,
        place: &mut Place,
        thread: ThreadId,
        order: MemoryOrder,
        way: Way,
        new: Reading,
        causality: &mut Causality,
    ) {
        let store = place.fresh(new.value, new.step, Segment::NONE);
        self.insert(place, thread, order, way, store, causality);
        if order == MemoryOrder::SeqCst {
            self.catch_up(thread);
        }
    }

    /// What is read by a way of performing an op.
    pub fn peek(&self, place: &Place, way: Way) -> Reading {
        place.reading(way.store as usize)
    }

    /// Performs a read-modify-write that has received what it read.
    pub fn update(
        &mut self,
        place: &mut Place,
        thread: ThreadId,
        order: MemoryOrder,
        way: Way,
        new: Reading,
        causality: &mut Causality,
    ) {
        let mut store = place.fresh(new.value, new.step, Segment::NONE);
        let before = &mut place.stores[way.store as usize];
        before.is_taken = true;
        store.message.join(&before.message);
        self.insert(place, thread, order, way, store, causality);
        self.catch_up(thread);
    }

    fn insert(
        &mut self,
        place: &mut Place,
        thread: ThreadId,
        order: MemoryOrder,
        way: Way,
        mut store: Store,
        causality: &mut Causality,
    ) {
        store.segment = causality.segment(thread);
        store.moment = self.moments.next();
        store.writer = Some(thread);
        if order == MemoryOrder::SeqCst {
            store.sc_at = self.n_fences;
        }
        causality.send(thread, &mut store.message, order.is_release());
        place.stores.insert(way.store as usize + 1, store);
        if place.stores.len() > KEPT {
            let oldest = place.stores.pop_front();
            place.spare.extend(oldest);
        }
    }

    /// A thread comes to a fence.
    pub fn fence(&mut self, thread: ThreadId, order: MemoryOrder, causality: &mut Causality) {
        if order != MemoryOrder::SeqCst {
            return causality.fence(thread, order);
        }
        self.catch_up(thread);
        causality.fence(thread, MemoryOrder::Acquire);
        self.n_fences += 1;
        causality.know_fence(thread, self.n_fences);
        let mut known = match self.known.len() {
            FENCES.. => self.known.pop_front().unwrap_or_default(),
            _ => Clock::new(),
        };
        known.copy(causality.clock(thread));
        if let Some(last) = self.known.back() {
            known.join(last);
        }
        self.known.push_back(known);
        causality.fence(thread, MemoryOrder::Release);
    }
}
