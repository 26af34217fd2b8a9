//! Runs a program under other memory orders: does it fail?

use std::{sync::atomic::AtomicBool, time::Instant};

use raddle_model::{Bucket, Finding, Gap, OrderAt, PickerSpec, Plan, Record, Reordered, Support};
use raddle_plan::{Arm, search::SearchSpec};

use super::sites::Sites;
use crate::{
    campaign::{Campaign, Method, Options, SearchOptions},
    finding,
    replay::{Sameness, find_again, is_same},
    target::{Block, Session, Symbols, Target, TargetError, Until},
};

/// Executions that show which atomics there are.
const N_LOOKS: u64 = 48;
/// Schedules that have failed, the last one first: the next set is tried with these before anything else.
const KEPT: usize = 12;

/// A program, and what is asked of it.
pub struct Lab<'a> {
    target: &'a dyn Target,
    session: Box<dyn Session + Send>,
    symbols: &'a mut dyn Symbols,
    options: Options,
    stop: &'a AtomicBool,
    /// What counts as a failure; any, if that is not said.
    bucket: Option<Bucket>,
    failed: Vec<Finding>,
    /// A search of so many executions does not come to its end.
    n_endless: u64,
    /// Executions so far.
    pub(super) n_executions: u64,
}

/// What came of a set of orders.
#[derive(Debug)]
pub(super) enum Answer {
    /// It fails.
    Fails(Box<Finding>),
    /// It does not.
    Passes(Support),
    /// Time is over, or the user wants no more.
    OutOfTime,
}

