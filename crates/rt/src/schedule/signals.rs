//! Signals: those that kill are the end of an execution, told with the thread and the place; those
//! that the program sends itself are delivered at steps; and one of ours makes a stuck execution say
//! where it is.
//!
//! The program's actions and masks are kept here; the kernel knows only ours. A signal is queued at
//! the thread that is to handle it, which runs the handler when it leaves its hook, or, if it is
//! blocked, as soon as it is chosen: its op is interrupted. Of several threads that could handle a
//! signal sent to the process, it is the one created first.
//!
//! On request a handler runs in a thread of its own instead (`Handlers`; seed paper 3, §7.1.1): the thread that is
//! interrupted makes that thread where it would have run the handler, and goes on. Who waits for a signal still
//! runs the handler itself, for it may go on only afterwards.
//!
//! What it misses: stopping and continuing, and handlers on an alternate stack of the program (they
//! run on the thread's own, except for faults).

use std::{
    ffi::{c_int, c_void},
    ptr,
};

use raddle_machine::{Performed, Status};
use raddle_model::{
    End, Escape, Flags, Handlers, ObjectId, Op, OpKind, OpResult, SiteId, ThreadId,
};

use crate::{
    control::{Control, Inside, enter, outside},
    schedule::{
        cancel::{is_cancel_due, test_cancel},
        step::step,
        threads,
    },
    state::{
        io::AT_ONCE_NO_POINT,
        signals::{Action, Ran, Sent, Signals, UNBLOCKABLE, bit, set_of, take, take_arrived},
        thread::ThreadRt,
    },
    tell::end,
};

/// The siginfo of a sent signal has its value here, in words.
const VALUE_WORD: usize = 3;

/// What happens on a signal without handler.
enum Fate {
    Ignore,
    Stop,
    End,
}

fn default_of(signal: c_int) -> Fate {
    match signal {
        libc::SIGCHLD | libc::SIGURG | libc::SIGWINCH | libc::SIGCONT => Fate::Ignore,
        libc::SIGSTOP | libc::SIGTSTP | libc::SIGTTIN | libc::SIGTTOU => Fate::Stop,
        _ => Fate::End,
    }
}

impl ThreadRt {
    fn has_deliverable(&self) -> bool {
        self.sent.iter().any(|it| self.mask & bit(it.signal) == 0)
    }
}

impl Control {
    /// Sends a signal to a thread, or to the process. The step has been done.
    pub(crate) fn send_signal(&mut self, to: Option<ThreadId>, sent: Sent, site: SiteId) {
        let wanted = bit(sent.signal);
        let Some(target) = to.or_else(|| self.thread_for(wanted)) else {
            return Signals::queue(&mut self.process.signals.process, sent);
        };
        if self.scheduler.machine.status(target) == Status::Finished {
            return;
        }
        let thread = &mut self.scheduler.threads[target.idx()];
        if thread.waits_for & wanted != 0 {
            Signals::queue(&mut thread.sent, sent);
            return self.scheduler.machine.wake_sigwait(target);
        }
        if thread.mask & wanted != 0 {
            return Signals::queue(&mut thread.sent, sent);
        }
        let action = self.process.signals.action(sent.signal);
        match action.handler {
            libc::SIG_IGN => {}
            libc::SIG_DFL => self.act_by_default(sent.signal, site),
            _ => {
                Signals::queue(&mut thread.sent, sent);
                self.process.signals.is_any_pending = true;
                if self.scheduler.machine.is_blocked(target) {
                    self.scheduler.machine.interrupt(target);
                }
            }
        }
    }

    fn act_by_default(&mut self, signal: c_int, site: SiteId) {
        match default_of(signal) {
            Fate::Ignore => {}
            Fate::Stop => self.note(Escape::StopSignal, site),
            Fate::End if signal == libc::SIGABRT => end::end(self, End::Abort, site, b""),
            Fate::End => end::end(self, End::Crash(signal), site, b""),
        }
    }

    /// The thread that handles a signal sent to the process, if any does not block it.
    fn thread_for(&self, wanted: u64) -> Option<ThreadId> {
        let wants = |idx: usize| {
            let it = &self.scheduler.threads[idx];
            (it.mask & wanted == 0 || it.waits_for & wanted != 0)
                && self.scheduler.machine.status(ThreadId(idx as u32)) != Status::Finished
        };
        (0..self.scheduler.threads.len()).find(|idx| wants(*idx)).map(|idx| ThreadId(idx as u32))
    }

