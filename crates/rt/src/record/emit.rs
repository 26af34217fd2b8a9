//! Events, sites and objects, as they go into the shared segment; and the two digests.
//!
//! The *digest* covers thread, op, object and site of each step in order: equal digests, equal traces.
//! The *class* covers what each step could depend on (Mazurkiewicz, 1977): each event's hash mixes its
//! thread's last and its object's last conflicting event; their sum does not depend on the order of
//! independent steps, so equal classes mean equivalent schedules.

use raddle_machine::Performed;
use raddle_model::{
    Event, Flags, MemoryOrder, ObjectId, Op, OpKind, OpResult, SiteId, ThreadId, hash_bytes, mix,
};
use raddle_trace::{Header, ObjectClass, ObjectEntry, Pair, Segment, SiteEntry};

use crate::record::coverage::{Coverage, Covers, Touches, locked};

/// See the module.
#[derive(Debug)]
pub(crate) struct Emit {
    events: *mut Event,
    mask: u64,
    /// Steps taken.
    pub(crate) n_steps: u64,
    /// Steps of a thread that was alone: no events, but signs of life.
    pub(crate) n_lone_steps: u64,
    pub(crate) n_switches: u64,
    /// The longest delay.
    pub(crate) delay_ns: u64,
    /// Readings of clocks, while there are other threads.
    pub(crate) n_clock_reads: u32,
    /// Threads that have allocated memory, while there are others; a bit set of their numbers modulo 64.
    pub(crate) allocators: u64,
    /// Steps before which another thread could have been chosen.
    pub(crate) n_points: u64,
    pub(crate) digest: u64,
    pub(crate) class: u64,
    /// By thread: the hash of its last event, and how many there were.
    last_of_thread: Vec<(u64, u64)>,
    /// By object.
    past_of_object: Vec<Past>,
    pub(crate) coverage: Coverage,
    /// By object: what it is.
    objects: Vec<ObjectEntry>,
    classes: Vec<ObjectClass>,
    /// By object: is what happens to it a scheduling point, also where that depends?
    exposed: Vec<bool>,
    /// By object: where it begins in memory, if it does. Never leaves the process.
    bases: Vec<usize>,
    sites: SiteTable,
    n_kept_sites: usize,
    /// Where all that is new is written at once, because the execution will be looked at, even if it is
    /// killed.
    live: Option<(Segment, *mut Header)>,
}

/// What there was at some time, of what executions change or add to.
#[derive(Debug)]
pub(crate) struct Mark {
    last_of_thread: Vec<(u64, u64)>,
    past_of_object: Vec<Past>,
    exposed: Vec<bool>,
    n_sites: usize,
}

impl Mark {
    /// Sites that have been numbered since are kept as well.
    pub(crate) fn keep_sites(&mut self, emit: &Emit) {
        self.n_sites = emit.n_sites();
    }
}

/// What has happened to an object.
#[derive(Clone, Copy, Debug)]
struct Past {
    /// The hash of its last write.
    write: u64,
    /// Of all events since.
    all: u64,
    touches: Touches,
}

impl Past {
    /// Nothing yet. Classes are made of what objects are, not of their numbers, which depend on who uses
    /// which first.
    const fn new(identity: u64) -> Past {
        Past { write: identity, all: identity, touches: Touches::NONE }
    }
}

/// Code addresses by number, and the reverse: open addressing, small, for its pages are copied in every
/// execution.
#[derive(Debug)]
struct SiteTable {
    /// Numbers of sites; 0 is free.
    slots: Vec<u32>,
    /// By number.
    known: Vec<KnownSite>,
    room: u32,
}

#[derive(Clone, Copy, Debug)]
struct KnownSite {
    /// By what it is found: its address, or a hash of two.
    key: usize,
    pc: usize,
    entry: SiteEntry,
    /// Of the entry: the same in every execution.
    hash: u64,
    /// No code of the program was found for it.
    is_foreign: bool,
}

