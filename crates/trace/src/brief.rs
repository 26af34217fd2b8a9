//! Executions of a search that ended well, one after the other: only what the search wants to know of each, so
//! that a whole block of them is answered for at once.
//!
//! Each begins with a [`BriefEntry`]; its events, options, objects, sites and pending ops follow, each array
//! rounded up to words of eight bytes.

use std::{mem::size_of, sync::Arc};

use raddle_model::{End, Event, Flags, ObjectId, Op, OpKind, SiteId, ThreadId};

use crate::{
    layout::{BriefEntry, ObjectEntry, Options, PendingEntry, SiteEntry, Summary},
    segment::Segment,
    value::{Module, Thread, Trace, decode_event, decode_object, decode_site},
};

/// What there is to be written of an execution, beside its events.
#[derive(Clone, Copy, Debug)]
pub struct Told<'a> {
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
            + n_words::<Options>(self.n_events as usize)
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
    /// There are so many, and every bit pattern is one.
    unsafe fn read<T: Copy>(&mut self, count: usize) -> &[T] {
        // SAFETY: the caller's promise.
        let values = unsafe { std::slice::from_raw_parts(self.0.cast::<T>(), count) };
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
    pub unsafe fn add_brief(&self, told: &Told<'_>) -> bool {
        // SAFETY: the mapping holds a header; the launcher waits.
        let header = unsafe { &mut *self.header() };
        if header.n_events > u64::from(header.caps.events) {
            return false;
        }
        let entry = BriefEntry {
            n_events: header.n_events as u32,
            n_threads: told.n_threads,
            n_objects: told.objects.len() as u32,
            n_sites: told.sites.len() as u32,
            n_pending: told.pending.len() as u32,
            end_thread: told.end_thread.map_or(u32::MAX, |it| it.0),
        };
        let n_words = entry.n_words() as u32;
        if header.caps.briefs < header.n_brief_words.saturating_add(n_words) {
            return false;
        }
        // SAFETY: there is room for the words before it.
        let mut cursor = Cursor(unsafe { self.briefs().add(header.n_brief_words as usize) });
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
        header.n_brief_words += n_words;
        header.n_briefs += 1;
        true
    }

    /// The executions of the block that were added, with their summaries. The server must have answered, so that
    /// nobody writes.
    pub fn read_briefs(&self, summaries: &[Summary], modules: &Arc<[Module]>) -> Vec<Trace> {
        // SAFETY: the mapping holds a header; nobody writes (this function's contract).
        let header = unsafe { &*self.header() };
        let n_all = (header.n_brief_words.min(header.caps.briefs)) as usize;
        let mut at = 0;
        let mut traces = Vec::with_capacity(summaries.len());
        for summary in summaries.iter().take(header.n_briefs as usize) {
            if n_all < at + n_words::<BriefEntry>(1) {
                break;
            }
            // SAFETY: within the area.
            let mut cursor = Cursor(unsafe { self.briefs().add(at) });
            // SAFETY: there is one, of plain integers.
            let entry = unsafe { cursor.read::<BriefEntry>(1) }[0];
            if n_all < at + entry.n_words() {
                break;
            }
            at += entry.n_words();
            // SAFETY: all of it lies within the area, and is plain integers.
            traces.push(unsafe { read(cursor, &entry, summary, modules) });
        }
        traces
    }
}

/// # Safety
///
/// What the entry says follows it.
unsafe fn read(
    mut cursor: Cursor,
    entry: &BriefEntry,
    summary: &Summary,
    modules: &Arc<[Module]>,
) -> Trace {
    let n_events = entry.n_events as usize;
    let events = cursor.0.cast::<Event>();
    let mut trace = Trace {
        // SAFETY: the caller's promise.
        events: (0..n_events).map(|it| decode_event(unsafe { events.add(it) })).collect(),
        modules: Arc::clone(modules),
        end_thread: (entry.end_thread != u32::MAX).then_some(ThreadId(entry.end_thread)),
        end: End::from_numbers(summary.end_kind as u8, summary.end_detail),
        summary: *summary,
        ..Trace::default()
    };
    // SAFETY: the caller's promise.
    cursor.0 = unsafe { cursor.0.add(n_words::<Event>(n_events)) };
    // SAFETY: as above.
    trace.options = unsafe { cursor.read::<Options>(n_events) }.to_vec();
    // SAFETY: as above.
    let objects = unsafe { cursor.read::<ObjectEntry>(entry.n_objects as usize) };
    trace.objects = objects.iter().map(decode_object).collect();
    // SAFETY: as above.
    let sites = unsafe { cursor.read::<SiteEntry>(entry.n_sites as usize) };
    trace.sites = sites.iter().map(decode_site).collect();
    let finished = Thread { is_described: true, is_finished: true, ..Thread::default() };
    trace.threads = vec![finished; entry.n_threads as usize];
    // SAFETY: as above.
    for pending in unsafe { cursor.read::<PendingEntry>(entry.n_pending as usize) } {
        let Some(thread) = trace.threads.get_mut(pending.thread as usize) else { continue };
        thread.is_finished = false;
        thread.is_blocked = pending.is_blocked == 1;
        thread.pending = Op {
            kind: OpKind::from_number(pending.kind).unwrap_or(OpKind::Yield),
            flags: Flags(pending.flags),
            object: ObjectId(pending.object),
            other: ObjectId(pending.other),
            site: SiteId(pending.site),
            ..Op::default()
        };
    }
    trace
}
