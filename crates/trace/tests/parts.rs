//! Every part of a segment: what one side writes, the other reads, and no two parts overlap.

#![expect(unsafe_code, reason = "is both sides of a segment")]
#![expect(clippy::multiple_unsafe_ops_per_block, reason = "a block is what one side does")]

use std::{
    alloc::{Layout, alloc_zeroed, dealloc},
    sync::atomic::Ordering::Relaxed,
};

use raddle_model::{
    BlockSort, Common, End, Escape, Event, Giving, Handlers, ObjectClass, ObjectId, OpKind,
    PickerSpec, Plan, Points, Profile, Record, SiteId, ThreadId, Timeouts,
};
use raddle_trace::{
    Caps, EnabledSet, Entry, FRAMES_MAX, FrameSpot, Freed, FreedEntry, MapError, ModuleEntry,
    NoteEntry, ObjectEntry, PAIRS_MAX, Region, Request, STACK_DEPTH, Segment, SiteEntry,
    StackEntry, Summary, ThreadEntry, Trace, protocol::RegionTag,
};

const CAPS: Caps = Caps {
    block: 3,
    prefix: 5,
    shared: 7,
    events: 8,
    sites: 4,
    objects: 9,
    threads: 2,
    modules: 2,
    notes: 2,
    pages: 3,
    races: 2,
    sightings: 3,
    stacks: 2,
    briefs: 16,
    traps: 2,
};

/// A segment, and the memory that it is in.
struct Both {
    segment: Segment,
    base: *mut u8,
    layout: Layout,
}

impl Both {
    fn new() -> Both {
        let layout = Layout::from_size_align(Segment::size(&CAPS), 4096).expect("a size");
        // SAFETY: the size is not zero.
        let base = unsafe { alloc_zeroed(layout) };
        assert!(!base.is_null());
        // SAFETY: zeroed, and as large as it must be.
        let segment = unsafe { Segment::create(base, CAPS) };
        Both { segment, base, layout }
    }

    /// The same memory, as the other side sees it.
    fn opened(&self) -> Segment {
        // SAFETY: the memory is there until this value is dropped.
        unsafe { Segment::open(self.base, self.layout.size()) }.expect("it is a segment")
    }
}

impl Drop for Both {
    fn drop(&mut self) {
        // SAFETY: allocated with this layout, and nobody uses it any more.
        unsafe { dealloc(self.base, self.layout) };
    }
}

/// Start and size of each area, in bytes.
fn areas(it: &Segment) -> Vec<(usize, usize)> {
    fn area<T>(start: *mut T, count: u32) -> (usize, usize) {
        (start as usize, count as usize * size_of::<T>())
    }
    vec![
        area(it.header(), 1),
        area(it.events(), CAPS.events),
        area(it.options(), CAPS.events),
        area(it.entries(), CAPS.block),
        area(it.summaries(), CAPS.block),
        area(it.prefix(), CAPS.prefix),
        area(it.shared(), CAPS.shared),
        area(it.sites(), CAPS.sites),
        area(it.objects(), CAPS.objects),
        area(it.threads(), CAPS.threads),
        area(it.modules(), CAPS.modules),
        area(it.notes(), CAPS.notes),
        area(it.pages(), CAPS.pages),
        area(it.lengths(), Profile::LENGTHS_MAX as u32),
        area(it.interests(), Profile::INTERESTS_MAX as u32),
        area(it.uses(), Profile::USES_MAX as u32),
        area(it.pairs(), CAPS.block * PAIRS_MAX),
        area(it.races(), CAPS.races),
        area(it.race_slots(), 2 * CAPS.races),
        area(it.sightings(), CAPS.sightings),
        area(it.stacks(), CAPS.stacks),
        area(it.briefs(), CAPS.briefs),
        area(it.traps(), CAPS.traps),
    ]
}

#[test]
fn areas_do_not_overlap_and_both_sides_agree() {
    let both = Both::new();
    let mut all = areas(&both.segment);
    assert_eq!(all, areas(&both.opened()));
    all.sort_unstable();
    let end = both.base as usize + Segment::size(&CAPS);
    let ends = all.iter().skip(1).map(|it| it.0).chain([end]);
    for ((start, size), next) in all.iter().zip(ends) {
        assert!(start + size <= next, "{start:#x} + {size} reaches over {next:#x}");
        assert_eq!(start % 4096, 0);
    }
}

