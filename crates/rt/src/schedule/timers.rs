//! Timers that run in virtual time: `alarm`, `setitimer`, `timer_create` and timer descriptors.
//!
//! The machine has one alarm; it is set to the earliest of them. What goes off is a signal, or a
//! descriptor that becomes readable: then the kernel's own timer of that descriptor is set off, so
//! that `poll` and `epoll` see it.
//!
//! They go off at their time; no delay is chosen for one. Where handlers are threads (`Handlers`), a timer that sends a signal
//! has a thread which sets it off, from the moment when it is set: so when it goes off is a matter of the schedule, for
//! every strategy. Once for each time that it is set: one that repeats would never let anybody go on. And not if
//! it is far away.

use crate::control::Inside;
use std::{
    ffi::{c_int, c_void},
    ptr,
};

use raddle_fiber::raw;
use raddle_model::{Handlers, SiteId, ThreadId};

use crate::{
    base::time,
    control::{Control, enter},
    record::stack::Caller,
    schedule::{
        descriptors,
        signals::{self, leave},
        threads,
    },
    state::{
        signals::Sent,
        timers::{Effect, Timer},
    },
};

/// Timers this far away have no thread.
const FAR_NS: u64 = 5_000_000_000;

impl Control {
    /// Sets a timer, or stops it. What it showed before.
    pub(crate) fn set_timer(
        &mut self,
        idx: usize,
        to: &libc::itimerspec,
        is_absolute: bool,
    ) -> libc::itimerspec {
        let now = self.scheduler.machine.now();
        let timer = self.process.signals.timers.get(idx).expect("bug: no such timer");
        let old = timer.left(now);
        let value = time::nanoseconds(&to.it_value);
        timer.at = match value {
            0 => None,
            _ if is_absolute => Some(time::deadline(timer.clock, &to.it_value).max(now)),
            _ => Some(now.saturating_add(value)),
        };
        timer.interval = time::nanoseconds(&to.it_interval);
        timer.count = 0;
        // When it goes off depends on how long things take, as what clocks show does.
        self.recorder.emit.n_clock_reads += u32::from(timer.at.is_some());
        if let Effect::Descriptor(fd) = timer.effect {
            arm_real(fd, 0);
        }
        self.set_alarm();
        old
    }

    /// Does a timer that was set want a thread?
    fn wants_thread(&mut self, idx: usize) -> bool {
        let soon = self.scheduler.machine.now().saturating_add(FAR_NS);
        let are_threads = self.process.signals.handlers != Handlers::Nested;
        let Some(timer) = self.process.signals.timers.get(idx).filter(|_| are_threads) else {
            return false;
        };
        let is_free = !timer.has_thread && timer.at.is_some_and(|at| at < soon);
        match timer.effect {
            Effect::Signal { signal, .. } => {
                is_free && self.process.signals.action(signal).has_handler()
            }
            _ => false,
        }
    }

    /// A timer goes off in its thread, if it is still set: time has come that far. What is sent then, and to whom.
    fn set_off(&mut self, idx: usize) -> Option<(Option<ThreadId>, Sent)> {
        let now = self.scheduler.machine.now();
        let timer = self.process.signals.timers.get(idx)?;
        timer.has_thread = false;
        let at = timer.at?.max(now);
        timer.count += timer.go_off(at);
        let effect = timer.effect;
        self.set_alarm();
        self.scheduler.machine.advance(at - now);
        match effect {
            Effect::Signal { signal, code, value, to } => Some((to, Sent { signal, code, value })),
            _ => None,
        }
    }

    pub(crate) fn set_alarm(&mut self) {
        let earliest = self.process.signals.timers.earliest();
        self.scheduler.machine.set_alarm(earliest);
    }
}

/// Gives a timer that was set its thread, if it is to have one.
pub(crate) fn give_thread(inside: &mut Inside, idx: usize, caller: Caller) {
    if !inside.wants_thread(idx) {
        return;
    }
    let site = inside.site(caller);
    let arg = idx as *mut c_void;
    let Ok(thread) = threads::create(inside, ptr::null(), timer_main, arg, site) else { return };
    let control: &mut Control = inside;
    let Some(thread) = control.thread_of(thread) else { return };
    if let Some(Timer { has_thread, effect: Effect::Signal { signal, .. }, .. }) =
        control.process.signals.timers.get(idx)
    {
        *has_thread = true;
        signals::name(&mut control.scheduler.threads[thread.idx()].name, *signal);
    }
    control.scheduler.machine.detach_quietly(thread);
}

/// Such a thread's start routine.
unsafe extern "C-unwind" fn timer_main(idx: *mut c_void) -> *mut c_void {
    if let Some(mut inside) = enter() {
        if let Some((to, sent)) = inside.set_off(idx as usize) {
            signals::interrupt(&mut inside, to, sent);
        }
        leave((), inside);
    }
    ptr::null_mut()
}

/// The alarm went off: so do all timers that are due.
#[cold]
pub(crate) fn fire(control: &mut Control) {
    control.scheduler.machine.is_alarm_due = false;
    let now = control.scheduler.machine.now();
    for idx in 0..control.process.signals.timers.all.len() {
        let Some(timer) = &mut control.process.signals.timers.all[idx] else { continue };
        let n_times = timer.go_off(now);
        if n_times == 0 {
            continue;
        }
        timer.count += n_times;
        match timer.effect {
            Effect::None => {}
            Effect::Signal { signal, code, value, to } => {
                control.send_signal(to, Sent { signal, code, value }, SiteId(0));
            }
            Effect::Descriptor(fd) => {
                arm_real(fd, 1);
                control.process.io.is_stale = true;
            }
            Effect::Thread(fd) => {
                wake(fd);
                control.process.io.is_stale = true;
            }
        }
    }
    control.set_alarm();
    if control.process.io.n_waiting > 0 && control.process.io.is_stale {
        descriptors::refresh(control);
    }
}

/// Adds one to an eventfd.
pub(crate) fn wake(fd: c_int) {
    let one = 1_u64;
    // SAFETY: the kernel reads our own variable.
    unsafe { raw::syscall(libc::SYS_write, [fd as usize, &raw const one as usize, 8, 0, 0, 0]) };
}

/// Sets off the kernel's timer of a descriptor at once, or stops it.
fn arm_real(fd: c_int, nanoseconds: u64) {
    let to = libc::itimerspec {
        it_interval: time::to_timespec(0),
        it_value: time::to_timespec(nanoseconds),
    };
    // SAFETY: the kernel reads our own structure, and writes our own list.
    unsafe {
        raw::syscall(libc::SYS_timerfd_settime, [fd as usize, 0, &raw const to as usize, 0, 0, 0]);
        if nanoseconds > 0 {
            let mut list = libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
            let wait_ms = 1000;
            raw::syscall(libc::SYS_poll, [&raw mut list as usize, 1, wait_ms, 0, 0, 0]);
        }
    }
}
