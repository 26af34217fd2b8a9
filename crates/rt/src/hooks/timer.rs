//! Timers: `alarm`, `setitimer`, `timer_create`, timer descriptors; all in virtual time.

use std::{
    ffi::{c_int, c_uint, c_void},
    ptr,
};

use libc::{itimerspec, itimerval, sigevent, timespec, timeval};
use raddle_fiber::raw;
use raddle_model::{Escape, OpKind, SiteId};

use crate::{
    base::{real, time},
    control::{Inside, enter},
    hooks::{descriptor::made, export, fail, hooks, number},
    outside::io,
    record::stack::Caller,
    schedule::{signals::leave, threads, timers},
    state::{
        io::{AT_ONCE_NO_POINT, DescriptorKind},
        timers::Effect,
    },
};

hooks! { |inside, caller|
    fn alarm(seconds: c_uint) -> c_uint => {
        let old = set_interval(inside, u64::from(seconds) * 1_000_000_000, 0, caller);
        let left = time::nanoseconds(&old.it_value);
        left.div_ceil(1_000_000_000) as c_uint
    };
    fn ualarm(value_us: c_uint, interval_us: c_uint) -> c_uint => {
        let (value, interval) = (u64::from(value_us), u64::from(interval_us));
        let old = set_interval(inside, value * MICROSECOND_NS, interval * MICROSECOND_NS, caller);
        time::nanoseconds(&old.it_value).div_ceil(MICROSECOND_NS) as c_uint
    };
    fn setitimer(which: c_int, new: *const itimerval, old: *mut itimerval) -> c_int => {
        if which != libc::ITIMER_REAL as c_int {
            let site = inside.site(caller);
            inside.note(Escape::ProcessorTimer, site);
            let result = real::setitimer(which, new, old);
            return result;
        }
        let (value, interval) = (of_timeval(&(*new).it_value), of_timeval(&(*new).it_interval));
        let before = set_interval(inside, value, interval, caller);
        if !old.is_null() {
            *old = to_itimerval(&before);
        }
        0
    };
    fn getitimer(which: c_int, value: *mut itimerval) -> c_int, if which == libc::ITIMER_REAL as c_int => {
        let idx = interval_timer(inside);
        *value = to_itimerval(&left_of(inside, idx));
        0
    };
    fn timer_create(clock: c_int, event: *mut sigevent, timer: *mut *mut c_void) -> c_int => {
        let effect = match event.as_ref() {
            None => {
                Effect::Signal { signal: libc::SIGALRM, code: libc::SI_TIMER, value: 0, to: None }
            }
            Some(it) if it.sigev_notify == libc::SIGEV_NONE => Effect::None,
            Some(it) if it.sigev_notify == SIGEV_THREAD => {
                let site = inside.site(caller);
                return match create_with_thread(inside, clock, it, site) {
                    Ok(idx) => {
                        *timer = (FIRST_TIMER + idx) as *mut c_void;
                        0
                    }
                    Err(error) => fail(error),
                };
            }
            Some(it) => {
                let to = if it.sigev_notify == libc::SIGEV_THREAD_ID {
                    number::thread(inside, it.sigev_notify_thread_id)
                } else {
                    None
                };
                let value = it.sigev_value.sival_ptr as usize;
                Effect::Signal { signal: it.sigev_signo, code: libc::SI_TIMER, value, to }
            }
        };
        let idx = inside.process.signals.timers.add(effect, clock);
        *timer = (FIRST_TIMER + idx) as *mut c_void;
        0
    };
    fn timer_settime(timer: *mut c_void, flags: c_int, new: *const itimerspec, old: *mut itimerspec) -> c_int => {
        let Some(idx) = timer_of(inside, timer) else {
            let result = real::timer_settime(timer, flags, new, old);
            return result;
        };
        let result = set_time(inside, idx, flags & libc::TIMER_ABSTIME != 0, new, old);
        timers::give_thread(inside, idx, caller);
        result
    };
    fn timer_gettime(timer: *mut c_void, value: *mut itimerspec) -> c_int => {
        let Some(idx) = timer_of(inside, timer) else {
            let result = real::timer_gettime(timer, value);
            return result;
        };
        *value = left_of(inside, idx);
        0
    };
    fn timer_getoverrun(timer: *mut c_void) -> c_int => {
        let Some(idx) = timer_of(inside, timer) else {
            let result = real::timer_getoverrun(timer);
            return result;
        };
        let timer = inside.process.signals.timers.get(idx).expect("bug: no such timer");
        let count = std::mem::take(&mut timer.count);
        count.saturating_sub(1) as c_int
    };
    fn timer_delete(timer: *mut c_void) -> c_int => {
        let Some(idx) = timer_of(inside, timer) else {
            let result = real::timer_delete(timer);
            return result;
        };
        let effect = inside.process.signals.timers.get(idx).map(|it| it.effect);
        inside.process.signals.timers.remove(idx);
        inside.set_alarm();
        if let Some(Effect::Thread(fd)) = effect {
            timers::wake(fd);
            inside.process.io.is_stale = true;
        }
        0
    };
    fn timerfd_settime(fd: c_int, flags: c_int, new: *const itimerspec, old: *mut itimerspec) -> c_int => {
        let Some(idx) = descriptor_timer(inside, fd) else {
            let result = real::timerfd_settime(fd, flags, new, old);
            return result;
        };
        super::descriptor::touch(inside, OpKind::Io, fd, AT_ONCE_NO_POINT, caller);
        set_time(inside, idx, flags & libc::TFD_TIMER_ABSTIME != 0, new, old)
    };
    fn timerfd_gettime(fd: c_int, value: *mut itimerspec) -> c_int => {
        let Some(idx) = descriptor_timer(inside, fd) else {
            let result = real::timerfd_gettime(fd, value);
            return result;
        };
        *value = left_of(inside, idx);
        0
    };
}

