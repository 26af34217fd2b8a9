//! Sleeps and clocks, in virtual time.

use std::ffi::{c_int, c_long, c_uint, c_void};

use libc::{time_t, timespec, timeval};
use raddle_model::{ObjectId, Op, OpKind, OpResult};

use crate::{
    base::time,
    control::Inside,
    hooks::{fail, hooks},
    outside::clock,
    record::stack::Caller,
    schedule::step::{step, yield_at},
};

const SECOND_NS: u64 = 1_000_000_000;
/// The greatest number of a clock that the kernel has.
const CLOCK_MAX: c_int = libc::CLOCK_TAI;
/// `timespec_get` in universal time.
const TIME_UTC: c_int = 1;

hooks! { |inside, caller|
    fn nanosleep(length: *const timespec, left: *mut timespec) -> c_int => {
        let error = sleep_by(inside, libc::CLOCK_MONOTONIC, 0, length, left, caller);
        if error == 0 { 0 } else { fail(error) }
    };
    fn clock_nanosleep(clock: c_int, flags: c_int, length: *const timespec, left: *mut timespec) -> c_int
        => sleep_by(inside, clock, flags, length, left, caller);
    fn usleep(length_us: c_uint) -> c_int => {
        let slept = sleep_for(inside, u64::from(length_us) * 1_000, caller);
        if slept.is_ok() { 0 } else { fail(libc::EINTR) }
    };
    fn sleep(length_s: c_uint) -> c_uint => {
        let slept = sleep_for(inside, u64::from(length_s) * SECOND_NS, caller);
        slept.err().map_or(0, |left_ns| left_ns.div_ceil(SECOND_NS) as c_uint)
    };
    /// -1 if a handler ran, another negative number for any other error.
    fn thrd_sleep(length: *const timespec, left: *mut timespec) -> c_int => {
        match sleep_by(inside, libc::CLOCK_REALTIME, 0, length, left, caller) {
            0 => 0,
            libc::EINTR => -1,
            _ => -2,
        }
    };
    fn clock_gettime(clock: c_int, to: *mut timespec) -> c_int, if clock <= CLOCK_MAX => {
        // Negative numbers are the clocks of threads and processes.
        let clock = if clock < 0 { libc::CLOCK_THREAD_CPUTIME_ID } else { clock };
        *to = time::to_timespec(read(inside, clock, caller));
        0
    };
    fn gettimeofday(to: *mut timeval, zone: *mut c_void) -> c_int, if !to.is_null() => {
        let shown = time::to_timespec(read(inside, libc::CLOCK_REALTIME, caller));
        *to = timeval { tv_sec: shown.tv_sec, tv_usec: shown.tv_nsec / 1_000 };
        if !zone.is_null() {
            zone.cast::<u64>().write_unaligned(0);
        }
        0
    };
    fn time(to: *mut time_t) -> time_t => {
        let shown = (read(inside, libc::CLOCK_REALTIME, caller) / SECOND_NS) as time_t;
        if !to.is_null() {
            *to = shown;
        }
        shown
    };
    fn timespec_get(to: *mut timespec, base: c_int) -> c_int, if base == TIME_UTC => {
        *to = time::to_timespec(read(inside, libc::CLOCK_REALTIME, caller));
        base
    };
    /// In microseconds.
    fn clock() -> c_long => (read(inside, libc::CLOCK_PROCESS_CPUTIME_ID, caller) / 1_000) as c_long;
}

/// A deadline as timed waits are given it, in the machine's time; the error is `EINVAL`.
pub(crate) unsafe fn deadline_of(clock: c_int, until: *const timespec) -> Result<u64, c_int> {
    // SAFETY: the program promises a time.
    let until = unsafe { &*until };
    if !matches!(clock, libc::CLOCK_REALTIME | libc::CLOCK_MONOTONIC) || !time::is_valid(until) {
        return Err(libc::EINVAL);
    }
    Ok(time::deadline(clock, until))
}

/// Sleeps until the machine's time is `deadline`, inside a hook. To sleep for no time is to yield.
/// Every sleep is this one. `false` if a signal handler is to run instead.
pub(crate) unsafe fn sleep_until(inside: &mut Inside, deadline: u64, caller: Caller) -> bool {
    let site = inside.site(caller);
    inside.this().spin.reset();
    if deadline <= inside.scheduler.machine.now() {
        yield_at(inside, site);
        return true;
    }
    let op = Op::on(OpKind::Sleep, ObjectId::NONE, site).until(Some(deadline));
    step(inside, op).result != OpResult::Interrupted
}

/// Sleeps for a time, inside a hook; what is left of it if a signal handler is to run.
unsafe fn sleep_for(inside: &mut Inside, length_ns: u64, caller: Caller) -> Result<(), u64> {
    let deadline = clock::deadline_after(length_ns);
    // SAFETY: the thread that runs is inside a hook.
    unsafe {
        if sleep_until(inside, deadline, caller) {
            return Ok(());
        }
        Err(deadline.saturating_sub(inside.scheduler.machine.now()))
    }
}

fn is_length(length: &timespec) -> bool {
    length.tv_sec >= 0 && time::is_valid(length)
}

/// `clock_nanosleep`, inside a hook; the error is its result.
pub(crate) unsafe fn sleep_by(
    inside: &mut Inside,
    clock: c_int,
    flags: c_int,
    length: *const timespec,
    left: *mut timespec,
    caller: Caller,
) -> c_int {
    // SAFETY: the program promises a time, and a place for what is left of it or null.
    unsafe {
        let is_clock = (0..=CLOCK_MAX).contains(&clock) && clock != libc::CLOCK_THREAD_CPUTIME_ID;
        if !is_clock || !is_length(&*length) {
            return libc::EINVAL;
        }
        if flags & libc::TIMER_ABSTIME != 0 {
            let is_over = sleep_until(inside, time::deadline(clock, &*length), caller);
            return if is_over { 0 } else { libc::EINTR };
        }
        match sleep_for(inside, time::nanoseconds(&*length), caller) {
            Ok(()) => 0,
            Err(left_ns) => {
                if !left.is_null() {
                    *left = time::to_timespec(left_ns);
                }
                libc::EINTR
            }
        }
    }
}

/// What a clock shows, inside a hook.
pub(crate) unsafe fn read(inside: &mut Inside, clock: c_int, caller: Caller) -> u64 {
    // SAFETY: the thread that runs is inside a hook; the borrow ends here.
    unsafe {
        let site = inside.site(caller);
        clock::read(inside, clock, site)
    }
}
