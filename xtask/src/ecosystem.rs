//! Well-known crates from the registry, used rightly and wrongly (`programs/rust/ecosystem`): of the tests
//! whose name ends in `right` nothing may be found, of those in `wrong` something must be.
//!
//! Not part of CI's tests: it needs the registry, and builds a hundred crates.

use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::{Context, ensure};
use serde::Deserialize;

/// What `cargo raddle test --message-format json` says of a test.
#[derive(Deserialize)]
pub(crate) struct Explored {
    r#type: String,
    #[serde(default)]
    pub(crate) name: String,
    #[serde(default)]
    verdict: serde_json::Value,
    #[serde(default)]
    pub(crate) executions: u64,
    #[serde(default)]
    pub(crate) stability: f64,
    #[serde(default)]
    pub(crate) elapsed_s: f64,
}

impl Explored {
    pub(crate) fn is_found(&self) -> bool {
        self.verdict.get("found").is_some()
    }

    /// Nothing was found, and something was looked at.
    pub(crate) fn has_passed(&self) -> bool {
        self.verdict.as_str() == Some("passed")
    }

    /// How it came out, in a word.
    pub(crate) fn verdict(&self) -> &str {
        if self.is_found() { "found" } else { self.verdict.as_str().unwrap_or("?") }
    }
}

/// Builds `raddle`; where it is.
pub(crate) fn build(root: &Path) -> anyhow::Result<PathBuf> {
    let mut build = Command::new(env!("CARGO"));
    build.args(["build", "--release", "--package", "raddle-cli"]).current_dir(root);
    ensure!(build.status()?.success(), "failed to build raddle");
    Ok(root.join("target/release/raddle"))
}

/// Explores the tests of the crates in a folder.
pub(crate) fn explore(
    raddle: &Path,
    folder: &Path,
    args: &[String],
) -> anyhow::Result<Vec<Explored>> {
    let mut command = Command::new(raddle);
    command.args(["cargo", "test", "--message-format", "json"]).args(args);
    let output = command.current_dir(folder).stderr(Stdio::inherit()).output();
    let output = output.with_context(|| format!("failed to start {}", raddle.display()))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let mut tests = Vec::new();
    for line in text.lines() {
        let line: Explored = serde_json::from_str(line).context("failed to read raddle's words")?;
        if line.r#type == "test" {
            tests.push(line);
        }
    }
    ensure!(!tests.is_empty(), "nothing was explored in {}", folder.display());
    Ok(tests)
}

/// Explores all of them, and fails if one comes out otherwise than it should.
pub(crate) fn run(executions: u64, only: &str) -> anyhow::Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize()?;
    let raddle = build(&root)?;
    let mut args = vec!["--execs".to_owned(), executions.to_string()];
    args.extend(Some(only.to_owned()).filter(|it| !it.is_empty()));
    let mut wrong = Vec::new();
    for test in explore(&raddle, &root.join("programs/rust/ecosystem"), &args)? {
        let Explored { name, executions, stability, .. } = &test;
        let verdict = test.verdict();
        eprintln!("{name:45} {verdict:13} {executions:>6} executions, stability {stability}%");
        let is_wrong = name.ends_with("wrong");
        let is_as_expected = if is_wrong { test.is_found() } else { test.has_passed() };
        if !is_as_expected || test.stability < 100.0 {
            wrong.push(test.name);
        }
    }
    ensure!(wrong.is_empty(), "not as they should be: {}", wrong.join(", "));
    Ok(())
}