impl Emit {
    pub(crate) fn new(segment: &Segment) -> Emit {
        let caps = segment.caps();
        let mut emit = Emit {
            events: segment.events(),
            mask: u64::from(caps.events) - 1,
            n_steps: 0,
            n_lone_steps: 0,
            n_switches: 0,
            delay_ns: 0,
            n_clock_reads: 0,
            allocators: 0,
            n_points: 0,
            digest: 0,
            class: 0,
            last_of_thread: Vec::with_capacity(16),
            past_of_object: Vec::with_capacity(64),
            coverage: Coverage::new(segment),
            objects: Vec::with_capacity(64),
            classes: Vec::with_capacity(64),
            exposed: Vec::with_capacity(64),
            bases: Vec::with_capacity(64),
            sites: SiteTable::new(caps.sites),
            n_kept_sites: 0,
            live: None,
        };
        emit.past_of_object.push(Past::new(0));
        emit.objects.push(ObjectEntry::default());
        emit.classes.push(ObjectClass::Variable);
        emit.exposed.push(true);
        emit.bases.push(0);
        emit
    }

    /// Where the next event goes.
    pub(crate) fn idx(&self) -> usize {
        (self.n_steps & self.mask) as usize
    }

    /// Where the last one is.
    pub(crate) fn last_idx(&self) -> usize {
        (self.n_steps.wrapping_sub(1) & self.mask) as usize
    }

    /// What there is now, for [`Emit::restore`].
    pub(crate) fn mark(&self) -> Mark {
        Mark {
            last_of_thread: self.last_of_thread.clone(),
            past_of_object: self.past_of_object.clone(),
            exposed: self.exposed.clone(),
            n_sites: self.sites.known.len(),
        }
    }

    /// Sites numbered so far.
    pub(crate) fn n_sites(&self) -> usize {
        self.sites.known.len()
    }

    /// Sites that have the same numbers in all executions of the process.
    #[inline]
    pub(crate) fn n_kept_sites(&self) -> usize {
        self.n_kept_sites
    }

    /// Objects numbered so far.
    pub(crate) fn n_objects(&self) -> usize {
        self.objects.len()
    }

    /// Begins another execution, with the sites, objects and threads that there were.
    pub(crate) fn restore(&mut self, mark: &Mark) {
        (self.n_steps, self.n_lone_steps, self.n_switches, self.n_points) = (0, 0, 0, 0);
        self.delay_ns = 0;
        self.n_clock_reads = 0;
        self.allocators = 0;
        (self.digest, self.class) = (0, 0);
        self.last_of_thread.clone_from(&mark.last_of_thread);
        self.past_of_object.clone_from(&mark.past_of_object);
        self.exposed.clone_from(&mark.exposed);
        let n_objects = mark.past_of_object.len();
        self.objects.truncate(n_objects);
        self.classes.truncate(n_objects);
        self.bases.truncate(n_objects);
        self.sites.truncate(mark.n_sites);
        self.n_kept_sites = mark.n_sites;
        self.coverage.restart(mark.last_of_thread.len());
        self.live = None;
    }

    /// The last so many steps that were told, as far as they are kept.
    pub(crate) fn last_events(&self, n_max: usize) -> Vec<Event> {
        let n_kept = (self.n_steps as usize).min(self.mask as usize + 1).min(n_max);
        let first = self.n_steps - n_kept as u64;
        // SAFETY: the mask keeps the index within the area.
        (first..self.n_steps)
            .map(|it| unsafe { *self.events.add((it & self.mask) as usize) })
            .collect()
    }

    /// How many steps were made before a thread's first one that came after the first `begun`; `None` if it has made none
    /// since, or if they are not all kept.
    pub(crate) fn first_step_of(&self, thread: ThreadId, begun: u64) -> Option<u64> {
        if self.mask < self.n_steps - begun {
            return None;
        }
        // SAFETY: the mask keeps the index within the area.
        let is_its =
            |it: &u64| unsafe { (*self.events.add((it & self.mask) as usize)).thread } == thread;
        (begun..self.n_steps).find(is_its)
    }

    /// Writes the event of a step.
    #[inline]
    pub(crate) fn event(&mut self, thread: ThreadId, op: &Op, performed: &Performed, choice: u32) {
        let event = Event::of(thread, op, performed.result, performed.value, choice.checked_sub(1));
        // SAFETY: the mask keeps the index within the area.
        unsafe { *self.events.add((self.n_steps & self.mask) as usize) = event };
        self.n_steps += 1;
        let what =
            u64::from(op.kind as u8) | u64::from(thread.0) << 8 | u64::from(op.object.0) << 32;
        self.digest = mix(self.digest ^ u64::from(op.site.0), what);
        if op.kind == OpKind::Any {
            self.add_choice(thread, choice);
        }
        let covers = Covers::of(op.kind);
        self.add_to_class(thread, op, covers);
        if covers.has(Covers::HOLDS) && self.coverage.follow(thread, op, performed, covers) {
            self.add_lock_pairs(thread, locked(op));
        }
        if let Some((_, header)) = self.live {
            // SAFETY: the header is mapped for as long as the process lives.
            unsafe { publish_hashes(header, self.digest, self.class) };
        }
    }

