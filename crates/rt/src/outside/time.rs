//! Virtual time: the clocks that the program reads follow the machine's, not the world's.

use libc::{c_int, timespec};
use raddle_model::{Flags, ObjectId, SiteId};

use crate::{
    control::{Inside, control},
    schedule::step::yield_now,
};

/// Where the clocks stand when an execution begins: 2026-01-01, and an hour after boot.
const REALTIME_START_NS: u64 = 1_767_225_600_000_000_000;
const MONOTONIC_START_NS: u64 = 3_600_000_000_000;
const SECOND_NS: u64 = 1_000_000_000;
/// A program that works until a clock says that it is over must come to an end: when this part of an execution's
/// steps is spent, each reading takes as long as this. It counts as a delay: who fails by it failed because of it.
const PATIENCE: u64 = 4;
const SLOW_READ_NS: u64 = 1_000_000;

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
    unsafe { (*control()).scheduler.machine.now() }.saturating_add(length_ns)
}

/// What a clock shows, in nanoseconds. A reading takes as long as a step, whoever reads. To the thread it is a read of
/// a value that stays the same: who does nothing but look and read clocks waits in circles, and lets others go first.
/// When nobody else can go on, the machine hurries time for it.
///
/// # Safety
///
/// The thread that runs is inside a hook, and nothing of the control is borrowed.
pub(crate) unsafe fn read(inside: &mut Inside, clock: c_int, site: SiteId) -> u64 {
    // SAFETY: the caller's promise; the borrows end before the step.
    unsafe {
        let spin = &mut inside.this().spin;
        spin.read(site, ObjectId::NONE, 0);
        if spin.flags() != Flags::NONE {
            yield_now(inside, site);
        }
        let n_steps = inside.recorder.emit.n_steps + inside.recorder.emit.n_lone_steps;
        if n_steps > (*inside.header).request.max_steps / PATIENCE {
            inside.scheduler.machine.advance(SLOW_READ_NS);
            inside.recorder.emit.delay_ns += SLOW_READ_NS;
        }
        inside.recorder.emit.n_clock_reads += u32::from(inside.scheduler.machine.n_live() > 1);
        start_of(clock) + inside.scheduler.machine.read_clock()
    }
}
