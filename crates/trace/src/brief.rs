//! Executions of a search that ended well, one after the other: only what the search wants to know of each, so
//! that a whole block of them is answered for at once.
//!
//! Each begins with a [`BriefEntry`]; its events, options, objects, sites and pending ops follow, each array
//! rounded up to words of eight bytes.

use std::{mem::size_of, slice, sync::Arc};

use raddle_model::{End, Event, Flags, ObjectId, Op, OpKind, SiteId, ThreadId};

use crate::{
    PAIRS_MAX, Pair,
    layout::{BriefEntry, EnabledSet, ObjectEntry, PendingEntry, SiteEntry, Summary},
    segment::{Segment, Still},
    value::{Module, decode_event},
};

/// What there is to be written of an execution, beside its events.
#[derive(Clone, Copy, Debug)]
pub struct ToldInBrief<'a> {
    /// Threads numbered.
    pub n_threads: u32,
    /// Who ended it.
    pub end_thread: Option<ThreadId>,
    /// Objects, by number.
    pub objects: &'a [ObjectEntry],
    /// Sites, by number.
    pub sites: &'a [SiteEntry],
    /// Those threads that have not finished.
    pub pending: &'a [PendingEntry],
}

const WORD: usize = size_of::<u64>();

const fn n_words<T>(count: usize) -> usize {
    (count * size_of::<T>()).div_ceil(WORD)
}

impl BriefEntry {
    fn n_words(&self) -> usize {
        n_words::<BriefEntry>(1)
            + n_words::<Event>(self.n_events as usize)
            + n_words::<EnabledSet>(self.n_events as usize)
            + n_words::<ObjectEntry>(self.n_objects as usize)
            + n_words::<SiteEntry>(self.n_sites as usize)
            + n_words::<PendingEntry>(self.n_pending as usize)
    }
}

/// Where something is written or read, word by word.
struct Cursor(*mut u64);

impl Cursor {
    /// # Safety
    ///
    /// There is room for them.
    unsafe fn write<T: Copy>(&mut self, values: *const T, count: usize) {
        // SAFETY: the caller's promise; arrays of words are aligned for all that is written.
        unsafe { self.0.cast::<T>().copy_from_nonoverlapping(values, count) };
        // SAFETY: as above.
        self.0 = unsafe { self.0.add(n_words::<T>(count)) };
    }

    /// # Safety
    ///
    /// There are so many, for as long as is asked, and every bit pattern is one.
    unsafe fn read<'a, T: Copy>(&mut self, count: usize) -> &'a [T] {
        // SAFETY: the caller's promise.
        let values = unsafe { slice::from_raw_parts(self.0.cast::<T>(), count) };
        // SAFETY: as above.
        self.0 = unsafe { self.0.add(n_words::<T>(count)) };
        values
    }
}

impl Segment {
    /// Adds the execution that has just ended. `false` if there is no room for it, or some of its events are
    /// lost.
    ///
    /// # Safety
    ///
    /// The launcher waits, and the events and options of the execution are in their areas.
    pub unsafe fn add_brief(&self, told: &ToldInBrief<'_>) -> bool {
        // SAFETY: the mapping holds a header; the launcher waits.
        let header = unsafe { &mut *self.header() };
        if header.result.n_events > u64::from(self.caps().events) {
            return false;
        }
        let entry = BriefEntry {
            n_events: header.result.n_events as u32,
            n_threads: told.n_threads,
            n_objects: told.objects.len() as u32,
            n_sites: told.sites.len() as u32,
            n_pending: told.pending.len() as u32,
            end_thread: told.end_thread.map_or(u32::MAX, |it| it.0),
        };
        let n_words = entry.n_words() as u32;
        if self.caps().briefs < header.result.n_brief_words.saturating_add(n_words) {
            return false;
        }
        // SAFETY: there is room for the words before it.
        let mut cursor = Cursor(unsafe { self.briefs().add(header.result.n_brief_words as usize) });
        let n_events = entry.n_events as usize;
        // SAFETY: there is room for all of it, here and below; each array is as long as it says.
        unsafe { cursor.write(&raw const entry, 1) };
        // SAFETY: as above.
        unsafe { cursor.write(self.events(), n_events) };
        // SAFETY: as above.
        unsafe { cursor.write(self.options(), n_events) };
        // SAFETY: as above.
        unsafe { cursor.write(told.objects.as_ptr(), told.objects.len()) };
        // SAFETY: as above.
        unsafe { cursor.write(told.sites.as_ptr(), told.sites.len()) };
        // SAFETY: as above.
        unsafe { cursor.write(told.pending.as_ptr(), told.pending.len()) };
        header.result.n_brief_words += n_words;
        header.result.n_briefs += 1;
        true
    }
}

impl Still<'_> {
    /// The executions of the block that were added, with their summaries and the pairs that they covered. `room`: of
    /// executions that nobody needs any more.
    pub fn read_briefs(
        &self,
        summaries: &[Summary],
        modules: &Arc<[Module]>,
        room: Briefs,
    ) -> Briefs {
        let header = self.told();
        let n_words = header.result.n_brief_words.min(self.caps().briefs) as usize;
        let n_pairs = header.result.n_pairs.min(self.caps().block * PAIRS_MAX) as usize;
        let mut briefs = Briefs { modules: Arc::clone(modules), ..room };
        briefs.clear();
        // SAFETY: cut to the area's room; nobody writes.
        briefs.words.extend_from_slice(unsafe { slice::from_raw_parts(self.briefs(), n_words) });
        // SAFETY: as above.
        briefs.pairs.extend_from_slice(unsafe { slice::from_raw_parts(self.pairs(), n_pairs) });
        let (mut at, mut pairs_at) = (0, 0);
        for summary in summaries.iter().take(header.result.n_briefs as usize) {
            let Some(n_words) = briefs.n_words(at) else { break };
            briefs.starts.push((at, pairs_at));
            briefs.summaries.push(*summary);
            at += n_words;
            pairs_at = (pairs_at + summary.n_pairs as usize).min(n_pairs);
        }
        briefs
    }
}

