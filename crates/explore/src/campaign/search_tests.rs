//! Searches over toy programs.

use std::{sync::atomic::AtomicBool, time::Duration};

use raddle_model::Gap;
use raddle_plan::search::SearchSpec;

use super::{
    Account, Campaign, Counted, Journal, Method, Options, Outcome, Saved, SearchOptions, Standing,
};
use crate::fake::{ToySymbols, Weave};

/// A journal that is read as a killed process leaves it: without what was added and not written.
#[derive(Default)]
struct Memory {
    saved: Saved,
    added: Vec<Counted<'static>>,
    n_stands: u32,
    is_long_at: usize,
}

impl Journal for Memory {
    fn stand(&mut self, standing: &Standing) {
        self.n_stands += 1;
        let earlier = std::mem::take(&mut self.saved.earlier);
        self.saved = Saved { standing: standing.clone(), counted: Vec::new(), earlier };
        self.added.clear();
    }

    fn add(&mut self, counted: &Counted<'_>) {
        self.added.push(counted.clone().into_owned());
    }

    fn account(&mut self, account: &Account) {
        self.saved.earlier.account = account.clone();
    }

    fn flush(&mut self) {
        self.saved.counted.append(&mut self.added);
    }

    fn is_long(&self) -> bool {
        self.is_long_at <= self.saved.counted.len() + self.added.len()
    }
}

fn weave(lengths: &[u32]) -> Weave {
    Weave {
        lengths: lengths.to_vec(),
        fails_at: Vec::new(),
        shares: Vec::new(),
        strays: 0,
        is_fickle: false,
    }
}

fn options(spec: &str, jobs: usize) -> Options {
    let spec = SearchSpec::parse(spec).expect("bug: no such search");
    let search = SearchOptions { n_learning: 4, ..SearchOptions::new(spec) };
    Options {
        method: Method::Search(Box::new(search)),
        jobs,
        keep_going: true,
        ..Options::default()
    }
}

fn run(target: &Weave, options: Options) -> Outcome {
    Campaign::new(target, options)
        .run(&mut ToySymbols, &mut (), &AtomicBool::new(false))
        .expect("bug: the toy is not broken")
}

fn run_with(target: &Weave, options: Options, journal: &mut Memory) -> Outcome {
    Campaign::new(target, options)
        .with_journal(journal)
        .run(&mut ToySymbols, &mut (), &AtomicBool::new(false))
        .expect("bug: the toy is not broken")
}

fn essence(outcome: &Outcome) -> String {
    let findings: Vec<_> =
        outcome.findings.iter().map(|it| (it.count, it.first, &it.finding.plan.prefix)).collect();
    let search = outcome.search.as_ref().expect("it was a search");
    format!(
        "{} executions, {} traces, {} steps, {:.3} % stable, {findings:?}, {search:?}, exhaustive {}",
        outcome.figures.executions,
        outcome.figures.distinct_traces,
        outcome.figures.steps_total,
        outcome.figures.stability,
        outcome.is_exhaustive(),
    )
}

/// 3 + 2 + 2 writes: 7! / (3! 2! 2!) = 210 orders.
#[test]
fn everything_is_explored_once() {
    let outcome = run(&weave(&[3, 2, 2]), options("dfs", 2));
    let search = outcome.search.as_ref().expect("it was a search");
    assert_eq!(search.progress.n_executions, 210);
    assert_eq!(search.effort.n_learning, 4);
    assert_eq!(outcome.figures.executions, 214);
    assert_eq!(outcome.figures.distinct_traces, 210);
    assert!(outcome.is_exhaustive());
    assert!(!outcome.figures.interrupted);
}

#[test]
fn workers_do_not_matter() {
    let toys = [
        weave(&[3, 2, 2]),
        Weave { fails_at: vec![1, 0, 2], ..weave(&[2, 2, 2]) },
        Weave { shares: vec![(vec![0, 1, 1], 7), (vec![1], 8)], ..weave(&[3, 2, 1]) },
    ];
    for (toy, spec) in toys.iter().zip(["dfs", "ipb:2", "idb:1"]) {
        for executions in [None, Some(23)] {
            for keep_going in [true, false] {
                let with = |jobs| {
                    let options = Options { keep_going, executions, ..options(spec, jobs) };
                    essence(&run(toy, options))
                };
                let one = with(1);
                assert_eq!(with(2), one);
                assert_eq!(with(7), one);
            }
        }
    }
}

