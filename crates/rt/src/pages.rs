//! Which pages an execution writes to, learned from one and made ready for the next.
//!
//! A forked process shares all pages with the server until it writes to them; each first write is a
//! fault, some microseconds in a virtual machine. The set hardly changes from one execution to the
//! next, so an early execution tells the server which pages it came to own, and later ones ask the
//! kernel for all of them at once. Where the kernel can't (before Linux 5.14), nothing is lost.

use std::ffi::CStr;

use raddle_fiber::raw;
use raddle_trace::{Header, Segment};

const PAGE: usize = 4096;
const MADV_POPULATE_WRITE: usize = 23;
/// Bits of an entry in `pagemap`: in memory; mapped by this process alone; of a file.
const PRESENT: u64 = 1 << 63;
const EXCLUSIVE: u64 = 1 << 56;
const OF_FILE: u64 = 1 << 61;

/// In an execution that ends: tells the pages that it owns.
pub(crate) fn tell(segment: &Segment, header: *mut Header) {
    let (Some(maps), Some(pagemap)) = (open(c"/proc/self/maps"), open(c"/proc/self/pagemap")) else {
        return;
    };
    let room = segment.caps().pages as usize;
    let mut ranges: Vec<[u64; 2]> = Vec::with_capacity(room);
    for line in read_all(maps).split(|it| *it == b'\n') {
        if let Some((start, end)) = private_and_writable(line) {
            owned_pages(pagemap, start, end, &mut ranges);
        }
    }
    ranges.truncate(room);
    // SAFETY: the area has room; the header is mapped for as long as the process lives.
    unsafe {
        segment.write(segment.pages(), &ranges);
        (*header).n_pages = ranges.len() as u32;
    }
}

/// In an execution that begins: asks for the pages that others came to own.
pub(crate) fn make_ready(ranges: &[[u64; 2]]) {
    for [start, size] in ranges {
        // SAFETY: copies pages of our own; their contents stay as they are.
        unsafe {
            raw::syscall(libc::SYS_madvise, [*start as usize, *size as usize, MADV_POPULATE_WRITE, 0, 0, 0]);
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

fn read_all(fd: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    loop {
        let start = bytes.len();
        bytes.resize(start + (16 << 10), 0);
        // SAFETY: reads into our own buffer.
        let n_read = unsafe {
            let to = bytes.as_mut_ptr().add(start) as usize;
            raw::syscall(libc::SYS_read, [fd, to, bytes.len() - start, 0, 0, 0])
        };
        bytes.truncate(start + n_read.max(0) as usize);
        if n_read <= 0 {
            return bytes;
        }
    }
}

/// `7ffff7d33000-7ffff7d34000 rw-p …`: the range of a mapping that writes make our own.
fn private_and_writable(line: &[u8]) -> Option<(usize, usize)> {
    let text = std::str::from_utf8(line).ok()?;
    let (range, rest) = text.split_once(' ')?;
    if !rest.starts_with("rw-p") || rest.contains("[v") {
        return None;
    }
    let (start, end) = range.split_once('-')?;
    Some((usize::from_str_radix(start, 16).ok()?, usize::from_str_radix(end, 16).ok()?))
}

/// Adds the runs of pages between `start` and `end` that this process alone has.
fn owned_pages(pagemap: usize, start: usize, end: usize, ranges: &mut Vec<[u64; 2]>) {
    const N_ENTRIES: usize = 512;
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
            let is_owned = entry & (PRESENT | EXCLUSIVE | OF_FILE) == PRESENT | EXCLUSIVE;
            if is_owned {
                add_page(at as u64, ranges);
            }
            at += PAGE;
        }
    }
}

fn add_page(page: u64, ranges: &mut Vec<[u64; 2]>) {
    match ranges.last_mut() {
        Some([start, size]) if *start + *size == page => *size += PAGE as u64,
        _ => ranges.push([page, PAGE as u64]),
    }
}
