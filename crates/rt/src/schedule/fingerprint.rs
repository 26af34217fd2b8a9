//! The whole state of the program as numbers, so that a state that comes again is known again.
//!
//! It has three parts, from cheap to dear, and a later one is only asked for if the earlier ones are those that are
//! looked for: what threads are about to do, with their registers ([`Control::outline`]); what is on their stacks and
//! what holds of objects ([`Control::stacks_and_objects`]); all other memory that the program can write
//! ([`Control::memory`]). Together they decide all that the program will do, except for what comes from outside
//! ([`Control::outside`]).
//!
//! A thread's registers are those that it had when it called the hook in which it stands: they are found by unwinding
//! our own frames. The others are in its frames, for they don't survive a call. What a thread has left below its
//! stack pointer, and what is ours, is no part of the state.

use std::{
    ffi::{c_int, c_void},
    ops::Range,
    sync::{LazyLock, atomic::Ordering::Relaxed},
};

use raddle_fiber::raw;
use raddle_machine::Status;
use raddle_model::{Op, ThreadId, mix};

use crate::{
    base::{arena, maps, random},
    control::Control,
    schedule::threads,
    state::thread::{Place, ThreadRt},
};

const PAGE: usize = 4096;
const PRESENT_OR_SWAPPED: u64 = 3 << 62;
/// More memory than this is not looked through.
const MAPPED_MAX: usize = 64 << 30;
/// What the kernel writes into a thread's own memory when it moves it to another processor (`struct rseq`).
const RSEQ_BYTES: usize = 32;

impl Control {
    /// Notes where the thread that runs has called the hook that it is in; `false` if that can't be found out.
    pub(crate) fn note_place(&mut self) -> bool {
        let ours = self.recorder.modules.ranges_of(own_code());
        let Some((text, _)) = ours else { return false };
        let mut search = Search { ours: text, found: None };
        // SAFETY: the callback gets the search; unwinding only reads.
        unsafe { _Unwind_Backtrace(look_at_frame, (&raw mut search).cast()) };
        let is_found = search.found.is_some();
        self.this().place = search.found;
        is_found
    }

    /// Forgets where threads stood, before [`Control::note_place`] is asked for the first time.
    pub(crate) fn forget_places(&mut self) {
        for thread in &mut self.scheduler.threads {
            thread.place = None;
        }
    }

    /// What threads are about to do, with their registers: of a thread that has not run since places were forgotten,
    /// all of that is as it was.
    pub(crate) fn outline(&self, proposed: Option<&Op>) -> u64 {
        let mut hash = mix(self.scheduler.machine.fingerprint_threads(), u64::from(self.me.0));
        if let Some(op) = proposed {
            hash = mix(hash, u64::from(op.site.0) << 8 | u64::from(op.kind as u8));
            hash = mix(hash, u64::from(op.object.0) << 32 | u64::from(op.other.0));
            hash = mix(hash, op.arg);
        }
        for thread in &self.scheduler.threads {
            let place = thread.place.unwrap_or_default();
            let words = place.registers.iter().chain([&place.sp]);
            hash = words.fold(hash, |hash, it| mix(hash, *it as u64));
        }
        hash
    }

    /// What is on stacks, and what holds of objects and of values that threads keep with us.
    pub(crate) fn stacks_and_objects(&self) -> u64 {
        let skipped = self.rseq_areas();
        let mut hash = self.scheduler.machine.fingerprint_objects();
        for (idx, thread) in self.scheduler.threads.iter().enumerate() {
            if self.scheduler.machine.status(ThreadId(idx as u32)) == Status::Finished {
                continue;
            }
            let from = thread.place.map_or(thread.stack_bottom, |it| it.sp);
            if !(thread.stack_bottom..thread.stack_top).contains(&from) {
                // It runs on a stack that the program has made: that is memory like any.
                continue;
            }
            hash = mix(hash, Memory::new(&skipped).range(from..thread.stack_top));
            hash = thread.values.iter().fold(hash, |hash, it| mix(hash, *it as u64));
        }
        hash
    }

