//! What went wrong, as far as one line about it needs: as data. Sentences are `report`'s.

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use crate::{History, Kind, Location, Missed, Misuse, NamedObject, OpKind, Place, ThreadId};

/// What went wrong. Its kind stands beside it.
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize), serde(rename_all = "kebab-case"))]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The program says it itself: the expression of an assertion, the message of a panic, the type of an exception.
    Said(String),
    /// No order of these operations explains what they returned.
    History(Box<History>),
    /// The program ended here, and said nothing.
    Silent(Place),
    /// A Rust test that should panic, and what it said, if it did.
    ShouldPanic(Expected, Option<String>),
    /// A signal killed it.
    Signal {
        /// The signal's number.
        number: i32,
        /// Where it stood.
        at: Place,
    },
    /// A stack was full.
    StackOverflow {
        /// Whose.
        thread: Option<ThreadId>,
        /// The function that is on it most often.
        recursive: Option<String>,
        /// Where it stood.
        at: Place,
    },
    /// It left with this code.
    ExitCode(i32),
    /// It was killed for want of memory, and stood here.
    OutOfMemory(Option<MemoryLimit>, Place),
    /// An undefined use of an object.
    Misuse(Box<Misused>),
    /// Each waits for what the next one holds.
    Cycle(Vec<Blocked>),
    /// Nobody will end these waits.
    Forlorn(Vec<Blocked>),
    /// These threads repeat the same steps, so many of them (0 if that is not known).
    Round(Vec<ThreadId>, u64),
    /// Accesses to memory that nothing orders, or that were meant to come otherwise.
    Accesses {
        /// The memory; two where they were meant to be changed together.
        memory: Vec<NamedObject>,
        /// Who did what, where.
        accesses: Vec<(ThreadId, OpKind, Place)>,
    },
    /// Locks that threads take in orders which can block all of them.
    Locks(Vec<Nested>),
}

impl Default for Fault {
    fn default() -> Fault {
        Fault::Said(String::new())
    }
}

/// What a test that should panic did instead.
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize), serde(rename_all = "kebab-case"))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// It did not.
    Panic,
    /// It did, with another message than expected.
    OtherMessage,
}

/// The memory that a program may use, in bytes.
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryLimit(pub u64);

/// An undefined use of an object.
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misused {
    /// Whose.
    pub thread: Option<ThreadId>,
    /// What it did.
    pub misuse: Misuse,
    /// To what.
    pub object: NamedObject,
    /// The whole block, if it was freed: its name.
    pub block: Option<String>,
    /// Who had destroyed or freed it, and where.
    pub gone: Option<(ThreadId, OpKind, Place)>,
    /// Who else holds it, and where it was taken.
    #[cfg_attr(feature = "serde", serde(default))]
    pub holder: Option<(ThreadId, Place)>,
    /// What is wrong with its use of a heap block, and which block that is.
    #[cfg_attr(feature = "serde", serde(default))]
    pub heap: Option<Box<HeapError>>,
}

/// A heap block that is used as it must not be.
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeapError {
    /// How.
    pub fault: HeapFault,
    /// What it was, and the calls that allocated it.
    pub location: Location,
}

/// How a heap block is used that must not be used so.
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize), serde(rename_all = "kebab-case"))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeapFault {
    /// Bytes outside of it are accessed.
    Outside {
        /// Are they written?
        is_write: bool,
        /// How many bytes the access is to.
        size: u64,
        /// Where it begins, in bytes from the block's beginning.
        offset: i64,
    },
    /// It was allocated by one family of functions and is freed by another.
    Mismatch {
        /// The former.
        allocated: Allocator,
        /// The latter.
        freed: Allocator,
    },
}

/// A family of functions that allocate and free.
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize), serde(rename_all = "kebab-case"))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Allocator {
    /// `malloc` and `free`.
    #[default]
    Malloc,
    /// `new` and `delete`.
    New,
    /// `new[]` and `delete[]`.
    NewArray,
}

impl Allocator {
    /// The family whose number is `number`.
    pub const fn from_number(number: u8) -> Option<Allocator> {
        match number {
            0 => Some(Allocator::Malloc),
            1 => Some(Allocator::New),
            2 => Some(Allocator::NewArray),
            _ => None,
        }
    }
}

