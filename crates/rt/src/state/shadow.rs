//! What is known about each four bytes of memory: who has touched them, or which object they are.
//!
//! A two-level table found by address, allocated as memory is touched; no fixed mapping, so no clash
//! with any layout of the address space (TRAPS 26). The states follow Eraser and seed paper 1: memory
//! that one thread alone has touched is no scheduling point; what several threads only read is none
//! either, if it was written while its owner was alone (initialised); from the first write that others
//! can see it is a *variable*, an object like a lock; in a busy execution (`memory/turns`) from the first access that is
//! not ordered with an earlier one.
//!
//! Nothing is noted before a second thread is made (`control::is_tracking`): all of that happens before whatever
//! another thread does, so memory that `main` has filled in belongs to whoever comes first.
//!
//! Each four bytes have two cells: one for writes, which also says whose they are, and one for reads. A cell
//! of memory that one thread owns has the segment of the thread's last access (see `detect`) and the bytes
//! that it was to. So an access that was made before, in the same segment, is told by one comparison.
//!
//! Memory use: twice what the instrumented program touches, and a history (`raddle_analysis::hb`) of 24
//! bytes or more for each four bytes that several threads have.

use std::{
    cell::UnsafeCell,
    ops::Range,
    sync::atomic::{AtomicPtr, AtomicUsize, Ordering::Relaxed},
};

use raddle_analysis::hb::{HistoryId, Segment, SharedHistoryId};
use raddle_fiber::raw;
use raddle_model::ObjectId;

use crate::base::arena;

/// The state of four bytes. Zero: untouched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub(crate) struct Cell(u32);

/// A [`Cell`] for writes, taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// Nobody has touched it.
    Untouched,
    /// Only the thread of this segment has; it has written while others were alive, or it has not.
    Owned(Segment, bool),
    /// Several threads have read it since it was last written by its owner.
    ReadShared(SharedHistoryId),
    /// A variable: accesses are scheduling points.
    Variable(ObjectId),
    /// The first bytes of a lock or another object.
    Sync(ObjectId),
    /// Freed memory.
    Freed,
    /// Beside a heap block: nobody's.
    Outside,
}

pub(crate) const TAG: u32 = 3 << 30;
const READ_SHARED: u32 = 1 << 30;
const VARIABLE: u32 = 2 << 30;
const SYNC: u32 = 3 << 30;
const FREED: u32 = u32::MAX;
/// Stands in for the cells of memory that is watched.
const WATCHED: u32 = u32::MAX - 1;
/// Of memory beside a heap block, which is the C library's, or not in use.
const OUTSIDE: u32 = u32::MAX - 2;
/// Stands in for the cell in which a heap block ends: with how many of its bytes are the block's, and where the cell is kept.
/// Numbers of objects do not come this far.
const PARTIAL: u32 = SYNC | 1 << 29;
const PARTIAL_SHIFT: u32 = 27;
/// So many blocks at once may end within a cell. (The last numbers would be other marks.)
const PARTIAL_MAX: u32 = (1 << PARTIAL_SHIFT) - 16;
/// In the cell of an owner: it has written while others were alive.
const WRITTEN: u32 = 1 << 29;
/// Where the bytes of an access begin in the cell of an owner.
pub(crate) const MASK_SHIFT: u32 = Segment::BITS;
const MASK: u32 = 15 << MASK_SHIFT;
const _: () = assert!(MASK_SHIFT + 4 == 29);

impl Cell {
    #[inline]
    pub(crate) fn state(self) -> State {
        match self.0 & TAG {
            0 if self.0 == 0 => State::Untouched,
            0 => State::Owned(self.segment(), self.0 & WRITTEN != 0),
            READ_SHARED => State::ReadShared(SharedHistoryId(self.0 & !TAG)),
            VARIABLE => State::Variable(ObjectId(self.0 & !TAG)),
            _ if self.0 == FREED => State::Freed,
            _ if self.0 == OUTSIDE => State::Outside,
            _ => State::Sync(ObjectId(self.0 & !TAG)),
        }
    }