    /// All other memory that the program can write. `None` if there is too much, or if other processes can write to it.
    pub(crate) fn memory(&self) -> Option<u64> {
        let mappings = maps::writable();
        let n_bytes: usize = mappings.iter().map(|it| it.end - it.start).sum();
        let segment = self.header as usize;
        let is_foreign =
            |it: &maps::Mapping| it.is_shared && !(it.start..it.end).contains(&segment);
        if mappings.is_empty() || n_bytes > MAPPED_MAX || mappings.iter().any(is_foreign) {
            return None;
        }
        let (_, ours) = self.recorder.modules.ranges_of(own_code())?;
        let mut apart = vec![arena::range(), threads::stacks(), pages(ours)];
        apart.extend(self.scheduler.threads.iter().map(|it| pages(it.stack_bottom..it.stack_top)));
        apart.sort_unstable_by_key(|it| it.start);
        let skipped = self.rseq_areas();
        let mut hash = 0;
        for it in mappings.iter().filter(|it| !it.is_shared) {
            let mut at = it.start;
            for apart in apart.iter().filter(|apart| apart.start < it.end && it.start < apart.end) {
                if at < apart.start {
                    hash = mix(hash, Memory::new(&skipped).range(at..apart.start));
                }
                at = at.max(apart.end);
            }
            if at < it.end {
                hash = mix(hash, Memory::new(&skipped).range(at..it.end));
            }
        }
        Some(hash)
    }

    /// How often the program has asked the world for something that it may not get again: bytes of files, the time,
    /// random numbers. `None` if that is not known, or if something happened that nobody controls.
    pub(crate) fn outside(&self) -> Option<u64> {
        // SAFETY: the header is mapped for as long as the process lives.
        let is_controlled = unsafe { (*self.header).result.summary.n_uncontrolled } == 0;
        let is_quiet =
            is_controlled && self.memory.tied.is_empty() && !self.process.signals.is_any_pending;
        let n_bytes = n_bytes_read().filter(|_| is_quiet && self.process.io.n_waiting == 0)?;
        Some(mix(mix(n_bytes, self.scheduler.machine.n_clock_reads()), random::fingerprint()))
    }

    /// Where the kernel writes, of each thread, in order.
    fn rseq_areas(&self) -> Vec<usize> {
        let Some(offset) = *RSEQ_OFFSET else { return Vec::new() };
        let area = |it: &ThreadRt| it.fs.wrapping_add_signed(offset);
        let mut areas: Vec<usize> = self.scheduler.threads.iter().map(|it| area(it)).collect();
        areas.sort_unstable();
        areas
    }
}

/// How far from a thread's pointer that is. Looked up once: the loader counts look-ups, in the program's memory.
static RSEQ_OFFSET: LazyLock<Option<isize>> = LazyLock::new(|| {
    // SAFETY: a look-up; the variable is the C library's, and constant.
    unsafe {
        let offset = libc::dlsym(libc::RTLD_DEFAULT, c"__rseq_offset".as_ptr());
        offset.cast::<isize>().as_ref().copied()
    }
});

/// Looks at memory: words in pages that are there. A page that was never touched, and one of zeroes, are the same.
struct Memory<'a> {
    hash: u64,
    /// Areas of [`RSEQ_BYTES`] that are no part of it, in order.
    skipped: &'a [usize],
}

