//! What CI runs (`.ci/run` adds only what a bare machine lacks).

use std::process::Command;

use anyhow::{Context, ensure};

const STAGES: &[&[&str]] = &[
    &["fmt", "--all", "--check"],
    &["clippy", "--workspace", "--all-targets", "--", "-Dwarnings"],
    &["doc", "--workspace", "--no-deps"],
    &["test", "--workspace"],
];

/// Runs each stage; the first that fails is the end.
pub(crate) fn run() -> anyhow::Result<()> {
    for args in STAGES {
        let line = format!("cargo {}", args.join(" "));
        eprintln!("$ {line}");
        let status = Command::new("cargo")
            .args(*args)
            .env("RUSTDOCFLAGS", "-Dwarnings")
            .status()
            .with_context(|| format!("failed to start `{line}`"))?;
        ensure!(status.success(), "`{line}` failed");
    }
    Ok(())
}
