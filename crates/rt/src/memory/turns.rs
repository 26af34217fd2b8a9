//! Memory that threads use in turn, in a *busy* execution: one with so many accesses to variables that nobody has raced
//! for that no more of those are steps (`state/accesses`).
//!
//! From then on memory is no variable as long as conflicting accesses to it are ordered: it passes from one owner to the
//! next, or is read by several, and an access costs a look at its cell again. Variables that nobody has raced for retire.
//! Two accesses that are not ordered make a variable of it, with the number that it had. So the same races are seen, by
//! FastTrack's rule; only the accesses that were no steps any more are no longer anybody's business.
//!
//! Where races are not looked for and plain accesses are no points either (`--detect none --points sync`), order is nobody's
//! business: memory is whose who came last.

use raddle_analysis::hb::{Accessed, Segment};
use raddle_model::{ObjectId, OpKind, Points, SiteId};
use raddle_trace::ObjectClass;

use crate::{
    control::Control,
    state::{
        accesses,
        detect::{Detect, Touch},
        shadow::{Cell, NO_HISTORY, NO_SHARED_HISTORY, Shadow, State},
    },
};

impl Control {
    /// Is the execution busy, and does nobody want to see every access?
    #[inline]
    pub(super) fn is_busy(&self) -> bool {
        accesses::is_busy()
            && (self.memory.detect.is_on || self.is_order_unasked())
            && !self.scheduler.points.want_every_access()
    }

    /// May whoever comes take over memory that another thread owns?
    #[inline]
    pub(crate) fn is_anybodys(&self) -> bool {
        accesses::is_busy() && self.is_order_unasked()
    }

    /// Does nobody ask whether accesses to memory are ordered: neither for races, nor to learn what is a point?
    #[inline]
    pub(crate) fn is_order_unasked(&self) -> bool {
        !self.memory.detect.is_on && self.scheduler.points == Points::Sync
    }

    /// Do all accesses to memory that is owned or read by several, as far as they would conflict with one of the thread
    /// that runs, happen before what it does now?
    pub(super) fn is_ordered(&self, cell: *mut Cell, is_write: bool) -> bool {
        if self.is_order_unasked() {
            return true;
        }
        // SAFETY: the caller has a cell, which has a partner.
        let (writes, reads) = unsafe { (*cell, *Shadow::reads(cell)) };
        let causality = &self.memory.detect.causality;
        match writes.state() {
            State::ReadShared(NO_SHARED_HISTORY) => false,
            State::ReadShared(history) => {
                self.memory.detect.shared.is_ordered(history, self.me, is_write, causality)
            }
            _ => {
                let is_before =
                    |it: Cell| it.mask() == 0 || causality.is_before(it.segment(), self.me);
                is_before(writes) && (!is_write || !reads.is_owned() || is_before(reads))
            }
        }
    }

    /// The thread that runs accesses such memory, and all is ordered.
    pub(super) fn pass_on(&mut self, cell: *mut Cell, at: usize, touch: &Touch) {
        if touch.kind == OpKind::Read && !self.is_order_unasked() {
            return self.read_shared(cell, at, touch);
        }
        self.end_history(cell);
        // SAFETY: the caller has a cell, which has a partner.
        unsafe { (*cell, *Shadow::reads(cell)) = (Cell::UNTOUCHED, Cell::UNTOUCHED) };
        self.access_own(cell, at, touch);
    }

    /// Is a read of some bytes one of memory that several read, like others before it? Then it is settled, outside of all
    /// hooks, where nothing may be allocated.
    #[inline]
    pub(crate) fn is_shared_read(&mut self, cell: *mut Cell, mask: u8) -> bool {
        // SAFETY: the caller has a cell.
        let State::ReadShared(history) = unsafe { *cell }.state() else { return false };
        let segment = self.memory.detect.open_segment(self.me);
        if history == NO_SHARED_HISTORY
            || segment == Segment::NONE
            || !accesses::has_looked_enough()
            || !self.memory.detect.is_on
        {
            return false;
        }
        let accessed = Accessed::new(OpKind::Read, mask, segment, SiteId(0));
        let Some(next) = self.memory.detect.shared.after_read(history, &accessed) else {
            return false;
        };
        // SAFETY: as above; a cell has a partner.
        unsafe {
            *cell = Cell::read_shared(next);
            let reads = Shadow::reads(cell);
            *reads = (*reads).and(Cell::owned(segment, mask, false));
        }
        true
    }

    /// A variable that nobody has raced for is memory like any other from this access on, if all is ordered.
    pub(super) fn retire(
        &mut self,
        object: ObjectId,
        cell: *mut Cell,
        at: usize,
        touch: &Touch,
    ) -> bool {
        // SAFETY: the caller has a cell, which has a partner.
        let history = unsafe { *Shadow::reads(cell) }.history();
        if self.is_order_unasked() && !self.recorder.emit.is_exposed(object) {
            self.memory.detect.forget_value(object);
            self.memory.detect.retired.insert(at, object);
            self.memory.shadow.log(cell);
            self.pass_on(cell, at, touch);
            return true;
        }
        if history == NO_HISTORY || self.recorder.emit.is_exposed(object) {
            return false;
        }
        let is_write = touch.kind != OpKind::Read;
        let Detect { histories, shared, causality, .. } = &mut self.memory.detect;
        if !histories.is_ordered(history, self.me, is_write, causality) {
            return false;
        }
        let Some(before) = shared.of(histories.accesses(history)) else { return false };
        histories.remove(history);
        self.memory.detect.forget_value(object);
        self.memory.detect.retired.insert(at, object);
        self.memory.shadow.log(cell);
        // SAFETY: as above. It is what several have read, until the access is made.
        unsafe { (*cell, *Shadow::reads(cell)) = (Cell::read_shared(before), Cell::UNTOUCHED) };
        self.pass_on(cell, at, touch);
        true
    }

    /// The variable that the four bytes at an address were, if they are still the same ones.
    pub(super) fn retired_variable(&mut self, at: usize) -> Option<ObjectId> {
        let object = *self.memory.detect.retired.get(&at)?;
        let now = self.describe(self.recorder.emit.address_of(object), ObjectClass::Variable);
        let then = self.recorder.emit.object_entries()[object.idx()];
        let is_same = (now.name, now.ordinal, now.region) == (then.name, then.ordinal, then.region);
        is_same.then_some(object)
    }
}
