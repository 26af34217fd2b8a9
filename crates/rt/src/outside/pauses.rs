//! Locks of Rust's std, and of crates, look again and again before they sleep, and pause after each look. Threads run one at a time here, so
//! nothing changes meanwhile: the looks stay, and the pauses, which are most of their time, are taken out. No step is more
//! or less for it.

use crate::{control::Control, outside::traps::protect};

/// `pause`, and what stands in its place: two instructions that do nothing.
const PAUSE: [u8; 2] = [0xf3, 0x90];
const NOTHING: [u8; 2] = [0x90, 0x90];
const PAGE: usize = 4096;

/// In the server, before anything is executed: takes out the pauses that the launcher has found.
pub(crate) fn take_out(control: &Control) {
    for at in control.recorder.modules.pauses() {
        let page = at & !(PAGE - 1);
        let size = (at + PAUSE.len()).next_multiple_of(PAGE) - page;
        let place = at as *mut [u8; 2];
        // SAFETY: the launcher has found the instruction in this very file.
        if unsafe { place.read() } != PAUSE {
            continue;
        }
        protect(page, size, libc::PROT_READ | libc::PROT_WRITE | libc::PROT_EXEC);
        // SAFETY: the pages can be written now, and nobody executes them meanwhile.
        unsafe { place.write(NOTHING) };
        protect(page, size, libc::PROT_READ | libc::PROT_EXEC);
    }
}
