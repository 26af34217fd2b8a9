//! One function for each C function that we stand in for, in one file per header. A new one is a line in its file's table
//! ([`hooks`]) and its type in `real`.
//!
//! A hook's symbol is a short piece of assembly that remembers where it was called from and jumps to
//! the function that does the work; arguments stay where the C calling convention puts them.

mod barrier;
mod c11;
mod cancel;
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
mod operators;
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
mod uses;

use std::{
    ffi::{CStr, c_int, c_void},
    sync::atomic::{AtomicPtr, Ordering::Relaxed},
};

use raddle_machine::ObjectState;
use raddle_trace::{ObjectClass, protocol::NEAR_HOOKS};

use crate::{control::Inside, outside::near::Hook, record::stack::Caller};

pub(crate) use process::register_handlers;
pub(crate) use syscall::raw_syscall;
pub(crate) use tsan::NO_RESULT;

/// The hooks that programs call most, in the order of `protocol::NEAR_HOOKS`.
pub(crate) fn near() -> [Hook; NEAR_HOOKS.len()] {
    let [read1, read2, read4, read8, write1, write2, write4, write8] = tsan::NEAR;
    let [entry, exit]: [Hook; 2] = [tsan::__tsan_func_entry, tsan::__tsan_func_exit];
    [read1, read2, read4, read8, write1, write2, write4, write8, entry, exit]
}

/// Finds the functions of the C library that hooks go on in.
pub(crate) fn find_all() {
    common::find_all();
    stdio::find_all();
    operators::find_all();
    uses::find_all();
}

/// Where the hook that is being entered was called from. Written by the hooks' first instructions,
/// read at once by [`caller`]; one thread runs at a time.
#[repr(C)]
pub(crate) struct CallerCell(std::cell::UnsafeCell<[usize; 2]>);

// SAFETY: plain words; a thread that is not ours can at worst make a site wrong.
unsafe impl Sync for CallerCell {}

pub(crate) static CALLER: CallerCell = CallerCell(std::cell::UnsafeCell::new([0; 2]));

/// Says in `errno` what failed, for a function that returns -1 then.
fn fail(error: std::ffi::c_int) -> std::ffi::c_int {
    // SAFETY: the C library's place for it, for the thread that runs.
    unsafe { *libc::__errno_location() = error };
    -1
}

/// The C library has filled a lock's memory in, with this result: if it succeeded, makes the object.
fn make(
    inside: &mut Inside,
    result: c_int,
    address: usize,
    class: ObjectClass,
    state: impl FnOnce() -> ObjectState,
) -> c_int {
    if result == 0 {
        inside.make_sync_object(address, class, state());
    }
    result
}

/// Where the hook that has just been entered was called from.
#[inline(always)]
pub(crate) fn caller() -> Caller {
    // SAFETY: see `CallerCell`.
    let [pc, sp] = unsafe { *CALLER.0.get() };
    Caller { pc, sp }
}

