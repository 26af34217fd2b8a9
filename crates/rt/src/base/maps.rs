//! What is mapped into this process, as the kernel tells it.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use raddle_fiber::raw;

/// Bytes that were read in here: whoever asks what the program has read must leave them out.
pub(crate) static N_BYTES_READ: AtomicU64 = AtomicU64::new(0);

/// A mapping that can be written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mapping {
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// Do other processes see what is written to it?
    pub(crate) is_shared: bool,
    /// Is it the stack of `main`? It grows.
    pub(crate) is_stack: bool,
}

/// All mappings that can be read and written, in the order of their addresses; none if the kernel does not say.
pub(crate) fn writable() -> Vec<Mapping> {
    let mut text = Vec::new();
    if !read_file(c"/proc/self/maps", &mut text) {
        return Vec::new();
    }
    text.split(|it| *it == b'\n').filter_map(parse).collect()
}

/// A line of `/proc/self/maps`.
fn parse(line: &[u8]) -> Option<Mapping> {
    let mut words = line.split(|it| *it == b' ').filter(|it| !it.is_empty());
    let range = std::str::from_utf8(words.next()?).ok()?;
    let mode = words.next()?;
    let (start, end) = range.split_once('-')?;
    let start = usize::from_str_radix(start, 16).ok()?;
    let end = usize::from_str_radix(end, 16).ok()?;
    let (is_shared, is_stack) = (mode.ends_with(b"s"), line.ends_with(b"[stack]"));
    mode.starts_with(b"rw").then_some(Mapping { start, end, is_shared, is_stack })
}

/// Opens a file for reading: its descriptor, or an error below 0.
pub(crate) fn open(path: &std::ffi::CStr) -> isize {
    let flags = (libc::O_RDONLY | libc::O_CLOEXEC) as usize;
    let args = [libc::AT_FDCWD as usize, path.as_ptr() as usize, flags, 0, 0, 0];
    // SAFETY: the path is a C string.
    unsafe { raw::syscall(libc::SYS_openat, args) }
}

/// Closes a descriptor of ours.
pub(crate) fn close(descriptor: usize) {
    // SAFETY: the caller promises that nobody else uses it.
    unsafe { raw::syscall(libc::SYS_close, [descriptor, 0, 0, 0, 0, 0]) };
}

/// Appends what is in a file; `false` if it can't be read.
pub(crate) fn read_file(path: &std::ffi::CStr, text: &mut Vec<u8>) -> bool {
    const PART: usize = 16 << 10;
    let file = open(path);
    if file < 0 {
        return false;
    }
    loop {
        let len = text.len();
        text.resize(len + PART, 0);
        let args = [file as usize, text[len..].as_mut_ptr() as usize, PART, 0, 0, 0];
        // SAFETY: reads into our own bytes.
        let n_read = unsafe { raw::syscall(libc::SYS_read, args) }.max(0) as usize;
        text.truncate(len + n_read);
        N_BYTES_READ.fetch_add(n_read as u64, Relaxed);
        if n_read == 0 {
            close(file as usize);
            return true;
        }
    }
}
