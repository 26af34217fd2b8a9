//! Timers: `alarm`, `setitimer`, `timer_create`, timer descriptors; all in virtual time.

use std::ffi::{c_int, c_uint, c_void};

use libc::{itimerspec, itimerval, sigevent, timespec, timeval};

use crate::{
    control::{control, enter, leave},
    hooks::{caller, descriptor::made, export, fail, signal::thread_by_number},
    io::{AT_ONCE_NO_POINT, Kind},
    real, server, time,
    timers::Effect,
};

export! {
    alarm => do_alarm;
    ualarm => do_ualarm;
    setitimer => do_setitimer;
    getitimer => do_getitimer;
    timer_create => do_timer_create;
    timer_settime => do_timer_settime;
    timer_gettime => do_timer_gettime;
    timer_getoverrun => do_timer_getoverrun;
    timer_delete => do_timer_delete;
    timerfd_create => do_timerfd_create;
    timerfd_settime => do_timerfd_settime;
    timerfd_gettime => do_timerfd_gettime;
}

/// Our timers' numbers begin here, apart from the kernel's.
const FIRST_TIMER: usize = 0x4000_0000;
const SIGEV_THREAD: c_int = 2;
const MICROSECOND_NS: u64 = 1_000;
/// The one timer of `alarm` and `setitimer`.
const INTERVAL: Effect =
    Effect::Signal { signal: libc::SIGALRM, code: libc::SI_KERNEL, value: 0, to: None };

/// The interval timer, made at its first use; inside a hook.
unsafe fn interval_timer() -> usize {
    // SAFETY: the thread that runs is inside a hook.
    let timers = unsafe { &mut (*control()).signals.timers };
    timers.find(INTERVAL).unwrap_or_else(|| timers.add(INTERVAL, libc::CLOCK_MONOTONIC))
}

/// Sets the interval timer, inside a hook. What it showed before.
unsafe fn set_interval(value_ns: u64, interval_ns: u64) -> itimerspec {
    let to = itimerspec {
        it_value: time::to_timespec(value_ns),
        it_interval: time::to_timespec(interval_ns),
    };
    // SAFETY: the thread that runs is inside a hook.
    unsafe { (*control()).set_timer(interval_timer(), &to, false) }
}

unsafe extern "C-unwind" fn do_alarm(seconds: c_uint) -> c_uint {
    // SAFETY: the program's promises are passed on.
    unsafe {
        if !enter() {
            return real::alarm(seconds);
        }
        let old = set_interval(u64::from(seconds) * 1_000_000_000, 0);
        let left = time::nanoseconds(&old.it_value);
        leave(left.div_ceil(1_000_000_000) as c_uint)
    }
}

unsafe extern "C-unwind" fn do_ualarm(value_us: c_uint, interval_us: c_uint) -> c_uint {
    // SAFETY: the program's promises are passed on.
    unsafe {
        if !enter() {
            return real::ualarm(value_us, interval_us);
        }
        let (value, interval) = (u64::from(value_us), u64::from(interval_us));
        let old = set_interval(value * MICROSECOND_NS, interval * MICROSECOND_NS);
        leave(time::nanoseconds(&old.it_value).div_ceil(MICROSECOND_NS) as c_uint)
    }
}

fn of_timeval(time: &timeval) -> u64 {
    time::nanoseconds(&timespec { tv_sec: time.tv_sec, tv_nsec: time.tv_usec * 1000 })
}

fn to_timeval(time: &timespec) -> timeval {
    timeval { tv_sec: time.tv_sec, tv_usec: time.tv_nsec / 1000 }
}

fn to_itimerval(it: &itimerspec) -> itimerval {
    itimerval { it_interval: to_timeval(&it.it_interval), it_value: to_timeval(&it.it_value) }
}

unsafe extern "C-unwind" fn do_setitimer(
    which: c_int,
    new: *const itimerval,
    old: *mut itimerval,
) -> c_int {
    let caller = caller();
    // SAFETY: the program's promises are passed on.
    unsafe {
        if !enter() {
            return real::setitimer(which, new, old);
        }
        if which != libc::ITIMER_REAL as c_int {
            let site = (*control()).site(caller);
            server::note(c"setitimer: a timer of processor time", site);
            let result = real::setitimer(which, new, old);
            return leave(result);
        }
        let before = set_interval(of_timeval(&(*new).it_value), of_timeval(&(*new).it_interval));
        if !old.is_null() {
            *old = to_itimerval(&before);
        }
        leave(0)
    }
}

