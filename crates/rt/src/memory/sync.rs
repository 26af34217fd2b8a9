//! Locks and their like, by address: the first use of one gives it a number and a state.

use raddle_machine::ObjectState;
use raddle_model::ObjectId;
use raddle_trace::ObjectClass;

use crate::{
    control::Control,
    state::shadow::{Cell, State},
};

impl Control {
    /// The object at an address; made with `state` if there is none of this class.
    #[inline(always)]
    pub(crate) fn sync_object(
        &mut self,
        address: usize,
        class: ObjectClass,
        state: impl FnOnce() -> ObjectState,
    ) -> ObjectId {
        let cell = self.memory.shadow.cell(address);
        if !cell.is_null() {
            // SAFETY: not null, so a cell.
            if let State::Sync(object) = unsafe { *cell }.state()
                && self.recorder.emit.class_of(object) == class
                && self.scheduler.machine.has_object(object)
            {
                return object;
            }
        }
        self.make_sync_object(address, class, state())
    }

    /// Makes a new object at an address, whatever was there.
    #[cold]
    pub(crate) fn make_sync_object(
        &mut self,
        address: usize,
        class: ObjectClass,
        state: ObjectState,
    ) -> ObjectId {
        let object = self.add_object_at(address, class);
        let cell = self.memory.shadow.cell(address);
        if !cell.is_null() {
            self.end_history(cell);
            self.memory.shadow.log(cell);
            // SAFETY: not null, so a cell.
            unsafe { *cell = Cell::sync(object) };
        }
        self.scheduler.machine.set_object(object, state);
        if self.is_known_shared(self.recorder.emit.name_of(object)) {
            self.recorder.emit.set_exposed(object);
        }
        object
    }

    /// Numbers what is at an address.
    pub(crate) fn add_object_at(&mut self, address: usize, class: ObjectClass) -> ObjectId {
        let mut entry = self.describe(address, class);
        self.describe_frame(&mut entry, address);
        self.recorder.emit.add_object(entry, class, address)
    }

    /// The object at an address, if there is one of this class.
    pub(crate) fn known_sync_object(&self, address: usize, class: ObjectClass) -> Option<ObjectId> {
        let cell = self.memory.shadow.cell(address);
        if cell.is_null() {
            return None;
        }
        // SAFETY: not null, so a cell.
        match unsafe { *cell }.state() {
            State::Sync(object)
                if self.recorder.emit.class_of(object) == class
                    && self.scheduler.machine.has_object(object) =>
            {
                Some(object)
            }
            _ => None,
        }
    }

    /// The variable at an address, if it is one.
    pub(crate) fn known_variable(&self, address: usize) -> Option<ObjectId> {
        let cell = self.memory.shadow.cell(address);
        // SAFETY: not null, so a cell.
        match (!cell.is_null()).then(|| unsafe { *cell }.state()) {
            Some(State::Variable(object)) => Some(object),
            _ => None,
        }
    }

    /// The variable at an address, made one if it is not.
    #[inline]
    pub(crate) fn variable(&mut self, address: usize) -> ObjectId {
        let cell = self.memory.shadow.cell(address);
        if !cell.is_null() {
            // SAFETY: not null, so a cell.
            if let State::Variable(object) = unsafe { *cell }.state() {
                return object;
            }
        }
        self.make_variable(address)
    }

    /// The variable at an address, which reaches over so many bytes.
    #[inline]
    pub(crate) fn variables(&mut self, address: usize, size: usize) -> ObjectId {
        let object = self.variable(address);
        let mut at = (address & !3) + 4;
        while at < address + size {
            let cell = self.memory.shadow.cell(at);
            // SAFETY: not null, so a cell.
            if !cell.is_null() && !matches!(unsafe { *cell }.state(), State::Variable(_)) {
                self.share_cell(cell, object);
            }
            at += 4;
        }
        object
    }

    #[cold]
    pub(crate) fn make_variable(&mut self, address: usize) -> ObjectId {
        let object = self
            .retired_variable(address & !3)
            .unwrap_or_else(|| self.add_object_at(address & !3, ObjectClass::Variable));
        let cell = self.memory.shadow.cell(address);
        if !cell.is_null() {
            self.share_cell(cell, object);
        }
        object
    }
}
