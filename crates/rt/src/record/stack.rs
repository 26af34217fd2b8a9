//! The shadow stack: which functions a thread is in, from `__tsan_func_entry` and `_exit`.
//!
//! Each frame keeps the stack pointer of its function, so that frames left by `longjmp` or by an
//! exception through code without hooks are noticed and dropped at the next entry. A function that was inlined
//! after it had got its hooks (link-time optimisation) has an entry and an exit of its own, with the stack pointer
//! and the caller of the one around it: a frame that nobody is shown. The common cases of entry and exit are
//! assembly (`hooks::tsan::function`) that relies on this layout.

use std::alloc::{Layout, alloc};

/// A function: where it was called, and its stack pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
struct Frame {
    pc: usize,
    sp: usize,
}

/// Room at the beginning, and at most; deeper functions are left out.
const FRAMES_MIN: usize = 32;
const FRAMES_MAX: usize = 1 << 14;
/// Functions that are inlined into one another, at most: more are functions that were left.
const INLINED_MAX: usize = 16;

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
        self.drop_dead(sp.saturating_sub(usize::from(self.is_inlined(Frame { pc, sp }))));
        if self.top >= self.limit && !self.grow() {
            return;
        }
        // SAFETY: below the limit there is room.
        unsafe {
            *self.top = Frame { pc, sp };
            self.top = self.top.add(1);
        }
    }

    /// Is it a function within the innermost one?
    fn is_inlined(&self, frame: Frame) -> bool {
        let is_same = |it: &Frame| *it == frame;
        let n_same = self.all().take_while(is_same).take(INLINED_MAX).count();
        (1..INLINED_MAX).contains(&n_same)
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

    /// All frames, innermost first.
    fn all(&self) -> impl Iterator<Item = Frame> + use<> {
        let (bottom, n_frames) = (self.bottom, self.n_frames());
        // SAFETY: the indices are below the number of frames.
        (0..n_frames).rev().map(move |idx| unsafe { *bottom.add(idx) })
    }

    /// Where each function was called, and its stack pointer, innermost first.
    pub(crate) fn frames(&self) -> impl Iterator<Item = (usize, usize)> + use<> {
        let mut inner = None;
        let is_shown = move |it: &Frame| inner.replace(*it) != Some(*it);
        self.all().filter(is_shown).map(|it| (it.pc, it.sp))
    }

    /// Where each function was called, innermost first.
    pub(crate) fn callers(&self) -> impl Iterator<Item = usize> + use<> {
        self.frames().map(|it| it.0)
    }

    /// Where the innermost so many frames were called from, also those that nobody is shown; `None` if there are fewer.
    #[inline]
    pub(crate) fn innermost(&self, n: usize) -> Option<impl Iterator<Item = usize> + use<>> {
        let top = self.top;
        // SAFETY: so many frames are there.
        (n <= self.n_frames()).then(|| (1..=n).map(move |idx| unsafe { (*top.sub(idx)).pc }))
    }

    /// The stack pointer of the innermost function.
    pub(crate) fn innermost_sp(&self) -> Option<usize> {
        // SAFETY: above the bottom there is a frame below the top.
        (self.top > self.bottom).then(|| unsafe { (*self.top.sub(1)).sp })
    }
}

#[cfg(test)]
mod tests {
    use super::{INLINED_MAX, ShadowStack};

    fn stack(frames: &[(usize, usize)]) -> ShadowStack {
        let mut stack = ShadowStack::new();
        frames.iter().for_each(|(pc, sp)| stack.push(*pc, *sp));
        stack
    }

    fn callers(stack: &ShadowStack) -> Vec<usize> {
        stack.callers().collect()
    }

    #[test]
    fn functions_that_were_left_are_dropped() {
        assert_eq!(callers(&stack(&[(1, 90), (2, 80), (3, 70), (4, 80)])), [4, 1]);
    }

    /// It has an exit of its own, which must not be that of the function around it.
    #[test]
    fn an_inlined_function_is_within_the_one_around_it() {
        let mut stack = stack(&[(1, 90), (2, 80), (2, 80)]);
        assert_eq!(callers(&stack), [2, 1]);
        stack.truncate(2);
        assert_eq!(callers(&stack), [2, 1]);
    }

    /// Called again and again from the same place, and left each time without an exit.
    #[test]
    fn they_do_not_pile_up() {
        let mut stack = stack(&[(1, 90)]);
        (0..1000).for_each(|_| stack.push(2, 80));
        assert_eq!(callers(&stack), [2, 1]);
        assert!(stack.depth() <= INLINED_MAX + 1, "{}", stack.depth());
    }
}

/// Where a hook was called from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Caller {
    /// The return address.
    pub(crate) pc: usize,
    /// The caller's stack pointer.
    pub(crate) sp: usize,
}
