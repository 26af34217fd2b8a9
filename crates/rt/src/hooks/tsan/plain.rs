//! Plain accesses. What is common, memory that only the thread that runs has touched, is assembly, for
//! it happens at every access of the program: a look at one cell.

use std::mem::offset_of;

use raddle_model::OpKind;

use crate::{
    control::{CONTROL, Control, Hot, TRACKING},
    record::stack::Caller,
    schedule::access::{access, range, volatile},
    state::shadow::{BLOCK, CHUNK_BITS, CHUNK_BYTES, MASK_SHIFT},
};

const MINE_WRITTEN: usize = offset_of!(Control, hot) + offset_of!(Hot, mine_written);
const MINE: usize = offset_of!(Control, hot) + offset_of!(Hot, mine);
const PATIENCE: usize = offset_of!(Control, hot) + offset_of!(Hot, patience);
const CHUNKS: usize = offset_of!(Control, hot) + offset_of!(Hot, chunks);
/// Of a cell for writes, where it is; and of its partner for reads.
const WRITES: usize = 0;
const READS: usize = BLOCK;

/// Exports `$name(address)`: an aligned access that the thread has made before, in the same segment, says
/// the cell, returns at once; all else goes on in `$work(address, pc, sp)`. Of an access to a part of a
/// cell, `$part` looks whether those bytes are among the cell's, and goes to 3 if not. `$patience` counts reads: whoever
/// only reads goes to 3 at some time (`waiting`).
macro_rules! export_fast {
    ($($name:ident: $misaligned:literal, $aligned:literal, $word:literal, $plane:ident, $mine:ident,
        $patience:literal, [$($part:literal),*] => $work:expr;)*) => {$(
        /// See the interface of ThreadSanitizer.
        ///
        /// # Safety
        ///
        /// Called by instrumented code.
        #[unsafe(no_mangle)]
        #[unsafe(naked)]
        pub(crate) unsafe extern "C" fn $name() {
            core::arch::naked_asm!(
                "cmp byte ptr [rip + {is_tracking}], 0",
                "je 2f",
                $patience,
                concat!("test dil, ", $misaligned),
                "jnz 3f",
                "mov rax, rdi",
                "shr rax, {bits}",
                "mov rcx, [rip + {control} + {chunks}]",
                "mov rax, [rcx + rax * 8]",
                "mov ecx, edi",
                "and ecx, {mask}",
                "test rax, rax",
                "jz 3f",
                "mov edx, ecx",
                "and edx, -{block}",
                "add rcx, rdx",
                concat!("mov ", $word, ", [rax + rcx + {plane}]"),
                $($part,)*
                concat!("cmp ", $word, ", [rip + {control} + {mine}]"),
                "jne 3f",
                "2: ret",
                "3: mov rsi, [rsp]",
                "lea rdx, [rsp + 8]",
                "jmp {work}",
                // At the end, where nobody runs it: what it aligns is the function's section, and so its entry.
                ".p2align 6",
                is_tracking = sym TRACKING,
                control = sym CONTROL,
                chunks = const CHUNKS,
                patience = const PATIENCE,
                mine = const $mine,
                plane = const $plane,
                block = const BLOCK,
                bits = const CHUNK_BITS,
                mask = const (CHUNK_BYTES - 1) & !($aligned - 1),
                work = sym $work,
            )
        }
    )*};
}

/// Exports `$name(address)`, which goes on in `$work(address, pc, sp)`.
macro_rules! export_access {
    ($($name:ident => $work:expr;)*) => {$(
        /// See the interface of ThreadSanitizer.
        ///
        /// # Safety
        ///
        /// Called by instrumented code.
        #[unsafe(no_mangle)]
        #[unsafe(naked)]
        pub(crate) unsafe extern "C" fn $name() {
            core::arch::naked_asm!(
                "mov rsi, [rsp]",
                "lea rdx, [rsp + 8]",
                "jmp {work}",
                work = sym $work,
            )
        }
    )*};
}

extern "C" fn read<const SIZE: usize>(address: usize, pc: usize, sp: usize) {
    access::<SIZE, false>(address, pc, sp);
}

extern "C" fn write<const SIZE: usize>(address: usize, pc: usize, sp: usize) {
    access::<SIZE, true>(address, pc, sp);
}

extern "C" fn read16(address: usize, pc: usize, sp: usize) {
    access::<8, false>(address, pc, sp);
    access::<8, false>(address + 8, pc, sp);
}

extern "C" fn write16(address: usize, pc: usize, sp: usize) {
    access::<8, true>(address, pc, sp);
    access::<8, true>(address + 8, pc, sp);
}

extern "C" fn volatile_read<const SIZE: usize>(address: usize, pc: usize, sp: usize) {
    volatile(address, SIZE, OpKind::Read, Caller { pc, sp });
}

extern "C" fn volatile_write<const SIZE: usize>(address: usize, pc: usize, sp: usize) {
    volatile(address, SIZE, OpKind::Write, Caller { pc, sp });
}

