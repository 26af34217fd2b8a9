//! What limits the claim of a search, in words.

use raddle_model::Gap;

use crate::layout::number::count;

/// What was not covered: `memory orders weaker than seq_cst: 3 places were executed as seq_cst`.
pub(crate) fn words(gap: &Gap) -> String {
    match gap {
        Gap::WeakAtomics(n) => format!(
            "memory orders weaker than seq_cst: atomic operations at {} were executed as seq_cst",
            count(*n, "place")
        ),
        Gap::Volatile(n) => format!(
            "reordering of volatile accesses: those at {} were executed as seq_cst",
            count(*n, "place")
        ),
        Gap::Courtesy(n) => format!(
            "schedules in which a thread goes on at once where it yields or waits in a loop ({}): others \
             went first",
            count(*n, "place")
        ),
        Gap::Clock(n) => format!(
            "how long operations take: clocks were read or timers set in {}, and a step takes 100 ns there",
            count(*n, "execution")
        ),
        Gap::Addresses(n) => format!(
            "addresses of memory: several threads allocated some in {}, and the order of that was not explored",
            count(*n, "execution")
        ),
        Gap::Signals => {
            "some moments at which signals or cancellations arrive (--strategy dfs tries all)"
                .to_owned()
        }
        Gap::NoRaces => "data races: they were not looked for (--detect race)".to_owned(),
        Gap::NoSpurious => "spurious wake-ups of condition variables (--spurious)".to_owned(),
        Gap::LateTimeouts => {
            "timeouts that expire while other threads can run (--timeouts rare)".to_owned()
        }
        Gap::Unhooked(modules) => {
            format!("memory accesses of code built without raddle: {}", modules.join(", "))
        }
        Gap::Thinned(n) => format!(
            "some accesses to shared memory in {}, which made too many (--max-steps)",
            count(*n, "execution")
        ),
        Gap::Uncontrolled(n) => count(*n, "uncontrolled operation"),
        Gap::Unfinished(n) => {
            format!("{} that did not come to their end", count(*n, "execution"))
        }
        Gap::TooLong(n) => {
            format!("schedules beside {} too long for a search", count(*n, "execution"))
        }
        Gap::Diverged(n) => {
            format!("schedules behind {} that did not follow the plan", count(*n, "execution"))
        }
        Gap::Unlike(n) => format!(
            "other behaviour under the same schedule: {} of the first execution differed",
            count(*n, "repetition")
        ),
        Gap::NotRepeated => {
            "whether the program does the same again: time was over first (--time)".to_owned()
        }
        Gap::Suppressed(n) => {
            format!("{} with a suppressed failure", count(*n, "execution"))
        }
        Gap::Gone(n) => {
            format!("{} of earlier parts of this search, discarded since", count(*n, "finding"))
        }
    }
}

/// How many, if it counts something.
pub(crate) const fn number(gap: &Gap) -> Option<u64> {
    match gap {
        Gap::WeakAtomics(n)
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
        Gap::Signals
        | Gap::NoRaces
        | Gap::NoSpurious
        | Gap::LateTimeouts
        | Gap::NotRepeated
        | Gap::Unhooked(_) => None,
    }
}
