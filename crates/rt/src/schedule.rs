//! Who runs: steps, threads, signals and timers, who waits in loops, and when it is enough.

pub(crate) mod access;
pub(crate) mod budget;
pub(crate) mod cancel;
pub(crate) mod descriptors;
pub(crate) mod exit;
pub(crate) mod fingerprint;
pub(crate) mod signals;
pub(crate) mod step;
pub(crate) mod threads;
pub(crate) mod timers;
pub(crate) mod waiting;
