//! The start of the segment.

use std::sync::atomic::{AtomicI32, AtomicU32, AtomicU64};

use raddle_model::{Plan, Record, Watch};

use super::{
    CHECKPOINTS_MAX, Caps, Checkpoint, FreedEntry, HeapEntry, LAST_WORDS_MAX, MESSAGE_MAX, Summary,
};

/// The start of the segment: what it is, and one part for each who writes.
#[derive(Debug)]
#[repr(C)]
pub struct Header {
    /// [`MAGIC`](super::MAGIC).
    pub magic: u64,
    /// [`VERSION`](super::VERSION).
    pub version: u32,
    /// Zero.
    pub reserved: u32,
    /// Room in the areas.
    pub caps: Caps,
    /// What to do.
    pub request: Request,
    /// How it goes.
    pub live: Live,
    /// What it has come to.
    pub result: Results,
}

/// What the launcher asks for. It alone writes this, before the first block or between blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Request {
    /// 0: fibers, 1: kernel threads.
    pub carrier: u32,
    /// Processors that the program sees.
    pub n_cpus: u32,
    /// Instructions that are to be announced.
    pub n_traps: u32,
    /// 1: a process serves one execution only.
    pub is_fresh: u32,

    // Of the block.
    /// Executions in the block.
    pub n_block: u32,
    /// Changes with what the plan says beside its prefix.
    pub plan_number: u32,
    /// 1: a process that can be rewound waits for the next block itself, for blocks of one.
    pub lingers: u32,
    /// 1: of executions that end well, only what a search wants to know is told ([`BriefEntry`](super::BriefEntry)).
    pub is_brief: u32,
    /// 1: a non-zero exit code does not end the block.
    pub exit_is_fine: u32,
    /// Names known to be shared, at the start of the area.
    pub n_shared: u32,
    /// When timed waits may time out although others can run: see `Timeouts::number`.
    pub timeouts: u32,
    /// 1: waits may end spuriously.
    pub spurious: u32,
    /// Where handlers of signals run: see `Handlers::number`.
    pub handlers: u32,
    /// Which steps are scheduling points, as `Points::number`.
    pub points: u32,
    /// What atomic loads may read, as `MemoryModel::number`.
    pub memory_model: u32,
    /// 1: executions write down who could have gone on at each step; 2: and which calls led there.
    pub record_options: u32,
    /// 1: executions look for races.
    pub record_races: u32,
    /// Memory to be watched.
    pub watch: Watch,
    /// More steps than this end the execution.
    pub max_steps: u64,
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
    /// Memory orders in place of those in the source.
    pub n_orders: u32,
    /// Zero; keeps the layout free of padding.
    pub reserved: u32,
}

impl Request {
    /// What a plan asks for; how the program is run stays as it was.
    pub fn of(plan: &Plan, before: Request) -> Request {
        Request {
            n_shared: plan.shared.len() as u32,
            timeouts: plan.conditions.timeouts.number(),
            spurious: u32::from(plan.conditions.spurious),
            handlers: plan.conditions.handlers.number(),
            points: plan.conditions.points.number(),
            memory_model: plan.conditions.memory_model.number(),
            record_options: match plan.record {
                Record { options: false, .. } => 0,
                Record { stacks: false, .. } => 1,
                Record { lone: false, .. } => 2,
                Record { lone: true, .. } => 3,
            },
            record_races: u32::from(plan.record.races),
            watch: plan.record.watch.unwrap_or_default(),
            max_steps: plan.conditions.limits.max_steps,
            n_choices: plan.profile.n_choices,
            n_threads_known: plan.profile.n_threads,
            n_lengths: plan.profile.lengths.len() as u32,
            n_interests: plan.profile.interests.len() as u32,
            n_uses: plan.profile.uses.len() as u32,
            n_orders: plan.orders.len() as u32,
            ..before
        }
    }
}

