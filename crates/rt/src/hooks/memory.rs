//! `malloc` and its like: blocks are known by where they were allocated, and freed memory is known to
//! be free.

use std::ffi::{c_int, c_void};

use libc::size_t;
use raddle_model::{Allocator, BlockSort, Misuse, Op, OpKind};

use crate::{
    abi::glibc::{is_mapping_of_its_own, room_of},
    base::{apart, real},
    control::{Control, control, enter, is_active},
    hooks::{caller, export},
    memory::freed::end_freed,
    record::stack::Caller,
    schedule::step::step,
    state::heap::{self, Block},
};

unsafe extern "C" {
    fn __libc_malloc(size: size_t) -> *mut c_void;
    fn __libc_calloc(count: size_t, size: size_t) -> *mut c_void;
    fn __libc_realloc(block: *mut c_void, size: size_t) -> *mut c_void;
    fn __libc_memalign(align: size_t, size: size_t) -> *mut c_void;
    fn __libc_free(block: *mut c_void);
}

export! {
    malloc => do_malloc;
    calloc => do_calloc;
    realloc => do_realloc;
    free => do_free;
    memalign => do_memalign;
    aligned_alloc => do_memalign;
    posix_memalign => do_posix_memalign;
    valloc => do_valloc;
    pvalloc => do_pvalloc;
    malloc_usable_size => do_usable_size;
}

const PAGE: usize = 4096;
/// Bytes before a block that are the C library's.
const HEADER: usize = 16;

unsafe extern "C" fn do_malloc(size: size_t) -> *mut c_void {
    let caller = caller();
    if apart::is_on() {
        return apart::allocate(size, 0);
    }
    // SAFETY: asks for memory.
    allocated(unsafe { __libc_malloc(size) }, size, caller)
}

unsafe extern "C" fn do_calloc(count: size_t, size: size_t) -> *mut c_void {
    let caller = caller();
    if apart::is_on() {
        return apart::allocate(count.saturating_mul(size), 0);
    }
    // SAFETY: asks for memory.
    allocated(unsafe { __libc_calloc(count, size) }, count.saturating_mul(size), caller)
}

unsafe extern "C" fn do_memalign(align: size_t, size: size_t) -> *mut c_void {
    let caller = caller();
    if apart::is_on() {
        return apart::allocate(size, align);
    }
    // SAFETY: asks for memory.
    allocated(unsafe { __libc_memalign(align, size) }, size, caller)
}

unsafe extern "C" fn do_posix_memalign(to: *mut *mut c_void, align: size_t, size: size_t) -> c_int {
    let caller = caller();
    if !align.is_power_of_two() || !align.is_multiple_of(size_of::<*mut c_void>()) {
        return libc::EINVAL;
    }
    // SAFETY: asks for memory.
    let block = allocated(unsafe { __libc_memalign(align, size) }, size, caller);
    if block.is_null() {
        return libc::ENOMEM;
    }
    // SAFETY: the program promises the place for the pointer.
    unsafe { *to = block };
    0
}

unsafe extern "C" fn do_valloc(size: size_t) -> *mut c_void {
    let caller = caller();
    // SAFETY: asks for memory.
    allocated(unsafe { __libc_memalign(PAGE, size) }, size, caller)
}

unsafe extern "C" fn do_pvalloc(size: size_t) -> *mut c_void {
    let caller = caller();
    let size = size.max(1).saturating_add(PAGE - 1) & !(PAGE - 1);
    // SAFETY: asks for memory.
    allocated(unsafe { __libc_memalign(PAGE, size) }, size, caller)
}

unsafe extern "C" fn do_realloc(block: *mut c_void, size: size_t) -> *mut c_void {
    let caller = caller();
    if apart::is_on() || apart::owns(block) {
        // SAFETY: the C library passes a block of its own.
        return unsafe { reallocate_apart(block, size) };
    }
    let old = if block.is_null() { None } else { forget(block, Allocator::Malloc, caller) };
    // SAFETY: the program promises a block of its own.
    let new = unsafe { __libc_realloc(block, size) };
    if let (true, Some(old)) = (new.is_null() && size > 0, old) {
        // There is no room for more: what there was is still the program's.
        allocated(block, old.size, caller);
    }
    allocated(new, size, caller)
}

unsafe extern "C" fn do_free(block: *mut c_void) {
    let deallocator = heap::take_begun(true);
    if block.is_null() || apart::owns(block) {
        return;
    }
    forget(block, deallocator, caller());
    // SAFETY: the program promises a block of its own.
    unsafe { __libc_free(block) };
}