    /// Signals that wait for the thread that runs, blocked or not, as a set.
    pub(crate) fn pending_signals(&mut self) -> u64 {
        set_of(&self.process.signals.process) | set_of(&self.this().sent)
    }

    /// Takes one of a set of signals that wait for the thread that runs.
    pub(crate) fn take_signal(&mut self, set: u64) -> Option<Sent> {
        take(&mut self.this().sent, set).or_else(|| take(&mut self.process.signals.process, set))
    }

    /// Changes the mask of the thread that runs. What was sent to the process and is no longer blocked
    /// is now its own. Returns the old mask.
    pub(crate) fn set_mask(&mut self, mask: u64) -> u64 {
        let old = std::mem::replace(&mut self.this().mask, mask & !UNBLOCKABLE);
        let opened = !self.this().mask;
        while let Some(sent) = take(&mut self.process.signals.process, opened) {
            self.this().sent.push(sent);
        }
        self.look_for_pending();
        old
    }

    /// Brings `is_any_pending` up to date.
    pub(crate) fn look_for_pending(&mut self) {
        let machine = &self.scheduler.machine;
        self.process.signals.is_any_pending =
            self.scheduler.threads.iter().enumerate().any(|(idx, it)| {
                (it.has_deliverable() || it.must_cancel())
                    && machine.status(ThreadId(idx as u32)) != Status::Finished
            });
    }

    /// Passes on what the kernel has delivered.
    pub(crate) fn receive_arrived(&mut self) {
        let mut arrived = take_arrived();
        while arrived != 0 {
            let signal = arrived.trailing_zeros() as c_int + 1;
            arrived &= arrived - 1;
            let site = self.scheduler.machine.pending(self.me).site;
            let is_own = signal == libc::SIGPIPE;
            if !is_own {
                self.note(Escape::OutsideSignal, site);
            }
            let sent = Sent { signal, code: libc::SI_USER, value: 0 };
            self.send_signal(is_own.then_some(self.me), sent, site);
        }
    }

    /// Handlers left by `longjmp` no longer block signals.
    pub(crate) fn drop_handlers_below(&mut self, sp: usize) {
        while let Some((at, mask)) = self.this().handlers.last().copied()
            && at < sp
        {
            self.this().handlers.pop();
            self.set_mask(mask);
        }
    }
}

/// Runs the handlers of the signals that wait for the thread that runs, inside a hook; or has them run.
pub(crate) fn run_handlers(inside: &mut Inside) -> Ran {
    let handlers = inside.process.signals.handlers;
    handle(inside, handlers)
}

/// The same in this thread, whatever was asked for.
pub(crate) fn run_handlers_here(inside: &mut Inside) -> Ran {
    handle(inside, Handlers::Nested)
}

fn handle(inside: &mut Inside, handlers: Handlers) -> Ran {
    let mut ran = Ran { is_any: false, may_restart: true };
    inside.receive_arrived();
    loop {
        let opened = !inside.this().mask;
        let Some(sent) = take(&mut inside.this().sent, opened) else { break };
        let action = inside.process.signals.action(sent.signal);
        match action.handler {
            libc::SIG_IGN => {}
            libc::SIG_DFL => inside.act_by_default(sent.signal, SiteId(0)),
            _ => {
                ran.is_any = true;
                ran.may_restart &= action.flags & libc::SA_RESTART != 0;
                if handlers == Handlers::Nested || !make_handler(inside, sent, action, handlers) {
                    // SAFETY: no borrow lives while the handler runs: it has the token.
                    unsafe { run_handler(inside, sent, action) };
                }
            }
        }
    }
    inside.look_for_pending();
    inside.process.signals.ran = ran;
    ran
}

/// What a thread that is made for a signal has to do.
struct Handled {
    sent: Sent,
    action: Action,
    /// The thread that must have ended before.
    after: Option<ObjectId>,
}