#[test]
fn another_version_is_refused() {
    let both = Both::new();
    let open = |size| {
        // SAFETY: the memory is there.
        unsafe { Segment::open(both.base, size) }.map(|it| it.caps())
    };
    assert_eq!(open(both.layout.size()), Ok(CAPS));
    assert_eq!(open(both.layout.size() - 1), Err(MapError::NotASegment));
    assert_eq!(open(16), Err(MapError::NotASegment));
    // SAFETY: nobody else uses it.
    let header = unsafe { &mut *both.segment.header() };
    header.version += 1;
    assert_eq!(open(both.layout.size()), Err(MapError::Version(header.version)));
    header.magic = 0;
    assert_eq!(open(both.layout.size()), Err(MapError::NotASegment));
}

#[test]
fn a_plan_is_asked_for() {
    let both = Both::new();
    let picker = PickerSpec::Rstest { per_mille: 300, giving: Giving::DEFAULT };
    let mut plan = Plan::new(picker, 42);
    plan.shared = vec![3, 4];
    plan.conditions.timeouts = Timeouts::Any;
    plan.conditions.handlers = Handlers::Ordered;
    plan.conditions.points = Points::All;
    plan.conditions.spurious = true;
    plan.record = Record { options: true, stacks: true, races: true, ..Record::NONE };
    plan.profile.n_choices = 9;
    let entries = [Entry { n_prefix: 2, prefix_at: 1, ..Entry::new(picker, 42) }];
    // SAFETY: nobody else uses it; both fit.
    unsafe {
        (*both.segment.header()).request.n_cpus = 5;
        let before = (*both.segment.header()).request;
        (*both.segment.header()).result.n_notes = 7;
        (*both.segment.header()).live.n_done.store(3, Relaxed);
        (*both.segment.header()).begin_block(Request {
            n_block: 2,
            plan_number: 6,
            ..Request::of(&plan, before)
        });
        both.segment.write(both.segment.entries(), &entries);
        both.segment.write(both.segment.shared(), &plan.shared);
    }
    let other = both.opened();
    // SAFETY: nobody else uses it.
    let (header, entry, shared) = unsafe {
        let shared = other.copy(other.shared(), (*other.header()).request.n_shared as usize);
        (&*other.header(), other.copy(other.entries(), 1)[0], shared)
    };
    let asked = header.request;
    assert_eq!((asked.n_cpus, asked.n_block, asked.plan_number), (5, 2, 6));
    assert_eq!((asked.spurious, asked.record_options, asked.record_races), (1, 2, 1));
    assert_eq!((asked.n_choices, asked.max_steps), (9, plan.conditions.limits.max_steps));
    assert_eq!(asked.timeouts, Timeouts::Any.number());
    assert_eq!(Handlers::from_number(asked.handlers), plan.conditions.handlers);
    assert_eq!(asked.points, Points::All.number());
    assert_eq!(shared, plan.shared);
    assert_eq!(
        (entry.picker(), entry.seed, entry.n_prefix, entry.prefix_at),
        (Some(picker), 42, 2, 1)
    );
    // What the last block left is gone.
    assert_eq!(
        (header.live.n_block, header.live.n_done.load(Relaxed), header.result.n_notes),
        (2, 0, 0)
    );
}

/// An entry for each place that an object can be in, and what is read of it.
fn objects() -> Vec<(ObjectEntry, Region)> {
    let entry = |tag: RegionTag| ObjectEntry {
        class: ObjectClass::Mutex as u8,
        region: tag as u8,
        base: 1,
        offset: 24,
        name: 77,
        ..ObjectEntry::default()
    };
    let heap = ObjectEntry { ordinal: 2, size: 64, thread: 1, stack: 1, ..entry(RegionTag::Heap) };
    let stack =
        ObjectEntry { ordinal: -16_i32 as u32, size: 8, stack: 1, ..entry(RegionTag::Stack) };
    let spot = FrameSpot { function: 1, from_cfa: -16, from_sp: 8 };
    vec![
        (entry(RegionTag::Unknown), Region::Unknown),
        (entry(RegionTag::Global), Region::Global { module: 1, offset: 24 }),
        (
            heap,
            Region::Heap {
                site: SiteId(1),
                ordinal: 2,
                offset: 24,
                size: 64,
                thread: ThreadId(1),
                stack: 1,
                sort: BlockSort::from_number(0),
            },
        ),
        (stack, Region::Stack { thread: ThreadId(1), offset: 24, frame: Some(spot) }),
        (entry(RegionTag::Thread), Region::Thread(ThreadId(1))),
        (entry(RegionTag::Descriptor), Region::Descriptor(1)),
        (ObjectEntry { ordinal: 4, ..entry(RegionTag::Descriptor) }, Region::Pipe([1, 4])),
        (entry(RegionTag::Common), Region::Common(Common::ALL[1])),
        (ObjectEntry { region: 200, ..entry(RegionTag::Unknown) }, Region::Unknown),
    ]
}

