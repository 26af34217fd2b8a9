//! A CPU-bound program of one thread: its slowdown under Raddle, against the slowdown of the same
//! object file linked with ThreadSanitizer's own runtime.

use raddle_model::PickerSpec;

use super::{
    program::{Bench, alone},
    row::{Bar, Row},
};

pub(super) fn measure(bench: &Bench) -> anyhow::Result<Vec<Row>> {
    let args = [bench.amount(30)];
    let n_rounds = bench.n_rounds().min(3);
    let object = bench.object("cpu.cpp", &["-O2"])?;
    let plain = bench.plain("cpu.cpp", "plain", None, &["-O2"])?;
    let tsan = bench.plain("cpu.cpp", "tsan", Some(&object), &["-fsanitize=thread"])?;
    let plain_ns = alone(&plain, &args, n_rounds)?.ns;
    let tsan_ns = alone(&tsan, &args, n_rounds)?.ns;
    let mut runner = bench.open(&bench.hooked("cpu.cpp", &["-O2"])?, &args)?;
    let ran = runner.fastest(PickerSpec::Nonpreemptive, n_rounds)?;
    Ok(vec![Row {
        name: "slowdown of one thread",
        value: ran.told.ns / plain_ns,
        unit: "×",
        floor: tsan_ns / plain_ns,
        bar: Bar::Ratio(0.5),
        note: format!(
            "sort, hash map, matrix: {:.2} s plain, {:.2} s under Raddle; the other: libtsan",
            plain_ns / 1e9,
            ran.told.ns / 1e9
        ),
    }])
}
