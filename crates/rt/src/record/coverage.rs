//! What an execution has covered, beyond its class: ordered pairs of sites, and of locks.
//!
//! A *site pair* a → b: a step at a, and then, by another thread and on the same object, a step at b that
//! conflicts with it, nothing of the second thread's own on that object in between. (HaPSet, seed paper 2;
//! of a lock, its takers count and its release does not, so that the reverse of a pair is a pair too.)
//! A *lock pair* a → b: a thread took b while it held a.
//!
//! A campaign rewards strategies for pairs that nobody has seen. So pairs are made of hashes that are the
//! same in every execution, and each is told once in an execution: sets of a few hundred, kept in memory
//! of our own, for every page that a copy of the program touches first costs more than fifty steps.

use raddle_machine::Performed;
use raddle_model::{ObjectId, Op, OpKind, OpResult, ThreadId};
use raddle_trace::{Header, PAIRS_MAX, Pair, Segment};

/// Locks of which a thread's order is followed.
const HELD_MAX: usize = 7;

/// The pairs of one execution.
#[derive(Debug)]
pub(crate) struct Coverage {
    /// Open addressing; the empty pair is free.
    seen: Vec<Pair>,
    n_seen: u32,
    /// By thread.
    held: Vec<Held>,
    told: *mut Pair,
    header: *mut Header,
}

/// Who took the last steps on an object, and where.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Touches {
    write: Touch,
    any: Touch,
}

#[derive(Clone, Copy, Debug)]
struct Touch {
    thread: ThreadId,
    /// The number of the site.
    pub(crate) site: u32,
}

/// The locks that a thread holds, in the order in which it took them.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Held {
    n: u32,
    locks: [ObjectId; HELD_MAX],
}

impl Touches {
    const NOBODY: ThreadId = ThreadId(u32::MAX);

    pub(crate) const NONE: Touches = {
        let nobody = Touch { thread: Touches::NOBODY, site: 0 };
        Touches { write: nobody, any: nobody }
    };

    /// Notes a step; gives back the site of the step of another thread that it conflicts with.
    #[inline(always)]
    pub(crate) fn touch(&mut self, thread: ThreadId, site: u32, is_write: bool) -> Option<u32> {
        let now = Touch { thread, site };
        let before = if is_write {
            let before = self.any;
            *self = Touches { write: now, any: now };
            before
        } else {
            self.any = now;
            self.write
        };
        let is_other = before.thread != thread && before.thread != Touches::NOBODY;
        is_other.then_some(before.site)
    }
}

/// How a step counts: bits of its kind's entry in a table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Covers(u8);

impl Covers {
    /// It makes pairs with other steps on its object.
    pub(crate) const PAIRS: Covers = Covers(1);
    /// It changes its object.
    pub(crate) const CHANGE: Covers = Covers(2);
    /// It takes or gives back a lock.
    pub(crate) const HOLDS: Covers = Covers(4);
    const GIVES: Covers = Covers(8);

    #[inline(always)]
    pub(crate) fn of(kind: OpKind) -> Covers {
        const TABLE: [u8; OpKind::ALL.len()] = table();
        Covers(TABLE[kind as usize])
    }

    #[inline(always)]
    pub(crate) const fn has(self, other: Covers) -> bool {
        self.0 & other.0 != 0
    }
}

const fn table() -> [u8; OpKind::ALL.len()] {
    let mut table = [0; OpKind::ALL.len()];
    let mut idx = 0;
    while idx < table.len() {
        let look = Covers::PAIRS.0;
        let change = look | Covers::CHANGE.0;
        table[idx] = match OpKind::ALL[idx] {
            OpKind::Read | OpKind::AtomicLoad => look,
            OpKind::Write
            | OpKind::ReadWrite
            | OpKind::AtomicStore
            | OpKind::AtomicRmw
            | OpKind::AtomicCas
            | OpKind::Signal
            | OpKind::Broadcast
            | OpKind::SemWait
            | OpKind::SemTryWait
            | OpKind::SemPost => change,
            OpKind::ReadLock | OpKind::TryReadLock => look | Covers::HOLDS.0,
            OpKind::Lock | OpKind::TryLock | OpKind::WriteLock | OpKind::TryWriteLock => {
                change | Covers::HOLDS.0
            }
            OpKind::CondWake => Covers::HOLDS.0,
            OpKind::CondWait => change | Covers::HOLDS.0 | Covers::GIVES.0,
            OpKind::Unlock | OpKind::RwUnlock => Covers::HOLDS.0 | Covers::GIVES.0,
            _ => 0,
        };
        idx += 1;
    }
    table
}

/// The lock that an op takes or gives back.
#[inline(always)]
pub(crate) const fn locked(op: &Op) -> ObjectId {
    if matches!(op.kind, OpKind::CondWait | OpKind::CondWake) { op.other } else { op.object }
}