/// Both parts begin in ways that random executions of so few did not go.
#[test]
fn what_is_found_to_be_shared_begins_it_again() {
    let shares = vec![(vec![2, 1, 0, 0, 1], 7), (vec![2, 2], 8)];
    let outcome = run(&Weave { shares, ..weave(&[2, 2, 2]) }, options("dfs", 3));
    let search = outcome.search.as_ref().expect("it was a search");
    assert!(0 < search.effort.n_restarts, "{search:?}");
    assert_eq!(search.n_shared, 2);
    assert_eq!(search.progress.n_executions, 90);
    assert_eq!(
        outcome.figures.executions,
        search.effort.n_learning + search.effort.n_abandoned + 90
    );
    assert!(outcome.is_exhaustive());
}

#[test]
fn the_first_failure_ends_it() {
    let toy = Weave { fails_at: vec![1, 0, 2], ..weave(&[2, 2, 2]) };
    let options = Options { keep_going: false, ..options("dfs", 3) };
    let outcome = run(&toy, options);
    assert_eq!(outcome.findings.len(), 1);
    assert_eq!(outcome.figures.executions, outcome.findings[0].first + 1);
    assert!(!outcome.is_exhaustive());
}

/// Killed after any number of executions and gone on with, it is the same search.
/// Whoever begins with thread 1 comes after 2.8 million others, and is executed ahead of them.
#[test]
fn what_was_made_ahead_does_not_count_in_turn() {
    let toy = Weave { fails_at: vec![1], ..weave(&[6, 6, 6]) };
    let mut options = Options { time: Some(Duration::from_millis(200)), ..options("dfs", 1) };
    let search = options.method.search_mut().expect("it is one");
    (search.n_learning, search.is_in_turn) = (1, true);
    let outcome = run(&toy, options);
    let first = outcome.findings.first().map(|it| it.first);
    assert_eq!(first, None, "of {} executions", outcome.figures.executions);
}

#[test]
fn it_goes_on_where_it_was() {
    let toy =
        Weave { fails_at: vec![1, 0, 2], shares: vec![(vec![2, 1, 0], 7)], ..weave(&[2, 2, 2]) };
    for spec in ["dfs", "ipb:2"] {
        let whole = run(&toy, options(spec, 2));
        let whole = whole.search.expect("it was a search");
        for n_first in [5, 17, 40] {
            let mut journal = Memory { is_long_at: 7, ..Memory::default() };
            let first = Options { executions: Some(n_first), ..options(spec, 2) };
            Campaign::new(&toy, first)
                .with_journal(&mut journal)
                .run(&mut ToySymbols, &mut (), &AtomicBool::new(false))
                .expect("bug: the toy is not broken");
            assert!(0 < journal.n_stands);
            let mut rest = options(spec, 3);
            if let Some(search) = rest.method.search_mut() {
                search.saved = Some(journal.saved);
            }
            let outcome = run(&toy, rest);
            let search = outcome.search.expect("it was a search");
            assert_eq!(format!("{search:?}"), format!("{whole:?}"), "{spec} after {n_first}");
            let n_all =
                whole.effort.n_learning + whole.effort.n_abandoned + whole.progress.n_executions;
            assert_eq!(n_first + outcome.figures.executions, n_all, "{spec} after {n_first}");
        }
    }
}

