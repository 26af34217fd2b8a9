//! A set of hashes that is filled and emptied with each execution, and asked for each access that races.

/// Hashes. Each slot is one of them or 0; whatever is looked for is in its own slot or in one of those that follow
/// without a gap.
#[derive(Debug, Default)]
pub(crate) struct Keys {
    slots: Vec<u64>,
    n_keys: usize,
}

impl Keys {
    /// Slots at first. A power of two, as all sizes are.
    const FIRST: usize = 64;

    pub(crate) fn len(&self) -> usize {
        self.n_keys
    }

    /// Adds a hash. Is it new? (0 and 1 are the same.)
    pub(crate) fn insert(&mut self, key: u64) -> bool {
        if self.slots.len() <= 2 * self.n_keys {
            self.grow();
        }
        let is_new = insert(&mut self.slots, key.max(1));
        self.n_keys += usize::from(is_new);
        is_new
    }

    pub(crate) fn clear(&mut self) {
        if self.n_keys > 0 {
            self.slots.fill(0);
            self.n_keys = 0;
        }
    }

    #[cold]
    fn grow(&mut self) {
        let mut slots = vec![0; (2 * self.slots.len()).max(Keys::FIRST)];
        for key in self.slots.iter().filter(|it| **it != 0) {
            insert(&mut slots, *key);
        }
        self.slots = slots;
    }
}

/// Adds a hash that is not 0 where there is a free slot.
fn insert(slots: &mut [u64], key: u64) -> bool {
    let mask = slots.len() - 1;
    let mut idx = key as usize & mask;
    while slots[idx] != 0 {
        if slots[idx] == key {
            return false;
        }
        idx = (idx + 1) & mask;
    }
    slots[idx] = key;
    true
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use raddle_model::Rng;

    use super::Keys;

    #[test]
    fn a_set_like_any_other() {
        let (mut keys, mut rng) = (Keys::default(), Rng::new(1));
        for round in 0..4 {
            let mut expected = BTreeSet::new();
            for _ in 0..1_000 {
                let key = 1 + u64::from(rng.below(400)) * (1 + round * 63);
                assert_eq!(keys.insert(key), expected.insert(key));
                assert_eq!(keys.len(), expected.len());
            }
            keys.clear();
            assert_eq!(keys.len(), 0);
        }
    }
}
