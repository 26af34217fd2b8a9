//! Races, told to the launcher through the segment.

use std::sync::atomic::Ordering::Relaxed;

use raddle_analysis::hb::Conflict;
use raddle_model::{SiteId, Watch, mix};
use raddle_trace::{
    ObjectClass, ObjectEntry, RaceEntry, RaceSide, Sighting, SiteEntry, protocol::RegionTag,
    race_key,
};

use crate::{
    control::Control,
    state::{
        detect::{TOLD_MAX, Touch},
        shadow::State,
    },
};

/// A race that is about to be told.
struct Telling<'a> {
    at: usize,
    touch: &'a Touch,
    conflict: &'a Conflict,
    object: ObjectEntry,
    watch: Watch,
    /// Of the earlier access and the later one.
    sites: [SiteEntry; 2],
}

impl Control {
    /// Tells a race, unless one of the same places was told before in this execution.
    pub(super) fn tell_race(&mut self, at: usize, touch: &Touch, conflict: &Conflict) {
        let site = self.site_of(touch);
        let key = mix(
            u64::from(site.0.min(conflict.earlier.site.0)),
            u64::from(site.0.max(conflict.earlier.site.0)),
        );
        let is_watched = self.memory.shadow.is_watched(self.memory.shadow.cell(at));
        let key = if is_watched { !key } else { key };
        // SAFETY: the header is mapped for as long as the process lives.
        let is_asked = unsafe { (*self.header).request.record_races == 1 };
        if !is_asked
            || !self.process.is_execution
            || self.memory.detect.told.len() >= TOLD_MAX
            || !self.memory.detect.told.insert(key)
        {
            return;
        }
        self.look_again();
        // Whether it is new or not: what is on a stack adds to the execution's tables.
        let mut object = self.describe(at, ObjectClass::Variable);
        self.describe_frame(&mut object, at);
        let earlier = match conflict.earlier.site {
            SiteId(0) => SiteEntry { module: u32::MAX, ..SiteEntry::default() },
            site => self.recorder.emit.site_entry(site),
        };
        let sites = [earlier, self.recorder.emit.site_entry(site)];
        let watch = self.name_of(at, &object);
        let telling = Telling { at, touch, conflict, object, watch, sites };
        self.write_race(&telling, is_watched);
    }

    fn write_race(&mut self, telling: &Telling<'_>, is_watched: bool) {
        let key = race_key(telling.sites.each_ref(), &telling.watch);
        // Stacks and locks are told by the execution's own numbers.
        // SAFETY: this is the running execution.
        let known = (!is_watched).then(|| unsafe { self.segment.known_race(key) }).flatten();
        let race = known.or_else(|| {
            let entry = self.race_entry(key, telling);
            // SAFETY: as above.
            unsafe { self.segment.add_race(&entry) }
        });
        // SAFETY: the header is mapped; the field is atomic.
        let execution = unsafe { (*self.header).live.n_done.load(Relaxed) } as u32;
        if let Some(race) = race {
            // SAFETY: as above.
            unsafe { self.segment.see_race(Sighting { execution, race }) };
        }
    }

    fn race_entry(&mut self, key: u64, telling: &Telling<'_>) -> RaceEntry {
        let Telling { at, touch, conflict, object, watch, sites } = *telling;
        let cell = self.memory.shadow.cell(at);
        // SAFETY: the caller has found a race in the cell.
        let object_id = match unsafe { *cell }.state() {
            State::Variable(object) => object.0,
            _ => 0,
        };
        let mut later = RaceSide {
            thread: self.me.0,
            kind: touch.kind as u8,
            size: touch.size.min(255) as u8,
            shift: (touch.address as isize - at as isize) as i16,
            step: self.recorder.emit.n_steps,
            site: sites[1],
            ..RaceSide::default()
        };
        let mask = conflict.earlier.mask;
        let mut earlier = RaceSide {
            thread: conflict.thread.0,
            kind: conflict.earlier.kind() as u8,
            size: mask.count_ones() as u8,
            shift: mask.trailing_zeros() as i16,
            site: sites[0],
            ..RaceSide::default()
        };
        if self.memory.shadow.is_watched(cell) {
            self.complete_sides(conflict, &mut earlier, &mut later);
        }
        RaceEntry { key, object_id, reserved: 0, object, watch, sides: [earlier, later] }
    }

    /// Memory in the words of a plan.
    fn name_of(&self, at: usize, entry: &ObjectEntry) -> Watch {
        let base = match entry.region {
            1 => self.recorder.modules.of(at).map_or(0, |(_, module)| module.path_hash),
            2 => self.memory.heap.block_of(at).map_or(0, |(_, block)| self.block_hash(&block)),
            3 => u64::from(entry.base),
            _ => return Watch::default(),
        };
        let ordinal = if entry.region == RegionTag::Heap as u8 { entry.ordinal } else { 0 };
        Watch { region: u32::from(entry.region), ordinal, base, offset: entry.offset }
    }
}
