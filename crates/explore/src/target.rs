//! What a campaign explores: anything that runs plans and gives back traces.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::Instant,
};

use raddle_model::{Content, PickerSpec, Place, Plan, Uncontrolled};
use raddle_trace::{Briefs, Entry, Module, SeenRaces, Summary, Trace};

use crate::coverage::Covered;

/// A program that can be executed again and again.
pub trait Target: Sync {
    /// Opens one more way to run executions; each worker has its own. Soon after `until` is over, whatever runs
    /// is ended, and nothing more is run. A target whose executions are short may ignore it.
    fn open_until(&self, until: &Until) -> Result<Box<dyn Session + Send>, TargetError>;

    /// Opens one more way to run executions, for as long as they take.
    fn open(&self) -> Result<Box<dyn Session + Send>, TargetError> {
        self.open_until(&Until::default())
    }

    /// Code that does not tell its accesses to memory, but for the system's: loaded files, source files or functions in
    /// them, by name.
    fn unhooked(&self, _modules: &[Module]) -> Vec<String> {
        Vec::new()
    }
}

/// For how long executions are wanted. By default, for ever.
#[derive(Clone, Debug, Default)]
pub struct Until {
    /// Set when nobody wants what runs.
    given_up: Arc<AtomicBool>,
    deadline: Option<Instant>,
}

impl Until {
    /// Until then, if there is such a time, or until it is given up.
    pub fn at(deadline: Option<Instant>) -> Until {
        Until { given_up: Arc::default(), deadline }
    }

    /// Nobody wants more.
    pub fn give_up(&self) {
        self.given_up.store(true, Relaxed);
    }

    /// Does nobody want more?
    pub fn is_over(&self) -> bool {
        self.given_up.load(Relaxed) || self.deadline.is_some_and(|it| it <= Instant::now())
    }
}

/// One running copy of the target (a fork server): executes blocks, one execution after the other.
pub trait Session {
    /// Runs the block's executions in order, up to the end or to the first execution whose end must be
    /// looked at, whichever comes first.
    fn run(&mut self, block: &Block) -> Result<BlockResult, TargetError>;

    /// Runs executions with a prefix each: the first ones in order, at least one, up to one whose end must be
    /// looked at. `room`: of executions that nobody needs any more.
    fn run_each(
        &mut self,
        each: &PrefixBatch,
        _room: Briefs,
    ) -> Result<PrefixBatchResult, TargetError> {
        Ok(PrefixBatchResult {
            last: Some(self.run(&each.alone(0))?),
            ..PrefixBatchResult::default()
        })
    }
}

/// Executions that share all but seed and picker.
#[derive(Clone, Debug)]
pub struct Block {
    /// What they share. Its picker and seed are those of the first execution.
    pub plan: Plan,
    /// Seed and picker of each execution, in order.
    pub entries: Vec<Entry>,
    /// Does a non-zero exit code count as a good end?
    pub exit_is_fine: bool,
    /// How many choices of the prefix are those of executions still to come, as far as is known: a live
    /// copy near there would be useful. A target may ignore it.
    pub common: u32,
}

impl Block {
    /// The prefix or the script that one of its executions follows. A script of abstract schedules is only theirs.
    pub fn prefix_of(&self, entry: &Entry) -> &[u32] {
        let is_fuzzed = |it: &Entry| it.picker().is_some_and(PickerSpec::has_table);
        let is_others = !is_fuzzed(entry) && self.entries.iter().any(is_fuzzed);
        if is_others { &[] } else { &self.plan.prefix }
    }

    /// The execution of a plan.
    pub fn one(plan: Plan, exit_is_fine: bool) -> Block {
        let entries = vec![Entry::new(plan.picker, plan.seed)];
        Block { plan, entries, exit_is_fine, common: 0 }
    }
}

/// Executions of a search, which share all but prefix, seed and picker.
#[derive(Clone, Debug)]
pub struct PrefixBatch {
    /// The plan's prefix is that of all, one after the other; entries say which part is whose.
    block: Block,
}

impl PrefixBatch {
    /// None yet; all will share what a block has beside its prefix and its entries.
    pub fn new(shared: Block) -> PrefixBatch {
        let plan = Plan { prefix: Vec::new(), ..shared.plan };
        PrefixBatch { block: Block { plan, entries: Vec::new(), ..shared } }
    }

    /// Adds an execution.
    pub fn push(&mut self, prefix: &[u32], entry: Entry) {
        let prefixes = &mut self.block.plan.prefix;
        let (prefix_at, n_prefix) = (prefixes.len() as u64, prefix.len() as u32);
        prefixes.extend_from_slice(prefix);
        self.block.entries.push(Entry { prefix_at, n_prefix, ..entry });
    }

    /// Seed and picker of each, and which part of [`PrefixBatch::prefixes`] is its prefix.
    pub fn entries(&self) -> &[Entry] {
        &self.block.entries
    }

    /// The prefixes of all.
    pub fn prefixes(&self) -> &[u32] {
        &self.block.plan.prefix
    }

    /// What they share.
    pub fn shared(&self) -> &Block {
        &self.block
    }

    /// The prefix of one of them.
    pub fn prefix(&self, idx: usize) -> &[u32] {
        let entry = &self.block.entries[idx];
        &self.prefixes()[entry.prefix_at as usize..][..entry.n_prefix as usize]
    }

