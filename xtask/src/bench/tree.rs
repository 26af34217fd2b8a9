//! Checkpoints: the steps that a systematic search makes when executions begin from live copies of others,
//! against those that it makes from `main`. Both must come to the same end.

use std::{sync::atomic::AtomicBool, time::Instant};

use anyhow::{Context, ensure};
use raddle_explore::{Campaign, Method, Options, Outcome, SearchOptions};
use raddle_launch::{Native, NativeOptions, Symbols};
use raddle_plan::search::SearchSpec;

use super::{
    program::Bench,
    row::{Bar, Row},
};

const STRATEGY: &str = "ipb:1";

pub(super) fn measure(bench: &Bench) -> anyhow::Result<Vec<Row>> {
    let program = bench.hooked("tree.c", &["-O2"])?;
    let n_steps = bench.amount(20_000);
    let search = |checkpoints: u64| -> anyhow::Result<(Outcome, f64)> {
        let args = vec![n_steps.to_string().into()];
        let mut options = NativeOptions::new(program.clone(), args, bench.runtime());
        options.events = Some(1 << 17);
        options.checkpoints = checkpoints;
        let spec = SearchSpec::parse(STRATEGY)?;
        let search = SearchOptions { n_learning: 2, ..SearchOptions::new(spec) };
        let target = Native::new(options);
        let options =
            Options { method: Method::Search(Box::new(search)), jobs: 1, ..Options::default() };
        let start = Instant::now();
        let outcome = Campaign::new(&target, options).run(
            &mut Symbols::new(),
            &mut (),
            &AtomicBool::new(false),
        )?;
        Ok((outcome, start.elapsed().as_secs_f64()))
    };
    let (from_main, slow_s) = search(0)?;
    let (from_copies, fast_s) = search(64 << 20)?;
    ensure!(from_main.is_complete() && from_copies.is_complete(), "the search did not end");
    ensure!(
        from_main.figures.steps_total == from_copies.figures.steps_total,
        "checkpoints change executions"
    );
    let n_made = from_copies.figures.steps_total - from_copies.steps_spared;
    let n_executions = from_copies.search.context("bug: it was a search")?.progress.n_executions;
    Ok(vec![Row {
        name: "checkpoints",
        value: n_made as f64 / 1e3,
        unit: "k steps",
        floor: from_main.figures.steps_total as f64 / 1e3,
        bar: Bar::Ratio(0.5),
        note: format!(
            "{STRATEGY}, {n_executions} executions of {n_steps} steps and a small tree; {fast_s:.2} s, \
             without checkpoints {slow_s:.2} s"
        ),
    }])
}
