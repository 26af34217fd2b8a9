//! The mapped segment.
//!
//! Unsafe because the memory is shared with another process. The protocol keeps them apart: the
//! launcher writes between blocks and reads when the server has answered; in between only the atomics
//! are read. A program that scribbles over the segment can produce nonsense values, never undefined
//! behaviour: every type in it is plain integers, enums are decoded from numbers by the reader, and each side
//! keeps its own bounds. (`tests/scribbled.rs` does it.)

use std::{ops::Deref, ptr, slice};

use raddle_model::{Event, Interest, Length, Use};

use crate::layout::{
    Caps, EnabledSet, Entry, Header, LAST_WORDS_MAX, MAGIC, ModuleEntry, NoteEntry, ObjectEntry,
    Offsets, OrderEntry, RaceEntry, Sighting, SiteEntry, StackEntry, Summary, ThreadEntry,
    TrapEntry, VERSION,
};
use crate::pair::Pair;

/// A mapped segment. Copies name the same memory; it stays mapped until the process ends.
#[derive(Clone, Copy, Debug)]
pub struct Segment {
    base: *mut u8,
    /// Our own: what stands in the header anybody can change.
    caps: Caps,
    offsets: Offsets,
}

/// Why a segment can't be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MapError {
    /// Not a segment at all.
    NotASegment,
    /// Another version of the layout.
    Version(u32),
}

// SAFETY: the memory is not tied to a thread; see the module for who touches it when.
unsafe impl Send for Segment {}

