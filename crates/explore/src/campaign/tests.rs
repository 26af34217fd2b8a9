//! Campaigns over toy programs.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use raddle_model::{End, Figures, Kind, Reproduced};
use raddle_plan::Arm;

use super::{Campaign, CampaignEvent, Method, Observer, Options, Outcome};
use crate::{
    fake::{Toy, ToySymbols, print_hash},
    target::TargetError,
};

fn run(toy: &Toy, options: Options) -> Outcome {
    run_observed(toy, options, &mut ()).expect("bug: the toy is not broken")
}

fn run_observed(
    toy: &Toy,
    options: Options,
    observer: &mut dyn Observer,
) -> Result<Outcome, TargetError> {
    Campaign::new(toy, options).run(&mut ToySymbols, observer, &AtomicBool::new(false))
}

/// All that must not depend on the number of workers.
fn essence(outcome: &Outcome) -> String {
    let findings: Vec<String> = outcome
        .findings
        .iter()
        .map(|it| {
            let hash = print_hash(&it.finding);
            format!("{} {}x from {} {hash:x}", it.id, it.count, it.first)
        })
        .collect();
    let learned = (
        outcome.figures.coverage,
        &outcome.figures.arms,
        outcome.figures.unseen_pairs,
        outcome.figures.unseen_traces,
    );
    format!(
        "{} executions, {} traces, {} steps, {:.3} % stable, {:?}, {learned:?}, {findings:#?}",
        outcome.figures.executions,
        outcome.figures.distinct_traces,
        outcome.figures.steps_total,
        outcome.figures.stability,
        outcome.uncontrolled
    )
}

fn options(jobs: usize, executions: u64) -> Options {
    Options { seed: 7, jobs, executions: Some(executions), ..Options::default() }
}

/// The toy's failures depend on what it knows about sharing, so this also holds the epochs to account.
#[test]
fn workers_do_not_matter() {
    for keep_going in [true, false] {
        let essence_with = |jobs| {
            let options = Options { keep_going, ..options(jobs, 2_000) };
            essence(&run(&Toy::default(), options))
        };
        let one = essence_with(1);
        assert_eq!(essence_with(2), one);
        assert_eq!(essence_with(5), one);
        assert_eq!(essence_with(5), one);
    }
}

/// What an arm yields decides who runs later, so this holds the rounds to account.
#[test]
fn workers_do_not_matter_to_a_portfolio() {
    for keep_going in [true, false] {
        let essence_with = |jobs| {
            let method = Method::Portfolio(Arm::standard(2_000));
            let options = Options { keep_going, method, ..options(jobs, 2_000) };
            essence(&run(&Toy { fails_in: 370, ..Toy::default() }, options))
        };
        let one = essence_with(1);
        for jobs in [2, 3, 5] {
            assert_eq!(essence_with(jobs), one);
        }
    }
}

#[test]
fn every_arm_has_its_turn() {
    let arms = Arm::standard(2_000);
    let options =
        Options { keep_going: true, method: Method::Portfolio(arms.clone()), ..options(2, 2_000) };
    let outcome = run(&Toy::default(), options);
    assert_eq!(outcome.figures.arms.iter().map(|it| it.executions).sum::<u64>(), 2_000);
    assert_eq!(
        outcome.figures.arms.iter().map(|it| it.new_traces).sum::<u64>(),
        outcome.figures.distinct_traces
    );
    assert_eq!(outcome.figures.arms.iter().map(|it| it.findings).sum::<u64>(), 3);
    // The toy suggests nothing.
    for arm in arms.iter().filter(|it| it.name != "directed") {
        let found = outcome.figures.arms.iter().find(|it| it.strategy == arm.name);
        assert!(found.is_some_and(|it| 50 <= it.executions), "{}: {found:?}", arm.name);
    }
}

/// The toy has 1,000 traces and 100 pairs, of which an execution meets two. It ends when new pairs have
/// become rare enough; with other workers at the same execution.
#[test]
fn ends_when_there_is_hardly_anything_new() {
    let toy = Toy { fails_in: 0, ..Toy::default() };
    let run_with = |jobs| {
        let options = Options { saturation: Some(0.002), executions: None, ..options(jobs, 0) };
        run(&toy, options)
    };
    let outcome = run_with(3);
    assert!(outcome.figures.is_saturated);
    assert!(outcome.figures.unseen_pairs.upper <= 0.002, "{:?}", outcome.figures.unseen_pairs);
    assert!(2_000 <= outcome.figures.executions, "{}", outcome.figures.executions);
    assert_eq!(essence(&run_with(1)), essence(&outcome));
}

#[test]
fn verbose_does_not_matter() {
    let essence_with = |verbose| {
        let options = Options { verbose, keep_going: true, ..options(2, 500) };
        essence(&run(&Toy::default(), options))
    };
    assert_eq!(essence_with(false), essence_with(true));
}