export! {
    timerfd_create => do_timerfd_create;
}

/// Our timers' numbers begin here, apart from the kernel's.
const FIRST_TIMER: usize = 0x4000_0000;
const SIGEV_THREAD: c_int = 2;
const MICROSECOND_NS: u64 = 1_000;
/// The one timer of `alarm` and `setitimer`.
const INTERVAL: Effect =
    Effect::Signal { signal: libc::SIGALRM, code: libc::SI_KERNEL, value: 0, to: None };

/// The interval timer, made at its first use; inside a hook.
unsafe fn interval_timer(inside: &mut Inside) -> usize {
    let timers = &mut inside.process.signals.timers;
    timers.find(INTERVAL).unwrap_or_else(|| timers.add(INTERVAL, libc::CLOCK_MONOTONIC))
}

/// Sets the interval timer, inside a hook. What it showed before.
unsafe fn set_interval(
    inside: &mut Inside,
    value_ns: u64,
    interval_ns: u64,
    caller: Caller,
) -> itimerspec {
    let to = itimerspec {
        it_value: time::to_timespec(value_ns),
        it_interval: time::to_timespec(interval_ns),
    };
    // SAFETY: the thread that runs is inside a hook.
    unsafe {
        let idx = interval_timer(inside);
        let before = inside.set_timer(idx, &to, false);
        timers::give_thread(inside, idx, caller);
        before
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

/// What a timer shows, inside a hook.
unsafe fn left_of(inside: &mut Inside, idx: usize) -> itimerspec {
    let now = inside.scheduler.machine.now();
    inside.process.signals.timers.get(idx).expect("bug: no such timer").left(now)
}

/// What a thread that calls the program's function for a timer knows.
struct Notify {
    timer: usize,
    fd: c_int,
    function: unsafe extern "C-unwind" fn(usize),
    value: usize,
    site: SiteId,
}

/// A timer whose function runs in a thread: one for all its calls, which never overlap then.
unsafe fn create_with_thread(
    inside: &mut Inside,
    clock: c_int,
    event: &sigevent,
    site: SiteId,
) -> Result<usize, c_int> {
    /// Out of the way of the program's own descriptors.
    const FIRST_FD: usize = 512;
    // SAFETY: the program promises that the event names a function, which lies behind the fixed part
    // of the structure; inside a hook, the borrows end before the thread is created.
    unsafe {
        let made = raw::syscall(libc::SYS_eventfd2, [0, libc::O_CLOEXEC as usize, 0, 0, 0, 0]);
        let made = usize::try_from(made).map_err(|_| libc::EAGAIN)?;
        let dup = libc::F_DUPFD_CLOEXEC as usize;
        let fd = raw::syscall(libc::SYS_fcntl, [made, dup, FIRST_FD, 0, 0, 0]) as c_int;
        raw::syscall(libc::SYS_close, [made, 0, 0, 0, 0, 0]);
        inside.process.io.add(fd, DescriptorKind::Event, true);
        let timer = inside.process.signals.timers.add(Effect::Thread(fd), clock);
        let function = (&raw const *event).cast::<u8>().add(16).cast::<usize>().read();
        let function = std::mem::transmute::<usize, unsafe extern "C-unwind" fn(usize)>(function);
        let value = event.sigev_value.sival_ptr as usize;
        let notify = Box::into_raw(Box::new(Notify { timer, fd, function, value, site }));
        let thread = threads::create(inside, ptr::null(), notify_main, notify.cast(), site)?;
        if let Some(thread) = inside.thread_of(thread) {
            inside.scheduler.machine.detach_quietly(thread);
        }
        Ok(timer)
    }
}

/// Such a thread's start routine.
unsafe extern "C-unwind" fn notify_main(notify: *mut c_void) -> *mut c_void {
    // SAFETY: made by `create_with_thread`, for this thread; the borrows end before the steps.
    unsafe {
        let Notify { timer, fd, function, value, site } = *Box::from_raw(notify.cast());
        let is_set = |inside: &mut Inside| match inside.process.signals.timers.get(timer) {
            Some(it) => it.effect == Effect::Thread(fd),
            None => false,
        };
        loop {
            let Some(mut inside) = enter() else {
                return ptr::null_mut();
            };
            io::wait_for_one(&mut inside, OpKind::IoRead, fd, site);
            let mut count = 0_u64;
            raw::syscall(libc::SYS_read, [fd as usize, &raw mut count as usize, 8, 0, 0, 0]);
            if !is_set(&mut inside) {
                inside.process.io.forget(fd);
                raw::syscall(libc::SYS_close, [fd as usize, 0, 0, 0, 0, 0]);
                leave((), inside);
                return ptr::null_mut();
            }
            leave((), inside);
            for _ in 0..count {
                function(value);
            }
        }
    }
}

/// The number of a timer of ours, inside a hook.
unsafe fn timer_of(inside: &mut Inside, timer: *mut c_void) -> Option<usize> {
    let idx = (timer as usize).checked_sub(FIRST_TIMER)?;
    inside.process.signals.timers.get(idx).map(|_| idx)
}

unsafe fn set_time(
    inside: &mut Inside,
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
        let before = inside.set_timer(idx, &*new, is_absolute);
        if !old.is_null() {
            *old = before;
        }
        0
    }
}

unsafe extern "C-unwind" fn do_timerfd_create(clock: c_int, flags: c_int) -> c_int {
    // SAFETY: the program's promises are passed on.
    let fd = unsafe { made(real::timerfd_create(clock, flags), DescriptorKind::Timer, true) };
    if fd >= 0
        && let Some(mut inside) = enter()
    {
        inside.process.signals.timers.add(Effect::Descriptor(fd), clock);
        leave((), inside);
    }
    fd
}

/// The timer of a descriptor, inside a hook.
unsafe fn descriptor_timer(inside: &mut Inside, fd: c_int) -> Option<usize> {
    inside.process.signals.timers.find(Effect::Descriptor(fd))
}

/// A timer descriptor was read: the program gets the count of virtual time. Inside a hook.
pub(super) unsafe fn expirations(
    inside: &mut Inside,
    fd: c_int,
    buffer: *mut c_void,
    result: isize,
) -> isize {
    // SAFETY: the kernel has filled eight bytes in if it says so.
    unsafe {
        if result == 8
            && let Some(idx) = descriptor_timer(inside, fd)
        {
            let timer = inside.process.signals.timers.get(idx).expect("bug: no such timer");
            buffer.cast::<u64>().write_unaligned(std::mem::take(&mut timer.count).max(1));
        }
    }
    result
}

/// A descriptor is about to be closed. Inside a hook.
pub(super) unsafe fn forget_descriptor(inside: &mut Inside, fd: c_int) {
    // SAFETY: the thread that runs is inside a hook.
    unsafe {
        if let Some(idx) = descriptor_timer(inside, fd) {
            inside.process.signals.timers.remove(idx);
            inside.set_alarm();
        }
    }
}
