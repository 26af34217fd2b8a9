//! What races cost that are there, and memory that threads share without any.
//!
//! A campaign that finds 98 races, beside the same one that does not look for them: what each further execution takes of
//! processors, once all are found. Finding them takes its time once, and is told beside it. And a loop over bytes that
//! two threads share in order, beside the same loop over each one's own.

use std::{path::Path, sync::atomic::AtomicBool};

use anyhow::ensure;
use raddle_explore::{Campaign, Options};
use raddle_launch::{Native, NativeOptions, Symbols};
use raddle_model::{Detect, PickerSpec};

use super::{
    meter::{Meter, Whose},
    program::{Bench, Ran},
    row::{Bar, Row},
};

/// Races of the program.
const N_RACES: usize = 98;
/// Bytes that a thread goes over in one round.
const N_BYTES: u64 = 16_384;

pub(super) fn measure(bench: &Bench) -> anyhow::Result<Vec<Row>> {
    Ok(vec![many(bench)?, bytes(bench)?])
}

fn many(bench: &Bench) -> anyhow::Result<Row> {
    let n_short = bench.amount(10_000);
    let n_long = 3 * n_short;
    let program = bench.hooked("races.c", &["-O1", "-g"])?;
    // What campaigns take, short and long, without races looked for and with.
    let mut least = [[f64::MAX; 2]; 2];
    for _ in 0..bench.n_rounds().min(3) {
        for (races, least) in [false, true].into_iter().zip(&mut least) {
            for (n_executions, least) in [n_short, n_long].into_iter().zip(least.iter_mut()) {
                *least = least.min(campaign(bench, &program, n_executions, races)?);
            }
        }
    }
    let [without, with] = least.map(|[short, long]| (long - short) / (n_long - n_short) as f64);
    let once = least[1][0] - with * n_short as f64;
    Ok(Row {
        name: "execution with 98 races",
        value: with * 1e6,
        unit: "µs",
        floor: without * 1e6,
        bar: Bar::Ratio(2.0),
        note: format!(
            "CPU time in a campaign; floor: races not looked for; to find them, {:.0} ms each, once",
            once * 1e3 / N_RACES as f64
        ),
    })
}

/// Explores the program; the seconds that it took of processors.
fn campaign(bench: &Bench, program: &Path, n_executions: u64, races: bool) -> anyhow::Result<f64> {
    let target = Native::new(NativeOptions::new(program.into(), Vec::new(), bench.runtime()));
    let options = Options {
        executions: Some(n_executions),
        jobs: 1,
        keep_going: true,
        confirmations: 1,
        explain: None,
        detect: Detect { races, ..Detect::NONE },
        ..Options::default()
    };
    let meter = Meter::start(Whose::All)?;
    let outcome = Campaign::new(&target, options).run(
        &mut Symbols::new(),
        &mut (),
        &AtomicBool::new(false),
    )?;
    let seconds = meter.seconds();
    let (n_found, n_expected) = (outcome.findings.len(), if races { N_RACES } else { 0 });
    ensure!(n_found == n_expected, "{n_found} races instead of {n_expected}");
    Ok(seconds)
}

fn bytes(bench: &Bench) -> anyhow::Result<Row> {
    let n_rounds = bench.amount(20);
    let program = bench.hooked("bytes.c", &["-O1"])?;
    let run = |is_same: u64| -> anyhow::Result<Ran> {
        let mut runner = bench.open(&program, &[n_rounds, is_same])?;
        runner.races = true;
        runner.fastest(PickerSpec::Nonpreemptive, bench.n_rounds())
    };
    let (own, shared) = (run(0)?, run(1)?);
    // A read and a write each, by two threads.
    let each = |it: &Ran| it.told.ns / (4 * n_rounds * N_BYTES) as f64;
    Ok(Row {
        name: "byte without a race",
        value: each(&shared),
        unit: "ns",
        floor: each(&own),
        bar: Bar::Ratio(2.5),
        note: format!(
            "shared under a lock, {} steps an execution; floor: each thread's own, {} steps",
            shared.summary.n_steps, own.summary.n_steps
        ),
    })
}
