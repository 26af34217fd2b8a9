//! Many threads, and many steps in one execution: the cost of a step must not grow with either.
//!
//! All cases lock and unlock their own mutex and one that all share, under `walk`. With two threads
//! every second step switches, with a thousand nearly each one does.

use raddle_model::{PickerSpec, Points};

use super::{
    program::{Bench, Ran},
    row::{Bar, Row},
};

pub(super) fn measure(bench: &Bench) -> anyhow::Result<Vec<Row>> {
    let program = bench.hooked("locks.c", &["-O2"])?;
    let ran = |n_threads: u64, n_each: u64, n_rounds: usize| -> anyhow::Result<Ran> {
        let mut runner = bench.open(&program, &[n_threads, n_each, n_each])?;
        runner.points = Points::All;
        runner.fastest(PickerSpec::Walk, n_rounds)
    };
    let small = ran(2, 50_000, 3 * bench.n_rounds())?;
    let threads = ran(1_000, 200, bench.n_rounds())?;
    let steps = ran(2, bench.amount(1_250_000), bench.n_rounds().min(3))?;
    let both = ran(1_000, bench.amount(2_500), bench.n_rounds().min(3))?;
    let row = |name, ran: Ran| Row {
        name,
        value: ran.ns_per_step(),
        unit: "ns",
        floor: small.ns_per_step(),
        bar: Bar::Ratio(2.0),
        note: format!(
            "{} steps, peak {:.0} MiB; floor: 2 threads, {} steps, peak {:.0} MiB",
            ran.summary.n_steps,
            ran.told.peak_kib / 1024.0,
            small.summary.n_steps,
            small.told.peak_kib / 1024.0
        ),
    };
    Ok(vec![
        row("step of 1,000 threads", threads),
        row("step of 10 million", steps),
        row("step of both", both),
    ])
}
