//! What executions that end well say could go wrong, and whether it can be made to happen.
//!
//! Some executions are looked at in full: those that are anyway (`raddle_plan::is_probe`), and those that
//! brought pairs of places or locks that were new, up to a bound. Each runs once more, with every access as
//! a step, because what was read from whom decides what can come in another order. What its trace predicts
//! is tried: a plan leads the threads to where the prediction wants them, fitted again if accesses come to
//! be steps that were none (`crate::route`). What happens then is a finding like any. What does not happen
//! stays potential, with the reason, and is told at the end, if nothing has shown it until then.

use std::collections::BTreeSet;

use raddle_analysis::Tear;
use raddle_model::{
    Bucket, Contrast, Detect, Doubt, End, Finding, Kind, Limits, PickerSpec, Plan, Points, Record,
    Remedy,
};
use raddle_plan::{News, is_probe};
use raddle_trace::{SeenRace, Site, Trace};

use super::Ledger;
use crate::{
    campaign::source::Done,
    finding::{
        Prediction, Shown, bucket, contrast, finding, first_choices, is_failure, predicted,
        predictions,
    },
    route::Route,
    target::{Execution, TargetError},
};

/// Executions that are looked at because they brought something new.
const LOOKED_AT_MAX: usize = 48;
/// Predictions that are tried.
const TRIED_MAX: usize = 64;
/// Interruptions of a failure that are tried.
const INTERRUPTIONS_MAX: usize = 32;
/// Schedules that are tried for a failure with every access as a step.
const SEEDS_MAX: u64 = 48;
/// Steps of a livelock that are looked at.
const WAY_IN_STEPS: usize = 64;
/// How often a route is fitted.
const FITTINGS_MAX: usize = 6;

/// What is known about predictions.
#[derive(Debug, Default)]
pub(super) struct Predicted {
    n_looked_at: usize,
    /// Buckets that were tried.
    tried: BTreeSet<Bucket>,
    /// Those that nothing has shown.
    potential: Vec<Finding>,
}

/// What came of trying.
enum Tried {
    /// It happened.
    Shown(Box<Finding>),
    /// It did not, for this reason.
    Potential(Box<Doubt>),
}

/// What a failure needs, and an execution without it.
struct Needed<'p> {
    prediction: &'p Prediction,
    passing: Trace,
}

