//! Assembly that is no hook's entry: memory that may not be there, places that executions begin at again and again, the
//! frames of handlers. And what the kernel and the ABI lay out on stacks.

use std::{arch::naked_asm, ffi::c_void};

/// Bytes below the stack pointer that belong to whoever was interrupted.
pub(crate) const RED_ZONE: usize = 128;
/// Bytes of the kernel's `struct ucontext`.
pub(crate) const CONTEXT_SIZE: usize = 304;
/// In the image of the floating-point state: where it says that it is an extended one, and how large.
const FP_MAGIC_AT: usize = 464;
const FP_SIZE_AT: usize = 468;
const FP_MAGIC: u32 = 0x4650_5853;
const FP_SIZE: usize = 512;
/// Strings go upwards, when a function begins.
pub(crate) const DIRECTION_FLAG: i64 = 1 << 10;

/// The value at an address that the program is about to read, of up to eight bytes. It may fault as the program
/// will: who handles that goes on in [`nothing_there`], and so this uses no stack.
#[unsafe(naked)]
pub(crate) unsafe extern "C" fn peek(address: usize, size: usize) -> u64 {
    naked_asm!(
        "xor eax, eax",
        "cmp rsi, 4",
        "jne 2f",
        "mov eax, [rdi]",
        "ret",
        "2: cmp rsi, 8",
        "jne 3f",
        "mov rax, [rdi]",
        "ret",
        "3: test rsi, rsi",
        "jz 4f",
        "dec rsi",
        "shl rax, 8",
        "mov al, [rdi + rsi]",
        "jmp 3b",
        "4: ret",
    )
}

/// At least as many bytes as [`peek`] has.
const PEEK_BYTES: usize = 48;

/// Is this instruction one of [`peek`]'s?
pub(crate) fn is_peek(pc: usize) -> bool {
    let start = peek as *const () as usize;
    (start..start + PEEK_BYTES).contains(&pc)
}

/// The rest of a [`peek`] at memory that is not there.
#[unsafe(naked)]
pub(crate) unsafe extern "C" fn nothing_there() -> u64 {
    naked_asm!("xor eax, eax", "ret")
}

/// Bytes of the floating-point state that the kernel has saved.
pub(crate) unsafe fn state_size(state: *const u8) -> usize {
    if state.is_null() {
        return 0;
    }
    // SAFETY: the caller passes what the kernel saved, which is at least as large as its first part.
    unsafe {
        let word = |at: usize| state.add(at).cast::<u32>().read_unaligned();
        if word(FP_MAGIC_AT) == FP_MAGIC { word(FP_SIZE_AT) as usize } else { FP_SIZE }
    }
}

/// Where executions begin. The assembly below knows the offsets.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct Launch {
    pub(crate) sp: usize,
    pub(crate) ip: usize,
    pub(crate) fs: usize,
    pub(crate) mxcsr: u32,
    pub(crate) x87: u32,
    pub(crate) run: extern "C-unwind" fn() -> !,
}

/// Calls `launch.run` by way of [`relaunch`], again and again: with the same stack pointer, the same
/// registers, and zeroes below, where whoever was here before has left its marks. First `body` is called,
/// on another stack, which goes to `relaunch`; without such a stack, `launch.run` is called at once.
#[unsafe(naked)]
pub(crate) unsafe extern "C-unwind" fn launch(
    launch: *mut Launch,
    top: usize,
    body: unsafe extern "C" fn(*mut c_void) -> !,
    arg: *mut c_void,
) -> ! {
    naked_asm!(
        ".cfi_startproc",
        "push rbp",
        ".cfi_def_cfa_offset 16",
        ".cfi_offset rbp, -16",
        "mov rbp, rsp",
        ".cfi_def_cfa_register rbp",
        "mov [rdi], rsp",
        "lea rax, [rip + 2f]",
        "mov [rdi + 8], rax",
        "stmxcsr [rdi + 24]",
        "fnstcw [rdi + 28]",
        "test rsi, rsi",
        "jz 2f",
        "mov rsp, rsi",
        "mov rdi, rcx",
        "call rdx",
        "ud2",
        "2:",
        "mov r8, [rdi + 32]",
        "lea rdi, [rsp - {below}]",
        "mov ecx, {below} / 8",
        "xor eax, eax",
        "rep stosq",
        "xor ebx, ebx",
        "xor r12d, r12d",
        "xor r13d, r13d",
        "xor r14d, r14d",
        "xor r15d, r15d",
        "call r8",
        "ud2",
        ".cfi_endproc",
        below = const 8192,
    )
}

/// Goes on in [`launch`], whatever ran before.
#[unsafe(naked)]
pub(crate) unsafe extern "C" fn relaunch(launch: *const Launch) -> ! {
    naked_asm!(
        "mov rax, [rdi + 16]",
        "wrfsbase rax",
        "fninit",
        "fldcw [rdi + 28]",
        "ldmxcsr [rdi + 24]",
        "cld",
        "mov rsp, [rdi]",
        "mov rbp, rsp",
        "jmp [rdi + 8]",
    )
}

/// Calls `body` on another stack.
#[unsafe(naked)]
pub(crate) unsafe extern "C" fn go_on_at(
    top: usize,
    body: unsafe extern "C" fn(*mut c_void) -> !,
    arg: *mut c_void,
) -> ! {
    naked_asm!("mov rsp, rdi", "xor ebp, ebp", "mov rdi, rdx", "call rsi", "ud2")
}

/// Bytes of [`restore`].
pub(crate) const RESTORE_BYTES: usize = 16;

/// The end of a signal handler. The only call that is never dispatched.
#[unsafe(naked)]
pub(crate) unsafe extern "C" fn restore() {
    naked_asm!("mov eax, 15", "syscall", "ud2")
}

unsafe extern "C" {
    fn _setjmp(buffer: *mut c_void) -> i32;
}

/// Has the C library fill in a jump buffer, to which nobody jumps. Returns the stack pointer that it holds then.
///
/// # Safety
///
/// The buffer is large enough.
#[unsafe(naked)]
pub(crate) unsafe extern "C" fn fill_jump_buffer(buffer: *mut c_void) -> usize {
    naked_asm!(
        "sub rsp, 8",
        "call [rip + {setjmp}@GOTPCREL]",
        "mov rax, rsp",
        "add rsp, 8",
        "ret",
        setjmp = sym _setjmp,
    )
}
