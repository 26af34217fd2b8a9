//! One step, hook to hook: two threads lock and unlock mutexes that nobody else wants.
//!
//! Under `nonpreemptive` hardly any step switches. Under `walk` about half do, in an order that no
//! branch predictor knows; all that such a run costs beyond the first one is put on the switches.

use raddle_model::PickerSpec;

use super::{
    program::{Bench, alone},
    row::{Bar, Row},
};

pub(super) fn measure(bench: &Bench) -> anyhow::Result<Vec<Row>> {
    let args = [2, bench.amount(1_000_000), 0];
    let plain = bench.plain("locks.c", "plain", None, &["-O2"])?;
    let floor = alone(&plain, &args, bench.n_rounds())?.ns / (args[0] * args[1] * 2) as f64;

    let mut runner = bench.open(&bench.hooked("locks.c", &["-O2"])?, &args)?;
    let staying = runner.fastest(PickerSpec::Nonpreemptive, bench.n_rounds())?;
    let walking = runner.fastest(PickerSpec::Walk, bench.n_rounds())?;
    let share = walking.summary.n_switches as f64 / walking.summary.n_steps as f64;
    let without = staying.ns_per_step();
    let with = (walking.ns_per_step() - (1.0 - share) * without) / share;
    Ok(vec![
        Row {
            name: "step without switch",
            value: without,
            unit: "ns",
            floor,
            bar: Bar::Value(25.0),
            note: "floor: the C library's own lock or unlock, two cores".to_owned(),
        },
        Row {
            name: "step with switch",
            value: with,
            unit: "ns",
            floor,
            bar: Bar::Value(60.0),
            note: format!(
                "a random walk's step: {:.1} ns, {:.0} % of them switch",
                walking.ns_per_step(),
                100.0 * share
            ),
        },
    ])
}