unsafe extern "C-unwind" fn do_getitimer(which: c_int, value: *mut itimerval) -> c_int {
    // SAFETY: the program's promises are passed on.
    unsafe {
        if which != libc::ITIMER_REAL as c_int || !enter() {
            return real::getitimer(which, value);
        }
        let idx = interval_timer();
        *value = to_itimerval(&left_of(idx));
        leave(0)
    }
}

/// What a timer shows, inside a hook.
unsafe fn left_of(idx: usize) -> itimerspec {
    // SAFETY: the thread that runs is inside a hook.
    unsafe {
        let now = (*control()).machine.now();
        (*control()).signals.timers.get(idx).expect("bug: no such timer").left(now)
    }
}

unsafe extern "C-unwind" fn do_timer_create(
    clock: c_int,
    event: *mut sigevent,
    timer: *mut *mut c_void,
) -> c_int {
    let caller = caller();
    // SAFETY: the program's promises are passed on.
    unsafe {
        if !enter() {
            return real::timer_create(clock, event, timer);
        }
        let effect = match event.as_ref() {
            None => {
                Effect::Signal { signal: libc::SIGALRM, code: libc::SI_TIMER, value: 0, to: None }
            }
            Some(it) if it.sigev_notify == libc::SIGEV_NONE => Effect::None,
            Some(it) if it.sigev_notify == SIGEV_THREAD => {
                let site = (*control()).site(caller);
                server::note(c"timer_create: a thread of its own, in real time", site);
                let result = real::timer_create(clock, event, timer);
                return leave(result);
            }
            Some(it) => {
                let to = if it.sigev_notify == libc::SIGEV_THREAD_ID {
                    thread_by_number(it.sigev_notify_thread_id)
                } else {
                    None
                };
                let value = it.sigev_value.sival_ptr as usize;
                Effect::Signal { signal: it.sigev_signo, code: libc::SI_TIMER, value, to }
            }
        };
        let idx = (*control()).signals.timers.add(effect, clock);
        *timer = (FIRST_TIMER + idx) as *mut c_void;
        leave(0)
    }
}

/// The number of a timer of ours, inside a hook.
unsafe fn timer_of(timer: *mut c_void) -> Option<usize> {
    let idx = (timer as usize).checked_sub(FIRST_TIMER)?;
    // SAFETY: the thread that runs is inside a hook.
    unsafe { (*control()).signals.timers.get(idx).map(|_| idx) }
}

unsafe extern "C-unwind" fn do_timer_settime(
    timer: *mut c_void,
    flags: c_int,
    new: *const itimerspec,
    old: *mut itimerspec,
) -> c_int {
    // SAFETY: the program's promises are passed on.
    unsafe {
        if !enter() {
            return real::timer_settime(timer, flags, new, old);
        }
        let Some(idx) = timer_of(timer) else {
            let result = real::timer_settime(timer, flags, new, old);
            return leave(result);
        };
        leave(set_time(idx, flags & libc::TIMER_ABSTIME != 0, new, old))
    }
}

unsafe fn set_time(
    idx: usize,
    is_absolute: bool,
    new: *const itimerspec,
    old: *mut itimerspec,
) -> c_int {
    // SAFETY: the program promises a time, and room or nothing; inside a hook.
    unsafe {
        if !time::is_valid(&(*new).it_value) || !time::is_valid(&(*new).it_interval) {
            return fail(libc::EINVAL);
        }
        let before = (*control()).set_timer(idx, &*new, is_absolute);
        if !old.is_null() {
            *old = before;
        }
        0
    }
}