impl Coverage {
    pub(crate) fn new(segment: &Segment) -> Coverage {
        Coverage {
            seen: vec![Pair::NONE; 128],
            n_seen: 0,
            held: Vec::with_capacity(16),
            told: segment.pairs(),
            header: segment.header(),
        }
    }

    /// Begins another execution, with so many threads, which hold nothing.
    pub(crate) fn restart(&mut self, n_threads: usize) {
        if self.n_seen > 0 {
            self.seen.fill(Pair::NONE);
            self.n_seen = 0;
        }
        self.held.clear();
        self.held.resize(n_threads, Held::default());
    }

    pub(crate) fn add_thread(&mut self) {
        self.held.push(Held::default());
    }

    /// Notes a pair.
    #[inline]
    pub(crate) fn add(&mut self, pair: Pair) {
        let slot = self.slot_of(pair);
        if self.seen[slot] != pair {
            self.add_new(pair, slot);
        }
    }

    /// Where a pair is, or belongs.
    #[inline]
    fn slot_of(&self, pair: Pair) -> usize {
        let mask = self.seen.len() - 1;
        let mut slot = (pair.0.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as usize & mask;
        while self.seen[slot] != pair && self.seen[slot] != Pair::NONE {
            slot = (slot + 1) & mask;
        }
        slot
    }

    #[cold]
    fn add_new(&mut self, pair: Pair, slot: usize) {
        if self.n_seen == PAIRS_MAX {
            return;
        }
        self.seen[slot] = pair;
        self.n_seen += 1;
        // SAFETY: the area has room for `PAIRS_MAX` pairs of each execution of a block; the header is
        // mapped for as long as the process lives.
        unsafe {
            let n_told = (*self.header).result.n_pairs;
            *self.told.add(n_told as usize) = pair;
            (*self.header).result.n_pairs = n_told + 1;
        }
        if self.n_seen as usize * 2 > self.seen.len() {
            let old = std::mem::take(&mut self.seen);
            self.seen = vec![Pair::NONE; old.len() * 4];
            for pair in old.into_iter().filter(|it| *it != Pair::NONE) {
                let slot = self.slot_of(pair);
                self.seen[slot] = pair;
            }
        }
    }

    /// Tells all pairs again, as those of the block's first execution, which goes on from here.
    pub(crate) fn tell_again(&self) {
        let mut n_told = 0;
        for pair in self.seen.iter().filter(|it| **it != Pair::NONE) {
            // SAFETY: as in `add_new`.
            unsafe { *self.told.add(n_told) = *pair };
            n_told += 1;
        }
        // SAFETY: the header is mapped for as long as the process lives.
        unsafe {
            ((*self.header).result.n_pairs, (*self.header).live.n_pairs_before) = (n_told as u32, 0)
        };
    }

    /// Follows who holds which locks. Does the thread hold others beside the one that it takes?
    #[inline(always)]
    pub(crate) fn follow(
        &mut self,
        thread: ThreadId,
        op: &Op,
        performed: &Performed,
        covers: Covers,
    ) -> bool {
        let held = &mut self.held[thread.idx()];
        if covers.has(Covers::GIVES) {
            held.give(locked(op));
            return false;
        }
        if !matches!(performed.result, OpResult::Done | OpResult::OwnerDied) {
            return false;
        }
        held.take(locked(op));
        held.n > 1
    }

    /// What a thread holds.
    pub(crate) fn held(&self, thread: ThreadId) -> &Held {
        &self.held[thread.idx()]
    }
}

impl Held {
    pub(crate) const fn is_empty(&self) -> bool {
        self.n == 0
    }

    /// All that is held.
    pub(crate) fn all(&self) -> &[ObjectId] {
        &self.locks[..self.n as usize]
    }

    /// Those that were held when the last one was taken.
    pub(crate) fn before_last(&self) -> &[ObjectId] {
        &self.locks[..self.n as usize - 1]
    }

    /// What does not fit takes the place of the last.
    #[inline(always)]
    fn take(&mut self, lock: ObjectId) {
        let idx = (self.n as usize).min(HELD_MAX - 1);
        self.locks[idx] = lock;
        self.n = idx as u32 + 1;
    }

    /// One that was not followed is not found.
    #[inline(always)]
    fn give(&mut self, lock: ObjectId) {
        if self.n == 1 && self.locks[0] == lock {
            self.n = 0;
        } else {
            self.give_one_of_many(lock);
        }
    }

    #[inline(never)]
    fn give_one_of_many(&mut self, lock: ObjectId) {
        let n = self.n as usize;
        let Some(idx) = self.locks[..n].iter().rposition(|it| *it == lock) else { return };
        self.locks.copy_within(idx + 1..n, idx);
        self.n -= 1;
    }
}
