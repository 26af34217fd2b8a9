//! Why a finding happens: its schedule made small, the orders that matter, the nearest schedule that
//! passes. All of it is found by running the program again under other plans, the bucket kept fixed.
//!
//! The same finding, program and budget give the same explanation: budgets count executions and steps. A
//! clock is there for emergencies, and where it has struck, the explanation says so.

mod contrast;
mod edges;
mod likelihood;
mod looks;
mod minimise;
mod numbers;
mod observe;
mod orders;
mod points;
mod reason;
mod reorder;
mod retell;
mod rich;
mod seen;
mod start;
mod trials;

use std::time::Duration;

use raddle_model::{
    Certainty, Constraint, Explanation, Fault, Finding, Kind, MinimisingEnd, Reason, Share,
    ThreadId,
};

use self::{
    edges::Node,
    minimise::{Minimised, Minimiser},
    points::Points,
    reason::{Orders, Reasoner},
    rich::Rich,
    start::Start,
    trials::Trials,
};
use crate::target::{Session, Symbols, TargetError};

/// What an explanation may cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Executions for making the schedule small.
    pub n_replays: u64,
    /// Executions for finding the reason.
    pub n_reason: u64,
    /// Steps of all executions together.
    pub n_steps: u64,
    /// The emergency stop.
    pub time: Duration,
}

impl Default for Budget {
    fn default() -> Budget {
        Budget {
            n_replays: 400,
            n_reason: 4_000,
            n_steps: 20_000_000,
            time: Duration::from_secs(10),
        }
    }
}

/// A finding with its smallest schedule, and why it happens.
#[derive(Clone, Debug)]
pub struct Explained {
    /// The finding, shown by the smallest schedule that was found.
    pub finding: Finding,
    /// The finding as it was found, with all that can be told of its steps.
    pub original: Finding,
    /// Why it happens.
    pub explanation: Explanation,
}

/// Looks into a finding.
pub fn explain(
    session: &mut dyn Session,
    symbols: &mut dyn Symbols,
    finding: &Finding,
    exit_is_fine: bool,
    budget: Budget,
) -> Result<Explained, TargetError> {
    let mut trials = Trials::new(session, symbols, finding, exit_is_fine, budget);
    let mut small = Minimiser::run(&mut trials)?;
    let mut explanation = Explanation::default();
    let is_small = small.minimising.ending != MinimisingEnd::NotReproduced;
    let n_steps = small.minimising.after.n_steps;
    let is_shown = finding.certainty == Certainty::Shown;
    let shows_often = is_small && is_shown && finding.kind != Kind::Livelock;
    if let Some((base, execution)) = small.shown.as_ref().filter(|_| shows_often) {
        if finding.kind == Kind::Race {
            trials.learn_race(execution);
        }
        trials.may_be_late = small.finding.is_timing();
        explanation.likelihood = likelihood::likelihood(&mut trials, base, n_steps)?;
        trials.may_be_late = true;
    }
    if is_small {
        trials.renew(budget.n_reason);
        match (&mut small.finding.evidence, &small.shown) {
            // That a race shows depends on no order, but what it does may.
            (Some(evidence), Some((base, execution))) if finding.kind == Kind::Race => {
                evidence.orders =
                    orders::both_orders(&mut trials, base, &execution.trace, evidence)?;
            }
            _ => find_reason(&mut trials, &mut small, &mut explanation, budget.n_reason)?,
        }
    }
    let mut original = finding.clone();
    if is_small {
        retell_all(&mut trials, &mut original, &mut small, &mut explanation)?;
    }
    explanation.minimising = small.minimising;
    if trials.has_struck() {
        explanation.minimising.ending = MinimisingEnd::Time;
    }
    Ok(Explained { finding: small.finding, original, explanation })
}

