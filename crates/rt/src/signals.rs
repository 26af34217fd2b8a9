//! Signals: those that kill are the end of an execution, told with the thread and the place; those
//! that the program sends itself are delivered at steps; and one of ours makes a stuck execution say
//! where it is.

use std::ffi::{c_int, c_void};

use raddle_model::{End, SiteId};

use crate::{
    arena,
    control::{Caller, control},
    end, real,
};

/// Bytes of the stack that handlers run on.
const STACK_SIZE: usize = 64 << 10;
/// The launcher's request to say where the execution is stuck.
pub(crate) const HANG_SIGNAL: c_int = 62;
/// Signals that end a program by its own fault.
const FATAL: [c_int; 7] = [
    libc::SIGSEGV,
    libc::SIGBUS,
    libc::SIGFPE,
    libc::SIGILL,
    libc::SIGABRT,
    libc::SIGTRAP,
    libc::SIGSYS,
];

/// What the program has said about signals.
#[derive(Debug, Default)]
pub(crate) struct Signals {
    /// Must some thread run a handler, or end, when it leaves its hook?
    pub(crate) is_any_pending: bool,
}

/// Installs our handlers.
pub(crate) fn install() {
    use_alternate_stack();
    for signal in FATAL.into_iter().chain([HANG_SIGNAL]) {
        // SAFETY: the handler is async-signal-safe in that it ends the process.
        unsafe {
            let mut action = std::mem::zeroed::<libc::sigaction>();
            action.sa_sigaction = handle as *const () as usize;
            action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_NODEFER;
            real::sigaction(signal, &raw const action, std::ptr::null_mut());
        }
    }
}

/// Gives the calling kernel thread a stack for handlers, so that a stack overflow can be told.
pub(crate) fn use_alternate_stack() {
    let stack =
        libc::stack_t { ss_sp: arena::map(STACK_SIZE).cast(), ss_flags: 0, ss_size: STACK_SIZE };
    // SAFETY: the memory is ours for ever.
    unsafe { libc::sigaltstack(&raw const stack, std::ptr::null_mut()) };
}

unsafe extern "C" fn handle(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel passes its context.
    let registers = unsafe { &(*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs };
    let pc = registers[libc::REG_RIP as usize] as usize;
    let sp = registers[libc::REG_RSP as usize] as usize;
    // SAFETY: the execution ends here; nobody else runs.
    let control = unsafe { &mut *control() };
    if signal == HANG_SIGNAL {
        // SAFETY: as above.
        unsafe { hang(Caller { pc, sp }) };
    }
    if control.is_inside && !crate::hooks::is_access_of_program(pc) {
        let _ = info;
        end::die(&[
            b"signal ",
            &[b'0' + (signal / 10) as u8, b'0' + (signal % 10) as u8],
            b" inside the runtime",
        ]);
    }
    // A return address is looked up one byte before: make a faulting address look like one.
    let site = control.site(Caller { pc: pc + 1, sp });
    end::end(End::Crash(signal), site, b"");
}

unsafe fn hang(caller: Caller) -> ! {
    // SAFETY: as in `handle`.
    let control = unsafe { &mut *control() };
    let site = if control.is_execution {
        control.site(Caller { pc: caller.pc + 1, sp: caller.sp })
    } else {
        SiteId(0)
    };
    end::end(End::Hang, site, b"")
}

/// Runs handlers of signals that were sent to the thread that runs, which is outside every hook.
#[cold]
pub(crate) fn deliver_pending() {
    // SAFETY: the thread that runs leaves its hook.
    unsafe { (*control()).signals.is_any_pending = false };
}