    pub(crate) const UNTOUCHED: Cell = Cell(0);
    /// Of freed memory.
    pub(crate) const FREED: Cell = Cell(FREED);
    /// Of memory beside a heap block.
    pub(crate) const OUTSIDE: Cell = Cell(OUTSIDE);
    /// No cell of memory is like this one.
    pub(crate) const NOBODYS: Cell = Cell(Segment::LIMIT);
    /// All four bytes.
    pub(crate) const WHOLE: u8 = 15;

    /// Of memory that one thread alone has touched: its last access of a kind, and the bytes of it.
    #[inline]
    pub(crate) const fn owned(segment: Segment, mask: u8, is_written: bool) -> Cell {
        let written = if is_written { WRITTEN } else { 0 };
        Cell(segment.0 | (mask as u32) << MASK_SHIFT | written)
    }

    /// The segment of an owner's cell, or of a cell for reads.
    #[inline]
    pub(crate) const fn segment(self) -> Segment {
        Segment(self.0 & ((1 << Segment::BITS) - 1))
    }

    /// The bytes of an owner's cell, or of a cell for reads.
    #[inline]
    pub(crate) const fn mask(self) -> u8 {
        ((self.0 & MASK) >> MASK_SHIFT) as u8
    }

    /// Is it an owner's cell, or that of a read?
    #[inline]
    pub(crate) const fn is_owned(self) -> bool {
        self.0 != 0 && self.0 & TAG == 0
    }

    /// The same after another access of its owner, in `new`'s segment.
    #[inline]
    pub(crate) const fn and(self, new: Cell) -> Cell {
        let is_same = self.is_owned() && self.segment().0 == new.segment().0;
        if is_same { Cell(new.0 | self.0 & MASK) } else { new }
    }

    /// Does it stand in for the cell in which a block ends? How many of its bytes are the block's, and which it is.
    #[inline]
    const fn partial(self) -> Option<(u8, u32)> {
        if self.0 < PARTIAL || self.0 >= OUTSIDE {
            return None;
        }
        let number = self.0 & !(7 << 29);
        Some(((number >> PARTIAL_SHIFT) as u8, number & ((1 << PARTIAL_SHIFT) - 1)))
    }

    /// Does it say something about a heap block, or stand in for another cell?
    #[inline]
    pub(crate) const fn is_mark(self) -> bool {
        self.0 >= PARTIAL
    }

    /// Which bytes are no block's?
    #[inline]
    pub(crate) const fn outside(self) -> u8 {
        if self.0 < PARTIAL {
            return 0;
        }
        match self.partial() {
            Some((n_bytes, _)) => Cell::WHOLE & !((1 << n_bytes) - 1),
            None if self.0 == OUTSIDE => Cell::WHOLE,
            None => 0,
        }
    }

    /// One of two equal cells side by side ([`Cell::twice`]).
    #[inline]
    pub(crate) const fn from_twice(word: u64) -> Cell {
        Cell(word as u32)
    }

    /// The same access to other bytes.
    #[inline]
    pub(crate) const fn with_mask(self, mask: u8) -> Cell {
        Cell(self.0 & !MASK | (mask as u32) << MASK_SHIFT)
    }

    /// Two equal cells side by side, as one word.
    pub(crate) const fn twice(self) -> u64 {
        self.0 as u64 | (self.0 as u64) << 32
    }

    #[inline]
    pub(crate) const fn read_shared(history: SharedHistoryId) -> Cell {
        Cell(READ_SHARED | history.0)
    }

    #[inline]
    pub(crate) const fn variable(object: ObjectId) -> Cell {
        Cell(VARIABLE | object.0)
    }

    /// The cell for reads of a variable: where its history is.
    #[inline]
    pub(crate) const fn of_history(history: HistoryId) -> Cell {
        Cell(VARIABLE | history.0)
    }