/// Tells the schedules that will be shown with their values and stacks.
fn retell_all(
    trials: &mut Trials<'_>,
    original: &mut Finding,
    small: &mut Minimised,
    explanation: &mut Explanation,
) -> Result<(), TargetError> {
    let plan = original.plan.clone();
    retell::finding(trials, &plan, original)?;
    let mut plan = small.finding.plan.clone();
    if let Some((base, _)) = &small.shown {
        // A livelock that was made small shows its first steps.
        plan.conditions.limits = base.conditions.limits;
    }
    retell::finding(trials, &plan, &mut small.finding)?;
    match &mut explanation.passing {
        Some(passing) => retell::passing(trials, passing),
        None => Ok(()),
    }
}

/// Adds the reason and the contrast. With the orders that matter known, there may be a plainer schedule that
/// keeps them, and of that a plainer reason. Where orders alone say little, they are sought after a beginning that is kept
/// as it was.
fn find_reason(
    trials: &mut Trials<'_>,
    minimised: &mut Minimised,
    explanation: &mut Explanation,
    n_reason: u64,
) -> Result<(), TargetError> {
    let Some((base, execution)) = &minimised.shown else { return Ok(()) };
    let none = Start::default;
    let Some(mut orders) = Reasoner::new(trials, base, &execution.trace, none()).find()? else {
        return Ok(());
    };
    if let Some(calmer) = Minimiser::calm(trials, minimised, &orders.kept())?
        && let Some((base, execution)) = &calmer.shown
        && let Some(plainer) = Reasoner::new(trials, base, &execution.trace, none()).find()?
    {
        orders = plainer;
        *minimised = calmer;
    }
    let Minimised { finding: small, shown: Some((base, execution)), .. } = minimised else {
        return Ok(());
    };
    let trace = &execution.trace;
    if orders.say_little() {
        trials.renew(n_reason);
        orders = start::find(trials, (base, trace), &orders, n_reason)?.unwrap_or(orders);
    }
    let Orders { edges, sufficient, reversed, passing, passes, start } = orders;
    let rich = Rich::of(trials, base, trace, &edges, passes, &start)?;
    let symbols = &mut *trials.symbols;
    let mut points = Points::new(&rich, small, symbols);
    let constraints = rich.pairs.iter().zip(reversed).map(|((first, second), reversed)| {
        let first = points.node(*first, symbols);
        let second = points.node(*second, symbols);
        Constraint { first, second, reversed }
    });
    let mut orders: Vec<Constraint> = constraints.collect();
    let sides = orders.iter_mut().flat_map(|it| [&mut it.first, &mut it.second]);
    points::keep_callers(&mut sides.collect::<Vec<_>>());
    let depends = !orders.is_empty() || sufficient.n < sufficient.of;
    // What passes most often the other way round says most.
    let mut pairs: Vec<(Share, (Node, Node))> =
        orders.iter().map(|it| it.reversed).zip(rich.pairs.iter().copied()).collect();
    pairs.sort_by_key(|(it, _)| (1000 * it.n).checked_div(it.of));
    let pairs: Vec<(Node, Node)> = pairs.into_iter().map(|it| it.1).collect();
    let observations = observe::observations(&rich, &pairs, small, &mut points, symbols, depends);
    explanation.passing = passing.map(|it| Box::new(contrast::passing(it, trace, small, symbols)));
    let have_looked = observe::have_looked(&rich, small, &points);
    small.objects = points.into_objects();
    forget_missed(small, &have_looked);
    let looks = looks::looks(&rich, small, symbols);
    explanation.reason =
        Some(Reason { orders, sufficient, n_same: start.n_steps as u64, observations, looks });
    Ok(())
}

/// Leaves out what some threads are said to have missed.
fn forget_missed(finding: &mut Finding, threads: &[ThreadId]) {
    for state in finding.threads.iter_mut().filter(|it| threads.contains(&it.thread)) {
        state.waits_for.iter_mut().for_each(|it| it.missed = None);
    }
    if let Fault::Forlorn(all) = &mut finding.fault {
        let told = all.iter_mut().filter(|it| threads.contains(&it.thread));
        told.for_each(|it| it.missed = None);
    }
}

#[cfg(test)]
mod tests;
