//! Parallel kernels that compute for long and synchronise rarely: their slowdown under Raddle, races looked for, against
//! the slowdown of the same object file linked with ThreadSanitizer's own runtime.

use raddle_model::PickerSpec;

use super::{
    program::{Bench, alone},
    row::{Bar, Row},
};

/// The kernels of `compute.c` in its order, and how many rounds take a tenth of a second or so.
const KERNELS: [(&str, u64); 8] = [
    ("compute: matrix product", 6),
    ("compute: stencil", 30),
    ("compute: n-body", 7),
    ("compute: ray tracer", 16),
    ("compute: histogram", 45),
    ("compute: block compressor", 45),
    ("compute: k-means", 22),
    ("compute: graph search", 30),
];

pub(super) fn measure(bench: &Bench) -> anyhow::Result<Vec<Row>> {
    let n_rounds = bench.n_rounds().min(3);
    let flags = ["-O2", "-lm"];
    let object = bench.object("compute.c", &["-O2"])?;
    let plain = bench.plain("compute.c", "plain", None, &flags)?;
    let tsan = bench.plain("compute.c", "tsan", Some(&object), &["-fsanitize=thread", "-lm"])?;
    let hooked = bench.hooked("compute.c", &flags)?;
    let mut rows = Vec::new();
    for (idx, (name, n)) in KERNELS.into_iter().enumerate() {
        let args = [idx as u64, bench.amount(n)];
        let plain_ns = alone(&plain, &args, n_rounds)?.ns;
        let tsan_ns = alone(&tsan, &args, n_rounds.min(2))?.ns;
        let mut runner = bench.open(&hooked, &args)?;
        runner.races = true;
        let ran = runner.fastest(PickerSpec::Walk, n_rounds.min(2))?;
        rows.push(Row {
            name,
            value: ran.told.ns / plain_ns,
            unit: "×",
            floor: tsan_ns / plain_ns,
            bar: Bar::Ratio(1.0),
            note: format!(
                "4 threads, {:.0} ms plain, {} steps; the other: libtsan",
                plain_ns / 1e6,
                ran.summary.n_steps
            ),
        });
    }
    Ok(rows)
}
