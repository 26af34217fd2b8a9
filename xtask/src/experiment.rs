//! The papers' experiments over programs of our own, made by `raddle compare`: how many executions each strategy
//! needs to the first failure, as tables in Markdown.
//!
//! What the program shares is found out beforehand by random executions that do not count, the same for all
//! strategies (`--learn`): the papers know it from the program's text. A cell is the number of executions up to
//! and with the failing one; `none of n` is a search that ended without failure after n executions, `> n` one
//! that was given up at its budget. Times are in the results for the sake of the paper's columns; they depend on
//! the machine.
//!
//! Every cell goes to `results.json` of its experiment as soon as it is known; an interrupted experiment goes on there. The
//! page `RESULTS.md` is made of that file alone, and a test holds the two together.

mod hapset;
mod rank;
mod total_replay;

use std::{
    cell::RefCell,
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::{Context, ensure};
use clap::ValueEnum;
use serde::{Deserialize, Serialize};
use tempfile::TempDir;

/// Random executions of each program beforehand.
const LEARNING: &str = "200";

/// Which experiment.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Which {
    /// Coverage guided search: seed paper 2.
    Hapset,
    /// Ranked search: seed paper 0.
    Rank,
    /// Total replay: seed paper 3.
    TotalReplay,
}

/// How to make an experiment.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) which: Which,
    /// Executions after which a search is given up.
    pub(crate) executions: u64,
    /// Seconds after which it is.
    pub(crate) seconds: u64,
    /// Only programs whose name contains this.
    pub(crate) only: String,
    /// The `raddle` to use; one is built if none is named.
    pub(crate) raddle: Option<PathBuf>,
    /// Forget what an earlier run has found.
    pub(crate) anew: bool,
}

impl Which {
    const fn name(self) -> &'static str {
        match self {
            Which::Hapset => "hapset",
            Which::Rank => "rank",
            Which::TotalReplay => "total-replay",
        }
    }

    fn folder(self) -> PathBuf {
        root().join("experiments").join(self.name())
    }

    fn tables(self, lab: &Lab<'_>) -> anyhow::Result<String> {
        match self {
            Which::Hapset => hapset::tables(lab),
            Which::Rank => rank::tables(lab),
            Which::TotalReplay => total_replay::tables(lab),
        }
    }
}

/// Makes an experiment; its results go to standard output and, if nothing was left out, to its folder.
pub(crate) fn run(settings: &Settings) -> anyhow::Result<()> {
    let lab = Lab::new(settings)?;
    let text = settings.which.tables(&lab)?;
    eprint!("\n{text}");
    if settings.only.is_empty() {
        let path = settings.which.folder().join("RESULTS.md");
        fs::write(&path, text).with_context(|| format!("failed to write {}", path.display()))?;
    }
    Ok(())
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// A program with its flags and arguments.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    /// What tables call it.
    pub(crate) name: String,
    /// Its source, from the root of the repository.
    pub(crate) source: String,
    pub(crate) flags: Vec<String>,
    pub(crate) args: Vec<String>,
}

impl Case {
    pub(crate) fn new(name: &str, source: &str) -> Case {
        let (name, source) = (name.to_owned(), source.to_owned());
        Case { name, source, flags: Vec::new(), args: Vec::new() }
    }

    pub(crate) fn with_args(self, args: &[&str]) -> Case {
        Case { args: args.iter().map(|it| (*it).to_owned()).collect(), ..self }
    }

    pub(crate) fn with_flags(self, flags: &[&str]) -> Case {
        Case { flags: flags.iter().map(|it| (*it).to_owned()).collect(), ..self }
    }
}

/// Compares searches.
pub(crate) struct Lab<'a> {
    settings: &'a Settings,
    raddle: PathBuf,
    folder: TempDir,
    results: RefCell<Vec<Made>>,
    /// Nothing is run: what is not known is an error.
    is_reading: bool,
}

/// A cell of `results.json`.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Made {
    program: String,
    strategy: String,
    #[serde(flatten)]
    cell: Cell,
}

/// How a search went.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Cell {
    pub(crate) n_executions: u64,
    pub(crate) seconds: f64,
    pub(crate) verdict: Verdict,
    /// Where in the search it was found.
    pub(crate) place: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Verdict {
    Found,
    /// The search ended, and nothing had failed.
    Nothing,
    /// The budget ended.
    GivenUp,
}

