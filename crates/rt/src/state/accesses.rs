//! Plain accesses of an execution: how many were steps or were left out, and the write whose value is not there yet.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// A write to memory of which the hook came first: its value is there when its thread comes to the next.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Written {
    pub(crate) address: usize,
    /// 0 for none.
    pub(crate) size: usize,
    /// Did it read there as well? Then its event has what it read.
    pub(crate) is_update: bool,
}

impl Written {
    pub(crate) const NONE: Written = Written { address: 0, size: 0, is_update: false };
}

/// So many accesses of an execution to variables that nobody has raced for are steps: they say what happened, and
/// change nothing. Of a program that does little else, a reader has seen enough by then.
const QUIET_MAX: u64 = 1 << 12;

static N_QUIET: AtomicU64 = AtomicU64::new(0);

/// Is an access to a variable that nobody has raced for to be a step? One fewer will be.
pub(crate) fn take_quiet() -> bool {
    // One thread runs at a time: no need to be atomic.
    let n_quiet = N_QUIET.load(Relaxed);
    let is_step = n_quiet < QUIET_MAX;
    N_QUIET.store(n_quiet + u64::from(is_step), Relaxed);
    is_step
}

/// Have there been so many that no more are steps?
#[inline]
pub(crate) fn is_busy() -> bool {
    N_QUIET.load(Relaxed) >= QUIET_MAX
}

/// After so many reads of memory that several threads read, it is not asked any more where such a read is made.
const LOOKS_MAX: u64 = 1 << 12;

static N_LOOKS: AtomicU64 = AtomicU64::new(0);

/// A read of memory that several threads read is looked at, and its place is kept.
pub(crate) fn add_look() {
    N_LOOKS.store(N_LOOKS.load(Relaxed) + 1, Relaxed);
}

/// Have there been enough of them?
#[inline]
pub(crate) fn has_looked_enough() -> bool {
    N_LOOKS.load(Relaxed) >= LOOKS_MAX
}

/// Accesses to variables since a budget has run short, and those of them that were left out.
pub(crate) static N_MET: AtomicU64 = AtomicU64::new(0);

static N_THINNED: AtomicU64 = AtomicU64::new(0);

/// An access that others can tell is not a step, or will not be one in the executions to come.
pub(crate) fn add_thinned() {
    N_THINNED.fetch_add(1, Relaxed);
}

/// Begins another execution.
pub(crate) fn restart() {
    N_MET.store(0, Relaxed);
    N_THINNED.store(0, Relaxed);
    N_QUIET.store(0, Relaxed);
    N_LOOKS.store(0, Relaxed);
}

/// Accesses to variables that were left out so far.
pub(crate) fn n_thinned() -> u32 {
    u32::try_from(N_THINNED.load(Relaxed)).unwrap_or(u32::MAX)
}
