//! What one execution left behind, as owned values.

use std::sync::{Arc, atomic::Ordering};

use raddle_model::{
    Allocator, BlockSort, Common, End, Escape, Event, Flags, HeapFault, History, MemoryLimit,
    ObjectClass, ObjectId, Op, OpKind, OpResult, SiteId, Standstill, ThreadId, mix,
};

use crate::{
    history,
    layout::{EnabledSet, HeapEntry, ObjectEntry, SiteEntry, StackEntry, Summary, ThreadEntry},
    protocol::RegionTag,
    race::{SeenRace, SeenRaces},
    segment::Still,
};

/// The events of one execution, in order, with the tables that explain their numbers.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    /// The last events; see `n_dropped`.
    pub events: Vec<Event>,
    /// Who could have gone on at each of those, if the plan asked for it; else empty.
    pub options: Vec<EnabledSet>,
    /// Earlier events that were not kept.
    pub n_dropped: u64,
    /// Sites by number; entry 0 is unknown.
    pub sites: Vec<Site>,
    /// Objects by number; entry 0 is none.
    pub objects: Vec<Object>,
    /// Threads by number.
    pub threads: Vec<Thread>,
    /// Executable and libraries by number.
    pub modules: Arc<[Module]>,
    /// Calls that led somewhere, innermost first, by number; entry 0 is unknown.
    pub stacks: Vec<Vec<Site>>,
    /// What could not be controlled.
    pub notes: Vec<Note>,
    /// Races that showed while it ran, if the plan asked for them.
    pub races: Vec<SeenRace>,
    /// How it ended; `None` if the runtime wrote nothing (killed from outside).
    pub end: Option<End>,
    /// Who ended it.
    pub end_thread: Option<ThreadId>,
    /// Where.
    pub end_site: SiteId,
    /// The object that the end is about, or none.
    pub end_object: ObjectId,
    /// If that is memory which was freed before: who did it, and when.
    pub freed: Option<Freed>,
    /// If it is a heap block that is used as it must not be: how.
    pub heap_fault: Option<HeapFault>,
    /// The failed expression, the exception's type…
    pub message: String,
    /// The operations that no order explains, if it ended for that.
    pub history: Option<History>,
    /// Why it was ended, if it did not come to an end of its own.
    pub standstill: Standstill,
    /// The limit that it exceeded, if it was ended for that.
    pub memory_limit: Option<MemoryLimit>,
    /// Counts and digests.
    pub summary: Summary,
}

/// The free of memory that was used afterwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Freed {
    /// Who freed it.
    pub thread: ThreadId,
    /// The calls that led there, by number; 0 if they are not known.
    pub stack: u32,
    /// Steps that were made until then.
    pub step: u64,
}

/// A place in the code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Site {
    /// The module, if it is known.
    pub module: Option<u32>,
    /// Offset in the module: the address in the file's own address space.
    pub offset: u64,
    /// Code of the program's language's library: the call in the program's own code that led there.
    pub via: Option<SiteId>,
}

/// Where an object lives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Region {
    /// Not known.
    #[default]
    Unknown,
    /// A global of a module.
    Global {
        /// Which module.
        module: u32,
        /// Address in the file's own address space.
        offset: u64,
    },
    /// Allocated memory.
    Heap {
        /// Where it was allocated.
        site: SiteId,
        /// Which allocation of that site, from 0.
        ordinal: u32,
        /// Bytes into the block.
        offset: u64,
        /// Size of the block.
        size: u32,
        /// Who allocated it.
        thread: ThreadId,
        /// The calls that did, as a number in [`Trace::stacks`].
        stack: u32,
        /// What sort of block it is.
        sort: BlockSort,
    },
    /// A thread's stack.
    Stack {
        /// Whose.
        thread: ThreadId,
        /// Bytes below its start.
        offset: u64,
        /// The frame that it is in, if that is known.
        frame: Option<FrameSpot>,
    },
    /// The thread itself.
    Thread(ThreadId),
    /// A file descriptor.
    Descriptor(u32),
    /// Both ends of a pipe.
    Pipe([u32; 2]),
    /// In the C library or the kernel.
    Common(Common),
}

