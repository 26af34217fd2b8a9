//! What one execution is to do: everything that decides its schedule is in here.

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use crate::{Flags, OpKind, OrderAt, PickerSpec, Profile};

/// Prefix of choices, picker, seed, limits, and what is known about sharing.
///
/// The same program, input and plan give the same trace, on both carriers. Replay, minimise, resume,
/// share, distribute: all are "run this plan".
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Choices to follow first, one for each choice point: a thread, or a data choice (which waiter a
    /// signal wakes). When they end, or one is not possible, the picker goes on.
    pub prefix: Vec<u32>,
    /// Who chooses after the prefix.
    pub picker: PickerSpec,
    /// The seed of the execution's only generator.
    pub seed: u64,
    /// What the program may do.
    #[cfg_attr(feature = "serde", serde(flatten))]
    pub conditions: Conditions,
    /// Names (hashes) of the variables and locks known to be exposed: accesses to such a variable, and
    /// the release of such a lock, are scheduling points from the first one on. Invariant: sorted, no
    /// duplicates.
    pub shared: Vec<u64>,
    /// What is known about the threads, for pickers that ask.
    #[cfg_attr(feature = "serde", serde(default))]
    pub profile: Profile,
    /// Memory orders that take the place of those in the source. Invariant: sorted, no two for one place, no more than
    /// [`OrderAt::MAX`].
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Vec::is_empty"))]
    pub orders: Vec<OrderAt>,
    /// What to write down beside the events.
    #[cfg_attr(feature = "serde", serde(default))]
    pub record: Record,
}

/// What a program may do in an execution, whoever chooses the schedule. All executions of a campaign have them in common.
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conditions {
    /// When to stop.
    pub limits: Limits,
    /// When timed waits time out.
    pub timeouts: Timeouts,
    /// May waits on condition variables end without a signal?
    pub spurious: bool,
    /// Where handlers of signals run.
    #[cfg_attr(feature = "serde", serde(default))]
    pub handlers: Handlers,
    /// Which steps are scheduling points.
    #[cfg_attr(feature = "serde", serde(default))]
    pub points: Points,
    /// What atomic loads may read.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "MemoryModel::is_sc"))]
    pub memory_model: MemoryModel,
}

impl Conditions {
    /// What a campaign uses when nothing is said.
    pub const DEFAULT: Conditions = Conditions {
        limits: Limits::DEFAULT,
        timeouts: Timeouts::Rare,
        spurious: false,
        handlers: Handlers::Nested,
        points: Points::Visible,
        memory_model: MemoryModel::Sc,
    };

    /// The same, but every access to memory is a scheduling point.
    pub const fn at_every_access(self) -> Conditions {
        Conditions { points: Points::All, ..self }
    }
}

/// What atomic loads may read.
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize), serde(rename_all = "kebab-case"))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MemoryModel {
    /// The newest store: all atomics are performed in one order.
    #[default]
    Sc,
    /// Any store that a processor with total store order allows, as x86 has it: the newest one may still wait in a buffer.
    Tso,
    /// Any store that C and C++20 allow by the orders in the source, but none that is executed later.
    C11,
}

impl MemoryModel {
    /// Is memory sequentially consistent?
    pub const fn is_sc(&self) -> bool {
        matches!(self, MemoryModel::Sc)
    }

    /// As a number, for the shared segment.
    pub const fn number(self) -> u32 {
        self as u32
    }

    /// The reverse of `number`.
    pub const fn from_number(number: u32) -> MemoryModel {
        match number {
            1 => MemoryModel::Tso,
            2 => MemoryModel::C11,
            _ => MemoryModel::Sc,
        }
    }

    /// As the user writes it.
    pub const fn word(self) -> &'static str {
        match self {
            MemoryModel::Sc => "sc",
            MemoryModel::Tso => "tso",
            MemoryModel::C11 => "c11",
        }
    }
}

/// Which steps are scheduling points. The others are events as well, but whoever comes to one goes on.
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize), serde(rename_all = "kebab-case"))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Points {
    /// What synchronises, and nothing else.
    Sync,
    /// What synchronises, and accesses to variables of which two were seen in a race. A lock's release only if
    /// somebody may try for the lock without waiting.
    ///
    /// The idea is seed paper 1's, the rule is ours: a race by happens-before makes a variable a point, not an empty
    /// lockset. `docs/points.md` says why nothing is lost by that.
    #[default]
    Visible,
    /// Every step, and every access to memory is one while two threads are alive.
    All,
    /// What synchronises, and accesses to memory that is neither unshared nor protected: seed paper 1's own rule.
    Lockset,
}

impl Points {
    /// As a number, for the shared segment.
    pub const fn number(self) -> u32 {
        self as u32
    }

    /// The reverse of `number`.
    pub const fn from_number(number: u32) -> Points {
        match number {
            0 => Points::Sync,
            2 => Points::All,
            3 => Points::Lockset,
            _ => Points::Visible,
        }
    }

    /// Is it learned from executions which accesses are points?
    pub const fn are_learned(self) -> bool {
        matches!(self, Points::Visible | Points::Lockset)
    }

