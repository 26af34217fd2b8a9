//! Memory that is used or freed after it was freed: the end of the execution, with who freed it.

use raddle_model::{End, Misuse, ObjectId, SiteId};
use raddle_trace::{FreedEntry, ObjectClass};

use crate::{
    control::Control,
    record::stack::Caller,
    state::{
        detect::Touch,
        heap::{self, Block, Freed},
        shadow::State,
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
    let cell = control.memory.shadow.cell(touch.address);
    // SAFETY: not null, so a cell.
    if !cell.is_null() && unsafe { *cell }.state() == State::Freed {
        end_touched(control, touch, object);
    }
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

    /// No block begins where one is to be freed. Ends the execution if that is the program's fault for certain: the
    /// address was not given out again since the last free, or it is inside of a block that is still there.
    pub(crate) fn judge_free(&mut self, address: usize, caller: Caller) {
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
            Misuse::FreeInside
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
