//! What explaining costs: executions to make a schedule small, and the page of a long one. As a user would, with
//! `raddle` itself.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::Instant,
};

use anyhow::{Context, ensure};
use serde_json::Value;
use tempfile::TempDir;

use super::{
    program::{Bench, sources},
    row::{Bar, Row},
};
use crate::soak::programs_under;

/// Executions in which a program must fail.
const N_EXECUTIONS: &str = "20000";

pub(super) fn measure(bench: &Bench) -> anyhow::Result<Vec<Row>> {
    let raddle = Raddle::new()?;
    let programs = programs_under(&raddle.root.join("programs/fail"));
    let n_wanted = bench.amount(programs.len() as u64) as usize;
    let programs: Vec<PathBuf> =
        programs.iter().step_by(programs.len() / n_wanted.max(1)).cloned().collect();
    let mut replays = Vec::new();
    for program in &programs {
        replays.extend(raddle.minimised(program)?.map(|it| it.n_replays));
    }
    ensure!(replays.len() * 10 >= programs.len() * 9, "{} of {}", replays.len(), programs.len());
    replays.sort_unstable();
    let median = replays[replays.len() / 2] as f64;
    let most = replays.last().copied().unwrap_or_default();
    let long = raddle.minimised(&sources().join("long_failure.c"))?.context("it did not fail")?;
    ensure!(long.n_steps >= 10_000, "only {} steps", long.n_steps);
    let mut seconds = f64::MAX;
    for _ in 0..bench.n_rounds() {
        let start = Instant::now();
        raddle.run(&["report", "latest", "-o", "page.html"])?;
        seconds = seconds.min(start.elapsed().as_secs_f64());
    }
    let size = fs::metadata(raddle.folder.path().join("page.html"))?.len() as f64 / 1e6;
    let row = |name, value, unit, bar, note| Row {
        name,
        value,
        unit,
        floor: bar,
        bar: Bar::Value(bar),
        note,
    };
    let of_all = format!("median of {} programs of programs/fail, {most} at most", replays.len());
    let of_long = format!("{} steps, {} preemptions left", long.n_steps, long.n_preemptions);
    let of_page = format!("{} steps as found, beside the small schedule", long.n_steps);
    Ok(vec![
        row("replays to minimise", median, "", 200.0, of_all),
        row("minimise 10,000 steps", long.n_replays as f64, "", 200.0, of_long),
        row("report of 10,000 steps", seconds, "s", 1.0, of_page.clone()),
        row("its size", size, "MB", 5.0, of_page),
    ])
}

/// `raddle`, in a folder of its own.
struct Raddle {
    root: PathBuf,
    program: PathBuf,
    folder: TempDir,
}

/// What came of making a schedule small.
struct Minimised {
    n_replays: u64,
    n_steps: u64,
    n_preemptions: u64,
}

impl Raddle {
    fn new() -> anyhow::Result<Raddle> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize()?;
        let mut build = Command::new(env!("CARGO"));
        build.args(["build", "--quiet", "--release", "-p", "raddle-cli"]).current_dir(&root);
        ensure!(build.status()?.success(), "failed to build raddle");
        let program = root.join("target/release/raddle");
        Ok(Raddle { root, program, folder: TempDir::new()? })
    }

    fn run(&self, args: &[&str]) -> anyhow::Result<String> {
        let mut command = Command::new(&self.program);
        let output = command.args(args).current_dir(self.folder.path()).output()?;
        Ok(String::from_utf8(output.stdout)?)
    }

    /// Explores a program up to its first failure; `None` if its schedule could not be made small.
    fn minimised(&self, program: &Path) -> anyhow::Result<Option<Minimised>> {
        let source = fs::read_to_string(program)?;
        let words = |key: &str| {
            let start = format!("//@ {key}:");
            let line = source.lines().find_map(|it| it.strip_prefix(&start));
            line.unwrap_or_default().split_whitespace().map(str::to_owned).collect::<Vec<_>>()
        };
        let path = program.display().to_string();
        let mut args = vec!["run", &path, "--detect", "none", "--message-format", "json"];
        args.extend(["--execs", N_EXECUTIONS, "--seed", "1"]);
        let (flags, own) = (words("flags").join(" "), words("args"));
        let flags = format!("--cflags={flags}");
        args.push(&flags);
        args.push("--");
        args.extend(own.iter().map(String::as_str));
        let out = self.run(&args)?;
        let lines = out.lines().map(serde_json::from_str::<Value>);
        let all = lines.collect::<Result<Vec<_>, _>>().with_context(|| path.clone())?;
        let found = all.iter().find(|it| it["type"] == "finding");
        let told = found.map_or(&Value::Null, |it| &it["explanation"]["minimised"]);
        let figure = |key: &str| told[key].as_u64();
        let figures = || {
            Some(Minimised {
                n_replays: figure("replays")?,
                n_steps: figure("steps_before")?,
                n_preemptions: figure("preemptions")?,
            })
        };
        Ok(figures())
    }
}
