//! `raddle list` over a store with 100,000 findings, 1,000 of them different, as runs that find the same again make them:
//! time from start to exit, against the same over a store with one.

use std::{
    path::Path,
    process::{Command, Stdio},
    time::Instant,
};

use anyhow::{Context, ensure};
use raddle_explore::{Store, StoredFinding};
use raddle_model::Bucket;

use super::{
    program::Bench,
    row::{Bar, Row},
};

/// Lines that are printed.
const N_DIFFERENT: u64 = 1_000;
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
    fill(&Store::at(&small), &Store::at(&large), n_findings)?;
    let (value, floor) = (list_ms(&raddle, &large)?, list_ms(&raddle, &small)?);
    let size = large.join("raddle.db").metadata()?.len() >> 20;
    Ok(vec![Row {
        name: "list",
        value,
        unit: "ms",
        floor,
        bar: Bar::Value(50.0),
        note: format!("{n_findings} findings in {size} MiB; floor: a store with one"),
    }])
}

/// The finding of one store, so many times in another.
fn fill(from: &Store, to: &Store, n_findings: u64) -> anyhow::Result<()> {
    let mut export = from.export("latest")?;
    let found = export.findings.pop().context("bug: what was exported is a finding")?;
    let copy = |number: u64| {
        let mut copy = StoredFinding { id: format!("dl-{number:06x}"), ..found.clone() };
        copy.finding.bucket = Bucket(number);
        copy
    };
    export.findings = (0..N_DIFFERENT).map(copy).collect();
    for run in 0..n_findings / N_DIFFERENT {
        export.run.run = format!("{run:08x}{}", &found.run[8..]);
        to.import(&export)?;
    }
    Ok(())
}

fn list_ms(raddle: &Path, store: &Path) -> anyhow::Result<f64> {
    let mut fastest = f64::INFINITY;
    for _ in 0..REPETITIONS {
        let mut list = Command::new(raddle);
        list.args(["list", "--store"]).arg(store).stdout(Stdio::null());
        let start = Instant::now();
        ensure!(list.status()?.success(), "failed: {list:?}");
        fastest = fastest.min(start.elapsed().as_secs_f64() * 1e3);
    }
    Ok(fastest)
}
