//! Signals that the kernel delivers: faults of the program, the launcher's question, and what comes
//! from outside.

use std::{
    ffi::{c_int, c_void},
    sync::atomic::Ordering::Relaxed,
};

use raddle_model::{End, SiteId, ThreadId};
use raddle_trace::protocol::HANG_SIGNAL;

use crate::{
    abi::x86_64,
    base::{die::die, signal_stack::use_alternate_stack},
    control::{Control, control, is_active, may_enter},
    outside::{
        faults::x86_64::{is_peek, nothing_there},
        frame, near, traps,
    },
    process::rewind,
    record::stack::Caller,
    state::{
        accesses::Written,
        signals::{ARRIVED, Action, bit},
    },
    tell::end,
};

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

/// Installs our handlers.
pub(crate) fn install() {
    use_alternate_stack();
    rewind::FAULTS.get_or_init(|| handle);
    for signal in FATAL.into_iter().chain([HANG_SIGNAL]) {
        set_real(signal, handle as *const () as usize, libc::SA_NODEFER);
    }
    set_real(libc::SIGPIPE, arrive as *const () as usize, libc::SA_RESTART);
}

fn set_real(signal: c_int, handler: usize, flags: c_int) {
    // Our handlers take what SA_SIGINFO gives.
    rewind::set_handler(signal, handler, libc::SA_SIGINFO | libc::SA_ONSTACK | flags);
}

/// The program sets an action: what the kernel delivers must find it.
pub(crate) fn set_action(control: &mut Control, signal: c_int, action: Action) {
    control.process.signals.set_action(signal, action);
    follow(signal, action.handler);
}

fn follow(signal: c_int, handler: usize) {
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
            (*control()).process.signals.is_any_pending = true;
            return;
        }
        // After a fork: the child is not controlled, but has the handlers.
        let action = (*control()).process.signals.action(signal);
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
    // SAFETY: as this handler was called.
    if signal == libc::SIGILL && unsafe { traps::meet(signal, info, context.cast()) } {
        return;
    }
    // SAFETY: the kernel passes its context.
    let registers = unsafe { &mut (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs };
    let pc = registers[libc::REG_RIP as usize] as usize;
    if let Some(origin) = traps::origin(pc).or_else(|| near::origin(pc)) {
        registers[libc::REG_RIP as usize] = origin as i64;
    }
    let pc = registers[libc::REG_RIP as usize] as usize;
    let sp = registers[libc::REG_RSP as usize] as usize;
    // SAFETY: the execution ends here, or the program's handler takes over; nobody else runs.
    let control = unsafe { &mut *control() };
    if signal == HANG_SIGNAL {
        // SAFETY: as above.
        unsafe { hang(waiting_at().unwrap_or(Caller { pc, sp })) };
    }
    let is_fault = signal == libc::SIGSEGV;
    let fault = if is_fault {
        // SAFETY: the kernel passes where the fault was.
        unsafe { (*info).si_addr() as usize }
    } else {
        usize::MAX
    };
    let action = control.process.signals.action(signal);
    let is_inside = is_active() && control.is_inside;
    let is_peek = is_inside && is_peek(pc);
    if let (true, false, Some(caller)) = (is_peek, action.has_handler(), control.memory.peeks_from)
    {
        let site = control.site(caller);
        end::end(control, End::Crash(signal), site, b"");
    }
    if is_peek {
        // The program's own access comes next, and faults where its handler expects it.
        registers[libc::REG_RIP as usize] = nothing_there as *const () as i64;
        return;
    }
    // A return address is looked up one byte before: make a faulting address look like one.
    let is_overflow = is_active() && is_overflow(control, fault, sp);
    let readable_sp = if is_overflow { sp.max(control.this().stack_bottom) } else { sp };
    let caller = Caller { pc: pc + 1, sp: readable_sp };
    let stack = if action.flags & libc::SA_ONSTACK == 0 { None } else { control.handler_stack() };
    let is_handled = action.has_handler() && (!is_overflow || stack.is_some());
    if is_inside && fault >= NULL_END && !is_overflow {
        die(&[
            b"signal ",
            &[b'0' + (signal / 10) as u8, b'0' + (signal % 10) as u8],
            b" inside the runtime",
        ]);
    }
    if is_handled {
        if is_active() && !is_inside && matches!(signal, libc::SIGSEGV | libc::SIGBUS) {
            control.memory.written = Written::NONE;
            // SAFETY: the kernel passes where the fault was.
            control.forget_faulted(unsafe { (*info).si_addr() as usize });
        }
        // What is copied here is not the program's to copy.
        control.is_inside = is_inside || may_enter();
        control.process.signals.handler_begins(signal);
        if stack.is_some() && is_active() {
            control.begin_apart();
        }
        // SAFETY: the program's handler gets what the kernel gave us; it has asked for the stack that it gets.
        unsafe { frame::go_on_in(action.handler, signal, info, context, stack) };
        // If it was in a hook, the program had passed it a bad pointer or too little stack: the call is left.
        control.is_inside = false;
        return;
    }
    if !is_active() {
        raddle_fiber::raw::exit_group(128 + signal);
    }
    let site = control.site(caller);
    end::end(control, End::Crash(signal), site, if is_overflow { STACK_OVERFLOW } else { b"" });
}

/// What is said of a crash whose cause is known: the launcher's side tells it by these words.
const STACK_OVERFLOW: &[u8] = b"stack overflow";

/// Did the thread that runs need more stack than there is? Then it is at the end of what it has, and the fault just
/// beyond.
fn is_overflow(control: &mut Control, fault: usize, sp: usize) -> bool {
    const NEAR: usize = 1 << 20;
    const WITHIN: usize = 64 << 10;
    let bottom = control.this().stack_bottom;
    let is_beyond = (bottom.saturating_sub(NEAR)..bottom + WITHIN).contains(&fault);
    is_beyond && sp.abs_diff(bottom) < NEAR
}

/// Where the program waits, if the runtime makes a call on its behalf.
fn waiting_at() -> Option<Caller> {
    let context = rewind::context()?;
    // SAFETY: the kernel's, of a handler that has not returned.
    let registers = unsafe { &(*context).uc_mcontext.gregs };
    let [pc, sp] = [libc::REG_RIP, libc::REG_RSP].map(|it| registers[it as usize] as usize);
    Some(Caller { pc, sp })
}

impl Control {
    /// Nobody can go on, and the runtime waits for a descriptor: where the first thread is that waits for one.
    fn awaits_descriptor(&self) -> Option<SiteId> {
        let is_any = self.process.is_execution && self.scheduler.machine.n_enabled() == 0;
        let all =
            (0..self.scheduler.threads.len()).map(|idx| ThreadId(idx as u32)).filter(|_| is_any);
        let mut ops = all
            .filter(|it| self.scheduler.machine.is_blocked(*it))
            .map(|it| self.scheduler.machine.pending(it));
        ops.find(|it| it.kind.is_io()).map(|it| it.site)
    }
}

unsafe fn hang(caller: Caller) -> ! {
    // SAFETY: as in `handle`.
    let control = unsafe { &mut *control() };
    let awaited = control.awaits_descriptor().filter(|_| control.is_inside);
    let site = match awaited {
        Some(site) => site,
        None if control.process.is_execution => {
            control.site(Caller { pc: caller.pc + 1, sp: caller.sp })
        }
        None => SiteId(0),
    };
    let path = control.path_of(caller.pc);
    let file = path.rsplit(|it| *it == b'/').next().unwrap_or_default();
    end::end(control, End::Hang, site, file)
}
