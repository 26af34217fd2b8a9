//! Signals: actions, masks, sending, waiting.

use std::ffi::c_int;

use libc::{pthread_t, siginfo_t, sigset_t, timespec};
use raddle_machine::Status;
use raddle_model::{Escape, Op, OpKind, OpResult, ThreadId};

use crate::{
    base::{real, time},
    control::{Inside, enter},
    hooks::{
        caller, export, fail, hooks,
        number::{self, own_process},
    },
    outside::{clock, faults},
    record::stack::Caller,
    schedule::{
        cancel::test_cancel,
        signals::{info_of, leave, run_handlers_here},
        step::step,
    },
    state::signals::{Action, SIGNAL_MAX, Sent, UNBLOCKABLE, bit},
};

hooks! { |inside, caller|
    fn sigprocmask(how: c_int, set: *const sigset_t, old: *mut sigset_t) -> c_int => {
        match change_mask(inside, how, set, old) {
            0 => 0,
            error => fail(error),
        }
    };
    fn pthread_sigmask(how: c_int, set: *const sigset_t, old: *mut sigset_t) -> c_int => change_mask(inside, how, set, old);
    fn sigpending(set: *mut sigset_t) -> c_int => {
        let mask = inside.this().mask;
        write_bits(set, inside.pending_signals() & mask);
        0
    };
    fn raise(signal: c_int) -> c_int => {
        let me = inside.me;
        let sent = Sent { signal, code: SI_TKILL, value: 0 };
        as_result(send(inside, Some(me), sent, caller))
    };
    fn pthread_kill(thread: pthread_t, signal: c_int) -> c_int => {
        let Some(target) = inside.thread_of(thread as usize) else {
            return libc::ESRCH;
        };
        send(inside, Some(target), Sent { signal, code: SI_TKILL, value: 0 }, caller)
    };
    fn pthread_sigqueue(thread: pthread_t, signal: c_int, value: usize) -> c_int => {
        let Some(target) = inside.thread_of(thread as usize) else {
            return libc::ESRCH;
        };
        send(inside, Some(target), Sent { signal, code: SI_QUEUE, value }, caller)
    };
    fn tgkill(process: c_int, thread: c_int, signal: c_int) -> c_int
        => send_by_number(inside, process, thread, signal, caller);
    fn kill(process: c_int, signal: c_int) -> c_int => {
        let is_group = process == 0 || process == -1 || process == -own_process();
        if process != own_process() && !is_group {
            return real::kill(process, signal);
        }
        if is_group {
            let site = inside.site(caller);
            inside.note(Escape::KillGroup, site);
        }
        as_result(send(inside, None, Sent { signal, code: libc::SI_USER, value: 0 }, caller))
    };
    fn sigqueue(process: c_int, signal: c_int, value: usize) -> c_int => {
        if process != own_process() {
            return real::sigqueue(process, signal, value);
        }
        as_result(send(inside, None, Sent { signal, code: SI_QUEUE, value }, caller))
    };
    fn sigwait(set: *const sigset_t, signal: *mut c_int) -> c_int => {
        loop {
            if let Wait::Got(sent) = wait_for(inside, bits_of(set), None, caller) {
                *signal = sent.signal;
                return 0;
            }
        }
    };
    fn sigwaitinfo(set: *const sigset_t, info: *mut siginfo_t) -> c_int => wait_for_info(inside, set, info, None, caller);
    fn sigtimedwait(set: *const sigset_t, info: *mut siginfo_t, length: *const timespec) -> c_int => {
        if !length.is_null() && !time::is_valid(&*length) {
            return fail(libc::EINVAL);
        }
        let deadline = length.as_ref().map(|it| clock::deadline_after(time::nanoseconds(it)));
        wait_for_info(inside, set, info, deadline, caller)
    };
    fn sigsuspend(set: *const sigset_t) -> c_int => suspend(inside, Some(bits_of(set)), caller);
    fn pause() -> c_int => suspend(inside, None, caller);
    fn signal | bsd_signal | ssignal(signal: c_int, handler: usize) -> usize
        = set_handler(signal, handler, libc::SA_RESTART);
    fn sysv_signal | __sysv_signal(signal: c_int, handler: usize) -> usize
        = set_handler(signal, handler, libc::SA_RESETHAND | libc::SA_NODEFER);
}

