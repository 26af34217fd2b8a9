//! What went wrong, as a value. Text is a rendering of it.

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use crate::{
    BothOrders, Certainty, Event, Fault, Flags, Location, NamedObject, ObjectId, OpKind, OpResult,
    Plan, Remedy, SiteId, ThreadId,
};

macro_rules! kinds {
    ($($(#[$meta:meta])* $name:ident = $word:literal, $prefix:literal, $title:literal;)*) => {
        /// The kind of a finding.
        #[cfg_attr(feature = "serde", derive(Serialize, Deserialize), serde(rename_all = "kebab-case"))]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Kind { $($(#[$meta])* $name,)* }

        impl Kind {
            /// Every kind.
            pub const ALL: &[Kind] = &[$(Kind::$name,)*];

            /// The word in JSON lines and in `//@ expect:` lines.
            pub const fn word(self) -> &'static str {
                match self { $(Kind::$name => $word,)* }
            }

            /// What ids begin with.
            pub const fn prefix(self) -> &'static str {
                match self { $(Kind::$name => $prefix,)* }
            }

            /// The start of the headline.
            pub const fn title(self) -> &'static str {
                match self { $(Kind::$name => $title,)* }
            }
        }
    };
}

kinds! {
    /// A failed `assert`.
    Assert = "assert", "assert", "assertion failed";
    /// A call of `abort`.
    Abort = "abort", "abort", "abort called";
    /// A fatal signal.
    Crash = "crash", "crash", "crash";
    /// A non-zero exit code.
    Exit = "exit", "exit", "non-zero exit";
    /// An exception that nobody caught.
    Exception = "exception", "exc", "uncaught exception";
    /// A panic of a Rust thread.
    Panic = "panic", "panic", "panic";
    /// Results of a data structure's operations that no order explains.
    Linearizability = "linearizability", "lin", "not linearizable";
    /// All threads wait.
    Deadlock = "deadlock", "dl", "deadlock";
    /// The step budget ran out.
    Livelock = "livelock", "live", "livelock";
    /// An undefined use of a synchronisation object.
    Misuse = "misuse", "misuse", "misuse";
    /// Killed at the memory limit.
    OutOfMemory = "out-of-memory", "oom", "out of memory";
    /// Two accesses to the same memory, one of them a write, that nothing orders.
    Race = "race", "race", "data race";
    /// Another thread's access in the midst of what was meant to be one.
    Atomicity = "atomicity", "atom", "atomicity violation";
}

/// A place in the source, found from a site.
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The function, demangled; empty if unknown.
    pub function: String,
    /// The source file as the compiler knew it; empty if unknown.
    pub file: String,
    /// The line, from 1; 0 if unknown.
    pub line: u32,
    /// The column, from 1; 0 if unknown.
    pub column: u32,
    /// The executable or library, by file name.
    pub module: String,
    /// Where no line is known: bytes into the function, or into the module if that is not known either.
    #[cfg_attr(feature = "serde", serde(default))]
    pub offset: u64,
}

impl Place {
    /// `bank.c:31`, or the best that is known; empty if nothing is.
    pub fn text(&self) -> String {
        let file = self.file.rsplit('/').next().unwrap_or_default();
        let offset = match self.offset {
            0 => String::new(),
            offset => format!("+{offset:#x}"),
        };
        match (file, self.line) {
            ("", _) if self.function.is_empty() => format!("{}{offset}", self.module),
            ("", _) => format!("{}{offset}", self.function),
            (file, 0) => file.to_owned(),
            (file, line) => format!("{file}:{line}"),
        }
    }
}

/// One frame of a stack, innermost first; inlined functions are frames of their own.
pub type Frame = Place;

/// One step of the schedule that shows the finding: an [`Event`] whose site is a place.
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Step {
    /// Who.
    pub thread: ThreadId,
    /// What.
    pub kind: OpKind,
    /// How it ended.
    pub result: OpResult,
    /// Marks, as in [`Event`].
    pub flags: u8,
    /// To what: an index into [`Finding::objects`].
    pub object: ObjectId,
    /// The mutex of a condition variable's wait; else none.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "ObjectId::is_none"))]
    pub other: ObjectId,
    /// Where: an index into [`Finding::places`].
    pub place: u32,
    /// The value of the event.
    pub value: u64,
    /// Bytes accessed, as in [`Event`].
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "is_zero"))]
    pub size: u32,
    /// Choice, memory order and offset, as in [`Event`].
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "is_zero"))]
    pub detail: u32,
    /// The calls that led there: an index into [`Finding::stacks`].
    #[cfg_attr(feature = "serde", serde(default))]
    pub stack: u32,
    /// What an update left there, if that is known.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub left: Option<u64>,
}

impl Step {
    /// The step of an event whose site is the place at `place`.
    pub const fn of(event: &Event, place: u32) -> Step {
        Step {
            thread: event.thread,
            kind: event.kind,
            result: event.result,
            flags: event.flags.0,
            object: event.object,
            other: event.other,
            place,
            value: event.value,
            size: event.size as u32,
            detail: event.detail,
            stack: 0,
            left: None,
        }
    }

