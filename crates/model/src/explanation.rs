//! Why a finding happens, as a value: how small its schedule became, which orders make it fail, the nearest
//! schedule that does not, and how likely it is. Text and pages are renderings of it.
//!
//! It belongs to the finding whose schedule was made small: its steps are meant wherever a step is named.

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use crate::{NamedObject, ObjectId, OpKind, Place, Plan, Step, ThreadId, ThreadState, Weakness};

/// What is known about a finding beyond what it is.
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Explanation {
    /// How its schedule was made small.
    pub minimising: Minimising,
    /// Which orders make it fail; `None` where none were found.
    #[cfg_attr(feature = "serde", serde(default))]
    pub reason: Option<Reason>,
    /// The nearest schedule that passes, if one was found.
    #[cfg_attr(feature = "serde", serde(default))]
    pub passing: Option<Box<Passing>>,
    /// How likely it is, by strategy.
    #[cfg_attr(feature = "serde", serde(default))]
    pub likelihood: Vec<Likelihood>,
    /// Which memory orders are too weak, if that was looked into.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub weakness: Option<Weakness>,
}

/// How a schedule was made small: the same bucket throughout.
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Minimising {
    /// The schedule that was found.
    pub before: Size,
    /// The schedule that is left.
    pub after: Size,
    /// Executions that it took.
    pub n_replays: u64,
    /// Why it went no further.
    pub ending: MinimisingEnd,
}

/// Why making a schedule small went no further.
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize), serde(rename_all = "kebab-case"))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MinimisingEnd {
    /// No change that was tried makes it smaller.
    #[default]
    Done,
    /// The budget of executions and steps was spent.
    Budget,
    /// The clock's emergency stop: the result depends on the machine.
    Time,
    /// The finding did not come back when its own schedule was run again, or its schedule is not known.
    NotReproduced,
}

/// How large a schedule is. Compared in the order of the fields.
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Size {
    /// Switches away from a thread that could have gone on.
    pub n_preemptions: u64,
    /// All switches.
    pub n_switches: u64,
    /// Steps.
    pub n_steps: u64,
    /// Threads that took a step.
    pub n_threads: u64,
}

/// The orders that make it fail.
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reason {
    /// All of them together are enough. As they come in the schedule.
    pub orders: Vec<Constraint>,
    /// Random executions that kept these orders, and how many of them failed the same way.
    pub sufficient: Share,
    /// So many steps came first, the same in all of these executions. 0: none had to.
    #[cfg_attr(feature = "serde", serde(default))]
    pub n_same: u64,
    /// What stands out about the places concerned.
    pub observations: Vec<Observation>,
    /// What the failing thread read on the line where it failed, as far as others had a hand in it; the last one last.
    #[cfg_attr(feature = "serde", serde(default))]
    pub looks: Vec<Point>,
}

impl Reason {
    /// How many orders have to be right for it to fail: an upper bound for its depth, as PCT counts it, if nothing else has
    /// to be.
    pub fn depth(&self) -> Option<usize> {
        (self.n_same == 0).then_some(self.orders.len())
    }
}

/// `n` of `of`.
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Share {
    /// So many …
    pub n: u64,
    /// … of these.
    pub of: u64,
}

/// One thing comes before another.
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Constraint {
    /// What comes first.
    pub first: Point,
    /// What comes later.
    pub second: Point,
    /// Without this order it passes sometimes: of executions that kept the others and had this one the
    /// other way round, how many failed.
    pub reversed: Share,
}

impl Constraint {
    /// Did anything pass when it was the other way round?
    pub const fn is_necessary(&self) -> bool {
        self.reversed.n < self.reversed.of
    }
}

/// Something that a thread does in the schedule.
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Point {
    /// Who.
    pub thread: ThreadId,
    /// Which step, from 0, counted from the execution's start; `None` for what the thread waited to do
    /// when the execution ended.
    pub step: Option<u64>,
    /// What.
    pub kind: OpKind,
    /// To what: an index into the finding's objects.
    pub object: ObjectId,
    /// Where.
    pub place: Place,
    /// The text of that line, trimmed; empty if it is not at hand.
    pub source: String,
    /// The call that led there, with its text, where the place alone does not tell who it was: code of a
    /// library, or a function that is called from several places.
    #[cfg_attr(feature = "serde", serde(default))]
    pub caller: Option<(Place, String)>,
    /// The wrapper that does it, where `place` is the call of that: a small accessor, or a function in a header.
    #[cfg_attr(feature = "serde", serde(default))]
    pub within: Option<Place>,
    /// The value that was read or written, if it is known.
    #[cfg_attr(feature = "serde", serde(default))]
    pub value: Option<u64>,
    /// 0 if it is the step itself. An access that is no scheduling point comes after `step` and before its thread's
    /// next one: how many of the thread's accesses after it.
    #[cfg_attr(feature = "serde", serde(default))]
    pub after: u32,
    /// Who wrote what it reads, if that is known.
    #[cfg_attr(feature = "serde", serde(default))]
    pub origin: Option<Box<Origin>>,
    /// The value that an update leaves, if that is known; of a compare-exchange that fails, the old one.
    #[cfg_attr(feature = "serde", serde(default))]
    pub left: Option<u64>,
}

