//! Virtual time: the clocks that the program reads follow the machine's, not the world's.

use libc::c_int;
use raddle_model::{Flags, ObjectId, SiteId};

use crate::{
    base::time::start_of,
    control::{Inside, control},
    schedule::step::yield_now,
};

/// A program that works until a clock says that it is over must come to an end: when this part of an execution's
/// steps is spent, each reading takes as long as this. It counts as a delay: who fails by it failed because of it.
const PATIENCE: u64 = 4;
const SLOW_READ_NS: u64 = 1_000_000;

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
        inside.recorder.emit.n_clock_reads += u32::from(!inside.scheduler.machine.is_alone());
        start_of(clock) + inside.scheduler.machine.read_clock()
    }
}
