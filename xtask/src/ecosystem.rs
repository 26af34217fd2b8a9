//! Well-known crates from the registry, used rightly and wrongly (`programs/rust/ecosystem`): of the tests
//! whose name ends in `right` nothing may be found, of those in `wrong` something must be.
//!
//! Not part of CI's tests: it needs the registry, and builds a hundred crates.

use std::{
    path::Path,
    process::{Command, Stdio},
};

use anyhow::{Context, ensure};
use serde::Deserialize;

/// A line of `cargo raddle test --message-format json`.
#[derive(Deserialize)]
struct Line {
    r#type: String,
    #[serde(default)]
    name: String,
    #[serde(default)]
    verdict: serde_json::Value,
    #[serde(default)]
    executions: u64,
    #[serde(default)]
    stability: f64,
}

/// Explores all of them, and fails if one comes out otherwise than it should.
pub(crate) fn run(executions: u64, only: &str) -> anyhow::Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize()?;
    let mut build = Command::new(env!("CARGO"));
    build.args(["build", "--release", "--package", "raddle-cli"]).current_dir(&root);
    ensure!(build.status()?.success(), "failed to build raddle");
    let mut raddle = Command::new(root.join("target/release/raddle"));
    raddle.args(["cargo", "test", "--message-format", "json", "--execs"]);
    raddle.arg(executions.to_string()).args(Some(only).filter(|it| !it.is_empty()));
    raddle.current_dir(root.join("programs/rust/ecosystem")).stderr(Stdio::inherit());
    let output = raddle.output().context("failed to start raddle")?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut n_tests = 0;
    let mut wrong = Vec::new();
    for line in text.lines() {
        let line: Line = serde_json::from_str(line).context("failed to read raddle's words")?;
        if line.r#type != "test" {
            continue;
        }
        let is_found = line.verdict.get("found").is_some();
        let is_right = !is_found && matches!(line.verdict.as_str(), Some("passed"));
        let verdict = if is_found { "found" } else { "nothing found" };
        let Line { name, executions, stability, .. } = &line;
        eprintln!("{name:45} {verdict:13} {executions:>6} executions, stability {stability}%");
        let is_as_expected = if name.ends_with("wrong") { is_found } else { is_right };
        if !is_as_expected || line.stability < 100.0 {
            wrong.push(line.name);
        }
        n_tests += 1;
    }
    ensure!(n_tests > 0, "nothing was explored");
    ensure!(wrong.is_empty(), "not as they should be: {}", wrong.join(", "));
    Ok(())
}
