//! The shadow stack: which functions a thread is in, from `__tsan_func_entry` and `_exit`.
//!
//! Each frame keeps the stack pointer of its function, so that frames left by `longjmp` or by an
//! exception through code without hooks are noticed and dropped at the next entry.

use crate::arena;

#[derive(Clone, Copy, Debug)]
#[repr(C)]
struct Frame {
    /// Where the function was called.
    pc: usize,
    sp: usize,
}

/// Frames kept; deeper ones are counted but not kept.
const FRAMES_MAX: usize = 1 << 14;

/// A thread's shadow stack.
#[derive(Debug)]
pub(crate) struct ShadowStack {
    frames: *mut Frame,
    len: usize,
}

impl ShadowStack {
    pub(crate) const fn new() -> ShadowStack {
        ShadowStack { frames: std::ptr::null_mut(), len: 0 }
    }

    /// A function was entered, called from `pc`, with its stack pointer at `sp`.
    #[inline(always)]
    pub(crate) fn push(&mut self, pc: usize, sp: usize) {
        if self.frames.is_null() && !self.allocate() {
            return;
        }
        self.drop_dead(sp);
        if self.len < FRAMES_MAX {
            // SAFETY: there is room for `FRAMES_MAX` frames.
            unsafe { *self.frames.add(self.len) = Frame { pc, sp } };
        }
        self.len += 1;
    }

    #[cold]
    fn allocate(&mut self) -> bool {
        self.frames = arena::map(FRAMES_MAX * size_of::<Frame>()).cast();
        !self.frames.is_null()
    }

    /// The innermost function was left.
    #[inline(always)]
    pub(crate) fn pop(&mut self) {
        self.len = self.len.saturating_sub(1);
    }

    /// Drops frames at or below `sp`: their functions are gone.
    #[inline(always)]
    pub(crate) fn drop_dead(&mut self, sp: usize) {
        while 0 < self.len && self.len <= FRAMES_MAX {
            // SAFETY: the index is below `len`, which is within the allocation.
            if sp < unsafe { (*self.frames.add(self.len - 1)).sp } {
                break;
            }
            self.len -= 1;
        }
    }

    /// Where each function was called, innermost first.
    pub(crate) fn callers(&self) -> impl Iterator<Item = usize> + '_ {
        // SAFETY: the indices are below `len` and within the allocation.
        (0..self.len.min(FRAMES_MAX)).rev().map(|idx| unsafe { (*self.frames.add(idx)).pc })
    }

    /// The stack pointer of the innermost function.
    pub(crate) fn innermost_sp(&self) -> Option<usize> {
        // SAFETY: the index is below `len` and within the allocation.
        (0 < self.len && self.len <= FRAMES_MAX)
            .then(|| unsafe { (*self.frames.add(self.len - 1)).sp })
    }
}