/// What changes while executions run. All that both sides look at meanwhile is atomic.
#[derive(Debug)]
#[repr(C)]
pub struct Live {
    /// Executions of the block that are to run: as many as were asked for, or fewer, if one before the last must be looked at.
    pub n_block: u32,
    /// 1: executions write too much for rewinding to be worth it: each is forked.
    pub is_fresh: u32,
    /// Executions of the block that have ended.
    pub n_done: AtomicU64,
    /// Steps of the running execution: the watchdog's heartbeat.
    pub heartbeat: AtomicU64,
    /// The process of the running execution; 0 between executions.
    pub child: AtomicI32,
    /// 1 when the last block has been answered for, by the server or by a process that lingers. Whoever takes the
    /// next command makes it 0.
    pub is_answered: AtomicU32,
    /// What a child of the program says that waits for a lock for ever: the number of its fork, then of the lock + 1. Or 0.
    pub forked_lock: AtomicU64,
    /// 1: the runtime has found the segment.
    pub is_found: u32,
    /// Where executions begin, as far as that is known: one of [`Begin`](super::Begin)'s numbers.
    pub begin: u32,
    /// 1: what the last process ran was no execution of the block; it is to be begun again.
    pub is_void: u32,
    /// Pages that executions are known to write.
    pub n_pages: u32,
    /// Pairs that executions before the running one covered.
    pub n_pairs_before: u32,
    /// Names that those before it found to be shared.
    pub n_shared_before: u32,
    /// Copies of executions, each waiting at a step of its prefix.
    pub checkpoints: [Checkpoint; CHECKPOINTS_MAX],
}

/// What the block has come to so far, and how its last execution went. The launcher reads it when the server has answered.
#[derive(Debug)]
#[repr(C)]
pub struct Results {
    // Of the block: entries written, by area.
    /// Notes.
    pub n_notes: u32,
    /// Races that the block's executions showed so far, each once.
    pub n_races: u32,
    /// How often executions showed one of them.
    pub n_sightings: u32,
    /// Pairs that they covered so far.
    pub n_pairs: u32,
    /// Names found to be shared, after the known ones.
    pub n_shared_found: u32,
    /// Executions that were told in brief: its first ones.
    pub n_briefs: u32,
    /// Words that they take.
    pub n_brief_words: u32,

    // Of the last execution: entries written, by area.
    /// Modules.
    pub n_modules: u32,
    /// Sites.
    pub n_sites: u32,
    /// Objects numbered (described or not), plus one for "none".
    pub n_objects: u32,
    /// Threads numbered.
    pub n_threads: u32,
    /// Stacks.
    pub n_stacks: u32,
    /// Events written since the start of the execution.
    pub n_events: u64,

    // Its end.
    /// 1 when it has described its end.
    pub is_end_written: u32,
    /// Who ended it; `u32::MAX` for nobody.
    pub end_thread: u32,
    /// Where; a site.
    pub end_site: u32,
    /// An object that the end is about, or 0.
    pub end_object: u32,
    /// If that is memory which was freed: who did it, and when.
    pub end_freed: FreedEntry,
    /// If it is a wrong use of a heap block: how.
    pub end_heap: HeapEntry,
    /// Counts and digests, brought up to date at its end.
    pub summary: Summary,
    /// Bytes of the message.
    pub n_message: u32,
    /// Bytes of what the runtime has said before it died of a bug of its own.
    pub n_last_words: u32,
    /// The message: the failed expression, the exception's type, what the runtime's bug is, a history.
    pub message: [u8; MESSAGE_MAX],
    /// What the runtime has said. What the program prints is the program's, whatever it looks like.
    pub last_words: [u8; LAST_WORDS_MAX],
    /// How far the program wants to be explored.
    pub ask: Ask,
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

impl Header {
    /// The launcher asks for a block. Races have tables of their own (`Segment::forget_races`).
    pub fn begin_block(&mut self, request: Request) {
        self.request = request;
        self.live.n_block = request.n_block;
        *self.live.n_done.get_mut() = 0;
        *self.live.heartbeat.get_mut() = 0;
        self.result.forget_block();
    }

    /// Can one process serve many executions?
    pub const fn may_be_rewound(&self) -> bool {
        self.request.is_fresh == 0 && self.live.is_fresh == 0
    }
}

impl Results {
    /// Forgets what the last execution came to, before the next one begins.
    pub fn forget_end(&mut self) {
        self.is_end_written = 0;
        self.n_events = 0;
        self.n_message = 0;
        self.end_thread = u32::MAX;
        self.end_freed = FreedEntry::NONE;
        self.end_heap = HeapEntry::default();
    }

    /// Forgets a block's results, before the next one is run.
    fn forget_block(&mut self) {
        self.n_notes = 0;
        self.n_pairs = 0;
        self.n_shared_found = 0;
        self.n_briefs = 0;
        self.n_brief_words = 0;
        self.n_last_words = 0;
    }

    /// The runtime has a bug, and dies of it: what it has to say.
    pub fn set_last_words(&mut self, words: &[u8]) {
        let n_bytes = words.len().min(LAST_WORDS_MAX);
        self.last_words[..n_bytes].copy_from_slice(&words[..n_bytes]);
        self.n_last_words = n_bytes as u32;
    }
}
