//! The layout of the shared segment. A change here bumps [`VERSION`].
//!
//! Old reader, new data and the reverse: both sides come from one build (the launcher carries the
//! runtime inside itself), so another version is refused, never guessed at.

use std::sync::atomic::{AtomicI32, AtomicU32, AtomicU64};

use raddle_model::{Event, Interest, Length, PickerSpec, Profile, ThreadId, Use, Watch};

use crate::pair::{PAIRS_MAX, Pair};

/// The first eight bytes of a segment.
pub const MAGIC: u64 = u64::from_le_bytes(*b"RADDLE\0\x01");
/// The version of this layout.
pub const VERSION: u32 = 19;
/// Copies of executions that can wait at the same time.
pub const CHECKPOINTS_MAX: usize = 32;
/// Calls that make up the context of a step.
pub const CONTEXT_CALLS: usize = 5;
/// Frames kept for one stack.
pub const FRAMES_MAX: usize = 64;
/// Bytes kept of what the runtime says before it dies.
pub const LAST_WORDS_MAX: usize = 512;
/// Frames kept of the stacks that objects and threads come from.
pub const STACK_DEPTH: usize = 12;

/// How many entries each area has room for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Caps {
    /// Executions in one block.
    pub block: u32,
    /// Choices in a prefix.
    pub prefix: u32,
    /// Names of shared variables, known and found.
    pub shared: u32,
    /// Events kept; older ones are overwritten. A power of two.
    pub events: u32,
    /// Sites.
    pub sites: u32,
    /// Objects described; further ones are numbered without description.
    pub objects: u32,
    /// Threads described.
    pub threads: u32,
    /// Modules.
    pub modules: u32,
    /// Notes of what could not be controlled.
    pub notes: u32,
    /// Pages that executions write.
    pub pages: u32,
    /// Races that the executions of a block show, each once.
    pub races: u32,
    /// Which execution of a block showed which of them.
    pub sightings: u32,
    /// Stacks that objects and threads come from.
    pub stacks: u32,
    /// Words of eight bytes for executions that are told in brief.
    pub briefs: u32,
    /// Instructions that are to be announced.
    pub traps: u32,
}

impl Default for Caps {
    fn default() -> Caps {
        Caps {
            block: 4096,
            prefix: 1 << 20,
            shared: 1 << 16,
            events: 1 << 15, // a megabyte: it stays in the processor's cache
            sites: 1 << 16,
            objects: 1 << 16,
            threads: 1 << 12,
            modules: 256,
            notes: 64,
            pages: 1 << 12,
            races: 1 << 12,
            sightings: 1 << 16,
            stacks: 1 << 13,
            briefs: 1 << 17,
            traps: 1 << 12,
        }
    }
}

/// What one execution of a block is to do differently from the others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Entry {
    /// The execution's seed.
    pub seed: u64,
    /// The picker's number: see `PickerSpec::to_numbers`.
    pub picker: u32,
    /// Choices in its prefix.
    pub n_prefix: u32,
    /// The picker's parameters.
    pub params: [u64; 2],
    /// Where its prefix begins in the area. The launcher fills in both when it writes a block.
    pub prefix_at: u64,
}

impl Entry {
    /// An execution with this picker and seed.
    pub const fn new(picker: PickerSpec, seed: u64) -> Entry {
        let (number, params) = picker.to_numbers();
        Entry { seed, picker: number, n_prefix: 0, params, prefix_at: 0 }
    }

    /// Its picker; `None` if the numbers are no picker's.
    pub const fn picker(&self) -> Option<PickerSpec> {
        PickerSpec::from_numbers(self.picker, self.params)
    }
}

