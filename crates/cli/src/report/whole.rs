//! The runs of one `cargo raddle test`, or of what the user calls one (`RADDLE_INVOCATION`), as if they were one: each test
//! is a run, or several, of its own.

use std::collections::BTreeMap;

use raddle_explore::{
    Store, StoredFinding,
    store::{RunEnd, StoredRun},
};
use raddle_model::Figures;

use super::Subject;
use crate::exit::Failure;

/// All findings of the runs, and what the runs came to together.
pub(super) fn of(store: &Store, runs: Vec<StoredRun>) -> Result<Subject, Failure> {
    let mut findings: Vec<StoredFinding> = Vec::new();
    for run in &runs {
        for found in store.findings_of(&run.run)? {
            match findings.iter_mut().find(|it| it.id == found.id) {
                // A test that goes on begins again, and then more is known.
                Some(before) => *before = found,
                None => findings.push(found),
            }
        }
    }
    // The last run of a test has done again what those before it did.
    let mut last: BTreeMap<_, StoredRun> = BTreeMap::new();
    let mut whole = None;
    for run in runs {
        whole.get_or_insert_with(|| run.clone());
        last.insert((run.info.target.program.clone(), run.info.target.test.clone()), run);
    }
    let mut whole = whole.expect("bug: an invocation has runs");
    let ends: Option<Vec<RunEnd>> = last.into_values().map(|it| it.end).collect();
    whole.end = ends.map(together);
    let is_suite = whole.info.target.test.is_some() || whole.info.target.cargo.is_some();
    let name = if is_suite { "cargo raddle test" } else { "raddle run" };
    whole.info.target.program = name.into();
    whole.info.target.sources.clear();
    (whole.info.target.args, whole.info.target.test) = (Vec::new(), None);
    Ok(Subject::Run(Box::new(whole), findings))
}

/// What can be added up; curves, searches and strategies are of one test each.
fn together(ends: Vec<RunEnd>) -> RunEnd {
    let mut all = RunEnd::default();
    let mut stable = 0.0;
    let mut single_threaded = true;
    for end in ends {
        let RunEnd { figures: it, counts, steps_at, n_looked_at, uncontrolled, .. } = end;
        let sum = &mut all.figures;
        stable += it.stability * it.executions as f64;
        single_threaded &= it.single_threaded;
        let mut coverage = sum.coverage;
        coverage.site_pairs += it.coverage.site_pairs;
        coverage.both_ways += it.coverage.both_ways;
        coverage.lock_pairs += it.coverage.lock_pairs;
        *sum = Figures {
            coverage,
            executions: sum.executions + it.executions,
            elapsed: sum.elapsed + it.elapsed,
            distinct_traces: sum.distinct_traces + it.distinct_traces,
            steps_total: sum.steps_total + it.steps_total,
            steps_max: sum.steps_max.max(it.steps_max),
            points_total: sum.points_total + it.points_total,
            points_max: sum.points_max.max(it.points_max),
            n_inconclusive: sum.n_inconclusive + it.n_inconclusive,
            n_cut_short: sum.n_cut_short + it.n_cut_short,
            n_spent: sum.n_spent + it.n_spent,
            n_thinned: sum.n_thinned + it.n_thinned,
            n_unmet_races: sum.n_unmet_races + it.n_unmet_races,
            interrupted: sum.interrupted | it.interrupted,
            ..Figures::default()
        };
        all.n_looked_at += n_looked_at;
        all.counts.extend(counts);
        all.steps_at.extend(steps_at);
        all.uncontrolled.extend(uncontrolled);
    }
    all.n_findings = all.counts.len() as u64;
    all.figures.stability = stable / (all.figures.executions.max(1) as f64);
    all.figures.single_threaded = single_threaded;
    all
}