impl Ledger<'_> {
    /// Looks at executions that have been counted. Is a prediction shown that ends the campaign?
    pub(super) fn predict(&mut self, done: &Done, news: &[News]) -> bool {
        let n_before = self.tally.outcome.findings.len();
        for (idx, news) in news.iter().enumerate() {
            let number = done.range.start + idx as u64;
            let is_new = news.n_pairs > 0 && self.predicted.n_looked_at < LOOKED_AT_MAX;
            if !is_new && !is_probe(number) || self.error.is_some() || self.is_stopped() {
                continue;
            }
            self.predicted.n_looked_at += 1;
            match self.predict_from(done, idx, number) {
                Err(TargetError::Stopped) | Ok(()) => {}
                Err(error) => self.fail(error),
            }
        }
        if !done.judged.is_empty() && self.options.detect.locksets && self.error.is_none() {
            match self.predict_judged(done) {
                Err(TargetError::Stopped) | Ok(()) => {}
                Err(error) => self.fail(error),
            }
        }
        if done.bucket.is_some() && !done.is_known && self.error.is_none() {
            match self.predict_from_failure(done) {
                Err(TargetError::Stopped) | Ok(()) => {}
                Err(error) => self.fail(error),
            }
        }
        let new = &self.tally.outcome.findings[n_before..];
        !self.options.keep_going && new.iter().any(|it| it.finding.kind == Kind::Deadlock)
    }

    /// Tells what has stayed potential.
    pub(super) fn tell_predicted(&mut self) {
        for finding in std::mem::take(&mut self.predicted.potential) {
            if self.error.is_none() && !self.is_known(finding.bucket) {
                self.add_finding(finding, 1);
            }
        }
    }

    fn predict_from(&mut self, done: &Done, idx: usize, number: u64) -> Result<(), TargetError> {
        let plan = Plan { record: Record { races: true, ..Record::NONE }, ..done.plan(idx) };
        let detect = self.options.detect;
        if detect.atomicity {
            // What has happened is seen in the execution as it was; with every access as a step, in another.
            let execution = self.run_watched(&plan)?;
            let only = Detect { atomicity: true, ..Detect::NONE };
            self.try_all(&plan, &execution, number, only)?;
        }
        let (plan, execution) = self.in_full(plan)?;
        self.try_all(&plan, &execution, number, detect)
    }

    /// Looks at what the search takes for races in an execution.
    fn predict_judged(&mut self, done: &Done) -> Result<(), TargetError> {
        let plan = Plan { record: Record { races: true, ..Record::NONE }, ..done.plan(0) };
        let execution = self.run_watched(&plan)?;
        let found = raddle_analysis::unlocked(&execution.trace, &done.judged);
        let all = found.into_iter().map(Prediction::Race).collect();
        self.try_predictions(&plan, &execution, done.range.start, all)
    }

    /// Looks at a failure that is new, as it was: does it end well if a thread is not interrupted?
    fn predict_from_failure(&mut self, done: &Done) -> Result<(), TargetError> {
        let Some(Execution { trace, output }) = &done.result.last else { return Ok(()) };
        if !self.options.detect.atomicity {
            return Ok(());
        }
        let plan = done.plan(done.result.summaries.len() - 1);
        if trace.end == Some(End::Livelock) {
            return self.find_way_in(plan, done);
        }
        if trace.n_dropped != 0 {
            return Ok(());
        }
        self.find_cause(Shown { trace, plan: &plan, execution: done.range.end - 1, output })?;
        if let Some((plan, again)) = self.failing_in_full(&plan, done)? {
            let Execution { trace, output } = &again;
            let execution = done.range.end - 1;
            self.find_cause(Shown { trace, plan: &plan, execution, output })?;
        }
        Ok(())
    }

    /// What leads into a livelock is in its first steps, if it is soon in it.
    fn find_way_in(&mut self, plan: Plan, done: &Done) -> Result<(), TargetError> {
        let mut plan = plan;
        plan.conditions.limits = Limits { max_steps: WAY_IN_STEPS as u64 };
        let Execution { mut trace, output } = self.run_watched(&plan)?;
        if trace.end != Some(End::Livelock) || trace.n_dropped != 0 {
            return Ok(());
        }
        trace.events.truncate(WAY_IN_STEPS);
        let execution = done.range.end - 1;
        self.find_cause(Shown { trace: &trace, plan: &plan, execution, output: &output })
    }

    /// Tells the interruption that a failing execution needs and, unless that says all, the order.
    fn find_cause(&mut self, shown: Shown<'_>) -> Result<(), TargetError> {
        let all = predictions(shown.trace, Detect { atomicity: true, ..Detect::NONE });
        let interruption = self.needed_interruption(shown, &all)?;
        let tear = interruption.as_ref().map_or(Tear::Loose, |it| it.0);
        let order = if tear < Tear::OneSide { None } else { self.needed_order(shown, &all)? };
        for needed in interruption.map(|it| it.1).into_iter().chain(order) {
            self.tell_needed(shown, &needed);
        }
        Ok(())
    }

    fn tell_needed(&mut self, shown: Shown<'_>, needed: &Needed<'_>) {
        let Needed { prediction, passing } = needed;
        let why = match prediction {
            Prediction::Order(_) => Doubt::MeantFirst,
            _ => Doubt::MeantAsOne(None),
        };
        let Some(finding) = predicted(shown, prediction, why, self.symbols) else { return };
        let bucket = finding.bucket;
        let contrast = contrast(shown.trace, passing, self.symbols);
        let finding = with_effect(finding, prediction, contrast);
        let known = self.predicted.potential.iter_mut().find(|it| it.bucket == bucket);
        match known {
            Some(known) if worth(known) <= worth(&finding) => *known = finding,
            None if self.predicted.tried.insert(bucket) => self.predicted.potential.push(finding),
            _ => {}
        }
    }

    /// An interruption without which the execution ends well: the first of those that tell most.
    fn needed_interruption<'p>(
        &mut self,
        shown: Shown<'_>,
        all: &'p [Prediction],
    ) -> Result<Option<(Tear, Needed<'p>)>, TargetError> {
        let mut tried = BTreeSet::new();
        let mut needed: Option<(Tear, Needed<'p>)> = None;
        for prediction in all {
            let Prediction::Interruption(it) = prediction else { continue };
            if tried.len() == INTERRUPTIONS_MAX || !tried.insert(it.n_steps) || self.is_stopped() {
                continue;
            }
            let prefix = first_choices(shown.trace, it.n_steps);
            let Some(passing) = self.ends_well(shown, prefix)? else { continue };
            if needed.as_ref().is_none_or(|(tear, _)| it.tear < *tear) {
                let passing = self.nearer(shown, it.n_steps, passing)?;
                needed = Some((it.tear, Needed { prediction, passing }));
            }
            if it.tear == Tear::Stale {
                break;
            }
        }
        Ok(needed)
    }

    /// An order of two accesses that the failure needs, the earliest of those that are looked at: it fails if the first
    /// comes first, whatever was interrupted later, and ends well if the second does.
    fn needed_order<'p>(
        &mut self,
        shown: Shown<'_>,
        all: &'p [Prediction],
    ) -> Result<Option<Needed<'p>>, TargetError> {
        for prediction in all.iter().rev() {
            let Prediction::Order(it) = prediction else { continue };
            if self.is_stopped() {
                break;
            }
            let mut prefix = first_choices(shown.trace, it.n_steps);
            prefix.push(it.second.thread.0);
            let as_it_was = first_choices(shown.trace, it.n_steps + 1);
            let Some(passing) = self.ends_well(shown, prefix)? else { continue };
            if self.ends_well(shown, as_it_was)?.is_none() {
                return Ok(Some(Needed { prediction, passing }));
            }
        }
        Ok(None)
    }

    /// An execution that ends well because a thread went on after so many steps: where the others then do what they did
    /// in the failing one, if that ends well, too.
    fn nearer(
        &mut self,
        shown: Shown<'_>,
        n_steps: usize,
        passing: Trace,
    ) -> Result<Trace, TargetError> {
        let choices = first_choices(&passing, passing.events.len());
        let Some(went_on) = choices.get(n_steps) else { return Ok(passing) };
        let n_same = choices[n_steps..].iter().take_while(|it| *it == went_on).count();
        let failing = first_choices(shown.trace, shown.trace.events.len());
        let others = failing[n_steps..].iter().filter(|it| *it != went_on);
        let prefix = choices[..n_steps + n_same].iter().chain(others).copied().collect();
        Ok(self.ends_well(shown, prefix)?.unwrap_or(passing))
    }

    /// The execution that begins like this and goes on without preemption, if it ends well.
    fn ends_well(
        &mut self,
        shown: Shown<'_>,
        prefix: Vec<u32>,
    ) -> Result<Option<Trace>, TargetError> {
        let picker = PickerSpec::Nonpreemptive;
        let plan = Plan { prefix, picker, seed: 0, ..shown.plan.clone() };
        let trace = self.run_watched(&plan)?.trace;
        let went_there = first_choices(&trace, trace.events.len()).starts_with(&plan.prefix);
        let is_well = went_there && !is_failure(&trace, self.options.exit_is_fine);
        Ok(is_well.then_some(trace))
    }

    /// An execution that fails in the same way, with every access as a step: what a thread did before another came to
    /// the memory is told then. `None` if no such one was met.
    fn failing_in_full(
        &mut self,
        plan: &Plan,
        done: &Done,
    ) -> Result<Option<(Plan, Execution)>, TargetError> {
        if plan.conditions.points == Points::All {
            return Ok(None);
        }
        for seed in 0..SEEDS_MAX {
            let pickers = [plan.picker, PickerSpec::Walk, PickerSpec::Pos, PickerSpec::Sites];
            let picker = pickers[seed as usize % pickers.len()];
            let seed = if seed == 0 { plan.seed } else { seed };
            let prefix = Vec::new();
            let plan = Plan {
                conditions: plan.conditions.at_every_access(),
                prefix,
                picker,
                seed,
                ..plan.clone()
            };
            let execution = self.run_watched(&plan)?;
            let is_whole = execution.trace.n_dropped == 0;
            if is_whole && bucket(&execution.trace, self.symbols) == done.bucket {
                return Ok(Some((plan, execution)));
            }
            if self.is_stopped() {
                break;
            }
        }
        Ok(None)
    }

    /// Tries what an execution predicts and nothing has before.
    fn try_all(
        &mut self,
        plan: &Plan,
        execution: &Execution,
        number: u64,
        detect: Detect,
    ) -> Result<(), TargetError> {
        if is_failure(&execution.trace, self.options.exit_is_fine) {
            return Ok(());
        }
        self.try_predictions(plan, execution, number, predictions(&execution.trace, detect))
    }

    fn try_predictions(
        &mut self,
        plan: &Plan,
        execution: &Execution,
        number: u64,
        all: Vec<Prediction>,
    ) -> Result<(), TargetError> {
        let Execution { trace, output } = execution;
        let shown = Shown { trace, plan, execution: number, output };
        for prediction in all {
            let Some(finding) = predicted(shown, &prediction, Doubt::Untried, self.symbols) else {
                continue;
            };
            let is_enough = self.predicted.tried.len() >= TRIED_MAX || self.is_stopped();
            if is_enough || !self.predicted.tried.insert(finding.bucket) {
                continue;
            }
            if self.is_known(finding.bucket) {
                continue;
            }
            match self.try_out(shown, &prediction, finding.bucket)? {
                Tried::Shown(finding) => {
                    self.predicted.tried.insert(finding.bucket);
                    if !self.is_known(finding.bucket) {
                        self.add_finding(*finding, 1);
                    }
                }
                Tried::Potential(why) => {
                    let finding = predicted(shown, &prediction, *why, self.symbols);
                    self.predicted.potential.extend(finding);
                }
            }
        }
        Ok(())
    }

    /// Runs an execution with every access as a step; as it was, if that is too long, or would lead astray.
    fn in_full(&mut self, plan: Plan) -> Result<(Plan, Execution), TargetError> {
        if plan.prefix.is_empty() && plan.conditions.points != Points::All {
            let all = Plan { conditions: plan.conditions.at_every_access(), ..plan.clone() };
            let execution = self.run_watched(&all)?;
            if execution.trace.n_dropped == 0 {
                return Ok((all, execution));
            }
        }
        let execution = self.run_watched(&plan)?;
        Ok((plan, execution))
    }

    /// Leads the threads to where a prediction wants them.
    fn try_out(
        &mut self,
        shown: Shown<'_>,
        prediction: &Prediction,
        bucket: Bucket,
    ) -> Result<Tried, TargetError> {
        if matches!(prediction, Prediction::Atomicity(..)) {
            return Ok(Tried::Potential(Box::new(Doubt::Untried)));
        }
        let Some(steps) = prediction.steps() else {
            return Ok(Tried::Potential(Box::new(Doubt::OtherOrder)));
        };
        let sides = match prediction {
            Prediction::Race(it) => vec![it.race.first.step as usize, it.race.second.step as usize],
            _ => Vec::new(),
        };
        let steps = steps.iter().copied().chain(sides.iter().copied());
        let route = Route::of(shown.trace, steps);
        let mut prefix = route.prefix();
        for _ in 0..FITTINGS_MAX {
            let plan =
                Plan { prefix, picker: PickerSpec::Nonpreemptive, seed: 0, ..shown.plan.clone() };
            let execution = self.run_watched(&plan)?;
            let found = match prediction {
                Prediction::Race(it) => {
                    let sites = it.race.sites().map(|it| site(shown.trace, it.0));
                    self.race_in(&plan, &execution, shown.execution, sites)?
                }
                _ => self.deadlock_in(&plan, &execution, shown.execution),
            };
            if let Some(found) = found.filter(|it| it.kind != Kind::Deadlock || it.bucket == bucket)
            {
                return Ok(Tried::Shown(Box::new(found)));
            }
            prefix = route.fitted(&execution.trace);
            if prefix == plan.prefix {
                break;
            }
        }
        Ok(Tried::Potential(Box::new(Doubt::Astray)))
    }

    fn deadlock_in(&mut self, plan: &Plan, execution: &Execution, number: u64) -> Option<Finding> {
        let Execution { trace, output } = execution;
        let mut found = finding(trace, plan, number, output, self.symbols)?;
        found.strategy = "prediction".to_owned();
        Some(found)
    }

    /// The race of two sites, if the execution shows it.
    fn race_in(
        &mut self,
        plan: &Plan,
        execution: &Execution,
        number: u64,
        sites: [Site; 2],
    ) -> Result<Option<Finding>, TargetError> {
        let is_it = |it: &&SeenRace| {
            let [first, second] = it.sides.each_ref().map(|it| it.site);
            let matches = |a: Site, b: Site| (first == a || first.module.is_none()) && second == b;
            matches(sites[0], sites[1]) || matches(sites[1], sites[0])
        };
        let Some(seen) = execution.trace.races.iter().find(is_it) else { return Ok(None) };
        let found = self.witness_of(plan, number, seen)?;
        Ok(found.map(|it| Finding { strategy: "prediction".to_owned(), ..it }))
    }
}

/// How much is known of what is read otherwise.
fn worth(finding: &Finding) -> usize {
    let contrast = finding.evidence.as_ref().and_then(|it| it.contrast.as_ref());
    contrast.map_or(0, |it| 1 + it.writes.iter().flatten().count())
}

/// Says what came of it when the thread was not interrupted, or the other access came first.
fn with_effect(
    mut finding: Finding,
    prediction: &Prediction,
    contrast: Option<Contrast>,
) -> Finding {
    let Some(evidence) = &mut finding.evidence else { return finding };
    evidence.contrast = contrast;
    evidence.effect = match (prediction, evidence.accesses.as_slice()) {
        (Prediction::Order(_), [_, _]) => Some(Remedy::OtherFirst),
        (_, [_, ..]) => Some(Remedy::Uninterrupted),
        (_, []) => None,
    };
    finding
}

fn site(trace: &Trace, number: u32) -> Site {
    trace.sites.get(number as usize).copied().unwrap_or_default()
}
