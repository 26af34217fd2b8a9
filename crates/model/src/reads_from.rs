//! Abstract schedules: which writes the reads of an execution are to take their values from, by places in the code
//! (reads-from fuzzing; Wolff et al., ASPLOS 2024).

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

/// A read that takes its value from a write, by places: see [`crate::Side::key`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ReadsFrom {
    /// The place of the write; 0: the object is as it was at first.
    pub write: u32,
    /// The place of the read.
    pub read: u32,
}

impl ReadsFrom {
    /// Numbers of one of them.
    const N_NUMBERS: usize = 2;
    /// No more than so many have a number in an abstract schedule.
    pub const COUNT_MAX: usize = u16::MAX as usize >> 1;

    /// A table of them as a script.
    pub fn script(table: &[ReadsFrom]) -> Vec<u32> {
        table.iter().flat_map(|it| [it.write, it.read]).collect()
    }

    /// One of a script's table.
    pub fn of_script(script: &[u32], idx: usize) -> Option<ReadsFrom> {
        let (table, _) = script.as_chunks::<{ ReadsFrom::N_NUMBERS }>();
        let [write, read] = *table.get(idx)?;
        Some(ReadsFrom { write, read })
    }
}

/// What an execution is to do, or not to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Wish {
    /// Which read from which write: its index in the plan's table.
    pub idx: u16,
    /// Is it wanted, or to be avoided?
    pub is_wanted: bool,
}

/// A set of constraints. They are wishes: an execution that can't keep them goes on without.
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AbstractSchedule {
    /// Twice the index plus one, and one more if it is to be avoided; 0: none, and none after it.
    numbers: [u16; AbstractSchedule::COUNT_MAX],
}

impl AbstractSchedule {
    /// Constraints that there may be.
    pub const COUNT_MAX: usize = 8;
    /// Nothing is asked for.
    pub const NONE: AbstractSchedule =
        AbstractSchedule { numbers: [0; AbstractSchedule::COUNT_MAX] };

    /// Is nothing asked for?
    pub const fn is_empty(&self) -> bool {
        self.numbers[0] == 0
    }

    /// These constraints, as far as there is room for them.
    pub fn new(constraints: impl IntoIterator<Item = Wish>) -> AbstractSchedule {
        let mut numbers = [0; AbstractSchedule::COUNT_MAX];
        for (number, it) in numbers.iter_mut().zip(constraints) {
            *number = it.idx * 2 + 1 + u16::from(!it.is_wanted);
        }
        AbstractSchedule { numbers }
    }

    /// Its constraints.
    pub fn constraints(&self) -> impl Iterator<Item = Wish> {
        self.numbers.into_iter().take_while(|it| *it != 0).map(|it| {
            let number = it - 1;
            Wish { idx: number / 2, is_wanted: number % 2 == 0 }
        })
    }

    pub(crate) const fn to_numbers(self) -> [u64; 2] {
        let [a, b, c, d, e, f, g, h] = self.numbers;
        [packed([a, b, c, d]), packed([e, f, g, h])]
    }

    pub(crate) const fn from_numbers([first, second]: [u64; 2]) -> AbstractSchedule {
        let ([a, b, c, d], [e, f, g, h]) = (unpacked(first), unpacked(second));
        AbstractSchedule { numbers: [a, b, c, d, e, f, g, h] }
    }
}

const fn packed([a, b, c, d]: [u16; 4]) -> u64 {
    a as u64 | (b as u64) << 16 | (c as u64) << 32 | (d as u64) << 48
}

const fn unpacked(number: u64) -> [u16; 4] {
    [number as u16, (number >> 16) as u16, (number >> 32) as u16, (number >> 48) as u16]
}

#[cfg(test)]
mod tests {
    use super::{AbstractSchedule, ReadsFrom, Wish};

    #[test]
    fn what_is_written_is_read() {
        let constraint = |idx: u16| Wish { idx, is_wanted: idx.is_multiple_of(3) };
        for n in 0..=AbstractSchedule::COUNT_MAX as u16 {
            let all: Vec<Wish> = (0..n).map(|it| constraint(it * 4_095)).collect();
            let schedule = AbstractSchedule::new(all.clone());
            assert_eq!(schedule.constraints().collect::<Vec<Wish>>(), all);
            assert_eq!(AbstractSchedule::from_numbers(schedule.to_numbers()), schedule);
        }
        let last = Wish { idx: ReadsFrom::COUNT_MAX as u16 - 1, is_wanted: false };
        assert_eq!(AbstractSchedule::new([last]).constraints().collect::<Vec<Wish>>(), [last]);
        let table = [ReadsFrom { write: 0, read: 7 }, ReadsFrom { write: u32::MAX, read: 1 }];
        let script = ReadsFrom::script(&table);
        assert_eq!(ReadsFrom::of_script(&script, 1), Some(table[1]));
        assert_eq!(ReadsFrom::of_script(&script, 2), None);
    }
}