/// How one execution of a block went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Summary {
    /// Steps taken.
    pub n_steps: u64,
    /// Scheduling points among them.
    pub n_points: u64,
    /// Switches between threads.
    pub n_switches: u64,
    /// The digest of the whole trace: thread, op, object and site of each step, in order.
    pub digest: u64,
    /// The digest of its Mazurkiewicz class: equal for traces that differ in independent steps only.
    pub class: u64,
    /// Threads that ran.
    pub n_threads: u32,
    /// The most threads alive at once.
    pub n_live_max: u32,
    /// The end, as `End::to_numbers`; kind 0 if nothing was written.
    pub end_kind: u32,
    /// Its detail.
    pub end_detail: i32,
    /// Operations that could not be controlled.
    pub n_uncontrolled: u32,
    /// The first step at which the prefix could not be followed, plus one; 0 if it could.
    pub diverged_at: u32,
    /// Pairs that it covered, in the area of pairs after those of the executions before it.
    pub n_pairs: u32,
    /// Accesses to variables that were no steps, because there were too many.
    pub n_thinned: u32,
    /// Its longest delay, in microseconds (`Event::delay_ns`).
    pub delay_us: u32,
    /// Readings of clocks, while there were other threads.
    pub n_clock_reads: u32,
    /// Threads that have allocated memory, while there were others.
    pub n_allocators: u32,
}

impl Summary {
    /// More steps than an execution can have.
    const IMPLAUSIBLE: u64 = 1 << 48;

    /// Cuts counts that only a program which wrote over them can have left, so that they can be added up.
    pub fn make_plausible(&mut self) {
        for count in [&mut self.n_steps, &mut self.n_points, &mut self.n_switches] {
            *count = (*count).min(Summary::IMPLAUSIBLE);
        }
    }
}

/// The start of the segment.
#[derive(Debug)]
#[repr(C)]
pub struct Header {
    /// [`MAGIC`].
    pub magic: u64,
    /// [`VERSION`].
    pub version: u32,
    /// 0: fibers, 1: kernel threads.
    pub carrier: u32,
    /// Room in the areas.
    pub caps: Caps,
    /// 1: executions write down who could have gone on at each step; 2: and which calls led there.
    pub record_options: u32,
    /// Which steps are scheduling points, as `Points::number`.
    pub points: u32,
    /// 1: a process serves one execution only.
    pub is_fresh: u32,
    /// Pages that executions are known to write.
    pub n_pages: u32,
    /// 1: executions look for races.
    pub record_races: u32,
    /// Races that the block's executions showed so far, each once.
    pub n_races: u32,
    /// How often executions showed one of them.
    pub n_sightings: u32,
    /// Memory to be watched.
    pub watch: Watch,

    // What to do: written by the launcher before each block.
    /// Executions in the block.
    pub n_block: u32,
    /// 1: of executions that end well, only what a search wants to know is told ([`BriefEntry`]).
    pub is_brief: u32,
    /// Names known to be shared, at the start of the area.
    pub n_shared: u32,
    /// When timed waits may time out although others can run: see `Timeouts::number`.
    pub timeouts: u32,
    /// 1: waits may end spuriously.
    pub spurious: u32,
    /// Where handlers of signals run: see `Handlers::number`.
    pub handlers: u32,
    /// 1: a non-zero exit code does not end the block.
    pub exit_is_fine: u32,
    /// More steps than this end the execution.
    pub max_steps: u64,
    /// 1: the launcher wants each execution's end at once (shown output), so blocks are of one.
    pub verbose: u32,
    /// Processors that the program is told it has.
    pub n_cpus: u32,
    /// The profile: choices of one execution.
    pub n_choices: u64,
    /// The profile: threads of one execution.
    pub n_threads_known: u32,
    /// The profile: entries in each of its areas.
    pub n_lengths: u32,
    /// As above.
    pub n_interests: u32,
    /// As above.
    pub n_uses: u32,

    // How it goes: written by the server and the running execution.
    /// Executions of the block that have ended.
    pub n_done: AtomicU64,
    /// The process of the running execution; 0 between executions.
    pub child: AtomicI32,
    /// The server's process.
    pub server: AtomicI32,
    /// Steps of the running execution: the watchdog's heartbeat.
    pub heartbeat: AtomicU64,

