//! What limits the claim of a search that has seen everything it was asked for.

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

/// One reason why "no schedule fails" would say too much.
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize), serde(rename_all = "kebab-case"))]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Gap {
    /// Atomics weaker than sequentially consistent, at so many places, were executed as such.
    WeakAtomics(u64),
    /// Those at so many places were executed by the rules of the memory model, which leave out some of what the standards
    /// allow.
    BeyondModel(u64),
    /// Those at so many places were executed as processors with total store order do, which allow less than the standards.
    StoreOrder(u64),
    /// Where memory is weak, what a woken thread knows depends on the order of wake-ups, which the search takes for equal.
    WakeOrder,
    /// Accesses to volatile objects, at so many places, were executed as sequentially consistent ones.
    Volatile(u64),
    /// Threads that yielded or waited in loops, at so many places, let others go first.
    Courtesy(u64),
    /// Clocks were read or timers set in so many executions, and showed what Raddle says that things take.
    Clock(u64),
    /// Several threads allocated memory in so many executions, and the order of that was not explored.
    Addresses(u64),
    /// Signals or cancellations arrived at some moments only: the search leaves out orders that it takes for equal.
    Signals,
    /// Nobody looked for data races.
    NoRaces,
    /// Waits on condition variables ended only when somebody ended them.
    NoSpurious,
    /// Timed waits timed out only when nothing else could run.
    LateTimeouts,
    /// Code of these files, source files or functions does not tell its accesses to memory.
    Unhooked(Vec<String>),
    /// Accesses were left out in so many executions, because there were too many.
    Thinned(u64),
    /// So many things could not be controlled.
    Uncontrolled(u64),
    /// So many executions did not come to an end of their own.
    Unfinished(u64),
    /// So many executions were too long for the search.
    TooLong(u64),
    /// So many executions did not follow their choices.
    Diverged(u64),
    /// So many repetitions of the first execution were not like it.
    Unlike(u64),
    /// Time was over before it was known whether the program does the same again.
    NotRepeated,
    /// So many executions failed in ways that are suppressed.
    Suppressed(u64),
    /// So many findings of earlier parts of the search were discarded since.
    Gone(u64),
}

impl Gap {
    /// What tools call it.
    pub const fn name(&self) -> &'static str {
        match self {
            Gap::WeakAtomics(_) => "weak-atomics",
            Gap::BeyondModel(_) => "beyond-memory-model",
            Gap::StoreOrder(_) => "total-store-order",
            Gap::WakeOrder => "wake-order",
            Gap::Volatile(_) => "volatile",
            Gap::Courtesy(_) => "yields",
            Gap::Clock(_) => "clock",
            Gap::Addresses(_) => "addresses",
            Gap::Signals => "signals",
            Gap::NoRaces => "no-race-detection",
            Gap::NoSpurious => "no-spurious-wakeups",
            Gap::LateTimeouts => "late-timeouts",
            Gap::Unhooked(_) => "uninstrumented-code",
            Gap::Thinned(_) => "accesses-left-out",
            Gap::Uncontrolled(_) => "uncontrolled",
            Gap::Unfinished(_) => "unfinished",
            Gap::TooLong(_) => "too-long",
            Gap::Diverged(_) => "diverged",
            Gap::Unlike(_) => "not-repeatable",
            Gap::NotRepeated => "not-repeated",
            Gap::Suppressed(_) => "suppressed",
            Gap::Gone(_) => "discarded-findings",
        }
    }
}