    /// A number that the schedule has chosen makes another execution, whatever comes of it.
    #[cold]
    fn add_choice(&mut self, thread: ThreadId, choice: u32) {
        self.digest = mix(self.digest, u64::from(choice));
        let (last, _) = &mut self.last_of_thread[thread.idx()];
        *last = mix(*last, u64::from(choice));
    }

    #[inline]
    fn add_to_class(&mut self, thread: ThreadId, op: &Op, covers: Covers) {
        let (last, n_events) = &mut self.last_of_thread[thread.idx()];
        *n_events += 1;
        let mut hash = mix(*last, self.sites.hash(op.site.0) ^ u64::from(op.kind as u8));
        if op.object != ObjectId::NONE {
            let object = &mut self.past_of_object[op.object.idx()];
            if op.kind.is_write() {
                hash = mix(hash, object.all);
                (object.write, object.all) = (hash, hash);
            } else {
                hash = mix(hash, object.write);
                object.all = object.all.wrapping_add(hash);
            }
            if covers.has(Covers::PAIRS)
                && let Some(before) =
                    object.touches.touch(thread, op.site.0, covers.has(Covers::CHANGE))
            {
                let (before, site) = (self.sites.hash(before), self.sites.hash(op.site.0));
                self.coverage.add(Pair::of_sites(before, site));
            }
        }
        if op.other != ObjectId::NONE {
            let other = &mut self.past_of_object[op.other.idx()];
            hash = mix(hash, other.all);
            (other.write, other.all) = (hash, hash);
        }
        *last = hash;
        self.class = self.class.wrapping_add(hash);
    }

    /// A thread holds locks and takes one more: each of those with the new one is a pair.
    #[cold]
    fn add_lock_pairs(&mut self, thread: ThreadId, taken: ObjectId) {
        let held = *self.coverage.held(thread);
        for before in held.before_last() {
            self.coverage.add(Pair::of_locks(self.name_of(*before), self.name_of(taken)));
        }
    }

    /// The value that the last step read, and the size of its access.
    #[inline]
    pub(crate) fn set_value(&mut self, value: u64, size: u8) {
        // SAFETY: the mask keeps the index within the area.
        let event =
            unsafe { &mut *self.events.add((self.n_steps.wrapping_sub(1) & self.mask) as usize) };
        event.value = value;
        event.size = size;
    }

    /// The value that the last step wrote.
    #[cold]
    pub(crate) fn set_written(&mut self, value: u64, size: u8) {
        self.set_value(value, size);
        let idx = self.last_idx();
        // SAFETY: the mask keeps the index within the area.
        let event = unsafe { &mut *self.events.add(idx) };
        event.flags = event.flags.with(Flags::WRITTEN);
    }

    /// The last step was a compare-exchange that did not write: a load, of this order.
    pub(crate) fn set_failed(&mut self, order: MemoryOrder) {
        let idx = self.last_idx();
        // SAFETY: the mask keeps the index within the area.
        let event = unsafe { &mut *self.events.add(idx) };
        event.set_failed(order);
    }

    /// The last step, an atomic access, could be performed in several ways: see [`Event::set_chosen`].
    #[cold]
    pub(crate) fn set_chosen(&mut self, thread: ThreadId, choice: u32, passed: Option<u64>) {
        let idx = self.last_idx();
        // SAFETY: the mask keeps the index within the area.
        unsafe { (*self.events.add(idx)).set_chosen(choice, passed) };
        self.add_choice(thread, choice + 1);
    }

    /// How the last step ended, where the runtime finds out itself.
    pub(crate) fn set_result(&mut self, result: OpResult) {
        let idx = self.last_idx();
        // SAFETY: the mask keeps the index within the area.
        unsafe { (*self.events.add(idx)).result = result };
    }

    pub(crate) fn add_thread(&mut self, thread: ThreadId) {
        let path = u64::from(thread.0);
        self.coverage.add_thread();
        self.last_of_thread.push((mix(path, 1), 0));
    }

    /// A thread that is alone has done something that is no event.
    pub(crate) fn count_lone(&mut self, thread: ThreadId) {
        self.n_lone_steps += 1;
        self.last_of_thread[thread.idx()].1 += 1;
    }

