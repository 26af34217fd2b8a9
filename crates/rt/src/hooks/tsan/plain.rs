//! Plain accesses. What is common, memory that only the thread that runs has touched, is assembly, for
//! it happens at every access of the program: a look at one cell.

use std::mem::offset_of;

use raddle_analysis::hb::Segment;
use raddle_model::OpKind;

use crate::{
    control::{Control, GLOBAL, Global, Hot},
    outside::near::{END, Hook},
    record::stack::Caller,
    schedule::access::{access, range, volatile},
    state::shadow::{BLOCK, CHUNK_BITS, CHUNK_BYTES, MASK_SHIFT, TAG},
};

const IS_TRACKING: usize = offset_of!(Global, is_tracking);
const CONTROL: usize = offset_of!(Global, control);
const HOT: usize = CONTROL + offset_of!(Control, hot);
const MINE_WRITTEN: usize = HOT + offset_of!(Hot, mine_written);
const MINE: usize = HOT + offset_of!(Hot, mine);
const PATIENCE: usize = HOT + offset_of!(Hot, patience);
const CHUNKS: usize = HOT + offset_of!(Hot, chunks);
const OWNERS: usize = HOT + offset_of!(Hot, owners);
const FS: usize = HOT + offset_of!(Hot, fs);
const ME: usize = CONTROL + offset_of!(Control, me);
const IS_INSIDE: usize = CONTROL + offset_of!(Control, is_inside);
/// Of a cell for writes, where it is; and of its partner for reads.
const WRITES: usize = 0;
const READS: usize = BLOCK;

/// Exports `$name(address)`: an aligned access that the thread has made before, in the same segment, says
/// the cell, returns at once. An access that the thread makes in another segment, or to other bytes of the cell, is noted if
/// the memory is its own, and returns. All else goes on in `$work(address, pc, sp)`. `$patience` counts reads: whoever only
/// reads goes to 3 at some time (`waiting`).
///
/// `$part` looks whether the bytes of an access to a part of a cell are among the cell's, `$owner` puts what the cell for
/// writes says into eax, or goes to 3, and `$fresh` makes the new cell.
macro_rules! export_fast {
    ($($name:ident: $misaligned:literal, $aligned:literal, $word:literal, $new:literal, $plane:ident, $mine:ident,
        $patience:literal, [$($part:literal),*], [$($owner:literal),*], [$($fresh:literal),*] => $work:expr;)*) => {$(
        /// See the interface of ThreadSanitizer.
        ///
        /// # Safety
        ///
        /// Called by instrumented code.
        #[unsafe(no_mangle)]
        #[unsafe(naked)]
        pub(crate) unsafe extern "C" fn $name() {
            core::arch::naked_asm!(
                // Ten bytes that a copy elsewhere has otherwise.
                "lea r10, [rip + {global}]",
                "nop dword ptr [rax]",
                "cmp byte ptr [r10 + {is_tracking}], 0",
                "je 2f",
                $patience,
                concat!("test dil, ", $misaligned),
                "jnz 3f",
                "mov rax, rdi",
                "shr rax, {bits}",
                "mov rcx, [r10 + {chunks}]",
                "mov r9, [rcx + rax * 8]",
                "mov ecx, edi",
                "and ecx, {place}",
                "test r9, r9",
                "jz 3f",
                "add r9, rcx",
                "and ecx, -{block}",
                "add r9, rcx",
                concat!("mov ", $word, ", [r9 + {plane}]"),
                $($part,)*
                concat!("cmp ", $word, ", [r10 + {mine}]"),
                "jne 4f",
                "2: ret",
                "4:",
                $($owner,)*
                // An owner's cell, which is neither 0 nor has a tag.
                "lea edx, [rax - 1]",
                "cmp edx, {tags} - 1",
                "jae 3f",
                "cmp dword ptr [r10 + {mine}], {nobodys}",
                "je 3f",
                "and eax, {segments}",
                "mov rdx, [r10 + {owners}]",
                "mov eax, [rdx + rax * 4]",
                "cmp eax, [r10 + {me}]",
                "jne 3f",
                // May the thread enter a hook (`control::may_enter`)?
                "cmp byte ptr [r10 + {is_inside}], 0",
                "jne 3f",
                "mov rax, fs:[0]",
                "cmp rax, [r10 + {fs}]",
                "jne 3f",
                $($fresh,)*
                concat!("mov [r9 + {plane}], ", $new),
                "ret",
                "3: mov rsi, [rsp]",
                "lea rdx, [rsp + 8]",
                "jmp {work}",
                ".quad {end}",
                // At the end, where nobody runs it: what it aligns is the function's section, and so its entry.
                ".p2align 6",
                "/* {patience} {mask} {mask_shift} */",
                is_tracking = const IS_TRACKING,
                global = sym GLOBAL,
                end = const END,
                chunks = const CHUNKS,
                patience = const PATIENCE,
                mine = const $mine,
                plane = const $plane,
                writes = const WRITES,
                block = const BLOCK,
                bits = const CHUNK_BITS,
                place = const (CHUNK_BYTES - 1) & !($aligned - 1),
                mask = const 15 << MASK_SHIFT,
                mask_shift = const MASK_SHIFT,
                tags = const TAG & TAG.wrapping_neg(),
                nobodys = const Segment::LIMIT,
                segments = const (1 << Segment::BITS) - 1,
                owners = const OWNERS,
                me = const ME,
                is_inside = const IS_INSIDE,
                fs = const FS,
                work = sym $work,
            )
        }
    )*};
}

