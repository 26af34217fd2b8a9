//! Each promise of speed, measured against its floor in the same run.
//!
//! The programs of `xtask/bench` time themselves with system calls of their own, for the clocks that
//! they read through the C library are virtual; where nothing waits they count their own CPU time. Of
//! several runs the fastest counts: whatever else the machine does only ever adds.

mod access;
mod compute;
mod cpu;
mod detect;
mod execution;
mod explain;
mod list;
mod meter;
mod program;
mod races;
mod row;
mod rust;
mod scale;
mod search;
mod steps;
mod total;
mod tree;
mod weak;

use std::{fs, path::PathBuf};

use anyhow::{Context, ensure};

use program::Bench;
use row::Row;

/// What to measure.
#[derive(Debug)]
pub(crate) struct Options {
    /// Something else than what Raddle promises for programs.
    pub(crate) which: Option<Which>,
    /// Where the figures go.
    pub(crate) json: Option<PathBuf>,
    /// A tenth of the work.
    pub(crate) is_quick: bool,
    /// Only benchmarks whose name contains this.
    pub(crate) only: String,
}

/// What is measured only when asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Which {
    /// Closures, beside Shuttle and Loom.
    Rust,
}

type Measure = fn(&Bench) -> anyhow::Result<Vec<Row>>;

const BENCHMARKS: &[(&str, Measure)] = &[
    ("steps", steps::measure),
    ("weak", weak::measure),
    ("execution", execution::measure),
    ("access", access::measure),
    ("cpu", cpu::measure),
    ("compute", compute::measure),
    ("scale", scale::measure),
    ("tree", tree::measure),
    ("search", search::measure),
    ("detect", detect::measure),
    ("races", races::measure),
    ("explain", explain::measure),
    ("total", total::measure),
    ("list", list::measure),
];

/// Runs the benchmarks, prints a table and fails if a bar is missed.
pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let (rows, failed) = match options.which {
        Some(Which::Rust) => (rust::measure(options)?, Vec::new()),
        None => measure_promises(options)?,
    };
    eprint!("\n{}", row::table(&rows));
    if let Some(path) = &options.json {
        fs::write(path, row::json(&rows, options.is_quick)?)
            .with_context(|| format!("failed to write {}", path.display()))?;
    }
    ensure!(failed.is_empty(), "{}", failed.join("\n"));
    let n_missed = rows.iter().filter(|row| !row.is_ok()).count();
    ensure!(n_missed == 0, "{n_missed} of {} bars missed", rows.len());
    Ok(())
}

fn measure_promises(options: &Options) -> anyhow::Result<(Vec<Row>, Vec<String>)> {
    let bench = Bench::new(options.is_quick)?;
    let (mut rows, mut failed) = (Vec::new(), Vec::new());
    for (name, measure) in BENCHMARKS.iter().filter(|(name, _)| name.contains(&options.only)) {
        eprintln!("measuring {name}…");
        // What was measured before is not lost.
        match measure(&bench) {
            Ok(found) => rows.extend(found),
            Err(error) => failed.push(format!("failed to measure {name}: {error:#}")),
        }
    }
    Ok((rows, failed))
}
