//! Rust tests that should panic and don't: libtest ends with an exit code of its own, and says why in the output.

/// What libtest prints below the name of such a test, and how we say it.
const REASONS: [(&str, &str); 2] = [
    ("note: test did not panic as expected", "the test is marked `should_panic` and did not panic"),
    (
        "note: panic did not contain expected string",
        "the test is marked `should_panic` and panicked with another message than expected",
    ),
];

/// Why a test failed that should have panicked, by its output; `None` if it is no such test.
pub(super) fn said(output: &str) -> Option<String> {
    let is_harness = output.lines().any(|it| it.starts_with("test result: FAILED"));
    let reason = |line: &str| REASONS.iter().find(|it| line.starts_with(it.0)).map(|it| it.1);
    output.lines().filter(|_| is_harness).find_map(reason).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::said;

    #[test]
    fn only_libtest_is_heard() {
        let output = "note: test did not panic as expected at src/lib.rs:4:32\n";
        assert_eq!(said(output), None);
        let output = format!("{output}\ntest result: FAILED. 0 passed; 1 failed\n");
        let text = "the test is marked `should_panic` and did not panic";
        assert_eq!(said(&output).as_deref(), Some(text));
        assert_eq!(said("test result: FAILED. 0 passed; 1 failed\n"), None);
    }
}