macro_rules! area {
    ($(#[doc = $doc:literal])* $name:ident, $field:ident, $cap:ident, $type:ty) => {
        $(#[doc = $doc])*
        #[inline]
        pub fn $name(&self) -> *mut $type {
            // SAFETY: the area lies within the mapping, by `Offsets::of`.
            unsafe { self.base.add(self.offsets.$field) }.cast()
        }
    };
}

impl Segment {
    /// Bytes that a segment with this room takes.
    pub const fn size(caps: &Caps) -> usize {
        Offsets::of(caps).end
    }

    /// Writes a fresh header.
    ///
    /// # Safety
    ///
    /// `base` is the start of a zeroed, writable mapping of [`Segment::size`] bytes that stays mapped.
    pub unsafe fn create(base: *mut u8, caps: Caps) -> Segment {
        let segment = Segment { base, caps, offsets: Offsets::of(&caps) };
        let header = segment.header();
        // SAFETY: the caller's mapping holds a header.
        unsafe { (*header).magic = MAGIC };
        // SAFETY: as above.
        unsafe { (*header).version = VERSION };
        // SAFETY: as above.
        unsafe { (*header).caps = caps };
        segment
    }

    /// Looks at a segment that the other side made.
    ///
    /// # Safety
    ///
    /// `base` is the start of a readable and writable mapping of `size` bytes that stays mapped.
    pub unsafe fn open(base: *mut u8, size: usize) -> Result<Segment, MapError> {
        if size < size_of::<Header>() {
            return Err(MapError::NotASegment);
        }
        let header = base.cast::<Header>();
        // SAFETY: the mapping is large enough for a header.
        let magic = unsafe { (*header).magic };
        // SAFETY: as above.
        let version = unsafe { (*header).version };
        if magic != MAGIC {
            return Err(MapError::NotASegment);
        }
        if version != VERSION {
            return Err(MapError::Version(version));
        }
        // SAFETY: as above.
        let caps = unsafe { (*header).caps };
        let offsets = Offsets::of(&caps);
        if offsets.end > size {
            return Err(MapError::NotASegment);
        }
        Ok(Segment { base, caps, offsets })
    }

    /// The header.
    #[inline]
    pub fn header(&self) -> *mut Header {
        self.base.cast()
    }

    /// Room in the areas.
    pub const fn caps(&self) -> Caps {
        self.caps
    }

    area!(
        /// What each execution of the block is to do.
        entries, entries, block, Entry
    );
    area!(
        /// How each execution of the block went.
        summaries, summaries, block, Summary
    );
    area!(
        /// Choices to follow.
        prefix, prefix, prefix, u32
    );
    area!(
        /// Names known to be shared, then names found to be.
        shared, shared, shared, u64
    );
    area!(
        /// Sites, by number.
        sites, sites, sites, SiteEntry
    );
    area!(
        /// Objects, by number.
        objects, objects, objects, ObjectEntry
    );
    area!(
        /// Threads, by number.
        threads, threads, threads, ThreadEntry
    );
    area!(
        /// Modules, by number.
        modules, modules, modules, ModuleEntry
    );
    area!(
        /// What could not be controlled.
        notes, notes, notes, NoteEntry
    );
    area!(
        /// Addresses of pages that executions write.
        pages, pages, pages, u64
    );
    area!(
        /// Races that the block's executions showed, each once.
        races, races, races, RaceEntry
    );
    area!(
        /// Where a race with some key is, if it was told: its number, counted from 1, or 0.
        race_slots, race_slots, races, u32
    );
    area!(
        /// Which execution showed which of them, in order.
        sightings, sightings, sightings, Sighting
    );
    area!(
        /// Stacks, by number.
        stacks, stacks, stacks, StackEntry
    );
    area!(
        /// Executions that are told in brief.
        briefs, briefs, briefs, u64
    );
    area!(
        /// Instructions that are to be announced.
        traps, traps, traps, TrapEntry
    );
    area!(
        /// Events; the one of step `n` is at `n` modulo the area's room.
        events, events, events, Event
    );

    area!(
        /// Who could have gone on, if that is recorded; for step `n` at `n` modulo the events' room.
        options, options, events, EnabledSet
    );

    area!(
        /// The profile's lengths.
        lengths, lengths, LENGTHS_MAX, Length
    );
    area!(
        /// The profile's interests.
        interests, interests, INTERESTS_MAX, Interest
    );
    area!(
        /// The profile's uses.
        uses, uses, USES_MAX, Use
    );
    area!(
        /// Memory orders in place of those in the source.
        orders, orders, MAX, OrderEntry
    );
    area!(
        /// Pairs that the executions of the block covered, one after the other.
        pairs, pairs, block, Pair
    );

    /// What was told can be read.
    ///
    /// # Safety
    ///
    /// No execution runs while the value lives: the server has answered or ended, and gets no command.
    pub const unsafe fn still(&self) -> Still<'_> {
        Still { segment: self }
    }

    /// Has the runtime found the segment?
    pub fn is_found(&self) -> bool {
        // SAFETY: the mapping holds a header for as long as the process lives.
        unsafe { (*self.header()).live.is_found == 1 }
    }

    /// Copies the first `count` entries of an area.
    ///
    /// # Safety
    ///
    /// `area` is one of this segment's areas and has room for `count` entries, and the other side is
    /// not writing.
    pub unsafe fn copy<T: Copy>(&self, area: *const T, count: usize) -> Vec<T> {
        // SAFETY: the caller promises the room; every bit pattern is a `T`, by the module's rule.
        unsafe { slice::from_raw_parts(area, count) }.to_vec()
    }

    /// Writes `values` at the start of an area.
    ///
    /// # Safety
    ///
    /// `area` is one of this segment's areas and has room for them, and the other side is not using it.
    pub unsafe fn write<T: Copy>(&self, area: *mut T, values: &[T]) {
        // SAFETY: the caller promises the room; the areas do not overlap ordinary memory.
        unsafe { ptr::copy_nonoverlapping(values.as_ptr(), area, values.len()) };
    }
}

/// A segment while no execution runs: nobody writes, so what was told can be read.
#[derive(Clone, Copy, Debug)]
pub struct Still<'a> {
    segment: &'a Segment,
}

impl Deref for Still<'_> {
    type Target = Segment;

    fn deref(&self) -> &Segment {
        self.segment
    }
}

impl Still<'_> {
    /// The header as it stands.
    pub(crate) fn told(&self) -> &Header {
        // SAFETY: the mapping holds a header; nobody writes while this value lives.
        unsafe { &*self.header() }
    }

    /// What the runtime has said before it died of a bug, if it did.
    pub fn last_words(&self) -> Option<String> {
        let header = self.told();
        let words =
            &header.result.last_words[..(header.result.n_last_words as usize).min(LAST_WORDS_MAX)];
        (!words.is_empty()).then(|| String::from_utf8_lossy(words).into_owned())
    }
}
