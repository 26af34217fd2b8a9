//! `--partition hash:1/4`: a part of the tests, for machines that share a suite, as in nextest.

/// Which part, of how many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Partition {
    /// From 0.
    part: u64,
    n_parts: u64,
}

impl Partition {
    /// Reads what the user writes: `hash:1/4` is the first of four parts.
    pub(super) fn parse(text: &str) -> Result<Partition, String> {
        let parts = text.strip_prefix("hash:").and_then(|it| it.split_once('/'));
        let numbers = parts.and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
        match numbers {
            Some((part, n_parts)) if (1..=n_parts).contains(&part) => {
                Ok(Partition { part: part - 1, n_parts })
            }
            _ => Err(format!("invalid --partition `{text}`; expected e.g. `hash:1/4`")),
        }
    }

    /// Is a test of this name in the part? That depends on the name only: a new test moves no other one.
    pub(super) fn has(self, name: &str) -> bool {
        raddle_model::mix(0, raddle_model::hash_bytes(name.as_bytes())) % self.n_parts == self.part
    }
}

#[cfg(test)]
mod tests {
    use super::Partition;

    #[test]
    fn parts_are_disjoint_and_nothing_is_left_out() {
        let parts: Vec<Partition> = (1..=4)
            .map(|it| Partition::parse(&format!("hash:{it}/4")).expect("a partition"))
            .collect();
        let mut sizes = [0; 4];
        for n in 0..400 {
            let name = format!("queue tests::case_{n}");
            let of: Vec<usize> = (0..4).filter(|it| parts[*it].has(&name)).collect();
            let [one] = of[..] else { panic!("{name} is in {of:?}") };
            sizes[one] += 1;
        }
        assert!(sizes.iter().all(|it| (60..=140).contains(it)), "{sizes:?}");
    }

    #[test]
    fn what_is_no_partition_is_said() {
        for text in ["", "hash", "1/4", "hash:0/4", "hash:5/4", "hash:1/0", "hash:a/b", "count:1/2"]
        {
            let error = Partition::parse(text).expect_err(text);
            assert_eq!(error, format!("invalid --partition `{text}`; expected e.g. `hash:1/4`"));
        }
    }
}
