//! The source of the program's randomness: deterministic.

use std::ffi::c_void;

use raddle_model::Rng;

struct Source(std::cell::UnsafeCell<Rng>);

// SAFETY: used by the thread that runs, inside a hook.
unsafe impl Sync for Source {}

static SOURCE: Source = Source(std::cell::UnsafeCell::new(Rng::new(0)));

/// Begins an execution. The program's randomness does not depend on the plan's seed: a schedule must
/// not change what the program computes.
pub(crate) fn restart() {
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
