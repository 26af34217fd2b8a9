//! The beginning of a panic: std hands its exception to the unwinder.
//!
//! The unwinder looks at its caller's frame, so ours must be gone when it runs: the hook jumps.

use std::{
    ffi::{c_int, c_void},
    sync::atomic::{AtomicPtr, Ordering::Relaxed},
};

use raddle_rust_std::EXCEPTION_CLASS;

use crate::{
    base::real,
    control::enter_if,
    record::{
        panics::{Panic, message},
        stack::Caller,
    },
    schedule::signals::leave,
};

/// The unwinder's own function.
static RAISE: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());

/// See the unwinder's documentation.
///
/// # Safety
///
/// As there.
#[unsafe(no_mangle)]
#[unsafe(naked)]
unsafe extern "C-unwind" fn _Unwind_RaiseException(exception: *mut c_void) -> c_int {
    core::arch::naked_asm!(
        "push rdi",
        "mov rsi, [rsp + 8]",
        "lea rdx, [rsp + 16]",
        "call {note}",
        "pop rdi",
        "jmp [rip + {raise}]",
        note = sym note,
        raise = sym RAISE,
    )
}

unsafe extern "C" fn note(exception: *const u8, pc: usize, sp: usize) {
    if RAISE.load(Relaxed).is_null() {
        RAISE.store(real::unwinder(), Relaxed);
    }
    // SAFETY: an exception begins with its class.
    let class = unsafe { exception.cast::<u64>().read_unaligned() };
    let Some(mut inside) = enter_if(class == EXCEPTION_CLASS) else {
        return;
    };
    // SAFETY: the thread that runs is inside a hook; the exception is std's.
    unsafe {
        let site = inside.site(Caller { pc, sp });
        let callers = inside.hot.stack.callers().collect();
        let panic = Panic { thread: inside.me, site, callers, message: message(exception) };
        inside.recorder.panics.add(panic);
    }
    leave((), inside);
}
