//! Memory that is used or freed after it was freed: the end of the execution, with who freed it.

use raddle_model::{Allocator, BlockSort, End, Misuse, ObjectId, SiteId};
use raddle_trace::{FreedEntry, HeapEntry, ObjectClass};

use crate::{
    control::Control,
    record::stack::Caller,
    state::{
        detect::Touch,
        heap::{self, Block, Freed},
        shadow::{Cell, State},
    },
    tell::end,
};

/// Ends the execution: the thread that runs uses or frees memory that was freed, at `site`. The memory is `object`'s,
/// if it was one.
#[cold]
pub(crate) fn end_freed(
    control: &mut Control,
    misuse: Misuse,
    address: usize,
    site: SiteId,
    object: ObjectId,
) -> ! {
    let object = control.describe_freed(address, object);
    end::end_about(control, End::Misuse(misuse), site, object, b"")
}

/// Ends the execution if memory that is to be touched was freed; of accesses that make their memory a variable, which
/// forgets that it was.
#[inline(always)]
pub(crate) fn require_live(control: &mut Control, touch: &Touch, object: ObjectId) {
    let cell = control.memory.shadow.own_cell(touch.address);
    // SAFETY: not null, so a cell.
    let is_marked = |cell: *mut Cell| !cell.is_null() && unsafe { *cell }.is_mark();
    let last = touch.address + touch.size.max(1) - 1;
    if is_marked(cell) || is_marked(control.memory.shadow.own_cell(last)) {
        require_marked(control, touch, object);
    }
}

/// The same of memory one of whose ends has a mark.
#[cold]
fn require_marked(control: &mut Control, touch: &Touch, object: ObjectId) {
    let cell = control.memory.shadow.cell(touch.address);
    // SAFETY: not null, so a cell.
    if !cell.is_null() && unsafe { *cell }.state() == State::Freed {
        end_touched(control, touch, object);
    }
    control.require_inside(touch);
}

#[cold]
fn end_touched(control: &mut Control, touch: &Touch, object: ObjectId) {
    if control.process.is_execution {
        let site = control.site_of(touch);
        end_freed(control, Misuse::UseAfterFree, touch.address, site, object);
    }
}

impl Control {
    /// A block is freed now, by a call from here.
    pub(crate) fn free_block(&mut self, address: usize, block: Block, caller: Caller) {
        let stack = match self.recorder.stacks.is_half_full() {
            true => crate::record::stacks::StackId::default(),
            false => self.keep_stack(self.own_call(caller)),
        };
        let (step, n_unseen) = (self.recorder.emit.n_steps, heap::n_unseen());
        self.memory.heap.free(address, Freed { block, thread: self.me, stack, step, n_unseen });
    }

    /// No block of the heap begins where one is to be freed. Ends the execution if that is the program's fault for certain:
    /// the address was not given out again since the last free, it is inside of a block that is still there, or on a
    /// stack, or among a module's variables.
    pub(crate) fn judge_free(&mut self, address: usize, deallocator: Allocator, caller: Caller) {
        if !self.process.is_execution {
            return;
        }
        let misuse = if self.is_still_freed(address) {
            Misuse::DoubleFree
        } else if self
            .memory
            .heap
            .block_of(address)
            .is_some_and(|(_, it)| it.n_unseen == heap::n_unseen())
        {
            self.free_of(address)
        } else if self.is_elsewhere(address, deallocator, caller) {
            Misuse::BadFree
        } else {
            return;
        };
        let site = self.site(caller);
        match misuse {
            Misuse::DoubleFree => end_freed(self, misuse, address, site, ObjectId::NONE),
            _ => {
                let object = self.add_object_at(address, ObjectClass::Variable);
                end::end_about(self, End::Misuse(misuse), site, object, b"")
            }
        }
    }

    /// What it is to free an address in a block where none of the heap begins.
    fn free_of(&self, address: usize) -> Misuse {
        let found = self.memory.heap.block_of(address);
        let is_heap = found.is_some_and(|(_, it)| it.sort == BlockSort::Heap);
        if is_heap { Misuse::FreeInside } else { Misuse::BadFree }
    }

    /// Can't an address be the heap's, if it is the program that frees it?
    fn is_elsewhere(&self, address: usize, deallocator: Allocator, caller: Caller) -> bool {
        let is_program = deallocator != Allocator::Malloc || !self.is_system_code(caller.pc);
        is_program
            && (self.recorder.modules.of(address).is_some() || self.stack_at(address).is_some())
    }

    /// A block is freed by a function of this family. Ends the execution if another has allocated it.
    pub(crate) fn judge_deallocator(
        &mut self,
        address: usize,
        block: &Block,
        deallocator: Allocator,
        caller: Caller,
    ) {
        if block.allocator == deallocator || !self.process.is_execution {
            return;
        }
        let site = self.site(caller);
        let object = self.add_object_at(address, ObjectClass::Variable);
        // SAFETY: the header is mapped for as long as the process lives.
        let header = unsafe { &mut *self.header };
        if header.result.is_end_written == 0 {
            header.result.end_heap = HeapEntry {
                allocated: block.allocator as u16,
                freed: deallocator as u16,
                ..HeapEntry::default()
            };
        }
        end::end_about(self, End::Misuse(Misuse::MismatchedFree), site, object, b"")
    }

    /// Was the block at an address freed, and not given out again, even unseen? Memory that is allocated loses its
    /// marks, whoever allocates it; a block that was a mapping of its own has none.
    fn is_still_freed(&self, address: usize) -> bool {
        let freed = self.memory.heap.freed_of(address).filter(|(start, _)| *start == address);
        let Some((_, freed)) = freed else { return false };
        let cell = self.memory.shadow.cell(address);
        // SAFETY: not null, so a cell.
        let is_marked = !cell.is_null() && unsafe { *cell }.state() == State::Freed;
        is_marked || freed.n_unseen == heap::n_unseen()
    }

    /// Says who freed memory, and what it was.
    fn describe_freed(&mut self, address: usize, object: ObjectId) -> ObjectId {
        let Some((start, freed)) = self.memory.heap.freed_of(address) else { return object };
        // SAFETY: the header is mapped for as long as the process lives.
        let header = unsafe { &mut *self.header };
        if header.result.is_end_written == 0 {
            let Freed { thread, stack, step, .. } = freed;
            header.result.end_freed = FreedEntry { step, thread: thread.0, stack: stack.0 };
        }
        if object != ObjectId::NONE {
            return object;
        }
        self.memory.heap.recall(start, &freed);
        let object = self.add_object_at(address, ObjectClass::Variable);
        self.memory.heap.remove(start);
        object
    }
}