    /// The history that a cell leads to.
    #[inline]
    pub(crate) const fn history(self) -> HistoryId {
        HistoryId(self.0 & !TAG)
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
/// Cells for writes of so many bytes of memory stand side by side, then come the cells for their reads:
/// both in one page, and each kind in a cache line of its own.
pub(crate) const BLOCK: usize = 64;

const PAGE: usize = 4096;
/// Two cells of four bytes for each four bytes: a page of cells stands for so many bytes of memory.
const IN_PAGE: usize = PAGE / 2;
/// Of larger ranges, only those pages of cells are looked at, or made anew, that there are.
const LARGE: usize = 1 << 16;
/// Pages of cells that the kernel is asked about at once.
const N_ASKED: usize = 512;

/// The chunks that there are. (A list that grows would not do: chunks are also made outside of hooks, where a
/// copy of our own memory would be taken for the program's.)
static MADE: [AtomicPtr<Cell>; 4096] = [const { AtomicPtr::new(std::ptr::null_mut()) }; 4096];
static N_MADE: AtomicUsize = AtomicUsize::new(0);

/// The cells of all memory.
#[derive(Debug)]
pub(crate) struct Shadow {
    chunks: *mut *mut Cell,
    /// The cells of memory that is watched, as far apart as others: first that for writes.
    /// Pointers to them are handed out, as to the others.
    watched: UnsafeCell<[Cell; 2 * BLOCK / 4]>,
    /// Where memory is watched.
    watched_at: Option<*mut Cell>,
    /// The cells in which blocks end.
    partials: Partials,
    /// Cells that were changed, both of each, with what they were; kept only for [`Shadow::undo`].
    changes: Vec<(*mut Cell, Cell, Cell)>,
    has_log: bool,
}

impl Shadow {
    pub(crate) fn new() -> Shadow {
        let chunks: *mut *mut Cell = arena::map(N_CHUNKS * size_of::<*mut Cell>()).cast();
        assert!(!chunks.is_null(), "bug: no memory for the shadow's table");
        Shadow {
            chunks,
            watched: UnsafeCell::new([Cell::UNTOUCHED; 2 * BLOCK / 4]),
            watched_at: None,
            partials: Partials::default(),
            changes: Vec::new(),
            has_log: false,
        }
    }

    /// The table of chunks, for the assembly of the hottest hooks.
    pub(crate) fn chunks(&self) -> *mut *mut Cell {
        self.chunks
    }

    /// The cell for writes of an address; null for an address that no program can have.
    #[inline]
    pub(crate) fn cell(&self, address: usize) -> *mut Cell {
        let cell = self.own_cell(address);
        // SAFETY: not null, so a cell.
        if !cell.is_null() && unsafe { *cell }.0 >= PARTIAL {
            return self.stand_in(cell);
        }
        cell
    }

    /// The cell behind one with a mark.
    #[cold]
    fn stand_in(&self, cell: *mut Cell) -> *mut Cell {
        // SAFETY: the caller has a cell.
        let mark = unsafe { *cell };
        match mark.partial() {
            Some((_, number)) => self.partials.cell(number),
            None if mark.0 == WATCHED => self.watched.get().cast(),
            None => cell,
        }
    }

    /// The same, whether the memory is watched or not.
    #[inline]
    pub(crate) fn own_cell(&self, address: usize) -> *mut Cell {
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
        // SAFETY: a chunk has two cells for each four of its bytes.
        unsafe { chunk.byte_add(place(address)) }
    }

    /// The cell for reads that belongs to one for writes.
    #[inline]
    pub(crate) const fn reads(cell: *mut Cell) -> *mut Cell {
        cell.wrapping_byte_add(BLOCK)
    }

    #[cold]
    fn add_chunk(&self, chunk_idx: usize) -> *mut Cell {
        let chunk: *mut Cell = arena::map(2 * CHUNK_BYTES).cast();
        // SAFETY: the caller has checked the index.
        unsafe { *self.chunks.add(chunk_idx) = chunk };
        if !chunk.is_null() {
            let number = N_MADE.fetch_add(1, Relaxed);
            MADE[number.min(MADE.len() - 1)].store(chunk, Relaxed);
        }
        chunk
    }

    /// No access to the four bytes at an address is settled by a look at its cells any more.
    pub(crate) fn watch(&mut self, address: usize) {
        let cell = self.own_cell(address);
        if cell.is_null() {
            return;
        }
        // SAFETY: not null, so a cell, and its partner.
        unsafe {
            if (*cell).0 != WATCHED {
                let behind = self.cell(address);
                self.watched.get_mut()[0] = *behind;
                self.watched.get_mut()[BLOCK / 4] = *Shadow::reads(behind);
            }
            *cell = Cell(WATCHED);
            *Shadow::reads(cell) = Cell(WATCHED);
        }
        self.watched_at = Some(cell);
    }

    /// A cell is about to be changed that nobody had, or that is an object's.
    #[inline]
    pub(crate) fn log(&mut self, cell: *mut Cell) {
        if self.has_log {
            // SAFETY: the caller has a cell, which has a partner.
            self.changes.push(unsafe { (cell, *cell, *Shadow::reads(cell)) });
        }
    }

    /// Are changes kept?
    #[inline]
    pub(crate) fn has_log(&self) -> bool {
        self.has_log
    }

    /// Makes all cells what they were after [`Shadow::forget_accesses`].
    pub(crate) fn undo(&mut self) {
        while let Some((cell, writes, reads)) = self.changes.pop() {
            // SAFETY: it was a cell with a partner, and those stay for ever.
            unsafe {
                *cell = writes;
                *Shadow::reads(cell) = reads;
            }
        }
        if let Some(cell) = self.watched_at.take() {
            // SAFETY: as above.
            unsafe {
                *cell = Cell::UNTOUCHED;
                *Shadow::reads(cell) = Cell::UNTOUCHED;
            }
        }
    }

    /// Forgets who has accessed what: all of that happens before whatever any thread will do. Cells of freed
    /// memory stay as they are, and those of objects that `is_kept`, without their histories. From now on
    /// changes are kept. `false` if there is too much memory for that.
    pub(crate) fn forget_accesses(&mut self, is_kept: impl Fn(ObjectId) -> bool) -> bool {
        let mut present = vec![0_u8; 2 * CHUNK_BYTES / PAGE];
        let Some(made) = MADE.get(..N_MADE.load(Relaxed)) else { return false };
        for chunk in made.iter().map(|it| it.load(Relaxed)) {
            look_at_pages(chunk, &mut present);
            let pages = present.iter().enumerate().filter(|it| *it.1 & 1 != 0);
            for (page, _) in pages {
                // Each block has its cells for writes first.
                for idx in (0..PAGE / size_of::<Cell>()).filter(|it| it * 4 % (2 * BLOCK) < BLOCK) {
                    // SAFETY: the page is the chunk's; a mark leads to a cell of its own.
                    unsafe {
                        let cell = chunk.byte_add(page * PAGE).add(idx);
                        let is_mark = (*cell).0 >= PARTIAL;
                        forget_access(if is_mark { self.stand_in(cell) } else { cell }, &is_kept);
                    }
                }
            }
        }
        self.changes.clear();
        self.has_log = true;
        true
    }

    /// Is the memory at an address watched?
    pub(crate) fn is_watched(&self, cell: *const Cell) -> bool {
        cell == self.watched.get().cast()
    }

    /// Calls `each` with the cell for writes of every four bytes of the range that anybody may have touched.
    pub(crate) fn for_range(
        &self,
        address: usize,
        size: usize,
        mut each: impl FnMut(*mut Cell, usize),
    ) {
        let mut next = address & !3;
        while let Some(part) = self.next_touched(next, address + size) {
            for at in part.clone().step_by(4) {
                each(self.cell(at), at);
            }
            next = part.end;
        }
    }

    /// The next part of a range, from a multiple of four on, that anybody may have touched.
    pub(crate) fn next_touched(&self, mut at: usize, end: usize) -> Option<Range<usize>> {
        while at < end && at >> CHUNK_BITS < N_CHUNKS {
            let stop = end.min((at & !(CHUNK_BYTES - 1)) + CHUNK_BYTES);
            // SAFETY: the table has `N_CHUNKS` entries.
            let chunk = unsafe { *self.chunks.add(at >> CHUNK_BITS) };
            if !chunk.is_null() && stop - at <= LARGE {
                return Some(at..stop);
            }
            let asked = stop.min((at & !(IN_PAGE - 1)) + N_ASKED * IN_PAGE);
            if !chunk.is_null()
                && let Some(part) = self.first_touched(at, asked)
            {
                return Some(part);
            }
            at = if chunk.is_null() { stop } else { asked };
        }
        None
    }

    /// The first part of a range within a chunk whose cells are in memory.
    fn first_touched(&self, at: usize, end: usize) -> Option<Range<usize>> {
        let base = at & !(IN_PAGE - 1);
        let mut present = [0_u8; N_ASKED];
        let present = &mut present[..(end - base).div_ceil(IN_PAGE)];
        look_at_pages(self.own_cell(base), present);
        let first = present.iter().position(|it| it & 1 != 0)?;
        let n_pages = present[first..].iter().take_while(|it| *it & 1 != 0).count();
        let start = base + first * IN_PAGE;
        Some(start.max(at)..end.min(start + n_pages * IN_PAGE))
    }

    /// A heap block has been allocated in a room whose cells are untouched: marks what is beside it.
    pub(crate) fn fence(&mut self, address: usize, size: usize, room: usize) {
        // SAFETY: the caller's block is in use, so there are cells for it and for what is around it, each with a partner.
        let mark = |cell: *mut Cell, mark: Cell| unsafe {
            (*cell, *Shadow::reads(cell)) = (mark, mark);
        };
        // The C library keeps the size of a block in the word before it.
        for at in [address - 8, address - 4] {
            mark(self.own_cell(at), Cell::OUTSIDE);
        }
        let end = address + size;
        if !end.is_multiple_of(4)
            && let Some(number) = self.partials.add()
        {
            mark(self.own_cell(end), Cell(PARTIAL | ((end % 4) as u32) << PARTIAL_SHIFT | number));
        }
        for at in (end.next_multiple_of(4)..address + room).step_by(4) {
            mark(self.own_cell(at), Cell::OUTSIDE);
        }
    }

    /// A heap block is about to be freed: what is beside its end is no cell's business any more.
    pub(crate) fn unfence(&mut self, address: usize, size: usize) {
        let end = address + size;
        if end.is_multiple_of(4) {
            return;
        }
        let cell = self.own_cell(end);
        // SAFETY: not null, so a cell, which has a partner.
        unsafe {
            if !cell.is_null()
                && let Some((_, number)) = (*cell).partial()
            {
                (*cell, *Shadow::reads(cell)) = (Cell::UNTOUCHED, Cell::UNTOUCHED);
                self.partials.remove(number);
            }
        }
    }

    /// The first byte of an access that is no block's, though it is beside one.
    pub(crate) fn first_outside(&self, address: usize, size: usize) -> Option<usize> {
        let end = address + size;
        let bad = |at: usize| {
            let cell = self.own_cell(at);
            if cell.is_null() {
                return None;
            }
            // SAFETY: not null, so a cell.
            let outside = unsafe { *cell }.outside();
            let first = (at.max(address)..end.min(at + 4)).find(|it| outside >> (it - at) & 1 != 0);
            first.filter(|_| outside != 0)
        };
        (address & !3..end).step_by(4).find_map(bad)
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
            // Fresh memory without cells is as it should be; freed memory is looked at later.
            if is_mapped && !is_freed && stop - at > LARGE {
                self.clear_in_chunk(at, stop);
            } else if is_mapped || is_freed && !self.own_cell(at).is_null() {
                self.fill_in_chunk(at, stop, if is_freed { 0xff } else { 0 });
            }
            at = stop;
        }
    }

    /// Gives whole pages of cells back to the kernel: when they are looked at again, they are untouched.
    fn clear_in_chunk(&self, start: usize, end: usize) {
        let (first, last) = (start.next_multiple_of(IN_PAGE), end & !(IN_PAGE - 1));
        let (cells, dont_need) = (self.own_cell(first) as usize, libc::MADV_DONTNEED as usize);
        // SAFETY: these pages hold cells of this range only, in private memory of ours.
        unsafe { raw::syscall(libc::SYS_madvise, [cells, 2 * (last - first), dont_need, 0, 0, 0]) };
        self.fill_in_chunk(start, first, 0);
        self.fill_in_chunk(last, end, 0);
    }

    /// Whole blocks are one stretch of cells; of those at both ends, a part of each half.
    fn fill_in_chunk(&self, start: usize, end: usize, byte: u8) {
        let fill = |at: usize, n_bytes: usize| {
            // SAFETY: the caller's range is within a chunk that is there.
            unsafe { std::ptr::write_bytes(self.own_cell(at).cast::<u8>(), byte, n_bytes) };
        };
        let fill_part = |at: usize, stop: usize| {
            let n_bytes = (stop - at).next_multiple_of(4);
            fill(at, n_bytes);
            // SAFETY: as above; the partners of those cells.
            unsafe {
                std::ptr::write_bytes(Shadow::reads(self.own_cell(at)).cast::<u8>(), byte, n_bytes);
            }
        };
        let (first_whole, last_whole) = (start.next_multiple_of(BLOCK), end & !(BLOCK - 1));
        if last_whole <= first_whole {
            let middle = first_whole.min(end);
            fill_part(start, middle);
            if middle < end {
                fill_part(middle, end);
            }
            return;
        }
        if start < first_whole {
            fill_part(start, first_whole);
        }
        fill(first_whole, 2 * (last_whole - first_whole));
        if last_whole < end {
            fill_part(last_whole, end);
        }
    }
}

/// Which pages are in memory, from a page of cells on: one byte for each, its lowest bit says so.
fn look_at_pages(cells: *mut Cell, present: &mut [u8]) {
    let args = [cells as usize, present.len() * PAGE, present.as_mut_ptr() as usize, 0, 0, 0];
    // SAFETY: the kernel writes a byte for each page.
    if unsafe { raw::syscall(libc::SYS_mincore, args) } != 0 {
        present.fill(1);
    }
}

unsafe fn forget_access(cell: *mut Cell, is_kept: &impl Fn(ObjectId) -> bool) {
    // SAFETY: the caller has a cell, which has a partner.
    unsafe {
        let reads = Shadow::reads(cell);
        match (*cell).state() {
            State::Freed | State::Outside => {}
            State::Sync(object) if is_kept(object) => *reads = Cell::UNTOUCHED,
            State::Variable(object) if is_kept(object) => *reads = Cell::of_history(NO_HISTORY),
            State::Untouched if *reads == Cell::UNTOUCHED => {}
            _ => (*cell, *reads) = (Cell::UNTOUCHED, Cell::UNTOUCHED),
        }
    }
}

/// Where there is no history, because races are not looked for.
pub(crate) const NO_HISTORY: HistoryId = HistoryId((1 << 30) - 2);
/// The same, for what several have read.
pub(crate) const NO_SHARED_HISTORY: SharedHistoryId = SharedHistoryId(NO_HISTORY.0);

/// Where the cell for writes of an address is in its chunk, in bytes.
#[inline]
pub(crate) const fn place(address: usize) -> usize {
    let offset = address & (CHUNK_BYTES - 1) & !3;
    offset + (offset & !(BLOCK - 1))
}

/// The cells in which blocks end that end within four bytes, as far apart as others.
#[derive(Debug, Default)]
struct Partials {
    #[expect(
        clippy::vec_box,
        reason = "pointers to the cells are handed out while the table grows"
    )]
    rooms: Vec<Box<PartialRoom>>,
    n_used: u32,
    free: Vec<u32>,
}

/// Cells for writes, then those for their reads.
type PartialRoom = UnsafeCell<[Cell; 2 * IN_ROOM]>;
const IN_ROOM: usize = BLOCK / 4;

impl Partials {
    /// The number of a cell that is untouched; `None` if there are too many.
    fn add(&mut self) -> Option<u32> {
        let number = self.free.pop().unwrap_or(self.n_used);
        if number >= PARTIAL_MAX {
            return None;
        }
        if number == self.n_used {
            self.n_used += 1;
            if number as usize / IN_ROOM >= self.rooms.len() {
                self.rooms.push(Box::new(UnsafeCell::new([Cell::UNTOUCHED; 2 * IN_ROOM])));
            }
        }
        let cell = self.cell(number);
        // SAFETY: the number is one of ours.
        unsafe { (*cell, *Shadow::reads(cell)) = (Cell::UNTOUCHED, Cell::UNTOUCHED) };
        Some(number)
    }

    fn remove(&mut self, number: u32) {
        self.free.push(number);
    }

    /// The cell for writes with this number.
    fn cell(&self, number: u32) -> *mut Cell {
        let room = &self.rooms[number as usize / IN_ROOM];
        room.get().cast::<Cell>().wrapping_add(number as usize % IN_ROOM)
    }
}
