//! The shadow stack: which functions a thread is in, from `__tsan_func_entry` and `_exit`.
//!
//! Each frame keeps the stack pointer of its function, so that frames left by `longjmp` or by an
//! exception through code without hooks are noticed and dropped at the next entry. The common cases
//! of entry and exit are assembly (`hooks::tsan::function`) that relies on this layout.

use std::alloc::{Layout, alloc};

/// A function: where it was called, and its stack pointer.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
struct Frame {
    pc: usize,
    sp: usize,
}

/// Room at the beginning, and at most; deeper functions are left out.
const FRAMES_MIN: usize = 32;
const FRAMES_MAX: usize = 1 << 14;

/// A thread's shadow stack. Invariant: below `bottom` lies a frame whose stack pointer is above all
/// others.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct ShadowStack {
    top: *mut Frame,
    limit: *mut Frame,
    bottom: *mut Frame,
}

impl ShadowStack {
    /// An empty one, without room.
    pub(crate) const fn new() -> ShadowStack {
        ShadowStack {
            top: std::ptr::null_mut(),
            limit: std::ptr::null_mut(),
            bottom: std::ptr::null_mut(),
        }
    }

    /// Functions that it knows of.
    pub(crate) fn depth(&self) -> usize {
        self.n_frames()
    }

    /// Leaves all functions but the outermost ones.
    pub(crate) fn truncate(&mut self, depth: usize) {
        debug_assert!(depth <= self.n_frames(), "bug: fewer functions than before");
        if !self.bottom.is_null() {
            // SAFETY: as many frames are there.
            self.top = unsafe { self.bottom.add(depth) };
        }
    }

    /// A function was entered, called from `pc`, with its stack pointer at `sp`: the uncommon cases.
    pub(crate) fn push(&mut self, pc: usize, sp: usize) {
        self.drop_dead(sp);
        if self.top >= self.limit && !self.grow() {
            return;
        }
        // SAFETY: below the limit there is room.
        unsafe {
            *self.top = Frame { pc, sp };
            self.top = self.top.add(1);
        }
    }

    #[cold]
    fn grow(&mut self) -> bool {
        let n_frames = self.n_frames();
        let room = if self.bottom.is_null() { FRAMES_MIN } else { (n_frames + 1) * 4 };
        if room > FRAMES_MAX {
            return false;
        }
        // SAFETY: the layout is not empty; the old frames fit into the new room; the old room is left
        // to the arena's care no more: threads are few, and stacks grow at most four times.
        unsafe {
            let fresh: *mut Frame =
                alloc(Layout::array::<Frame>(room).expect("bug: a small array")).cast();
            if fresh.is_null() {
                return false;
            }
            *fresh = Frame { pc: 0, sp: usize::MAX };
            if n_frames > 0 {
                std::ptr::copy_nonoverlapping(self.bottom, fresh.add(1), n_frames);
            }
            self.bottom = fresh.add(1);
            self.top = self.bottom.add(n_frames);
            self.limit = fresh.add(room);
        }
        true
    }

    fn n_frames(&self) -> usize {
        if self.bottom.is_null() {
            return 0;
        }
        // SAFETY: both point into the same allocation.
        unsafe { self.top.offset_from_unsigned(self.bottom) }
    }

    /// Drops frames at or below `sp`: their functions are gone.
    pub(crate) fn drop_dead(&mut self, sp: usize) {
        while self.top > self.bottom {
            // SAFETY: above the bottom there is a frame below the top.
            let last = unsafe { self.top.sub(1) };
            // SAFETY: as above.
            if sp < unsafe { (*last).sp } {
                break;
            }
            self.top = last;
        }
    }

    /// Where each function was called, innermost first.
    pub(crate) fn callers(&self) -> impl Iterator<Item = usize> + use<> {
        let (bottom, n_frames) = (self.bottom, self.n_frames());
        // SAFETY: the indices are below the number of frames.
        (0..n_frames).rev().map(move |idx| unsafe { (*bottom.add(idx)).pc })
    }

    /// Where each function was called, and its stack pointer, innermost first.
    pub(crate) fn frames(&self) -> impl Iterator<Item = (usize, usize)> + use<> {
        let (bottom, n_frames) = (self.bottom, self.n_frames());
        // SAFETY: the indices are below the number of frames.
        let frame = move |idx| unsafe { *bottom.add(idx) };
        (0..n_frames).rev().map(frame).map(|it: Frame| (it.pc, it.sp))
    }

    /// The stack pointer of the innermost function.
    pub(crate) fn innermost_sp(&self) -> Option<usize> {
        // SAFETY: above the bottom there is a frame below the top.
        (self.top > self.bottom).then(|| unsafe { (*self.top.sub(1)).sp })
    }
}