impl Point {
    /// An op that is no step of the smallest schedule, without what led there.
    pub fn new(
        thread: ThreadId,
        kind: OpKind,
        object: ObjectId,
        place: Place,
        source: String,
    ) -> Point {
        Point {
            thread,
            step: None,
            kind,
            object,
            place,
            source,
            caller: None,
            within: None,
            value: None,
            after: 0,
            origin: None,
            left: None,
        }
    }
}

/// The write of a value that is read.
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// Whose.
    pub thread: ThreadId,
    /// Which step, as in [`Point`].
    pub step: Option<u64>,
    /// How many accesses after it, as in [`Point`].
    pub after: u32,
    /// Where.
    pub place: Place,
}

/// What stands out: observed, not proved.
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize), serde(rename_all = "kebab-case"))]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Observation {
    /// One side holds a lock, the other does not.
    LockOnOneSide {
        /// The side that holds it.
        holding: Point,
        /// The side that does not.
        other: Point,
        /// The lock.
        lock: NamedObject,
    },
    /// Both sides hold a lock, not the same one.
    DifferentLocks {
        /// The two sides.
        sides: [Point; 2],
        /// What each holds.
        locks: [NamedObject; 2],
    },
    /// No lock is held on either side.
    NoLock {
        /// The two sides.
        sides: [Point; 2],
    },
    /// Two things that a thread does one after the other, with another thread's in between: the lock was
    /// given back between them, or there was none.
    NotOne {
        /// What begins it.
        from: Point,
        /// What comes in between.
        between: Point,
        /// What ends it.
        to: Point,
        /// The lock that is held at both ends, but not all the way.
        lock: Option<NamedObject>,
    },
    /// A wait that is not in a loop around its condition: it went on although what it waited for was gone.
    NoLoop {
        /// The wait.
        wait: Point,
    },
    /// A signal that nobody waited for yet.
    EarlySignal {
        /// The signal.
        signal: Point,
        /// The wait that came too late.
        wait: Point,
    },
    /// A signal that came when the thread had left its wait, because that had timed out.
    LateSignal {
        /// The end of that wait.
        left: Point,
        /// The signal.
        signal: Point,
        /// The wait that came afterwards.
        wait: Point,
    },
    /// The only signal since a wait began woke somebody else.
    TakenSignal {
        /// The signal.
        signal: Point,
        /// Who was woken by it, and where.
        woken: Point,
        /// The wait that goes on.
        wait: Point,
    },
    /// A signal that woke a thread which could not use it and waits again, while another waits who was not woken.
    WastedSignal {
        /// The signal.
        signal: Point,
        /// Where the one that it woke waits again.
        again: Point,
        /// The wait that goes on.
        wait: Point,
    },
    /// A signal to a thread, or its cancellation, took effect in the midst of what the thread did.
    Interrupted {
        /// Who sent it.
        sent: Point,
        /// Where the thread was.
        at: Point,
    },
    /// Locks taken in opposite orders.
    LockOrder {
        /// Each thread's part of the cycle: where it took what it holds, and where it waits for the next.
        links: Vec<[Point; 2]>,
    },
}

impl Observation {
    /// What it is about.
    pub fn points(&self) -> Vec<&Point> {
        match self {
            Observation::LockOnOneSide { holding, other, .. } => vec![holding, other],
            Observation::DifferentLocks { sides, .. } | Observation::NoLock { sides } => {
                sides.iter().collect()
            }
            Observation::NotOne { from, between, to, .. } => vec![from, between, to],
            Observation::NoLoop { wait } => vec![wait],
            Observation::EarlySignal { signal, wait } => vec![signal, wait],
            Observation::LateSignal { left, signal, wait } => vec![left, signal, wait],
            Observation::TakenSignal { signal, woken, wait } => vec![signal, woken, wait],
            Observation::WastedSignal { signal, again, wait } => vec![signal, again, wait],
            Observation::Interrupted { sent, at } => vec![sent, at],
            Observation::LockOrder { links } => links.iter().flatten().collect(),
        }
    }
}

/// A schedule that passes, as near to the failing one as could be found.
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passing {
    /// The plan that shows it.
    pub plan: Plan,
    /// Its steps (the last ones, if there were too many to keep).
    pub steps: Vec<Step>,
    /// Steps that are not in `steps`, from its start.
    pub n_steps_dropped: u64,
    /// Objects, by number. Entry 0 is no object.
    pub objects: Vec<NamedObject>,
    /// Places that steps and stacks refer to. Entry 0 is unknown.
    pub places: Vec<Place>,
    /// The calls that led to steps, as in a finding.
    #[cfg_attr(feature = "serde", serde(default))]
    pub stacks: Vec<Vec<u32>>,
    /// Its threads, as they were at the end.
    pub threads: Vec<ThreadState>,
    /// How large it is.
    pub size: Size,
    /// The order that is the other way round: an index into [`Reason::orders`].
    pub reversed: Option<usize>,
    /// The first value in which the two differ.
    pub difference: Option<Difference>,
}

/// The same thread, at the same point of its own steps, sees or does something else.
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// What the thread does, in the failing schedule.
    pub point: Point,
    /// The step of the passing schedule, from 0.
    pub passing_step: u64,
    /// What it reads when it fails, and when it passes.
    pub values: [u64; 2],
}

/// How often a strategy shows the finding.
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Likelihood {
    /// The strategy, as the user would write it.
    pub strategy: String,
    /// Executions that showed it, of how many.
    pub share: Share,
}
