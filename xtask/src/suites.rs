//! The own test suites of well-known crates, fetched from the registry as they are: nothing may be found in them but what
//! is known to be true, and a bug planted in a copy of some must be, by the crate's own tests. At the end a table for
//! docs/rust.md.
//!
//! A test that is made for real threads at full speed (a hundred thousand rounds) may not come to the end of one
//! execution in its time: it is told as slow, which is neither.
//!
//! Not part of CI's tests: it needs the registry, and takes minutes.

mod list;

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, ensure};

use self::list::{Bug, SUITES, Suite, Why};
use crate::ecosystem::{Explored, build, explore};

/// What to run.
#[derive(Debug)]
pub(crate) struct Options {
    /// Seconds for each suite, and for each bug.
    pub(crate) time: u64,
    /// Only crates whose name contains this.
    pub(crate) only: String,
    /// The `raddle` to use, instead of one that is built for it.
    pub(crate) raddle: Option<PathBuf>,
    /// No planted bugs.
    pub(crate) is_as_it_is: bool,
}

/// Explores all suites, and fails if something is found that is not there, or not found that is.
pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize()?;
    let raddle = match &options.raddle {
        Some(path) => path.canonicalize()?,
        None => build(&root)?,
    };
    let folder = root.join("target/suites");
    let fetched = fetch(&folder)?;
    let (mut wrong, mut rows) = (Vec::new(), Vec::new());
    for suite in SUITES.iter().filter(|it| it.name.contains(&options.only)) {
        let copy = |kind: &str| suite.copy(&fetched, &folder.join(kind));
        let time = ["--time".to_owned(), format!("{}s", options.time)];
        eprintln!("{} {}, as it is", suite.name, suite.version);
        // What can't be built or explored is no reason to leave out the others.
        let tests = match explore(&raddle, &copy("as-it-is")?, &time) {
            Ok(tests) => tests,
            Err(error) => {
                wrong.push(format!("{}: {error:#}", suite.name));
                continue;
            }
        };
        tell(&tests);
        let found = tests.iter().filter(|it| it.is_found() && suite.why(&it.name).is_none());
        wrong.extend(found.map(|it| format!("{}: {}", suite.name, it.name)));
        rows.push(suite.row(&tests));
        let Some(bug) = suite.bug.as_ref().filter(|_| !options.is_as_it_is) else { continue };
        eprintln!("{} with a bug: {}", suite.name, bug.what);
        let planted = copy("with-a-bug")?;
        bug.plant(&planted)?;
        let args = [&time[..], &[bug.tests.to_owned()]].concat();
        let tests = explore(&raddle, &planted, &args)?;
        tell(&tests);
        if !tests.iter().any(Explored::is_found) {
            wrong.push(format!("{}'s bug", suite.name));
        }
    }
    table(&rows);
    ensure!(wrong.is_empty(), "not as they should be: {}", wrong.join(", "));
    Ok(())
}

/// The table of docs/rust.md.
fn table(rows: &[String]) {
    let columns = [
        "crate",
        "tests (with threads)",
        "executions",
        "a second",
        "found",
        "timing assumptions",
        "few or slow",
        "uncontrolled",
    ];
    eprintln!("| {} |", columns.join(" | "));
    eprintln!("|{}", "---|".repeat(columns.len()));
    for row in rows {
        eprintln!("{row}");
    }
}

/// All crates, as cargo gets them from the registry.
fn fetch(folder: &Path) -> anyhow::Result<PathBuf> {
    let project = folder.join("project");
    fs::create_dir_all(project.join("src"))?;
    fs::write(project.join("src/lib.rs"), "")?;
    let line = |it: &Suite| format!("{} = \"={}\"\n", it.name, it.version);
    let dependencies: String = SUITES.iter().map(line).collect();
    let manifest =
        "[package]\nname = \"suites\"\nedition = \"2021\"\n[workspace]\n[dependencies]\n";
    fs::write(project.join("Cargo.toml"), format!("{manifest}{dependencies}"))?;
    let mut vendor = Command::new(env!("CARGO"));
    vendor.args(["vendor", "--quiet", "../fetched"]).current_dir(&project);
    vendor.stdout(std::process::Stdio::null());
    ensure!(vendor.status()?.success(), "failed to fetch the crates");
    Ok(folder.join("fetched"))
}