    // How the last execution went.
    /// Numbers of entries written, by area.
    pub n_sites: u32,
    /// Objects numbered (described or not), plus one for "none".
    pub n_objects: u32,
    /// Threads numbered.
    pub n_threads: u32,
    /// Modules.
    pub n_modules: u32,
    /// Notes.
    pub n_notes: u32,
    /// Stacks.
    pub n_stacks: u32,
    /// Names found to be shared in this block, after the known ones.
    pub n_shared_found: u32,
    /// Events written since the start of the execution.
    pub n_events: u64,
    /// 1 when the running execution has described its end.
    pub is_end_written: u32,
    /// Who ended it; `u32::MAX` for nobody.
    pub end_thread: u32,
    /// Where; a site.
    pub end_site: u32,
    /// An object that the end is about, or 0.
    pub end_object: u32,
    /// If that is memory which was freed: who did it, and when.
    pub end_freed: FreedEntry,
    /// Bytes of the message.
    pub n_message: u32,
    /// Pairs that the block's executions covered so far.
    pub n_pairs: u32,
    /// Pairs that those before the running execution covered.
    pub n_pairs_before: u32,
    /// Names that those before it found to be shared.
    pub n_shared_before: u32,
    /// 1: a process that can be rewound waits for the next block itself, for blocks of one.
    pub lingers: u32,
    /// 1 when the last block has been answered for, by the server or by such a process. Whoever takes the
    /// next command makes it 0.
    pub is_answered: AtomicU32,
    /// Changes with what the plan says beside its prefix.
    pub plan_number: u32,
    /// Where executions begin, as far as that is known: one of [`Begin`]'s numbers.
    pub begin: u32,
    /// Executions of the block that were told in brief: its first ones.
    pub n_briefs: u32,
    /// Words that they take.
    pub n_brief_words: u32,
    /// 1: what the last process ran was no execution of the block; it is to be begun again.
    pub is_void: u32,
    /// What a child of the program says that waits for a lock for ever: the number of its fork, then of the lock + 1. Or 0.
    pub forked_lock: AtomicU64,
    /// Instructions that are to be announced: written by the launcher before the first block.
    pub n_traps: u32,
    /// 1: the runtime has found the segment.
    pub is_found: u32,
    /// Bytes of what the runtime has said before it died of a bug of its own.
    pub n_last_words: u32,
    /// That. What the program prints is the program's, whatever it looks like.
    pub last_words: [u8; LAST_WORDS_MAX],
    /// How far the program wants to be explored.
    pub ask: Ask,
    /// The message: the failed expression, the exception's type, what the runtime's bug is.
    pub message: [u8; 1024],
    /// Copies of executions, each waiting at a step of its prefix.
    pub checkpoints: [Checkpoint; CHECKPOINTS_MAX],
    /// The running execution's summary, updated at its end.
    pub summary: Summary,
}

/// The free of memory that was used afterwards.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct FreedEntry {
    /// Steps that were made before it ended.
    pub step: u64,
    /// Who freed it; `u32::MAX` if there is no such memory.
    pub thread: u32,
    /// The calls that led to it; 0 if they are not known.
    pub stack: u32,
}

impl FreedEntry {
    /// The end is not about freed memory.
    pub const NONE: FreedEntry = FreedEntry { step: 0, thread: u32::MAX, stack: 0 };
}

/// How far a program wants to be explored; what is 0 or empty is not asked for.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Ask {
    /// Executions, at most.
    pub execs: u64,
    /// Milliseconds, at most.
    pub time_ms: u64,
    /// The seed of the campaign, if `has_seed` is 1.
    pub seed: u64,
    /// See above.
    pub has_seed: u64,
    /// A strategy, as the command line has it, ended by 0.
    pub strategy: [u8; 128],
    /// The id of a finding that is to be replayed, ended by 0.
    pub replay: [u8; 64],
}

/// Where executions begin: with `main`, or with a function that the program wants to be explored
/// (`raddle_check`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u32)]
pub enum Begin {
    /// Nobody has called `raddle_check` yet.
    #[default]
    Unknown = 0,
    /// Somebody has: the next process finds out whether executions can begin there.
    Asked = 1,
    /// With the function.
    Function = 2,
    /// With `main`, for they can't begin there.
    Main = 3,
}

impl Begin {
    /// From the segment.
    pub const fn from_number(number: u32) -> Begin {
        match number {
            1 => Begin::Asked,
            2 => Begin::Function,
            3 => Begin::Main,
            _ => Begin::Unknown,
        }
    }
}

/// A copy of an execution that waits at a choice, and from which other executions begin.
#[derive(Debug)]
#[repr(C)]
pub struct Checkpoint {
    /// One of the constants below. The copy sleeps on this word.
    pub state: AtomicU32,
    /// Choices that were made before.
    pub position: u32,
    /// Its process.
    pub process: AtomicI32,
    /// Zero.
    pub reserved: u32,
    /// Steps that were made before.
    pub n_steps: u64,
}

