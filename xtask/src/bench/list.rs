//! `raddle list` over a store with 100,000 findings, all of them different: what a terminal shows, and all of them, as a pipe
//! gets them. Time from start to exit, against the same over a store with one.

use std::{
    path::Path,
    process::{Command, Stdio},
    time::Instant,
};

use anyhow::{Context, ensure};
use raddle_explore::{Store, StoredFinding};
use raddle_model::Bucket;
use raddle_report::words::fault;

use super::{
    program::Bench,
    row::{Bar, Row},
};

/// Findings of one run.
const N_OF_RUN: u64 = 1_000;
/// Lists, of which the fastest counts.
const REPETITIONS: usize = 10;

pub(super) fn measure(bench: &Bench) -> anyhow::Result<Vec<Row>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize()?;
    let raddle = root.join("target/release/raddle");
    let mut build = Command::new(env!("CARGO"));
    build.args(["build", "--release", "-p", "raddle-cli"]).current_dir(&root);
    ensure!(build.status()?.success(), "failed: {build:?}");
    let folder = tempfile::tempdir()?;
    let (small, large) = (folder.path().join("small"), folder.path().join("large"));
    let mut run = Command::new(&raddle);
    run.args(["run", "-j1", "--no-explain", "--progress", "none", "--store"]).arg(&small);
    run.arg(root.join("examples/bank.c")).stdout(Stdio::null());
    ensure!(run.status()?.code() == Some(2), "nothing was found: {run:?}");
    let n_findings = bench.amount(100_000);
    fill(&Store::at(&small), &Store::at(&large).saying(fault::message), n_findings)?;
    let size = large.join("raddle.db").metadata()?.len() >> 20;
    let row = |name, args: &[&str], bar| -> anyhow::Result<Row> {
        Ok(Row {
            name,
            value: list_ms(&raddle, &large, args)?,
            unit: "ms",
            floor: list_ms(&raddle, &small, args)?,
            bar,
            note: format!("{n_findings} findings in {size} MiB; floor: a store with one"),
        })
    };
    let on_terminal = row("list", &["--last", "50"], Bar::Value(50.0))?;
    Ok(vec![on_terminal, row("list --all", &["--all"], Bar::Value(500.0))?])
}

/// The finding of one store, so many times in another.
fn fill(from: &Store, to: &Store, n_findings: u64) -> anyhow::Result<()> {
    let mut export = from.export("latest")?;
    let found = export.findings.pop().context("bug: what was exported is a finding")?;
    let copy = |number: u64| -> StoredFinding {
        let mut copy = StoredFinding { id: format!("dl-{number:06x}"), ..found.clone() };
        copy.finding.bucket = Bucket(number);
        copy
    };
    for run in 0..n_findings / N_OF_RUN {
        export.findings = (run * N_OF_RUN..(run + 1) * N_OF_RUN).map(copy).collect();
        export.run.run = format!("{run:08x}{}", &found.run[8..]);
        to.import(&export)?;
    }
    Ok(())
}

fn list_ms(raddle: &Path, store: &Path, args: &[&str]) -> anyhow::Result<f64> {
    let mut fastest = f64::INFINITY;
    for _ in 0..REPETITIONS {
        let mut list = Command::new(raddle);
        list.arg("list").args(args).arg("--store").arg(store).stdout(Stdio::null());
        let start = Instant::now();
        ensure!(list.status()?.success(), "failed: {list:?}");
        fastest = fastest.min(start.elapsed().as_secs_f64() * 1e3);
    }
    Ok(fastest)
}
