//! Races that executions show while they run, as owned values.

use raddle_model::{ObjectId, OpKind, SiteId, ThreadId, Watch, mix};

use crate::{
    Object, Segment, Site,
    layout::{RaceEntry, RaceSide},
};

/// A race that an execution of a block showed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeenRace {
    /// Which execution of the block.
    pub execution: u32,
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

impl SeenRace {
    /// The same for all races of one pair of sites, whichever came first. Where the earlier site is not
    /// known, the kind of memory stands in for it.
    pub fn key(&self) -> u64 {
        let hash = |site: Site| mix(u64::from(site.module.unwrap_or(u32::MAX)), site.offset);
        let [first, second] = self.sides.each_ref().map(|it| it.site);
        if first.module.is_none() {
            let memory = mix(mix(u64::from(self.watch.region), self.watch.base), self.watch.offset);
            return mix(memory, hash(second));
        }
        hash(first).wrapping_add(hash(second))
    }

    /// Reads the races of the last block out of a segment.
    ///
    /// The server must have answered, so that nobody writes.
    #[expect(unsafe_code, reason = "reads the shared segment")]
    pub fn read_all(segment: &Segment) -> Vec<SeenRace> {
        // SAFETY: the mapping holds a header; nobody writes (this function's contract).
        let n_races = unsafe { (*segment.header()).n_races }.min(segment.caps().races);
        // SAFETY: cut to the area's room; nobody writes.
        let entries = unsafe { segment.copy(segment.races(), n_races as usize) };
        entries.iter().map(decode_race).collect()
    }
}

fn decode_race(entry: &RaceEntry) -> SeenRace {
    SeenRace {
        execution: entry.execution,
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
