//! What the detectors cost: races while executions run, beside ThreadSanitizer's own runtime, and offline.
//!
//! With `--points visible` clocks are kept whether races are told or not, so executions are compared where they are
//! not: with every step a scheduling point. The bar is 0.6 times as many executions in the same time.
//!
//! ThreadSanitizer runs the same object file, its threads at the same time. CPU time is compared, for it is the same
//! whoever else uses the machine.

use std::{hint::black_box, time::Instant};

use anyhow::ensure;
use raddle_model::{PickerSpec, Points};

use super::{
    program::{Bench, alone},
    row::{Bar, Row},
};

pub(super) fn measure(bench: &Bench) -> anyhow::Result<Vec<Row>> {
    Ok(vec![
        executions(bench, "execution, race detection on", "execution.c", &[])?,
        executions(bench, "locks, race detection on", "locks.c", &[4, 50, 50])?,
        beside_tsan(bench, "one thread beside TSan", "cpu.cpp", &[bench.amount(10)])?,
        beside_tsan(bench, "4 threads beside TSan", "threads.c", &[4, bench.amount(40)])?,
        offline(bench)?,
        location(bench)?,
    ])
}

/// Executions with races looked for, against those without.
fn executions(
    bench: &Bench,
    name: &'static str,
    source: &str,
    args: &[u64],
) -> anyhow::Result<Row> {
    let n_executions = bench.amount(1_000);
    let program = bench.hooked(source, &["-O2"])?;
    let mut runner = bench.open(&program, args)?;
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
        name,
        value: with / 1e3,
        unit: "µs",
        floor: without / 1e3,
        bar: Bar::Ratio(1.0 / 0.6),
        note: format!(
            "floor: races not looked for; {:.2} times as many executions",
            without / with
        ),
    })
}

/// A whole program, races told, against the same object file with ThreadSanitizer's own runtime.
fn beside_tsan(
    bench: &Bench,
    name: &'static str,
    source: &str,
    args: &[u64],
) -> anyhow::Result<Row> {
    let n_rounds = bench.n_rounds().min(3);
    let object = bench.object(source, &["-O2"])?;
    let tsan = bench.plain(source, "tsan", Some(&object), &["-fsanitize=thread"])?;
    let tsan_ms = alone(&tsan, args, n_rounds)?.ns / 1e6;
    let mut runner = bench.open(&bench.hooked(source, &["-O2"])?, args)?;
    runner.races = true;
    let ran = runner.fastest(PickerSpec::Walk, n_rounds)?;
    Ok(Row {
        name,
        value: ran.told.ns / 1e6,
        unit: "ms",
        floor: tsan_ms,
        bar: Bar::Ratio(1.0),
        note: format!("CPU time; floor: libtsan; {} steps", ran.summary.n_steps),
    })
}

/// The analysis of whole traces: one of locks, one of accesses to memory.
fn offline(bench: &Bench) -> anyhow::Result<Row> {
    let programs = [("locks.c", vec![4, 1_800, 1_800]), ("locations.c", vec![7_000])];
    let (mut n_events, mut sum_ns) = (0, 0.0);
    for (source, args) in programs {
        let mut runner = bench.open(&bench.hooked(source, &["-O2"])?, &args)?;
        runner.points = Points::All;
        let trace = runner.trace(PickerSpec::Walk)?;
        ensure!(trace.n_dropped == 0, "the trace of {source} has lost its start");
        let mut fastest = f64::MAX;
        for _ in 0..6 * bench.n_rounds() {
            let start = Instant::now();
            black_box(raddle_analysis::races(black_box(&trace)));
            fastest = fastest.min(start.elapsed().as_nanos() as f64);
        }
        n_events += trace.events.len();
        sum_ns += fastest;
    }
    let value = sum_ns / n_events as f64;
    Ok(Row {
        name: "event, offline",
        value,
        unit: "ns",
        floor: 50.0,
        bar: Bar::Value(50.0),
        note: format!("{n_events} events: {:.0} million a second", 1e3 / value),
    })
}

/// What is known of a word that threads share: its two cells of 4 bytes, and what executions with races looked for
/// take more than those without. (That a word is an object of the trace takes memory whoever looks for races.)
fn location(bench: &Bench) -> anyhow::Result<Row> {
    const CELLS: f64 = 8.0;
    let n_words = bench.amount(1 << 20);
    let program = bench.hooked("locations.c", &["-O2"])?;
    let peak_kib = |races: bool, n_words: u64| -> anyhow::Result<f64> {
        let mut runner = bench.open(&program, &[n_words])?;
        (runner.races, runner.points) = (races, Points::All);
        Ok(runner.fastest(PickerSpec::Nonpreemptive, 1)?.told.peak_kib)
    };
    let more_kib =
        |races: bool| anyhow::Ok(peak_kib(races, n_words)? - peak_kib(races, n_words / 16)?);
    let (with, without) = (more_kib(true)?, more_kib(false)?);
    let n_more = (n_words - n_words / 16) as f64;
    Ok(Row {
        name: "shared location",
        value: (with - without) * 1024.0 / n_more + CELLS,
        unit: "B",
        floor: 32.0,
        bar: Bar::Value(32.0),
        note: format!(
            "of {n_words} words that two threads share; {:.0} B with all that a trace knows of them",
            with * 1024.0 / n_more - 4.0
        ),
    })
}
