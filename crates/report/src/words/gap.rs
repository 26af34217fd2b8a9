//! What limits the claim of a search, in words.

use raddle_model::Gap;

use crate::layout::number::count;

/// What was not covered: `memory orders weaker than seq_cst: 3 places were executed as seq_cst`.
pub(crate) fn words(gap: &Gap) -> String {
    match gap {
        Gap::WeakAtomics(n) => format!(
            "memory orders weaker than seq_cst: atomic operations at {} were executed as seq_cst (--memory-model c11)",
            count(*n, "place")
        ),
        Gap::BeyondModel(n) => format!(
            "loads of stores that are executed later or were overwritten 32 times, and what else --memory-model c11 leaves \
             out: atomic operations at {} have orders weaker than seq_cst (docs/memory.md)",
            count(*n, "place")
        ),
        Gap::StoreOrder(n) => format!(
            "memory orders weaker than seq_cst: atomic operations at {} were executed as x86 executes them in program order; \
             the language allows more (--memory-model c11)",
            count(*n, "place")
        ),
        Gap::WakeOrder => {
            "some stale reads after waits for semaphores, condition variables and futexes (--strategy dfs tries all)"
                .to_owned()
        }
        Gap::Volatile(n) => format!(
            "reordering of volatile accesses: those at {} were executed as seq_cst",
            count(*n, "place")
        ),
        Gap::Courtesy(n) => format!(
            "schedules in which a thread continues immediately after a yield or in a busy-wait loop ({}): other \
             threads ran first",
            count(*n, "place")
        ),
        Gap::Clock(n) => format!(
            "other durations of operations: {} read clocks or set timers, and every step takes 100 ns",
            count(*n, "execution")
        ),
        Gap::Addresses(n) => format!(
            "memory addresses: several threads allocated memory in {}, and the order of allocations was not explored",
            count(*n, "execution")
        ),
        Gap::Signals => {
            "some moments at which signals or cancellations arrive (--strategy dfs tries all)"
                .to_owned()
        }
        Gap::NoRaces => "data races: detection is off (--detect race)".to_owned(),
        Gap::NoSpurious => "spurious wake-ups of condition variables (--spurious)".to_owned(),
        Gap::LateTimeouts => {
            "timeouts that expire while other threads can run (--timeouts rare)".to_owned()
        }
        Gap::Unhooked(modules) => {
            format!("memory accesses of uninstrumented code: {}", modules.join(", "))
        }
        Gap::Thinned(n) => format!(
            "some accesses to shared memory in {} that had too many of them (--max-steps)",
            count(*n, "execution")
        ),
        Gap::Uncontrolled(n) => count(*n, "uncontrolled operation"),
        Gap::Unfinished(n) => {
            format!("{} that did not finish", count(*n, "execution"))
        }
        Gap::TooLong(n) => {
            format!("alternatives to {} too long for a search", count(*n, "execution"))
        }
        Gap::Diverged(n) => {
            format!("schedules beyond {} that diverged from the plan", count(*n, "execution"))
        }
        Gap::Unlike(n) => format!(
            "nondeterminism under the same schedule: {} of the first execution differed",
            count(*n, "repetition")
        ),
        Gap::NotRepeated => {
            "determinism of the program: time ran out before it was checked (--time)".to_owned()
        }
        Gap::Suppressed(n) => {
            format!("{} with a suppressed failure", count(*n, "execution"))
        }
        Gap::Gone(n) => {
            format!("{} of earlier parts of this search that were discarded", count(*n, "finding"))
        }
    }
}

/// How many, if it counts something.
pub(crate) const fn number(gap: &Gap) -> Option<u64> {
    match gap {
        Gap::WeakAtomics(n)
        | Gap::BeyondModel(n)
        | Gap::StoreOrder(n)
        | Gap::Volatile(n)
        | Gap::Courtesy(n)
        | Gap::Clock(n)
        | Gap::Addresses(n)
        | Gap::Thinned(n)
        | Gap::Uncontrolled(n)
        | Gap::Unfinished(n)
        | Gap::TooLong(n)
        | Gap::Diverged(n)
        | Gap::Unlike(n)
        | Gap::Suppressed(n)
        | Gap::Gone(n) => Some(*n),
        Gap::WakeOrder
        | Gap::Signals
        | Gap::NoRaces
        | Gap::NoSpurious
        | Gap::LateTimeouts
        | Gap::NotRepeated
        | Gap::Unhooked(_) => None,
    }
}
