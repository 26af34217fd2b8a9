//! `--partition hash:1/4`, `count:1/4`, `slice:1/4`: a part of the tests, for machines that share a suite, as in nextest.

/// Which part, of how many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Partition {
    by: By,
    /// From 0.
    part: u64,
    n_parts: u64,
}

/// What a test's part depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum By {
    /// Its name: a new test moves no other one.
    Hash,
    /// Its place among the tests of its harness, which are dealt out in turns.
    Count,
    /// Its place among all tests.
    Slice,
}

/// A test, as far as its part depends on it.
#[derive(Clone, Debug)]
pub(super) struct Member<'a> {
    pub(super) name: &'a str,
    /// Tests of its harness before it.
    pub(super) n_in_harness: u64,
    /// Tests before it.
    pub(super) n_before: u64,
}

impl Partition {
    /// Reads what the user writes: `hash:1/4` is the first of four parts.
    pub(super) fn parse(text: &str) -> Result<Partition, String> {
        let forms = [("hash:", By::Hash), ("count:", By::Count), ("slice:", By::Slice)];
        let form = forms.into_iter().find_map(|(name, by)| Some((text.strip_prefix(name)?, by)));
        let parts = form.and_then(|(rest, by)| Some((rest.split_once('/')?, by)));
        let numbers = parts.and_then(|((a, b), by)| Some((a.parse().ok()?, b.parse().ok()?, by)));
        match numbers {
            Some((part, n_parts, by)) if (1..=n_parts).contains(&part) => {
                Ok(Partition { by, part: part - 1, n_parts })
            }
            _ => Err(format!(
                "invalid --partition `{text}`; expected e.g. `hash:1/4`, `count:1/4` or `slice:1/4`"
            )),
        }
    }

    /// Is a test in the part?
    pub(super) fn has(self, test: &Member<'_>) -> bool {
        let number = match self.by {
            By::Hash => raddle_model::mix(0, raddle_model::hash_bytes(test.name.as_bytes())),
            By::Count => test.n_in_harness,
            By::Slice => test.n_before,
        };
        number % self.n_parts == self.part
    }
}

#[cfg(test)]
mod tests {
    use super::{Member, Partition};

    #[test]
    fn parts_are_disjoint_and_nothing_is_left_out() {
        for form in ["hash", "count", "slice"] {
            let parts: Vec<Partition> = (1..=4)
                .map(|it| Partition::parse(&format!("{form}:{it}/4")).expect("a partition"))
                .collect();
            let mut sizes = [0; 4];
            for n in 0..400 {
                let name = format!("queue tests::case_{n}");
                let test = Member { name: &name, n_in_harness: n % 50, n_before: n };
                let of: Vec<usize> = (0..4).filter(|it| parts[*it].has(&test)).collect();
                let [one] = of[..] else { panic!("{name} is in {of:?}") };
                sizes[one] += 1;
            }
            assert!(sizes.iter().all(|it| (60..=140).contains(it)), "{form}: {sizes:?}");
            assert!(form != "slice" || sizes == [100; 4], "{sizes:?}");
        }
    }

    #[test]
    fn tests_are_dealt_out_in_turns() {
        let second = Partition::parse("count:2/3").expect("a partition");
        let has = |n| second.has(&Member { name: "", n_in_harness: n, n_before: n + 7 });
        assert_eq!((0..6).map(has).collect::<Vec<_>>(), [false, true, false, false, true, false]);
    }

    #[test]
    fn what_is_no_partition_is_said() {
        for text in ["", "hash", "1/4", "hash:0/4", "hash:5/4", "hash:1/0", "hash:a/b", "half:1/2"]
        {
            let error = Partition::parse(text).expect_err(text);
            assert!(
                error.starts_with(&format!("invalid --partition `{text}`; expected")),
                "{error}"
            );
        }
    }
}