impl<'a> Lab<'a> {
    fn new(settings: &'a Settings) -> anyhow::Result<Lab<'a>> {
        let raddle = match &settings.raddle {
            Some(raddle) => raddle.clone(),
            None => {
                let mut build = Command::new(env!("CARGO"));
                build.args(["build", "--release", "-p", "raddle-cli"]).current_dir(root());
                ensure!(build.status()?.success(), "raddle can't be built");
                root().join("target/release/raddle")
            }
        };
        let lab = Lab {
            settings,
            raddle,
            folder: TempDir::new()?,
            results: RefCell::default(),
            is_reading: false,
        };
        if !settings.anew {
            lab.read()?;
        }
        Ok(lab)
    }

    /// Knows what `results.json` says, if there is one.
    fn read(&self) -> anyhow::Result<()> {
        let path = self.settings.which.folder().join("results.json");
        if let Ok(text) = fs::read_to_string(&path) {
            let results = serde_json::from_str(&text);
            *self.results.borrow_mut() =
                results.with_context(|| format!("failed to read {}", path.display()))?;
        }
        Ok(())
    }

    fn known(&self, case: &Case, strategy: &str) -> Option<Cell> {
        let results = self.results.borrow();
        let found = results.iter().find(|it| it.program == case.name && it.strategy == strategy);
        found.map(|it| it.cell.clone())
    }

    /// Searches a program up to its first failure in each of these ways, if that is not known.
    pub(crate) fn search(&self, case: &Case, strategies: &[&str]) -> anyhow::Result<Vec<Cell>> {
        let unknown: Vec<&str> =
            strategies.iter().copied().filter(|it| self.known(case, it).is_none()).collect();
        ensure!(unknown.is_empty() || !self.is_reading, "{}: no {unknown:?}", case.name);
        if !unknown.is_empty() {
            eprintln!("{}: {}…", case.name, unknown.join(", "));
            let cells = self.run(case, &unknown)?;
            let made = unknown.iter().zip(cells).map(|(strategy, cell)| Made {
                program: case.name.clone(),
                strategy: (*strategy).to_owned(),
                cell,
            });
            self.results.borrow_mut().extend(made);
            self.write()?;
        }
        let cells = strategies.iter().map(|it| self.known(case, it));
        cells.map(|it| it.context("a cell was lost")).collect()
    }

    fn write(&self) -> anyhow::Result<()> {
        if !self.settings.only.is_empty() {
            return Ok(());
        }
        let mut results = self.results.borrow_mut();
        results.sort_by(|a, b| (&a.program, &a.strategy).cmp(&(&b.program, &b.strategy)));
        let path = self.settings.which.folder().join("results.json");
        let text = serde_json::to_string_pretty(&*results)? + "\n";
        fs::write(&path, text).with_context(|| format!("failed to write {}", path.display()))
    }

    /// Is the program to be left out?
    pub(crate) fn is_left_out(&self, case: &Case) -> bool {
        !case.name.contains(&self.settings.only)
    }

    fn run(&self, case: &Case, strategies: &[&str]) -> anyhow::Result<Vec<Cell>> {
        let csv = self.folder.path().join("trials.csv");
        let status = Command::new(&self.raddle)
            .arg("compare")
            .arg(root().join(&case.source))
            .args(["--strategies", &strategies.join(","), "--repeats", "1", "--jobs", "1"])
            .args(["--execs", &(self.settings.executions + 1).to_string()])
            .args(["--time", &format!("{}s", self.settings.seconds), "--learn", LEARNING])
            .arg("--csv")
            .arg(&csv)
            .args(case.flags.iter().map(|it| format!("--cflags={it}")))
            .arg("--")
            .args(&case.args)
            .stdout(Stdio::null())
            .status()
            .with_context(|| format!("failed to start {}", self.raddle.display()))?;
        ensure!(status.success(), "raddle compare of {} ended with {status}", case.name);
        let text = fs::read_to_string(&csv)?;
        let cells: Vec<Cell> = text.lines().skip(1).filter_map(Cell::parse).collect();
        ensure!(cells.len() == strategies.len(), "raddle compare of {} wrote\n{text}", case.name);
        Ok(cells)
    }
}

impl Cell {
    /// A line of `--csv`: program, strategy, seed, found, to the first, executions, failures, points, most
    /// points, seconds, finished, place; only the last may be in quotes.
    fn parse(line: &str) -> Option<Cell> {
        let fields: Vec<&str> = line.splitn(12, ',').collect();
        let [_, _, _, found, first, executions, _, _, _, seconds, finished, place] = fields[..]
        else {
            return None;
        };
        let verdict = match (found, finished) {
            ("1", _) => Verdict::Found,
            (_, "1") => Verdict::Nothing,
            _ => Verdict::GivenUp,
        };
        let n_executions = if verdict == Verdict::Found { first } else { executions };
        Some(Cell {
            n_executions: n_executions.parse().ok()?,
            seconds: seconds.parse().ok()?,
            verdict,
            place: place.trim_matches('"').to_owned(),
        })
    }

    /// `14`, `none of 512`, `> 2000`.
    pub(crate) fn runs(&self) -> String {
        let n_executions = self.n_executions;
        match self.verdict {
            Verdict::Found => n_executions.to_string(),
            Verdict::Nothing => format!("none of {n_executions}"),
            Verdict::GivenUp => format!("> {n_executions}"),
        }
    }

    /// `14 (0.2 s)`.
    pub(crate) fn runs_and_time(&self) -> String {
        format!("{} ({:.1} s)", self.runs(), self.seconds)
    }
}

/// A table in Markdown.
pub(crate) fn table(head: &[&str], rows: &[Vec<String>]) -> String {
    let mut text = String::new();
    let _ = writeln!(text, "| {} |", head.join(" | "));
    let rule = head.iter().enumerate().map(|(idx, _)| if idx == 0 { "---" } else { "---:" });
    let _ = writeln!(text, "| {} |", rule.collect::<Vec<_>>().join(" | "));
    for row in rows {
        let _ = writeln!(text, "| {} |", row.join(" | "));
    }
    text
}

#[cfg(test)]
mod tests {
    use std::{cell::RefCell, fs};

    use tempfile::TempDir;

    use super::{Lab, Settings, Which};

    /// No number of a page is written by hand.
    #[test]
    fn pages_are_made_of_results() {
        let which = Which::Rank;
        let settings = Settings {
            which,
            executions: 0,
            seconds: 0,
            only: String::new(),
            raddle: None,
            anew: false,
        };
        let lab = Lab {
            settings: &settings,
            raddle: "none".into(),
            folder: TempDir::new().expect("a folder"),
            results: RefCell::default(),
            is_reading: true,
        };
        lab.read().expect("results are there");
        let text = which.tables(&lab).expect("all cells are there");
        let page = fs::read_to_string(which.folder().join("RESULTS.md")).expect("a page");
        assert_eq!(text, page, "cargo xtask experiment {} makes the page anew", which.name());
    }
}
