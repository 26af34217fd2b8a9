//! The layout of the shared segment. A change here bumps [`VERSION`].
//!
//! Old reader, new data and the reverse: both sides come from one build (the launcher carries the
//! runtime inside itself), so another version is refused, never guessed at.

mod begin;
mod block;
mod caps;
mod header;
mod offsets;
mod races;
mod steps;
mod tables;

pub use begin::{Begin, Checkpoint};
pub use block::{Entry, FreedEntry, HeapEntry, Summary};
pub use caps::Caps;
pub use header::{Ask, Header, Live, Request, Results};
pub(crate) use offsets::Offsets;
pub(crate) use races::SLOTS_PER_RACE;
pub use races::{HELD_MAX, HeldEntry, RACE_FRAMES_MAX, RaceEntry, RaceSide, Sighting};
pub use steps::{BriefEntry, EnabledSet, PendingEntry};
pub use tables::{
    ModuleEntry, NoteEntry, ObjectEntry, OrderEntry, SiteEntry, StackEntry, ThreadEntry, TrapEntry,
};

/// The first eight bytes of a segment.
pub const MAGIC: u64 = u64::from_le_bytes(*b"RADDLE\0\x01");
/// The version of this layout.
pub const VERSION: u32 = 26;
/// Copies of executions that can wait at the same time.
pub const CHECKPOINTS_MAX: usize = 32;
/// Calls that make up the context of a step.
pub const CONTEXT_CALLS: usize = 5;
/// Frames kept for one stack.
pub const FRAMES_MAX: usize = 64;
/// Bytes kept of what the runtime says before it dies.
pub const LAST_WORDS_MAX: usize = 512;
/// Bytes kept of what an execution says at its end.
pub const MESSAGE_MAX: usize = 4096;
/// Frames kept of the stacks that objects and threads come from.
pub const STACK_DEPTH: usize = 12;
