//! One step, hook to hook: two threads lock and unlock mutexes that nobody else wants.
//!
//! Under `nonpreemptive` hardly any step switches; with a prefix that names the two in turn every step
//! does. Under `walk` half of them do, in an order that no branch predictor knows: its figure stands in
//! the note.

use anyhow::ensure;
use raddle_model::{PickerSpec, Points};

use super::{
    program::{Bench, Ran, Runner, alone},
    row::{Bar, Row},
};

/// Fewer than the choices that a plan has room for.
const N_SWITCHES: u64 = 1_000_000;

pub(super) fn measure(bench: &Bench) -> anyhow::Result<Vec<Row>> {
    let args = [2, N_SWITCHES / 4, 0];
    let n_rounds = 2 * bench.n_rounds();
    let plain = bench.plain("locks.c", "plain", None, &["-O2"])?;
    let floor = alone(&plain, &args, n_rounds)?.ns / N_SWITCHES as f64;

    let mut runner = bench.open(&bench.hooked("locks.c", &["-O2"])?, &args)?;
    // A release is a step with a choice too: the promise is about those.
    runner.points = Points::All;
    let staying = runner.fastest(PickerSpec::Nonpreemptive, n_rounds)?;
    let walking = runner.fastest(PickerSpec::Walk, n_rounds)?;
    let switching = switching(&mut runner, n_rounds)?;
    Ok(vec![
        Row {
            name: "step without switch",
            value: staying.ns_per_step(),
            unit: "ns",
            floor,
            bar: Bar::Value(25.0),
            note: "floor: the C library's own lock or unlock, two cores".to_owned(),
        },
        Row {
            name: "step with switch",
            value: switching.ns_per_step(),
            unit: "ns",
            floor,
            bar: Bar::Value(60.0),
            note: format!(
                "{:.1} % of steps switch; random walk: {:.1} ns, {:.0} %",
                100.0 * share_of_switches(&switching),
                walking.ns_per_step(),
                100.0 * share_of_switches(&walking)
            ),
        },
    ])
}

/// `main` creates both threads, then they take turns.
fn switching(runner: &mut Runner, n_rounds: usize) -> anyhow::Result<Ran> {
    runner.prefix = [0, 0].into_iter().chain([1, 2].into_iter().cycle()).take(1 << 20).collect();
    let ran = runner.fastest(PickerSpec::Nonpreemptive, n_rounds)?;
    let share = share_of_switches(&ran);
    ensure!(share > 0.99, "only {:.0} % of the steps switch", 100.0 * share);
    Ok(ran)
}

fn share_of_switches(ran: &Ran) -> f64 {
    ran.summary.n_switches as f64 / ran.summary.n_steps as f64
}
