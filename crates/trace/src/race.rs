//! Races that executions show while they run, as owned values.

use std::sync::Arc;

use raddle_model::{ObjectId, OpKind, SiteId, ThreadId, Watch};

use crate::{
    Object, Site, Still,
    layout::{RaceEntry, RaceSide, Sighting},
};

/// The races that executions of a block showed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SeenRaces {
    /// Each of them, as the first execution that showed it did; those in memory that was watched as each did.
    pub all: Arc<[SeenRace]>,
    /// Who showed which of them. Invariant: none is beyond `all`.
    pub sightings: Vec<Sighting>,
}

/// A race that an execution of a block showed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeenRace {
    /// The same for all races of one pair of places: see [`crate::race_key`].
    pub key: u64,
    /// What the memory is.
    pub object: Object,
    /// Its number as an object of the trace, or none.
    pub object_id: ObjectId,
    /// How a plan says that it is to be watched.
    pub watch: Watch,
    /// The earlier access and the later one.
    pub sides: [SeenSide; 2],
}

/// One side of such a race.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeenSide {
    /// Who.
    pub thread: ThreadId,
    /// What.
    pub kind: OpKind,
    /// Bytes accessed; 255 for more than that.
    pub size: u8,
    /// Where they begin, from the start of the memory.
    pub shift: i16,
    /// Steps done before it.
    pub step: u64,
    /// Where; unknown for what a thread did to memory that was its own then, unless it was watched.
    pub site: Site,
    /// The calls that led there, innermost first, if the memory was watched.
    pub frames: Vec<SiteId>,
    /// The locks that the thread held, where each was taken, and whether for reading, if it was watched.
    pub held: Vec<(ObjectId, SiteId, bool)>,
}

impl SeenRaces {
    /// Reads the races of the last block out of a segment.
    #[expect(unsafe_code, reason = "reads the shared segment")]
    pub fn read(segment: Still<'_>) -> SeenRaces {
        let (caps, header) = (segment.caps(), segment.told());
        let n_races = header.result.n_races.min(caps.races);
        let n_sightings = header.result.n_sightings.min(caps.sightings);
        // SAFETY: cut to the area's room; nobody writes.
        let entries = unsafe { segment.copy(segment.races(), n_races as usize) };
        // SAFETY: as above.
        let mut sightings = unsafe { segment.copy(segment.sightings(), n_sightings as usize) };
        sightings.retain(|it| it.race < n_races);
        SeenRaces { all: entries.iter().map(decode_race).collect(), sightings }
    }

    /// Each execution of the block with each race that it showed, in order.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &SeenRace)> {
        self.sightings.iter().map(|it| (it.execution, &self.all[it.race as usize]))
    }

    /// Those of one execution, as if it had been the only one.
    pub fn of(&self, execution: u32) -> SeenRaces {
        let start = self.sightings.partition_point(|it| it.execution < execution);
        let own = self.sightings[start..].iter().take_while(|it| it.execution == execution);
        let sightings = own.map(|it| Sighting { execution: 0, ..*it }).collect();
        SeenRaces { all: Arc::clone(&self.all), sightings }
    }
}

fn decode_race(entry: &RaceEntry) -> SeenRace {
    SeenRace {
        key: entry.key,
        object: Object::from(&entry.object),
        object_id: ObjectId(entry.object_id),
        watch: entry.watch,
        sides: entry.sides.each_ref().map(decode_side),
    }
}

fn decode_side(entry: &RaceSide) -> SeenSide {
    let n_frames = (entry.n_frames as usize).min(entry.frames.len());
    let n_held = (entry.n_held as usize).min(entry.held.len());
    let held = entry.held[..n_held].iter();
    SeenSide {
        thread: ThreadId(entry.thread),
        kind: OpKind::from_number(entry.kind).unwrap_or(OpKind::Read),
        size: entry.size,
        shift: entry.shift,
        step: entry.step,
        site: Site::from(&entry.site),
        frames: entry.frames[..n_frames].iter().map(|it| SiteId(*it)).collect(),
        held: held.map(|it| (ObjectId(it.object), SiteId(it.site), it.is_shared != 0)).collect(),
    }
}
