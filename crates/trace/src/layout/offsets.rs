//! Where each area begins.

use raddle_model::{Event, Interest, Length, OrderAt, Profile, Use};

use super::{
    Caps, EnabledSet, Entry, Header, ModuleEntry, NoteEntry, ObjectEntry, OrderEntry, RaceEntry,
    SLOTS_PER_RACE, Sighting, SiteEntry, StackEntry, Summary, ThreadEntry, TrapEntry,
};
use crate::pair::{PAIRS_MAX, Pair};

/// Byte offsets of the areas, in the order of the segment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Offsets {
    pub(crate) entries: usize,
    pub(crate) summaries: usize,
    pub(crate) prefix: usize,
    pub(crate) shared: usize,
    pub(crate) sites: usize,
    pub(crate) objects: usize,
    pub(crate) threads: usize,
    pub(crate) modules: usize,
    pub(crate) notes: usize,
    pub(crate) pages: usize,
    pub(crate) options: usize,
    pub(crate) lengths: usize,
    pub(crate) interests: usize,
    pub(crate) uses: usize,
    pub(crate) orders: usize,
    pub(crate) pairs: usize,
    pub(crate) races: usize,
    pub(crate) race_slots: usize,
    pub(crate) sightings: usize,
    pub(crate) stacks: usize,
    pub(crate) briefs: usize,
    pub(crate) traps: usize,
    pub(crate) events: usize,
    pub(crate) end: usize,
}

impl Offsets {
    pub(crate) const fn of(caps: &Caps) -> Offsets {
        const fn after(start: usize, count: u32, size: usize) -> usize {
            (start + count as usize * size).next_multiple_of(4096)
        }
        // First what every execution writes.
        let events = size_of::<Header>().next_multiple_of(4096);
        let entries = after(events, caps.events, size_of::<Event>());
        let summaries = after(entries, caps.block, size_of::<Entry>());
        let prefix = after(summaries, caps.block, size_of::<Summary>());
        let shared = after(prefix, caps.prefix, 4);
        let sites = after(shared, caps.shared, 8);
        let objects = after(sites, caps.sites, size_of::<SiteEntry>());
        let threads = after(objects, caps.objects, size_of::<ObjectEntry>());
        let modules = after(threads, caps.threads, size_of::<ThreadEntry>());
        let notes = after(modules, caps.modules, size_of::<ModuleEntry>());
        let pages = after(notes, caps.notes, size_of::<NoteEntry>());
        let options = after(pages, caps.pages, 8);
        let lengths = after(options, caps.events, size_of::<EnabledSet>());
        let interests = after(lengths, Profile::LENGTHS_MAX as u32, size_of::<Length>());
        let uses = after(interests, Profile::INTERESTS_MAX as u32, size_of::<Interest>());
        let orders = after(uses, Profile::USES_MAX as u32, size_of::<Use>());
        let pairs = after(orders, OrderAt::MAX as u32, size_of::<OrderEntry>());
        let races = after(pairs, caps.block * PAIRS_MAX, size_of::<Pair>());
        let race_slots = after(races, caps.races, size_of::<RaceEntry>());
        let sightings = after(race_slots, caps.races * SLOTS_PER_RACE, 4);
        let stacks = after(sightings, caps.sightings, size_of::<Sighting>());
        let briefs = after(stacks, caps.stacks, size_of::<StackEntry>());
        let traps = after(briefs, caps.briefs, 8);
        let end = after(traps, caps.traps, size_of::<TrapEntry>());
        Offsets {
            entries,
            summaries,
            prefix,
            shared,
            sites,
            objects,
            threads,
            modules,
            notes,
            pages,
            options,
            lengths,
            interests,
            uses,
            orders,
            pairs,
            races,
            race_slots,
            sightings,
            stacks,
            briefs,
            traps,
            events,
            end,
        }
    }
}