/// Makes a thread that runs a handler; `false` if there can't be one.
fn make_handler(inside: &mut Inside, sent: Sent, action: Action, handlers: Handlers) -> bool {
    let me = inside.me;
    let site = inside.scheduler.machine.pending(me).site;
    let made = &mut inside.process.signals.made;
    let is_ordered = handlers == Handlers::Ordered;
    let last = made.iter().position(|(signal, _)| is_ordered && *signal == sent.signal);
    let after = last.map(|idx| made.swap_remove(idx).1);
    let handled = Box::into_raw(Box::new(Handled { sent, action, after }));
    let Ok(thread) = threads::create(inside, ptr::null(), handler_main, handled.cast(), site)
    else {
        // SAFETY: it has just been made, and nobody has got it.
        drop(unsafe { Box::from_raw(handled) });
        return false;
    };
    if let Some(thread) = inside.thread_of(thread) {
        let it = &mut inside.scheduler.threads[thread.idx()];
        name(&mut it.name, sent.signal);
        let object = it.object;
        if is_ordered {
            inside.process.signals.made.push((sent.signal, object));
        } else {
            inside.scheduler.machine.detach_quietly(thread);
        }
    }
    true
}

/// Such a thread's start routine.
unsafe extern "C-unwind" fn handler_main(handled: *mut c_void) -> *mut c_void {
    // SAFETY: made by `make_handler`, for this thread; the borrows end before the steps.
    unsafe {
        let Handled { sent, action, after } = *Box::from_raw(handled.cast());
        if let Some(mut inside) = enter() {
            if let Some(before) = after {
                step(&mut inside, Op::on(OpKind::Join, before, SiteId(0)));
            }
            run_handler(&mut inside, sent, action);
            leave((), inside);
        }
        ptr::null_mut()
    }
}

/// Names a thread after the signal that it handles: `SIGALRM`, `signal 40`.
pub(crate) fn name(name: &mut [u8; 16], signal: c_int) {
    const NAMES: [(c_int, &[u8]); 12] = [
        (libc::SIGHUP, b"SIGHUP"),
        (libc::SIGINT, b"SIGINT"),
        (libc::SIGQUIT, b"SIGQUIT"),
        (libc::SIGUSR1, b"SIGUSR1"),
        (libc::SIGUSR2, b"SIGUSR2"),
        (libc::SIGPIPE, b"SIGPIPE"),
        (libc::SIGALRM, b"SIGALRM"),
        (libc::SIGTERM, b"SIGTERM"),
        (libc::SIGCHLD, b"SIGCHLD"),
        (libc::SIGVTALRM, b"SIGVTALRM"),
        (libc::SIGPROF, b"SIGPROF"),
        (libc::SIGIO, b"SIGIO"),
    ];
    let digits =
        [b"signal ".as_slice(), &[b'0' + (signal / 10) as u8, b'0' + (signal % 10) as u8]].concat();
    let known = NAMES.iter().find(|(it, _)| *it == signal);
    let text = known.map_or(digits.as_slice(), |(_, text)| text);
    name[..text.len()].copy_from_slice(text);
}

/// A signal comes now, in a thread of its own: that runs the handler, unless somebody's call has to end for it, or all
/// block it.
pub(crate) fn interrupt(inside: &mut Inside, to: Option<ThreadId>, sent: Sent) {
    let action = inside.process.signals.action(sent.signal);
    let is_free = to.or_else(|| inside.thread_for(bit(sent.signal))).is_some_and(|it| {
        let is_open = inside.scheduler.threads[it.idx()].mask & bit(sent.signal) == 0;
        let is_alive = inside.scheduler.machine.status(it) != Status::Finished;
        let kind = inside.scheduler.machine.pending(it).kind;
        let is_ended = inside.scheduler.machine.is_blocked(it) && is_interruptible(kind);
        is_open && is_alive && !is_ended
    });
    if is_free && action.has_handler() {
        // SAFETY: no borrow lives while the handler runs: it has the token.
        unsafe { run_handler(inside, sent, action) };
    } else {
        inside.send_signal(to, sent, SiteId(0));
    }
}

/// Does a call that waits end when a handler has run?
fn is_interruptible(kind: OpKind) -> bool {
    matches!(kind, OpKind::SigWait | OpKind::Sleep | OpKind::SemWait | OpKind::FutexWake)
        || kind.is_io()
}

