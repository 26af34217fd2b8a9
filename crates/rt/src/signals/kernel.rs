//! Signals that the kernel delivers: faults of the program, the launcher's question, and what comes
//! from outside.

use std::{
    ffi::{c_int, c_void},
    sync::atomic::{AtomicPtr, AtomicU64, Ordering::Relaxed},
};

use raddle_model::{End, SiteId};

use crate::{
    arena,
    control::{Caller, control, is_active},
    end, real,
    signals::bit,
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

/// Signals that came from the kernel and have not been looked at, as a bit set.
static ARRIVED: AtomicU64 = AtomicU64::new(0);

/// Installs our handlers.
pub(crate) fn install() {
    use_alternate_stack();
    for signal in FATAL.into_iter().chain([HANG_SIGNAL]) {
        set_real(signal, handle as *const () as usize, libc::SA_NODEFER);
    }
    set_real(libc::SIGPIPE, arrive as *const () as usize, libc::SA_RESTART);
}

fn set_real(signal: c_int, handler: usize, flags: c_int) {
    // SAFETY: our handlers take what SA_SIGINFO gives; they end the process or note one bit.
    unsafe {
        let mut action = std::mem::zeroed::<libc::sigaction>();
        action.sa_sigaction = handler;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | flags;
        real::sigaction(signal, &raw const action, std::ptr::null_mut());
    }
}

/// The program has set an action: what the kernel delivers must find it.
pub(crate) fn follow(signal: c_int, handler: usize) {
    if FATAL.contains(&signal) || signal == HANG_SIGNAL {
        return;
    }
    let kernels = match handler {
        libc::SIG_DFL if signal != libc::SIGPIPE => libc::SIG_DFL,
        libc::SIG_IGN => libc::SIG_IGN,
        _ => arrive as *const () as usize,
    };
    set_real(signal, kernels, libc::SA_RESTART);
}

/// Signals that have arrived from the kernel since this was last asked, as a bit set.
pub(crate) fn take_arrived() -> u64 {
    ARRIVED.swap(0, Relaxed)
}

/// Gives the calling kernel thread a stack for handlers, so that a stack overflow can be told.
pub(crate) fn use_alternate_stack() {
    let stack =
        libc::stack_t { ss_sp: arena::map(STACK_SIZE).cast(), ss_flags: 0, ss_size: STACK_SIZE };
    ALTERNATE.store(stack.ss_sp.cast(), Relaxed);
    // SAFETY: the memory is ours for ever.
    unsafe { real::sigaltstack(&raw const stack, std::ptr::null_mut()) };
}

/// The stack for handlers that was last made.
static ALTERNATE: AtomicPtr<u8> = AtomicPtr::new(std::ptr::null_mut());

/// A stack for handlers, as a thread would be told that it has it.
pub(crate) fn alternate_stack() -> libc::stack_t {
    libc::stack_t { ss_sp: ALTERNATE.load(Relaxed).cast(), ss_flags: 0, ss_size: STACK_SIZE }
}

/// A signal for a handler of the program, or `SIGPIPE`: it is noted, and delivered at a step.
unsafe extern "C-unwind" fn arrive(
    signal: c_int,
    info: *mut libc::siginfo_t,
    context: *mut c_void,
) {
    // SAFETY: our handlers are installed only when we are in control; the table is plain words.
    unsafe {
        if is_active() {
            ARRIVED.fetch_or(bit(signal), Relaxed);
            (*control()).signals.is_any_pending = true;
            return;
        }
        // After a fork: the child is not controlled, but has the handlers.
        let action = (*control()).signals.action(signal);
        if action.has_handler() {
            action.call(signal, info, context);
        } else if signal == libc::SIGPIPE && action.handler == libc::SIG_DFL {
            raddle_fiber::raw::exit_group(128 + signal);
        }
    }
}

/// Nothing is mapped below; a field of a structure that is not there may be up to here.
const NULL_END: usize = 1 << 16;

pub(crate) unsafe extern "C-unwind" fn handle(
    signal: c_int,
    info: *mut libc::siginfo_t,
    context: *mut c_void,
) {
    // SAFETY: the kernel passes its context.
    let registers = unsafe { &(*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs };
    let pc = registers[libc::REG_RIP as usize] as usize;
    let sp = registers[libc::REG_RSP as usize] as usize;
    // SAFETY: the execution ends here, or the program's handler takes over; nobody else runs.
    let control = unsafe { &mut *control() };
    if signal == HANG_SIGNAL {
        // SAFETY: as above.
        unsafe { hang(Caller { pc, sp }) };
    }
    let is_inside = is_active() && control.is_inside;
    if let (true, Some(caller)) = (is_inside, control.peeks_from) {
        let site = control.site(caller);
        end::end(End::Crash(signal), site, b"");
    }
    // SAFETY: the kernel passes where the fault was, if it was one.
    if is_inside && signal == libc::SIGSEGV && unsafe { (*info).si_addr() as usize } < NULL_END {
        // The program has passed a null pointer to a function that is ours now.
        let site = control.site(Caller { pc: pc + 1, sp });
        end::end(End::Crash(signal), site, b"");
    }
    if is_inside {
        end::die(&[
            b"signal ",
            &[b'0' + (signal / 10) as u8, b'0' + (signal % 10) as u8],
            b" inside the runtime",
        ]);
    }
    let action = control.signals.action(signal);
    if action.has_handler() {
        control.signals.handler_begins(signal);
        // SAFETY: the program's handler gets what the kernel gave us.
        return unsafe { action.call(signal, info, context) };
    }
    if !is_active() {
        raddle_fiber::raw::exit_group(128 + signal);
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
