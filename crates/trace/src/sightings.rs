//! Races in the segment.
//!
//! A race takes much more room than a number, and a program that has many shows most of them in every execution. So
//! each is written down once in a block, and later executions only say that they have seen it. It is found by its key,
//! in a table of slots that hold numbers of races, counted from 1. A number that no race has any more, because what
//! was told was taken back, is an empty slot.

use raddle_model::{Watch, mix};

use crate::{
    Segment,
    layout::{RaceEntry, SLOTS_PER_RACE, Sighting, SiteEntry},
};

/// Slots that are looked at for a key. Whatever is not found there is written down once more.
const PROBES_MAX: u32 = 64;

/// The same for all races of one pair of sites, whichever came first. Where the earlier site is not known, the kind of
/// memory stands in for it.
pub fn race_key(sites: [&SiteEntry; 2], watch: &Watch) -> u64 {
    let hash = |site: &SiteEntry| mix(u64::from(site.module), site.offset);
    let [first, second] = sites;
    if first.module == u32::MAX {
        let memory = mix(mix(u64::from(watch.region), watch.base), watch.offset);
        return mix(memory, hash(second));
    }
    hash(first).wrapping_add(hash(second))
}

impl Segment {
    /// Begins a block: nothing was told.
    ///
    /// # Safety
    ///
    /// The other side is not using the segment.
    pub unsafe fn forget_races(&self) {
        // SAFETY: the mapping holds a header, and nobody else uses it (this function's contract).
        let header = unsafe { &mut *self.header() };
        if header.result.n_races > 0 {
            // SAFETY: the area has so many slots; as above.
            unsafe { self.race_slots().write_bytes(0, self.n_slots() as usize) };
        }
        (header.result.n_races, header.result.n_sightings) = (0, 0);
    }

    /// The race with this key, if an execution of the block has told it.
    ///
    /// # Safety
    ///
    /// The caller is the running execution, and nobody else uses the segment.
    pub unsafe fn known_race(&self, key: u64) -> Option<u32> {
        // SAFETY: the caller's promise is passed on.
        unsafe { self.slot(key) }.and_then(|it| it.1)
    }

    /// Writes a race down; `None` if there is no room.
    ///
    /// # Safety
    ///
    /// As for [`Segment::known_race`].
    pub unsafe fn add_race(&self, entry: &RaceEntry) -> Option<u32> {
        // SAFETY: the mapping holds a header; only the caller uses it.
        let n_races = unsafe { (*self.header()).result.n_races };
        if self.caps().races <= n_races {
            return None;
        }
        // SAFETY: as above.
        let slot = unsafe { self.slot(entry.key) };
        // SAFETY: the area has room for it, by the check.
        let place = unsafe { self.races().add(n_races as usize) };
        // SAFETY: as above.
        unsafe { place.write(*entry) };
        // SAFETY: as above.
        unsafe { (*self.header()).result.n_races = n_races + 1 };
        if let Some((slot, _)) = slot {
            // SAFETY: one of the area's slots.
            unsafe { *slot = n_races + 1 };
        }
        Some(n_races)
    }

    /// Notes that an execution of the block has shown a race.
    ///
    /// # Safety
    ///
    /// As for [`Segment::known_race`].
    pub unsafe fn see_race(&self, sighting: Sighting) {
        // SAFETY: the mapping holds a header; only the caller uses it.
        let n_sightings = unsafe { (*self.header()).result.n_sightings };
        if n_sightings < self.caps().sightings {
            // SAFETY: the area has room for it, by the check.
            let place = unsafe { self.sightings().add(n_sightings as usize) };
            // SAFETY: as above.
            unsafe { place.write(sighting) };
            // SAFETY: as above.
            unsafe { (*self.header()).result.n_sightings = n_sightings + 1 };
        }
    }

    /// Is there room for so many more races, whether they are known or not?
    ///
    /// # Safety
    ///
    /// As for [`Segment::known_race`].
    pub unsafe fn has_room_for_races(&self, n_more: u32) -> bool {
        let caps = self.caps();
        // SAFETY: the mapping holds a header; only the caller uses it.
        let header = unsafe { &*self.header() };
        n_more <= caps.races.saturating_sub(header.result.n_races)
            && n_more <= caps.sightings.saturating_sub(header.result.n_sightings)
    }

    /// The slot of a key and its race, or the slot that it would have; `None` if there are too many others.
    unsafe fn slot(&self, key: u64) -> Option<(*mut u32, Option<u32>)> {
        // SAFETY: the mapping holds a header; only the caller uses it.
        let n_races = unsafe { (*self.header()).result.n_races }.min(self.caps().races);
        let n_slots = u64::from(self.n_slots());
        let first = mix(key, 0) % n_slots;
        for probe in 0..u64::from(PROBES_MAX).min(n_slots) {
            // SAFETY: below the number of slots.
            let slot = unsafe { self.race_slots().add(((first + probe) % n_slots) as usize) };
            // SAFETY: one of the area's slots.
            let Some(race) = unsafe { *slot }.checked_sub(1).filter(|it| *it < n_races) else {
                return Some((slot, None));
            };
            // SAFETY: so many races are in the area.
            let entry = unsafe { self.races().add(race as usize) };
            // SAFETY: as above.
            if unsafe { (*entry).key } == key {
                return Some((slot, Some(race)));
            }
        }
        None
    }

