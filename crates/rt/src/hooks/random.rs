//! Sources of randomness: deterministic, from the execution's seed.

use std::ffi::{c_int, c_uint, c_void};

use libc::{size_t, ssize_t};
use raddle_model::Rng;

use crate::{
    control::{enter, leave},
    hooks::export,
};

struct Source(std::cell::UnsafeCell<Rng>);

// SAFETY: used by the thread that runs, inside a hook.
unsafe impl Sync for Source {}

static SOURCE: Source = Source(std::cell::UnsafeCell::new(Rng::new(0)));

/// Begins an execution. The program's randomness does not depend on the plan's seed: a schedule must
/// not change what the program computes.
pub(crate) fn seed_random(_seed: u64) {
    // SAFETY: the execution has not begun.
    unsafe { *SOURCE.0.get() = Rng::new(0) };
}

/// What the next random bytes will be made from.
pub(crate) fn fingerprint() -> u64 {
    // SAFETY: the source is ours while we are inside a hook.
    unsafe { (*SOURCE.0.get()).clone() }.bits()
}

/// Fills a buffer of the program's with random bytes.
pub(crate) unsafe fn fill(buffer: *mut c_void, size: usize) {
    for idx in 0..size {
        // SAFETY: the program promises the buffer; the source is ours while we are inside a hook.
        unsafe { buffer.cast::<u8>().add(idx).write((*SOURCE.0.get()).bits() as u8) };
    }
}

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
