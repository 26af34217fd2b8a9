//! Descriptors that threads wait for.

use crate::control::Control;

/// What is known about descriptors.
#[derive(Debug, Default)]
pub(crate) struct Io {
    /// Threads that wait for a descriptor.
    pub(crate) n_waiting: u32,
    /// Has anything happened since readiness was last looked at?
    pub(crate) is_stale: bool,
}

/// Looks which awaited descriptors are ready.
#[cold]
pub(crate) fn refresh(control: &mut Control) {
    control.io.is_stale = false;
}

/// Nobody can go on before a descriptor is ready.
#[cold]
pub(crate) fn wait(_control: &mut Control) {
    crate::end::deadlock();
}
