//! Uniform random walk: each thread that can go on is as likely as any other.
//!
//! The baseline of all randomized testing; no bound better than 1/n for each choice, so a bug that
//! needs k given choices among n threads has probability n^-k at worst (ALGORITHMS A1). Seed paper 4
//! shows where it fails: long threads make the unlikely orders of event pairs very unlikely.
//!
//! A blocked thread with a deadline is chosen one time in sixteen, so that time-out paths are taken
//! without drowning the rest.

use raddle_model::{Rng, ThreadId};

use crate::view::{Threads, View};

/// One choice in so many is given to threads whose deadline may pass.
const TIMED_ODDS: u32 = 16;

/// See the module.
#[derive(Clone, Debug)]
pub struct Walk {
    rng: Rng,
    may_time_out: bool,
}

impl Walk {
    /// A walk; `may_time_out` as the plan says.
    pub const fn new(rng: Rng, may_time_out: bool) -> Walk {
        Walk { rng, may_time_out }
    }

    #[inline]
    pub(crate) fn pick<T: Threads>(&mut self, view: &View<'_, T>) -> ThreadId {
        let timed = view.threads.timed();
        if self.may_time_out && !timed.is_empty() && self.rng.below(TIMED_ODDS) == 0 {
            return timed[self.rng.below(timed.len() as u32) as usize];
        }
        let n_enabled = view.threads.n_enabled();
        view.threads.enabled(if n_enabled == 1 { 0 } else { self.rng.below(n_enabled) })
    }

    pub(crate) fn choose(&mut self, n_choices: u32) -> u32 {
        self.rng.below(n_choices)
    }
}
