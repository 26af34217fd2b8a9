//! Checks of the repository itself, run as tests: the arrows between crates, and the texts. Here is what all tests
//! share that need more than every machine has: they say what they leave out, and in CI leave out nothing.

mod garble;

use std::process::{Command, Stdio};

pub use garble::garbled;

/// Set where everything is installed (`.ci/run`): a test that leaves something out fails.
const NO_SKIPS: &str = "RADDLE_NO_SKIPS";

/// Is a program missing here? Then the test says so, and leaves out what needs it.
#[track_caller]
pub fn lacks(program: &str, left_out: &str) -> bool {
    let mut version = Command::new(program);
    version.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
    let is_there = version.status().is_ok_and(|it| it.success());
    if !is_there {
        skip(&format!("{program} is not installed; not tested: {left_out}"));
    }
    !is_there
}

/// Says what a test leaves out, and why.
///
/// # Panics
///
/// If `RADDLE_NO_SKIPS` is set.
#[track_caller]
#[expect(clippy::print_stderr, reason = "for whoever reads the log of such a machine")]
pub fn skip(reason: &str) {
    assert!(std::env::var_os(NO_SKIPS).is_none(), "{reason} ({NO_SKIPS} is set)");
    eprintln!("note: {reason}");
}

/// A report without the digits of addresses: where the linker and the allocator put things is theirs to decide, and
/// depends on the length of a path.
pub fn without_addresses(text: &str) -> String {
    let mut parts = text.split("0x…");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        out.push_str("0x…");
        out.push_str(part.trim_start_matches(|it: char| it.is_ascii_hexdigit()));
    }
    out
}

/// The seed of a test that draws its cases: always this one, but in `cargo xtask soak`, which draws others.
///
/// # Panics
///
/// If `RADDLE_TEST_SEED` is no number.
pub fn seed(fixed: u64) -> u64 {
    let drawn = std::env::var("RADDLE_TEST_SEED").ok();
    drawn.map_or(fixed, |it| it.parse().expect("RADDLE_TEST_SEED is a number"))
}

#[cfg(test)]
mod tests {
    use super::lacks;

    #[test]
    fn what_is_there_is_not_missing() {
        assert!(!lacks("cargo", "nothing"));
    }
}
