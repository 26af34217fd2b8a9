//! Which code of the program is its language's library: the parts of Rust's std, and of crates from a
//! registry, that are compiled into it. The launcher knows from the names of functions, and hands us a file.
//!
//! The same file says where that code pauses, as locks do while they spin, and where the program calls the hooks that it
//! calls most (`outside/near`).
//!
//! A step in such code belongs to the program's own call that led there.

use std::{
    cell::Cell,
    cmp::Ordering,
    ffi::{CStr, OsStr},
    os::unix::ffi::OsStrExt,
};

use raddle_trace::protocol::LIBRARY_VARIABLE;

/// Answers that are kept; a power of two.
const N_KEPT: usize = 1 << 9;

/// Ranges of addresses in the program's file, sorted, that do not overlap; and what was asked last.
#[derive(Debug, Default)]
pub(crate) struct Library {
    ranges: Vec<[u64; 2]>,
    /// By a hash of the address: twice the address, and whether it is in a range.
    kept: Vec<Cell<u64>>,
    /// Where it pauses.
    pauses: Vec<u64>,
    near_calls: Vec<NearCall>,
}

/// A call of a hook.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NearCall {
    /// The instruction, as an address in the program's file.
    pub(crate) at: u64,
    /// Which one, by its number in `protocol::NEAR_HOOKS`.
    pub(crate) hook: usize,
}

impl Library {
    /// What the launcher has written; nothing, if it has not.
    pub(crate) fn load() -> Library {
        // SAFETY: the environment is set up before constructors run, and no other thread exists.
        let path = unsafe { libc::getenv(LIBRARY_VARIABLE.as_ptr()) };
        if path.is_null() {
            return Library::default();
        }
        // SAFETY: variables are C strings.
        let path = OsStr::from_bytes(unsafe { CStr::from_ptr(path) }.to_bytes());
        // Without it, places are in the library: no reason to fail.
        let bytes = std::fs::read(path).unwrap_or_default();
        // SAFETY: as above. What the program starts itself is another program.
        unsafe { libc::unsetenv(LIBRARY_VARIABLE.as_ptr()) };
        let word = |at: &[u8]| u64::from_le_bytes(at.try_into().expect("bug: eight bytes"));
        let all = bytes.chunks_exact(16).map(|it| [word(&it[..8]), word(&it[8..])]);
        let mut library = Library::default();
        for [start, end] in all {
            match start.cmp(&end) {
                Ordering::Less => library.ranges.push([start, end]),
                Ordering::Equal => library.pauses.push(start),
                Ordering::Greater => {
                    library.near_calls.push(NearCall { at: start, hook: end as usize });
                }
            }
        }
        let n_kept = if library.ranges.is_empty() { 0 } else { N_KEPT };
        library.kept = vec![Cell::new(0); n_kept];
        library
    }

    /// Where it pauses, as addresses in the program's file.
    pub(crate) fn pauses(&self) -> &[u64] {
        &self.pauses
    }

    /// The program's calls of hooks that are to be near it: asked for once.
    pub(crate) fn take_near_calls(&mut self) -> Vec<NearCall> {
        std::mem::take(&mut self.near_calls)
    }

    /// Is any code the library's?
    pub(crate) fn is_any(&self) -> bool {
        !self.ranges.is_empty()
    }

    /// Is the code at this offset of the program's file the library's?
    #[inline]
    pub(crate) fn has(&self, offset: u64) -> bool {
        let Some(kept) = self.kept.get(offset as usize % N_KEPT) else { return false };
        if kept.get() >> 1 != offset {
            kept.set(offset << 1 | u64::from(self.find(offset)));
        }
        kept.get() & 1 != 0
    }

    #[cold]
    fn find(&self, offset: u64) -> bool {
        let n_before = self.ranges.partition_point(|it| it[0] <= offset);
        n_before > 0 && offset < self.ranges[n_before - 1][1]
    }
}