    /// What a thread has done.
    pub(crate) fn n_events_of(&self, thread: ThreadId) -> u32 {
        self.last_of_thread[thread.idx()].1.min(u64::from(u32::MAX)) as u32
    }

    /// Numbers a new object, which begins at `base` if it is memory.
    pub(crate) fn add_object(
        &mut self,
        entry: ObjectEntry,
        class: ObjectClass,
        base: usize,
    ) -> ObjectId {
        let number = self.past_of_object.len() as u32;
        let identity = match entry.region {
            4 => self.last_of_thread.len() as u64,
            5 => u64::from(entry.base),
            _ if entry.name != 0 => mix(entry.name, u64::from(entry.ordinal)),
            _ => u64::from(number),
        };
        self.past_of_object.push(Past::new(mix(identity, u64::from(entry.region))));
        self.objects.push(entry);
        self.classes.push(class);
        self.exposed.push(false);
        self.bases.push(base);
        self.publish_object(ObjectId(number));
        ObjectId(number)
    }

    /// Says which thread a thread's object stands for.
    pub(crate) fn set_object_base(&mut self, object: ObjectId, base: u32) {
        self.objects[object.idx()].base = base;
        self.publish_object(object);
    }

    /// From now on writes all that is new into the segment at once.
    pub(crate) fn go_live(&mut self, segment: Segment, header: *mut Header) {
        self.publish(&segment, header);
        self.live = Some((segment, header));
    }

    pub(crate) fn is_live(&self) -> bool {
        self.live.is_some()
    }

    fn publish_object(&self, object: ObjectId) {
        let Some((segment, header)) = self.live else { return };
        if object.idx() < segment.caps().objects as usize {
            // SAFETY: the area has room for this number; the header is mapped.
            unsafe {
                *segment.objects().add(object.idx()) = self.objects[object.idx()];
                (*header).result.n_objects = (*header).result.n_objects.max(object.0 + 1);
            }
        }
    }

    /// What objects are, by number.
    pub(crate) fn object_entries(&self) -> &[ObjectEntry] {
        &self.objects
    }

    /// Where sites are, by number.
    pub(crate) fn site_entries(&self) -> impl Iterator<Item = SiteEntry> + '_ {
        self.sites.known.iter().map(|it| it.entry)
    }

    /// Writes the tables of sites and objects into the segment: only executions that somebody looks at
    /// need them there.
    pub(crate) fn publish(&self, segment: &Segment, header: *mut Header) {
        let caps = segment.caps();
        let n_objects = self.objects.len().min(caps.objects as usize);
        let n_sites = self.sites.known.len().min(caps.sites as usize);
        // SAFETY: the areas have room for so many; the header is mapped for as long as the process
        // lives.
        unsafe {
            segment.write(segment.objects(), &self.objects[..n_objects]);
            for (idx, site) in self.sites.known[..n_sites].iter().enumerate() {
                *segment.sites().add(idx) = site.entry;
            }
            (*header).result.n_objects = n_objects as u32;
            (*header).result.n_sites = n_sites as u32;
        }
    }

    /// Where an object is; 0 if it is nowhere.
    pub(crate) fn address_of(&self, object: ObjectId) -> usize {
        self.bases.get(object.idx()).copied().unwrap_or_default()
    }

    /// Which bytes of an object an access is to: offset and size. (A range may begin before the object.)
    #[inline]
    pub(crate) fn bytes_of(&self, object: ObjectId, address: usize, size: usize) -> (u64, usize) {
        let base = self.bases[object.idx()];
        let start = address.max(base);
        ((start - base) as u64, (address + size).saturating_sub(start))
    }

    /// The hash of an object's name, the same in every execution.
    pub(crate) fn name_of(&self, object: ObjectId) -> u64 {
        self.objects[object.idx()].name
    }

    /// Is what happens to an object a scheduling point, also where that depends?
    #[inline]
    pub(crate) fn is_exposed(&self, object: ObjectId) -> bool {
        self.exposed[object.idx()]
    }

    pub(crate) fn set_exposed(&mut self, object: ObjectId) {
        self.exposed[object.idx()] = true;
    }

    pub(crate) fn class_of(&self, object: ObjectId) -> ObjectClass {
        self.classes[object.idx()]
    }

    #[inline]
    pub(crate) fn known_site(&self, pc: usize) -> Option<SiteId> {
        self.sites.find(pc)
    }

    pub(crate) fn is_foreign(&self, site: SiteId) -> bool {
        self.sites.known[site.0 as usize].is_foreign
    }

    /// Module and offset of a site.
    pub(crate) fn site_entry(&self, site: SiteId) -> SiteEntry {
        self.sites.known[site.0 as usize].entry
    }

    pub(crate) fn site_hash(&self, site: SiteId) -> u64 {
        self.sites.hash(site.0)
    }

    /// The address of a site; 0 if it is unknown.
    pub(crate) fn site_pc(&self, site: SiteId) -> usize {
        self.sites.known[site.0 as usize].pc
    }

    pub(crate) fn add_site(&mut self, pc: usize, entry: SiteEntry, is_foreign: bool) -> SiteId {
        let hash = hash_bytes(&entry.offset.to_le_bytes()) ^ u64::from(entry.module);
        self.insert_site(KnownSite { key: pc, pc, entry, hash, is_foreign })
    }

    /// Adds a site in the library, reached from another site.
    pub(crate) fn add_library_site(&mut self, key: usize, pc: usize, entry: SiteEntry) -> SiteId {
        let hash = hash_bytes(&entry.offset.to_le_bytes()) ^ u64::from(entry.module);
        let hash = mix(hash, self.sites.hash(entry.via));
        self.insert_site(KnownSite { key, pc, entry, hash, is_foreign: false })
    }

    fn insert_site(&mut self, known: KnownSite) -> SiteId {
        let entry = known.entry;
        let site = self.sites.insert(known);
        if let Some((segment, header)) = self.live
            && site != SiteId(0)
        {
            // SAFETY: sites are numbered up to the area's room; the header is mapped.
            unsafe {
                *segment.sites().add(site.0 as usize) = entry;
                (*header).result.n_sites = site.0 + 1;
            }
        }
        site
    }
}

