//! What libtest and std print around what a test prints.

/// The lines that a test printed itself: not libtest's, and not those of panics, which reports tell. All lines of what is
/// no test.
pub fn own_lines(output: &str) -> Vec<&str> {
    let lines = || output.trim_end().lines();
    let is_heading =
        |it: &str| it.starts_with("running ") && (it.ends_with(" test") || it.ends_with(" tests"));
    if !lines().find(|it| !it.is_empty()).is_some_and(is_heading) {
        return lines().collect();
    }
    let is_harness = |line: &str| {
        [
            "running ",
            "failures:",
            "test result: ",
            "---- ",
            "FAILED",
            "note: run with `RUST_BACKTRACE",
        ]
        .iter()
        .any(|it| line.starts_with(it))
    };
    let end = lines().position(|it| it == "failures:").unwrap_or(usize::MAX);
    let mut own = Vec::new();
    let mut is_message = false;
    for (idx, line) in lines().enumerate() {
        let is_panic = line.starts_with("thread '") && line.contains(" panicked at ");
        // What libtest captured comes between its two lists of failures.
        let is_name = idx > end && line.strip_prefix("    ").is_some_and(|it| !it.contains(' '));
        // "test a ... " stands before what the test prints at once.
        let line = match line.strip_prefix("test ").and_then(|it| it.split_once(" ...")) {
            Some((_, rest)) => rest.trim_start(),
            None => line,
        };
        let is_own = !line.is_empty() && !is_message && !is_panic && !is_name && !is_harness(line);
        is_message = is_panic || is_message && !line.is_empty() && !is_harness(line);
        if is_own {
            own.push(line);
        }
    }
    own
}

#[cfg(test)]
mod tests {
    use super::own_lines;

    #[test]
    fn libtest_is_left_out() {
        let output = "
running 1 test
test two ... mine
thread '<unnamed>' (3117) panicked at src/lib.rs:33:37:
more was taken
than there is
note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace
mine, too

thread 'two' (3116) panicked at tests/shop.rs:19:59:
called `Result::unwrap()` on an `Err` value: Any { .. }
FAILED

failures:

---- two stdout ----
captured by it

failures:
    two

test result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 3 filtered out; finished in 0.00s
";
        assert_eq!(own_lines(output), ["mine", "mine, too", "captured by it"]);
        assert_eq!(own_lines("\nrunning 1 test\ntest two ... "), [""; 0]);
        assert_eq!(own_lines("test of mine ... ok\n\nfailures:\n").len(), 3);
    }
}