#[test]
fn stops_at_the_first_finding() {
    let all = run(&Toy::default(), Options { keep_going: true, ..options(3, 2_000) });
    let first = run(&Toy::default(), options(3, 2_000));
    assert_eq!(first.findings.len(), 1);
    assert_eq!(first.findings[0].finding, all.findings[0].finding);
    assert_eq!(first.figures.executions, first.findings[0].first + 1);
    assert_eq!(first.findings[0].count, 1);
    assert!(!first.figures.interrupted);
}

/// 2,000 executions of which 1 in 37 fails: 54 expected with standard deviation 7.3; five of them
/// is 36.
#[test]
fn keeps_going() {
    let outcome = run(&Toy::default(), Options { keep_going: true, ..options(2, 2_000) });
    assert_eq!(outcome.figures.executions, 2_000);
    assert_eq!(outcome.findings.len(), 3);
    let n_failed: u64 = outcome.findings.iter().map(|it| it.count).sum();
    assert!(n_failed.abs_diff(54) < 36, "{n_failed}");
    let firsts: Vec<u64> = outcome.findings.iter().map(|it| it.first).collect();
    assert!(firsts.is_sorted());
    for found in &outcome.findings {
        assert_eq!(found.reproduced, Reproduced { n: 1, of: 1 });
        assert_eq!(found.finding.execution, found.first);
        assert_eq!(found.finding.output, "hello");
        assert!(found.id.starts_with("assert-"));
    }
}

#[test]
fn every_execution_may_fail() {
    let toy = Toy { fails_in: 1, ..Toy::default() };
    let outcome = run(&toy, Options { keep_going: true, ..options(3, 300) });
    assert_eq!(outcome.figures.executions, 300);
    assert_eq!(outcome.findings.iter().map(|it| it.count).sum::<u64>(), 299);
}

/// Stops the campaign when it has seen enough.
struct Impatient<'a> {
    stop: &'a AtomicBool,
    findings: Vec<String>,
}

impl Observer for Impatient<'_> {
    fn see(&mut self, event: CampaignEvent<'_>) {
        let CampaignEvent::Found { id, .. } = event else { return };
        self.findings.push(id.to_owned());
        self.stop.store(2 <= self.findings.len(), Ordering::Relaxed);
    }
}

#[test]
fn interruption_keeps_what_there_is() {
    let stop = AtomicBool::new(false);
    let mut observer = Impatient { stop: &stop, findings: Vec::new() };
    let options = Options { keep_going: true, executions: None, ..options(3, 0) };
    let outcome = Campaign::new(&Toy::default(), options)
        .run(&mut ToySymbols, &mut observer, &stop)
        .expect("bug: the toy is not broken");
    assert!(outcome.figures.interrupted);
    assert!(2 <= outcome.findings.len());
    let ids: Vec<&str> = outcome.findings.iter().map(|it| it.id.as_str()).collect();
    assert_eq!(ids, observer.findings);
}

/// That nothing was found in no time would be no news.
#[test]
fn something_runs_however_short_the_time() {
    let options = Options { executions: None, time: Some(Duration::ZERO), ..options(1, 0) };
    assert!(run(&Toy::default(), options).figures.executions > 0);
}

#[test]
fn time_runs_out() {
    let toy = Toy { fails_in: 0, ..Toy::default() };
    let time = Some(Duration::from_millis(300));
    let mut counter = Counter::default();
    let options = Options { time, executions: None, ..options(2, 0) };
    let outcome = run_observed(&toy, options, &mut counter).expect("bug: the toy is not broken");
    assert!(!outcome.figures.interrupted);
    assert!(time <= Some(outcome.figures.elapsed));
    assert!(2 <= counter.n_progress, "{}", counter.n_progress);
    assert!(0.0 < outcome.figures.execs_per_s());
    assert_eq!(outcome.findings.len(), 0);
}

#[derive(Default)]
struct Counter {
    n_progress: u64,
    executions: Vec<u64>,
    outputs: Vec<String>,
}

impl Observer for Counter {
    fn see(&mut self, event: CampaignEvent<'_>) {
        match event {
            CampaignEvent::Progress(_) => self.n_progress += 1,
            CampaignEvent::Executed { number, execution } => {
                self.executions.push(number);
                self.outputs.push(execution.output.clone());
            }
            _ => {}
        }
    }
}

/// Writes down what happens, as a fold would read it elsewhere.
#[derive(Default)]
struct Written(Vec<serde_json::Value>);

impl Observer for Written {
    fn see(&mut self, event: CampaignEvent<'_>) {
        self.0.push(serde_json::to_value(event).expect("bug: every event is data"));
    }
}

/// Events say all that the outcome says: what was found, in order, and what it came to.
#[test]
fn a_campaign_is_what_its_events_say() {
    let mut written = Written::default();
    let options = Options { keep_going: true, ..options(2, 2_000) };
    let outcome = run_observed(&Toy::default(), options, &mut written).expect("it runs");
    let of = |name: &str| written.0.iter().filter(|it| it["event"] == name).collect::<Vec<_>>();
    let ids: Vec<&str> = outcome.findings.iter().map(|it| it.id.as_str()).collect();
    let told: Vec<&str> = of("found").iter().filter_map(|it| it["id"].as_str()).collect();
    assert_eq!(told, ids);
    assert_eq!(of("confirmed").len(), ids.len());
    let last = written.0.last().expect("there are events");
    assert_eq!(last["event"], "ended");
    let figures: Figures = serde_json::from_value(last["figures"].clone()).expect("figures");
    let elapsed = Duration::from_millis(outcome.figures.elapsed.as_millis() as u64);
    let last_new_trace = figures.last_new_trace;
    assert_eq!(figures, Figures { elapsed, last_new_trace, ..outcome.figures });
}