    /// The event, whose site is the place's number.
    pub const fn event(&self) -> Event {
        Event {
            kind: self.kind,
            flags: Flags(self.flags),
            result: self.result,
            size: self.size as u8,
            thread: self.thread,
            object: self.object,
            other: self.other,
            site: SiteId(self.place),
            detail: self.detail,
            value: self.value,
        }
    }

    /// How long others made no progress before this wait timed out, as in [`Event::delay_ns`].
    pub fn delay_ns(&self) -> u64 {
        self.event().delay_ns()
    }
}

#[cfg(feature = "serde")]
const fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// What a thread was doing when the execution ended.
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadState {
    /// Who.
    pub thread: ThreadId,
    /// Its name, as set by the program, or empty.
    pub name: String,
    /// The thread that created it; `None` for `main`.
    pub parent: Option<ThreadId>,
    /// Where it was created.
    pub created_at: Place,
    /// The calls that created it, innermost first.
    #[cfg_attr(feature = "serde", serde(default))]
    pub creation: Vec<Frame>,
    /// The function that it runs, if it is one of the program's.
    #[cfg_attr(feature = "serde", serde(default))]
    pub function: String,
    /// Had it finished?
    pub is_finished: bool,
    /// What it was about to do, if it had not finished.
    pub pending: Option<OpKind>,
    /// What it waits for, if it was blocked.
    pub waits_for: Option<WaitFor>,
    /// Its stack, innermost first.
    pub stack: Vec<Frame>,
}

/// What a blocked thread waits for.
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitFor {
    /// The object.
    pub object: NamedObject,
    /// Its number in the trace.
    pub object_id: ObjectId,
    /// Where the thread waits.
    pub at: Place,
    /// Who holds it, and where each took it. Or, of a lock that lets writers go first, who waits for it in their
    /// place.
    pub holders: Vec<(ThreadId, Place)>,
    /// The last notification that could have ended the wait, and did not.
    #[cfg_attr(feature = "serde", serde(default))]
    pub missed: Option<Missed>,
}

/// A notification that did not end a wait.
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missed {
    /// Who sent it.
    pub thread: ThreadId,
    /// What: a signal, a broadcast, a post, a wake-up of a futex.
    pub kind: OpKind,
    /// Where.
    pub at: Place,
    /// Which step of the execution it was, from 1.
    pub step: u64,
    /// Why it did not end the wait.
    pub why: Miss,
}

/// Why a notification did not end a wait.
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize), serde(rename_all = "kebab-case"))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Miss {
    /// It came when nobody waited.
    TooEarly,
    /// It came when nobody waited any more: the thread's wait had timed out.
    TooLate,
    /// This thread had it instead; if it is the thread itself, it has looked at its condition and waits again.
    Another(ThreadId),
}

/// What an analysis has to say for a finding.
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Evidence {
    /// The memory that accesses are to; two where they were meant to be changed together; empty if there is none.
    pub memory: Vec<NamedObject>,
    /// The first one's number in the trace.
    pub memory_id: ObjectId,
    /// Where it is: of the bytes that the later access touches.
    #[cfg_attr(feature = "serde", serde(default))]
    pub location: Location,
    /// A race, or an order that was not meant: the earlier access, then the later one. An atomicity violation: the
    /// access that begins what was meant to be one, one or two of another thread, and the one that ends it.
    pub accesses: Vec<Access>,
    /// A potential deadlock: each thread's part of the cycle; each wants what the next one holds.
    pub links: Vec<Link>,
    /// With what the execution, which fails as it is, ends well.
    pub effect: Option<Remedy>,
    /// A race: what came of both orders of its accesses, if they were run.
    #[cfg_attr(feature = "serde", serde(default))]
    pub orders: Option<BothOrders>,
    /// What a failing execution reads otherwise than one that ends well and is like it.
    #[cfg_attr(feature = "serde", serde(default))]
    pub contrast: Option<Contrast>,
}

/// Memory that was freed, and used or freed again afterwards.
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FreedMemory {
    /// The free.
    pub free: Access,
    /// What it was, and the calls that allocated it.
    pub location: Location,
}

/// A read that sees one value in an execution that fails, and another in one that ends well.
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contrast {
    /// What is read.
    pub memory: NamedObject,
    /// The read, in the execution that fails.
    pub read: Access,
    /// What it sees in each.
    pub values: [u64; 2],
    /// Another thread's write that it sees, in each.
    pub writes: [Option<Access>; 2],
}

/// One access to memory.
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Access {
    /// Who.
    pub thread: ThreadId,
    /// What: a kind that is an access, or [`OpKind::Free`].
    pub kind: OpKind,
    /// How many bytes.
    pub size: u32,
    /// Steps that the execution had done before it.
    pub step: u64,
    /// Where.
    pub place: Place,
    /// The calls that led there, innermost first; the first frame is the place. Empty if unknown.
    pub stack: Vec<Frame>,
    /// The locks that the thread held.
    pub holds: Vec<Held>,
}

