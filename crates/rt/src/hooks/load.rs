//! Libraries that are loaded while the program runs: what is in them gets its names when it is first met.
//!
//! The C library looks at who calls `dlopen`, so we go on there without leaving a trace of us.

use std::{
    ffi::c_void,
    ptr,
    sync::atomic::{AtomicPtr, Ordering::Relaxed},
};

use crate::control::{control, is_active};

static DLOPEN: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());

/// See the C library's documentation.
///
/// # Safety
///
/// As there.
#[unsafe(no_mangle)]
#[unsafe(naked)]
pub(crate) unsafe extern "C" fn dlopen() {
    core::arch::naked_asm!(
        ".cfi_startproc",
        "push rdi",
        ".cfi_adjust_cfa_offset 8",
        "push rsi",
        ".cfi_adjust_cfa_offset 8",
        "sub rsp, 8",
        ".cfi_adjust_cfa_offset 8",
        "call {before}",
        "add rsp, 8",
        ".cfi_adjust_cfa_offset -8",
        "pop rsi",
        ".cfi_adjust_cfa_offset -8",
        "pop rdi",
        ".cfi_adjust_cfa_offset -8",
        "jmp rax",
        ".cfi_endproc",
        before = sym before,
    )
}

/// Notes that there may be more modules soon. The real function.
extern "C" fn before() -> *mut c_void {
    if is_active() {
        // SAFETY: active means initialised; a plain number.
        unsafe { (*control()).expect_modules() };
    }
    let mut symbol = DLOPEN.load(Relaxed);
    if symbol.is_null() {
        // SAFETY: the name is a C string, and RTLD_NEXT is a valid handle.
        symbol = unsafe { libc::dlsym(libc::RTLD_NEXT, c"dlopen".as_ptr()) };
        DLOPEN.store(symbol, Relaxed);
    }
    symbol
}
