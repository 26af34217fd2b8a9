//! What atomic instructions without hooks have left in memory (`memory/detect/lines`).

use std::collections::BTreeMap;

/// Bytes around such an instruction's memory that are looked at: those of a lock, at least. They are on one page.
pub(crate) const LINE: usize = 64;

/// By address: what a line was after the last such instruction.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    /// The one whose instruction is about to be performed.
    pub(crate) next: usize,
    pub(crate) all: BTreeMap<usize, [u8; LINE]>,
}

impl Lines {
    pub(crate) fn clear(&mut self) {
        *self = Lines::default();
    }
}
