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
//!
//! A campaign that has a time keeps most of it for exploring (`Ledger::has_time_aside`): pairs of places that are met
//! when its share is spent wait, with the executions that showed them, and lose nothing but time.

use std::{
    collections::{BTreeMap, VecDeque},
    time::{Duration, Instant},
};

use raddle_model::{Bucket, Finding, PickerSpec, Plan, Record};
use raddle_trace::{Module, SeenRace, Sighting};

use super::{Ledger, SHARE, numbers::Numbers};
use crate::{
    campaign::source::Done,
    finding::{first_choices, plain_bucket, race, watched},
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
    /// Findings that wait for that.
    waiting: VecDeque<Bucket>,
    /// Pairs of places that were seen, and have no finding yet.
    unmet: Waiting,
    /// Which executions have shown what, since there are such pairs.
    counted: BTreeMap<Bucket, Counted>,
    /// The files whose code raced, as the last execution that was watched has numbered them; `None` if not all that
    /// were have done so alike.
    modules: Option<Vec<Module>>,
    /// Has any of them had to wait?
    pub(super) has_waited: bool,
    /// Pairs that were met, and the time that it took.
    n_met: u32,
    time_met: Duration,
}

/// Executions that have shown a race.
#[derive(Debug, Default)]
struct Counted {
    executions: Numbers,
    /// Those that the tally does not know of yet.
    n_new: u64,
}

/// What is known about a pair of places.
#[derive(Clone, Copy, Debug)]
enum Met {
    /// It belongs to this finding, or to none.
    As(Option<Bucket>),
    /// It waits, by this number.
    Waits(u64),
}

/// A pair of places as it was seen first, without stacks and locks.
#[derive(Debug)]
struct Unmet {
    seen: SeenRace,
    plan: Plan,
    strategy: String,
    position: Option<String>,
    /// The executions that showed it. Invariant: there is one.
    executions: Numbers,
    /// The finding that it would belong to by its lines alone, once that can be said.
    plain: Option<Bucket>,
}

/// Pairs of places in the order in which they were seen, each found by its key at once: a program with many races shows
/// them in every execution.
#[derive(Debug, Default)]
struct Waiting {
    all: BTreeMap<u64, Unmet>,
    /// By key: its number.
    numbers: BTreeMap<u64, u64>,
    n_seen: u64,
}

impl Waiting {
    fn len(&self) -> usize {
        self.all.len()
    }

    fn push(&mut self, unmet: Unmet) {
        self.numbers.insert(unmet.seen.key, self.n_seen);
        self.all.insert(self.n_seen, unmet);
        self.n_seen += 1;
    }

    /// Another execution has shown one of them.
    fn see_again(&mut self, number: u64, execution: u64) {
        if let Some(unmet) = self.all.get_mut(&number) {
            unmet.executions.add(execution);
        }
    }

    fn pop(&mut self) -> Option<Unmet> {
        let (_, first) = self.all.pop_first()?;
        self.numbers.remove(&first.seen.key);
        Some(first)
    }
}

impl KnownRaces {
    /// What is known about the pair of places with a key, if it was seen before.
    fn met(&self, key: u64) -> Option<Met> {
        let waits = || self.unmet.numbers.get(&key).copied().map(Met::Waits);
        self.buckets.get(&key).copied().map(Met::As).or_else(waits)
    }

    /// Counts an execution that showed a race, once.
    fn count(&mut self, bucket: Option<Bucket>, number: u64) {
        if let Some(bucket) = bucket {
            let counted = self.counted.entry(bucket).or_default();
            counted.n_new += u64::from(counted.executions.add(number));
        }
    }
}

