//! Events as bytes: the segment that the program and the launcher share, and what is read out of it.
//!
//! The runtime writes while the program runs; the launcher reads when the execution has ended, however
//! it ended: the segment is shared memory and survives any crash. Nothing in it is an address: sites
//! and globals are module + offset, heap objects are allocation site + ordinal + offset.

#[expect(unsafe_code, reason = "writes and reads the shared segment")]
mod brief;
pub mod history;
mod layout;
mod pair;
pub mod protocol;
mod race;
#[expect(unsafe_code, reason = "maps the shared segment and hands out its parts")]
mod segment;
#[expect(unsafe_code, reason = "writes and reads the shared segment")]
mod sightings;
mod value;

pub use raddle_model::{Common, ObjectClass};

pub use brief::{Briefs, CompactTrace, Tables, ToldInBrief};
pub use layout::{
    Ask, Begin, BriefEntry, CHECKPOINTS_MAX, CONTEXT_CALLS, Caps, Checkpoint, EnabledSet, Entry,
    FRAMES_MAX, FreedEntry, HELD_MAX, Header, HeapEntry, HeldEntry, LAST_WORDS_MAX, Live, MAGIC,
    MESSAGE_MAX, ModuleEntry, NoteEntry, ObjectEntry, OrderEntry, PendingEntry, RACE_FRAMES_MAX,
    RaceEntry, RaceSide, Request, Results, STACK_DEPTH, Sighting, SiteEntry, StackEntry, Summary,
    ThreadEntry, TrapEntry, VERSION,
};
pub use pair::{PAIRS_MAX, Pair};
pub use race::{SeenRace, SeenRaces, SeenSide};
pub use segment::{MapError, Segment, Still};
pub use sightings::race_key;
pub use value::{FrameSpot, Freed, Module, Note, Object, Region, Site, Thread, Trace};
