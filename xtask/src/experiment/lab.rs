//! Runs Raddle, and programs without it.

use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::{Context as _, ensure};
use serde_json::Value;
use tempfile::TempDir;

use super::{
    cell::{Case, Search},
    root,
    trial::{Campaigns, Rate, Trial},
};

/// Where measurements are made.
pub(crate) struct Lab {
    raddle: PathBuf,
    /// Budgets are small.
    pub(crate) is_quick: bool,
    folder: TempDir,
}

/// When a search is given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Budget {
    pub(crate) executions: u64,
    pub(crate) seconds: u64,
}

impl Budget {
    /// What is enough for `--quick`.
    const QUICK: Budget = Budget { executions: 60, seconds: 2 };
}

impl Lab {
    pub(super) fn new(raddle: Option<&Path>, is_quick: bool) -> anyhow::Result<Lab> {
        let raddle = match raddle {
            Some(raddle) => raddle.canonicalize()?,
            None => {
                let mut build = Command::new(env!("CARGO"));
                build.args(["build", "--release", "-p", "raddle-cli"]).current_dir(root());
                ensure!(build.status()?.success(), "raddle can't be built");
                root().join("target/release/raddle")
            }
        };
        Ok(Lab { raddle, is_quick, folder: TempDir::with_prefix("raddle-experiment-")? })
    }

    /// As much of the budget as there is.
    pub(crate) fn budget(&self, budget: Budget) -> Budget {
        let Budget { executions, seconds } = Budget::QUICK;
        if !self.is_quick {
            return budget;
        }
        Budget {
            executions: budget.executions.min(executions),
            seconds: budget.seconds.min(seconds),
        }
    }

    /// A fresh folder, which goes when the value does.
    pub(crate) fn folder(&self) -> anyhow::Result<TempDir> {
        Ok(TempDir::new_in(self.folder.path())?)
    }

    /// `raddle`, with nothing of the environment that could change what it does.
    pub(crate) fn raddle(&self) -> Command {
        let mut command = Command::new(&self.raddle);
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("RADDLE_") && name != "RADDLE_CACHE" {
                command.env_remove(name);
            }
        }
        command.current_dir(self.folder.path());
        command
    }

    /// Makes the campaigns of a cell by `raddle compare`.
    pub(crate) fn campaigns(&self, search: &Search) -> anyhow::Result<Campaigns> {
        let budget = self.budget(search.budget);
        let lines = self.compare(search, &[])?;
        let trials = lines.iter().map(|it| Trial::parse(it, budget));
        Ok(Campaigns { trials: trials.collect::<anyhow::Result<_>>()? })
    }

    /// How often the program fails in one campaign.
    pub(crate) fn rate(&self, search: &Search) -> anyhow::Result<Rate> {
        let lines = self.compare(search, &["--keep-going"])?;
        Rate::parse(lines.first().context("raddle compare wrote nothing")?)
    }

    /// The lines of `raddle compare`.
    fn compare(&self, search: &Search, more: &[&str]) -> anyhow::Result<Vec<String>> {
        let case = &search.case;
        let folder = self.folder()?;
        let csv = folder.path().join("trials.csv");
        let budget = self.budget(search.budget);
        let mut command = self.raddle();
        command
            .arg("compare")
            .arg(root().join(&case.source).canonicalize()?)
            .args(["--strategies", &search.strategy, "--jobs", "1"])
            .args(["--repeats", &if self.is_quick { 1 } else { search.repeats }.to_string()])
            .args(["--execs", &(budget.executions + 1).to_string()])
            .args(["--time", &format!("{}s", budget.seconds)])
            .args(&search.options)
            .args(more)
            .arg("--csv")
            .arg(&csv);
        if search.learning > 0 {
            command.args(["--learn", &search.learning.to_string()]);
        }
        if !case.flags.is_empty() {
            command.arg(format!("--cflags={}", case.flags.join(" ")));
        }
        let output = command
            .arg("--")
            .args(&case.args)
            .stdout(Stdio::null())
            .output()
            .with_context(|| format!("failed to start {}", self.raddle.display()))?;
        let errors = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "raddle compare ended with {}: {errors}", output.status);
        let text = std::fs::read_to_string(&csv)?;
        Ok(text.lines().skip(1).map(str::to_owned).collect())
    }

    /// `raddle VERB OPTIONS program …`, which keeps its runs in a folder.
    pub(crate) fn command<'a>(
        &self,
        case: &Case,
        folder: &Path,
        budget: Budget,
        verb_and_options: impl IntoIterator<Item = &'a &'a str>,
    ) -> anyhow::Result<Command> {
        let Budget { executions, seconds } = self.budget(budget);
        let mut command = self.raddle();
        command
            .args(verb_and_options)
            .arg(root().join(&case.source).canonicalize()?)
            .args(["--progress", "none", "--message-format", "json", "--jobs", "1"])
            .args(["--execs", &executions.to_string(), "--time", &format!("{seconds}s")])
            .arg("--store")
            .arg(folder.join("store"));
        if !case.flags.is_empty() {
            command.arg(format!("--cflags={}", case.flags.join(" ")));
        }
        command.arg("--").args(&case.args);
        Ok(command)
    }

    /// `raddle VERB program …` with its lines of JSON.
    pub(crate) fn run(
        &self,
        case: &Case,
        budget: Budget,
        verb: &str,
        options: &[&str],
    ) -> anyhow::Result<Told> {
        let folder = self.folder()?;
        let mut command =
            self.command(case, folder.path(), budget, [verb].iter().chain(options))?;
        let output = command
            .output()
            .with_context(|| format!("failed to start {}", self.raddle.display()))?;
        let mut told = Told::default();
        for line in String::from_utf8_lossy(&output.stdout).lines() {
            let line: Value = serde_json::from_str(line)?;
            match line["type"].as_str() {
                Some("summary") => told.summary = line,
                Some("finding") => told.findings.push(line),
                Some("output") => told.outputs.push(line),
                _ => {}
            }
        }
        let errors = String::from_utf8_lossy(&output.stderr);
        ensure!(told.summary.is_object(), "raddle {verb} of {} did not end: {errors}", case.name);
        Ok(told)
    }

    /// The program without Raddle, built by the C compiler.
    pub(crate) fn native(&self, case: &Case, folder: &Path) -> anyhow::Result<PathBuf> {
        let program = folder.join("program");
        let status = Command::new("cc")
            .args(["-O1", "-pthread", "-o"])
            .arg(&program)
            .arg(root().join(&case.source).canonicalize()?)
            .args(&case.flags)
            .status()
            .context("failed to start cc")?;
        ensure!(status.success(), "{} can't be built", case.source);
        Ok(program)
    }
}

/// What a campaign came to, as its lines of JSON.
#[derive(Debug, Default)]
pub(crate) struct Told {
    pub(crate) summary: Value,
    pub(crate) findings: Vec<Value>,
    /// What executions wrote, with `--show-output`.
    pub(crate) outputs: Vec<Value>,
}