/// A place in the frame of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FrameSpot {
    /// The function, as a stack of one frame: a number in [`Trace::stacks`].
    pub function: u32,
    /// Bytes above the end of the frame (the word above its return address); below it if negative.
    pub from_cfa: i32,
    /// Bytes above the stack pointer that the function's body has.
    pub from_sp: i32,
}

/// What an object is and where it lives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Object {
    /// What it is.
    pub class: ObjectClass,
    /// Where it lives.
    pub region: Region,
    /// The hash of its name, the same in every execution and for all objects of one kind; 0 if it has
    /// none.
    pub name: u64,
}

/// A thread, and what it was doing at the end.
#[derive(Clone, Debug, Default)]
pub struct Thread {
    /// Its creator.
    pub parent: Option<ThreadId>,
    /// Where it was created.
    pub created_at: SiteId,
    /// The calls that created it, as a number in [`Trace::stacks`].
    pub creation: u32,
    /// The function that it runs.
    pub start: Site,
    /// Its name, or empty.
    pub name: String,
    /// Is the rest known? Not if the execution was killed from outside.
    pub is_described: bool,
    /// Has it finished?
    pub is_finished: bool,
    /// Its events, also those that were not kept; and what it did while it was alone after there had been
    /// another.
    pub n_events: u32,
    /// Was its pending op impossible at the end?
    pub is_blocked: bool,
    /// What it was about to do.
    pub pending: Op,
    /// Who holds what it waits for, and where each took it.
    pub holders: Vec<(ThreadId, SiteId)>,
    /// Sites of the calls that led there, innermost first.
    pub frames: Vec<SiteId>,
}

/// An executable or library.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Module {
    /// Its path.
    pub path: String,
    /// Is each of its atomic instructions announced? Else code without hooks may order threads unseen.
    pub is_announced: bool,
}

/// Something that Raddle could not control.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// What.
    pub what: Escape,
    /// How often.
    pub count: u32,
    /// Where, innermost first.
    pub frames: Vec<Site>,
}

impl Trace {
    /// The hash of a site that pickers know it by.
    pub fn site_hash(&self, site: SiteId) -> u64 {
        let site = self.sites.get(site.0 as usize).copied().unwrap_or_default();
        mix(u64::from(site.module.unwrap_or(u32::MAX)), site.offset)
    }

