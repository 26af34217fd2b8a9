//! Pages that executions write, and what was in them.
//!
//! After a fork all private pages are shared with the server, until one of the two writes: then the
//! kernel makes a copy that this process alone maps, and says so in `/proc/self/pagemap` (bit 56).
//! Writing to a page that is one's own already causes no fault, so an execution without page faults has
//! met no new page, and nobody need be asked: that is the common case.
//!
//! A page too many does no harm. It is put back as all others are.

use std::ops::Range;

use raddle_fiber::raw;
use raddle_trace::Segment;

use crate::base::maps;

const PAGE: usize = 4096;
/// More pages than this are better left to a fork.
const PAGES_MAX: usize = 4096;
const RANGES_MAX: usize = 4096;
const STACK_MAX: usize = 8 << 20;

/// See the module. Lives in memory that is never put back.
#[repr(C)]
pub(super) struct Pages {
    /// Page faults of this process, when the execution began.
    n_faults: u64,
    n_pages: usize,
    /// Addresses of pages that executions write, sorted.
    pages: [usize; PAGES_MAX],
    n_ranges: usize,
    /// Memory that is private and can be written, as it was before `main`.
    ranges: [(usize, usize); RANGES_MAX],
    /// What `ranges` depends on, when it was last looked at.
    looked_at: (usize, usize),
    found: [Region; 512],
    /// What was in each page.
    copies: [[u8; PAGE]; PAGES_MAX],
}

impl Pages {
    /// Finds out which memory an execution can write. `own`: ours, which stays as it is.
    pub(super) fn look_at_mappings(&mut self, own: Range<usize>) {
        // SAFETY: asks where the heap ends.
        let state = unsafe { (crate::base::arena::n_mapped(), libc::sbrk(0) as usize) };
        if state == self.looked_at {
            return;
        }
        self.looked_at = state;
        self.n_ranges = 0;
        for it in maps::writable().into_iter().filter(|it| !it.is_shared) {
            // The stack of `main` grows: it reaches as far down as it may.
            let start = if it.is_stack { it.start.min(it.end - STACK_MAX) } else { it.start };
            self.add_range(start, it.end.min(own.start));
            self.add_range(start.max(own.end), it.end);
        }
    }

    fn add_range(&mut self, start: usize, end: usize) {
        if start < end && self.n_ranges < RANGES_MAX {
            self.ranges[self.n_ranges] = (start, end);
            self.n_ranges += 1;
        }
    }

    /// Keeps what is in the pages that executions of other processes have written.
    pub(super) fn keep_all(&mut self, segment: &Segment) {
        // SAFETY: the area has room for what the header counts; nobody else writes to it now.
        unsafe {
            let n_known = ((*segment.header()).live.n_pages as usize).min(PAGES_MAX);
            let known = std::slice::from_raw_parts(segment.pages(), n_known);
            for (to, page) in self.pages.iter_mut().zip(known) {
                *to = *page as usize;
            }
            self.n_pages = n_known;
            self.pages[..n_known].sort_unstable();
            for (page, copy) in self.pages[..n_known].iter().zip(&mut self.copies) {
                std::ptr::copy_nonoverlapping(*page as *const u8, copy.as_mut_ptr(), PAGE);
            }
        }
        // Each execution finds these pages made its own already, the first as the others.
        self.put_back();
    }

    /// Puts back what was in all pages.
    pub(super) fn put_back(&mut self) {
        for (page, copy) in self.pages[..self.n_pages].iter().zip(&self.copies) {
            // SAFETY: the page was there before `main`, private and writable, and mappings have not
            // changed since: `calls` has seen to it.
            unsafe { std::ptr::copy_nonoverlapping(copy.as_ptr(), *page as *mut u8, PAGE) };
        }
        self.n_faults = count_faults();
    }

    /// Are all pages that this execution wrote among those that can be put back? Else the others are
    /// told to those that come after.
    pub(super) fn are_known(&mut self, segment: &Segment) -> bool {
        if count_faults() == self.n_faults {
            return true;
        }
        let pagemap = maps::open(c"/proc/self/pagemap");
        if pagemap < 0 {
            return false;
        }
        let all_known = self.look_for_new(pagemap as usize, segment);
        maps::close(pagemap as usize);
        all_known
    }

