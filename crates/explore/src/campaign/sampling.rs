//! Executions that are drawn at random, each with a seed of its own.

use std::{collections::BTreeMap, ops::Range};

use raddle_analysis::{Suggested, hypotheses, reads_from};
use raddle_model::{Around, PickerSpec, Plan, Profile, Record, Smax};
use raddle_plan::{
    Fuzzer, Learning, News, Observation, Portfolio, Seeds, Sharing, epoch, is_looked_at, is_probe,
    picker, round,
};
use raddle_trace::Entry;

use super::{
    Options, Outcome,
    crew::Job,
    ledger::is_late,
    pace::Pace,
    queue::Queue,
    source::{Done, Source},
};
use crate::target::{Block, TargetError};

/// Results that may wait for an earlier one (that hangs, say) before the others have to wait too.
const READY_MAX: usize = 256;

/// Hands out ranges of numbers; seed and picker of an execution follow from its number.
pub(super) struct Sampling<'a> {
    options: &'a Options,
    planning: Planning,
    sharing: Sharing,
    learning: Learning,
    /// What is known about threads, and since which execution.
    profile: (u64, Profile),
    queue: Queue,
    pace: Pace,
    /// Results that wait for earlier ones, by their first execution.
    ready: BTreeMap<u64, Done>,
    /// What there is where the user wants to look.
    around: Around,
}

/// Who says what an execution does.
pub(super) enum Planning {
    One(Seeds),
    Several(Box<Portfolio>),
    Fuzzed(Box<Fuzzer>),
}

impl Planning {
    fn block(&mut self, first: u64, count: u32) -> Vec<Entry> {
        match self {
            Planning::One(seeds) => seeds.block(first, count),
            Planning::Several(portfolio) => portfolio.block(first, count),
            Planning::Fuzzed(fuzzer) => fuzzer.block(first, count),
        }
    }

    /// The script that the pickers of the round follow, if they follow one.
    fn script(&self) -> Vec<u32> {
        match self {
            Planning::Fuzzed(fuzzer) => fuzzer.script(),
            Planning::Several(portfolio) => portfolio.script(),
            Planning::One(_) => Vec::new(),
        }
    }
}

impl Sampling<'_> {
    pub(super) fn new(options: &Options, planning: Planning) -> Sampling<'_> {
        Sampling {
            options,
            planning,
            sharing: Sharing::knowing(&options.exposed),
            learning: Learning::new(),
            profile: (0, Profile::EMPTY),
            queue: Queue::new(options.executions),
            pace: Pace::new(),
            ready: BTreeMap::new(),
            around: Around::default(),
        }
    }

    fn job(&mut self, range: Range<u64>) -> Job {
        let entries = self.planning.block(range.start, (range.end - range.start) as u32);
        let picker = picker(&entries[0]);
        let script = self.planning.script();
        let is_scripted = |it: &Entry| raddle_plan::picker(it).has_table();
        let plan = Plan {
            prefix: if entries.iter().any(is_scripted) { script } else { Vec::new() },
            picker,
            seed: entries[0].seed,
            conditions: self.options.conditions,
            shared: self.sharing.known(range.start),
            profile: self.profile(range.start, picker),
            orders: self.options.orders.clone(),
            record: Record {
                options: is_probe(range.start),
                stacks: false,
                lone: false,
                races: self.options.detect.races,
                watch: None,
            },
        };
        let exit_is_fine = self.options.exit_is_fine;
        Job::block(range, Block { plan, entries, exit_is_fine, common: 0 })
    }

    /// What is known about threads: the same for a whole epoch.
    fn profile(&mut self, execution: u64, picker: PickerSpec) -> Profile {
        let since = epoch(execution).start;
        if self.profile.0 != since {
            let profile = match picker {
                PickerSpec::Stride(Smax::Measured { .. }) => self.learning.measured(execution),
                _ => self.learning.profile(execution),
            };
            self.profile = (since, profile);
        }
        self.profile.1.clone()
    }

    /// Is an execution's trace looked at? Then it is a block of its own, for of others only the last trace comes back.
    fn is_looked_at(&self, execution: u64) -> bool {
        !matches!(self.planning, Planning::One(_)) && is_looked_at(execution)
    }

    /// Learns from executions, if they are wanted.
    fn learn(&mut self, done: Done) -> Option<Done> {
        if !self.queue.wants(done.range.start) {
            return None;
        }
        self.sharing.learn(done.range.start, &done.result.shared_found);
        self.queue.set_done(done.range.end);
        Some(done)
    }
}

