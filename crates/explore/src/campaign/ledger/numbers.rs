//! Sets of executions, most of which come in order and next to each other.

use std::ops::Range;

/// Numbers of executions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Numbers {
    /// Invariant: sorted, none is empty, and there are numbers between any two.
    ranges: Vec<Range<u64>>,
}

impl Numbers {
    /// One number.
    pub(super) fn one(number: u64) -> Numbers {
        Numbers { ranges: vec![Numbers::range(number)] }
    }

    /// The lowest.
    pub(super) fn first(&self) -> Option<u64> {
        self.ranges.first().map(|it| it.start)
    }

    /// Adds a number: cheap, if it is not below the highest. Is it new?
    pub(super) fn add(&mut self, number: u64) -> bool {
        match self.ranges.last_mut() {
            Some(last) if last.end == number => last.end += 1,
            Some(last) if last.contains(&number) => return false,
            Some(last) if number < last.start => {
                return self.add_all(&Numbers::one(number)) > 0;
            }
            _ => self.ranges.push(Numbers::range(number)),
        }
        true
    }

    /// Adds all of another set; how many of them are new.
    pub(super) fn add_all(&mut self, others: &Numbers) -> u64 {
        let n_before = self.len();
        let mut all = std::mem::take(&mut self.ranges);
        all.extend_from_slice(&others.ranges);
        all.sort_unstable_by_key(|it| it.start);
        for range in all {
            match self.ranges.last_mut() {
                Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
                _ => self.ranges.push(range),
            }
        }
        self.len() - n_before
    }

    fn len(&self) -> u64 {
        self.ranges.iter().map(|it| it.end - it.start).sum()
    }

    fn range(number: u64) -> Range<u64> {
        number..number + 1
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use raddle_model::Rng;

    use super::Numbers;

    #[test]
    fn a_set_like_any_other() {
        let mut rng = Rng::new(1);
        for _ in 0..200 {
            let (mut found, mut expected) = (Numbers::default(), BTreeSet::new());
            let mut next = 0;
            for _ in 0..40 {
                let number = match rng.below(4) {
                    0 => u64::from(rng.below(40)),
                    _ => next,
                };
                next = number + u64::from(rng.below(3));
                assert_eq!(found.add(number), expected.insert(number));
                assert_eq!(found.len(), expected.len() as u64);
                assert_eq!(found.first(), expected.first().copied());
            }
            let more: Vec<u64> = (0..10).map(|_| u64::from(rng.below(60))).collect();
            let mut others = Numbers::default();
            more.iter().for_each(|it| _ = others.add(*it));
            let n_before = expected.len();
            expected.extend(more);
            assert_eq!(found.add_all(&others), (expected.len() - n_before) as u64);
            let ranges = found.ranges.windows(2).all(|it| it[0].end < it[1].start);
            assert!(ranges, "{found:?}");
            assert_eq!(found.ranges.into_iter().flatten().collect::<BTreeSet<u64>>(), expected);
        }
    }
}
