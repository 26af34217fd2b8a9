//! Unit tests of the pure crates, under Miri: undefined behaviour, leaks, and what depends on addresses.
//!
//! Miri has neither processes nor shared memory, so what starts programs or maps segments is left out; property
//! tests have few cases, for it is some hundred times slower.

use std::process::Command;

use anyhow::{Context, ensure};

/// Crates without system calls.
const CRATES: &[&str] = &[
    "raddle-model",
    "raddle-machine",
    "raddle-pick",
    "raddle-analysis",
    "raddle-total",
    "raddle-trace",
];

/// Runs the tests; a nightly toolchain with Miri is installed if there is none.
pub(crate) fn run(only: &str) -> anyhow::Result<()> {
    let mut install = Command::new("rustup");
    install.args(["component", "add", "miri", "rust-src", "--toolchain", "nightly"]);
    let status = install.status().context("failed to run rustup: Miri comes with it")?;
    ensure!(status.success(), "rustup has no Miri for this machine's nightly toolchain");
    for name in CRATES.iter().filter(|it| it.contains(only)) {
        eprintln!("{name} under Miri…");
        let mut miri = Command::new("rustup");
        miri.args(["run", "nightly", "cargo", "miri", "test", "--lib", "--package", name]);
        // Some tests read files of the repository; addresses are drawn by a seed, so that each run is the same.
        miri.env("MIRIFLAGS", "-Zmiri-disable-isolation -Zmiri-strict-provenance");
        miri.env("PROPTEST_CASES", "4");
        // The cargo that runs this one says which toolchain is its own.
        for variable in ["RUSTUP_TOOLCHAIN", "CARGO", "RUSTC"] {
            miri.env_remove(variable);
        }
        let status = miri.status().context("failed to run cargo miri")?;
        ensure!(status.success(), "{name} fails under Miri");
    }
    Ok(())
}
