//! What the random pickers have in common: one generator, and delays.
//!
//! While others can go on, the wait of a blocked thread with the earliest deadline is ended now and then: a delay. In
//! half of the executions there is none, so that watchdogs which go off don't drown the rest. In the others one choice in
//! four, 16, 64 or 256 is one, so that there are some in programs of whatever length. How long a delay is plays no part.

use raddle_model::{Rng, ThreadId, mix};

use crate::view::Threads;

/// One choice in so many is given to threads whose wait may end; 0: none.
const DELAY_ODDS: [u32; 8] = [0, 0, 0, 0, 4, 16, 64, 256];
/// Which of them, is not what the generator of the other choices says: they are the same where nobody waits.
const DELAY_SEED: u64 = 0x6465_6c61_7973;

/// See the module.
#[derive(Clone, Debug)]
pub(crate) struct Dice {
    rng: Rng,
    delay_odds: u32,
}

impl Dice {
    pub(crate) const fn new(seed: u64, may_time_out: bool) -> Dice {
        let odds = DELAY_ODDS[mix(seed, DELAY_SEED) as usize % DELAY_ODDS.len()];
        Dice { rng: Rng::new(seed), delay_odds: if may_time_out { odds } else { 0 } }
    }

    /// Seldom: a thread whose wait may end by itself.
    #[inline]
    pub(crate) fn timed<T: Threads>(&mut self, threads: &T) -> Option<ThreadId> {
        let timed = threads.timed();
        if timed.is_empty() || self.delay_odds == 0 || self.rng.below(self.delay_odds) != 0 {
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
