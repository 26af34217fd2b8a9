//! A whole execution of a small program, against a bare copy of the same process that ends at once.
//!
//! The floor is measured by the program itself, inside an execution: there it is the very image that
//! the server copies (runtime, shadow memory, stacks of donors, shared segment and all), and it copies
//! itself with system calls of its own. A program without Raddle would be a smaller image, so a lower
//! floor, but not the one that the bar names; its figure stands in the note.

use std::time::Instant;

use raddle_model::PickerSpec;

use super::{
    program::{Bench, alone},
    row::{Bar, Row},
};

pub(super) fn measure(bench: &Bench) -> anyhow::Result<Vec<Row>> {
    let n_executions = bench.amount(1_000);
    let program = bench.hooked("execution.c", &["-O2"])?;
    let mut copier = bench.open(&program, &[n_executions])?;
    let mut runner = bench.open(&program, &[])?;
    // Not counted: the server has donors from the second execution on.
    copier.run(PickerSpec::Walk)?;
    let mut n_steps = runner.run_many(PickerSpec::Walk, 10)?;

    let (mut value, mut floor) = (f64::MAX, f64::MAX);
    for _ in 0..2 * bench.n_rounds() {
        let copies = copier.run(PickerSpec::Walk)?;
        floor = floor.min(copies.told.ns / n_executions as f64);
        let start = Instant::now();
        n_steps = runner.run_many(PickerSpec::Walk, n_executions)?;
        value = value.min(start.elapsed().as_nanos() as f64 / n_executions as f64);
    }
    let plain = bench.plain("execution.c", "plain", None, &["-O2"])?;
    let bare = alone(&plain, &[n_executions], bench.n_rounds())?.ns / n_executions as f64;
    Ok(vec![Row {
        name: "whole execution",
        value: value / 1e3,
        unit: "µs",
        floor: floor / 1e3,
        bar: Bar::Ratio(1.25),
        note: format!(
            "{n_steps:.1} steps on average; floor: copy, exit, wait of the same image; without Raddle's \
             runtime in it: {:.2} µs",
            bare / 1e3
        ),
    }])
}