impl Source for Sampling<'_> {
    /// Nothing new while too many results wait: an early execution hangs, and traces are large.
    fn next(&mut self) -> Option<Job> {
        let is_alone = self.options.verbose || self.is_looked_at(self.queue.next_new());
        let n_max = if is_alone { 1 } else { self.pace.n_block() };
        let n_workers = self.options.jobs.max(1) as u64;
        let is_full = READY_MAX <= self.ready.len();
        let range = match self.queue.take_rest(n_max) {
            None if !is_full => self.queue.take_new(n_max, n_workers),
            rest => rest,
        };
        Some(self.job(range?))
    }

    fn take_in(&mut self, mut done: Done) -> Result<(), TargetError> {
        let n_run = done.n_run();
        let rest = done.range.start + n_run..done.range.end;
        if !rest.is_empty() {
            self.queue.give_back(rest);
        }
        self.pace.measure(n_run, done.elapsed);
        done.range.end = done.range.start + n_run;
        if let Some(last) = done.result.last.as_ref().filter(|_| is_probe(done.range.start)) {
            let near = &done.near.sites;
            let observation = Observation::of(&last.trace).near(&last.trace, near);
            self.learning.learn(done.range.start, observation);
            self.around.sites = self.around.sites.max(near.len() as u64);
            self.around.distance = self.around.distance.max(done.near.distance);
        }
        if is_looked_at(done.range.start)
            && let Some(last) = &done.result.last
        {
            match &mut self.planning {
                Planning::One(_) => {}
                Planning::Several(portfolio) => {
                    let Suggested { near, others } = hypotheses(&last.trace, &done.near.sites);
                    portfolio.take_in(done.range.start, near, others);
                    if portfolio.fuzzes() {
                        portfolio.take_in_pairs(done.range.start, reads_from(&last.trace));
                    }
                }
                Planning::Fuzzed(fuzzer) => {
                    fuzzer.take_in(done.range.start, reads_from(&last.trace));
                }
            }
        }
        // Whether a failure is one that nobody wants to hear of is known when it is entered; or one that ends nothing.
        // So may the baseline's, and one that was found before.
        let is_baseline = done.range.end == 1 && !self.options.until_first;
        let is_last = !self.options.keep_going
            && self.options.suppressions.rules.is_empty()
            && !is_late(&done.result)
            && !is_baseline
            && !done.is_met;
        if done.bucket.is_some() && is_last {
            self.queue.stop_after(done.range.end - 1);
        }
        self.ready.insert(done.range.start, done.slim());
        Ok(())
    }

    fn next_done(&mut self) -> Option<Done> {
        let done = self.ready.remove(&self.queue.n_done())?;
        self.learn(done)
    }

    fn hear(&mut self, first: u64, news: &[News]) {
        for (execution, news) in (first..).zip(news) {
            match &mut self.planning {
                Planning::One(_) => {}
                Planning::Several(portfolio) => portfolio.learn(execution, news),
                Planning::Fuzzed(fuzzer) => fuzzer.learn(execution, news),
            }
        }
    }

    fn leftover(&mut self) -> Option<Done> {
        loop {
            let (_, done) = self.ready.pop_first()?;
            if let Some(done) = self.learn(done) {
                return Some(done);
            }
        }
    }

    fn stop_after(&mut self, execution: u64) {
        self.queue.stop_after(execution);
    }

    /// How a round is cut into blocks is up to the clock: all of it counts, or nothing.
    fn stop_after_round(&mut self, execution: u64) {
        self.queue.stop_after(round(execution).end - 1);
    }

    fn is_finished(&self) -> bool {
        self.queue.is_finished()
    }

    fn describe(&self, outcome: &mut Outcome) {
        outcome.exposed = self.sharing.all();
        if let Planning::Several(portfolio) = &self.planning {
            outcome.figures.hypotheses = portfolio.tried();
        }
        outcome.figures.around = (!self.options.focus.is_empty()).then(|| {
            let (known, tried) = match &self.planning {
                Planning::Several(portfolio) => portfolio.near(),
                Planning::One(_) | Planning::Fuzzed(_) => (0, 0),
            };
            Around { known, tried, ..self.around }
        });
    }
}
