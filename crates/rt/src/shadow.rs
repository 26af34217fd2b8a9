//! What is known about each four bytes of memory: who has touched them, or which object they are.
//!
//! A two-level table found by address, allocated as memory is touched; no fixed mapping, so no clash
//! with any layout of the address space (TRAPS 26). The states follow Eraser and seed paper 1: memory
//! that one thread alone has touched is no scheduling point; what several threads only read is none
//! either, if it was written while its owner was alone (initialised); from the first write that others
//! can see it is a *variable*, an object like a lock.
//!
//! Memory use: as much as the instrumented program touches.

use raddle_model::{ObjectId, ThreadId};

use crate::arena;

/// The state of four bytes. Zero: untouched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub(crate) struct Cell(u32);

/// A [`Cell`], taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// Nobody has touched it.
    Untouched,
    /// Only this thread has; it has written while others were alive, or it has not.
    Owned(ThreadId, bool),
    /// Several threads have read it since it was last written by its owner.
    ReadShared,
    /// A variable: accesses are scheduling points.
    Variable(ObjectId),
    /// The first bytes of a lock or another object.
    Sync(ObjectId),
    /// Freed memory.
    Freed,
}

const TAG: u32 = 3 << 30;
const READ_SHARED: u32 = 1 << 30;
const VARIABLE: u32 = 2 << 30;
const SYNC: u32 = 3 << 30;
const FREED: u32 = u32::MAX;
/// In the cell of an owner: it has written while others were alive.
const WRITTEN: u32 = 1 << 29;

impl Cell {
    #[inline]
    pub(crate) fn state(self) -> State {
        match self.0 & TAG {
            0 if self.0 == 0 => State::Untouched,
            0 => State::Owned(ThreadId((self.0 & !WRITTEN) - 1), self.0 & WRITTEN != 0),
            READ_SHARED => State::ReadShared,
            VARIABLE => State::Variable(ObjectId(self.0 & !TAG)),
            _ if self.0 == FREED => State::Freed,
            _ => State::Sync(ObjectId(self.0 & !TAG)),
        }
    }

    /// Of memory that one thread alone has touched.
    #[inline]
    pub(crate) const fn owned(thread: ThreadId, is_written: bool) -> Cell {
        Cell((thread.0 + 1) | if is_written { WRITTEN } else { 0 })
    }

    /// What is left of two cells when it does not matter whether they were written.
    pub(crate) const READ_MASK: u64 = !(WRITTEN as u64 | (WRITTEN as u64) << 32);

    /// Two equal cells side by side, as one word.
    pub(crate) const fn twice(self) -> u64 {
        self.0 as u64 | (self.0 as u64) << 32
    }

    /// Of freed memory.
    pub(crate) const FREED: Cell = Cell(FREED);
    pub(crate) const READ_SHARED: Cell = Cell(READ_SHARED);

    #[inline]
    pub(crate) const fn variable(object: ObjectId) -> Cell {
        Cell(VARIABLE | object.0)
    }

    #[inline]
    pub(crate) const fn sync(object: ObjectId) -> Cell {
        Cell(SYNC | object.0)
    }
}

/// Bytes of memory that one chunk of cells covers.
pub(crate) const CHUNK_BYTES: usize = 1 << 24;
pub(crate) const CHUNK_BITS: u32 = CHUNK_BYTES.trailing_zeros();
const N_CHUNKS: usize = 1 << (47 - CHUNK_BITS);

/// The cells of all memory.
#[derive(Debug)]
pub(crate) struct Shadow {
    chunks: *mut *mut Cell,
}

impl Shadow {
    pub(crate) fn new() -> Shadow {
        let chunks: *mut *mut Cell = arena::map(N_CHUNKS * size_of::<*mut Cell>()).cast();
        assert!(!chunks.is_null(), "bug: no memory for the shadow's table");
        Shadow { chunks }
    }

    /// The table of chunks, for the assembly of the hottest hooks.
    pub(crate) fn chunks(&self) -> *mut *mut Cell {
        self.chunks
    }

    /// The cell of an address; null for an address that no program can have.
    #[inline]
    pub(crate) fn cell(&self, address: usize) -> *mut Cell {
        let chunk_idx = address >> CHUNK_BITS;
        if chunk_idx >= N_CHUNKS {
            return std::ptr::null_mut();
        }
        // SAFETY: the table has `N_CHUNKS` entries.
        let mut chunk = unsafe { *self.chunks.add(chunk_idx) };
        if chunk.is_null() {
            chunk = self.add_chunk(chunk_idx);
            if chunk.is_null() {
                return chunk;
            }
        }
        // SAFETY: a chunk has a cell for each four of its bytes.
        unsafe { chunk.add((address & (CHUNK_BYTES - 1)) / 4) }
    }

    #[cold]
    fn add_chunk(&self, chunk_idx: usize) -> *mut Cell {
        let chunk: *mut Cell = arena::map(CHUNK_BYTES).cast();
        // SAFETY: the caller has checked the index.
        unsafe { *self.chunks.add(chunk_idx) = chunk };
        chunk
    }

    /// Calls `each` with the cell of every four bytes that the range touches.
    pub(crate) fn for_range(
        &self,
        address: usize,
        size: usize,
        mut each: impl FnMut(*mut Cell, usize),
    ) {
        let mut at = address & !3;
        while at < address + size {
            let cell = self.cell(at);
            if cell.is_null() {
                return;
            }
            each(cell, at);
            at += 4;
        }
    }

    /// Marks fresh memory as untouched, or freed memory as freed.
    pub(crate) fn fill(&self, address: usize, size: usize, is_freed: bool) {
        let (mut at, end) = (address.next_multiple_of(4), address + size);
        while at < end {
            let chunk_end = (at & !(CHUNK_BYTES - 1)) + CHUNK_BYTES;
            let stop = end.min(chunk_end);
            let chunk_idx = at >> CHUNK_BITS;
            // SAFETY: user addresses are below 2^47, so the index is in the table.
            let is_mapped =
                chunk_idx < N_CHUNKS && !unsafe { *self.chunks.add(chunk_idx) }.is_null();
            if is_mapped {
                let byte = if is_freed { 0xff } else { 0 };
                // SAFETY: the cells of one chunk are contiguous, and the range stays within it.
                unsafe { std::ptr::write_bytes(self.cell(at), byte, (stop - at).div_ceil(4)) };
            }
            at = stop;
        }
    }
}
