//! Virtual time: the clocks that the program reads follow the machine's, not the world's.

use libc::{c_int, timespec};
use raddle_model::SiteId;

use crate::control::{Control, control};

/// Where the clocks stand when an execution begins: 2026-01-01, and an hour after boot.
const REALTIME_START_NS: u64 = 1_767_225_600_000_000_000;
const MONOTONIC_START_NS: u64 = 3_600_000_000_000;
const SECOND_NS: u64 = 1_000_000_000;
/// What reading a clock takes; and what it takes when a thread does nothing else.
const READ_NS: u64 = 1_000;
const POLL_NS: u64 = 1_000_000;
/// So many readings of a clock in a row, from one place, are taken for waiting.
const POLLS_MIN: u32 = 16;

/// A program that works until a clock says that it is over must come to an end: the more often clocks
/// are read, the longer a reading takes.
const READS_PER_DOUBLING: u64 = 1_024;
const DOUBLINGS_MAX: u64 = 20;

/// Who reads the clock again and again.
#[derive(Clone, Debug, Default)]
pub(crate) struct Time {
    last_site: SiteId,
    n_same: u32,
    /// How often the clocks were read.
    n_read: u64,
}

fn start_of(clock: c_int) -> u64 {
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

/// A time from now, in the machine's time.
pub(crate) fn deadline_after(length_ns: u64) -> u64 {
    // SAFETY: the thread that runs is inside a hook.
    unsafe { (*control()).machine.now() }.saturating_add(length_ns)
}

impl Control {
    /// What a clock shows, in nanoseconds. Reading takes a moment; a thread that reads again and again
    /// waits for time to pass, and it does.
    pub(crate) fn read_clock(&mut self, clock: c_int, site: SiteId) -> u64 {
        if self.time.last_site == site {
            self.time.n_same += 1;
        } else {
            (self.time.last_site, self.time.n_same) = (site, 0);
        }
        self.time.n_read += 1;
        let is_polling = self.time.n_same > POLLS_MIN;
        let length = if is_polling { POLL_NS } else { READ_NS };
        self.machine.advance(length << (self.time.n_read / READS_PER_DOUBLING).min(DOUBLINGS_MAX));
        start_of(clock) + self.machine.now()
    }

    /// Does the thread that runs only wait for time to pass?
    pub(crate) fn is_polling_clock(&self) -> bool {
        self.time.n_same > POLLS_MIN
    }
}