unsafe fn run_handler(inside: &mut Inside, sent: Sent, action: Action) {
    // SAFETY: the thread that runs is inside a hook; no borrow lives while the handler runs. A handler
    // that leaves by `longjmp` leaves a frame behind, which is dropped then.
    unsafe {
        let (object, site) = {
            let me = inside.me;
            (inside.this().object, inside.scheduler.machine.pending(me).site)
        };
        step(inside, Op::on(OpKind::Handle, object, site).arg(sent.signal as u64));
        inside.this().spin.reset();
        inside.process.signals.handler_begins(sent.signal);
        let own = if action.flags & libc::SA_NODEFER == 0 { bit(sent.signal) } else { 0 };
        let mask = inside.this().mask;
        let waits_for = std::mem::take(&mut inside.this().waits_for);
        let errno = *libc::__errno_location();
        let mut info = info_of(sent);
        let mut context = std::mem::zeroed::<libc::ucontext_t>();
        inside.this().handlers.push((&raw const info as usize, mask));
        inside.this().mask = mask | action.mask | own;
        outside(inside, || action.call(sent.signal, &raw mut info, (&raw mut context).cast()));
        inside.this().handlers.pop();
        inside.set_mask(mask);
        inside.this().waits_for = waits_for;
        *libc::__errno_location() = errno;
    }
}

pub(crate) fn info_of(sent: Sent) -> libc::siginfo_t {
    // SAFETY: all zeros is a siginfo; the words written are within it, where the kernel puts the
    // sender and the value.
    unsafe {
        let mut info = std::mem::zeroed::<libc::siginfo_t>();
        info.si_signo = sent.signal;
        info.si_code = sent.code;
        let words = (&raw mut info).cast::<usize>();
        if sent.code != libc::SI_TIMER {
            let process = std::process::id() as usize;
            // The kernel calls user 0 what we can't know without asking; asking is cheap.
            let user = raddle_fiber::raw::syscall(libc::SYS_getuid, [0; 6]) as usize;
            *words.add(2) = process | user << 32;
        }
        *words.add(VALUE_WORD) = sent.value;
        info
    }
}

/// Runs handlers of signals that were sent to the thread that runs, which is outside every hook.
#[cold]
fn deliver_pending(mut inside: Inside) {
    inside.is_inside = true;
    run_handlers(&mut inside);
    if inside.this().is_cancel_async {
        test_cancel(&mut inside);
    }
    inside.is_inside = false;
}

/// A thread is about to announce an op, and some thread has signals or is cancelled.
#[cold]
pub(crate) fn before_step(inside: &mut Inside, op: &Op) {
    match op.kind {
        OpKind::Handle | OpKind::Kill | OpKind::Finish | OpKind::Exit => {}
        OpKind::CondWake => {
            run_handlers(inside);
            if is_cancel_due(inside) {
                let me = inside.me;
                inside.cancel_wait(me, op.object);
            }
        }
        OpKind::FutexWake | OpKind::BarrierLeave => {
            run_handlers(inside);
        }
        _ if is_cancellation_point(op) => test_cancel(inside),
        _ => {}
    }
}

/// Ops in which a thread acts on a cancellation.
pub(crate) fn is_cancellation_point(op: &Op) -> bool {
    match op.kind {
        OpKind::CondWait | OpKind::CondWake | OpKind::SemWait => true,
        OpKind::Join | OpKind::Sleep | OpKind::SigWait => true,
        kind if kind.is_io() => op.flags.has(Flags::TIMED) || op.arg != AT_ONCE_NO_POINT,
        _ => false,
    }
}

/// An op was performed while some thread has signals or is cancelled, or was interrupted. Is it to be
/// announced again?
#[cold]
pub(crate) fn after_step(inside: &mut Inside, op: &Op, performed: &Performed) -> bool {
    if performed.result != OpResult::Interrupted {
        let thread = inside.this();
        if op.kind == OpKind::CondWake && std::mem::take(&mut thread.is_wait_cancelled) {
            test_cancel(inside);
        }
        return false;
    }
    let me = inside.me;
    inside.process.io.stop_waiting(me);
    // Who waits for a signal goes on after its handler.
    let ran =
        if op.kind == OpKind::SigWait { run_handlers_here(inside) } else { run_handlers(inside) };
    let is_async = inside.this().is_cancel_async;
    if is_async || (is_cancellation_point(op) && op.kind != OpKind::CondWake) {
        test_cancel(inside);
    }
    match op.kind {
        OpKind::SemWait => ran.may_restart,
        OpKind::Sleep | OpKind::SigWait => !ran.is_any,
        OpKind::FutexWake => false,
        kind => !kind.is_io(),
    }
}

/// Leaves a hook with its result, after what the thread has to do before it goes on: run the handlers
/// of signals that were sent to it, or end because it was cancelled.
#[inline(always)]
pub(crate) fn leave<T>(result: T, mut inside: Inside) -> T {
    inside.is_inside = false;
    if inside.process.signals.is_any_pending {
        deliver_pending(inside);
    }
    result
}
