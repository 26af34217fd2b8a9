//! Hands a signal on to a handler of the program as the kernel would have: on the stack that the program expects
//! it on, with a frame from which the handler returns or may look at the fault. It may as well leave by
//! `siglongjmp`. Our own stack for handlers is free again as soon as ours has returned.

use std::{
    arch::naked_asm,
    ffi::{c_int, c_void},
};

use crate::{
    abi::x86_64::{CONTEXT_SIZE, DIRECTION_FLAG, RED_ZONE, restore, state_size},
    control::{control, is_active},
};

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
            None => restore as *const () as usize,
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
    naked_asm!("call {end}", "jmp {restore}", end = sym end_apart, restore = sym restore)
}

extern "C" fn end_apart() {
    if is_active() {
        // SAFETY: the thread that runs has left its handler, and is outside every hook.
        unsafe { (*control()).end_apart(None) };
    }
}