impl Suite {
    /// Why something is rightly found in a test, if that is known.
    fn why(&self, test: &str) -> Option<Why> {
        self.known.iter().find(|it| it.0 == test).map(|it| it.1)
    }

    /// Its row of the table.
    fn row(&self, tests: &[Explored]) -> String {
        let count = |is_it: &dyn Fn(&Explored) -> bool| tests.iter().filter(|it| is_it(it)).count();
        let list = |why: Why| {
            let of = tests.iter().filter(|it| it.is_found() && self.why(&it.name) == Some(why));
            let names: Vec<String> = of.map(|it| format!("`{}`", it.name)).collect();
            if names.is_empty() { "0".to_owned() } else { names.join(", ") }
        };
        let n_executions: u64 = tests.iter().map(|it| it.executions).sum();
        let seconds: f64 = tests.iter().map(|it| it.elapsed_s).sum();
        let pace = if seconds > 0.0 { n_executions as f64 / seconds } else { 0.0 };
        format!(
            "| {} {} | {} ({}) | {n_executions} | {pace:.0} | {} | {} | {} | {} |",
            self.name,
            self.version,
            tests.len(),
            count(&|it| it.verdict() != "alone"),
            list(Why::True),
            list(Why::Clock),
            count(&|it| matches!(it.verdict(), "slow" | "few")),
            count(&|it| it.stability < 100.0),
        )
    }

    /// A fresh copy of the crate, which belongs to no workspace; what was built of it stays.
    fn copy(&self, fetched: &Path, to: &Path) -> anyhow::Result<PathBuf> {
        let to = to.join(self.name);
        copy_folder(&fetched.join(self.name), &to)?;
        let manifest = to.join("Cargo.toml");
        let text = without(&fs::read_to_string(&manifest)?, self.unused);
        fs::write(&manifest, format!("{text}\n[workspace]\n"))?;
        Ok(to)
    }
}

/// A manifest without benchmarks, and without what only those need: it takes longer to build than everything else.
fn without(manifest: &str, unused: &[&str]) -> String {
    let mut is_left_out = false;
    let mut kept = String::new();
    for line in manifest.lines() {
        if line.starts_with('[') {
            let is_unused = |it: &&str| line == format!("[dev-dependencies.{it}]");
            is_left_out = line == "[[bench]]" || unused.iter().any(is_unused);
        }
        if !is_left_out {
            kept += line;
            kept.push('\n');
        }
    }
    kept
}

impl Bug {
    fn plant(&self, folder: &Path) -> anyhow::Result<()> {
        let path = folder.join(self.file);
        let text = fs::read_to_string(&path)?;
        ensure!(text.contains(self.right), "{} is another than it was", path.display());
        Ok(fs::write(&path, text.replace(self.right, self.wrong))?)
    }
}

fn copy_folder(from: &Path, to: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(to)?;
    let entries = fs::read_dir(from).with_context(|| format!("no {}", from.display()))?;
    for entry in entries {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_folder(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}

/// One line for each test with more than one thread, or with something else than that of it (other processes: less
/// than 100 % stability); and what they come to.
fn tell(tests: &[Explored]) {
    for test in tests.iter().filter(|it| it.verdict() != "alone" || it.stability < 100.0) {
        let Explored { name, executions, stability, .. } = test;
        let verdict = test.verdict();
        eprintln!("  {name:60} {verdict:8} {executions:>6} executions, stability {stability}%");
    }
    let n_executions: u64 = tests.iter().map(|it| it.executions).sum();
    eprintln!("  {} tests in {n_executions} executions", tests.len());
}
