//! Executions under changed plans: do they still show the finding?

use std::time::Instant;

use raddle_model::{Finding, Kind, MinimisingEnd, Plan, TIMING_US};
use raddle_trace::SeenRace;

use super::Budget;
use crate::{
    finding,
    replay::{Sameness, find_again, is_same},
    target::{Block, Execution, Session, Symbols, TargetError},
};

/// Runs plans until the budget is spent.
pub(super) struct Trials<'a> {
    pub(super) session: &'a mut dyn Session,
    pub(super) symbols: &'a mut dyn Symbols,
    /// What is to be shown.
    pub(super) finding: &'a Finding,
    pub(super) exit_is_fine: bool,
    /// Does an execution show it that fails after a long delay?
    pub(super) may_be_late: bool,
    budget: Budget,
    begun: Instant,
    pub(super) n_replays: u64,
    n_steps: u64,
    /// What stopped it, if something did.
    pub(super) stopped_by: Option<MinimisingEnd>,
    /// The clock has struck, in whatever was tried.
    has_struck: bool,
    /// Of a race: by what executions tell it.
    pub(super) race_keys: Vec<u64>,
}

/// One execution, and what was found to be shared in it.
pub(super) struct Trial {
    pub(super) execution: Execution,
    pub(super) shared_found: Vec<u64>,
}

impl<'a> Trials<'a> {
    pub(super) fn new(
        session: &'a mut dyn Session,
        symbols: &'a mut dyn Symbols,
        finding: &'a Finding,
        exit_is_fine: bool,
        budget: Budget,
    ) -> Trials<'a> {
        Trials {
            session,
            symbols,
            finding,
            exit_is_fine,
            may_be_late: true,
            budget,
            begun: Instant::now(),
            n_replays: 0,
            n_steps: 0,
            stopped_by: None,
            has_struck: false,
            race_keys: Vec::new(),
        }
    }

    /// Learns by what executions tell the race, from one that shows it.
    pub(super) fn learn_race(&mut self, execution: &Execution) {
        let Execution { trace, output } = execution;
        let plan = &self.finding.plan;
        let is_it = |it: &SeenRace, symbols: &mut dyn Symbols| {
            let found = finding::race(trace, it, plan, 0, output, symbols);
            found.is_some_and(|it| it.bucket == self.finding.bucket)
        };
        let seen = trace.races.iter().filter(|it| is_it(it, self.symbols));
        self.race_keys = seen.map(|it| it.key).collect();
    }

    /// Runs a plan; `None` if the budget is spent.
    pub(super) fn run(&mut self, plan: &Plan) -> Result<Option<Trial>, TargetError> {
        if self.budget.n_replays <= self.n_replays || self.budget.n_steps <= self.n_steps {
            self.stopped_by.get_or_insert(MinimisingEnd::Budget);
            return Ok(None);
        }
        if self.is_late() {
            self.stopped_by.get_or_insert(MinimisingEnd::Time);
            return Ok(None);
        }
        self.n_replays += 1;
        let trial = match self.run_free(plan) {
            Err(TargetError::Stopped) => {
                self.has_struck = true;
                self.stopped_by.get_or_insert(MinimisingEnd::Time);
                return Ok(None);
            }
            trial => trial?,
        };
        self.n_steps += trial.execution.trace.summary.n_steps;
        Ok(Some(trial))
    }

    /// Runs a plan, whatever has been spent.
    pub(super) fn run_free(&mut self, plan: &Plan) -> Result<Trial, TargetError> {
        let mut result = self.session.run(&Block::one(plan.clone(), self.exit_is_fine))?;
        let shared_found = std::mem::take(&mut result.shared_found);
        Ok(Trial { execution: result.into_last()?, shared_found })
    }

    /// Runs executions until one has to be looked at: how many, and the last. They cost as much as one.
    pub(super) fn run_until(
        &mut self,
        block: Block,
    ) -> Result<(u64, Option<Execution>), TargetError> {
        let result = self.session.run(&block)?;
        let n_run = result.summaries.len() as u64;
        self.n_replays += 1;
        self.n_steps += result.summaries.iter().map(|it| it.n_steps).sum::<u64>();
        Ok((n_run, result.last))
    }

    /// Does an execution show the finding?
    pub(super) fn shows(&mut self, execution: &Execution) -> bool {
        let Finding { kind, bucket, .. } = *self.finding;
        if kind == Kind::Race {
            return self.finding_of(execution, &self.finding.plan).is_some();
        }
        let is_late = TIMING_US <= execution.trace.summary.delay_us;
        finding::is_failure(&execution.trace, self.exit_is_fine)
            && (self.may_be_late || !is_late)
            && finding::bucket(&execution.trace, self.symbols) == Some(bucket)
    }

    /// Did it end in another way than well?
    pub(super) fn is_failure(&self, execution: &Execution) -> bool {
        finding::is_failure(&execution.trace, self.exit_is_fine)
    }

    /// Has the clock struck? Whoever asks goes no further if it has.
    pub(super) fn is_late(&mut self) -> bool {
        self.has_struck |= self.budget.time <= self.begun.elapsed();
        self.has_struck
    }

    /// Was anything left out because of the clock?
    pub(super) const fn has_struck(&self) -> bool {
        self.has_struck
    }

    /// Begins again with another budget of executions; the clock goes on.
    pub(super) fn renew(&mut self, n_replays: u64) {
        self.budget.n_replays = self.n_replays + n_replays;
        self.n_steps = 0;
        self.stopped_by = None;
    }

    /// The finding as an execution of this plan shows it.
    pub(super) fn finding_of(&mut self, execution: &Execution, plan: &Plan) -> Option<Finding> {
        let same = Sameness::Bucket;
        let like = Finding { plan: plan.clone(), ..self.finding.clone() };
        let new = find_again(execution, &like, self.symbols, self.exit_is_fine, same)?;
        let Finding { strategy, position, .. } = self.finding.clone();
        is_same(&new, self.finding, same).then_some(Finding { strategy, position, ..new })
    }
}
