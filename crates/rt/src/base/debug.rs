//! For debuggers: an execution that waits until one is there, and a function to put breakpoints on.
//!
//! The launcher asks for it by a variable of the environment, which names a file: the execution writes its
//! process's number there. Nothing of it costs anything if it was not asked for: steps look only where
//! choices are recorded, as they are under a debugger.

use std::{
    ffi::c_char,
    sync::atomic::{AtomicBool, AtomicI32, AtomicPtr, Ordering::Relaxed},
};

use raddle_fiber::raw;
use raddle_trace::protocol::DEBUG_VARIABLE;

/// The file's name, or null.
static FILE: AtomicPtr<c_char> = AtomicPtr::new(std::ptr::null_mut());
static IS_ON: AtomicBool = AtomicBool::new(false);

/// Set by the debugger when it is there.
#[unsafe(no_mangle)]
pub(crate) static RADDLE_DEBUGGER_IS_THERE: AtomicI32 = AtomicI32::new(0);

/// Called before each step of an execution under a debugger, by the thread whose step it is: its number,
/// from 1, and the thread's.
#[unsafe(no_mangle)]
#[inline(never)]
pub(crate) extern "C" fn raddle_about_to_step(step: u64, thread: u32) {
    std::hint::black_box((step, thread));
}

/// When the library is loaded: is a debugger wanted?
pub(crate) fn find() {
    // SAFETY: the environment is set up before constructors run, and no other thread exists; the copy is
    // never given back.
    unsafe {
        let name = libc::getenv(DEBUG_VARIABLE.as_ptr());
        if !name.is_null() {
            FILE.store(libc::strdup(name), Relaxed);
            libc::unsetenv(DEBUG_VARIABLE.as_ptr());
        }
    }
}

/// In the process of an execution, before `main`: says who it is, and waits for its debugger.
pub(crate) fn wait() {
    let file = FILE.load(Relaxed);
    if file.is_null() {
        return;
    }
    IS_ON.store(true, Relaxed);
    const PR_SET_PTRACER: usize = 0x5961_6d61;
    // SAFETY: says that any process of this user may look into this one.
    unsafe { raw::syscall(libc::SYS_prctl, [PR_SET_PTRACER, usize::MAX, 0, 0, 0, 0]) };
    tell(file);
    let pause = libc::timespec { tv_sec: 0, tv_nsec: 5_000_000 };
    while RADDLE_DEBUGGER_IS_THERE.load(Relaxed) == 0 {
        // SAFETY: sleeps; the argument is our own.
        unsafe {
            raw::syscall(libc::SYS_nanosleep, [&raw const pause as usize, 0, 0, 0, 0, 0]);
        }
    }
}

/// Writes this process's number.
fn tell(file: *const c_char) {
    // SAFETY: the name ends with a zero; the digits are our own; the descriptor is closed again.
    unsafe {
        let flags = (libc::O_WRONLY | libc::O_CREAT | libc::O_CLOEXEC) as usize;
        let at = libc::AT_FDCWD as usize;
        let fd = raw::syscall(libc::SYS_openat, [at, file as usize, flags, 0o600, 0, 0]);
        if fd < 0 {
            crate::base::die::die(&[b"the file for the debugger can't be written"]);
        }
        let pid = raw::syscall(libc::SYS_getpid, [0; 6]);
        let mut digits = [0_u8; 10];
        let text = crate::base::die::decimal(pid as u32, &mut digits);
        let fd = fd as usize;
        raw::syscall(libc::SYS_write, [fd, text.as_ptr() as usize, text.len(), 0, 0, 0]);
        raw::syscall(libc::SYS_write, [fd, b"\n".as_ptr() as usize, 1, 0, 0, 0]);
        raw::syscall(libc::SYS_close, [fd, 0, 0, 0, 0, 0]);
    }
}

/// A step is about to be performed.
#[cold]
pub(crate) fn before_step(step: u64, thread: u32) {
    if IS_ON.load(Relaxed) {
        raddle_about_to_step(step, thread);
    }
}