/// One store each: as one of 16 bytes it would wait for both of the stores that have just been made.
#[inline(always)]
unsafe fn publish_hashes(header: *mut Header, digest: u64, class: u64) {
    // SAFETY: the caller's header is mapped, and nobody refers to it while the execution runs.
    unsafe {
        (&raw mut (*header).result.summary.digest).write_volatile(digest);
        (&raw mut (*header).result.summary.class).write_volatile(class);
    }
}

impl SiteTable {
    fn new(room: u32) -> SiteTable {
        let unknown = KnownSite {
            key: 0,
            pc: 0,
            entry: SiteEntry { module: u32::MAX, ..SiteEntry::default() },
            hash: 0,
            is_foreign: false,
        };
        let mut known = Vec::with_capacity(64);
        known.push(unknown);
        SiteTable { slots: vec![0; 256], known, room }
    }

    #[inline]
    fn hash(&self, site: u32) -> u64 {
        self.known[site as usize].hash
    }

    #[inline]
    fn slot_of(&self, pc: usize) -> usize {
        (pc.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) & (self.slots.len() - 1)
    }

    #[inline]
    fn find(&self, pc: usize) -> Option<SiteId> {
        let mut slot = self.slot_of(pc);
        loop {
            match self.slots[slot] {
                0 => return None,
                site if self.known[site as usize].key == pc => return Some(SiteId(site)),
                _ => slot = (slot + 1) & (self.slots.len() - 1),
            }
        }
    }

    fn insert(&mut self, site: KnownSite) -> SiteId {
        let number = self.known.len() as u32;
        if number >= self.room {
            return SiteId(0);
        }
        if number as usize * 2 > self.slots.len() {
            self.slots = vec![0; self.slots.len() * 4];
            for number in 1..number {
                self.put(number);
            }
        }
        self.known.push(site);
        self.put(number);
        SiteId(number)
    }

    /// Forgets the last sites: those before them have not moved for their sake.
    fn truncate(&mut self, n_sites: usize) {
        while self.known.len() > n_sites {
            let number = self.known.len() as u32 - 1;
            let mut slot = self.slot_of(self.known[number as usize].key);
            while self.slots[slot] != number {
                slot = (slot + 1) & (self.slots.len() - 1);
            }
            self.slots[slot] = 0;
            self.known.pop();
        }
    }

    fn put(&mut self, number: u32) {
        let mut slot = self.slot_of(self.known[number as usize].key);
        while self.slots[slot] != 0 {
            slot = (slot + 1) & (self.slots.len() - 1);
        }
        self.slots[slot] = number;
    }
}