/// However it was ended: what was found, suppressed or could not be followed is known to the rest.
#[test]
fn what_was_found_is_not_forgotten() {
    let toy = Weave { fails_at: vec![1, 1, 2], ..weave(&[2, 2, 2]) };
    for spec in ["dfs", "ipb:2", "idb:2", "dpor", "dpor:classic", "dpor:optimal"] {
        let mut journal = Memory { is_long_at: 7, ..Memory::default() };
        let first = run_with(&toy, options(spec, 2), &mut journal);
        assert_eq!(first.findings.len(), 1, "{spec}");
        let mut saved = journal.saved;
        let count = first.findings[0].count;
        assert_eq!(saved.earlier.account.found[0].count, count, "{spec}");
        saved.earlier.findings.clone_from(&first.findings);
        let rest = |saved: &Saved, keep_going| {
            let mut rest = Options { keep_going, ..options(spec, 3) };
            if let Some(search) = rest.method.search_mut() {
                search.saved = Some(saved.clone());
            }
            run(&toy, rest)
        };
        for keep_going in [true, false] {
            let outcome = rest(&saved, keep_going);
            assert_eq!(outcome.figures.executions, 0, "{spec}");
            assert!(outcome.has_run(), "{spec}");
            assert_eq!(outcome.findings.len(), 1, "{spec}");
            assert_eq!(outcome.findings[0].count, count, "{spec}");
        }
        // The user has discarded it since.
        saved.earlier.findings.clear();
        let outcome = rest(&saved, true);
        assert!(outcome.gaps.contains(&Gap::Gone(1)), "{spec}: {:?}", outcome.gaps);
    }
}

/// A search that ended with its first finding goes on behind it.
#[test]
fn the_first_failure_ends_only_one_part() {
    let toy = Weave { fails_at: vec![1, 0], ..weave(&[2, 2, 2]) };
    let whole = run(&toy, options("dfs", 2));
    let mut journal = Memory { is_long_at: 7, ..Memory::default() };
    let options_of = |jobs| Options { keep_going: false, ..options("dfs", jobs) };
    let first = run_with(&toy, options_of(2), &mut journal);
    assert!(!first.is_exhaustive());
    let mut rest = options_of(3);
    if let Some(search) = rest.method.search_mut() {
        let mut saved = journal.saved;
        saved.earlier.findings.clone_from(&first.findings);
        search.saved = Some(saved);
    }
    let outcome = run(&toy, rest);
    assert!(outcome.is_exhaustive());
    assert_eq!(outcome.findings[0].count, whole.findings[0].count);
    assert_eq!(first.figures.executions + outcome.figures.executions, whole.figures.executions);
}

#[test]
fn a_line_that_does_not_fit_is_left_out() {
    let toy = weave(&[2, 2]);
    let mut journal = Memory { is_long_at: usize::MAX, ..Memory::default() };
    Campaign::new(&toy, Options { executions: Some(8), ..options("dfs", 1) })
        .with_journal(&mut journal)
        .run(&mut ToySymbols, &mut (), &AtomicBool::new(false))
        .expect("bug: the toy is not broken");
    assert_eq!(journal.saved.counted.len(), 4);
    journal.saved.counted[2].prefix = vec![9, 9].into();
    let mut rest = options("dfs", 1);
    if let Some(search) = rest.method.search_mut() {
        search.saved = Some(journal.saved);
    }
    let outcome = run(&toy, rest);
    assert_eq!(outcome.figures.executions, 4);
    assert!(outcome.is_exhaustive());
}

#[test]
fn what_does_not_follow_is_told() {
    let outcome = run(&Weave { strays: 9, ..weave(&[3, 2, 2]) }, options("dfs", 1));
    let search = outcome.search.as_ref().expect("it was a search");
    assert!(0 < search.progress.n_diverged);
    let divergence = search.progress.divergence.as_ref().expect("one was seen");
    assert_eq!(divergence.step, 1);
    assert_eq!(divergence.seen, None);
    assert!(outcome.figures.stability < 100.0);
    assert!(!outcome.is_exhaustive());
    assert!(search.progress.is_finished);
}

#[test]
fn what_is_not_the_same_again_was_not_seen_whole() {
    let outcome = run(&Weave { is_fickle: true, ..weave(&[2, 1]) }, options("dfs", 1));
    let search = outcome.search.as_ref().expect("it was a search");
    assert!(search.progress.is_finished);
    assert_eq!(search.progress.n_diverged, 0);
    assert_eq!(outcome.n_unlike, 7);
    assert!(outcome.figures.stability < 100.0);
    assert!(!outcome.is_exhaustive());
}