/// The table of a file: for each function of the C library, what it does. `|inside, caller|` names the token of
/// whoever is inside a hook (`control::Inside`), and where the function was called from.
///
/// - `fn name(args) -> result => body;` runs `body` inside the hook, and leaves it with the value. Where nothing is
///   controlled the real function runs instead. (`return` ends the body, not the hook.)
/// - `fn name | alias(args) …` exports more than one name; the first is the real function's.
/// - `… , if condition => …`: otherwise the real function runs, too.
/// - `… , else before => …`: `before` comes first where the real function runs.
/// - `fn name(args) -> result = body;` runs `body` in any case; it enters by itself, if at all.
///
/// What does not fit (functions that never return, or that others call) is written out and listed in [`export`].
macro_rules! hooks {
    (|$inside:ident, $caller:ident|) => {};
    (
        |$inside:ident, $caller:ident|
        $(#[$doc:meta])*
        fn $name:ident $(| $alias:ident)* ($($arg:ident: $type:ty),*) $(-> $result:ty)?
        $(, if $condition:expr)? $(, else $before:expr)? => $body:expr;
        $($rest:tt)*
    ) => {
        const _: () = {
            $(#[$doc])*
            #[inline(always)]
            unsafe fn inside(
                ($inside, $caller): (&mut $crate::control::Inside, $crate::record::stack::Caller), $($arg: $type),*
            ) $(-> $result)? {
                let _ = (&$inside, $caller, $($arg),*);
                // SAFETY: the program's promises are passed on; the thread that runs is inside a hook, and no borrow
                // of the global state lives across a step.
                unsafe {
                    $crate::hooks::rely_on_promises();
                    $body
                }
            }

            unsafe extern "C-unwind" fn work($($arg: $type),*) $(-> $result)? {
                let caller = $crate::hooks::caller();
                // SAFETY: the program's promises are passed on.
                unsafe {
                    let Some(mut token) = $crate::control::enter_if(true $(&& $condition)?) else {
                        $($before;)?
                        return $crate::base::real::$name($($arg),*);
                    };
                    $crate::schedule::signals::leave(inside((&mut token, caller), $($arg),*), token)
                }
            }

            $crate::hooks::export! { $name => work; $($alias => work;)* }
        };
        $crate::hooks::hooks! { |$inside, $caller| $($rest)* }
    };
    (
        |$inside:ident, $caller:ident|
        $(#[$doc:meta])*
        fn $name:ident $(| $alias:ident)* ($($arg:ident: $type:ty),*) $(-> $result:ty)? = $body:expr;
        $($rest:tt)*
    ) => {
        const _: () = {
            $(#[$doc])*
            unsafe extern "C-unwind" fn work($($arg: $type),*) $(-> $result)? {
                let $caller = $crate::hooks::caller();
                let _ = $caller;
                // SAFETY: the program's promises are passed on.
                unsafe { $body }
            }

            $crate::hooks::export! { $name => work; $($alias => work;)* }
        };
        $crate::hooks::hooks! { |$inside, $caller| $($rest)* }
    };
}
pub(crate) use hooks;

/// For bodies in tables that need no promise of the program: most do.
///
/// # Safety
///
/// None is needed.
pub(crate) const unsafe fn rely_on_promises() {}

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

/// Exports functions that do something before the C library goes on with all arguments as they were, each with a number
/// and the register that has its stream (`"0"`: it has none). `$before` gets stream, number and caller, and says where to go on.
macro_rules! export_before {
    ($before:path; $($name:ident: $number:literal, $stream:literal;)*) => {$(
        /// See the C library's documentation.
        ///
        /// # Safety
        ///
        /// As there.
        #[unsafe(no_mangle)]
        #[unsafe(naked)]
        pub(crate) unsafe extern "C" fn $name() {
            core::arch::naked_asm!(
                ".cfi_startproc",
                "push rdi",
                ".cfi_adjust_cfa_offset 8",
                "push rsi",
                ".cfi_adjust_cfa_offset 8",
                "push rdx",
                ".cfi_adjust_cfa_offset 8",
                "push rcx",
                ".cfi_adjust_cfa_offset 8",
                "push r8",
                ".cfi_adjust_cfa_offset 8",
                "push r9",
                ".cfi_adjust_cfa_offset 8",
                "push rax",
                ".cfi_adjust_cfa_offset 8",
                "sub rsp, 128",
                ".cfi_adjust_cfa_offset 128",
                "movups [rsp], xmm0",
                "movups [rsp + 16], xmm1",
                "movups [rsp + 32], xmm2",
                "movups [rsp + 48], xmm3",
                "movups [rsp + 64], xmm4",
                "movups [rsp + 80], xmm5",
                "movups [rsp + 96], xmm6",
                "movups [rsp + 112], xmm7",
                concat!("mov rdi, ", $stream),
                concat!("mov esi, ", $number),
                "mov rdx, [rsp + 184]",
                "lea rcx, [rsp + 192]",
                "call {before}",
                "mov r11, rax",
                "movups xmm0, [rsp]",
                "movups xmm1, [rsp + 16]",
                "movups xmm2, [rsp + 32]",
                "movups xmm3, [rsp + 48]",
                "movups xmm4, [rsp + 64]",
                "movups xmm5, [rsp + 80]",
                "movups xmm6, [rsp + 96]",
                "movups xmm7, [rsp + 112]",
                "add rsp, 128",
                ".cfi_adjust_cfa_offset -128",
                "pop rax",
                ".cfi_adjust_cfa_offset -8",
                "pop r9",
                ".cfi_adjust_cfa_offset -8",
                "pop r8",
                ".cfi_adjust_cfa_offset -8",
                "pop rcx",
                ".cfi_adjust_cfa_offset -8",
                "pop rdx",
                ".cfi_adjust_cfa_offset -8",
                "pop rsi",
                ".cfi_adjust_cfa_offset -8",
                "pop rdi",
                ".cfi_adjust_cfa_offset -8",
                "jmp r11",
                ".cfi_endproc",
                before = sym $before,
            )
        }
    )*};
}
pub(crate) use export_before;

/// The C library's function behind one of ours, which is looked for once.
fn behind(known: &AtomicPtr<c_void>, name: &CStr) -> *mut c_void {
    let mut symbol = known.load(Relaxed);
    if symbol.is_null() {
        // SAFETY: the name is a C string, and RTLD_NEXT is a valid handle.
        symbol = unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) };
        known.store(symbol, Relaxed);
    }
    symbol
}