export! {
    sigaction => do_sigaction;
    __sigaction => do_sigaction;
    signalfd => do_signalfd;
}

/// The libc crate does not name this code.
const SI_QUEUE: c_int = -1;
const SI_TKILL: c_int = -6;

fn is_signal(signal: c_int) -> bool {
    (1..=SIGNAL_MAX).contains(&signal)
}

/// The kernel's part of a set.
pub(crate) unsafe fn bits_of(set: *const sigset_t) -> u64 {
    // SAFETY: the program promises a set; its first word has the signals that exist.
    unsafe { *set.cast::<u64>() }
}

unsafe fn write_bits(set: *mut sigset_t, bits: u64) {
    // SAFETY: the program promises room for a set.
    unsafe {
        *set = std::mem::zeroed();
        *set.cast::<u64>() = bits;
    }
}

unsafe extern "C-unwind" fn do_sigaction(
    signal: c_int,
    new: *const libc::sigaction,
    old: *mut libc::sigaction,
) -> c_int {
    let caller = caller();
    // SAFETY: the program's promises are passed on.
    unsafe {
        let Some(mut inside) = enter() else {
            return real::sigaction(signal, new, old);
        };
        let is_fixed = signal == libc::SIGKILL || signal == libc::SIGSTOP;
        if !is_signal(signal) || (is_fixed && !new.is_null()) {
            return leave(fail(libc::EINVAL), inside);
        }
        let before = inside.process.signals.action(signal);
        if !new.is_null() {
            let action = Action {
                handler: (*new).sa_sigaction,
                flags: (*new).sa_flags,
                mask: bits_of(&raw const (*new).sa_mask) & !UNBLOCKABLE,
            };
            faults::set_action(&mut inside, signal, action);
        }
        if !old.is_null() {
            *old = std::mem::zeroed();
            (*old).sa_sigaction = before.handler;
            (*old).sa_flags = before.flags;
            write_bits(&raw mut (*old).sa_mask, before.mask);
            if new.is_null() && is_std_about_overflows(&mut inside, signal, caller) {
                (*old).sa_sigaction = do_sigaction as *const () as usize;
            }
        }
        leave(0, inside)
    }
}

/// Does Rust's std ask whether anybody tells of stack overflows? We do, and say so: else it keeps a list of all
/// threads' stacks under a lock, and every thread of every program would take it at its beginning and at its end.
fn is_std_about_overflows(inside: &mut Inside, signal: c_int, caller: Caller) -> bool {
    let is_std = || inside.is_library_code(caller.pc);
    matches!(signal, libc::SIGSEGV | libc::SIGBUS) && is_std()
}

unsafe fn set_handler(signal: c_int, handler: usize, flags: c_int) -> usize {
    // SAFETY: the program's promises are passed on.
    unsafe {
        let Some(mut inside) = enter() else {
            return real::signal(signal, handler);
        };
        if !is_signal(signal) || bit(signal) & UNBLOCKABLE != 0 {
            fail(libc::EINVAL);
            return leave(libc::SIG_ERR, inside);
        }
        let before = inside.process.signals.action(signal);
        faults::set_action(&mut inside, signal, Action { handler, flags, mask: 0 });
        leave(before.handler, inside)
    }
}

unsafe fn change_mask(
    inside: &mut Inside,
    how: c_int,
    set: *const sigset_t,
    old: *mut sigset_t,
) -> c_int {
    // SAFETY: the program promises sets; the thread that runs is inside a hook.
    unsafe {
        let before = inside.this().mask;
        if !set.is_null() {
            let bits = bits_of(set);
            let mask = match how {
                libc::SIG_BLOCK => before | bits,
                libc::SIG_UNBLOCK => before & !bits,
                libc::SIG_SETMASK => bits,
                _ => return libc::EINVAL,
            };
            inside.set_mask(mask);
        }
        if !old.is_null() {
            write_bits(old, before);
        }
        0
    }
}