impl Checkpoint {
    /// Nobody is there.
    pub const FREE: u32 = 0;
    /// The execution that comes to this position is to leave a copy there.
    pub const ASKED: u32 = 1;
    /// A copy waits.
    pub const WAITS: u32 = 2;
    /// The copy is to run the block that stands in the segment.
    pub const RUNS: u32 = 3;
    /// No copy can be made of the execution: it holds what a copy would share with it.
    pub const REFUSED: u32 = 4;
}

/// Who could have gone on at a step, and in how many ways the step could be performed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Options {
    /// Threads that could go on, as a bit set of the first 64.
    pub enabled: u64,
    /// Blocked threads whose wait could end by itself, as a bit set of the first 64.
    pub timed: u64,
    /// Threads that could go on, also beyond the first 64.
    pub n_enabled: u32,
    /// Ways to perform the step: 1 where it had no data choice.
    pub n_choices: u32,
    /// A hash of the last [`CONTEXT_CALLS`] calls that led to the step; 0 if none is known. Equal in all
    /// executions of one build.
    pub context: u64,
    /// The number of the calls that led to the step, if that is recorded; else 0.
    pub stack: u32,
    /// 1: the thread that ran last yields, and may go on at once: to leave it is no preemption. Else 0.
    pub gives_way: u32,
}

impl Options {
    /// Is it a preemption if another thread than this one goes on, which ran last?
    pub const fn is_preempted(&self, last: ThreadId) -> bool {
        last.0 < u64::BITS && self.enabled >> last.0 & 1 != 0 && self.gives_way == 0
    }
}

/// An execution that is told in brief (see `brief`).
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct BriefEntry {
    /// Events, and as many options.
    pub n_events: u32,
    /// Threads numbered.
    pub n_threads: u32,
    /// Objects.
    pub n_objects: u32,
    /// Sites.
    pub n_sites: u32,
    /// Pending ops.
    pub n_pending: u32,
    /// Who ended it; `u32::MAX` for nobody.
    pub end_thread: u32,
}

/// What a thread was about to do when an execution ended that is told in brief.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct PendingEntry {
    /// Which thread.
    pub thread: u32,
    /// The op's object.
    pub object: u32,
    /// Its other object.
    pub other: u32,
    /// Its site.
    pub site: u32,
    /// Its kind.
    pub kind: u8,
    /// Its flags.
    pub flags: u8,
    /// 1: it can't be performed.
    pub is_blocked: u8,
    /// Zero.
    pub reserved: u8,
}

/// A place in the code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct SiteEntry {
    /// Offset in the module: run-time address minus load bias.
    pub offset: u64,
    /// The module's number, or `u32::MAX` if it is in none.
    pub module: u32,
    /// The number of the site in the program's own code that led to this one in its language's library;
    /// 0 if there is none.
    pub via: u32,
}

/// What an object is. Read with [`crate::Object`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct ObjectEntry {
    /// `ObjectClass`.
    pub class: u8,
    /// [`RegionTag`](crate::protocol::RegionTag).
    pub region: u8,
    /// Heap: `BlockSort`.
    pub sort: u16,
    /// Module, allocation site, thread or descriptor, by region.
    pub base: u32,
    /// Heap: which allocation of this site. Stack: bytes above the end of its frame, as an `i32`. Descriptor: the other
    /// end of a pipe, or 0.
    pub ordinal: u32,
    /// Heap: size of the block. Stack: bytes above the stack pointer of its function, as an `i32`.
    pub size: u32,
    /// Offset in the module, block or stack.
    pub offset: u64,
    /// The hash of its name, the same in every execution; 0 if it has none.
    pub name: u64,
    /// Heap: who allocated it.
    pub thread: u32,
    /// Heap: the calls that allocated it. Stack: one frame, of the function that it is a variable of.
    pub stack: u32,
}

/// Calls that led somewhere, innermost first: by module and offset, for keeping them must not number
/// sites.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct StackEntry {
    /// Frames kept.
    pub n_frames: u32,
    /// Zero.
    pub reserved: u32,
    /// Return addresses.
    pub frames: [SiteEntry; STACK_DEPTH],
}