/// As much as was asked for: what the C library has beyond that is beside the block.
unsafe extern "C" fn do_usable_size(block: *mut c_void) -> size_t {
    if block.is_null() {
        return 0;
    }
    if apart::owns(block) {
        return apart::size_of_block(block);
    }
    // SAFETY: the program promises a block of the C library's.
    let room = unsafe { room_of(block as usize) };
    let Some(mut inside) = enter() else { return room };
    let known = inside.memory.heap.block_of(block as usize).filter(|it| it.0 == block as usize);
    inside.is_inside = false;
    known.map_or(room, |it| it.1.size)
}

/// Resizes a block that is kept apart, or is to be.
unsafe fn reallocate_apart(block: *mut c_void, size: usize) -> *mut c_void {
    // SAFETY: the caller's block; both are as large as what is copied.
    unsafe {
        let fresh = match apart::is_on() {
            true => apart::allocate(size, 0),
            false => __libc_malloc(size),
        };
        if !block.is_null() && !fresh.is_null() {
            let old_size = match apart::owns(block) {
                true => apart::size_of_block(block),
                false => room_of(block as usize),
            };
            real::memcpy(fresh, block, old_size.min(size));
            if !apart::owns(block) {
                __libc_free(block);
            }
        }
        fresh
    }
}

/// A block was allocated. Not a step: the C library may hold locks of its own while it calls us.
fn allocated(block: *mut c_void, size: usize, caller: Caller) -> *mut c_void {
    let allocator = heap::take_begun(false);
    if block.is_null() || !is_active() {
        return block;
    }
    let entered = enter();
    if entered.is_none() {
        heap::add_unseen();
    }
    // SAFETY: the block is fresh, and nobody else's: its cells are the caller's to clear, even from
    // inside a hook or on a thread that is not ours.
    unsafe { (*control()).memory.shadow.fill(block as usize, room_of(block as usize), false) };
    let Some(mut inside) = entered else { return block };
    inside.add_block(block as usize, size, (BlockSort::Heap, allocator), caller);
    // SAFETY: it is a block of the C library's.
    let room = unsafe { room_of(block as usize) + next_header(block as usize) };
    inside.memory.shadow.fence(block as usize, size, room);
    inside.watch_block(block as usize);
    inside.note_allocation();
    inside.is_inside = false;
    block
}

/// Bytes behind the room of a block in which the C library keeps the size of the next.
unsafe fn next_header(block: usize) -> usize {
    // SAFETY: the caller has a block of the C library's.
    if unsafe { is_mapping_of_its_own(block) } { 0 } else { size_of::<usize>() }
}

impl Control {
    /// Memory was allocated: where it is may depend on who else has allocated some.
    #[inline]
    pub(super) fn note_allocation(&mut self) {
        if !self.scheduler.machine.is_alone() {
            self.recorder.emit.allocators |= 1 << (self.me.0 % u64::BITS);
        }
    }
}

/// A block is about to be freed: a step, if other threads know it. What it was, if it is known.
fn forget(block: *mut c_void, deallocator: Allocator, caller: Caller) -> Option<Block> {
    let mut inside = enter()?;
    let address = block as usize;
    // SAFETY: the thread that runs is inside a hook; the borrows end before the step.
    unsafe {
        inside.settle_write();
        let found = inside.memory.heap.block_of(address).filter(|(base, _)| *base == address);
        let is_heap = |it: &(usize, Block)| it.1.sort == BlockSort::Heap;
        let Some((_, known)) = found.filter(is_heap) else {
            inside.judge_free(address, deallocator, caller);
            inside.is_inside = false;
            return None;
        };
        if !inside.scheduler.machine.is_alone()
            && !inside.is_c_library(caller.pc)
            && let Some(object) = inside.shared_object_in(address, known.size)
        {
            let site = inside.site(caller);
            step(&mut inside, Op::on(OpKind::Free, object, site));
            // Another thread may have freed it meanwhile, and a third may have a block there now.
            let now = inside.memory.heap.block_of(address);
            if !now.is_some_and(|(base, it)| base == address && it.is(&known)) {
                end_freed(&mut inside, Misuse::DoubleFree, address, site, object);
            }
        }
        inside.judge_deallocator(address, &known, deallocator, caller);
        inside.inspect_free(address, known.size, caller);
        inside.free_block(address, known, caller);
        inside.memory.shadow.unfence(address, known.size);
        if is_mapping_of_its_own(address) {
            // Whatever is mapped there next has nothing to do with it.
            inside.memory.shadow.fill(address - HEADER, HEADER + room_of(address), false);
        } else {
            inside.memory.shadow.fill(address, known.size.max(1), true);
        }
        inside.is_inside = false;
        Some(known)
    }
}
