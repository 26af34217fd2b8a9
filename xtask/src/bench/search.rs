//! A systematic search to its end: executions in a second of processor time, planning included.
//!
//! What counts is what the search and the program take of processors together, whoever waits for whom. The
//! floor is random executions in one block, for which nothing is planned or read.

use std::{sync::atomic::AtomicBool, time::Instant};

use anyhow::{Context, ensure};
use raddle_explore::{Campaign, Method, Options, SearchOptions};
use raddle_launch::{Native, NativeOptions, Symbols};
use raddle_model::PickerSpec;
use raddle_plan::search::SearchSpec;

use super::{
    meter::{Meter, Whose},
    program::Bench,
    row::{Bar, Row},
};

const STRATEGY: &str = "dpor:optimal";
/// Mazurkiewicz classes of the program.
const N_CLASSES: u64 = 7_134;

pub(super) fn measure(bench: &Bench) -> anyhow::Result<Vec<Row>> {
    let program = bench.hooked("loads.c", &["-O2"])?;
    let (mut value, mut floor) = (f64::MAX, f64::MAX);
    for _ in 0..bench.n_rounds() {
        let meter = Meter::start(Whose::All)?;
        search(bench, &program)?;
        value = value.min(meter.seconds() * 1e9 / N_CLASSES as f64);
        let mut runner = bench.open(&program, &[])?;
        runner.run_many(PickerSpec::Walk, 10)?;
        let start = Instant::now();
        runner.run_many(PickerSpec::Walk, 1_000)?;
        floor = floor.min(start.elapsed().as_nanos() as f64 / 1e3);
    }
    Ok(vec![Row {
        name: "search",
        value: value / 1e3,
        unit: "µs",
        floor: floor / 1e3,
        bar: Bar::Value(10.0),
        note: format!(
            "{STRATEGY}, {N_CLASSES} executions of 3 threads × 2 (load; store), {:.0} a CPU-second; floor: a \
             random one of the same program",
            1e9 / value
        ),
    }])
}

fn search(bench: &Bench, program: &std::path::Path) -> anyhow::Result<()> {
    let options = NativeOptions::new(program.into(), Vec::new(), bench.runtime());
    let target = Native::new(options);
    let search =
        SearchOptions { n_learning: 1, ..SearchOptions::new(SearchSpec::parse(STRATEGY)?) };
    let options =
        Options { method: Method::Search(Box::new(search)), jobs: 1, ..Options::default() };
    let outcome = Campaign::new(&target, options).run(
        &mut Symbols::new(),
        &mut (),
        &AtomicBool::new(false),
    )?;
    let progress = outcome.search.context("bug: it was a search")?.progress;
    ensure!(progress.is_finished && progress.n_redundant == 0, "not optimal: {progress:?}");
    ensure!(progress.n_executions == N_CLASSES, "{} executions", progress.n_executions);
    Ok(())
}
