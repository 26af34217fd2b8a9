//! How often a load may read an older store, where memory is weak.
//!
//! Bugs need one or two stale reads, and the others to be fresh. In half of the executions each access is performed in any of its
//! ways, as the picker draws. In the others one access in 4, 16, 64 or 256 is, and all others are up to date.
//!
//! The bound: let an execution have k accesses with a choice of at most h ways each, d of which must be performed in a certain
//! way and the others be up to date. For k/d from 4 to 256 one of those rates 1/m has k/d <= m < 4k/d. It hits with a probability
//! of at least (1/mh)^d (1 - 1/m)^(md), which is at least (d / 13hk)^d; the rate is drawn with 1/8. So
//! at least 1/8 (d / 13hk)^d of the executions in which threads are scheduled as they must be: polynomial in k, where
//! uniform choices alone hit with h^-k. PCTWM (Gao, Chakraborty and Kulahcioglu Ozkan, ASPLOS 2023) draws d of k positions, which
//! has to know k; here k need not be known.

use raddle_model::{PickerSpec, Rng, mix};

/// One access in so many is performed in any way.
const ODDS: [u32; 8] = [1, 1, 1, 1, 4, 16, 64, 256];
/// As in `dice`: not what the generator of the other choices says.
const SEED: u64 = 0x0072_6561_6473;

/// See the module.
#[derive(Clone, Debug)]
pub(crate) struct Reads {
    rng: Rng,
    odds: u32,
}

impl Reads {
    /// All ways are drawn from, always.
    pub(crate) const ANY: Reads = Reads { rng: Rng::new(0), odds: 1 };

    /// Those of an execution. Pickers that explain another one, or leave a search its choices, draw as they are asked to.
    pub(crate) const fn of(picker: PickerSpec, seed: u64) -> Reads {
        let seed = mix(seed, SEED);
        match picker {
            PickerSpec::Constrained | PickerSpec::LeastSwitching | PickerSpec::Switches => {
                Reads::ANY
            }
            _ => Reads { rng: Rng::new(seed), odds: ODDS[seed as usize % ODDS.len()] },
        }
    }

    /// Is the next access performed in any of its ways, and not just in the first?
    pub(crate) fn is_open(&mut self) -> bool {
        self.odds == 1 || self.rng.below(self.odds) == 0
    }
}
