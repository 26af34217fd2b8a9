//! The end of a call into Rust's std. Some functions of std that order threads are compiled without hooks, and
//! need not ask the kernel for anything: `park` with its token there, `Barrier::wait` of the last to come. The
//! launcher links programs so that calls of them come back through here.

use crate::control::{control, enter, leave};

/// The thread that runs is taken to know all that others have done.
///
/// # Safety
///
/// Called from the program's code only.
#[unsafe(no_mangle)]
unsafe extern "C" fn raddle_after_std() {
    if !enter() {
        return;
    }
    // SAFETY: the thread that runs is inside a hook.
    unsafe { (*control()).know_all() };
    leave(());
}
