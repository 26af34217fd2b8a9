//! A program that writes over the segment can make nonsense of it, and no more: whatever is there is read.

#![expect(unsafe_code, reason = "is the other side of a segment")]

use std::alloc::{Layout, alloc_zeroed, dealloc};

use raddle_model::Rng;
use raddle_trace::{Briefs, Caps, Entry, Header, SeenRaces, Segment, Summary, Trace};

const ROUNDS: u64 = 10_000;

/// Room for little, so that what is scribbled matters. Events are a power of two.
const CAPS: Caps = Caps {
    block: 4,
    prefix: 8,
    shared: 8,
    events: 16,
    sites: 8,
    objects: 8,
    threads: 4,
    modules: 2,
    notes: 2,
    pages: 4,
    races: 4,
    sightings: 8,
    stacks: 4,
    briefs: 64,
    traps: 2,
};

/// A segment between two pages' worth of bytes that nobody may touch.
struct Guarded {
    start: *mut u8,
    layout: Layout,
}

const GUARD: usize = 4096;
const UNTOUCHED: u8 = 0xa5;

impl Guarded {
    fn new() -> Guarded {
        let size = Segment::size(&CAPS) + 2 * GUARD;
        let layout = Layout::from_size_align(size, 4096).expect("a size");
        // SAFETY: the size is not zero.
        let start = unsafe { alloc_zeroed(layout) };
        assert!(!start.is_null());
        let all = Guarded { start, layout };
        for at in (0..GUARD).chain(size - GUARD..size) {
            // SAFETY: within the allocation.
            unsafe { all.start.wrapping_add(at).write(UNTOUCHED) };
        }
        all
    }

    fn base(&self) -> *mut u8 {
        // SAFETY: within the allocation.
        unsafe { self.start.add(GUARD) }
    }

    fn scribble(&self, at: usize, byte: u8) {
        assert!(at < Segment::size(&CAPS));
        // SAFETY: within the segment.
        unsafe { self.base().wrapping_add(at).write(byte) };
    }

    fn is_untouched(&self) -> bool {
        let size = self.layout.size();
        // SAFETY: within the allocation.
        let is_own = |at| unsafe { self.start.wrapping_add(at).read() } == UNTOUCHED;
        (0..GUARD).chain(size - GUARD..size).all(is_own)
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        // SAFETY: allocated with this layout, and nobody uses it any more.
        unsafe { dealloc(self.start, self.layout) };
    }
}

/// Everything that the launcher reads.
fn read_all(segment: &Segment) {
    // SAFETY: there is no other side.
    let segment = unsafe { segment.still() };
    let trace = Trace::read(segment);
    assert!(trace.events.len() <= CAPS.events as usize);
    assert!(trace.threads.len() <= CAPS.threads as usize);
    let _ = segment.last_words();
    let _ = segment.is_found();
    let races = SeenRaces::read(segment);
    for execution in 0..CAPS.block {
        let _ = races.of(execution);
    }
    // SAFETY: the area has room for the block; nobody else uses it.
    let summaries = unsafe { segment.copy::<Summary>(segment.summaries(), CAPS.block as usize) };
    // SAFETY: as above.
    let entries = unsafe { segment.copy::<Entry>(segment.entries(), CAPS.block as usize) };
    for entry in &entries {
        let _ = entry.picker();
    }
    let briefs = segment.read_briefs(&summaries, &segment.read_modules(), Briefs::default());
    for idx in 0..briefs.len() {
        let _ = briefs.get(idx).tables();
    }
}

#[test]
fn whatever_is_in_a_segment_is_read() {
    let memory = Guarded::new();
    let size = Segment::size(&CAPS);
    for seed in 0..ROUNDS {
        let mut rng = Rng::new(seed);
        // SAFETY: the mapping is so large, and stays until the end.
        let segment = unsafe { Segment::create(memory.base(), CAPS) };
        let (within, n_bytes) = match seed % 4 {
            // All of it, which takes long; the header; a few bytes of the header; a few bytes anywhere.
            0 if seed % 64 == 0 => (size, size),
            0 | 1 => (size_of::<Header>(), size_of::<Header>()),
            2 => (size_of::<Header>(), 16),
            _ => (size, 64),
        };
        for idx in 0..n_bytes {
            let at = if n_bytes == within { idx } else { rng.below(within as u32) as usize };
            // Small numbers are within bounds more often, and lead further.
            let byte = if seed % 8 < 4 { rng.below(256) } else { rng.below(4) };
            memory.scribble(at, byte as u8);
        }
        read_all(&segment);
    }
    assert!(memory.is_untouched());
}