#[test]
fn what_an_execution_told_is_read() {
    let both = Both::new();
    let place = SiteEntry { offset: 0x40, module: 0, via: 1 };
    let event =
        Event { kind: OpKind::Lock, thread: ThreadId(1), object: ObjectId(2), ..Event::default() };
    let (kind, detail) = End::Exit(3).to_numbers();
    let mut name = [0; 512];
    name[..6].copy_from_slice(b"/bin/x");
    let mut frames = [SiteEntry::default(); STACK_DEPTH];
    frames[0] = place;
    let mut note =
        NoteEntry { what: Escape::FileLock as u32, count: 4, n_frames: 1, frames: [place; 16] };
    note.n_frames = 2;
    let mut sites = [0; FRAMES_MAX];
    sites[0] = 3;
    let thread = ThreadEntry {
        parent: 0,
        n_frames: 1,
        frames: sites,
        op_kind: OpKind::Lock as u8,
        ..Default::default()
    };
    let objects = objects();
    let entries: Vec<ObjectEntry> = objects.iter().map(|it| it.0).collect();
    let options = EnabledSet {
        enabled: [0, 1].map(ThreadId).into_iter().collect(),
        n_enabled: 2,
        ..EnabledSet::default()
    };
    let it = &both.segment;
    // SAFETY: nobody else uses it; all of it fits.
    unsafe {
        it.write(it.events(), &[event; 8]);
        it.write(it.options(), &[options; 8]);
        it.write(it.sites(), &[place]);
        it.write(it.objects(), &entries);
        it.write(it.threads(), &[ThreadEntry::default(), thread]);
        it.write(it.modules(), &[ModuleEntry { path: name, is_announced: 1 }]);
        it.write(it.stacks(), &[StackEntry { n_frames: 1, reserved: 0, frames }]);
        it.write(it.notes(), &[note]);
        let header = &mut *it.header();
        header.request.record_options = 1;
        header.live.is_found = 1;
        let result = &mut header.result;
        result.n_events = 10;
        (result.n_sites, result.n_objects, result.n_threads) = (1, entries.len() as u32, 2);
        (result.n_modules, result.n_stacks, result.n_notes) = (1, 1, 1);
        result.summary = Summary {
            n_steps: 10,
            end_kind: kind.into(),
            end_detail: detail,
            ..Summary::default()
        };
        (result.is_end_written, result.end_thread, result.end_site, result.end_object) =
            (1, 1, 3, 2);
        result.end_freed = FreedEntry { step: 6, thread: 1, stack: 1 };
        result.message[..2].copy_from_slice(b"ok");
        result.n_message = 2;
        result.set_last_words(&[b'w'; 4096]);
    }
    let opened = both.opened();
    // SAFETY: nobody writes.
    let still = unsafe { opened.still() };
    let trace = Trace::read(still);
    assert_eq!((trace.events.len(), trace.n_dropped, trace.options.len()), (8, 2, 8));
    assert_eq!((trace.events[7], trace.options[7]), (event, options));
    assert_eq!((trace.sites[0].offset, trace.sites[0].module), (0x40, Some(0)));
    for (object, (entry, region)) in trace.objects.iter().zip(&objects) {
        assert_eq!(
            (object.class, object.region, object.name),
            (ObjectClass::Mutex, *region, 77),
            "{entry:?}"
        );
    }
    assert_eq!(trace.threads.len(), 2);
    assert!(!trace.threads[0].is_described);
    assert_eq!(
        (trace.threads[1].pending.kind, trace.threads[1].parent),
        (OpKind::Lock, Some(ThreadId(0)))
    );
    assert_eq!(trace.threads[1].frames, [SiteId(3)]);
    assert_eq!((trace.modules[0].path.as_str(), trace.modules[0].is_announced), ("/bin/x", true));
    assert_eq!(trace.stacks[0].len(), 1);
    assert_eq!(
        (trace.notes[0].what, trace.notes[0].count, trace.notes[0].frames.len()),
        (Escape::FileLock, 4, 2)
    );
    assert_eq!((trace.end, trace.end_thread), (Some(End::Exit(3)), Some(ThreadId(1))));
    assert_eq!((trace.end_site, trace.end_object), (SiteId(3), ObjectId(2)));
    assert_eq!(trace.freed, Some(Freed { thread: ThreadId(1), stack: 1, step: 6 }));
    assert_eq!((trace.message.as_str(), trace.summary.n_steps), ("ok", 10));
    assert!(still.is_found());
    assert_eq!(still.last_words().map(|it| it.len()), Some(raddle_trace::LAST_WORDS_MAX));
    // SAFETY: nobody else uses it.
    unsafe { (*both.segment.header()).result.forget_end() };
    let trace = Trace::read(still);
    assert_eq!(
        (trace.end, trace.end_thread, trace.freed, trace.events.len()),
        (None, None, None, 0)
    );
}
