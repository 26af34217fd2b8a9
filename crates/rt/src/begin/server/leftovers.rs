//! Processes that an execution leaves behind: children that it has not waited for, in sessions of their own perhaps.
//!
//! When their parent is gone they become children of the server, which adopts orphans; live copies of executions are
//! among those, and stay. What it misses: kernels that do not list a process's children.

use std::sync::atomic::Ordering::Relaxed;

use raddle_fiber::raw;
use raddle_trace::{Checkpoint, Header};

/// Bytes of the list of children that are looked at: the first some hundred.
const LIST_SIZE: usize = 4096;
const NO_HANG: usize = 1;

/// Ends them, and those that they leave behind in turn. No execution runs.
pub(super) fn end_all(header: *mut Header) {
    while has_children() {
        let Some(child) = first_leftover(header) else { return };
        // SAFETY: a child of ours: its number is not given to anybody else before we have waited for it.
        unsafe {
            raw::syscall(libc::SYS_kill, [child as usize, libc::SIGKILL as usize, 0, 0, 0, 0]);
            raw::syscall(libc::SYS_wait4, [child as usize, 0, 0, 0, 0, 0]);
        }
    }
}

/// Is any child alive? Those that have ended are forgotten.
fn has_children() -> bool {
    loop {
        // SAFETY: asks for any child that has ended.
        match unsafe { raw::syscall(libc::SYS_wait4, [usize::MAX, 0, NO_HANG, 0, 0, 0]) } {
            0 => return true,
            1.. => {}
            _ => return false,
        }
    }
}

/// The first child that is no copy of an execution.
fn first_leftover(header: *const Header) -> Option<i32> {
    let mut list = [0_u8; LIST_SIZE];
    let n_read = read_children(&mut list);
    let words = list[..n_read].split(|it| *it == b' ');
    let mut children = words.filter_map(|it| std::str::from_utf8(it).ok()?.parse::<i32>().ok());
    // SAFETY: the header is mapped; the fields are atomic.
    let copies = unsafe { &(*header).live.checkpoints };
    let is_copy = |child: i32| copies.iter().any(|it| is_copy(it, child));
    children.find(|it| !is_copy(*it))
}

fn is_copy(copy: &Checkpoint, child: i32) -> bool {
    copy.process.load(Relaxed) == child
}

/// What the kernel says; the last number may be cut off, if there are very many.
fn read_children(list: &mut [u8]) -> usize {
    let path = c"/proc/thread-self/children";
    // SAFETY: opens, reads into our own memory, closes.
    unsafe {
        let at = libc::AT_FDCWD as usize;
        let flags = (libc::O_RDONLY | libc::O_CLOEXEC) as usize;
        let fd = raw::syscall(libc::SYS_openat, [at, path.as_ptr() as usize, flags, 0, 0, 0]);
        if fd < 0 {
            return 0;
        }
        let args = [fd as usize, list.as_mut_ptr() as usize, list.len(), 0, 0, 0];
        let n_read = raw::syscall(libc::SYS_read, args);
        raw::syscall(libc::SYS_close, [fd as usize, 0, 0, 0, 0, 0]);
        n_read.max(0) as usize
    }
}
