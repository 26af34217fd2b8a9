//! Which code of the program is its language's library: the parts of Rust's std, and of crates from a
//! registry, that are compiled into it. The launcher knows from the names of functions, and hands us a file.
//!
//! The same file says where that code pauses, as locks do while they spin, where it polls the tasks of an async runtime, and
//! where the program calls the hooks that it calls most (`outside/near`).
//!
//! A step in such code belongs to the program's own call that led there.

use std::{
    cell::Cell,
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
    tasks: TaskCode,
}

/// A call of a hook.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NearCall {
    /// The instruction, as an address in the program's file.
    pub(crate) at: u64,
    /// Which one, by its number in `protocol::NEAR_HOOKS`.
    pub(crate) hook: usize,
}

/// Where the program's code polls tasks, as addresses in its file.
#[derive(Clone, Debug, Default)]
pub(crate) struct TaskCode {
    pub(crate) tables: Vec<TaskTable>,
    /// The function that numbers new tasks, and its counter; 0: not known.
    pub(crate) numbering: [u64; 2],
    /// The function that draws a number below another; 0: not known.
    pub(crate) drawing: u64,
}

/// The words that hold these functions for tasks of one type.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TaskTable {
    pub(crate) poll: u64,
    pub(crate) schedule: u64,
    pub(crate) dealloc: u64,
    pub(crate) shutdown: u64,
    pub(crate) sort: TaskSort,
}

/// Who runs tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TaskSort {
    /// Any thread of the runtime.
    Other,
    /// The one that is in `block_on`.
    CurrentThread,
    /// The pool for calls that block: such a task runs once, on a thread of its own.
    Pool,
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
        let words = bytes.chunks_exact(8);
        let word = |it: &[u8]| u64::from_le_bytes(it.try_into().expect("bug: eight bytes"));
        Library::of(&mut words.map(word)).unwrap_or_default()
    }

    /// `None` if there are fewer words than there should be.
    fn of(words: &mut dyn Iterator<Item = u64>) -> Option<Library> {
        let [n_ranges, n_pauses, n_near_calls] = next(words)?;
        let ranges = (0..n_ranges).map(|_| next(words)).collect::<Option<Vec<[u64; 2]>>>()?;
        let pauses = (0..n_pauses).map(|_| words.next()).collect::<Option<Vec<u64>>>()?;
        let near_call = |[at, hook]: [u64; 2]| NearCall { at, hook: hook as usize };
        let near_calls =
            (0..n_near_calls).map(|_| next(words).map(near_call)).collect::<Option<Vec<_>>>()?;
        let tasks = TaskCode::of(words)?;
        let n_kept = if ranges.is_empty() { 0 } else { N_KEPT };
        Some(Library { ranges, kept: vec![Cell::new(0); n_kept], pauses, near_calls, tasks })
    }

    /// Where it polls tasks.
    pub(crate) fn tasks(&self) -> &TaskCode {
        &self.tasks
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

impl TaskCode {
    /// `None` if there are fewer words than there should be.
    fn of(words: &mut dyn Iterator<Item = u64>) -> Option<TaskCode> {
        let [n_tables, function, counter, drawing] = next(words)?;
        let table = |[poll, schedule, dealloc, shutdown, sort]: [u64; 5]| {
            let sort = match sort {
                1 => TaskSort::CurrentThread,
                2 => TaskSort::Pool,
                _ => TaskSort::Other,
            };
            TaskTable { poll, schedule, dealloc, shutdown, sort }
        };
        let tables = (0..n_tables).map(|_| next(words).map(table)).collect::<Option<_>>()?;
        Some(TaskCode { tables, numbering: [function, counter], drawing })
    }
}

fn next<const N: usize>(words: &mut dyn Iterator<Item = u64>) -> Option<[u64; N]> {
    let mut found = [0; N];
    for word in &mut found {
        *word = words.next()?;
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_as_they_are_written() {
        let counts = [1, 2, 1];
        let own = [16, 32, 20, 24, 40, 3];
        let tasks = [2, 64, 72, 80, 100, 108, 116, 124, 1, 200, 208, 216, 224, 2];
        let all = [&counts[..], &own, &tasks].concat();
        let library = Library::of(&mut all.iter().copied()).unwrap();
        assert!(library.has(16) && library.has(31) && !library.has(32));
        assert_eq!(library.pauses, [20, 24]);
        assert_eq!(library.near_calls, [NearCall { at: 40, hook: 3 }]);
        let TaskCode { tables, numbering, drawing } = &library.tasks;
        assert_eq!((*numbering, *drawing, tables.len()), ([64, 72], 80, 2));
        let TaskTable { poll, schedule, dealloc, shutdown, sort } = tables[1];
        assert_eq!([poll, schedule, dealloc, shutdown], [200, 208, 216, 224]);
        assert_eq!((tables[0].sort, sort), (TaskSort::CurrentThread, TaskSort::Pool));
        for n_words in 0..all.len() {
            assert!(Library::of(&mut all[..n_words].iter().copied()).is_none(), "{n_words} words");
        }
    }
}