    /// One of them as a block of its own.
    pub fn alone(&self, idx: usize) -> Block {
        let entry = self.block.entries[idx];
        let Block { plan, exit_is_fine, common, .. } = &self.block;
        Block {
            plan: Plan {
                prefix: self.prefix(idx).to_vec(),
                picker: entry.picker().expect("bug: an entry is made of a picker"),
                seed: entry.seed,
                shared: plan.shared.clone(),
                profile: plan.profile.clone(),
                orders: plan.orders.clone(),
                ..*plan
            },
            entries: vec![Entry { prefix_at: 0, n_prefix: 0, ..entry }],
            exit_is_fine: *exit_is_fine,
            common: if idx == 0 { *common } else { 0 },
        }
    }
}

/// How executions with a prefix each went.
#[derive(Debug, Default)]
pub struct PrefixBatchResult {
    /// The first ones, if they ended well and a search need not know more of them.
    pub briefs: Briefs,
    /// Races that those showed, in order.
    pub races: SeenRaces,
    /// The one after them, if it was run.
    pub last: Option<BlockResult>,
}

/// How a block went.
#[derive(Debug, Default)]
pub struct BlockResult {
    /// One for each execution that ended, in order.
    pub summaries: Vec<Summary>,
    /// Names of variables found to be shared, beyond those the plan knew. Sorted, no duplicates.
    pub shared_found: Vec<u64>,
    /// Pairs that its executions covered. Sorted by pair, no duplicates.
    pub covered: Vec<Covered>,
    /// Races that the executions showed, in order.
    pub races: SeenRaces,
    /// The last execution, if it must be looked at, or if the block has just one execution.
    pub last: Option<Execution>,
    /// What could not be controlled, in all executions of the block.
    pub uncontrolled: Vec<Uncontrolled>,
    /// Steps of the last execution that were not made again, because it began from a live copy.
    pub n_steps_spared: u64,
    /// The execution that was under way when nobody wanted more, as far as it had come. It counts nowhere else.
    pub cut: Option<Execution>,
}

impl BlockResult {
    /// The last execution, where there must be one.
    pub fn into_last(self) -> Result<Execution, TargetError> {
        match (self.last, self.cut) {
            (Some(last), _) => Ok(last),
            (None, Some(_)) => Err(TargetError::Stopped),
            (None, None) => {
                Err(TargetError::Bug("an execution came back without its trace".to_owned()))
            }
        }
    }
}

/// One execution, in full.
#[derive(Debug)]
pub struct Execution {
    /// Its trace.
    pub trace: Trace,
    /// What it wrote to standard output and standard error, cut to a sane size.
    pub output: String,
}

/// Finds places and names for the numbers of a trace.
pub trait Symbols {
    /// The source places of a site, innermost first (more than one where functions were inlined).
    fn places(&mut self, module: &str, offset: u64) -> Vec<Place>;
    /// The function that is called by the call right before an address; empty if that is not known.
    fn callee(&mut self, _module: &str, _offset: u64) -> String {
        String::new()
    }
    /// An atomic instruction of a module that no hook announces, if it has one: it may order threads, and nobody
    /// would know.
    fn unseen_atomic(&mut self, _module: &str) -> Option<Place> {
        None
    }
    /// The global that `size` bytes at an address are in.
    fn global(&mut self, module: &str, offset: u64, size: u64) -> Option<Variable>;
    /// The variable of a function that `size` bytes of its frame are in.
    fn local(&mut self, spot: &StackSpot<'_>, size: u64) -> Option<Variable>;
    /// What `size` bytes are that lie `offset` into a heap block which these calls allocated, innermost
    /// first. `None` unless it is certain.
    fn block(
        &mut self,
        calls: &[CodeAddress<'_>],
        block_size: u64,
        offset: u64,
        size: u64,
    ) -> Option<Variable>;
    /// The text of a source line, trimmed.
    fn source_line(&mut self, place: &Place) -> Option<String>;
}

/// An address in a module's code: inside an instruction, not after a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodeAddress<'a> {
    /// The module's path.
    pub module: &'a str,
    /// The address in the file's own address space.
    pub offset: u64,
}

/// A place in the frame of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StackSpot<'a> {
    /// Somewhere in the function's code.
    pub code: CodeAddress<'a>,
    /// Bytes above the frame's end (the word above its return address); below it if negative.
    pub from_cfa: i64,
    /// Bytes above the stack pointer, as it is in the function's body.
    pub from_sp: i64,
}

/// What the program's own text calls a piece of memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Variable {
    /// The variable: `queue`. Of a heap block its type in short, or the pointer that it was given to.
    pub whole: String,
    /// The part of it: `[3].state`.
    pub path: String,
    /// Bytes into the part.
    pub shift: u64,
    /// The type whose field it is: `struct Queue`; empty if it is none.
    pub field_of: String,
    /// The type of the whole; empty if it is not known.
    pub type_name: String,
    /// The size of the whole.
    pub size: u64,
    /// What is there.
    pub content: Content,
    /// Where it is declared; unknown for heap blocks.
    pub declared_at: Place,
    /// The function that has it; empty for globals that none has.
    pub function: String,
}

impl Variable {
    /// `queue.len`.
    pub fn name(&self) -> String {
        format!("{}{}", self.whole, self.path)
    }
}

/// Why a target can't be run. The messages are whole sentences for the user, without a full stop.
#[derive(Debug, thiserror::Error)]
pub enum TargetError {
    /// The program could not be started, or is not one that Raddle can control.
    #[error("{0}")]
    Unusable(String),
    /// The program ended before `main` began, or never reached it.
    #[error("{0}")]
    Baseline(String),
    /// The user wants no more: what ran was given up.
    #[error("interrupted")]
    Stopped,
    /// Something that should not happen.
    #[error("bug: {0}")]
    Bug(String),
}
