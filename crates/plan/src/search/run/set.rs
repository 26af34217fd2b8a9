//! A set of threads, as bits.

use raddle_model::ThreadId;
use serde::{Deserialize, Serialize};

/// A set of the first 64 threads.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Threads(pub u64);

impl Threads {
    /// Threads that fit.
    pub const MAX: u32 = 64;

    /// Nobody.
    pub const NONE: Threads = Threads(0);

    /// One thread alone.
    pub const fn one(thread: ThreadId) -> Threads {
        Threads(1 << thread.0)
    }

    /// Is the thread in it?
    pub const fn has(self, thread: ThreadId) -> bool {
        self.0 >> thread.0 & 1 == 1
    }

    /// With the thread too.
    pub const fn with(self, thread: ThreadId) -> Threads {
        Threads(self.0 | 1 << thread.0)
    }

    /// Without the thread.
    pub const fn without(self, thread: ThreadId) -> Threads {
        Threads(self.0 & !(1 << thread.0))
    }

    /// Those in either.
    pub const fn or(self, other: Threads) -> Threads {
        Threads(self.0 | other.0)
    }

    /// Those in both.
    pub const fn and(self, other: Threads) -> Threads {
        Threads(self.0 & other.0)
    }

    /// Those that are not in the other.
    pub const fn minus(self, other: Threads) -> Threads {
        Threads(self.0 & !other.0)
    }

    /// Is nobody in it?
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// How many.
    pub const fn len(self) -> u32 {
        self.0.count_ones()
    }

    /// The first, in the order of creation.
    pub const fn first(self) -> Option<ThreadId> {
        if self.0 == 0 { None } else { Some(ThreadId(self.0.trailing_zeros())) }
    }

    /// All, in the order of creation.
    pub fn iter(self) -> impl Iterator<Item = ThreadId> {
        let mut left = self.0;
        std::iter::from_fn(move || {
            let thread = Threads(left).first()?;
            left &= left - 1;
            Some(thread)
        })
    }

    /// All, in the order of creation, beginning after `last` and ending with it: round and round.
    pub fn round(self, last: ThreadId) -> impl Iterator<Item = ThreadId> {
        let below = if last.0 + 1 >= Threads::MAX { u64::MAX } else { (1 << (last.0 + 1)) - 1 };
        Threads(self.0 & !below).iter().chain(Threads(self.0 & below).iter())
    }
}

impl FromIterator<ThreadId> for Threads {
    fn from_iter<I: IntoIterator<Item = ThreadId>>(threads: I) -> Threads {
        threads.into_iter().fold(Threads::NONE, Threads::with)
    }
}

#[cfg(test)]
mod tests {
    use raddle_model::ThreadId;

    use super::Threads;

    #[test]
    fn round_begins_after_the_last() {
        let all: Threads = [0, 2, 5, 63].map(ThreadId).into_iter().collect();
        let round = |last| all.round(ThreadId(last)).map(|it| it.0).collect::<Vec<u32>>();
        assert_eq!(round(0), [2, 5, 63, 0]);
        assert_eq!(round(2), [5, 63, 0, 2]);
        assert_eq!(round(3), [5, 63, 0, 2]);
        assert_eq!(round(63), [0, 2, 5, 63]);
    }
}