impl<'a> Lab<'a> {
    /// A program under the conditions, detectors, seed, workers and deadline of the options.
    pub fn new(
        target: &'a dyn Target,
        symbols: &'a mut dyn Symbols,
        options: Options,
        stop: &'a AtomicBool,
    ) -> Result<Lab<'a>, TargetError> {
        let session = target.open_until(&Until::at(options.deadline))?;
        Ok(Lab {
            target,
            session,
            symbols,
            options: Options { confirmations: 0, explain: None, ..options },
            stop,
            bucket: None,
            failed: Vec::new(),
            n_endless: 0,
            n_executions: 0,
        })
    }

    /// Is no more wanted?
    pub(super) fn is_over(&self) -> bool {
        let is_late = self.options.deadline.is_some_and(|it| it <= Instant::now());
        is_late || self.stop.load(std::sync::atomic::Ordering::Relaxed)
    }

    /// Only this finding counts from now on.
    pub(super) fn count_only(&mut self, bucket: Bucket) {
        self.bucket = Some(bucket);
    }

    /// A schedule that is known to fail with the orders of the source.
    pub(super) fn know(&mut self, finding: &Finding) {
        self.failed.retain(|it| it.plan != finding.plan);
        self.failed.insert(0, finding.clone());
        self.failed.truncate(KEPT);
    }

    /// The atomics and fences of the program, each with the order of the source.
    pub(super) fn sites(&mut self) -> Result<Vec<Reordered>, TargetError> {
        let mut sites = Sites::default();
        let known: Vec<Plan> = self.failed.iter().map(|it| it.plan.clone()).collect();
        let new = (0..N_LOOKS).map(|seed| Plan {
            conditions: self.options.conditions,
            ..Plan::new(PickerSpec::Walk, seed)
        });
        let plans: Vec<Plan> = known.into_iter().chain(new).collect();
        for plan in plans {
            if self.is_over() {
                break;
            }
            let result = self.session.run(&Block::one(plan, self.options.exit_is_fine));
            let execution = match result {
                Err(TargetError::Stopped) => break,
                result => result?.into_last()?,
            };
            self.n_executions += 1;
            sites.take_in(&execution.trace, self.symbols);
        }
        Ok(sites.all())
    }

    /// Does the program fail with these orders, in every schedule that has failed before, in a search if that comes to
    /// its end within so many executions, or else in so many random ones?
    pub(super) fn fails(&mut self, orders: &[OrderAt], n: u64) -> Result<Answer, TargetError> {
        if let Some(again) = self.fails_again(orders)? {
            return Ok(Answer::Fails(Box::new(again)));
        }
        if self.n_endless < n {
            match self.explore(orders, n, true)? {
                Some(answer) => return Ok(answer),
                None => self.n_endless = n,
            }
        }
        Ok(self.explore(orders, n, false)?.unwrap_or(Answer::OutOfTime))
    }

    /// The schedules that have failed before.
    fn fails_again(&mut self, orders: &[OrderAt]) -> Result<Option<Finding>, TargetError> {
        for idx in 0..self.failed.len() {
            if self.is_over() {
                return Ok(None);
            }
            let mut like = self.failed[idx].clone();
            like.plan.orders = orders.to_vec();
            if self.shows(&like)? {
                // What fails often is tried sooner.
                self.failed[..=idx].rotate_right(1);
                return Ok(Some(like));
            }
        }
        Ok(None)
    }

    /// Does the plan of a finding show a failure that counts?
    fn shows(&mut self, like: &Finding) -> Result<bool, TargetError> {
        let record = Record { races: self.options.detect.races, ..like.plan.record };
        let plan = Plan { record, ..like.plan.clone() };
        let exit_is_fine = self.options.exit_is_fine;
        let execution = match self.session.run(&Block::one(plan.clone(), exit_is_fine)) {
            Err(TargetError::Stopped) => return Ok(false),
            result => result?.into_last()?,
        };
        self.n_executions += 1;
        let new = find_again(&execution, like, self.symbols, exit_is_fine, Sameness::Bucket);
        if let Some(bucket) = self.bucket {
            let is_it = |it: &Finding| it.bucket == bucket && is_same(it, like, Sameness::Bucket);
            return Ok(new.is_some_and(|it| is_it(&it)));
        }
        let trace = &execution.trace;
        let mut races = || finding::races(trace, &plan, 0, "", self.symbols);
        let is_failure = finding::is_failure(trace, exit_is_fine);
        Ok(is_failure || record.races && races().iter().any(|it| !it.is_warning()))
    }

    /// A campaign with these orders: a search, or the portfolio. `None`: the search was not at its end.
    fn explore(
        &mut self,
        orders: &[OrderAt],
        n: u64,
        is_search: bool,
    ) -> Result<Option<Answer>, TargetError> {
        let spec = || SearchSpec::parse("dpor").expect("bug: there is such a search");
        let method = match is_search {
            true => Method::Search(Box::new(SearchOptions::new(spec()))),
            false => Method::Portfolio(Arm::standard(n)),
        };
        let options = Options {
            method,
            executions: Some(n),
            orders: orders.to_vec(),
            keep_going: self.bucket.is_some(),
            until_first: self.bucket.is_none(),
            ..self.options.clone()
        };
        let outcome =
            match Campaign::new(self.target, options).run(self.symbols, &mut (), self.stop) {
                Err(TargetError::Stopped) => return Ok(Some(Answer::OutOfTime)),
                outcome => outcome?,
            };
        self.n_executions += outcome.figures.executions;
        let counts = |it: &Finding| match self.bucket {
            Some(bucket) => it.bucket == bucket,
            None => !it.is_warning(),
        };
        let found = outcome.findings.iter().map(|it| &it.finding);
        if let Some(found) = found.chain(&outcome.baseline_failure).find(|it| counts(it)) {
            let found = found.clone();
            self.know(&found);
            return Ok(Some(Answer::Fails(Box::new(found))));
        }
        if self.is_over() {
            return Ok(Some(Answer::OutOfTime));
        }
        let is_known =
            |it: &Gap| matches!(it, Gap::BeyondModel(_) | Gap::StoreOrder(_) | Gap::NoRaces);
        let is_proved = is_search && outcome.is_exhaustive() && outcome.gaps.iter().all(is_known);
        if is_search && !is_proved {
            return Ok(None);
        }
        let n_executions = outcome.n_ended();
        Ok(Some(Answer::Passes(Support { is_proved, n_executions })))
    }
}

impl std::fmt::Debug for Lab<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Lab").field("n_executions", &self.n_executions).finish_non_exhaustive()
    }
}
