//! Arguments that operations are called with.

use std::{
    fmt::Debug,
    ops::{Range, RangeInclusive},
};

/// Arguments to choose from: `()` for none, a range of integers, an array, or a pair of those.
pub trait Arguments {
    /// What the operation gets.
    type Item: Debug;
    /// How many there are.
    fn count(&self) -> u32;
    /// The one of this number, from 0. Those with small numbers are the simple ones.
    fn item(&self, number: u32) -> Self::Item;
}

impl Arguments for () {
    type Item = ();

    fn count(&self) -> u32 {
        1
    }

    fn item(&self, _: u32) {}
}

macro_rules! ranges {
    ($($int:ty),*) => {
        $(
            impl Arguments for Range<$int> {
                type Item = $int;

                fn count(&self) -> u32 {
                    u32::try_from(self.end.saturating_sub(self.start)).unwrap_or(0)
                }

                fn item(&self, number: u32) -> $int {
                    self.start + number as $int
                }
            }

            impl Arguments for RangeInclusive<$int> {
                type Item = $int;

                fn count(&self) -> u32 {
                    (*self.start()..self.end().saturating_add(1)).count() as u32
                }

                fn item(&self, number: u32) -> $int {
                    *self.start() + number as $int
                }
            }
        )*
    };
}

ranges!(u8, u16, u32, u64, usize, i8, i16, i32, i64, isize);

impl<T: Clone + Debug, const N: usize> Arguments for [T; N] {
    type Item = T;

    fn count(&self) -> u32 {
        N as u32
    }

    fn item(&self, number: u32) -> T {
        self[number as usize].clone()
    }
}

impl<A: Arguments, B: Arguments> Arguments for (A, B) {
    type Item = (A::Item, B::Item);

    fn count(&self) -> u32 {
        self.0.count() * self.1.count()
    }

    fn item(&self, number: u32) -> (A::Item, B::Item) {
        let n_first = self.0.count();
        (self.0.item(number % n_first), self.1.item(number / n_first))
    }
}

#[cfg(test)]
mod tests {
    use super::Arguments;

    fn all<A: Arguments>(arguments: A) -> Vec<A::Item> {
        (0..arguments.count()).map(|it| arguments.item(it)).collect()
    }

    #[test]
    fn arguments_are_counted() {
        assert_eq!(all(()), [()]);
        assert_eq!(all(1..=3_u8), [1, 2, 3]);
        assert_eq!(all(-1..1_i32), [-1, 0]);
        assert_eq!(all(["a", "b"]), ["a", "b"]);
        assert_eq!(all((0..2, ["x", "y"])), [(0, "x"), (1, "x"), (0, "y"), (1, "y")]);
        assert_eq!(all(3..3_usize), []);
    }
}
