//! Which pages an execution uses, learned from one and made ready for the next.
//!
//! A forked process shares all pages with the server until it writes to them, and has to be shown most
//! pages of code anew: each first touch is a fault, some microseconds in a virtual machine. The set
//! hardly changes from one execution to the next, so an early execution tells the server which pages
//! it came to use. Later ones ask the kernel for their own copies all at once; and the server makes the
//! kernel copy its table of code pages with each fork, which Linux does for mappings of files only if
//! one of their pages was written to. Where the kernel can't do either, nothing is lost.

use std::ffi::CStr;

use raddle_fiber::raw;
use raddle_trace::{Header, Segment};

use crate::arena;

const PAGE: usize = 4096;
/// Room for the text of `/proc/self/maps`; what does not fit is not looked at.
const SCRATCH: usize = 1 << 20;
const MADV_POPULATE_READ: usize = 22;
const MADV_POPULATE_WRITE: usize = 23;
/// Bits of an entry in `pagemap`: in memory; mapped by this process alone; of a file.
const PRESENT: u64 = 1 << 63;
const EXCLUSIVE: u64 = 1 << 56;
const OF_FILE: u64 = 1 << 61;
/// In a range's size: pages of code, which are only read; or a whole mapping of code.
const CODE: u64 = 1;
const MAPPING: u64 = 2;
const MARKS: u64 = CODE | MAPPING;

/// In an execution that ends: tells the pages that it uses. Works in memory of its own: what it wrote to
/// would be told as well.
pub(crate) fn tell(segment: &Segment, header: *mut Header) {
    let (Some(maps), Some(pagemap)) = (open(c"/proc/self/maps"), open(c"/proc/self/pagemap")) else {
        return;
    };
    let scratch = arena::map(SCRATCH);
    if scratch.is_null() {
        return;
    }
    // SAFETY: fresh memory of this size, ours alone.
    let text = read_all(maps, unsafe { std::slice::from_raw_parts_mut(scratch, SCRATCH) });
    let room = segment.caps().pages as usize;
    let mut told = Told { area: segment.pages(), n_ranges: 0, room };
    for line in text.split(|it| *it == b'\n') {
        if let Some((start, end, is_code)) = private_mapping(line)
            && start != scratch as usize
        {
            told.add_mapping(pagemap, start, end, is_code);
        }
    }
    // SAFETY: the header is mapped for as long as the process lives.
    unsafe { (*header).n_pages = told.n_ranges as u32 };
}

/// In the server: remembers the pages that an execution told, and sees to those of code.
pub(crate) fn learn(told: &[[u64; 2]]) -> Vec<[u64; 2]> {
    for [start, marked_size] in told {
        let (start, size) = (*start as usize, (marked_size & !MARKS) as usize);
        match marked_size & MARKS {
            CODE => populate(start, size, MADV_POPULATE_READ),
            MAPPING => write_to_code(start, size),
            _ => {}
        }
    }
    told.iter().filter(|it| it[1] & MARKS == 0).copied().collect()
}

/// In an execution that begins: asks for the pages that others came to own, and for what every execution
/// writes: the start of the segment.
pub(crate) fn make_ready(ranges: &[[u64; 2]], segment: &Segment) {
    let header = segment.header() as usize;
    populate(header, segment.events() as usize + PAGE - header, MADV_POPULATE_WRITE);
    for [start, size] in ranges {
        populate(*start as usize, *size as usize, MADV_POPULATE_WRITE);
    }
}

fn populate(start: usize, size: usize, advice: usize) {
    // SAFETY: maps or copies pages of our own; their contents stay as they are.
    unsafe { raw::syscall(libc::SYS_madvise, [start, size, advice, 0, 0, 0]) };
}

