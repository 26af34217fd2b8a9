//! Rust tests that should panic and don't: libtest ends with an exit code of its own, and says why in the output.

use raddle_model::Expected;

/// What libtest prints below the name of such a test.
const NOTES: [(&str, Expected); 2] = [
    ("note: test did not panic as expected", Expected::Panic),
    ("note: panic did not contain expected string", Expected::OtherMessage),
];

/// What a test that failed should have done, by its output; `None` if it is no such test.
pub(super) fn expected(output: &str) -> Option<Expected> {
    let is_harness = output.lines().any(|it| it.starts_with("test result: FAILED"));
    let note = |line: &str| NOTES.iter().find(|it| line.starts_with(it.0)).map(|it| it.1);
    output.lines().filter(|_| is_harness).find_map(note)
}

#[cfg(test)]
mod tests {
    use raddle_model::Expected;

    use super::expected;

    #[test]
    fn only_libtest_is_heard() {
        let output = "note: test did not panic as expected at src/lib.rs:4:32\n";
        assert_eq!(expected(output), None);
        let output = format!("{output}\ntest result: FAILED. 0 passed; 1 failed\n");
        assert_eq!(expected(&output), Some(Expected::Panic));
        assert_eq!(expected("test result: FAILED. 0 passed; 1 failed\n"), None);
    }
}
