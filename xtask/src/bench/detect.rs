//! What the detectors cost: races while executions run, and the analysis of a trace.
//!
//! With `--points visible` clocks are kept whether races are told or not, so executions are compared where they are
//! not: with every step a scheduling point. The bar is 0.6 times as many executions in the same time.

use std::{hint::black_box, time::Instant};

use raddle_model::{PickerSpec, Points};

use super::{
    program::Bench,
    row::{Bar, Row},
};

pub(super) fn measure(bench: &Bench) -> anyhow::Result<Vec<Row>> {
    Ok(vec![executions(bench)?, offline(bench)?])
}

fn executions(bench: &Bench) -> anyhow::Result<Row> {
    let n_executions = bench.amount(1_000);
    let program = bench.hooked("execution.c", &["-O2"])?;
    let mut runner = bench.open(&program, &[])?;
    runner.points = Points::All;
    let mut fastest = [f64::MAX; 2];
    for _ in 0..2 * bench.n_rounds() {
        for (races, fastest) in [false, true].into_iter().zip(&mut fastest) {
            runner.races = races;
            runner.run_many(PickerSpec::Walk, 10)?;
            let start = Instant::now();
            runner.run_many(PickerSpec::Walk, n_executions)?;
            *fastest = fastest.min(start.elapsed().as_nanos() as f64 / n_executions as f64);
        }
    }
    let [without, with] = fastest;
    Ok(Row {
        name: "execution, races told",
        value: with / 1e3,
        unit: "µs",
        floor: without / 1e3,
        bar: Bar::Ratio(1.0 / 0.6),
        note: "floor: races not looked for".to_owned(),
    })
}

fn offline(bench: &Bench) -> anyhow::Result<Row> {
    let program = bench.hooked("locks.c", &["-O2"])?;
    let mut runner = bench.open(&program, &[4, 4_000, 4_000])?;
    runner.points = Points::All;
    let mut trace = runner.trace(PickerSpec::Walk)?;
    // What was dropped is not looked at; what is left is as good for the clock.
    trace.n_dropped = 0;
    let mut fastest = f64::MAX;
    for _ in 0..3 * bench.n_rounds() {
        let start = Instant::now();
        black_box(raddle_analysis::races(black_box(&trace)));
        fastest = fastest.min(start.elapsed().as_nanos() as f64 / trace.events.len() as f64);
    }
    Ok(Row {
        name: "event, offline",
        value: fastest,
        unit: "ns",
        floor: 50.0,
        bar: Bar::Value(50.0),
        note: format!("{} events of 4 threads; 50 ns are 20 million a second", trace.events.len()),
    })
}
