//! Tests of generated cases, with seeds that no run before had: in CI they are the same each time.

use std::process::Command;

use anyhow::{Context, ensure};

/// Crates, targets and tests whose cases are drawn: by proptest, or from `raddle_tidy::seed`.
const TESTS: &[&[&str]] = &[
    &["-p", "raddle-machine", "--test", "laws", "properties"],
    &["-p", "raddle-analysis", "--lib", "laws"],
    &["-p", "raddle-plan", "--lib", "sharing"],
    &["-p", "raddle-plan", "--test", "search", "generated"],
    &["-p", "raddle-plan", "--test", "search", "total"],
    &["-p", "raddle-explore", "--lib", "explain"],
    &["-p", "raddle-explore", "--lib", "garbled"],
    &["-p", "raddle-launch", "--test", "garbled"],
    &["-p", "raddle-cli", "--bin", "raddle", "garbled"],
    &["-p", "raddle-cli", "--test", "generated", "points_agree"],
];

/// Runs them with this seed; how to run again what failed is told.
pub(super) fn run(seed: u64) -> anyhow::Result<()> {
    let seed = seed.to_string();
    let mut n_failed = 0;
    for args in TESTS {
        let line = format!("cargo test {}", args.join(" "));
        let status = Command::new(env!("CARGO"))
            .args(["test", "--quiet"])
            .args(*args)
            .env("PROPTEST_RNG_SEED", &seed)
            .env("RADDLE_TEST_SEED", &seed)
            .env("RADDLE_TEST_CASES", "2000")
            .status()
            .with_context(|| format!("failed to start `{line}`"))?;
        if !status.success() {
            n_failed += 1;
            eprintln!("again: PROPTEST_RNG_SEED={seed} RADDLE_TEST_SEED={seed} {line}");
        }
    }
    ensure!(n_failed == 0, "{n_failed} of {} tests of generated cases failed", TESTS.len());
    Ok(())
}