/// A thread that waits, and why nobody will end it.
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blocked {
    /// Who.
    pub thread: ThreadId,
    /// By what.
    pub kind: OpKind,
    /// What Rust's std waits for, if it is that.
    pub std_wait: Option<StdWait>,
    /// For what.
    pub object: NamedObject,
    /// Who holds it, and where it was taken; for a join, the thread to be joined.
    pub holder: Option<(ThreadId, Place)>,
    /// The last notification that could have ended the wait. Which step it was is left out.
    pub missed: Option<Missed>,
}

/// What a thread waits for in Rust's std.
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize), serde(rename_all = "kebab-case"))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StdWait {
    /// To be unparked.
    Unpark,
    /// For a message in a channel.
    Message,
    /// For room in a channel.
    Room,
    /// For a once block.
    Once,
}

/// A lock that is taken while another is held.
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Nested {
    /// Who.
    pub thread: ThreadId,
    /// What it takes.
    pub wants: NamedObject,
    /// Where.
    pub at: Place,
    /// What it holds.
    pub holds: NamedObject,
}

/// What an execution did at some moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Moment {
    /// A step.
    Step {
        /// Whose.
        thread: ThreadId,
        /// What it was.
        kind: OpKind,
        /// To what.
        object: NamedObject,
        /// Where.
        place: Place,
    },
    /// It ended, and failed so if it did.
    End(Option<(Kind, Fault)>),
}

/// Why an execution that did not come to an end of its own was ended.
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize), serde(rename_all = "kebab-case"))]
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Standstill {
    /// It made no step for too long.
    #[default]
    NoStep,
    /// It computed for so many seconds without a step, in code of this file.
    Computed(u64, Option<String>),
    /// It was blocked.
    Blocked {
        /// In this system call.
        call: Option<String>,
        /// For so many seconds; `None` if it would have been for good.
        seconds: Option<u64>,
        /// In code of this file.
        file: Option<String>,
    },
    /// It was blocked for so many seconds for input from outside.
    Outside(u64),
    /// All threads waited in memory that another process shares, which is not controlled.
    OtherProcess,
}

impl Standstill {
    /// The system call, if it is known.
    pub fn call(&self) -> Option<&str> {
        match self {
            Standstill::Blocked { call, .. } => call.as_deref(),
            _ => None,
        }
    }

    /// Is it the same, however long it took?
    pub fn is_like(&self, other: &Standstill) -> bool {
        match (self, other) {
            (Standstill::Computed(_, one), Standstill::Computed(_, other)) => one == other,
            (
                Standstill::Blocked { call, seconds, file },
                Standstill::Blocked { call: call2, seconds: seconds2, file: file2 },
            ) => (call, seconds.is_some(), file) == (call2, seconds2.is_some(), file2),
            (Standstill::Outside(_), Standstill::Outside(_)) => true,
            (one, other) => one == other,
        }
    }
}

/// `SIGSEGV`, or `signal 42`. Numbers as on Linux (x86-64 and most others).
pub fn signal_name(number: i32) -> String {
    const NAMES: [&str; 32] = [
        "", "HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "USR1", "SEGV",
        "USR2", "PIPE", "ALRM", "TERM", "STKFLT", "CHLD", "CONT", "STOP", "TSTP", "TTIN", "TTOU",
        "URG", "XCPU", "XFSZ", "VTALRM", "PROF", "WINCH", "IO", "PWR", "SYS",
    ];
    match usize::try_from(number).ok().and_then(|it| NAMES.get(it)) {
        Some(name) if !name.is_empty() => format!("SIG{name}"),
        _ => format!("signal {number}"),
    }
}

#[cfg(test)]
mod tests {
    use super::signal_name as name;

    #[test]
    fn names_of_signals() {
        assert_eq!([name(6), name(11), name(31)], ["SIGABRT", "SIGSEGV", "SIGSYS"]);
        assert_eq!([name(0), name(40), name(-1)], ["signal 0", "signal 40", "signal -1"]);
    }
}
