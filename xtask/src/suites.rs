//! The own test suites of well-known crates, fetched from the registry as they are: nothing may be found in them, and
//! a bug planted in a copy of each must be, by the crate's own tests.
//!
//! A test that is made for real threads at full speed (a hundred thousand rounds) may not come to the end of one
//! execution in its time: it is told as slow, which is neither.
//!
//! Not part of CI's tests: it needs the registry, and takes minutes.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, ensure};

use crate::ecosystem::{Explored, build, explore};

/// A crate with its tests, and a bug for it.
struct Suite {
    name: &'static str,
    version: &'static str,
    /// Tests that are right only while their sleep is long enough for other threads: what is found of them is true.
    by_the_clock: &'static [&'static str],
    /// The file in which the bug is planted, what is replaced, and what by.
    file: &'static str,
    right: &'static str,
    wrong: &'static str,
    /// What goes wrong then; and which tests are to find it.
    bug: &'static str,
    tests: &'static str,
}

const SUITES: &[Suite] = &[
    Suite {
        name: "once_cell",
        version: "1.20.2",
        by_the_clock: &[],
        file: "src/imp_std.rs",
        right: "let queue = self.queue.swap(self.new_queue, Ordering::AcqRel);",
        wrong: "let queue = self.queue.load(Ordering::Acquire); \
                self.queue.store(self.new_queue, Ordering::Release);",
        bug: "who joins the waiters between load and store waits for ever",
        tests: "imp::tests",
    },
    Suite {
        name: "crossbeam-utils",
        version: "0.8.20",
        by_the_clock: &[],
        file: "src/sync/wait_group.rs",
        right: "count = inner.cvar.wait(count).unwrap();",
        wrong: "drop(count); count = inner.cvar.wait(inner.count.lock().unwrap()).unwrap();",
        bug: "the last of the group may notify before anybody waits",
        tests: "wait",
    },
    Suite {
        name: "spin",
        version: "0.12.3",
        by_the_clock: &["once::tests::get_no_wait"],
        file: "src/mutex/spin.rs",
        right: ".compare_exchange_weak(false, true, Ordering::Acquire, Ordering::Relaxed)
            .is_ok()",
        wrong: ".load(Ordering::Acquire) == false && { self.lock.store(true, Ordering::Relaxed); true }",
        bug: "two that find the lock free both take it",
        tests: "mutex::spin::",
    },
];

/// What to run.
#[derive(Debug)]
pub(crate) struct Options {
    /// Seconds for each suite, and for each bug.
    pub(crate) time: u64,
    /// Only crates whose name contains this.
    pub(crate) only: String,
}

/// Explores all suites, and fails if something is found that is not there, or not found that is.
pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize()?;
    let raddle = build(&root)?;
    let folder = root.join("target/suites");
    let fetched = fetch(&folder)?;
    let mut wrong = Vec::new();
    for suite in SUITES.iter().filter(|it| it.name.contains(&options.only)) {
        let copy = |kind: &str| suite.copy(&fetched, &folder.join(kind));
        let time = ["--time".to_owned(), format!("{}s", options.time)];
        eprintln!("{} {}, as it is", suite.name, suite.version);
        let tests = explore(&raddle, &copy("as-it-is")?, &time)?;
        tell(&tests);
        let is_true = |it: &str| suite.by_the_clock.contains(&it);
        let found = tests.iter().filter(|it| it.is_found() && !is_true(&it.name));
        wrong.extend(found.map(|it| it.name.clone()));
        eprintln!("{} with a bug: {}", suite.name, suite.bug);
        let planted = copy("with-a-bug")?;
        suite.plant(&planted)?;
        let args = [&time[..], &[suite.tests.to_owned()]].concat();
        let tests = explore(&raddle, &planted, &args)?;
        tell(&tests);
        if !tests.iter().any(Explored::is_found) {
            wrong.push(format!("{}'s bug", suite.name));
        }
    }
    ensure!(wrong.is_empty(), "not as they should be: {}", wrong.join(", "));
    Ok(())
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
    /// A fresh copy of the crate, which belongs to no workspace; what was built of it stays.
    fn copy(&self, fetched: &Path, to: &Path) -> anyhow::Result<PathBuf> {
        let to = to.join(self.name);
        copy_folder(&fetched.join(self.name), &to)?;
        let manifest = to.join("Cargo.toml");
        let text = fs::read_to_string(&manifest)?;
        fs::write(&manifest, format!("{text}\n[workspace]\n"))?;
        Ok(to)
    }

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
