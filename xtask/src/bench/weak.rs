//! Atomics under `--memory-model c11` and `tso`: time for each step beside `sc`, and memory when one location is
//! stored to ten million times.

use raddle_model::{MemoryModel, PickerSpec};

use super::{
    program::{Bench, Ran},
    row::{Bar, Row},
};

pub(super) fn measure(bench: &Bench) -> anyhow::Result<Vec<Row>> {
    let program = bench.hooked("atomics.c", &["-O2"])?;
    let fastest = |memory: MemoryModel, args: &[u64], n_rounds: usize| -> anyhow::Result<Ran> {
        let mut runner = bench.open(&program, args)?;
        runner.memory_model = memory;
        runner.fastest(PickerSpec::Walk, n_rounds)
    };
    let args = [2, bench.amount(200_000), 4];
    let floor = fastest(MemoryModel::Sc, &args, bench.n_rounds())?.ns_per_step();
    let row = |name, memory| -> anyhow::Result<Row> {
        Ok(Row {
            name,
            value: fastest(memory, &args, bench.n_rounds())?.ns_per_step(),
            unit: "ns",
            floor,
            bar: Bar::Ratio(1.5),
            note: "two threads, four locations, random walk; floor: the same under sc".to_owned(),
        })
    };
    let mut rows = vec![
        row("atomic step, c11", MemoryModel::C11)?,
        row("atomic step, tso", MemoryModel::Tso)?,
    ];
    let peak = |n_rounds: u64| -> anyhow::Result<f64> {
        Ok(fastest(MemoryModel::C11, &[2, n_rounds, 1], 1)?.told.peak_kib / 1024.0)
    };
    let n_rounds = bench.amount(1_250_000);
    rows.push(Row {
        name: "memory of one location, c11",
        value: peak(n_rounds)?,
        unit: "MiB",
        floor: peak(n_rounds / 100)?,
        bar: Bar::Ratio(1.1),
        note: format!("{} atomic steps on one location; floor: a hundredth of them", 8 * n_rounds),
    });
    Ok(rows)
}