    /// Reads the last execution out of a segment.
    #[expect(unsafe_code, reason = "reads the shared segment")]
    pub fn read(segment: Still<'_>) -> Trace {
        let (caps, header) = (segment.caps(), segment.told());
        let room = |count: u32, cap: u32| count.min(cap) as usize;
        let n_kept = header.result.n_events.min(u64::from(caps.events));
        let mask = u64::from(caps.events) - 1;
        let steps = header.result.n_events - n_kept..header.result.n_events;
        let events = steps
            .clone()
            // SAFETY: the index is below the area's room, by the mask.
            .map(|step| decode_event(unsafe { segment.events().add((step & mask) as usize) }))
            .collect();
        let options = steps
            .filter(|_| header.request.record_options > 0)
            // SAFETY: as above; the two areas have the same room.
            .map(|step| unsafe { segment.options().add((step & mask) as usize) })
            // SAFETY: within the area; nobody writes.
            .map(|it| unsafe { it.read() })
            .collect();
        // SAFETY: counts are cut to the areas' room; nobody writes.
        let sites =
            unsafe { segment.copy(segment.sites(), room(header.result.n_sites, caps.sites)) };
        // SAFETY: as above.
        let objects =
            unsafe { segment.copy(segment.objects(), room(header.result.n_objects, caps.objects)) };
        // SAFETY: as above.
        let threads =
            unsafe { segment.copy(segment.threads(), room(header.result.n_threads, caps.threads)) };
        // SAFETY: as above.
        let notes =
            unsafe { segment.copy(segment.notes(), room(header.result.n_notes, caps.notes)) };
        // SAFETY: as above.
        let stacks =
            unsafe { segment.copy(segment.stacks(), room(header.result.n_stacks, caps.stacks)) };
        // Of the block's races, those of its last execution.
        let last = header.live.n_done.load(Ordering::Relaxed).saturating_sub(1) as u32;
        let races = SeenRaces::read(segment).of(last);
        let summary = header.result.summary;
        let message = &header.result.message
            [..(header.result.n_message as usize).min(header.result.message.len())];
        let end = End::from_numbers(summary.end_kind as u8, summary.end_detail)
            .filter(|_| header.result.is_end_written == 1);
        let history = (end == Some(End::NotLinearizable)).then(|| history::decode(message));
        Trace {
            events,
            options,
            n_dropped: header.result.n_events - n_kept,
            sites: sites.iter().map(Site::from).collect(),
            objects: objects.iter().map(Object::from).collect(),
            threads: threads.iter().map(decode_thread).collect(),
            modules: segment.read_modules(),
            stacks: stacks.iter().map(decode_stack).collect(),
            notes: notes
                .iter()
                .map(|it| Note {
                    what: u8::try_from(it.what)
                        .ok()
                        .and_then(Escape::from_number)
                        .unwrap_or_default(),
                    count: it.count,
                    frames: it.frames[..(it.n_frames as usize).min(it.frames.len())]
                        .iter()
                        .map(Site::from)
                        .collect(),
                })
                .collect(),
            races: races.iter().map(|it| it.1.clone()).collect(),
            end,
            end_thread: (header.result.end_thread != u32::MAX)
                .then_some(ThreadId(header.result.end_thread)),
            end_site: SiteId(header.result.end_site),
            end_object: ObjectId(header.result.end_object),
            freed: (header.result.end_freed.thread != u32::MAX).then_some(Freed {
                thread: ThreadId(header.result.end_freed.thread),
                stack: header.result.end_freed.stack,
                step: header.result.end_freed.step,
            }),
            heap_fault: heap_fault(&header.result.end_heap),
            message: match &history {
                Some(_) => String::new(),
                None => String::from_utf8_lossy(message).into_owned(),
            },
            history,
            standstill: Standstill::default(),
            memory_limit: None,
            summary,
        }
    }
}

impl Still<'_> {
    /// Executable and libraries by number.
    #[expect(unsafe_code, reason = "reads the shared segment")]
    pub fn read_modules(&self) -> Arc<[Module]> {
        let n_modules = self.told().result.n_modules.min(self.caps().modules);
        // SAFETY: cut to the area's room.
        let modules = unsafe { self.copy(self.modules(), n_modules as usize) };
        modules
            .iter()
            .map(|it| Module { path: text(&it.path), is_announced: it.is_announced == 1 })
            .collect()
    }
}

/// Enums in shared memory are decoded from their numbers, never believed.
#[expect(unsafe_code, reason = "reads the shared segment")]
pub(crate) fn decode_event(event: *const Event) -> Event {
    // SAFETY: an event is 32 bytes, aligned to 8, without padding (asserted below); integers are
    // always valid.
    let words = unsafe { event.cast::<[u32; 8]>().read() };
    let [kind, flags, result, size] = words[0].to_le_bytes();
    Event {
        kind: OpKind::from_number(kind).unwrap_or(OpKind::Yield),
        flags: Flags(flags),
        result: OpResult::from_number(result).unwrap_or_default(),
        size,
        thread: ThreadId(words[1]),
        object: ObjectId(words[2]),
        other: ObjectId(words[3]),
        site: SiteId(words[4]),
        detail: words[5],
        value: u64::from(words[6]) | u64::from(words[7]) << 32,
    }
}

const _: () = {
    assert!(size_of::<Event>() == 32);
    assert!(std::mem::offset_of!(Event, thread) == 4);
    assert!(std::mem::offset_of!(Event, value) == 24);
};