/// Those of them that are the most of what a program calls, in the order of `protocol::NEAR_HOOKS`.
pub(crate) const NEAR: [Hook; 8] = [
    __tsan_read1,
    __tsan_read2,
    __tsan_read4,
    __tsan_read8,
    __tsan_write1,
    __tsan_write2,
    __tsan_write4,
    __tsan_write8,
];

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
    __tsan_read1: "0", 4, "eax", "r8d", READS, MINE, "sub dword ptr [r10 + {patience}], 1; js 3f",
        ["mov ecx, edi", "and ecx, 3", "add ecx, {mask_shift}", "bt eax, ecx", "jnc 4f", "or eax, {mask}"],
        ["mov eax, [r9 + {writes}]"],
        ["mov r8d, 1", "shl r8d, cl", "mov edx, [r10 + {mine}]", "and edx, ~{mask}", "or r8d, edx", "mov eax, [r9 + {plane}]",
            "mov ecx, eax", "and ecx, ~{mask}", "cmp ecx, edx", "jne 5f", "or r8d, eax", "5:"] => read::<1>;
    __tsan_read2: "1", 4, "eax", "r8d", READS, MINE, "sub dword ptr [r10 + {patience}], 1; js 3f",
        ["mov ecx, edi", "and ecx, 3", "add ecx, {mask_shift}", "mov r8d, 3", "shl r8d, cl",
            "mov edx, eax", "and edx, r8d", "cmp edx, r8d", "jne 4f", "or eax, {mask}"],
        ["mov eax, [r9 + {writes}]"],
        ["mov edx, [r10 + {mine}]", "and edx, ~{mask}", "or r8d, edx", "mov eax, [r9 + {plane}]",
            "mov ecx, eax", "and ecx, ~{mask}", "cmp ecx, edx", "jne 5f", "or r8d, eax", "5:"] => read::<2>;
    __tsan_read4: "3", 4, "eax", "r8d", READS, MINE, "sub dword ptr [r10 + {patience}], 1; js 3f",
        [],
        ["mov eax, [r9 + {writes}]"],
        ["mov r8d, [r10 + {mine}]"] => read::<4>;
    __tsan_read8: "7", 8, "rax", "r8", READS, MINE, "sub dword ptr [r10 + {patience}], 1; js 3f",
        [],
        ["mov eax, [r9 + {writes}]", "cmp eax, [r9 + {writes} + 4]", "jne 3f"],
        ["mov r8, [r10 + {mine}]"] => read::<8>;
    __tsan_write1: "0", 4, "eax", "r8d", WRITES, MINE_WRITTEN, "",
        ["mov ecx, edi", "and ecx, 3", "add ecx, {mask_shift}", "bt eax, ecx", "jnc 4f", "or eax, {mask}"],
        ["mov eax, [r9 + {writes}]"],
        ["mov r8d, 1", "shl r8d, cl", "mov edx, [r10 + {mine}]", "and edx, ~{mask}", "or r8d, edx", "mov eax, [r9 + {plane}]",
            "mov ecx, eax", "and ecx, ~{mask}", "cmp ecx, edx", "jne 5f", "or r8d, eax", "5:"] => write::<1>;
    __tsan_write2: "1", 4, "eax", "r8d", WRITES, MINE_WRITTEN, "",
        ["mov ecx, edi", "and ecx, 3", "add ecx, {mask_shift}", "mov r8d, 3", "shl r8d, cl",
            "mov edx, eax", "and edx, r8d", "cmp edx, r8d", "jne 4f", "or eax, {mask}"],
        ["mov eax, [r9 + {writes}]"],
        ["mov edx, [r10 + {mine}]", "and edx, ~{mask}", "or r8d, edx", "mov eax, [r9 + {plane}]",
            "mov ecx, eax", "and ecx, ~{mask}", "cmp ecx, edx", "jne 5f", "or r8d, eax", "5:"] => write::<2>;
    __tsan_write4: "3", 4, "eax", "r8d", WRITES, MINE_WRITTEN, "",
        [],
        ["mov eax, [r9 + {writes}]"],
        ["mov r8d, [r10 + {mine}]"] => write::<4>;
    __tsan_write8: "7", 8, "rax", "r8", WRITES, MINE_WRITTEN, "",
        [],
        ["mov eax, [r9 + {writes}]", "cmp eax, [r9 + {writes} + 4]", "jne 3f"],
        ["mov r8, [r10 + {mine}]"] => write::<8>;
    __tsan_vptr_read: "7", 8, "rax", "r8", READS, MINE, "sub dword ptr [r10 + {patience}], 1; js 3f",
        [],
        ["mov eax, [r9 + {writes}]", "cmp eax, [r9 + {writes} + 4]", "jne 3f"],
        ["mov r8, [r10 + {mine}]"] => read::<8>;
}

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