    /// Is an access to memory looked at even if nobody but its thread knows that memory?
    #[inline(always)]
    pub const fn want_every_access(self) -> bool {
        matches!(self, Points::All | Points::Lockset)
    }

    /// Could another thread be chosen before such an op? Of a plain access and of a lock's release it depends on
    /// whether the object is exposed: whether two accesses were seen in a race, whether somebody tries for the lock.
    #[inline(always)]
    pub fn is_point(self, kind: OpKind, flags: Flags, is_exposed: impl FnOnce() -> bool) -> bool {
        let is_plain = matches!(kind, OpKind::Read | OpKind::Write | OpKind::ReadWrite);
        let is_release = matches!(kind, OpKind::Unlock | OpKind::RwUnlock);
        if !is_plain && !is_release || flags.has(Flags::VOLATILE) {
            return true;
        }
        match self {
            Points::All => true,
            Points::Visible | Points::Lockset => is_exposed(),
            Points::Sync => kind == OpKind::Unlock && is_exposed(),
        }
    }
}

/// Where handlers of signals run.
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize), serde(rename_all = "kebab-case"))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Handlers {
    /// In the thread that the signal interrupts, as in reality: one that takes a lock which that thread holds
    /// waits for ever.
    #[default]
    Nested,
    /// Each in a thread of its own (seed paper 3, §7.1.1): when an interrupt comes is a matter of the schedule then.
    Threads,
    /// In threads, and those of one signal one after the other.
    Ordered,
}

impl Handlers {
    /// As a number, for the shared segment.
    pub const fn number(self) -> u32 {
        self as u32
    }

    /// The reverse.
    pub const fn from_number(number: u32) -> Handlers {
        match number {
            1 => Handlers::Threads,
            2 => Handlers::Ordered,
            _ => Handlers::Nested,
        }
    }
}

/// What an execution writes down beside its events. It changes nothing in the schedule.
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Record {
    /// Who could have gone on, at each step; and what writes wrote.
    pub options: bool,
    /// With the options, the calls that led to each step.
    #[cfg_attr(feature = "serde", serde(default))]
    pub stacks: bool,
    /// With the stacks, and where every access is a step: accesses that a thread makes when no other is left.
    #[cfg_attr(feature = "serde", serde(default))]
    pub lone: bool,
    /// Data races.
    #[cfg_attr(feature = "serde", serde(default))]
    pub races: bool,
    /// Who accesses these four bytes, from where, and with which locks.
    #[cfg_attr(feature = "serde", serde(default))]
    pub watch: Option<Watch>,
}

impl Record {
    /// Nothing.
    pub const NONE: Record =
        Record { options: false, stacks: false, lone: false, races: false, watch: None };
}

/// Four bytes of the program's memory, by what is the same in every execution of a plan.
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(C)]
pub struct Watch {
    /// What they are in: 1 a module, 2 a heap block, 3 a thread's stack. 0: nothing is watched.
    pub region: u32,
    /// Heap: which allocation of its site.
    pub ordinal: u32,
    /// Which module, kind of block, or thread.
    pub base: u64,
    /// Where in it.
    pub offset: u64,
}

impl Plan {
    /// A plan without prefix or knowledge.
    pub const fn new(picker: PickerSpec, seed: u64) -> Plan {
        Plan {
            prefix: Vec::new(),
            picker,
            seed,
            conditions: Conditions::DEFAULT,
            shared: Vec::new(),
            profile: Profile::EMPTY,
            orders: Vec::new(),
            record: Record::NONE,
        }
    }
}

/// When to stop an execution.
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// After so many steps an execution is tried for a livelock, and cut short if it is none; after 16 times as many, if
    /// its steps do something new.
    pub max_steps: u64,
}

impl Limits {
    /// What a campaign uses when nothing is said.
    pub const DEFAULT: Limits = Limits { max_steps: 1_000_000 };
}

/// When a timed wait times out although another thread could go on: a delay.
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize), serde(rename_all = "kebab-case"))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timeouts {
    /// Never: only when nobody else can run.
    Last,
    /// As a choice that the random pickers seldom take, of the wait with the earliest deadline.
    Rare,
    /// As a choice, of any wait; all whose deadlines are earlier are over then, too. For searches: what a thread may do
    /// does not depend on what the others wait for, so that none of it is left out by a reduction.
    Any,
}

impl Timeouts {
    /// As a number, for the shared segment.
    pub const fn number(self) -> u32 {
        self as u32
    }

    /// The same choices for a search.
    pub const fn for_search(self) -> Timeouts {
        match self {
            Timeouts::Last => Timeouts::Last,
            Timeouts::Rare | Timeouts::Any => Timeouts::Any,
        }
    }
}

/// What carries a program's threads.
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize), serde(rename_all = "kebab-case"))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Carrier {
    /// One kernel thread runs them all, each on a borrowed stack: fast.
    #[default]
    Fibers,
    /// A kernel thread for each, one running at a time: what debuggers expect.
    Threads,
}
