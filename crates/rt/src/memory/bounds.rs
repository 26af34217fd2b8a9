//! Accesses outside of heap blocks: the end of the execution, with which block was meant and how far from it.
//!
//! What is beside a block has marks (`Shadow::fence`): the word before it, in which the C library keeps its size, and all
//! from its end to the next block, by the byte. So no block is larger or elsewhere than it would be without us, and an
//! access that is a word or more away from its own block and inside of another one is not seen.

use raddle_model::{End, Misuse, OpKind};
use raddle_trace::{HeapEntry, ObjectClass};

use crate::{control::Control, state::detect::Touch, tell::end};

impl Control {
    /// Ends the execution if an access is to bytes beside a heap block.
    pub(crate) fn require_inside(&mut self, touch: &Touch) {
        if self.process.is_execution
            && let Some(first) = self.memory.shadow.first_outside(touch.address, touch.size)
        {
            self.end_outside(touch, first);
        }
    }

    /// Ends the execution: of an access, the byte at `first` is beside a block.
    #[cold]
    fn end_outside(&mut self, touch: &Touch, first: usize) {
        // An access is an overflow of the block that it begins in, or else of the nearest.
        let Some((start, is_before)) = self.memory.heap.nearest(touch.address, first) else {
            return;
        };
        let site = self.site_of(touch);
        let object = self.add_object_at(start, ObjectClass::Variable);
        // SAFETY: the header is mapped for as long as the process lives.
        let header = unsafe { &mut *self.header };
        if header.result.is_end_written == 0 {
            header.result.end_heap = HeapEntry {
                offset: touch.address.wrapping_sub(start) as i64,
                size: touch.size as u64,
                is_write: u32::from(!matches!(touch.kind, OpKind::Read | OpKind::AtomicLoad)),
                ..HeapEntry::default()
            };
        }
        let misuse = if is_before { Misuse::HeapUnderflow } else { Misuse::HeapOverflow };
        end::end_about(self, End::Misuse(misuse), site, object, b"")
    }
}
