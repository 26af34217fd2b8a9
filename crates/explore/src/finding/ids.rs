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
        let prefix = format!("{}-", kind.prefix());
        let is_its = |it: &(&String, &Bucket)| *it.1 == bucket && it.0.starts_with(&prefix);
        if let Some((id, _)) = self.taken.iter().find(is_its) {
            return id.clone();
        }
        let digits = format!("{:016x}", bucket.0);
        let id = (4..=digits.len())
            .map(|n_digits| format!("{prefix}{}", &digits[..n_digits]))
            .find(|id| !self.taken.contains_key(id))
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
        // A regression keeps its id when its lines have moved.
        ids.take("dl-7f3a", Bucket(7));
        assert_eq!(ids.id(Kind::Deadlock, Bucket(7)), "dl-7f3a");
    }
}
