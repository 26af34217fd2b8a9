//! What the random pickers have in common: one generator, and when waits with a deadline end.
//!
//! A blocked thread with a deadline is chosen one time in sixteen, so that time-out paths are taken
//! without drowning the rest.

use raddle_model::{Rng, ThreadId};

use crate::view::Threads;

/// One choice in so many is given to threads whose deadline may pass.
const TIMED_ODDS: u32 = 16;

/// See the module.
#[derive(Clone, Debug)]
pub(crate) struct Dice {
    rng: Rng,
    may_time_out: bool,
}

impl Dice {
    pub(crate) const fn new(seed: u64, may_time_out: bool) -> Dice {
        Dice { rng: Rng::new(seed), may_time_out }
    }

    /// Seldom: a thread whose wait may end by itself.
    #[inline]
    pub(crate) fn timed<T: Threads>(&mut self, threads: &T) -> Option<ThreadId> {
        let timed = threads.timed();
        if timed.is_empty() || !self.may_time_out || self.rng.below(TIMED_ODDS) != 0 {
            return None;
        }
        Some(timed[self.rng.below(timed.len() as u32) as usize])
    }

    /// Any thread that can go on. Where there is only one, that takes no random number.
    #[inline]
    pub(crate) fn uniform<T: Threads>(&mut self, threads: &T) -> ThreadId {
        let n_enabled = threads.n_enabled();
        threads.enabled(if n_enabled == 1 { 0 } else { self.rng.below(n_enabled) })
    }

    /// A number below `bound`, which must not be 0.
    #[inline]
    pub(crate) fn below(&mut self, bound: u32) -> u32 {
        self.rng.below(bound)
    }

    /// As [`Dice::below`], for large bounds.
    #[inline]
    pub(crate) fn below_wide(&mut self, bound: u64) -> u64 {
        self.rng.below_wide(bound)
    }

    /// True with a probability per mille.
    #[inline]
    pub(crate) fn is_heads(&mut self, per_mille: u32) -> bool {
        self.rng.below(1000) < per_mille
    }

    /// 64 random bits.
    #[inline]
    pub(crate) fn bits(&mut self) -> u64 {
        self.rng.bits()
    }
}
