//! Hands a signal on to a handler of the program as the kernel would have: on the stack that the program expects
//! it on, with a frame from which the handler returns or may look at the fault. It may as well leave by
//! `siglongjmp`. Our own stack for handlers is free again as soon as ours has returned.

use std::{
    arch::naked_asm,
    ffi::{c_int, c_void},
};

use crate::{
    control::{control, is_active},
    process::rewind,
};

/// Bytes below the stack pointer that belong to whoever was interrupted.
const RED_ZONE: usize = 128;
/// Bytes of the kernel's `struct ucontext`.
const CONTEXT_SIZE: usize = 304;
/// In the image of the floating-point state: where it says that it is an extended one, and how large.
const FP_MAGIC_AT: usize = 464;
const FP_SIZE_AT: usize = 468;
const FP_MAGIC: u32 = 0x4650_5853;
const FP_SIZE: usize = 512;
/// Strings go upwards, when a function begins.
const DIRECTION_FLAG: i64 = 1 << 10;

/// What the kernel puts on the stack of a handler.
#[repr(C)]
struct Frame {
    /// Where the handler returns to.
    restorer: usize,
    context: [u8; CONTEXT_SIZE],
    info: libc::siginfo_t,
}

/// Has the program go on in its handler when ours returns. `top`: where the program's own stack for handlers ends,
/// if it is to be used; else the handler gets that of whoever was interrupted.
///
/// # Safety
///
/// A handler of ours runs, with what the kernel gave it; the stack has room.
pub(crate) unsafe fn go_on_in(
    handler: usize,
    signal: c_int,
    info: *const libc::siginfo_t,
    context: *mut c_void,
    top: Option<usize>,
) {
    let context = context.cast::<libc::ucontext_t>();
    // SAFETY: the caller promises the kernel's values and a stack with room below `top`.
    unsafe {
        let registers = &mut (*context).uc_mcontext;
        let sp = top.unwrap_or(registers.gregs[libc::REG_RSP as usize] as usize - RED_ZONE);
        let state = registers.fpregs.cast::<u8>();
        let state_size = state_size(state);
        let state_at = (sp - state_size) & !63;
        if state_size > 0 {
            std::ptr::copy_nonoverlapping(state, state_at as *mut u8, state_size);
        }
        // As after a call: the stack was aligned before the return address.
        let frame = (((state_at - size_of::<Frame>()) & !15) - 8) as *mut Frame;
        (*frame).restorer = match top {
            Some(_) => leave_apart as *const () as usize,
            None => rewind::restore as *const () as usize,
        };
        let copy = (&raw mut (*frame).context).cast::<u8>();
        std::ptr::copy_nonoverlapping(context.cast::<u8>(), copy, CONTEXT_SIZE);
        if state_size > 0 {
            (*copy.cast::<libc::ucontext_t>()).uc_mcontext.fpregs = state_at as *mut _;
        }
        (*frame).info = *info;
        let mut set =
            |register: c_int, value: usize| registers.gregs[register as usize] = value as i64;
        set(libc::REG_RIP, handler);
        set(libc::REG_RSP, frame as usize);
        set(libc::REG_RDI, signal as usize);
        set(libc::REG_RSI, &raw const (*frame).info as usize);
        set(libc::REG_RDX, copy as usize);
        set(libc::REG_RAX, 0);
        registers.gregs[libc::REG_EFL as usize] &= !DIRECTION_FLAG;
    }
}

/// Where a handler returns to that ran on a stack of its own.
#[unsafe(naked)]
unsafe extern "C" fn leave_apart() {
    naked_asm!("call {end}", "jmp {restore}", end = sym end_apart, restore = sym rewind::restore)
}

extern "C" fn end_apart() {
    if is_active() {
        // SAFETY: the thread that runs has left its handler, and is outside every hook.
        unsafe { (*control()).end_apart(None) };
    }
}

/// Bytes of the floating-point state that the kernel has saved.
unsafe fn state_size(state: *const u8) -> usize {
    if state.is_null() {
        return 0;
    }
    // SAFETY: the caller passes what the kernel saved, which is at least as large as its first part.
    unsafe {
        let word = |at: usize| state.add(at).cast::<u32>().read_unaligned();
        if word(FP_MAGIC_AT) == FP_MAGIC { word(FP_SIZE_AT) as usize } else { FP_SIZE }
    }
}