impl Ledger<'_> {
    /// Counts the races that executions showed, all before them having been counted.
    pub(super) fn enter_races(&mut self, done: &Done) {
        let races = &done.result.races;
        let mut met: Vec<Option<Met>> = vec![None; races.all.len()];
        for sighting in &races.sightings {
            if done.n_run() <= u64::from(sighting.execution) || self.error.is_some() {
                continue;
            }
            let number = done.range.start + u64::from(sighting.execution);
            let idx = sighting.race as usize;
            let seen = &races.all[idx];
            met[idx] = met[idx].or_else(|| self.races.met(seen.key));
            match met[idx] {
                Some(Met::As(bucket)) => self.races.count(bucket, number),
                Some(Met::Waits(waiting)) => self.races.unmet.see_again(waiting, number),
                None => self.see_race(done, seen, *sighting),
            }
        }
        self.tell_counts();
        self.meet_races();
    }

    /// The finding that a pair of places would belong to, by its lines alone.
    fn plain_bucket(&mut self, seen: &SeenRace) -> Option<Bucket> {
        plain_bucket(seen, self.races.modules.as_deref()?, self.symbols)
    }

    /// The same for one that waits; nothing, if files have other numbers in other executions after all.
    fn plain_bucket_of(&mut self, unmet: &mut Unmet) -> Option<Bucket> {
        unmet.plain = unmet.plain.or_else(|| self.plain_bucket(&unmet.seen));
        unmet.plain.filter(|_| self.races.modules.is_some())
    }

    /// Notes how an execution that was watched has numbered its files.
    fn note_modules(&mut self, modules: &[Module]) {
        let known = &mut self.races.modules;
        let path = |it: &Module| it.path.clone();
        match known {
            None if self.races.n_met == 0 => *known = Some(modules.to_vec()),
            Some(all) if !all.iter().map(path).eq(modules.iter().map(path)) => *known = None,
            _ => {}
        }
    }

    /// Tells the tally what was counted.
    fn tell_counts(&mut self) {
        for (bucket, counted) in &mut self.races.counted {
            let n_new = std::mem::take(&mut counted.n_new);
            if n_new > 0 {
                self.tally.count_more(*bucket, n_new);
            }
        }
    }

    /// A pair of places that was not seen before: its lines have a finding already, or it waits for one.
    fn see_race(&mut self, done: &Done, seen: &SeenRace, sighting: Sighting) {
        let number = done.range.start + u64::from(sighting.execution);
        let plain = self.plain_bucket(seen);
        if let Some(bucket) = plain.filter(|it| self.is_known(*it)) {
            self.races.buckets.insert(seen.key, Some(bucket));
            return self.races.count(Some(bucket), number);
        }
        let plan = done.plan(sighting.execution as usize);
        let strategy = self.options.strategy_of(&plan, number);
        let (position, executions) = (done.label.clone(), Numbers::one(number));
        let seen = seen.clone();
        self.races.unmet.push(Unmet { seen, plan, strategy, position, executions, plain });
    }

    /// There is a new finding: others that wait belong to it, too.
    fn settle_others(&mut self, bucket: Bucket) {
        let mut waiting = std::mem::take(&mut self.races.unmet);
        while let Some(mut unmet) = waiting.pop() {
            match self.plain_bucket_of(&mut unmet) == Some(bucket) {
                true => self.settle(&unmet, Some(bucket)),
                false => self.races.unmet.push(unmet),
            }
        }
    }

    /// Makes findings of the pairs of places that have none, as far as there is time for it.
    pub(super) fn meet_races(&mut self) {
        while self.error.is_none() && !self.is_stopped() && self.has_time_aside() {
            let Some(unmet) = self.races.unmet.pop() else { break };
            self.meet_race(unmet);
        }
        self.races.has_waited |= self.races.unmet.len() > 0;
        if self.races.unmet.len() == 0 {
            self.races.counted.clear();
        }
    }

    /// The campaign is over: findings for those that still have none, while there is time at all.
    pub(super) fn meet_last_races(&mut self) {
        while self.error.is_none() && !self.until().is_over() && !self.is_stopped() {
            let Some(unmet) = self.races.unmet.pop() else { break };
            self.meet_race(unmet);
        }
        self.tally.outcome.figures.n_unmet_races = self.races.unmet.len() as u64;
    }

    /// The time that is kept for races which have no finding yet.
    pub(super) fn reserve(&self) -> Duration {
        let KnownRaces { unmet, n_met, time_met, .. } = &self.races;
        let n_unmet = u32::try_from(unmet.len()).unwrap_or(u32::MAX);
        let each = time_met.checked_div(*n_met).unwrap_or_default();
        let most = self.options.time.unwrap_or_default() / SHARE;
        each.saturating_mul(n_unmet).min(most.saturating_sub(self.tally.aside()))
    }

    /// Looks into races that wait, as far as the executions so far allow.
    pub(super) fn look_into_races(&mut self) {
        while self.error.is_none() && !self.is_stopped() && self.may_look_into_race() {
            if !self.has_time_aside() {
                return;
            }
            let Some(bucket) = self.races.waiting.pop_front() else { return };
            self.races.n_looked_into += 1;
            self.look_into_bucket(bucket, true);
        }
    }

    /// May one more race be looked into?
    fn may_look_into_race(&self) -> bool {
        self.races.n_looked_into < AT_ONCE + self.tally.outcome.figures.executions / PER_RACE
    }

    /// A race was found: it waits for its turn.
    pub(super) fn race_waits(&mut self, bucket: Bucket) {
        self.races.waiting.push_back(bucket);
    }

    /// The campaign is over: those that still wait are run again once, and no more.
    pub(super) fn confirm_races(&mut self) {
        while let Some(bucket) = self.races.waiting.pop_front() {
            self.look_into_bucket(bucket, false);
        }
    }

    /// A pair of places that was not met before: it is a new finding perhaps.
    fn meet_race(&mut self, mut unmet: Unmet) {
        let plain = self.plain_bucket_of(&mut unmet);
        if let Some(bucket) = plain.filter(|it| self.is_known(*it)) {
            return self.settle(&unmet, Some(bucket));
        }
        let since = Instant::now();
        let is_enough = self.races.buckets.len() >= RACES_MAX;
        let finding = match (!is_enough).then(|| self.witness(&unmet)) {
            Some(Ok(finding)) => finding,
            Some(Err(error)) => {
                if !matches!(error, TargetError::Stopped) {
                    self.fail(error);
                }
                None
            }
            None => None,
        };
        let took = since.elapsed();
        self.tally.leave_out(took);
        self.races.n_met += 1;
        self.races.time_met += took;
        let bucket = finding.as_ref().map(|it| it.bucket);
        if let Some(finding) = finding
            && !self.is_known(finding.bucket)
        {
            // It is counted with the others of its execution.
            self.add_finding(finding, 0);
        }
        self.settle(&unmet, bucket);
        if let Some(bucket) = bucket {
            self.settle_others(bucket);
        }
    }

    /// It is known what a pair of places belongs to.
    fn settle(&mut self, unmet: &Unmet, bucket: Option<Bucket>) {
        self.races.buckets.insert(unmet.seen.key, bucket);
        let Some(bucket) = bucket else { return };
        let counted = self.races.counted.entry(bucket).or_default();
        counted.n_new += counted.executions.add_all(&unmet.executions);
        self.tell_counts();
    }

    fn witness(&mut self, unmet: &Unmet) -> Result<Option<Finding>, TargetError> {
        let number = unmet.executions.first().expect("bug: an execution has shown it");
        let found = self.witness_of(&unmet.plan, number, &unmet.seen)?;
        let (strategy, position) = (unmet.strategy.clone(), unmet.position.clone());
        Ok(found.map(|it| Finding { strategy, position, ..it }))
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
        self.note_modules(&first.trace.modules);
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
        let Execution { trace, output } = execution;
        // The one that was met, or else the nearest.
        let wanted = seen.sides[1].step;
        let mut all: Vec<&SeenRace> = watched(trace, plan).collect();
        all.sort_by_key(|it| it.sides[1].step.abs_diff(wanted));
        all.into_iter().find_map(|it| {
            let found = race(trace, it, plan, number, output, self.symbols)?;
            Some((found, it.sides[1].step as usize))
        })
    }

    /// Runs one execution and gives back all of it.
    pub(super) fn run_watched(&mut self, plan: &Plan) -> Result<Execution, TargetError> {
        let block = Block::one(plan.clone(), self.options.exit_is_fine);
        self.session()?.run(&block)?.into_last()
    }
}
