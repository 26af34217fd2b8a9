//! What the C library allocates because of us, a new thread's tables above all, comes from here and not
//! from the program's heap: where the program's own blocks are must not depend on how many threads were
//! made ready, nor on what carries them.

use std::{
    ffi::c_void,
    ptr,
    sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed},
};

use crate::base::arena;

/// Room for the tables of many thousand threads.
const SIZE: usize = 64 << 20;
const ALIGN: usize = 64;
/// Before each block: its size.
const HEADER: usize = 64;

static IS_ON: AtomicBool = AtomicBool::new(false);
static START: AtomicUsize = AtomicUsize::new(0);
static NEXT: AtomicUsize = AtomicUsize::new(0);

/// Runs `body`, whose allocations are kept apart. Nobody else allocates meanwhile.
pub(crate) fn apart<T>(body: impl FnOnce() -> T) -> T {
    if START.load(Relaxed) == 0 {
        let start = arena::map(SIZE) as usize;
        NEXT.store(start, Relaxed);
        START.store(start, Relaxed);
    }
    let was_on = IS_ON.swap(START.load(Relaxed) != 0, Relaxed);
    let result = body();
    IS_ON.store(was_on, Relaxed);
    result
}

/// Is an allocation to be kept apart?
#[inline]
pub(crate) fn is_on() -> bool {
    IS_ON.load(Relaxed)
}

/// Is it a block of ours?
#[inline]
pub(crate) fn owns(block: *const c_void) -> bool {
    (block as usize).wrapping_sub(START.load(Relaxed)) < SIZE
}

/// A block, zeroed; null if there is no room.
pub(crate) fn allocate(size: usize, align: usize) -> *mut c_void {
    let align = align.max(ALIGN);
    let block = (NEXT.load(Relaxed) + HEADER).next_multiple_of(align);
    let next = block.saturating_add(size);
    if next > START.load(Relaxed) + SIZE {
        return ptr::null_mut();
    }
    NEXT.store(next, Relaxed);
    let block = block as *mut c_void;
    // SAFETY: within our memory, before the block.
    unsafe { block.byte_sub(HEADER).cast::<usize>().write(size) };
    block
}

/// The size of a block of ours.
pub(crate) fn size_of_block(block: *const c_void) -> usize {
    // SAFETY: the caller has made sure that the block is ours.
    unsafe { block.byte_sub(HEADER).cast::<usize>().read() }
}
