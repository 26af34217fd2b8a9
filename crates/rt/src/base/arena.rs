//! The runtime's own heap, apart from the program's: power-of-two classes in memory of our own, so
//! that what we allocate never moves what the program allocates.

use std::{
    alloc::{GlobalAlloc, Layout},
    ops::Range,
    ptr,
    sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering::*},
};

use raddle_fiber::raw;

struct Arena;

#[global_allocator]
static ARENA: Arena = Arena;

const PAGE: usize = 4096;
const CHUNK: usize = 1 << 20;
const CLASSES: usize = 17; // 16 bytes to 1 MiB
static FREE: [AtomicPtr<u8>; CLASSES] = [const { AtomicPtr::new(ptr::null_mut()) }; CLASSES];
static NEXT: AtomicUsize = AtomicUsize::new(0);
static LIMIT: AtomicUsize = AtomicUsize::new(0);
static LOCK: AtomicBool = AtomicBool::new(false);

/// Fresh zeroed memory from the kernel; null if there is none.
pub(crate) fn map(size: usize) -> *mut u8 {
    map_at(HINT.fetch_add(size.next_multiple_of(PAGE), Relaxed), size)
}

/// Far from where the kernel puts what the program maps: that must not depend on us.
const FIRST: usize = 0x1000_0000_0000;
static HINT: AtomicUsize = AtomicUsize::new(FIRST);

/// Where what [`map`] has mapped is.
pub(crate) fn range() -> Range<usize> {
    FIRST..HINT.load(Relaxed)
}

static N_MAPPED: AtomicUsize = AtomicUsize::new(0);

/// How often memory was mapped: whoever knows the mappings of this process knows from it when to look
/// again.
pub(crate) fn n_mapped() -> usize {
    N_MAPPED.load(Relaxed)
}

/// The same at a certain address, or elsewhere if that is taken.
pub(crate) fn map_at(hint: usize, size: usize) -> *mut u8 {
    const SYS_MMAP: i64 = 9;
    const READ_WRITE: usize = 3;
    const PRIVATE_ANONYMOUS_NORESERVE: usize = 0x02 | 0x20 | 0x4000;
    N_MAPPED.fetch_add(1, Relaxed);
    // SAFETY: asks for new memory, touches none.
    let result = unsafe {
        raw::syscall(SYS_MMAP, [hint, size, READ_WRITE, PRIVATE_ANONYMOUS_NORESERVE, usize::MAX, 0])
    };
    if result < 0 { ptr::null_mut() } else { result as *mut u8 }
}

/// Memory for a large block. The kernel aligns to pages: if that is not enough, more is mapped, and what is too much given
/// back.
fn map_aligned(layout: &Layout) -> *mut u8 {
    if layout.align() <= PAGE {
        return map(layout.size());
    }
    let size = layout.size().next_multiple_of(PAGE);
    let first = map(size + layout.align());
    if first.is_null() {
        return first;
    }
    let before = first.align_offset(layout.align());
    // SAFETY: parts of what was just mapped, which nobody uses.
    unsafe {
        let block = first.add(before);
        unmap(first as usize, before);
        unmap(block as usize + size, layout.align() - before);
        block
    }
}

/// Gives memory back to the kernel.
///
/// # Safety
///
/// It was mapped here, and nobody uses it.
unsafe fn unmap(start: usize, size: usize) {
    const SYS_MUNMAP: i64 = 11;
    // SAFETY: the caller's promise.
    unsafe { raw::syscall(SYS_MUNMAP, [start, size, 0, 0, 0, 0]) };
}

fn class(layout: &Layout) -> usize {
    let size = layout.size().max(layout.align()).max(16).next_power_of_two();
    size.trailing_zeros() as usize - 4
}

// SAFETY: blocks come from fresh memory or from a list of blocks of the same class; a block is at
// least as large as its class says and aligned to its size, or mapped for itself, as aligned as it must be; the lock keeps
// two threads apart.
unsafe impl GlobalAlloc for Arena {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let class = class(&layout);
        if class >= CLASSES {
            return map_aligned(&layout);
        }
        while LOCK.swap(true, Acquire) {
            std::hint::spin_loop();
        }
        let block = take(class);
        LOCK.store(false, Release);
        block
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        let class = class(&layout);
        if class >= CLASSES {
            // SAFETY: the block was mapped by `alloc` with this size.
            return unsafe { unmap(block as usize, layout.size()) };
        }
        while LOCK.swap(true, Acquire) {
            std::hint::spin_loop();
        }
        // SAFETY: the block is ours and large enough for a pointer.
        unsafe { block.cast::<*mut u8>().write(FREE[class].load(Relaxed)) };
        FREE[class].store(block, Relaxed);
        LOCK.store(false, Release);
    }
}

/// A block of a class; the lock is held.
fn take(class: usize) -> *mut u8 {
    let first = FREE[class].load(Relaxed);
    if !first.is_null() {
        // SAFETY: a free block begins with the next one.
        FREE[class].store(unsafe { first.cast::<*mut u8>().read() }, Relaxed);
        return first;
    }
    let size = 16_usize << class;
    let start = NEXT.load(Relaxed).next_multiple_of(size);
    if start + size <= LIMIT.load(Relaxed) {
        NEXT.store(start + size, Relaxed);
        return start as *mut u8;
    }
    let chunk = map(CHUNK.max(2 * size));
    if chunk.is_null() {
        return chunk;
    }
    let start = (chunk as usize).next_multiple_of(size);
    NEXT.store(start + size, Relaxed);
    LIMIT.store(chunk as usize + CHUNK.max(2 * size), Relaxed);
    start as *mut u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_as_large_and_as_aligned_as_they_must_be() {
        for align in (0..=22).map(|it| 1 << it) {
            for size in [1, 24, 4096, 5000, 1 << 20, (1 << 20) + 1, 3 << 20] {
                let layout = Layout::from_size_align(size, align).expect("a layout");
                // SAFETY: the size is not zero; each block is written within its size, and given back once.
                unsafe {
                    let blocks = [(); 3].map(|()| Arena.alloc(layout));
                    for (idx, block) in blocks.iter().enumerate() {
                        assert!(!block.is_null());
                        assert_eq!(*block as usize % align, 0, "{layout:?}");
                        block.write_bytes(idx as u8, size);
                    }
                    for (idx, block) in blocks.iter().enumerate() {
                        let ends = (block.read(), block.add(size - 1).read());
                        assert_eq!(ends, (idx as u8, idx as u8), "{layout:?}");
                        Arena.dealloc(*block, layout);
                    }
                }
            }
        }
    }
}
