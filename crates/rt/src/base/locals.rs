//! Thread-locals of the program, as they are in memory: one block for each module, below the thread pointer.
//!
//! Where threads of many executions run on the same stacks, a new thread must find its thread-locals as the
//! compiler says, and the thread that goes on must find them as they were. Those of the C library are left
//! alone (what it has allocated for a thread, it may use again), and so are ours.
//!
//! What it misses: modules that were loaded later than with the program.

use std::{
    cell::UnsafeCell,
    ffi::{CStr, c_int, c_void},
};

use raddle_fiber::thread_pointer;

/// The block of one module.
#[derive(Clone, Copy, Debug)]
struct Block {
    /// How far below the thread pointer it begins.
    below: usize,
    size: usize,
    /// What it begins with; the rest are zeroes.
    image: *const u8,
    n_image: usize,
}

struct Blocks(UnsafeCell<Option<Vec<Block>>>);

// SAFETY: touched by the thread that runs, inside a hook.
unsafe impl Sync for Blocks {}

static BLOCKS: Blocks = Blocks(UnsafeCell::new(None));

/// Farther below the thread pointer than this is no block that every thread has.
const FAR: usize = 1 << 20;

/// The blocks of the modules that are loaded, found once.
fn blocks() -> &'static [Block] {
    // SAFETY: see `Blocks`.
    let blocks = unsafe { &mut *BLOCKS.0.get() };
    blocks.get_or_insert_with(|| {
        let mut found = Vec::new();
        // SAFETY: the callback gets this very list.
        unsafe { libc::dl_iterate_phdr(Some(add), (&raw mut found).cast()) };
        found
    })
}

unsafe extern "C" fn add(info: *mut libc::dl_phdr_info, _size: usize, found: *mut c_void) -> c_int {
    // SAFETY: `blocks` passes a list, the loader its table.
    unsafe {
        let (info, found) = (&*info, &mut *found.cast::<Vec<Block>>());
        let name = CStr::from_ptr(info.dlpi_name).to_bytes();
        let file = name.rsplit(|it| *it == b'/').next().unwrap_or(b"");
        let is_left_alone = file.starts_with(b"libc.so")
            || file.starts_with(b"ld-linux")
            || file == b"libraddle_rt.so";
        let below = thread_pointer().wrapping_sub(info.dlpi_tls_data as usize);
        if is_left_alone || info.dlpi_tls_data.is_null() || below > FAR {
            return 0;
        }
        for idx in 0..info.dlpi_phnum as usize {
            let header = &*info.dlpi_phdr.add(idx);
            if header.p_type == libc::PT_TLS {
                found.push(Block {
                    below,
                    size: header.p_memsz as usize,
                    image: (info.dlpi_addr as usize + header.p_vaddr as usize) as *const u8,
                    n_image: header.p_filesz as usize,
                });
            }
        }
        0
    }
}

/// Gives the thread with this thread pointer new thread-locals.
pub(crate) fn renew(fs: usize) {
    for block in blocks() {
        let to = (fs - block.below) as *mut u8;
        // SAFETY: every thread has a block for each of these modules; this one does not run.
        unsafe {
            std::ptr::copy_nonoverlapping(block.image, to, block.n_image);
            std::ptr::write_bytes(to.add(block.n_image), 0, block.size - block.n_image);
        }
    }
}

/// The thread-locals of a thread.
#[derive(Debug, Default)]
pub(crate) struct Saved(Vec<u8>);

impl Saved {
    /// What the thread that runs has now.
    pub(crate) fn of_this_thread() -> Saved {
        let mut bytes = Vec::new();
        for block in blocks() {
            let from = (thread_pointer() - block.below) as *const u8;
            // SAFETY: the thread that runs has a block for each of these modules.
            bytes.extend_from_slice(unsafe { std::slice::from_raw_parts(from, block.size) });
        }
        Saved(bytes)
    }

    /// Gives them back to the thread that runs, which is the same.
    pub(crate) fn restore(&self) {
        let mut rest = &self.0[..];
        for block in blocks() {
            let (bytes, after) = rest.split_at(block.size);
            rest = after;
            let to = (thread_pointer() - block.below) as *mut u8;
            // SAFETY: as above; none of them is ours.
            unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), to, bytes.len()) };
        }
    }
}