/// One access that reads and writes (clang's compound form): one step.
extern "C" fn read_write<const SIZE: usize>(address: usize, pc: usize, sp: usize) {
    range(address, SIZE, OpKind::ReadWrite, Caller { pc, sp });
}

export_fast! {
    __tsan_read1: "0", 4, "eax", READS, MINE, "sub dword ptr [rip + {control} + {patience}], 1; js 3f",
        ["mov ecx, edi", "and ecx, 3", "add ecx, 25", "bt eax, ecx", "jnc 3f", "or eax, 15 << 25"]
        => read::<1>;
    __tsan_read2: "1", 4, "eax", READS, MINE, "sub dword ptr [rip + {control} + {patience}], 1; js 3f",
        ["mov ecx, edi", "and ecx, 3", "add ecx, 25", "mov edx, eax", "shr edx, cl", "not edx",
            "test dl, 3", "jnz 3f", "or eax, 15 << 25"]
        => read::<2>;
    __tsan_read4: "3", 4, "eax", READS, MINE, "sub dword ptr [rip + {control} + {patience}], 1; js 3f", [] => read::<4>;
    __tsan_read8: "7", 8, "rax", READS, MINE, "sub dword ptr [rip + {control} + {patience}], 1; js 3f", [] => read::<8>;
    __tsan_write1: "0", 4, "eax", WRITES, MINE_WRITTEN, "/* {patience} */",
        ["mov ecx, edi", "and ecx, 3", "add ecx, 25", "bt eax, ecx", "jnc 3f", "or eax, 15 << 25"]
        => write::<1>;
    __tsan_write2: "1", 4, "eax", WRITES, MINE_WRITTEN, "/* {patience} */",
        ["mov ecx, edi", "and ecx, 3", "add ecx, 25", "mov edx, eax", "shr edx, cl", "not edx",
            "test dl, 3", "jnz 3f", "or eax, 15 << 25"]
        => write::<2>;
    __tsan_write4: "3", 4, "eax", WRITES, MINE_WRITTEN, "/* {patience} */", [] => write::<4>;
    __tsan_write8: "7", 8, "rax", WRITES, MINE_WRITTEN, "/* {patience} */", [] => write::<8>;
    __tsan_vptr_read: "7", 8, "rax", READS, MINE, "sub dword ptr [rip + {control} + {patience}], 1; js 3f", [] => read::<8>;
}

/// The assembly has this number written out.
const _: () = assert!(MASK_SHIFT == 25);

export_access! {
    __tsan_read16 => read16;
    __tsan_write16 => write16;
    __tsan_read1_pc => read::<1>;
    __tsan_read2_pc => read::<2>;
    __tsan_read4_pc => read::<4>;
    __tsan_read8_pc => read::<8>;
    __tsan_read16_pc => read16;
    __tsan_write1_pc => write::<1>;
    __tsan_write2_pc => write::<2>;
    __tsan_write4_pc => write::<4>;
    __tsan_write8_pc => write::<8>;
    __tsan_write16_pc => write16;
    __tsan_unaligned_read2 => read::<2>;
    __tsan_unaligned_read4 => read::<4>;
    __tsan_unaligned_read8 => read::<8>;
    __tsan_unaligned_read16 => read16;
    __tsan_unaligned_write2 => write::<2>;
    __tsan_unaligned_write4 => write::<4>;
    __tsan_unaligned_write8 => write::<8>;
    __tsan_unaligned_write16 => write16;
    __tsan_volatile_read1 => volatile_read::<1>;
    __tsan_volatile_read2 => volatile_read::<2>;
    __tsan_volatile_read4 => volatile_read::<4>;
    __tsan_volatile_read8 => volatile_read::<8>;
    __tsan_volatile_read16 => volatile_read::<16>;
    __tsan_volatile_write1 => volatile_write::<1>;
    __tsan_volatile_write2 => volatile_write::<2>;
    __tsan_volatile_write4 => volatile_write::<4>;
    __tsan_volatile_write8 => volatile_write::<8>;
    __tsan_volatile_write16 => volatile_write::<16>;
    __tsan_unaligned_volatile_read2 => volatile_read::<2>;
    __tsan_unaligned_volatile_read4 => volatile_read::<4>;
    __tsan_unaligned_volatile_read8 => volatile_read::<8>;
    __tsan_unaligned_volatile_read16 => volatile_read::<16>;
    __tsan_unaligned_volatile_write2 => volatile_write::<2>;
    __tsan_unaligned_volatile_write4 => volatile_write::<4>;
    __tsan_unaligned_volatile_write8 => volatile_write::<8>;
    __tsan_unaligned_volatile_write16 => volatile_write::<16>;
    __tsan_read_write1 => read_write::<1>;
    __tsan_read_write2 => read_write::<2>;
    __tsan_read_write4 => read_write::<4>;
    __tsan_read_write8 => read_write::<8>;
    __tsan_read_write16 => read_write::<16>;
    __tsan_unaligned_read_write2 => read_write::<2>;
    __tsan_unaligned_read_write4 => read_write::<4>;
    __tsan_unaligned_read_write8 => read_write::<8>;
    __tsan_unaligned_read_write16 => read_write::<16>;
}
