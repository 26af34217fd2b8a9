//! Ranges, virtual tables, memory copies.

use std::ffi::{c_int, c_void};

use libc::size_t;
use raddle_model::OpKind;

use crate::{
    base::real,
    control::{control, is_tracking},
    hooks::{caller, export},
    record::stack::Caller,
    schedule::access::{access, range},
};

/// Called many times, before constructors; what there is to do was done when we were loaded.
#[unsafe(no_mangle)]
extern "C" fn __tsan_init() {}

export! {
    __tsan_read_range => do_read_range;
    __tsan_write_range => do_write_range;
    __tsan_read_range_pc => do_read_range;
    __tsan_write_range_pc => do_write_range;
    __tsan_vptr_update => do_vptr_update;
    __tsan_memcpy => do_memcpy;
    __tsan_memmove => do_memmove;
    __tsan_memset => do_memset;
    memcpy => do_memcpy;
    memmove => do_memmove;
    memset => do_memset;
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
pub(crate) fn is_shared_world() -> bool {
    // SAFETY: active means initialised; a plain look.
    is_tracking() && unsafe { (*control()).process.is_execution && !(*control()).is_inside }
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
