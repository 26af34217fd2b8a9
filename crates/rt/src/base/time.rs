//! Times as the C library writes them, and where the clocks of an execution begin.

use std::ffi::c_int;

use libc::timespec;

/// Where the clocks stand when an execution begins: 2026-01-01, and an hour after boot.
const REALTIME_START_NS: u64 = 1_767_225_600_000_000_000;

const MONOTONIC_START_NS: u64 = 3_600_000_000_000;

pub(crate) const SECOND_NS: u64 = 1_000_000_000;

pub(crate) fn start_of(clock: c_int) -> u64 {
    match clock {
        libc::CLOCK_REALTIME | libc::CLOCK_REALTIME_COARSE | libc::CLOCK_TAI => REALTIME_START_NS,
        libc::CLOCK_PROCESS_CPUTIME_ID | libc::CLOCK_THREAD_CPUTIME_ID => 0,
        _ => MONOTONIC_START_NS,
    }
}

/// Nanoseconds as the C library counts them; the end of time for what does not fit.
pub(crate) fn nanoseconds(time: &timespec) -> u64 {
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    seconds.saturating_mul(SECOND_NS).saturating_add(time.tv_nsec as u64)
}

/// The reverse of [`nanoseconds`].
pub(crate) fn to_timespec(nanoseconds: u64) -> timespec {
    timespec { tv_sec: (nanoseconds / SECOND_NS) as i64, tv_nsec: (nanoseconds % SECOND_NS) as i64 }
}

/// Is it a time at all?
pub(crate) fn is_valid(time: &timespec) -> bool {
    (0..SECOND_NS as i64).contains(&time.tv_nsec)
}

/// An absolute time of a clock, in the machine's time.
pub(crate) fn deadline(clock: c_int, time: &timespec) -> u64 {
    nanoseconds(time).saturating_sub(start_of(clock))
}
