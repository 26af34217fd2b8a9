//! The one source of randomness.

use crate::mix;

/// A seeded generator (xorshift64*). The whole of an execution's randomness comes from one of these.
#[derive(Clone, Debug)]
pub struct Rng(u64);

impl Rng {
    /// Starts from `seed`; every seed is a good seed, and neighbouring seeds are unrelated.
    pub const fn new(seed: u64) -> Rng {
        Rng(mix(seed, 0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// The next 64 random bits.
    #[inline]
    pub const fn bits(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// A number below `bound`, which must not be 0.
    #[inline]
    pub const fn below(&mut self, bound: u32) -> u32 {
        assert!(0 < bound);
        (((self.bits() >> 32) * bound as u64) >> 32) as u32
    }

    /// As [`Rng::below`], for bounds of more than 32 bits.
    #[inline]
    pub const fn below_wide(&mut self, bound: u64) -> u64 {
        assert!(0 < bound);
        ((self.bits() as u128 * bound as u128) >> 64) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::Rng;

    /// 60,000 draws of six: each side expected 10,000 times with standard deviation 91.3; five of
    /// them is 456.
    #[test]
    fn below_is_even() {
        let mut counts = [0_u32; 6];
        let mut rng = Rng::new(7);
        for _ in 0..60_000 {
            counts[rng.below(6) as usize] += 1;
        }
        assert!(counts.iter().all(|it| it.abs_diff(10_000) < 456), "{counts:?}");
    }

    /// As above, with a bound that takes more than 32 bits.
    #[test]
    fn below_wide_is_even() {
        let mut counts = [0_u32; 6];
        let mut rng = Rng::new(7);
        for _ in 0..60_000 {
            counts[(rng.below_wide(6 << 40) >> 40) as usize] += 1;
        }
        assert!(counts.iter().all(|it| it.abs_diff(10_000) < 456), "{counts:?}");
    }

    #[test]
    fn neighbouring_seeds_differ_at_once() {
        let first: Vec<u64> = (0..100).map(|seed| Rng::new(seed).bits()).collect();
        let mut distinct = first.clone();
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!(distinct.len(), first.len());
    }
}
