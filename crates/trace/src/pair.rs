//! Ordered pairs that an execution covered: of sites, and of locks.

/// The most pairs that one execution tells; further ones are dropped.
pub const PAIRS_MAX: u32 = 512;

/// Two sites or two locks, in the order in which they were met. The same in every execution.
///
/// Two hashes of 31 bits side by side, so that the reverse is known from the pair alone; the bit beside
/// each tells locks from sites. Of a thousand sites, one chance in four thousand that two share a hash.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct Pair(pub u64);

impl Pair {
    /// No pair.
    pub const NONE: Pair = Pair(0);

    const LOCKS: u64 = 1 << 63 | 1 << 31;

    /// A step at the second site followed a step at the first that it conflicts with.
    #[inline]
    pub const fn of_sites(first: u64, second: u64) -> Pair {
        Pair(half(first) << 32 | half(second))
    }

    /// The second lock was taken while the first was held.
    #[inline]
    pub const fn of_locks(held: u64, taken: u64) -> Pair {
        Pair(Pair::of_sites(held, taken).0 | Pair::LOCKS)
    }

    /// Is it a pair of locks?
    #[inline]
    pub const fn is_of_locks(self) -> bool {
        self.0 & Pair::LOCKS != 0
    }

    /// The other order.
    #[inline]
    pub const fn reverse(self) -> Pair {
        Pair(self.0.rotate_left(32))
    }
}

/// 31 bits, never 0.
const fn half(hash: u64) -> u64 {
    let bits = (hash ^ hash >> 32) & 0x7fff_ffff;
    if bits == 0 { 1 } else { bits }
}

#[cfg(test)]
mod tests {
    use raddle_model::mix;

    use super::Pair;

    #[test]
    fn pairs_have_an_order_and_a_kind() {
        for n in 0..1_000 {
            let (a, b) = (mix(1, n), mix(2, n));
            let (sites, locks) = (Pair::of_sites(a, b), Pair::of_locks(a, b));
            assert_eq!(sites.reverse(), Pair::of_sites(b, a));
            assert_eq!(locks.reverse(), Pair::of_locks(b, a));
            assert!(sites != locks && sites != sites.reverse() && sites != Pair::NONE);
            assert!(locks.is_of_locks() && locks.reverse().is_of_locks());
            assert!(!sites.is_of_locks() && !sites.reverse().is_of_locks());
        }
        assert_ne!(Pair::of_sites(0, 0), Pair::NONE);
    }
}
