//! One function for each C function that we stand in for, each a few lines, in one file per header.
//!
//! A hook's symbol is a short piece of assembly that remembers where it was called from and jumps to
//! the function that does the work; arguments stay where the C calling convention puts them.

mod barrier;
mod c11;
mod cancel;
mod check;
mod child;
mod common;
mod cond;
mod cpu;
mod descriptor;
mod destroyed;
mod file;
mod futex;
mod io;
mod load;
mod mapping;
mod memory;
mod mutex;
mod number;
mod once;
mod panic;
mod poll;
mod process;
mod queue;
mod random;
mod rwlock;
mod sem;
mod signal;
mod spin;
mod std_call;
mod stdio;
mod syscall;
mod thread;
mod thread_local;
mod time;
mod timer;
mod tsan;

use crate::control::Caller;

pub(crate) use cancel::{is_cancel_due, test_cancel, warm_up_unwinder};
pub(crate) use number::Listing;
pub(crate) use process::{exit_process, register_handlers};
pub(crate) use random::{fingerprint as random_fingerprint, seed_random};
pub(crate) use thread_local::run_thread_destructors;
pub(crate) use tsan::NO_RESULT;

/// Finds the functions of the C library that hooks go on in.
pub(crate) fn find_all() {
    common::find_all();
    stdio::find_all();
}

/// Where the hook that is being entered was called from. Written by the hooks' first instructions,
/// read at once by [`caller`]; one thread runs at a time.
#[repr(C)]
struct CallerCell(std::cell::UnsafeCell<[usize; 2]>);

// SAFETY: plain words; a thread that is not ours can at worst make a site wrong.
unsafe impl Sync for CallerCell {}

static CALLER: CallerCell = CallerCell(std::cell::UnsafeCell::new([0; 2]));

/// Says in `errno` what failed, for a function that returns -1 then.
fn fail(error: std::ffi::c_int) -> std::ffi::c_int {
    // SAFETY: the C library's place for it, for the thread that runs.
    unsafe { *libc::__errno_location() = error };
    -1
}

/// Where the hook that has just been entered was called from.
#[inline(always)]
fn caller() -> Caller {
    // SAFETY: see `CallerCell`.
    let [pc, sp] = unsafe { *CALLER.0.get() };
    Caller { pc, sp }
}

/// Exports `$name`, which notes its caller and goes on in `$work`.
macro_rules! export {
    ($($name:ident => $work:path;)*) => {$(
        /// See the C library's documentation.
        ///
        /// # Safety
        ///
        /// As there.
        #[unsafe(no_mangle)]
        #[unsafe(naked)]
        pub(crate) unsafe extern "C" fn $name() {
            core::arch::naked_asm!(
                "mov r11, [rsp]",
                "mov [rip + {caller}], r11",
                "lea r11, [rsp + 8]",
                "mov [rip + {caller} + 8], r11",
                "jmp {work}",
                caller = sym $crate::hooks::CALLER,
                work = sym $work,
            )
        }
    )*};
}
pub(crate) use export;
