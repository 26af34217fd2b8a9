//! The stack that handlers of ours run on.

use std::sync::atomic::{AtomicPtr, Ordering::Relaxed};

use crate::base::{arena, real};

/// Bytes of the stack that handlers run on.
pub(crate) const STACK_SIZE: usize = 64 << 10;

/// Gives the calling kernel thread a stack for handlers, so that a stack overflow can be told.
pub(crate) fn use_alternate_stack() {
    let stack =
        libc::stack_t { ss_sp: arena::map(STACK_SIZE).cast(), ss_flags: 0, ss_size: STACK_SIZE };
    ALTERNATE.store(stack.ss_sp.cast(), Relaxed);
    // SAFETY: the memory is ours for ever.
    unsafe { real::sigaltstack(&raw const stack, std::ptr::null_mut()) };
}

/// The stack for handlers that was last made.
static ALTERNATE: AtomicPtr<u8> = AtomicPtr::new(std::ptr::null_mut());

/// A stack for handlers, as a thread would be told that it has it.
pub(crate) fn alternate_stack() -> libc::stack_t {
    libc::stack_t { ss_sp: ALTERNATE.load(Relaxed).cast(), ss_flags: 0, ss_size: STACK_SIZE }
}
