//! Which memory is shared: cells are brought up to date, and become variables (`state/shadow` has the states).
//!
//! What an execution learns, that a variable is shared after all, is told to the launcher by name, and known from the
//! first access on in later executions.

use raddle_analysis::hb::Segment;
use raddle_model::{Misuse, ObjectId, OpKind};

use crate::{
    abi::x86_64::peek,
    control::Control,
    memory::freed::end_freed,
    state::{
        accesses::{self, Written},
        detect::Touch,
        shadow::{Cell, Shadow, State},
    },
};

impl Control {
    /// Brings the cells of a range up to date. The variable that the access is to, if any: that one is
    /// still to be made, as a step if others are alive.
    pub(crate) fn touch(&mut self, touch: &Touch) -> Option<ObjectId> {
        let is_alone = self.scheduler.machine.is_alone();
        let is_write = touch.kind != OpKind::Read;
        let mut variable = None;
        let end = touch.address + touch.size;
        let mut at = if touch.address.is_multiple_of(4) {
            self.touch_own(touch.address, end, is_write)
        } else {
            touch.address & !3
        };
        while at < end {
            let own = self.memory.shadow.own_cell(at);
            if own.is_null() {
                return None;
            }
            // SAFETY: not null, so a cell.
            let cell = if unsafe { *own }.is_mark() { self.marked(own, at, touch) } else { own };
            // SAFETY: as above.
            match unsafe { *cell }.state() {
                State::Owned(segment, _) if self.memory.detect.owner(segment) == self.me => {
                    self.access_own(cell, at, touch);
                }
                State::Sync(_) => {}
                State::Freed => self.used_after_free(at, touch),
                State::Outside => self.require_inside(touch),
                State::Variable(object) => {
                    if !self.is_busy() || !self.retire(object, cell, at, touch) {
                        variable = variable.or(Some(object));
                    }
                }
                State::Untouched => {
                    if self.scheduler.shared.is_empty() || !self.is_named_shared(at) {
                        self.access_own(cell, at, touch);
                    } else {
                        let object = self.share(cell, at, variable);
                        self.recorder.emit.set_exposed(object);
                        variable = Some(object);
                    }
                }
                State::Owned(..) | State::ReadShared(_) if is_alone => {
                    self.take_over(cell, at, touch);
                }
                State::Owned(..) | State::ReadShared(_)
                    if self.is_busy() && self.is_ordered(cell, is_write) =>
                {
                    self.pass_on(cell, at, touch);
                }
                State::Owned(_, false) | State::ReadShared(_) if !is_write && !self.is_busy() => {
                    self.read_shared(cell, at, touch);
                }
                State::Owned(..) | State::ReadShared(_) => {
                    let object = self.share(cell, at, variable);
                    variable = Some(object);
                    if !self.memory.detect.is_on() && !self.is_order_unasked() {
                        self.recorder.emit.set_exposed(object);
                        self.tell_exposed_at(at);
                    }
                }
            }
            at += 4;
        }
        variable
    }

    /// The same for whole words that are the thread's own or nobody's yet, which is the rule where an access is to many.
    /// Gives back where the first begins that is not.
    #[inline]
    fn touch_own(&mut self, mut at: usize, end: usize, is_write: bool) -> usize {
        let mut segment = Segment::NONE;
        while at + 4 <= end {
            let cell = self.memory.shadow.own_cell(at);
            // SAFETY: not null, so a cell.
            let Some(state) = (!cell.is_null()).then(|| unsafe { *cell }) else { break };
            let is_fresh = state == Cell::UNTOUCHED;
            let is_mine = match is_fresh {
                true => self.scheduler.shared.is_empty() || !self.is_named_shared(at),
                false => state.is_owned() && self.memory.detect.owner(state.segment()) == self.me,
            };
            if !is_mine {
                break;
            }
            if segment == Segment::NONE {
                segment = self.now();
            }
            if is_fresh {
                self.memory.shadow.log(cell);
            }
            let whole = |is_written| Cell::owned(segment, Cell::WHOLE, is_written);
            // SAFETY: as above; a cell has a partner.
            unsafe {
                match is_write {
                    true => *cell = whole(!self.scheduler.machine.is_alone()),
                    false => *Shadow::reads(cell) = whole(false),
                }
                if is_fresh && !is_write {
                    *cell = Cell::owned(segment, 0, false);
                }
            }
            at += 4;
        }
        at
    }

    /// Notes what the last write wrote: it was the last step, and nobody else has gone on since. Must come before
    /// memory goes away.
    #[inline(always)]
    pub(crate) fn settle_write(&mut self) {
        let Written { address, size, is_update } = self.memory.written;
        if size > 0 {
            self.memory.written = Written::NONE;
            // SAFETY: the program has just written there.
            let value = unsafe { peek(address, size) };
            if is_update {
                self.recorder.set_left(value, size as u8);
            } else {
                self.recorder.emit.set_written(value, size as u8);
            }
        }
    }

