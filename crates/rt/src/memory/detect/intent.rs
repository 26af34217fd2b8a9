//! What the program asks not to be told (`hooks/tsan/annotations`).

use raddle_analysis::hb::{Atomic, Bytes};
use raddle_model::{ObjectId, OpKind};
use raddle_trace::ObjectClass;

use super::Detect;
use crate::control::Control;

/// Stretches of memory that are called benign, at most.
const BENIGN_MAX: usize = 1024;

impl Control {
    /// The accesses of these kinds by the thread that runs are ignored, or are not any more. Annotations nest.
    pub(crate) fn ignore(&mut self, kinds: &[OpKind], is_begin: bool) {
        for kind in kinds {
            let depth = &mut self.this().ignored[usize::from(*kind != OpKind::Read)];
            let before = *depth;
            *depth = if is_begin { before.saturating_add(1) } else { before.saturating_sub(1) };
            let is_ignored = *depth > 0;
            let all = &mut self.memory.detect.intent.n_ignoring;
            match (before > 0, is_ignored) {
                (false, true) => *all += 1,
                (true, false) => *all -= 1,
                _ => {}
            }
        }
        self.set_mine();
    }

    /// Is an access of the thread that runs ignored?
    #[inline]
    pub(crate) fn is_ignored(&mut self, kind: OpKind) -> bool {
        let is_any = self.memory.detect.intent.n_ignoring > 0;
        is_any && self.this().ignored[usize::from(kind != OpKind::Read)] > 0
    }

    /// Does the thread that runs ignore anything?
    #[inline]
    pub(crate) fn is_ignoring(&mut self) -> bool {
        self.is_ignored(OpKind::Read) || self.is_ignored(OpKind::Write)
    }

    /// What stands for the order that the program says there is at an address.
    pub(crate) fn order_at(&mut self, address: usize) -> ObjectId {
        if let Some(object) = self.memory.detect.intent.orders.get(&address) {
            return *object;
        }
        let object = self.add_object_at(address, ObjectClass::Variable);
        self.memory.detect.intent.orders.insert(address, object);
        object
    }

    /// The program says that the thread that runs comes after whoever released something at an address, be it by an
    /// atomic op.
    pub(crate) fn acquire_at(&mut self, address: usize, object: ObjectId, is_exclusive: bool) {
        if self.memory.detect.is_on {
            self.acquire_atomics(address);
            match is_exclusive {
                true => self.memory.detect.causality.acquire_exclusively(self.me, object),
                false => self.memory.detect.causality.acquire(self.me, object),
            }
        }
    }

    /// The program says that whoever acquires something at an address comes after the thread that runs; one that
    /// reads only if it does not share it.
    pub(crate) fn release_at(&mut self, object: ObjectId, is_shared: bool) {
        if self.memory.detect.is_on {
            match is_shared {
                true => self.memory.detect.causality.release_shared(self.me, object),
                false => self.memory.detect.causality.release(self.me, object),
            }
            self.set_mine();
        }
    }

    /// An atomic op is about to be made: it comes after what the program says was released there.
    #[inline]
    pub(super) fn acquire_annotated(&mut self, bytes: Bytes, atomic: Atomic) {
        if self.memory.detect.intent.orders.is_empty() || !atomic.is_acquire() {
            return;
        }
        let (start, end) = (bytes.start as usize, (bytes.start + bytes.size) as usize);
        let Detect { intent, causality, .. } = &mut self.memory.detect;
        for object in intent.orders.range(start..end).map(|it| *it.1) {
            causality.acquire(self.me, object);
        }
    }

    /// Makes a fiber; its number.
    pub(crate) fn add_fiber(&mut self) -> usize {
        self.memory.detect.intent.n_fibers += 1;
        self.memory.detect.intent.n_fibers
    }

    /// The fiber that the thread that runs is on.
    pub(crate) fn fiber(&mut self) -> usize {
        if let Some(fiber) = self.memory.detect.intent.fibers.get(&self.me) {
            return *fiber;
        }
        let fiber = self.add_fiber();
        self.memory.detect.intent.fibers.insert(self.me, fiber);
        fiber
    }

    /// The thread that runs goes on on another fiber, which goes on wherever it was.
    pub(crate) fn switch_fiber(&mut self, fiber: usize) {
        let before = self.fiber();
        self.memory.detect.intent.fibers.insert(self.me, fiber);
        let (from, to) = (self.order_at(before), self.order_at(fiber));
        self.release_at(from, false);
        self.acquire(to);
    }

    /// Races in this memory are not told.
    pub(crate) fn call_benign(&mut self, address: usize, size: usize) {
        let all = &mut self.memory.detect.intent.benign;
        let range = (address, address.saturating_add(size));
        if all.len() < BENIGN_MAX && !all.contains(&range) {
            all.push(range);
        }
    }

    /// Is the race of an access to this memory called benign?
    pub(super) fn is_benign(&self, address: usize, size: usize) -> bool {
        let meets = |it: &(usize, usize)| it.0 < address + size && address < it.1;
        self.memory.detect.intent.benign.iter().any(meets)
    }

    /// Memory is fresh, whatever it was used for.
    pub(crate) fn renew(&mut self, address: usize, size: usize) {
        let mut cells = Vec::new();
        self.memory.shadow.for_range(address, size, |cell, _| cells.push(cell));
        cells.into_iter().for_each(|cell| self.end_history(cell));
        self.memory.shadow.fill(address, size, false);
    }
}
