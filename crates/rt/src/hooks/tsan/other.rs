//! Ranges, virtual tables, memory copies, and annotations.

use std::ffi::{c_int, c_void};

use libc::size_t;
use raddle_model::{Op, OpKind, Order};

use crate::{
    access::{access, range},
    control::{Caller, control, enter, leave, looks},
    hooks::{caller, export},
    real,
    step::step,
    threads::IMPLIED,
};

/// Called many times, before constructors; what there is to do was done when we were loaded.
#[unsafe(no_mangle)]
extern "C" fn __tsan_init() {}

export! {
    __tsan_read_range => do_read_range;
    __tsan_write_range => do_write_range;
    __tsan_vptr_update => do_vptr_update;
    __tsan_memcpy => do_memcpy;
    __tsan_memmove => do_memmove;
    __tsan_memset => do_memset;
    memcpy => do_memcpy;
    memmove => do_memmove;
    memset => do_memset;
    __tsan_acquire => do_acquire;
    __tsan_release => do_release;
    __tsan_mutex_create => do_nothing;
    __tsan_mutex_destroy => do_nothing;
    __tsan_mutex_pre_lock => do_nothing;
    __tsan_mutex_post_lock => do_nothing;
    __tsan_mutex_pre_unlock => do_zero;
    __tsan_mutex_post_unlock => do_nothing;
    __tsan_mutex_pre_signal => do_nothing;
    __tsan_mutex_post_signal => do_nothing;
    __tsan_mutex_pre_divert => do_nothing;
    __tsan_mutex_post_divert => do_nothing;
    __tsan_flush_memory => do_nothing;
    __tsan_ignore_thread_begin => do_nothing;
    __tsan_ignore_thread_end => do_nothing;
    __tsan_switch_to_fiber => do_nothing;
    __tsan_set_fiber_name => do_nothing;
    __tsan_destroy_fiber => do_nothing;
    __tsan_get_current_fiber => do_zero;
    __tsan_create_fiber => do_zero;
    __tsan_external_register_tag => do_zero;
    __tsan_external_register_header => do_nothing;
    __tsan_external_assign_tag => do_nothing;
    AnnotateHappensBefore => do_annotate_release;
    AnnotateHappensAfter => do_annotate_acquire;
    AnnotateIgnoreReadsBegin => do_nothing;
    AnnotateIgnoreReadsEnd => do_nothing;
    AnnotateIgnoreWritesBegin => do_nothing;
    AnnotateIgnoreWritesEnd => do_nothing;
    AnnotateIgnoreSyncBegin => do_nothing;
    AnnotateIgnoreSyncEnd => do_nothing;
    AnnotateBenignRaceSized => do_nothing;
    AnnotateBenignRace => do_nothing;
    AnnotateRWLockCreate => do_nothing;
    AnnotateRWLockCreateStatic => do_nothing;
    AnnotateRWLockDestroy => do_nothing;
    AnnotateRWLockAcquired => do_nothing;
    AnnotateRWLockReleased => do_nothing;
    AnnotateThreadName => do_nothing;
    AnnotateNewMemory => do_nothing;
    RunningOnValgrind => do_zero;
}

extern "C" fn do_nothing() {}

extern "C" fn do_zero() -> usize {
    0
}

extern "C" fn do_read_range(address: usize, size: usize) {
    range(address, size, OpKind::Read, caller());
}

extern "C" fn do_write_range(address: usize, size: usize) {
    range(address, size, OpKind::Write, caller());
}

/// A constructor or destructor sets the virtual table; to the same one is no write.
extern "C" fn do_vptr_update(address: *const usize, value: usize) {
    let Caller { pc, sp } = caller();
    // SAFETY: the object is being made or destroyed by the caller.
    if unsafe { *address } != value {
        access::<8, true>(address as usize, pc, sp);
    }
}

/// Is memory worth a look: does more than one thread run?
fn is_shared_world() -> bool {
    // SAFETY: active means initialised; a plain look.
    looks() && unsafe { (*control()).is_execution && !(*control()).is_inside }
}

unsafe extern "C" fn do_memcpy(to: *mut c_void, from: *const c_void, size: size_t) -> *mut c_void {
    // SAFETY: the program's promises are passed on.
    unsafe {
        if is_shared_world() {
            let caller = caller();
            range(from as usize, size, OpKind::Read, caller);
            range(to as usize, size, OpKind::Write, caller);
        }
        real::memcpy(to, from, size)
    }
}

unsafe extern "C" fn do_memmove(to: *mut c_void, from: *const c_void, size: size_t) -> *mut c_void {
    // SAFETY: the program's promises are passed on.
    unsafe {
        if is_shared_world() {
            let caller = caller();
            range(from as usize, size, OpKind::Read, caller);
            range(to as usize, size, OpKind::Write, caller);
        }
        real::memmove(to, from, size)
    }
}

unsafe extern "C" fn do_memset(to: *mut c_void, byte: c_int, size: size_t) -> *mut c_void {
    // SAFETY: the program's promises are passed on.
    unsafe {
        if is_shared_world() {
            range(to as usize, size, OpKind::Write, caller());
        }
        real::memset(to, byte, size)
    }
}

/// An annotation of synchronisation that we do not see otherwise: a step on a variable.
fn annotate(address: usize, kind: OpKind) {
    let caller = caller();
    if !enter() {
        return;
    }
    // SAFETY: the thread that runs is inside a hook; the borrows end before the step.
    unsafe {
        let object = (*control()).variable(address);
        let site = (*control()).site(caller);
        let is_acquire = kind == OpKind::AtomicLoad;
        let order = if is_acquire { Order::Acquire } else { Order::Release };
        step(Op { flags: IMPLIED, ..Op::on(kind, object, site).order(order) });
        if is_acquire {
            (*control()).acquire(object);
        } else {
            (*control()).release(object);
        }
    }
    leave(());
}

extern "C" fn do_acquire(address: usize) {
    annotate(address, OpKind::AtomicLoad);
}

extern "C" fn do_release(address: usize) {
    annotate(address, OpKind::AtomicStore);
}

extern "C" fn do_annotate_acquire(_file: usize, _line: c_int, address: usize) {
    annotate(address, OpKind::AtomicLoad);
}

extern "C" fn do_annotate_release(_file: usize, _line: c_int, address: usize) {
    annotate(address, OpKind::AtomicStore);
}