    /// The cell behind one that has a mark. Ends the execution if the access is outside of the block that ends there.
    #[cold]
    fn marked(&mut self, own: *mut Cell, at: usize, touch: &Touch) -> *mut Cell {
        // SAFETY: the caller has a cell.
        if unsafe { *own }.outside() & touch.mask(at) != 0 {
            self.require_inside(touch);
        }
        self.memory.shadow.cell(at)
    }

    fn used_after_free(&mut self, at: usize, touch: &Touch) {
        if self.process.is_execution {
            let site = self.site_of(touch);
            end_freed(self, Misuse::UseAfterFree, at.max(touch.address), site, ObjectId::NONE);
        }
    }

    /// Makes a cell part of a variable.
    fn share(&mut self, cell: *mut Cell, at: usize, variable: Option<ObjectId>) -> ObjectId {
        let object = variable.unwrap_or_else(|| self.make_variable(at));
        // SAFETY: the caller has a cell.
        if !matches!(unsafe { *cell }.state(), State::Variable(_)) {
            self.share_cell(cell, object);
        }
        object
    }

    /// Memory turns out to be shared and not protected: accesses to it are points, here and in the executions to come.
    #[cold]
    pub(super) fn expose_word(&mut self, cell: *mut Cell, at: usize) {
        // SAFETY: the caller has a cell.
        let object = match unsafe { *cell }.state() {
            State::Variable(object) => object,
            _ => self.share(cell, at, None),
        };
        self.recorder.emit.set_exposed(object);
        self.tell_exposed_at(at);
    }

    /// Does the plan say that the variable at an address is shared? Asked at the first access to every
    /// four bytes, and most of those come one after the other.
    fn is_named_shared(&mut self, at: usize) -> bool {
        let mut name = self.memory.heap.last.name_of(at);
        if name.is_none() {
            self.memory.heap.last = self.named_at(at);
            name = self.memory.heap.last.name_of(at);
        }
        name.is_some_and(|it| self.is_known_shared(it))
    }

    /// Does the plan not say so, as far as that can be told without a search?
    #[inline]
    pub(crate) fn is_clearly_unshared(&self, at: usize) -> bool {
        let name = self.memory.heap.last.name_of(at);
        self.scheduler.shared.is_empty() || name.is_some_and(|it| !self.is_known_shared(it))
    }

    /// Exposes the objects that there are already, as far as the plan names them.
    pub(crate) fn expose_known(&mut self) {
        if self.scheduler.shared.is_empty() {
            return;
        }
        for object in (1..self.recorder.emit.n_objects() as u32).map(ObjectId) {
            if self.is_known_shared(self.recorder.emit.name_of(object)) {
                self.recorder.emit.set_exposed(object);
            }
        }
    }

    /// From now on what happens to an object is a scheduling point, here and in the executions to come.
    #[cold]
    pub(crate) fn expose(&mut self, object: ObjectId) {
        if !self.recorder.emit.is_exposed(object) {
            self.recorder.emit.set_exposed(object);
            self.tell_exposed(self.recorder.emit.name_of(object));
        }
    }

    /// Two accesses to memory were seen in a race: it is exposed.
    pub(crate) fn expose_memory(&mut self, cell: *const Cell, touch: &Touch) {
        // SAFETY: the caller has a cell.
        if let State::Variable(object) = unsafe { *cell }.state() {
            if self.recorder.emit.is_exposed(object) {
                return;
            }
            self.recorder.emit.set_exposed(object);
        }
        let words = (touch.address & !3..touch.address + touch.size).step_by(4);
        words.for_each(|at| self.tell_exposed_at(at));
    }

    fn tell_exposed_at(&mut self, at: usize) {
        let name = self.describe(at, raddle_trace::ObjectClass::Variable).name;
        self.tell_exposed(name);
    }

    /// Tells the launcher that an object is exposed, so that the next executions know.
    fn tell_exposed(&mut self, name: u64) {
        if name == 0 || self.is_known_shared(name) {
            return;
        }
        // SAFETY: the header is mapped; the names found follow the names known, within the room.
        unsafe {
            let header = &mut *self.header;
            let (n_known, n_found) =
                (header.request.n_shared as usize, header.result.n_shared_found as usize);
            if n_found == 0 {
                // Another execution has begun.
                self.memory.told.clear();
            }
            if self.memory.told.contains(&name) {
                return;
            }
            if n_known + n_found < self.segment.caps().shared as usize {
                self.memory.told.insert(name);
                *self.segment.shared().add(n_known + n_found) = name;
                header.result.n_shared_found += 1;
            } else {
                accesses::add_thinned();
            }
        }
    }

    /// Does any other thread know this memory? Freeing it is a step then.
    pub(crate) fn shared_object_in(&self, address: usize, size: usize) -> Option<ObjectId> {
        let mut found =
            self.memory.detect.retired.range(address..address + size).next().map(|it| *it.1);
        self.memory.shadow.for_range(address, size, |cell, _| {
            // SAFETY: `for_range` passes cells only.
            if let State::Variable(object) = unsafe { *cell }.state() {
                found = found.or(Some(object));
            }
        });
        found
    }
}