/// Executions that were told in brief, in order.
#[derive(Clone, Debug, Default)]
pub struct Briefs {
    words: Vec<u64>,
    pairs: Vec<Pair>,
    /// Where each has its words and its pairs. Invariant: what it says follows there.
    starts: Vec<(usize, usize)>,
    summaries: Vec<Summary>,
    modules: Arc<[Module]>,
}

impl Briefs {
    /// How many.
    pub fn len(&self) -> usize {
        self.starts.len()
    }

    /// Was none told so?
    pub fn is_empty(&self) -> bool {
        self.starts.is_empty()
    }

    /// One of them.
    pub fn get(&self, idx: usize) -> CompactTrace<'_> {
        let (at, pairs_at) = self.starts[idx];
        let summary = &self.summaries[idx];
        let (_, pairs) = self.pairs.split_at(pairs_at);
        CompactTrace {
            words: &self.words[at..],
            summary,
            pairs: &pairs[..pairs.len().min(summary.n_pairs as usize)],
            modules: &self.modules,
        }
    }

    fn clear(&mut self) {
        self.words.clear();
        self.pairs.clear();
        self.starts.clear();
        self.summaries.clear();
    }

    /// The words of an execution that begins at this one, if they are all there.
    fn n_words(&self, at: usize) -> Option<usize> {
        let words = self.words.get(at..)?;
        let n_words = (words.len() >= n_words::<BriefEntry>(1)).then(|| entry(words).n_words())?;
        (n_words <= words.len()).then_some(n_words)
    }
}

/// One execution that was told in brief.
#[derive(Clone, Copy, Debug)]
pub struct CompactTrace<'a> {
    /// Invariant: an entry, and all that it says follows it.
    words: &'a [u64],
    /// Its summary.
    pub summary: &'a Summary,
    /// The pairs that it covered.
    pub pairs: &'a [Pair],
    /// Executable and libraries by number.
    pub modules: &'a Arc<[Module]>,
}

/// What an execution in brief consists of.
#[derive(Clone, Copy, Debug)]
pub struct Tables<'a> {
    /// Threads numbered.
    pub n_threads: u32,
    /// Who ended it.
    pub end_thread: Option<ThreadId>,
    events: &'a [[u32; 8]],
    /// Of each event.
    pub options: &'a [EnabledSet],
    /// Objects, by number.
    pub objects: &'a [ObjectEntry],
    /// Sites, by number.
    pub sites: &'a [SiteEntry],
    /// Those threads that have not finished.
    pub pending: &'a [PendingEntry],
}

impl<'a> CompactTrace<'a> {
    /// How it ended.
    pub fn end(&self) -> Option<End> {
        End::from_numbers(self.summary.end_kind as u8, self.summary.end_detail)
    }

    /// What it consists of.
    pub fn tables(&self) -> Tables<'a> {
        let entry = entry(self.words);
        let mut cursor = Cursor(self.words.as_ptr().cast_mut());
        let n_events = entry.n_events as usize;
        // SAFETY: there is room for all that the entry speaks of (invariant), here and below; it is plain integers.
        unsafe { cursor.read::<BriefEntry>(1) };
        // SAFETY: as above.
        let events = unsafe { cursor.read(n_events) };
        // SAFETY: as above.
        let options = unsafe { cursor.read(n_events) };
        // SAFETY: as above.
        let objects = unsafe { cursor.read(entry.n_objects as usize) };
        // SAFETY: as above.
        let sites = unsafe { cursor.read(entry.n_sites as usize) };
        // SAFETY: as above.
        let pending = unsafe { cursor.read(entry.n_pending as usize) };
        let end_thread = (entry.end_thread != u32::MAX).then_some(ThreadId(entry.end_thread));
        let n_threads = entry.n_threads;
        Tables { n_threads, end_thread, events, options, objects, sites, pending }
    }
}

impl<'a> Tables<'a> {
    /// Its events, in order.
    pub fn events(&self) -> impl ExactSizeIterator<Item = Event> + use<'a> {
        self.events.iter().map(|it| decode_event(std::ptr::from_ref(it).cast()))
    }
}

impl PendingEntry {
    /// The op.
    pub fn op(&self) -> Op {
        Op {
            kind: OpKind::from_number(self.kind).unwrap_or(OpKind::Yield),
            flags: Flags(self.flags),
            object: ObjectId(self.object),
            other: ObjectId(self.other),
            site: SiteId(self.site),
            ..Op::default()
        }
    }
}

fn entry(words: &[u64]) -> &BriefEntry {
    assert!(n_words::<BriefEntry>(1) <= words.len(), "bug: an entry was cut off");
    // SAFETY: there are words enough; an entry is of plain integers.
    unsafe { &*words.as_ptr().cast::<BriefEntry>() }
}