impl From<&SiteEntry> for Site {
    fn from(entry: &SiteEntry) -> Site {
        Site {
            module: (entry.module != u32::MAX).then_some(entry.module),
            offset: entry.offset,
            via: (entry.via != 0).then_some(SiteId(entry.via)),
        }
    }
}

/// What a program has written over is no fault.
fn heap_fault(entry: &HeapEntry) -> Option<HeapFault> {
    let HeapEntry { offset, size, is_write, allocated, freed } = *entry;
    if size > 0 {
        return Some(HeapFault::Outside { is_write: is_write == 1, size, offset });
    }
    let family = |number: u16| u8::try_from(number).ok().and_then(Allocator::from_number);
    let (allocated, freed) = (family(allocated)?, family(freed)?);
    (allocated != freed).then_some(HeapFault::Mismatch { allocated, freed })
}

fn decode_stack(entry: &StackEntry) -> Vec<Site> {
    let n_frames = (entry.n_frames as usize).min(entry.frames.len());
    entry.frames[..n_frames].iter().map(Site::from).collect()
}

impl From<&ObjectEntry> for Object {
    fn from(entry: &ObjectEntry) -> Object {
        let class = ObjectClass::ALL.get(entry.class as usize).copied().unwrap_or_default();
        let region = match RegionTag::from_number(entry.region.into()) {
            RegionTag::Global => Region::Global { module: entry.base, offset: entry.offset },
            RegionTag::Heap => Region::Heap {
                site: SiteId(entry.base),
                ordinal: entry.ordinal,
                offset: entry.offset,
                size: entry.size,
                thread: ThreadId(entry.thread),
                stack: entry.stack,
                sort: BlockSort::from_number(entry.sort),
            },
            RegionTag::Stack => Region::Stack {
                thread: ThreadId(entry.base),
                offset: entry.offset,
                frame: (entry.stack != 0).then_some(FrameSpot {
                    function: entry.stack,
                    from_cfa: entry.ordinal as i32,
                    from_sp: entry.size as i32,
                }),
            },
            RegionTag::Thread => Region::Thread(ThreadId(entry.base)),
            RegionTag::Descriptor if entry.ordinal != 0 => {
                Region::Pipe([entry.base, entry.ordinal])
            }
            RegionTag::Descriptor => Region::Descriptor(entry.base),
            RegionTag::Common => Common::ALL
                .get(entry.base as usize)
                .map_or(Region::Unknown, |it| Region::Common(*it)),
            RegionTag::Unknown => Region::Unknown,
        };
        Object { class, region, name: entry.name }
    }
}

fn decode_thread(entry: &ThreadEntry) -> Thread {
    let holders = entry
        .holders
        .iter()
        .zip(entry.held_since)
        .filter(|(holder, _)| **holder != u32::MAX)
        .map(|(holder, site)| (ThreadId(*holder), SiteId(site)))
        .collect();
    Thread {
        parent: (entry.parent != u32::MAX).then_some(ThreadId(entry.parent)),
        created_at: SiteId(entry.created_at),
        creation: entry.creation,
        start: Site::from(&entry.start),
        name: text(&entry.name),
        is_described: entry.op_kind != ThreadEntry::UNKNOWN,
        is_finished: entry.is_finished == 1,
        n_events: entry.n_events,
        is_blocked: entry.is_blocked == 1,
        pending: Op {
            kind: OpKind::from_number(entry.op_kind).unwrap_or(OpKind::Yield),
            flags: Flags(entry.op_flags),
            object: ObjectId(entry.object),
            other: ObjectId(entry.other),
            site: SiteId(entry.site),
            ..Op::default()
        },
        holders,
        frames: entry.frames[..(entry.n_frames as usize).min(entry.frames.len())]
            .iter()
            .map(|site| SiteId(*site))
            .collect(),
    }
}

fn text(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|it| *it == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}