    fn look_for_new(&mut self, pagemap: usize, segment: &Segment) -> bool {
        const END: u64 = (1 << 47) - PAGE as u64;
        let mut all_known = true;
        let mut start = 0;
        while start < END {
            let found = (&raw mut self.found).cast::<Region>();
            let mut scan = Scan::of_present(start, END, found as u64, self.found.len() as u64);
            let args = [pagemap, PAGEMAP_SCAN, &raw mut scan as usize, 0, 0, 0];
            // SAFETY: the kernel writes as many regions as there is room for.
            let n_found = unsafe { raw::syscall(libc::SYS_ioctl, args) };
            if n_found < 0 {
                return false;
            }
            for idx in 0..n_found as usize {
                let region = self.found[idx];
                all_known &= self.is_region_known(pagemap, region, segment);
            }
            start = scan.walk_end;
        }
        all_known
    }

    fn is_region_known(&self, pagemap: usize, region: Region, segment: &Segment) -> bool {
        const PART: usize = 64;
        let mut all_known = true;
        let mut bits = [0_u64; PART];
        let mut at = region.start as usize;
        while at < region.end as usize {
            let n_pages = ((region.end as usize - at) / PAGE).min(PART);
            let args = [pagemap, bits.as_mut_ptr() as usize, n_pages * 8, at / PAGE * 8, 0, 0];
            // SAFETY: reads into our own words.
            if unsafe { raw::syscall(libc::SYS_pread64, args) } != (n_pages * 8) as isize {
                return false;
            }
            for (idx, bits) in bits[..n_pages].iter().enumerate() {
                let page = at + idx * PAGE;
                if is_own(*bits) && self.is_in_range(page) && !self.is_page_known(page) {
                    tell(segment, page);
                    all_known = false;
                }
            }
            at += n_pages * PAGE;
        }
        all_known
    }

    fn is_in_range(&self, page: usize) -> bool {
        let ranges = &self.ranges[..self.n_ranges];
        let next = ranges.partition_point(|(start, _)| *start <= page);
        next > 0 && page < ranges[next - 1].1
    }

    fn is_page_known(&self, page: usize) -> bool {
        self.pages[..self.n_pages].binary_search(&page).is_ok()
    }
}

/// Tells the processes that come after about a page.
fn tell(segment: &Segment, page: usize) {
    // SAFETY: the header is mapped, the area has room for so many; nobody else writes.
    unsafe {
        let n_pages = (*segment.header()).live.n_pages;
        if (n_pages as usize) < PAGES_MAX.min(segment.caps().pages as usize) {
            *segment.pages().add(n_pages as usize) = page as u64;
            (*segment.header()).live.n_pages = n_pages + 1;
        } else {
            // Too many to be worth it: forks from now on.
            (*segment.header()).live.is_fresh = 1;
        }
    }
}

/// Does this process alone map a page, by its word in the page map? Swapped pages may be ours as well.
const fn is_own(bits: u64) -> bool {
    const EXCLUSIVE: u64 = 1 << 56;
    const FILE: u64 = 1 << 61;
    const SWAPPED: u64 = 1 << 62;
    bits & FILE == 0 && bits & (EXCLUSIVE | SWAPPED) != 0
}

/// A run of pages, as the kernel tells it.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
struct Region {
    start: u64,
    end: u64,
    categories: u64,
}

/// What to look for in the page map (`struct pm_scan_arg`, Linux 6.7).
#[derive(Debug)]
#[repr(C)]
struct Scan {
    size: u64,
    flags: u64,
    start: u64,
    end: u64,
    walk_end: u64,
    vec: u64,
    vec_len: u64,
    max_pages: u64,
    category_inverted: u64,
    category_mask: u64,
    category_anyof_mask: u64,
    return_mask: u64,
}

const PAGEMAP_SCAN: usize = 0xc060_6610;

impl Scan {
    /// Pages that are there and are no file's.
    fn of_present(start: u64, end: u64, vec: u64, vec_len: u64) -> Scan {
        const FILE: u64 = 4;
        const PRESENT: u64 = 8;
        const SWAPPED: u64 = 16;
        Scan {
            size: size_of::<Scan>() as u64,
            flags: 0,
            start,
            end,
            walk_end: end,
            vec,
            vec_len,
            max_pages: 0,
            category_inverted: FILE,
            category_mask: FILE,
            category_anyof_mask: PRESENT | SWAPPED,
            return_mask: PRESENT,
        }
    }
}

/// Page faults of the thread that runs, also those that the kernel had on its behalf.
fn count_faults() -> u64 {
    const RUSAGE_THREAD: usize = 1;
    const MINOR: usize = 8;
    let mut usage = [0_u64; 18];
    // SAFETY: the kernel fills `struct rusage`: 18 words.
    unsafe {
        let args = [RUSAGE_THREAD, usage.as_mut_ptr() as usize, 0, 0, 0, 0];
        raw::syscall(libc::SYS_getrusage, args);
    }
    usage[MINOR] + usage[MINOR + 1]
}