#[test]
fn verbose_shows_every_execution_in_order() {
    let mut counter = Counter::default();
    let options = Options { verbose: true, keep_going: true, ..options(3, 200) };
    run_observed(&Toy::default(), options, &mut counter).expect("bug: the toy is not broken");
    assert_eq!(counter.executions, (0..200).collect::<Vec<u64>>());
    assert!(counter.outputs.iter().all(|it| it == "hello"));
}

#[test]
fn baseline_failure_ends_all() {
    let toy = Toy { n_threads: 1, baseline: End::Exit(3), ..Toy::default() };
    let outcome = run(&toy, options(2, 2_000));
    assert_eq!(outcome.baseline_failure.map(|it| it.kind), Some(Kind::Exit));
    assert_eq!(outcome.findings.len(), 0);
    assert_eq!(outcome.figures.executions, 1);

    let fine = Options { exit_is_fine: true, ..options(2, 2_000) };
    assert_eq!(run(&toy, fine).baseline_failure, None);
}

/// A failure that every schedule shows is told, and what depends on the schedule is looked for; whatever the workers.
#[test]
fn a_constant_failure_is_not_the_end() {
    let always = Toy { baseline: End::Assert, fails_in: 1, n_buckets: 1, ..Toy::default() };
    for jobs in [1, 3] {
        let outcome = run(&always, options(jobs, 2_000));
        assert_eq!((outcome.findings.len(), outcome.figures.executions), (1, 1_000));
        let several = run(&Toy { n_buckets: 3, ..always.clone() }, options(jobs, 2_000));
        assert_eq!(several.findings.len(), 2);
        let first = Options { until_first: true, ..options(jobs, 2_000) };
        assert_eq!(run(&always, first).figures.executions, 1);
    }
    // Others are without it: it is a finding like any other.
    let first = Toy { baseline: End::Assert, fails_in: 0, ..Toy::default() };
    let executions = [1, 3].map(|jobs| {
        let outcome = run(&first, options(jobs, 2_000));
        assert_eq!(outcome.findings.len(), 1);
        outcome.figures.executions
    });
    assert_eq!(executions, [2, 2]);
}

#[test]
fn baseline_with_threads_is_a_finding() {
    let toy = Toy { baseline: End::Assert, ..Toy::default() };
    let outcome = run(&toy, options(2, 2_000));
    assert_eq!(outcome.baseline_failure, None);
    assert_eq!(outcome.findings[0].first, 0);
    assert_eq!(outcome.baseline.map(|it| it.n_threads), Some(3));
}

#[test]
fn one_thread_is_not_worth_exploring() {
    let toy = Toy { n_threads: 1, fails_in: 0, ..Toy::default() };
    let outcome = run(&toy, options(2, 2_000));
    assert!(outcome.figures.single_threaded);
    assert_eq!(outcome.figures.executions, 2);
    assert!(!run(&Toy { fails_in: 0, ..Toy::default() }, options(2, 10)).figures.single_threaded);
}

#[test]
fn unstable_confirmations_count() {
    let toy = Toy { is_unstable: true, ..Toy::default() };
    let shaky = run(&toy, options(1, 2_000));
    let steady = run(&Toy::default(), options(1, 2_000));
    assert_eq!(shaky.findings[0].reproduced, Reproduced { n: 1, of: 1 });
    assert!(shaky.figures.stability < steady.figures.stability);
}

/// Something is uncontrolled in a quarter of the toy's executions, and it does the same again all the same.
#[test]
fn stability_does_not_depend_on_the_number_of_executions() {
    for executions in [500, 2_000] {
        let options = || Options { keep_going: true, ..options(2, executions) };
        let found = run(&Toy::default(), options());
        assert!(!found.findings.is_empty());
        assert_eq!(found.figures.stability, 100.0);
        let silent = run(&Toy { fails_in: 0, ..Toy::default() }, options());
        assert!((70.0..80.0).contains(&silent.figures.stability), "{}", silent.figures.stability);
    }
}

#[test]
fn errors_end_all() {
    let toy = Toy { error_in: 9, ..Toy::default() };
    let result = run_observed(&toy, Options { keep_going: true, ..options(2, 2_000) }, &mut ());
    assert!(
        matches!(result, Err(TargetError::Unusable(message)) if message == "the toy is broken")
    );

    let toy = Toy { baseline: End::Bug, ..Toy::default() };
    let result = run_observed(&toy, options(2, 2_000), &mut ());
    assert!(matches!(result, Err(TargetError::Bug(message)) if message == "x == 1"));
}