impl Memory<'_> {
    fn new(skipped: &[usize]) -> Memory<'_> {
        Memory { hash: 0, skipped }
    }

    fn range(mut self, range: Range<usize>) -> u64 {
        const PART: usize = 512;
        let pagemap = maps::open(c"/proc/self/pagemap");
        let mut bits = [0_u64; PART];
        let mut page = range.start / PAGE * PAGE;
        while page < range.end {
            let n_pages = (range.end - page).div_ceil(PAGE).min(PART);
            let args = [pagemap as usize, bits.as_mut_ptr() as usize, n_pages * 8, page / PAGE * 8];
            let [file, to, size, offset] = args;
            // SAFETY: reads into our own words.
            let n_read = unsafe { raw::syscall(libc::SYS_pread64, [file, to, size, offset, 0, 0]) };
            maps::N_BYTES_READ.fetch_add(n_read.max(0) as u64, Relaxed);
            let is_known = pagemap >= 0 && n_read == size as isize;
            for (idx, bits) in bits[..n_pages].iter().enumerate() {
                if !is_known || bits & PRESENT_OR_SWAPPED != 0 {
                    let start = page + idx * PAGE;
                    self.words(start.max(range.start)..(start + PAGE).min(range.end));
                }
            }
            page += n_pages * PAGE;
        }
        if pagemap >= 0 {
            maps::close(pagemap as usize);
        }
        self.hash
    }

    /// A part of a page.
    fn words(&mut self, range: Range<usize>) {
        let start = range.start & !7;
        let first = self.skipped.partition_point(|it| it + RSEQ_BYTES <= start);
        let skipped = self.skipped[first..].iter().take_while(|it| **it < range.end);
        let mut hash = start as u64;
        let mut any = 0;
        for at in (start..range.end).step_by(8) {
            // SAFETY: mapped, readable memory of this process, of which nobody else runs.
            let word = unsafe { (at as *const u64).read_volatile() };
            if skipped.clone().any(|it| (*it..it + RSEQ_BYTES).contains(&at)) {
                continue;
            }
            any |= word;
            hash = mix(hash, word);
        }
        if any != 0 {
            self.hash = mix(self.hash, hash);
        }
    }
}

/// Whole pages.
fn pages(range: Range<usize>) -> Range<usize> {
    range.start / PAGE * PAGE..range.end.next_multiple_of(PAGE)
}

/// Bytes that the program has got from `read` and its kin.
fn n_bytes_read() -> Option<u64> {
    let n_ours = maps::N_BYTES_READ.load(Relaxed);
    let mut text = Vec::new();
    if !maps::read_file(c"/proc/self/io", &mut text) {
        return None;
    }
    let line = text.split(|it| *it == b'\n').find_map(|it| it.strip_prefix(b"rchar: "))?;
    let n_all: u64 = std::str::from_utf8(line).ok()?.parse().ok()?;
    Some(n_all.wrapping_sub(n_ours))
}

/// An address in our own code.
fn own_code() -> usize {
    own_code as *const () as usize
}

/// The first frame that is not ours.
struct Search {
    ours: Range<usize>,
    found: Option<Place>,
}

const GO_ON: c_int = 0;
const ENOUGH: c_int = 5;
/// `rbx`, `rbp`, `r12` to `r15`, as debug information counts them.
const REGISTERS: [c_int; 6] = [3, 6, 12, 13, 14, 15];

unsafe extern "C-unwind" fn look_at_frame(context: *mut c_void, search: *mut c_void) -> c_int {
    // SAFETY: `note_place` passes a search, the unwinder its context.
    unsafe {
        let search = &mut *search.cast::<Search>();
        if search.ours.contains(&_Unwind_GetIP(context)) {
            return GO_ON;
        }
        let registers = REGISTERS.map(|it| _Unwind_GetGR(context, it));
        search.found = Some(Place { sp: _Unwind_GetCFA(context), registers });
        ENOUGH
    }
}

unsafe extern "C-unwind" {
    fn _Unwind_Backtrace(
        trace: unsafe extern "C-unwind" fn(*mut c_void, *mut c_void) -> c_int,
        arg: *mut c_void,
    ) -> c_int;
    fn _Unwind_GetIP(context: *mut c_void) -> usize;
    fn _Unwind_GetCFA(context: *mut c_void) -> usize;
    fn _Unwind_GetGR(context: *mut c_void, register: c_int) -> usize;
}