/// A thread, and what it was doing at the end.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct ThreadEntry {
    /// Its creator; `u32::MAX` for main.
    pub parent: u32,
    /// Where it was created.
    pub created_at: u32,
    /// Its name, ended by 0.
    pub name: [u8; 16],
    /// 1: it has finished.
    pub is_finished: u8,
    /// 1: its pending op can't be performed.
    pub is_blocked: u8,
    /// The pending op's kind, or [`ThreadEntry::UNKNOWN`].
    pub op_kind: u8,
    /// The pending op's flags.
    pub op_flags: u8,
    /// The pending op's object.
    pub object: u32,
    /// The pending op's other object.
    pub other: u32,
    /// The pending op's site.
    pub site: u32,
    /// Who holds the object: up to four threads, `u32::MAX` for none.
    pub holders: [u32; 4],
    /// Where each holder took it.
    pub held_since: [u32; 4],
    /// Frames on its stack, of which the innermost are kept.
    pub n_frames: u32,
    /// Its events, and what it did without events since there has been a second thread.
    pub n_events: u32,
    /// The calls that created it, as a stack's number.
    pub creation: u32,
    /// Zero.
    pub reserved: u32,
    /// The function that it runs.
    pub start: SiteEntry,
    /// Sites of the calls that led here, innermost first.
    pub frames: [u32; FRAMES_MAX],
}

impl ThreadEntry {
    /// In place of an op: the execution was killed before it could say what the thread was doing.
    pub const UNKNOWN: u8 = u8::MAX;
}

impl Default for ThreadEntry {
    fn default() -> ThreadEntry {
        ThreadEntry {
            parent: u32::MAX,
            created_at: 0,
            name: [0; 16],
            is_finished: 0,
            is_blocked: 0,
            op_kind: ThreadEntry::UNKNOWN,
            op_flags: 0,
            object: 0,
            other: 0,
            site: 0,
            holders: [u32::MAX; 4],
            held_since: [0; 4],
            n_frames: 0,
            n_events: 0,
            creation: 0,
            reserved: 0,
            start: SiteEntry::default(),
            frames: [0; FRAMES_MAX],
        }
    }
}

/// A loaded executable or library.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct ModuleEntry {
    /// Its path, ended by 0.
    pub path: [u8; 512],
    /// 1: each of its atomic instructions is announced, by a hook or by a trap.
    pub is_announced: u32,
}

/// An instruction without a hook that other threads may depend on: an atomic one, the read of a loop that waits, or a
/// system call. Its memory is at base + index × scale + displacement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct TrapEntry {
    /// Offset in the module: run-time address minus load bias.
    pub offset: u64,
    /// Of a distance: the offset in the module of what it leads to.
    pub displacement: u64,
    /// The module's number.
    pub module: u32,
    /// Bytes of the instruction.
    pub length: u8,
    /// Where in it four bytes say how far its memory is from its end; 0 if none do.
    pub distance_at: u8,
    /// Registers, as the processor numbers them, or [`TrapEntry::NO_REGISTER`].
    pub base: u8,
    /// As above.
    pub index: u8,
    /// 1, 2, 4 or 8.
    pub scale: u8,
    /// Bytes of memory.
    pub size: u8,
    /// 1: relative to the thread pointer.
    pub is_local: u8,
    /// 1: a system call, without memory.
    pub is_call: u8,
    /// Zero.
    pub reserved: [u8; 4],
}

impl TrapEntry {
    /// In place of a register's number.
    pub const NO_REGISTER: u8 = u8::MAX;
}

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

/// That an execution showed a race.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Sighting {
    /// Which execution of the block.
    pub execution: u32,
    /// Which race.
    pub race: u32,
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

/// Something that Raddle could not control.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct NoteEntry {
    /// What: the number of an [`Escape`](raddle_model::Escape).
    pub what: u32,
    /// How often in the block.
    pub count: u32,
    /// Frames kept.
    pub n_frames: u32,
    /// The place and the calls that led there, innermost first: by module and offset, because a note
    /// outlives the execution that numbered its sites.
    pub frames: [SiteEntry; 16],
}

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
        let lengths = after(options, caps.events, size_of::<Options>());
        let interests = after(lengths, Profile::LENGTHS_MAX as u32, size_of::<Length>());
        let uses = after(interests, Profile::INTERESTS_MAX as u32, size_of::<Interest>());
        let pairs = after(uses, Profile::USES_MAX as u32, size_of::<Use>());
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
