//! Folders of threads that the program is listing.

use std::{
    ffi::{c_char, c_void},
    ptr,
};

use libc::pid_t;

/// The folder of the threads, as the program lists it: `.`, `..`, and the numbers of those who live.
#[derive(Debug)]
pub(crate) struct Listing {
    /// The C library's handle.
    pub(crate) folder: usize,
    /// The next entry.
    pub(crate) at: usize,
    pub(crate) threads: Vec<pid_t>,
    entry: Box<libc::dirent64>,
}

impl Listing {
    pub(crate) fn new(threads: Vec<pid_t>, folder: usize) -> Listing {
        // SAFETY: plain bytes; inside a hook.
        let entry = Box::new(unsafe { std::mem::zeroed() });
        Listing { folder, at: 0, threads, entry }
    }

    pub(crate) fn next(&mut self) -> *mut c_void {
        let number = match self.at {
            0 | 1 => None,
            at => match self.threads.get(at - 2) {
                Some(number) => Some(*number),
                None => return ptr::null_mut(),
            },
        };
        self.at += 1;
        let name = number.map_or_else(|| ".".repeat(self.at), |it| it.to_string());
        let entry = &mut *self.entry;
        entry.d_ino = self.at as u64;
        entry.d_off = self.at as i64;
        entry.d_reclen = size_of::<libc::dirent64>() as u16;
        entry.d_type = libc::DT_DIR;
        entry.d_name = [0; 256];
        for (to, from) in entry.d_name.iter_mut().zip(name.bytes()) {
            *to = from as c_char;
        }
        (&raw mut *entry).cast()
    }
}