/// A lock that a thread holds.
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    /// The lock.
    pub lock: NamedObject,
    /// Its number in the trace.
    pub lock_id: ObjectId,
    /// Where it was taken.
    pub taken_at: Place,
    /// Is it a read lock?
    pub is_shared: bool,
}

/// A thread's part of a cycle of locks.
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// Who.
    pub thread: ThreadId,
    /// What it holds: the previous thread wants it.
    pub holds: Held,
    /// What it wants.
    pub wants: NamedObject,
    /// Its number in the trace.
    pub wants_id: ObjectId,
    /// Where it asks for it.
    pub wants_at: Place,
    /// The steps at which it took the one and the other.
    pub steps: [u64; 2],
}

/// The name under which equal findings are counted together.
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bucket(pub u64);

/// What went wrong: kind, places, threads, schedule, bucket.
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What kind.
    pub kind: Kind,
    /// Equal for findings with the same kind and the same normalised places.
    pub bucket: Bucket,
    /// What went wrong: the failed expression, the signal, the misuse, the cycle.
    pub fault: Fault,
    /// The thread that failed; `None` where all did (deadlock).
    pub thread: Option<ThreadId>,
    /// The places that the bucket is made of.
    pub sites: Vec<Place>,
    /// Is a deadlock a cycle of locks (`true`), or a wait that nobody will end (`false`)?
    pub is_cycle: bool,
    /// For a cycle, its threads in order; each waits for what the next one holds.
    pub cycle: Vec<ThreadId>,
    /// All threads of the execution.
    pub threads: Vec<ThreadState>,
    /// The schedule, step by step (the last ones, if there were too many to keep).
    pub steps: Vec<Step>,
    /// Steps of the execution that are not in `steps`, from its start.
    pub n_steps_dropped: u64,
    /// Objects, by number. Entry 0 is no object.
    pub objects: Vec<NamedObject>,
    /// Places that steps and stacks refer to. Entry 0 is unknown.
    pub places: Vec<Place>,
    /// The calls that led to steps, innermost first, each an index into `places`. Entry 0 is unknown; empty
    /// where calls were not written down.
    #[cfg_attr(feature = "serde", serde(default))]
    pub stacks: Vec<Vec<u32>>,
    /// The plan that shows it.
    pub plan: Plan,
    /// Which execution of the campaign showed it first.
    pub execution: u64,
    /// That execution's strategy, as the user would write it; empty if it is not known.
    #[cfg_attr(feature = "serde", serde(default))]
    pub strategy: String,
    /// Where in its order a search had come to that execution, as it counts: a rank, a bound.
    #[cfg_attr(feature = "serde", serde(default))]
    pub position: Option<String>,
    /// Switches between threads in the execution.
    pub n_switches: u64,
    /// The digest of the whole trace, to compare replays by.
    pub trace_digest: u64,
    /// What the program wrote to standard output and standard error in this execution.
    pub output: String,
    /// Did it happen, or could it?
    #[cfg_attr(feature = "serde", serde(default))]
    pub certainty: Certainty,
    /// For what an analysis found: both sides of a race, the links of a cycle.
    #[cfg_attr(feature = "serde", serde(default))]
    pub evidence: Option<Box<Evidence>>,
    /// For memory that was used, or freed, after it was freed: who freed it.
    #[cfg_attr(feature = "serde", serde(default))]
    pub freed: Option<Box<FreedMemory>>,
    /// The longest delay in its schedule, in microseconds: for so long no thread made progress although some could
    /// have, until a wait timed out. 0 if there was none.
    #[cfg_attr(feature = "serde", serde(default))]
    pub delay_us: u32,
}

/// A failure that needs a delay as long as this is a timing assumption: a loaded machine holds threads up for tens of
/// milliseconds every day.
pub const TIMING_US: u32 = 100_000;

impl Finding {
    /// Does it fail only if threads that could go on make no progress for very long? A race is one whatever the time.
    pub fn is_timing(&self) -> bool {
        TIMING_US <= self.delay_us && self.kind != Kind::Race
    }

    /// Is it a warning, not an error: it could happen, or takes very long delays?
    pub fn is_warning(&self) -> bool {
        self.certainty != Certainty::Shown || self.is_timing()
    }

    /// The steps that end a wait by a delay, with their numbers from 0.
    pub fn delays(&self) -> impl Iterator<Item = (u64, &Step)> {
        (self.n_steps_dropped..).zip(&self.steps).filter(|(_, it)| it.delay_ns() > 0)
    }

    /// A step by its number from 0, counted from the execution's start, if it was kept.
    pub fn step(&self, number: u64) -> Option<&Step> {
        self.steps.get(usize::try_from(number.checked_sub(self.n_steps_dropped)?).ok()?)
    }
}

/// How often a finding came back when its plan was run again.
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reproduced {
    /// Times it came back.
    pub n: u32,
    /// Times it was tried.
    #[cfg_attr(feature = "serde", serde(alias = "m"))]
    pub of: u32,
}

impl Reproduced {
    /// The same, if it was tried at all.
    pub fn if_tried(self) -> Option<Reproduced> {
        (self.of > 0).then_some(self)
    }
}
