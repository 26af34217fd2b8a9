//! `malloc` and its like: blocks are known by where they were allocated, and freed memory is known to
//! be free.

use std::ffi::{c_int, c_void};

use libc::size_t;
use raddle_model::{End, Misuse, ObjectId, Op, OpKind};

use crate::{
    control::{Caller, control, enter, leave},
    end,
    heap::N_CALLERS,
    hooks::{caller, export},
    step::step,
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
}

unsafe extern "C" fn do_malloc(size: size_t) -> *mut c_void {
    let caller = caller();
    // SAFETY: asks for memory.
    allocated(unsafe { __libc_malloc(size) }, size, caller)
}

unsafe extern "C" fn do_calloc(count: size_t, size: size_t) -> *mut c_void {
    let caller = caller();
    // SAFETY: asks for memory.
    allocated(unsafe { __libc_calloc(count, size) }, count.saturating_mul(size), caller)
}

unsafe extern "C" fn do_memalign(align: size_t, size: size_t) -> *mut c_void {
    let caller = caller();
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

unsafe extern "C" fn do_realloc(block: *mut c_void, size: size_t) -> *mut c_void {
    let caller = caller();
    if !block.is_null() {
        forget(block, caller);
    }
    // SAFETY: the program promises a block of its own.
    allocated(unsafe { __libc_realloc(block, size) }, size, caller)
}

unsafe extern "C" fn do_free(block: *mut c_void) {
    if block.is_null() {
        return;
    }
    forget(block, caller());
    // SAFETY: the program promises a block of its own.
    unsafe { __libc_free(block) };
}

fn allocated(block: *mut c_void, size: usize, caller: Caller) -> *mut c_void {
    if block.is_null() || !enter() {
        return block;
    }
    // SAFETY: the thread that runs is inside a hook.
    unsafe {
        let control = control();
        let site = (*control).site(caller);
        let mut callers = [0; N_CALLERS];
        for (to, pc) in callers.iter_mut().zip((*control).hot.stack.callers()) {
            *to = pc;
        }
        (*control).heap.add(block as usize, size, site, callers);
        (*control).shadow.fill(block as usize, size, false);
    }
    leave(block)
}

/// A block is about to be freed: a step, if other threads know it.
fn forget(block: *mut c_void, caller: Caller) {
    if !enter() {
        return;
    }
    let address = block as usize;
    // SAFETY: the thread that runs is inside a hook; the borrows end before the step.
    unsafe {
        let control = control();
        if let Some((base, known)) = (*control).heap.block_of(address)
            && base == address
        {
            if (*control).machine.n_live() > 1
                && let Some(object) = (*control).shared_object_in(address, known.size)
            {
                let site = (*control).site(caller);
                step(Op::on(OpKind::Free, object, site));
                free_twice((*control).heap.block_of(address).is_none(), object, caller);
            }
            (*control).heap.remove(address);
            (*control).shadow.fill(address, known.size, !is_mapping_of_its_own(address));
        }
    }
    leave(());
}

/// Is the block a mapping of its own, which the C library gives back to the kernel? Whatever is mapped
/// there next has nothing to do with it. (glibc: bit 1 of the size word before the block.)
unsafe fn is_mapping_of_its_own(address: usize) -> bool {
    const IS_MAPPED: usize = 2;
    // SAFETY: the caller has a block of the C library's.
    unsafe { ((address - size_of::<usize>()) as *const usize).read() & IS_MAPPED != 0 }
}

/// Another thread freed the block while this one waited for its turn to do so.
fn free_twice(is_gone: bool, object: ObjectId, caller: Caller) {
    if is_gone {
        // SAFETY: the thread that runs is inside a hook.
        let site = unsafe { (*control()).site(caller) };
        end::end_about(End::Misuse(Misuse::DoubleFree), site, object, b"");
    }
}
