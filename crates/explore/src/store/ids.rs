//! Short names for buckets.

use std::collections::BTreeMap;

use raddle_model::{Bucket, Kind};

/// Gives every bucket a short id of its own: the kind's prefix and four hex digits of the bucket, or
/// more where two buckets would share them.
#[derive(Clone, Debug, Default)]
pub struct Ids {
    taken: BTreeMap<String, Bucket>,
}

impl Ids {
    /// No id is taken.
    pub const fn new() -> Ids {
        Ids { taken: BTreeMap::new() }
    }

    /// Notes an id that was given before.
    pub fn take(&mut self, id: &str, bucket: Bucket) {
        self.taken.insert(id.to_owned(), bucket);
    }

    /// The id of a bucket, the same whenever it is asked for.
    pub fn id(&mut self, kind: Kind, bucket: Bucket) -> String {
        let digits = format!("{:016x}", bucket.0);
        let id = (4..=digits.len())
            .map(|n_digits| format!("{}-{}", kind.prefix(), &digits[..n_digits]))
            .find(|id| self.taken.get(id).is_none_or(|other| *other == bucket))
            .expect("bug: all sixteen digits are one bucket's own");
        self.take(&id, bucket);
        id
    }
}

#[cfg(test)]
mod tests {
    use raddle_model::{Bucket, Kind};

    use super::Ids;

    #[test]
    fn ids_are_short_and_stable() {
        let mut ids = Ids::new();
        let first = Bucket(0x02c1_0000_0000_0001);
        let second = Bucket(0x02c1_0500_0000_0001);
        assert_eq!(ids.id(Kind::Deadlock, first), "dl-02c1");
        assert_eq!(ids.id(Kind::Deadlock, second), "dl-02c10");
        assert_eq!(ids.id(Kind::Deadlock, first), "dl-02c1");
        assert_eq!(ids.id(Kind::Deadlock, second), "dl-02c10");
        assert_eq!(ids.id(Kind::Assert, second), "assert-02c1");
    }
}
