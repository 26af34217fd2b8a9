//! A set of threads, as bits.

use crate::ThreadId;

/// 64 threads each.
const WORDS: usize = 4;

/// A set of the first [`ThreadSet::MAX`] threads. Others are in none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(C)]
pub struct ThreadSet([u64; WORDS]);

impl ThreadSet {
    /// Threads that fit.
    pub const MAX: u32 = u64::BITS * WORDS as u32;

    /// Nobody.
    pub const NONE: ThreadSet = ThreadSet([0; WORDS]);

    /// One thread alone.
    #[inline]
    pub const fn one(thread: ThreadId) -> ThreadSet {
        ThreadSet::NONE.with(thread)
    }

    /// The reverse of [`ThreadSet::words`].
    pub const fn from_words(words: [u64; WORDS]) -> ThreadSet {
        ThreadSet(words)
    }

    /// The bits, of the first 64 threads first.
    pub const fn words(self) -> [u64; WORDS] {
        self.0
    }

    /// Is the thread in it?
    #[inline]
    pub const fn has(self, thread: ThreadId) -> bool {
        thread.0 < ThreadSet::MAX
            && self.0[(thread.0 / u64::BITS) as usize] >> (thread.0 % u64::BITS) & 1 == 1
    }

    /// With the thread too.
    #[inline]
    pub const fn with(mut self, thread: ThreadId) -> ThreadSet {
        if thread.0 < ThreadSet::MAX {
            self.0[(thread.0 / u64::BITS) as usize] |= 1 << (thread.0 % u64::BITS);
        }
        self
    }

    /// Without the thread.
    #[inline]
    pub const fn without(self, thread: ThreadId) -> ThreadSet {
        self.minus(ThreadSet::one(thread))
    }

    /// Those in either.
    #[inline]
    pub const fn or(mut self, other: ThreadSet) -> ThreadSet {
        let mut word = 0;
        while word < WORDS {
            self.0[word] |= other.0[word];
            word += 1;
        }
        self
    }

    /// Those in both.
    #[inline]
    pub const fn and(mut self, other: ThreadSet) -> ThreadSet {
        let mut word = 0;
        while word < WORDS {
            self.0[word] &= other.0[word];
            word += 1;
        }
        self
    }

    /// Those that are not in the other.
    #[inline]
    pub const fn minus(mut self, other: ThreadSet) -> ThreadSet {
        let mut word = 0;
        while word < WORDS {
            self.0[word] &= !other.0[word];
            word += 1;
        }
        self
    }

    /// Is nobody in it?
    #[inline]
    pub const fn is_empty(self) -> bool {
        self.0[0] | self.0[1] | self.0[2] | self.0[3] == 0
    }

    /// How many.
    pub const fn len(self) -> u32 {
        let [a, b, c, d] = self.0;
        a.count_ones() + b.count_ones() + c.count_ones() + d.count_ones()
    }

    /// The first, in the order of creation.
    #[inline]
    pub const fn first(self) -> Option<ThreadId> {
        let mut word = 0;
        while word < WORDS {
            if self.0[word] != 0 {
                return Some(ThreadId(word as u32 * u64::BITS + self.0[word].trailing_zeros()));
            }
            word += 1;
        }
        None
    }

    /// All, in the order of creation.
    pub fn iter(self) -> impl Iterator<Item = ThreadId> {
        let mut left = self.0;
        let mut word = 0;
        std::iter::from_fn(move || {
            while word < WORDS && left[word] == 0 {
                word += 1;
            }
            let bits = left.get_mut(word)?;
            let thread = ThreadId(word as u32 * u64::BITS + bits.trailing_zeros());
            *bits &= *bits - 1;
            Some(thread)
        })
    }

    /// All, in the order of creation, beginning after `last` and ending with it: round and round.
    pub fn round(self, last: ThreadId) -> impl Iterator<Item = ThreadId> {
        let later = self.iter().filter(move |it| *it > last);
        later.chain(self.iter().take_while(move |it| *it <= last))
    }
}

impl FromIterator<ThreadId> for ThreadSet {
    fn from_iter<I: IntoIterator<Item = ThreadId>>(threads: I) -> ThreadSet {
        threads.into_iter().fold(ThreadSet::NONE, ThreadSet::with)
    }
}

/// As words, those at the end that are 0 left out.
#[cfg(feature = "serde")]
impl serde::Serialize for ThreadSet {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let n_words = self.0.iter().rposition(|it| *it != 0).map_or(0, |it| it + 1);
        serializer.collect_seq(&self.0[..n_words])
    }
}

#[cfg(feature = "serde")]
impl<'de> serde::Deserialize<'de> for ThreadSet {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<ThreadSet, D::Error> {
        let given: Vec<u64> = serde::Deserialize::deserialize(deserializer)?;
        let mut words = [0; WORDS];
        let room = words.get_mut(..given.len());
        room.ok_or_else(|| serde::de::Error::custom("too many threads"))?.copy_from_slice(&given);
        Ok(ThreadSet(words))
    }
}

#[cfg(test)]
mod tests {
    use super::ThreadSet;
    use crate::ThreadId;

    #[test]
    fn round_begins_after_the_last() {
        let all: ThreadSet = [0, 2, 63, 64, 255].map(ThreadId).into_iter().collect();
        let round = |last| all.round(ThreadId(last)).map(|it| it.0).collect::<Vec<u32>>();
        assert_eq!(round(0), [2, 63, 64, 255, 0]);
        assert_eq!(round(2), [63, 64, 255, 0, 2]);
        assert_eq!(round(63), [64, 255, 0, 2, 63]);
        assert_eq!(round(255), [0, 2, 63, 64, 255]);
    }

    /// Against a plain list, beyond every word's end.
    #[test]
    fn sets_are_sets() {
        let numbers = [0, 1, 63, 64, 127, 128, 200, 255];
        let all: ThreadSet = numbers.map(ThreadId).into_iter().collect();
        assert_eq!(all.len() as usize, numbers.len());
        assert_eq!(all.iter().map(|it| it.0).collect::<Vec<u32>>(), numbers);
        for thread in (0..300).map(ThreadId) {
            let is_in = numbers.contains(&thread.0);
            assert_eq!(all.has(thread), is_in, "{thread:?}");
            assert_eq!(all.without(thread).len() as usize, numbers.len() - usize::from(is_in));
            assert_eq!(ThreadSet::one(thread).first(), (thread.0 < 256).then_some(thread));
        }
        assert!(all.minus(all).is_empty());
        assert_eq!(all.and(ThreadSet::one(ThreadId(200))), ThreadSet::one(ThreadId(200)));
    }
}
