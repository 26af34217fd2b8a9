//! Total replay's analysis of one long execution: what flows where, what else could have been read, manners, and
//! the first guidelines.
//!
//! The execution is made up: four threads, each with a lock around a read, a branch on it and a write, by turns, and
//! half as many steps to memory of their own. Nothing is known of the program's code, the dearest case.

use std::{hint::black_box, time::Instant};

use raddle_model::{ObjectId, OpKind, SiteId, ThreadId};
use raddle_plan::search::{ObjectName, Run, SearchSpec, Start, Step};

use super::{
    program::Bench,
    row::{Bar, Row},
};

const N_THREADS: u32 = 4;
const N_LOCKS: u32 = 16;

pub(super) fn measure(bench: &Bench) -> anyhow::Result<Vec<Row>> {
    let n_steps = bench.amount(100_000) as u32;
    let value = fastest(bench, n_steps);
    let half = fastest(bench, n_steps / 2);
    Ok(vec![Row {
        name: "total replay, analysis",
        value,
        unit: "ms",
        floor: 2.0 * half,
        bar: Bar::Value(2_000.0),
        note: format!("{n_steps} steps; floor: twice the time of half as many"),
    }])
}

/// The time of the analysis in milliseconds.
fn fastest(bench: &Bench, n_steps: u32) -> f64 {
    let run = run(n_steps);
    let times = (0..bench.n_rounds()).map(|_| {
        let mut search = SearchSpec::Total(None).start(Start::default());
        let task = search.next(1);
        let start = Instant::now();
        black_box(search.learn(task[0].number, black_box(&run)));
        start.elapsed().as_secs_f64() * 1e3
    });
    times.fold(f64::MAX, f64::min)
}

fn run(n_steps: u32) -> Run {
    let mut steps = Vec::new();
    let mut turn = 0;
    while (steps.len() as u32) < n_steps {
        let thread = ThreadId(turn % N_THREADS);
        let lock = turn / N_THREADS % N_LOCKS;
        let own = 100 + turn % N_THREADS * 50 + turn / N_THREADS % 50;
        let all = [
            (OpKind::Lock, 1 + lock, 1),
            (OpKind::Read, 20 + lock, 2),
            (OpKind::Write, own, 3),
            (OpKind::Read, own, 4),
            (OpKind::Write, 20 + lock, 5),
            (OpKind::Unlock, 1 + lock, 6),
        ];
        steps.extend(all.map(|(kind, object, site)| Step {
            thread,
            kind,
            object: ObjectId(object),
            site: SiteId(site + thread.0 * 10),
            value: u64::from(turn),
            size: 4,
            n_choices: 1,
            ..Step::default()
        }));
        turn += 1;
    }
    let names = |n: u64| (0..n).map(|it| ObjectName { name: it * 2 + 1, block: 0 });
    Run { steps, objects: names(400).collect(), sites: (0..64).collect(), ..Run::default() }
}
