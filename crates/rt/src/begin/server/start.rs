//! `main`, and what stands in front of it: the C library's start calls ours first, and executions call the program's.

use std::{
    ffi::{c_char, c_int},
    sync::atomic::{AtomicI32, AtomicPtr, Ordering::*},
};

use raddle_model::SiteId;

use super::{begin_here, serve};
use crate::{
    base::real::{self, Main},
    control::{Inside, control, is_active},
    hooks::NO_RESULT,
    process::{
        launcher::{IS_EARLY, MAIN},
        rewind,
    },
    schedule::signals::leave,
};

/// What `main` is to be called with.
static MAIN_ARGS: (AtomicI32, AtomicPtr<*mut c_char>, AtomicPtr<*mut c_char>) =
    (AtomicI32::new(0), AtomicPtr::new(std::ptr::null_mut()), AtomicPtr::new(std::ptr::null_mut()));

/// The C library's start, with our `main` in front of the program's.
///
/// # Safety
///
/// Called by the program's start-up code, as the C library says.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn __libc_start_main(
    main: Main,
    argc: c_int,
    argv: *mut *mut c_char,
    init: *mut std::ffi::c_void,
    fini: *mut std::ffi::c_void,
    rtld_fini: *mut std::ffi::c_void,
    stack_end: *mut std::ffi::c_void,
) -> c_int {
    MAIN.store(main as *mut (), Relaxed);
    // SAFETY: passes on what we were given, with a `main` of the same type.
    unsafe { real::__libc_start_main(first_main, argc, argv, init, fini, rtld_fini, stack_end) }
}

unsafe extern "C-unwind" fn first_main(
    argc: c_int,
    argv: *mut *mut c_char,
    envp: *mut *mut c_char,
) -> c_int {
    if !is_active() {
        // SAFETY: passes on what we were given.
        return unsafe { real_main()(argc, argv, envp) };
    }
    MAIN_ARGS.0.store(argc, Relaxed);
    MAIN_ARGS.1.store(argv, Relaxed);
    MAIN_ARGS.2.store(envp, Relaxed);
    // SAFETY: the thread that runs is `main`, outside every hook.
    unsafe {
        if (*control()).process.is_execution {
            run_main();
        }
        (*control()).is_inside = true;
        (*control()).find_modules();
    }
    serve(false);
    unreachable!("bug: an execution of `main` came back");
}

/// A constructor is about to create a thread, inside a hook: each execution is a copy that begins here, so that such
/// threads are controlled from their beginning. Returns in those copies.
#[cold]
pub(crate) fn begin_before_main() {
    unsafe extern "C" {
        /// The stack pointer with which the process began: above the frames of all constructors, and of `main`.
        static __libc_stack_end: *const u8;
    }
    IS_EARLY.store(true, Relaxed);
    // SAFETY: the thread that runs is `main`, inside a hook.
    unsafe {
        (*control()).find_modules();
        serve(true);
        begin_here(&mut *control(), __libc_stack_end as usize);
    }
}

fn real_main() -> Main {
    // SAFETY: stored by `__libc_start_main`.
    unsafe { std::mem::transmute::<*mut (), Main>(MAIN.load(Relaxed)) }
}

/// One execution, in a process of its own or one that was rewound.
pub(super) extern "C-unwind" fn run_execution() -> ! {
    let here = 0_usize;
    // SAFETY: the thread that runs is `main`, inside a hook.
    unsafe {
        begin_here(&mut *control(), &raw const here as usize);
        rewind::watch();
        leave((), Inside::assume());
        run_main()
    }
}

/// Calls the program's `main`, and ends with it.
unsafe fn run_main() -> ! {
    let (argc, argv, envp) = &MAIN_ARGS;
    // SAFETY: the thread that runs is `main`, outside every hook.
    unsafe {
        let code = real_main()(argc.load(Relaxed), argv.load(Relaxed), envp.load(Relaxed));
        (*control()).is_inside = true;
        crate::schedule::exit::exit_process(
            Inside::assume(),
            if code == NO_RESULT { 0 } else { code },
            SiteId(0),
        )
    }
}