unsafe extern "C-unwind" fn do_timer_gettime(timer: *mut c_void, value: *mut itimerspec) -> c_int {
    // SAFETY: the program's promises are passed on.
    unsafe {
        if !enter() {
            return real::timer_gettime(timer, value);
        }
        let Some(idx) = timer_of(timer) else {
            let result = real::timer_gettime(timer, value);
            return leave(result);
        };
        *value = left_of(idx);
        leave(0)
    }
}

unsafe extern "C-unwind" fn do_timer_getoverrun(timer: *mut c_void) -> c_int {
    // SAFETY: the program's promises are passed on.
    unsafe {
        if !enter() {
            return real::timer_getoverrun(timer);
        }
        let Some(idx) = timer_of(timer) else {
            let result = real::timer_getoverrun(timer);
            return leave(result);
        };
        let timer = (*control()).signals.timers.get(idx).expect("bug: no such timer");
        let count = std::mem::take(&mut timer.count);
        leave(count.saturating_sub(1) as c_int)
    }
}

unsafe extern "C-unwind" fn do_timer_delete(timer: *mut c_void) -> c_int {
    // SAFETY: the program's promises are passed on.
    unsafe {
        if !enter() {
            return real::timer_delete(timer);
        }
        let Some(idx) = timer_of(timer) else {
            let result = real::timer_delete(timer);
            return leave(result);
        };
        (*control()).signals.timers.remove(idx);
        (*control()).set_alarm();
        leave(0)
    }
}

unsafe extern "C-unwind" fn do_timerfd_create(clock: c_int, flags: c_int) -> c_int {
    // SAFETY: the program's promises are passed on.
    let fd = unsafe { made(real::timerfd_create(clock, flags), Kind::Timer, true) };
    if fd >= 0 && enter() {
        // SAFETY: the thread that runs is inside a hook.
        unsafe { (*control()).signals.timers.add(Effect::Descriptor(fd), clock) };
        leave(());
    }
    fd
}

/// The timer of a descriptor, inside a hook.
unsafe fn descriptor_timer(fd: c_int) -> Option<usize> {
    // SAFETY: the thread that runs is inside a hook.
    unsafe { (*control()).signals.timers.find(Effect::Descriptor(fd)) }
}

unsafe extern "C-unwind" fn do_timerfd_settime(
    fd: c_int,
    flags: c_int,
    new: *const itimerspec,
    old: *mut itimerspec,
) -> c_int {
    let caller = caller();
    // SAFETY: the program's promises are passed on.
    unsafe {
        if !enter() {
            return real::timerfd_settime(fd, flags, new, old);
        }
        let Some(idx) = descriptor_timer(fd) else {
            let result = real::timerfd_settime(fd, flags, new, old);
            return leave(result);
        };
        super::descriptor::touch(fd, AT_ONCE_NO_POINT, caller);
        leave(set_time(idx, flags & libc::TFD_TIMER_ABSTIME != 0, new, old))
    }
}

unsafe extern "C-unwind" fn do_timerfd_gettime(fd: c_int, value: *mut itimerspec) -> c_int {
    // SAFETY: the program's promises are passed on.
    unsafe {
        if !enter() {
            return real::timerfd_gettime(fd, value);
        }
        let Some(idx) = descriptor_timer(fd) else {
            let result = real::timerfd_gettime(fd, value);
            return leave(result);
        };
        *value = left_of(idx);
        leave(0)
    }
}

/// A timer descriptor was read: the program gets the count of virtual time. Inside a hook.
pub(super) unsafe fn expirations(fd: c_int, buffer: *mut c_void, result: isize) -> isize {
    // SAFETY: the kernel has filled eight bytes in if it says so.
    unsafe {
        if result == 8
            && let Some(idx) = descriptor_timer(fd)
        {
            let timer = (*control()).signals.timers.get(idx).expect("bug: no such timer");
            buffer.cast::<u64>().write_unaligned(std::mem::take(&mut timer.count).max(1));
        }
    }
    result
}

/// A descriptor is about to be closed. Inside a hook.
pub(super) unsafe fn forget_descriptor(fd: c_int) {
    // SAFETY: the thread that runs is inside a hook.
    unsafe {
        if let Some(idx) = descriptor_timer(fd) {
            (*control()).signals.timers.remove(idx);
            (*control()).set_alarm();
        }
    }
}
