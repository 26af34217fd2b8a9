//! Which tests there are, and which of them were asked for.

use std::ffi::OsString;

use raddle_launch::cargo::{Built, CargoError, Listing, list_tests};

/// One test of one harness.
#[derive(Clone, Debug)]
pub(super) struct Test {
    pub(super) built: Built,
    /// Its name; empty if the harness is all one test.
    pub(super) name: String,
    /// The harness's arguments that run it.
    pub(super) args: Vec<OsString>,
    /// Threads that it has without doing two things at a time.
    pub(super) n_alone: u32,
}

/// What was asked for, in the words of libtest.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Wanted {
    filters: Vec<String>,
    skipped: Vec<String>,
    is_exact: bool,
    ignored: Ignored,
    /// The words after `--`, for harnesses of the crate's own making.
    own: Vec<OsString>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Ignored {
    #[default]
    LeftOut,
    Too,
    Only,
}

impl Wanted {
    /// From filters, and words for libtest.
    pub(super) fn parse(filters: &[String], words: &[OsString]) -> Result<Wanted, String> {
        let mut wanted =
            Wanted { filters: filters.to_vec(), own: words.to_vec(), ..Wanted::default() };
        let mut words = words.iter().map(|it| it.to_string_lossy().into_owned());
        while let Some(word) = words.next() {
            let (name, value) = match word.split_once('=') {
                Some((name, value)) if name.starts_with("--") => (name, Some(value.to_owned())),
                _ => (word.as_str(), None),
            };
            match name {
                "--exact" => wanted.is_exact = true,
                "--ignored" => wanted.ignored = Ignored::Only,
                "--include-ignored" => wanted.ignored = Ignored::Too,
                "--skip" => wanted.skipped.extend(value.or_else(|| words.next())),
                // Each test is run alone, and what it writes is shown where it fails.
                "--nocapture" | "--no-capture" | "--show-output" | "-q" | "--quiet" => {}
                "--test-threads" => drop(value.or_else(|| words.next())),
                _ if name.starts_with('-') => {
                    return Err(format!(
                        "unsupported argument `{name}` after `--`; supported: filters, --exact, --skip, \
                         --ignored and --include-ignored"
                    ));
                }
                _ => wanted.filters.push(word),
            }
        }
        Ok(wanted)
    }

    fn has(&self, name: &str) -> bool {
        let is_hit =
            |it: &String| if self.is_exact { name == it } else { name.contains(it.as_str()) };
        let is_in = self.filters.is_empty() || self.filters.iter().any(is_hit);
        is_in && !self.skipped.iter().any(is_hit)
    }

    fn has_ignored(&self, is_ignored: bool) -> bool {
        match self.ignored {
            Ignored::LeftOut => !is_ignored,
            Ignored::Too => true,
            Ignored::Only => is_ignored,
        }
    }
}

/// The tests that were asked for, and how many were not.
pub(super) fn select(built: &[Built], wanted: &Wanted) -> Result<(Vec<Test>, u64), CargoError> {
    let mut selected = Vec::new();
    let mut n_skipped = 0;
    for harness in built.iter().filter(|it| it.is_test && !it.is_proc_macro()) {
        match list_tests(harness)? {
            Listing::Tests(tests) => {
                for test in tests {
                    if wanted.has(&test.name) && wanted.has_ignored(test.is_ignored) {
                        selected.push(Test::of_libtest(harness, &test.name, test.is_ignored));
                    } else {
                        n_skipped += 1;
                    }
                }
            }
            Listing::Custom => selected.push(Test {
                built: harness.clone(),
                name: String::new(),
                args: wanted.own.clone(),
                n_alone: 1,
            }),
        }
    }
    Ok((selected, n_skipped))
}

impl Test {
    /// libtest runs each test in a thread of its own, for which `main` waits.
    fn of_libtest(built: &Built, name: &str, is_ignored: bool) -> Test {
        let mut args = vec![name, "--exact", "--nocapture", "--test-threads=1"];
        if is_ignored {
            args.push("--ignored");
        }
        Test {
            built: built.clone(),
            name: name.to_owned(),
            args: args.into_iter().map(OsString::from).collect(),
            n_alone: 2,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(filters: &[&str], line: &str) -> Result<Wanted, String> {
        let filters: Vec<String> = filters.iter().map(|it| (*it).to_owned()).collect();
        let words: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
        Wanted::parse(&filters, &words)
    }

    #[test]
    fn filters_are_those_of_libtest() {
        let all = wanted(&[], "--test-threads 1 --nocapture").unwrap();
        assert!(all.has("queue::pops") && all.has_ignored(false) && !all.has_ignored(true));
        let some = wanted(&["queue::"], "--skip pop --include-ignored stack").unwrap();
        assert!(some.has("queue::push") && some.has("stack::push") && !some.has("list::push"));
        assert!(!some.has("queue::pops") && some.has_ignored(true) && some.has_ignored(false));
        let one = wanted(&["push"], "--exact --ignored").unwrap();
        assert!(one.has("push") && !one.has("queue::push") && !one.has_ignored(false));
        assert!(wanted(&[], "--format json").unwrap_err().contains("`--format`"));
    }
}
