//! Memory that threads use in turn, in a *busy* execution: one with so many accesses to variables that nobody has raced
//! for that no more of those are steps (`state/accesses`).
//!
//! From then on memory is no variable as long as conflicting accesses to it are ordered: it passes from one owner to the
//! next, or is read by several, and an access costs a look at its cell again. Variables that nobody has raced for retire.
//! Two accesses that are not ordered make a variable of it, with the number that it had. So the same races are seen, by
//! FastTrack's rule; only the accesses that were no steps any more are no longer anybody's business.

use raddle_analysis::hb::{Accessed, Segment};
use raddle_model::{ObjectId, OpKind, SiteId};
use raddle_trace::ObjectClass;

use crate::{
    control::Control,
    state::{
        accesses,
        detect::{Detect, Touch},
        shadow::{Cell, NO_HISTORY, Shadow, State},
    },
};

impl Control {
    /// Is the execution busy, and does nobody want to see every access?
    #[inline]
    pub(super) fn is_busy(&self) -> bool {
        accesses::is_busy()
            && self.memory.detect.is_on
            && !self.scheduler.points.want_every_access()
    }

    /// Do all accesses to memory that is owned or read by several, as far as they would conflict with one of the thread
    /// that runs, happen before what it does now?
    pub(super) fn is_ordered(&self, cell: *mut Cell, is_write: bool) -> bool {
        // SAFETY: the caller has a cell, which has a partner.
        let (writes, reads) = unsafe { (*cell, *Shadow::reads(cell)) };
        let causality = &self.memory.detect.causality;
        match writes.state() {
            State::ReadShared(NO_HISTORY) => false,
            State::ReadShared(history) => {
                self.memory.detect.histories.is_ordered(history, self.me, is_write, causality)
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
        if touch.kind == OpKind::Read {
            return self.read_shared(cell, at, touch);
        }
        self.end_history(cell);
        // SAFETY: the caller has a cell, which has a partner.
        unsafe { (*cell, *Shadow::reads(cell)) = (Cell::UNTOUCHED, Cell::UNTOUCHED) };
        self.access_own(cell, at, touch);
    }

    /// Is a read of some bytes, of memory that several read, one more of a thread that has read it before, and no more
    /// than that? Then it is settled.
    #[inline]
    pub(crate) fn is_read_again(&mut self, cell: *mut Cell, mask: u8) -> bool {
        // SAFETY: the caller has a cell.
        let State::ReadShared(history) = unsafe { *cell }.state() else { return false };
        if history == NO_HISTORY || !accesses::has_looked_enough() || !self.memory.detect.is_on {
            return false;
        }
        let segment = self.memory.detect.open_segment(self.me);
        let accessed = Accessed::new(OpKind::Read, mask, segment, SiteId(0));
        let Detect { histories, causality, .. } = &mut self.memory.detect;
        let is_again = segment != Segment::NONE
            && histories.read_again(history, self.me, &accessed, causality);
        if is_again {
            // SAFETY: as above; a cell has a partner.
            unsafe {
                let reads = Shadow::reads(cell);
                *reads = (*reads).and(Cell::owned(segment, mask, false));
            }
        }
        is_again
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
        if history == NO_HISTORY || self.recorder.emit.is_exposed(object) {
            return false;
        }
        self.memory.shadow.log(cell);
        let before = Cell::read_shared(history);
        // SAFETY: as above. It is what several have read, until the access is made.
        let was = unsafe { (cell.replace(before), Shadow::reads(cell).replace(Cell::UNTOUCHED)) };
        if !self.is_ordered(cell, touch.kind != OpKind::Read) {
            // SAFETY: as above.
            unsafe { (*cell, *Shadow::reads(cell)) = was };
            return false;
        }
        self.memory.detect.forget_value(object);
        self.memory.detect.retired.insert(at, object);
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
