//! What atomic instructions without hooks have left in memory. A lock in assembly is taken by such an instruction, but
//! often given back by a plain store, which nobody sees: the next one to take the lock finds something else there.

use crate::{
    control::Control,
    state::{detect::lines::LINE, shadow::State},
};

/// What a line is now.
fn read(line: usize) -> [u8; LINE] {
    // SAFETY: an instruction of the program uses part of it, and memory is mapped by pages.
    unsafe { (line as *const [u8; LINE]).read() }
}

impl Control {
    /// An atomic instruction without a hook has been performed.
    pub(crate) fn note_line(&mut self) {
        let lines = &mut self.memory.detect.lines;
        let line = std::mem::take(&mut lines.next);
        if line != 0 {
            lines.all.insert(line, read(line));
        }
    }

    /// One is about to be performed: has anybody changed its memory since the last one, or what is around it and not used
    /// by code with hooks?
    pub(super) fn is_line_changed(&mut self, address: usize, size: usize) -> bool {
        let line = address & !(LINE - 1);
        self.memory.detect.lines.next = line;
        let Some(before) = self.memory.detect.lines.all.get(&line) else { return false };
        let (before, now) = (*before, read(line));
        let is_own = |at: usize| (address & !3..address + size).contains(&at);
        (0..LINE)
            .filter(|idx| before[*idx] != now[*idx])
            .any(|idx| is_own(line + idx) || self.is_without_hooks(line + idx))
    }

    /// Has no code with hooks used this memory?
    fn is_without_hooks(&self, at: usize) -> bool {
        let cell = self.memory.shadow.cell(at);
        // SAFETY: not null, so a cell.
        cell.is_null() || matches!(unsafe { *cell }.state(), State::Untouched)
    }
}