/// Sends a signal, inside a hook.
unsafe fn send(inside: &mut Inside, to: Option<ThreadId>, sent: Sent, caller: Caller) -> c_int {
    if sent.signal == 0 {
        return 0;
    }
    if !is_signal(sent.signal) {
        return libc::EINVAL;
    }
    let site = inside.site(caller);
    let target = to.unwrap_or(ThreadId(0));
    let object = inside.scheduler.threads[target.idx()].object;
    step(inside, Op::on(OpKind::Kill, object, site).arg(sent.signal as u64));
    inside.send_signal(to, sent, site);
    0
}

/// The result of a function that sets `errno`.
unsafe fn as_result(error: c_int) -> c_int {
    if error == 0 { 0 } else { fail(error) }
}

/// `tgkill`, inside a hook.
pub(super) unsafe fn send_by_number(
    inside: &mut Inside,
    process: c_int,
    thread: c_int,
    signal: c_int,
    caller: Caller,
) -> c_int {
    // SAFETY: the program's promises are passed on; the thread that runs is inside a hook.
    unsafe {
        if process != own_process() {
            return real::tgkill(process, thread, signal);
        }
        match number::thread(inside, thread) {
            // The kernel forgets who has ended.
            Some(target) if inside.scheduler.machine.status(target) == Status::Finished => {
                fail(libc::ESRCH)
            }
            Some(target) => as_result(send(
                inside,
                Some(target),
                Sent { signal, code: SI_TKILL, value: 0 },
                caller,
            )),
            None => fail(libc::ESRCH),
        }
    }
}

/// How a wait for signals ended.
enum Wait {
    Got(Sent),
    TimedOut,
    Interrupted,
}

/// Waits for one of a set of signals, inside a hook.
unsafe fn wait_for(inside: &mut Inside, set: u64, deadline: Option<u64>, caller: Caller) -> Wait {
    let site = inside.site(caller);
    let (me, object) = (inside.me, inside.this().object);
    test_cancel(inside);
    loop {
        inside.scheduler.machine.forget_wake(me);
        if inside.pending_signals() & set != 0 {
            inside.scheduler.machine.wake_sigwait(me);
        }
        inside.this().waits_for = set;
        let performed = step(inside, Op::on(OpKind::SigWait, object, site).until(deadline));
        inside.this().waits_for = 0;
        if let Some(sent) = inside.take_signal(set) {
            inside.look_for_pending();
            return Wait::Got(sent);
        }
        match performed.result {
            OpResult::TimedOut => return Wait::TimedOut,
            OpResult::Interrupted => return Wait::Interrupted,
            _ => {}
        }
    }
}

unsafe fn wait_for_info(
    inside: &mut Inside,
    set: *const sigset_t,
    info: *mut siginfo_t,
    deadline: Option<u64>,
    caller: Caller,
) -> c_int {
    // SAFETY: the program promises a set and room for the answer; inside a hook.
    unsafe {
        match wait_for(inside, bits_of(set), deadline, caller) {
            Wait::Got(sent) => {
                if !info.is_null() {
                    *info = info_of(sent);
                }
                sent.signal
            }
            Wait::TimedOut => fail(libc::EAGAIN),
            Wait::Interrupted => fail(libc::EINTR),
        }
    }
}

/// Waits until a handler has run, with another mask if one is given; inside a hook.
unsafe fn suspend(inside: &mut Inside, mask: Option<u64>, caller: Caller) -> c_int {
    let site = inside.site(caller);
    let (me, object) = (inside.me, inside.this().object);
    let before = inside.this().mask;
    if let Some(mask) = mask {
        inside.set_mask(mask);
    }
    if !run_handlers_here(inside).is_any {
        inside.scheduler.machine.forget_wake(me);
        step(inside, Op::on(OpKind::SigWait, object, site));
    }
    inside.set_mask(before);
    fail(libc::EINTR)
}

unsafe extern "C-unwind" fn do_signalfd(fd: c_int, set: *const sigset_t, flags: c_int) -> c_int {
    let caller = caller();
    // SAFETY: the program's promises are passed on.
    unsafe {
        let result = real::signalfd(fd, set, flags);
        if let Some(mut inside) = enter() {
            let site = inside.site(caller);
            inside.note(Escape::Signalfd, site);
            leave((), inside);
        }
        result
    }
}