/// Writes a byte of code over itself. Where that is forbidden, the protection stays as it was. All of
/// the mapping changes its protection for a moment, or the kernel would split it.
fn write_to_code(start: usize, size: usize) {
    const READ_EXECUTE: usize = (libc::PROT_READ | libc::PROT_EXEC) as usize;
    const ALL: usize = READ_EXECUTE | libc::PROT_WRITE as usize;
    // SAFETY: the mapping is of code; while it may be written it may still be executed, and the byte
    // that is written is the one that is there.
    unsafe {
        if raw::syscall(libc::SYS_mprotect, [start, size, ALL, 0, 0, 0]) == 0 {
            let byte = start as *mut u8;
            byte.write_volatile(byte.read_volatile());
            raw::syscall(libc::SYS_mprotect, [start, size, READ_EXECUTE, 0, 0, 0]);
        }
    }
}

fn open(path: &CStr) -> Option<usize> {
    let flags = (libc::O_RDONLY | libc::O_CLOEXEC) as usize;
    // SAFETY: a C string.
    let fd = unsafe {
        raw::syscall(libc::SYS_openat, [libc::AT_FDCWD as usize, path.as_ptr() as usize, flags, 0, 0, 0])
    };
    usize::try_from(fd).ok()
}

fn read_all(fd: usize, buffer: &mut [u8]) -> &[u8] {
    let mut len = 0;
    while len < buffer.len() {
        let rest = &mut buffer[len..];
        // SAFETY: reads into our own buffer.
        let n_read = unsafe {
            raw::syscall(libc::SYS_read, [fd, rest.as_mut_ptr() as usize, rest.len(), 0, 0, 0])
        };
        if n_read <= 0 {
            break;
        }
        len += n_read as usize;
    }
    &buffer[..len]
}

/// `7ffff7d33000-7ffff7d34000 rw-p …`: the range of a mapping that writes make our own, or of code.
fn private_mapping(line: &[u8]) -> Option<(usize, usize, bool)> {
    let text = std::str::from_utf8(line).ok()?;
    let (range, rest) = text.split_once(' ')?;
    let is_code = rest.starts_with("r-xp") && rest.contains('/');
    if !(is_code || rest.starts_with("rw-p")) || rest.contains("[v") {
        return None;
    }
    let (start, end) = range.split_once('-')?;
    let number = |text| usize::from_str_radix(text, 16).ok();
    Some((number(start)?, number(end)?, is_code))
}

/// The ranges told so far.
struct Told {
    area: *mut [u64; 2],
    n_ranges: usize,
    room: usize,
}

impl Told {
    /// Adds the runs of pages between `start` and `end` that this process alone has, or, of code, that
    /// it was shown.
    fn add_mapping(&mut self, pagemap: usize, start: usize, end: usize, is_code: bool) {
        const N_ENTRIES: usize = 512;
        let (mask, wanted, mark) = match is_code {
            true => (PRESENT, PRESENT, CODE),
            false => (PRESENT | EXCLUSIVE | OF_FILE, PRESENT | EXCLUSIVE, 0),
        };
        if is_code {
            self.add(start as u64, (end - start) as u64, MAPPING);
        }
        let mut entries = [0_u64; N_ENTRIES];
        let mut at = start;
        while at < end {
            let n_wanted = N_ENTRIES.min((end - at) / PAGE);
            // SAFETY: reads into our own buffer.
            let n_read = unsafe {
                let (to, size, offset) = (entries.as_mut_ptr() as usize, n_wanted * 8, at / PAGE * 8);
                raw::syscall(libc::SYS_pread64, [pagemap, to, size, offset, 0, 0])
            };
            if n_read <= 0 {
                return;
            }
            for entry in &entries[..n_read as usize / 8] {
                if entry & mask == wanted {
                    self.add(at as u64, PAGE as u64, mark);
                }
                at += PAGE;
            }
        }
    }

    /// Adds a range, or lengthens the last one.
    fn add(&mut self, start: u64, size: u64, mark: u64) {
        if self.n_ranges > 0 && mark != MAPPING {
            // SAFETY: the area holds so many ranges.
            let [last_start, last_size] = unsafe { &mut *self.area.add(self.n_ranges - 1) };
            if *last_size & MARKS == mark && *last_start + (*last_size & !MARKS) == start {
                *last_size += size;
                return;
            }
        }
        if self.n_ranges < self.room {
            // SAFETY: the area has room for one more.
            unsafe { *self.area.add(self.n_ranges) = [start, size | mark] };
            self.n_ranges += 1;
        }
    }
}
