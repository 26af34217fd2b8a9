//! Races that executions showed.

use raddle_model::Watch;

use super::{ObjectEntry, SiteEntry};

/// Slots for each race in the table that finds races by their key.
pub(crate) const SLOTS_PER_RACE: u32 = 2;
/// Locks kept for one side of a race.
pub const HELD_MAX: usize = 8;
/// Frames kept for one side of a race.
pub const RACE_FRAMES_MAX: usize = 32;

/// A race, as the first execution of the block that showed it did.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct RaceEntry {
    /// The same for all races of one pair of places: see `race_key`.
    pub key: u64,
    /// The number of the memory as an object, or 0.
    pub object_id: u32,
    /// Zero.
    pub reserved: u32,
    /// What the memory is.
    pub object: ObjectEntry,
    /// The same, in the words of a plan.
    pub watch: Watch,
    /// The earlier access and the later one.
    pub sides: [RaceSide; 2],
}

/// One side of a race.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct RaceSide {
    /// Who.
    pub thread: u32,
    /// `OpKind`.
    pub kind: u8,
    /// Bytes accessed.
    pub size: u8,
    /// Where they begin, from the start of the memory that the race is about; may be before it.
    pub shift: i16,
    /// Steps done before it.
    pub step: u64,
    /// Where; its module is `u32::MAX` if that is not known.
    pub site: SiteEntry,
    /// Frames kept.
    pub n_frames: u32,
    /// Locks kept.
    pub n_held: u32,
    /// Sites of the calls that led there, innermost first. Only for memory that is watched.
    pub frames: [u32; RACE_FRAMES_MAX],
    /// Locks that the thread held. Only for memory that is watched.
    pub held: [HeldEntry; HELD_MAX],
}

/// A lock that a thread held.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct HeldEntry {
    /// Which object.
    pub object: u32,
    /// The site where it was taken.
    pub site: u32,
    /// 1: a read lock.
    pub is_shared: u32,
}

/// That an execution showed a race.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Sighting {
    /// Which execution of the block.
    pub execution: u32,
    /// Which race.
    pub race: u32,
}
