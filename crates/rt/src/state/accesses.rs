//! Plain accesses of an execution: how many were steps or were left out, and the write whose value is not there yet.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// A write to memory of which the hook came first: its value is there when its thread comes to the next.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Written {
    pub(crate) address: usize,
    /// 0 for none.
    pub(crate) size: usize,
}

impl Written {
    pub(crate) const NONE: Written = Written { address: 0, size: 0 };
}

/// Those that there were.
pub(crate) static N_QUIET: AtomicU64 = AtomicU64::new(0);

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
}

/// Accesses to variables that were left out so far.
pub(crate) fn n_thinned() -> u32 {
    u32::try_from(N_THINNED.load(Relaxed)).unwrap_or(u32::MAX)
}
