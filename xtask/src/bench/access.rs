//! A plain access to memory that only one thread ever touched: the loop's time, access included.

use raddle_model::PickerSpec;

use super::{
    program::{Bench, alone},
    row::{Bar, Row},
};

pub(super) fn measure(bench: &Bench) -> anyhow::Result<Vec<Row>> {
    let n_accesses = bench.amount(100_000_000);
    let plain = bench.plain("access.c", "plain", None, &["-O1"])?;
    let floor = alone(&plain, &[n_accesses], bench.n_rounds())?.ns / n_accesses as f64;
    let mut runner = bench.open(&bench.hooked("access.c", &["-O1"])?, &[n_accesses])?;
    let ran = runner.fastest(PickerSpec::Nonpreemptive, bench.n_rounds())?;
    Ok(vec![Row {
        name: "access of one thread's own",
        value: ran.told.ns / n_accesses as f64,
        unit: "ns",
        floor,
        bar: Bar::Value(5.0),
        note: "half reads, half writes; floor: the same loop without hooks".to_owned(),
    }])
}
