//! Races that executions show while they run.
//!
//! An execution tells its races by places as far as it knows them, and goes on. The first time a pair of
//! places is met, the same execution runs once more with that memory watched, which gives both sides'
//! stacks and locks; and then once more up to the race, and from there without preemption: if that shows the
//! race too, it is the shorter witness. All later executions only count.
//!
//! To run a race again, make its schedule small and say what it does takes as long as thousands of executions. Some are
//! looked into at once; the others wait until the campaign is that much further. So what is spent on them is a share
//! of the executions, counted and not timed: the same campaign looks into the same races. Those that still wait at its
//! end are confirmed only.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use raddle_model::{Bucket, Finding, PickerSpec, Plan, Record};
use raddle_trace::SeenRace;

use super::Ledger;
use crate::{
    campaign::source::Done,
    finding::{first_choices, races},
    target::{Block, Execution, TargetError},
};

/// Races that are told; a program that has more has seen enough of them.
const RACES_MAX: usize = 1_000;
/// So many races are looked into at once.
const AT_ONCE: u64 = 8;
/// And another one whenever so many executions have run.
const PER_RACE: u64 = 10_000;

/// What is known about races.
#[derive(Debug, Default)]
pub(super) struct KnownRaces {
    /// By what executions tell of them.
    buckets: BTreeMap<u64, Option<Bucket>>,
    /// Races that were looked into.
    n_looked_into: u64,
    /// Findings that wait for that, by their number.
    waiting: VecDeque<usize>,
}

impl Ledger<'_> {
    /// Counts the races that executions showed, all before them having been counted.
    pub(super) fn enter_races(&mut self, done: &Done) {
        let mut counted = BTreeSet::new();
        for seen in &done.result.races {
            let idx = seen.execution as usize;
            if done.n_run() <= idx as u64 || self.error.is_some() {
                continue;
            }
            let bucket = match self.races.buckets.get(&seen.key()) {
                Some(known) => *known,
                None => self.meet_race(done, seen),
            };
            if let Some(bucket) = bucket.filter(|it| counted.insert((idx, *it))) {
                self.tally.count_again(bucket);
            }
        }
    }

    /// Looks into races that wait, as far as the executions so far allow.
    pub(super) fn look_into_races(&mut self) {
        while self.error.is_none() && !self.is_stopped() && self.may_look_into_race() {
            let Some(idx) = self.races.waiting.pop_front() else { return };
            self.races.n_looked_into += 1;
            self.look_into(idx, true);
        }
    }

    /// May one more race be looked into?
    fn may_look_into_race(&self) -> bool {
        self.races.n_looked_into < AT_ONCE + self.tally.outcome.executions / PER_RACE
    }

    /// A race was found: it waits for its turn.
    pub(super) fn race_waits(&mut self, idx: usize) {
        self.races.waiting.push_back(idx);
    }

    /// The campaign is over: those that still wait are run again once, and no more.
    pub(super) fn confirm_races(&mut self) {
        while let Some(idx) = self.races.waiting.pop_front() {
            self.look_into(idx, false);
        }
    }

    /// A pair of places that was not met before: its bucket, which is a new finding perhaps.
    fn meet_race(&mut self, done: &Done, seen: &SeenRace) -> Option<Bucket> {
        let is_enough = self.races.buckets.len() >= RACES_MAX || self.is_stopped();
        let finding = match (!is_enough).then(|| self.witness(done, seen)) {
            Some(Ok(finding)) => finding,
            Some(Err(error)) => {
                if !matches!(error, TargetError::Stopped) {
                    self.fail(error);
                }
                None
            }
            None => None,
        };
        let bucket = finding.as_ref().map(|it| it.bucket);
        self.races.buckets.insert(seen.key(), bucket);
        if let Some(finding) = finding
            && !self.is_known(finding.bucket)
        {
            // It is counted with the others of its execution.
            self.add_finding(finding, 0);
        }
        bucket
    }

    fn witness(&mut self, done: &Done, seen: &SeenRace) -> Result<Option<Finding>, TargetError> {
        let plan = done.plan(seen.execution as usize);
        let number = done.range.start + u64::from(seen.execution);
        let strategy = self.strategy_of(done, &plan, number);
        let found = self.witness_of(&plan, number, seen)?;
        Ok(found.map(|it| Finding { strategy, ..it }))
    }

    /// The race as a finding, shown by an execution as short as can be had for two more.
    pub(super) fn witness_of(
        &mut self,
        plan: &Plan,
        number: u64,
        seen: &SeenRace,
    ) -> Result<Option<Finding>, TargetError> {
        let watch = (seen.watch.region != 0).then_some(seen.watch);
        let record = Record { races: true, watch, ..Record::NONE };
        let plan = Plan { record, ..plan.clone() };
        let first = self.run_watched(&plan)?;
        let Some((finding, n_steps)) = self.race_of(&first, &plan, number, seen) else {
            return Ok(None);
        };
        let prefix = first_choices(&first.trace, n_steps);
        if prefix.is_empty() {
            return Ok(Some(finding));
        }
        let short = Plan { prefix, picker: PickerSpec::Nonpreemptive, ..plan };
        let second = self.run_watched(&short)?;
        let shorter = self.race_of(&second, &short, number, seen).map(|it| it.0);
        let is_shorter =
            |it: &Finding| it.bucket == finding.bucket && it.n_switches <= finding.n_switches;
        Ok(Some(shorter.filter(is_shorter).unwrap_or(finding)))
    }

    /// The race of an execution, and the steps before its second access.
    fn race_of(
        &mut self,
        execution: &Execution,
        plan: &Plan,
        number: u64,
        seen: &SeenRace,
    ) -> Option<(Finding, usize)> {
        let all = races(&execution.trace, plan, number, &execution.output, self.symbols);
        let step = |it: &Finding| {
            let accesses = it.evidence.as_ref().map_or(&[][..], |it| &it.accesses);
            accesses.last().map_or(0, |it| it.step)
        };
        // The one that was met, or else the nearest.
        let wanted = seen.sides[1].step;
        let nearest = all.into_iter().min_by_key(|it| step(it).abs_diff(wanted))?;
        let n_steps = step(&nearest) as usize;
        Some((nearest, n_steps))
    }

    /// Runs one execution and gives back all of it.
    pub(super) fn run_watched(&mut self, plan: &Plan) -> Result<Execution, TargetError> {
        let block = Block::one(plan.clone(), self.options.exit_is_fine);
        self.session()?.run(&block)?.into_last()
    }
}
