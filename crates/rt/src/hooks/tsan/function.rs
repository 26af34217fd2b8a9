//! Function entry and exit: what is common is assembly, for it happens at every call of the program.

use std::mem::offset_of;

use crate::{
    control::{Control, GLOBAL, Global, Hot, control},
    outside::near::END,
    record::stack::ShadowStack,
};

const IS_ACTIVE: usize = offset_of!(Global, is_active);
const HOT: usize = offset_of!(Global, control) + offset_of!(Control, hot);
const FS: usize = HOT + offset_of!(Hot, fs);
const STACK: usize = HOT + offset_of!(Hot, stack);
const FRAME_SIZE: usize = 16;
const _: () = assert!(size_of::<ShadowStack>() == 24);

/// Function entry, with the address of the call. The frame keeps the stack pointer beside it.
///
/// # Safety
///
/// Called by instrumented code.
#[unsafe(no_mangle)]
#[unsafe(naked)]
pub(crate) unsafe extern "C" fn __tsan_func_entry() {
    core::arch::naked_asm!(
        // Ten bytes that a copy elsewhere has otherwise.
        "lea r10, [rip + {global}]",
        "nop dword ptr [rax]",
        "cmp byte ptr [r10 + {active}], 0",
        "je 2f",
        "mov rax, fs:[0]",
        "cmp rax, [r10 + {fs}]", // a thread that is not ours
        "jne 2f",
        "mov rax, [r10 + {stack}]",
        "lea rsi, [rsp + 8]",
        "cmp rax, [r10 + {stack} + 8]", // no room
        "jae 3f",
        "cmp rsi, [rax - 8]", // functions that were left without exit
        "jae 3f",
        "mov [rax], rdi",
        "mov [rax + 8], rsi",
        "add rax, {frame}",
        "mov [r10 + {stack}], rax",
        "2: ret",
        "3: jmp {slow}",
        ".quad {end}",
        active = const IS_ACTIVE,
        global = sym GLOBAL,
        end = const END,
        fs = const FS,
        stack = const STACK,
        frame = const FRAME_SIZE,
        slow = sym enter_slowly,
    )
}

extern "C" fn enter_slowly(pc: usize, sp: usize) {
    // SAFETY: the assembly has made sure that the thread that runs calls.
    unsafe { (*control()).hot.stack.push(pc, sp) };
}

/// What a function returns that does not say what: the exit is the last that it calls, and what that leaves behind is
/// this. It is how a `main` is told that returns nothing, or comes to its end without a `return` (before C99).
pub(crate) const NO_RESULT: i32 = 0x6e0_7a1e;

/// Function exit.
///
/// # Safety
///
/// Called by instrumented code.
#[unsafe(no_mangle)]
#[unsafe(naked)]
pub(crate) unsafe extern "C" fn __tsan_func_exit() {
    core::arch::naked_asm!(
        // Ten bytes that a copy elsewhere has otherwise.
        "lea r10, [rip + {global}]",
        "nop dword ptr [rax]",
        "cmp byte ptr [r10 + {active}], 0",
        "je 2f",
        "mov rax, fs:[0]",
        "cmp rax, [r10 + {fs}]",
        "jne 2f",
        "mov rax, [r10 + {stack}]",
        "cmp rax, [r10 + {stack} + 16]",
        "jbe 2f",
        "sub rax, {frame}",
        "mov [r10 + {stack}], rax",
        "2: mov eax, {no_result}",
        "ret",
        ".quad {end}",
        active = const IS_ACTIVE,
        global = sym GLOBAL,
        end = const END,
        fs = const FS,
        stack = const STACK,
        frame = const FRAME_SIZE,
        no_result = const NO_RESULT,
    )
}