    fn n_slots(&self) -> u32 {
        self.caps().races * SLOTS_PER_RACE
    }
}

#[cfg(test)]
mod tests {
    use super::race_key;
    use crate::{Caps, RaceEntry, SeenRaces, Segment, Sighting, SiteEntry, protocol::RegionTag};

    /// A segment with room for so many races.
    fn segment(races: u32, sightings: u32) -> Segment {
        let caps = Caps { races, sightings, ..Caps::default() };
        let words = vec![0_u64; Segment::size(&caps).div_ceil(8)].leak();
        // SAFETY: zeroed memory of that size, which stays for ever.
        unsafe { Segment::create(words.as_mut_ptr().cast(), caps) }
    }

    /// As an execution tells a race.
    fn tell(segment: &Segment, execution: u32, key: u64) {
        let entry = RaceEntry { key, ..RaceEntry::default() };
        // SAFETY: nobody else uses the segment.
        let known = unsafe { segment.known_race(key) };
        // SAFETY: as above.
        let race = known.or_else(|| unsafe { segment.add_race(&entry) });
        if let Some(race) = race {
            // SAFETY: as above.
            unsafe { segment.see_race(Sighting { execution, race }) };
        }
    }

    fn seen(segment: &Segment) -> SeenRaces {
        // SAFETY: nobody else uses the segment.
        SeenRaces::read(unsafe { segment.still() })
    }

    /// Each execution with its races' keys.
    fn told(segment: &Segment) -> Vec<(u32, u64)> {
        seen(segment).iter().map(|(execution, it)| (execution, it.key)).collect()
    }

    #[test]
    fn each_race_is_written_once() {
        let segment = segment(128, 1024);
        let keys = 0..100_u64;
        let mut expected = Vec::new();
        for execution in 0..5 {
            for key in keys.clone().filter(|it| execution > 0 || it % 2 == 0) {
                tell(&segment, execution, key);
                expected.push((execution, key));
            }
        }
        assert_eq!(told(&segment), expected);
        assert_eq!(seen(&segment).all.len(), 100);
        // SAFETY: nobody else uses the segment.
        unsafe { segment.forget_races() };
        assert_eq!(told(&segment), []);
        tell(&segment, 0, 7);
        assert_eq!(told(&segment), [(0, 7)]);
    }

    #[test]
    fn what_was_taken_back_is_not_known() {
        let segment = segment(128, 1024);
        for key in 0..10 {
            tell(&segment, 0, key);
        }
        for key in 10..100 {
            tell(&segment, 1, key);
        }
        // SAFETY: nobody else uses the segment.
        let header = unsafe { &mut *segment.header() };
        (header.result.n_races, header.result.n_sightings) = (10, 10);
        for key in (0..100).rev() {
            tell(&segment, 1, key);
        }
        let again = (0..100).rev().map(|key| (1, key));
        let expected: Vec<(u32, u64)> = (0..10).map(|key| (0, key)).chain(again).collect();
        assert_eq!(told(&segment), expected);
    }

    #[test]
    fn a_full_segment_says_so_in_time() {
        let segment = segment(16, 64);
        // SAFETY: nobody else uses the segment.
        let has_room = |n_more: u32| unsafe { segment.has_room_for_races(n_more) };
        assert!(has_room(16) && !has_room(17));
        for key in 0..10 {
            tell(&segment, 0, key);
        }
        assert!(has_room(6) && !has_room(7));
        for execution in 1..6 {
            (0..10).for_each(|key| tell(&segment, execution, key));
        }
        assert!(has_room(4) && !has_room(5));
        for key in 0..100 {
            tell(&segment, 6, key);
        }
        assert_eq!(told(&segment).len(), 64);
    }

    #[test]
    fn keys_know_no_order() {
        let site = |module: u32, offset: u64| SiteEntry { module, offset, ..SiteEntry::default() };
        let (a, b) = (site(0, 1), site(1, 2));
        let watch = |offset: u64| raddle_model::Watch {
            region: RegionTag::Global as u32,
            offset,
            ..Default::default()
        };
        assert_eq!(race_key([&a, &b], &watch(1)), race_key([&b, &a], &watch(2)));
        let unknown = site(u32::MAX, 0);
        assert_ne!(race_key([&unknown, &b], &watch(1)), race_key([&unknown, &b], &watch(2)));
        assert_ne!(race_key([&unknown, &b], &watch(1)), race_key([&a, &b], &watch(1)));
    }
}
