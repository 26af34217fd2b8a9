//! What the program asks not to be told (`hooks/tsan/annotations`).

use raddle_model::{ObjectId, OpKind};
use raddle_trace::ObjectClass;

use crate::control::Control;

/// Stretches of memory that are called benign, at most.
const BENIGN_MAX: usize = 1024;

/// What the program has asked for.
#[derive(Debug, Default)]
pub(super) struct Intent {
    /// Annotations that are in force, of all threads.
    n_ignoring: u32,
    /// Memory whose races are not told: start and end.
    benign: Vec<(usize, usize)>,
    /// By address: what stands for the order that the program says there is. Not the variable itself, whose atomic
    /// ops have an order of their own.
    orders: Vec<(usize, ObjectId)>,
}

impl Control {
    /// The accesses of these kinds by the thread that runs are ignored, or are not any more. Annotations nest.
    pub(crate) fn ignore(&mut self, kinds: &[OpKind], is_begin: bool) {
        for kind in kinds {
            let depth = &mut self.this().ignored[usize::from(*kind != OpKind::Read)];
            let before = *depth;
            *depth = if is_begin { before.saturating_add(1) } else { before.saturating_sub(1) };
            let is_ignored = *depth > 0;
            let all = &mut self.detect.intent.n_ignoring;
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
        let is_any = self.detect.intent.n_ignoring > 0;
        is_any && self.this().ignored[usize::from(kind != OpKind::Read)] > 0
    }

    /// Does the thread that runs ignore anything?
    #[inline]
    pub(crate) fn is_ignoring(&mut self) -> bool {
        self.is_ignored(OpKind::Read) || self.is_ignored(OpKind::Write)
    }

    /// What stands for the order that the program says there is at an address.
    pub(crate) fn order_at(&mut self, address: usize) -> ObjectId {
        let known = self.detect.intent.orders.iter().find(|it| it.0 == address);
        if let Some((_, object)) = known {
            return *object;
        }
        let object = self.add_object_at(address, ObjectClass::Variable);
        self.detect.intent.orders.push((address, object));
        object
    }

    /// Races in this memory are not told.
    pub(crate) fn call_benign(&mut self, address: usize, size: usize) {
        let all = &mut self.detect.intent.benign;
        let range = (address, address.saturating_add(size));
        if all.len() < BENIGN_MAX && !all.contains(&range) {
            all.push(range);
        }
    }

    /// Is the race of an access to this memory called benign?
    pub(super) fn is_benign(&self, address: usize, size: usize) -> bool {
        let meets = |it: &(usize, usize)| it.0 < address + size && address < it.1;
        self.detect.intent.benign.iter().any(meets)
    }

    /// Memory is fresh, whatever it was used for.
    pub(crate) fn renew(&mut self, address: usize, size: usize) {
        let mut cells = Vec::new();
        self.shadow.for_range(address, size, |cell, _| cells.push(cell));
        cells.into_iter().for_each(|cell| self.end_history(cell));
        self.shadow.fill(address, size, false);
    }
}
