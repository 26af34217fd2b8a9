//! Reads memory of the program that may not be there.

use std::arch::naked_asm;

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
pub(crate) const PEEK_BYTES: usize = 48;

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
