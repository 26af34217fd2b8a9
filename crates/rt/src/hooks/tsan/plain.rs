//! Plain accesses. Hot: each exported symbol passes its caller in registers.

use raddle_model::OpKind;

use crate::{
    access::{access, range},
    control::{Caller, is_active},
};

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

/// One access that reads and writes (clang's compound form): one step.
extern "C" fn read_write<const SIZE: usize>(address: usize, pc: usize, sp: usize) {
    if is_active() {
        range(address, SIZE, OpKind::ReadWrite, Caller { pc, sp });
    }
}

export_access! {
    __tsan_read1 => read::<1>;
    __tsan_read2 => read::<2>;
    __tsan_read4 => read::<4>;
    __tsan_read8 => read::<8>;
    __tsan_read16 => read16;
    __tsan_write1 => write::<1>;
    __tsan_write2 => write::<2>;
    __tsan_write4 => write::<4>;
    __tsan_write8 => write::<8>;
    __tsan_write16 => write16;
    __tsan_unaligned_read2 => read::<2>;
    __tsan_unaligned_read4 => read::<4>;
    __tsan_unaligned_read8 => read::<8>;
    __tsan_unaligned_read16 => read16;
    __tsan_unaligned_write2 => write::<2>;
    __tsan_unaligned_write4 => write::<4>;
    __tsan_unaligned_write8 => write::<8>;
    __tsan_unaligned_write16 => write16;
    __tsan_volatile_read1 => read::<1>;
    __tsan_volatile_read2 => read::<2>;
    __tsan_volatile_read4 => read::<4>;
    __tsan_volatile_read8 => read::<8>;
    __tsan_volatile_read16 => read16;
    __tsan_volatile_write1 => write::<1>;
    __tsan_volatile_write2 => write::<2>;
    __tsan_volatile_write4 => write::<4>;
    __tsan_volatile_write8 => write::<8>;
    __tsan_volatile_write16 => write16;
    __tsan_unaligned_volatile_read2 => read::<2>;
    __tsan_unaligned_volatile_read4 => read::<4>;
    __tsan_unaligned_volatile_read8 => read::<8>;
    __tsan_unaligned_volatile_read16 => read16;
    __tsan_unaligned_volatile_write2 => write::<2>;
    __tsan_unaligned_volatile_write4 => write::<4>;
    __tsan_unaligned_volatile_write8 => write::<8>;
    __tsan_unaligned_volatile_write16 => write16;
    __tsan_read_write1 => read_write::<1>;
    __tsan_read_write2 => read_write::<2>;
    __tsan_read_write4 => read_write::<4>;
    __tsan_read_write8 => read_write::<8>;
    __tsan_read_write16 => read_write::<16>;
    __tsan_unaligned_read_write2 => read_write::<2>;
    __tsan_unaligned_read_write4 => read_write::<4>;
    __tsan_unaligned_read_write8 => read_write::<8>;
    __tsan_unaligned_read_write16 => read_write::<16>;
    __tsan_vptr_read => read::<8>;
}
