//! System calls without the C library, whose wrappers we hook and whose `errno` we must not touch.

use std::{arch::asm, sync::atomic::AtomicU32};

/// A system call with up to six arguments. Returns what the kernel returns: `-errno` on error.
///
/// # Safety
///
/// As the system call says.
#[inline]
pub unsafe fn syscall(number: i64, args: [usize; 6]) -> isize {
    let result;
    // SAFETY: the caller promises what the call needs; the registers are those of the Linux ABI.
    unsafe {
        asm!(
            "syscall",
            inlateout("rax") number as isize => result,
            in("rdi") args[0], in("rsi") args[1], in("rdx") args[2],
            in("r10") args[3], in("r8") args[4], in("r9") args[5],
            lateout("rcx") _, lateout("r11") _,
            options(nostack),
        );
    }
    result
}

const SYS_FUTEX: i64 = 202;
const FUTEX_WAIT_PRIVATE: usize = 128;
const FUTEX_WAKE_PRIVATE: usize = 129;

/// Sleeps while `word` has the value `expected`; may return early.
pub fn futex_wait(word: &AtomicU32, expected: u32) {
    // SAFETY: the word lives while we wait; no timeout is given.
    unsafe {
        syscall(SYS_FUTEX, [word.as_ptr() as usize, FUTEX_WAIT_PRIVATE, expected as usize, 0, 0, 0])
    };
}

/// Wakes up to `count` threads that sleep at `word`.
pub fn futex_wake(word: &AtomicU32, count: u32) {
    // SAFETY: waking needs nothing but a mapped word.
    unsafe {
        syscall(SYS_FUTEX, [word.as_ptr() as usize, FUTEX_WAKE_PRIVATE, count as usize, 0, 0, 0])
    };
}

/// Copies this process, with only the calling thread in the copy. Unlike the C library's `fork`, it
/// runs no handlers and leaves the stacks of the other threads alone. Returns 0 in the copy.
///
/// # Safety
///
/// The copy must not rely on the other kernel threads.
pub unsafe fn fork() -> isize {
    const SYS_CLONE: i64 = 56;
    const SIGCHLD: usize = 17;
    // SAFETY: no flags but the exit signal: a plain fork; the caller promises the rest.
    unsafe { syscall(SYS_CLONE, [SIGCHLD, 0, 0, 0, 0, 0]) }
}

/// Ends the process at once.
pub fn exit_group(code: i32) -> ! {
    const SYS_EXIT_GROUP: i64 = 231;
    loop {
        // SAFETY: nothing is left to break.
        unsafe { syscall(SYS_EXIT_GROUP, [code as usize, 0, 0, 0, 0, 0]) };
    }
}

/// The stack pointer, more or less.
#[inline(always)]
pub fn stack_pointer() -> usize {
    let sp;
    // SAFETY: reads a register.
    unsafe { asm!("mov {}, rsp", out(reg) sp, options(nomem, nostack, preserves_flags)) };
    sp
}

/// Clears so many bytes below the stack: what functions that have returned have left there.
///
/// # Safety
///
/// The stack has room for so many.
#[inline(never)]
pub unsafe fn clear_below(n_bytes: usize) {
    // SAFETY: nothing lives there, below the 128 bytes that this function may use itself.
    unsafe {
        asm!(
            "lea rdi, [rsp - 128]",
            "sub rdi, rcx",
            "shr rcx, 3",
            "rep stosq",
            inout("rcx") n_bytes & !7 => _,
            inout("rax") 0_usize => _,
            out("rdi") _,
            options(nostack),
        );
    }
}
