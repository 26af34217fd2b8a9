//! The same closures explored by Raddle, Shuttle and Loom (`xtask/bench-rust`, a workspace of its own), and the
//! smallest of them through C: CPU time for one execution, Raddle's launcher included.
//!
//! Each is run with few executions and with many: what differs is theirs, and all beginnings cancel out.
//! Raddle looks for races, as always; Shuttle does not, Loom does for its own cells only. Loom tries schedules in
//! its own order, and has room for five threads.

use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::{Context, ensure};

use super::{
    Options,
    meter::{Meter, Whose},
    row::{Bar, Row},
};

/// A closure, and how often it is executed by each at least.
struct Closure {
    name: &'static str,
    executions: u64,
    fits_loom: bool,
}

const CLOSURES: &[Closure] = &[
    Closure { name: "fetch_add", executions: 10_000, fits_loom: true },
    Closure { name: "mutex", executions: 4_000, fits_loom: true },
    Closure { name: "buffer", executions: 10_000, fits_loom: true },
    Closure { name: "threads", executions: 10_000, fits_loom: false },
    Closure { name: "lost_update", executions: 100_000, fits_loom: true },
];

/// Where the bench workspace is built, from the root; and what `cargo raddle` builds in there.
const TARGET: &str = "target/bench-rust";
const WITH_HOOKS: &str = "raddle/x86_64-unknown-linux-gnu/release/bench-raddle";

/// Of so many repetitions the fastest counts.
const REPETITIONS: usize = 3;

struct Programs {
    root: PathBuf,
    raddle: PathBuf,
}

/// Builds all, and measures what the options name.
pub(super) fn measure(options: &Options) -> anyhow::Result<Vec<Row>> {
    let programs = Programs::build()?;
    let scale = if options.is_quick { 10 } else { 1 };
    let mut rows = Vec::new();
    for closure in CLOSURES.iter().filter(|it| it.name.contains(&options.only)) {
        eprintln!("measuring {}…", closure.name);
        rows.extend(programs.rows(closure, closure.executions / scale)?);
    }
    if "in C".contains(&options.only) || options.only.contains("lost") {
        rows.push(programs.row_in_c(1_000_000 / scale)?);
    }
    Ok(rows)
}

impl Programs {
    fn build() -> anyhow::Result<Programs> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize()?;
        let raddle = root.join("target/release/raddle");
        let bench = root.join("xtask/bench-rust");
        let cargo = |folder: &Path, args: &[&str]| {
            let mut command = Command::new(env!("CARGO"));
            command.args(["build", "--release"]).args(args).current_dir(folder);
            command
        };
        let mut with_hooks = Command::new(&raddle);
        with_hooks.args(["cargo", "build", "--release", "-p", "bench-raddle"]).current_dir(&bench);
        for mut command in [
            cargo(&root, &["-p", "raddle-cli"]),
            cargo(&bench, &["-p", "bench-shuttle", "-p", "bench-loom"]),
            with_hooks,
        ] {
            if command.get_current_dir() == Some(&bench) {
                command.env("CARGO_TARGET_DIR", root.join(TARGET));
            }
            ensure!(command.status()?.success(), "failed: {command:?}");
        }
        Ok(Programs { root, raddle })
    }

    fn rows(&self, closure: &Closure, executions: u64) -> anyhow::Result<Vec<Row>> {
        let others = self.root.join(TARGET).join("release");
        let other = |name: &str, executions: u64| {
            let mut command = Command::new(others.join(name));
            command.arg(closure.name).arg(executions.to_string());
            command
        };
        let mine = self.root.join(TARGET).join(WITH_HOOKS);
        let raddle = |n: u64| self.explore(n, &["--".as_ref(), &mine, closure.name.as_ref()]);
        let value = cpu_us(executions, raddle)?;
        let shuttle = cpu_us(executions, |n| other("bench-shuttle", n))?;
        let loom = match closure.fits_loom {
            true => format!("{:.1} µs", loom_us(&mut other("bench-loom", executions / 10))?),
            false => "too many threads".to_owned(),
        };
        let n_steps = self.n_steps(&mine, closure.name)?;
        let per_step = value * 1_000.0 / n_steps;
        let note =
            format!("floor: Shuttle; Loom {loom}; {n_steps:.0} steps, {per_step:.0} ns each");
        let name = closure.name;
        let step = Row {
            name: "  of that, one step",
            value: per_step,
            unit: "ns",
            floor: shuttle * 1_000.0 / n_steps,
            bar: Bar::Value(60.0),
            note: String::new(),
        };
        Ok(vec![Row { name, value, unit: "µs", floor: shuttle, bar: Bar::Ratio(0.2), note }, step])
    }

    fn row_in_c(&self, executions: u64) -> anyhow::Result<Row> {
        let source = self.root.join("xtask/bench/lost_update.c");
        let value = cpu_us(executions, |n| self.explore(n, &["--cflags=-O2".as_ref(), &source]))?;
        let note = "floor: the bar, a million executions a second".to_owned();
        let bar = Bar::Value(1.0);
        Ok(Row { name: "lost_update in C", value, unit: "µs", floor: 1.0, bar, note })
    }

    fn explore(&self, executions: u64, what: &[&Path]) -> Command {
        let mut command = Command::new(&self.raddle);
        command.args(["run", "-j1", "--strategy", "walk", "--progress", "none", "--execs"]);
        command
            .arg(executions.to_string())
            .arg("--store")
            .arg(self.root.join("target/bench-store"));
        command.args(what);
        command
    }

    /// Steps of an execution, in the mean of some.
    fn n_steps(&self, program: &Path, closure: &str) -> anyhow::Result<f64> {
        const EXECUTIONS: u64 = 500;
        let mut command = self.explore(EXECUTIONS, &[]);
        command.args(["--message-format", "json", "--"]).arg(program).arg(closure);
        let output = command.output()?;
        let text = String::from_utf8_lossy(&output.stdout);
        let line = text.lines().last().context("raddle said nothing")?;
        let summary: serde_json::Value = serde_json::from_str(line)?;
        let n_steps = summary["steps"].as_f64().context("no steps in raddle's last line")?;
        Ok(n_steps / EXECUTIONS as f64)
    }
}

/// CPU time of one execution, in microseconds: that of many without that of few.
fn cpu_us(executions: u64, command: impl Fn(u64) -> Command) -> anyhow::Result<f64> {
    let n_few = (executions / 10).max(1);
    let mut fastest = [f64::MAX; 2];
    for _ in 0..REPETITIONS {
        for (best, n) in fastest.iter_mut().zip([n_few, executions]) {
            *best = best.min(cpu_s(&mut command(n))?);
        }
    }
    Ok((fastest[1] - fastest[0]) * 1e6 / (executions - n_few) as f64)
}

/// The same for Loom, which says how many executions it has made.
fn loom_us(command: &mut Command) -> anyhow::Result<f64> {
    let meter = Meter::start(Whose::Children)?;
    let output = command.stderr(Stdio::null()).output()?;
    let seconds = meter.seconds();
    let n_executions: f64 = String::from_utf8(output.stdout)?.trim().parse()?;
    Ok(seconds * 1e6 / n_executions)
}

/// CPU time of a command and of all that it started, in seconds.
fn cpu_s(command: &mut Command) -> anyhow::Result<f64> {
    let meter = Meter::start(Whose::Children)?;
    let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status()?;
    ensure!(status.success(), "failed: {command:?}");
    Ok(meter.seconds())
}
