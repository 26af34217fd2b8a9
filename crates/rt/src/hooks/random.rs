//! Sources of randomness: deterministic, from the execution's seed.

use std::ffi::{c_int, c_uint, c_void};

use libc::{size_t, ssize_t};

use crate::{base::random::fill, control::enter, hooks::export, schedule::signals::leave};

export! {
    getrandom => do_getrandom;
    getentropy => do_getentropy;
    _ZNSt13random_device9_M_getvalEv => do_random_device;
    arc4random => do_arc4random;
    arc4random_buf => do_arc4random_buf;
    arc4random_uniform => do_arc4random_uniform;
}

unsafe extern "C" fn do_getrandom(buffer: *mut c_void, size: size_t, flags: c_uint) -> ssize_t {
    // SAFETY: the program's promises are passed on.
    unsafe {
        let Some(inside) = enter() else {
            return raddle_fiber::raw::syscall(
                libc::SYS_getrandom,
                [buffer as usize, size, flags as usize, 0, 0, 0],
            );
        };
        fill(buffer, size);
        leave(size as ssize_t, inside)
    }
}

unsafe extern "C" fn do_getentropy(buffer: *mut c_void, size: size_t) -> c_int {
    // SAFETY: the program's promises are passed on.
    let result = unsafe { do_getrandom(buffer, size, 0) };
    if result < 0 { -1 } else { 0 }
}

unsafe extern "C" fn do_arc4random() -> u32 {
    let mut value = 0_u32;
    // SAFETY: the buffer is ours.
    unsafe { do_getrandom((&raw mut value).cast(), 4, 0) };
    value
}

/// `std::random_device`: what it asks, the processor or the kernel, depends on how the library was built.
unsafe extern "C" fn do_random_device(_device: *mut c_void) -> u32 {
    // SAFETY: needs nothing.
    unsafe { do_arc4random() }
}

unsafe extern "C" fn do_arc4random_buf(buffer: *mut c_void, size: size_t) {
    // SAFETY: the program's promises are passed on.
    unsafe { do_getrandom(buffer, size, 0) };
}

unsafe extern "C" fn do_arc4random_uniform(bound: u32) -> u32 {
    // SAFETY: needs nothing.
    let value = unsafe { do_arc4random() };
    if bound < 2 { 0 } else { value % bound }
}
