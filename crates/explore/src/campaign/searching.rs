//! Executions that a systematic search asks for, each with a prefix of its own.
//!
//! First some random executions find out what the program shares ([`Learning`]), then the search begins.
//! What it hands out, and in which order results count, is the search's own business
//! ([`raddle_plan::search`]), and does not depend on the number of workers. When an execution that counts
//! finds something to be shared that was not known, scheduling points have moved: the search begins again,
//! and what was still running for the old one never happened.

use std::{
    borrow::Cow,
    collections::{BTreeMap, VecDeque},
    ops::Range,
    sync::{Arc, atomic::Ordering::Relaxed},
    time::Duration,
};

use raddle_model::{Conditions, End, PickerSpec, Plan, Points, Profile, Record, Timeouts};
use raddle_plan::{
    entry, round,
    search::{HapSets, Run, RunError, RunReader, Search, Start, Task},
};
use raddle_trace::Briefs;

use super::{
    Account, CoveredOrders, Options, Outcome, SearchOptions, Searched,
    batch::Batch,
    crew::{Job, What},
    journal::{self, Counted, Journal, Saved, Standing},
    learning::Learning,
    pace::Pace,
    source::{Done, Source},
    thinking::{Thinking, Wanted, unless_over},
};
use crate::target::{Block, PrefixBatch, TargetError};

/// Tasks asked for at a time, at least: who comes next shows where executions have much in common.
const TASKS_MIN: usize = 4;
/// Tasks that a worker is given at once, at most.
const TASKS_MAX: usize = 64;

/// Hands out what a search wants.
pub(super) struct Searching<'a> {
    options: &'a Options,
    how: &'a SearchOptions,
    journal: Option<&'a mut dyn Journal>,
    /// While what is shared is found out.
    learning: Option<Learning>,
    search: Thinking<'a>,
    wanted_until: Wanted<'a>,
    standing: Standing,
    /// Tasks that the search has handed out and we have not.
    tasks: VecDeque<Task>,
    /// Jobs under way, by the number of their first task.
    out: BTreeMap<u64, Out>,
    next_job: u64,
    /// How many tasks are handed out at once.
    pace: Pace,
    /// Results that do not count yet, by the number of their task.
    waiting: BTreeMap<u64, Came>,
    reader: RunReader,
    /// Of results that have been entered.
    rooms: Vec<Briefs>,
    /// Executions from here on are not wanted.
    wanted: u64,
    /// The search has begun again, and the journal does not know it yet.
    has_begun_again: bool,
    /// What the journal knows of what the campaign has come to.
    account: Account,
}

/// A job under way.
struct Out {
    /// The search that wanted it: how often it had begun again.
    n_restarts: u32,
    tasks: Vec<Task>,
}

/// The result of a task.
enum Came {
    Full(Box<Done>),
    Brief { batch: Arc<Batch>, idx: usize },
}

impl<'a> Searching<'a> {
    /// A search from its beginning, or from where it was saved.
    pub(super) fn new(
        options: &'a Options,
        how: &'a SearchOptions,
        journal: Option<&'a mut dyn Journal>,
        wanted_until: Wanted<'a>,
    ) -> Result<Searching<'a>, TargetError> {
        let mut source = Searching {
            options,
            how,
            journal,
            learning: Some(Learning::new(options, how.n_learning)),
            search: Thinking::new(start(options, how, how.covered.clone()), wanted_until),
            wanted_until,
            standing: Standing::default(),
            tasks: VecDeque::new(),
            out: BTreeMap::new(),
            next_job: 0,
            pace: Pace::new(),
            waiting: BTreeMap::new(),
            reader: RunReader::default(),
            rooms: Vec::new(),
            wanted: options.executions.unwrap_or(u64::MAX),
            has_begun_again: false,
            account: Account::default(),
        };
        if let Some(saved) = how.saved.as_ref().filter(|it| it.has_begun()) {
            source.go_on(saved.clone())?;
        }
        if let Some(learning) = source.learning.take_if(|_| how.n_learning == 0) {
            source.begin(&learning);
        }
        Ok(source)
    }

    /// Goes on with a saved search. The budget is what may be added to it.
    fn go_on(&mut self, mut saved: Saved) -> Result<(), TargetError> {
        let (spec, wanted) = (self.how.spec.clone(), self.wanted_until);
        let read = move || (journal::resume(&spec, &mut saved), saved);
        let Some((resumed, saved)) = unless_over(|| wanted.is_over(), read) else {
            if wanted.stop.load(Relaxed) {
                return Err(TargetError::Stopped);
            }
            return Err(TargetError::Unusable(
                "time ran out before the search was read back; raise --time".to_owned(),
            ));
        };
        let resumed = resumed.map_err(|error| TargetError::Unusable(error.to_string()))?;
        self.learning = None;
        self.search = Thinking::new(resumed.search, self.wanted_until);
        self.tasks = resumed.tasks.into();
        self.standing = saved.standing;
        self.wanted = self.wanted.saturating_add(self.standing.n_executions);
        let found = saved.counted.iter().flat_map(|it| it.shared_found.iter().copied());
        if self.add_shared(&found.collect::<Vec<u64>>()) {
            self.begin_again();
        }
        // First what it has come to: from then on this is the search that the next one goes on with.
        if let Some(journal) = &mut self.journal {
            journal.account(&saved.earlier.account);
        }
        self.stand();
        Ok(())
    }

    /// Learning is over: the search begins.
    fn begin(&mut self, learning: &Learning) {
        self.standing.shared = learning.shared();
        self.standing.effort.n_learning = self.standing.n_executions;
        self.stand();
    }

    /// The search begins again, with more known to be shared.
    fn begin_again(&mut self) {
        self.standing.effort.n_restarts += 1;
        self.standing.effort.n_abandoned += self.search.progress().n_executions;
        let covered = self.covered().cloned().unwrap_or_default();
        self.search = Thinking::new(start(self.options, self.how, covered), self.wanted_until);
        self.tasks.clear();
        self.waiting.clear();
        self.has_begun_again = true;
    }

    /// Adds names that were found to be shared; `false` if all were known.
    fn add_shared(&mut self, found: &[u64]) -> bool {
        let shared = &mut self.standing.shared;
        let n_known = shared.len();
        shared.extend(found);
        shared.sort_unstable();
        shared.dedup();
        n_known < shared.len()
    }

    fn next_learning(&mut self) -> Option<Job> {
        let (number, entry, shared) = self.learning.as_mut()?.next()?;
        let plan = self.plan(Vec::new(), raddle_plan::picker(&entry), shared);
        let plan = Plan { seed: entry.seed, ..plan };
        let exit_is_fine = self.options.exit_is_fine;
        let block = Block { plan, entries: vec![entry], exit_is_fine, common: 0 };
        Some(Job::block(number..number + 1, block))
    }

    fn next_tasks(&mut self) -> Option<Job> {
        if self.wanted <= self.standing.n_executions {
            return None;
        }
        let n_jobs = self.options.jobs.max(1);
        // What the search has thought of last is deepest, and counts first.
        let n_wanted = (self.pace.n_block() as usize).min(TASKS_MAX) * n_jobs;
        for task in self.search.next(n_wanted.max(TASKS_MIN)).into_iter().rev() {
            self.tasks.push_front(task);
        }
        let left = self.wanted - self.standing.n_executions;
        let n_tasks = self.tasks.len().div_ceil(n_jobs).min(self.pace.n_block() as usize);
        let n_tasks = left.min(n_tasks as u64) as usize;
        let is_brief = !self.options.verbose && self.covered().is_none();
        let n_tasks = if is_brief { n_tasks.min(TASKS_MAX) } else { n_tasks.min(1) };
        if n_tasks == 0 {
            return None;
        }
        let each = self.each(n_tasks);
        let tasks: Vec<Task> = self.tasks.drain(..n_tasks).collect();
        let first = self.next_job;
        self.next_job += n_tasks as u64;
        self.out.insert(first, Out { n_restarts: self.standing.effort.n_restarts, tasks });
        let range = first..self.next_job;
        Some(match is_brief {
            true => {
                let room = self.rooms.pop().unwrap_or_default();
                Job { range, what: What::PrefixBatch(Box::new(each), room) }
            }
            false => Job::block(range, each.alone(0)),
        })
    }

    /// The first tasks, as they are run.
    fn each(&self, n_tasks: usize) -> PrefixBatch {
        let others = self.out.values().flat_map(|it| &it.tasks).chain(self.tasks.iter().skip(1));
        // Those that are run at once are too short for copies of them to be of use.
        let first = &self.tasks[0];
        let told = self.search.get().and_then(|it| it.common(first.number));
        let common = told.unwrap_or_else(|| common(&first.prefix, others.map(|it| &it.prefix[..])));
        let plan = self.plan(Vec::new(), PickerSpec::Nonpreemptive, self.standing.shared.clone());
        let (entries, exit_is_fine) = (Vec::new(), self.options.exit_is_fine);
        let seed = plan.seed;
        let mut each = PrefixBatch::new(Block { plan, entries, exit_is_fine, common });
        for task in self.tasks.iter().take(n_tasks) {
            each.push(&task.prefix, entry(task.tail, seed));
        }
        each
    }

    fn plan(&self, prefix: Vec<u32>, picker: PickerSpec, shared: Vec<u64>) -> Plan {
        let conditions = self.options.conditions;
        Plan {
            prefix,
            picker,
            seed: 0,
            conditions: Conditions { timeouts: conditions.timeouts.for_search(), ..conditions },
            shared,
            profile: Profile::default(),
            orders: self.options.orders.clone(),
            record: Record { options: true, races: self.options.detect.races, ..Record::NONE },
        }
    }

    /// Lets the search learn from the task that counts next, if its execution has come back.
    fn learn(&mut self) -> Option<Done> {
        let search = self.search.get().filter(|_| self.standing.n_executions < self.wanted)?;
        let number = search.turn()?;
        let label = search.label(number);
        let came = self.waiting.remove(&number)?;
        let execution = self.standing.n_executions;
        let (mut done, full);
        let run = match came {
            Came::Full(came) => {
                self.note_places(&came);
                done = *came;
                full = done.run.take().and_then(Result::ok);
                full.as_ref()
            }
            Came::Brief { batch, idx } => {
                done = batch.done(idx, execution);
                let run = self.reader.read(&batch.briefs.get(idx));
                self.rooms.extend(Arc::into_inner(batch).map(|it| it.briefs));
                Some(run)
            }
        };
        // Too long: nothing is known of the ways beside it, as if it had gone elsewhere.
        let counted = self.search.learn(number, run.unwrap_or(&Run::default()));
        let Some(counted) = counted else {
            // Whoever left the search still wants to hear of failures.
            self.waiting.insert(number, Came::Full(Box::new(done)));
            return None;
        };
        let judged = self.search.get().map(Search::judged).unwrap_or_default();
        done.judged = judged.iter().map(|it| it.map(|it| it as usize)).collect();
        self.standing.n_executions += 1;
        self.standing.effort.n_too_long += u64::from(run.is_none());
        run.inspect(|it| self.standing.uses.look(it));
        assert!(counted == [number], "bug: a search does not keep to its turns");
        if let Some(journal) = &mut self.journal {
            journal.add(&Counted {
                prefix: done.planned.prefix().into(),
                run: run.map(Cow::Borrowed),
                shared_found: done.result.shared_found[..].into(),
            });
        }
        done.label = label;
        done.range = execution..execution + 1;
        // Where every step is a scheduling point, none moves.
        if self.add_shared(&done.result.shared_found)
            && self.options.conditions.points != Points::All
        {
            self.begin_again();
        }
        // What is told in brief has none, and what is depends on how long executions take.
        if done.bucket.is_none() && !self.options.verbose {
            done.result.last = done.result.last.take_if(|it| it.trace.end == Some(End::Bug));
        }
        Some(done.slim())
    }

    /// The number of a task under way, by its place among all; `None` if it was wanted before the search began
    /// again.
    fn task(&self, place: u64) -> Result<Option<u64>, TargetError> {
        let (first, out) = self.out.range(..=place).next_back().ok_or_else(unasked)?;
        let task = out.tasks.get((place - first) as usize).ok_or_else(unasked)?;
        Ok((out.n_restarts == self.standing.effort.n_restarts).then_some(task.number))
    }

    /// Notes where the statements of an execution are, if anybody will want to know.
    fn note_places(&mut self, done: &Done) {
        let (Some(Ok(run)), Some(last)) = (&done.run, &done.result.last) else { return };
        if self.covered().is_none() {
            return;
        }
        for (name, site) in run.sites.iter().zip(&last.trace.sites) {
            let module = site.module.and_then(|it| last.trace.modules.get(it as usize));
            if let (Some(module), false) = (module, self.standing.places.contains_key(name)) {
                self.standing.places.insert(*name, (module.path.clone(), site.offset));
            }
        }
    }

    /// Which orders of two statements were covered, if that guides the search.
    fn covered(&self) -> Option<&HapSets> {
        self.search.get()?.covered()
    }

    /// All executions that count have been entered: they are written down.
    fn write_down(&mut self) {
        if let Some(journal) = &mut self.journal {
            journal.flush();
        }
    }

    /// Writes down where the search stands, everything that counts having been entered.
    fn stand(&mut self) {
        if let (Some(journal), Some(search)) = (&mut self.journal, self.search.get()) {
            self.standing.search = search.save();
            journal.stand(&self.standing);
            self.standing.search = Box::default();
            self.has_begun_again = false;
        }
    }
}

fn unasked() -> TargetError {
    TargetError::Bug("a result that was not requested".to_owned())
}

/// How many choices of a prefix others begin with. Nobody else: at least those that this one leads to will.
fn common<'a>(prefix: &[u32], others: impl Iterator<Item = &'a [u32]>) -> u32 {
    let same = |other: &[u32]| prefix.iter().zip(other).take_while(|(a, b)| a == b).count();
    let all_but_last = prefix.len().saturating_sub(1);
    others.map(same).max().filter(|it| *it > 0).unwrap_or(all_but_last).min(all_but_last) as u32
}

/// The search, at its beginning.
fn start(options: &Options, how: &SearchOptions, covered: HapSets) -> Box<dyn Search + Send> {
    let may_time_out = options.conditions.timeouts != Timeouts::Last || options.conditions.spurious;
    let memory = options.conditions.memory_model;
    let start = Start { may_time_out, memory, exit_is_fine: options.exit_is_fine, covered };
    let mut search = how.spec.start(start);
    search.hear_flows(&how.flows);
    search
}

impl Source for Searching<'_> {
    fn next(&mut self) -> Option<Job> {
        if self.learning.is_some() { self.next_learning() } else { self.next_tasks() }
    }

    fn take_in(&mut self, done: Done) -> Result<(), TargetError> {
        if let Some(learning) = &mut self.learning {
            learning.take_in(done);
            return Ok(());
        }
        match done.run {
            Some(Ok(_) | Err(RunError::TooLong(_))) => {}
            Some(Err(error)) => return Err(TargetError::Unusable(error.to_string())),
            None => return Err(TargetError::Bug("an execution without its choices".to_owned())),
        }
        let number = match self.task(done.range.start) {
            // It was under way when a failure ended the learning before it.
            Err(_) if self.is_finished() => return Ok(()),
            number => number?,
        };
        if let Some(number) = number {
            self.waiting.insert(number, Came::Full(Box::new(done)));
        }
        Ok(())
    }

    fn take_in_briefs(&mut self, first: u64, batch: Batch) -> Result<(), TargetError> {
        let batch = Arc::new(batch);
        for idx in 0..batch.briefs.len() {
            RunReader::check(&batch.briefs.get(idx))
                .map_err(|error| TargetError::Unusable(error.to_string()))?;
            if let Some(number) = self.task(first + idx as u64)? {
                self.waiting.insert(number, Came::Brief { batch: Arc::clone(&batch), idx });
            }
        }
        Ok(())
    }

    fn close(&mut self, first: u64, left: Range<u64>, elapsed: Duration) {
        let Some(out) = self.out.remove(&first) else { return };
        if out.n_restarts != self.standing.effort.n_restarts {
            return;
        }
        self.pace.measure(left.start - first, elapsed);
        if !left.is_empty() {
            self.pace = Pace::new();
        }
        for task in out.tasks.into_iter().skip((left.start - first) as usize).rev() {
            self.tasks.push_front(task);
        }
    }

    fn next_done(&mut self) -> Option<Done> {
        if let Some(learning) = &mut self.learning {
            if let Some(done) = learning.next_done() {
                self.standing.n_executions += 1;
                if let Some(Ok(run)) = &done.run {
                    self.standing.uses.look(run);
                    self.search.teach(run);
                }
                self.note_places(&done);
                return Some(done.slim());
            }
            if learning.is_finished()
                && let Some(learning) = self.learning.take()
            {
                self.begin(&learning);
            }
            return None;
        }
        let is_long = self.journal.as_ref().is_some_and(|it| it.is_long());
        if is_long || self.has_begun_again {
            self.stand();
        }
        let done = self.learn();
        if done.is_none() {
            self.write_down();
        }
        done
    }

    /// A failure is one, whenever it would have counted. The rest is made again when the search goes on.
    fn leftover(&mut self) -> Option<Done> {
        self.write_down();
        if self.how.is_in_turn {
            return None;
        }
        while let Some((_, came)) = self.waiting.pop_first() {
            let Came::Full(mut done) = came else { continue };
            if done.bucket.is_some() && self.standing.n_executions < self.wanted {
                let number = self.standing.n_executions;
                done.range = number..number + 1;
                return Some(done.slim());
            }
        }
        None
    }

    /// A journal hears at once what is new, and how often it was met when it hears of something else.
    fn account(&mut self, outcome: &Outcome, is_last: bool) {
        if is_last && self.account == Account::of(outcome)
            || !is_last && self.account.is_about(outcome)
        {
            return;
        }
        self.account = Account::of(outcome);
        if let Some(journal) = &mut self.journal {
            journal.account(&self.account);
        }
    }

    fn baseline(&self) -> Option<Plan> {
        Some(self.plan(Vec::new(), PickerSpec::Nonpreemptive, self.standing.shared.clone()))
    }

    fn stop_after(&mut self, execution: u64) {
        self.wanted = self.wanted.min(execution + 1);
        if let Some(learning) = &mut self.learning {
            learning.stop_after(execution);
        }
    }

    fn stop_after_round(&mut self, execution: u64) {
        let last = match &self.learning {
            Some(_) => round(execution).end - 1,
            None => execution,
        };
        self.stop_after(last);
    }

    fn is_finished(&self) -> bool {
        let is_searched = self.learning.is_none() && self.search.is_finished();
        is_searched || self.wanted <= self.standing.n_executions
    }

    fn describe(&self, outcome: &mut Outcome) {
        let standing = &self.standing;
        outcome.exposed.clone_from(&standing.shared);
        outcome.search = Some(Searched {
            strategy: self.how.name.clone(),
            progress: self.search.progress(),
            drawings: self.search.get().map(|it| it.drawings().to_vec()).unwrap_or_default(),
            effort: standing.effort,
            n_shared: standing.shared.len() as u64,
            is_learning: self.learning.is_some(),
            uses: standing.uses.clone(),
            covered: self
                .covered()
                .map(|sets| CoveredOrders { sets: sets.clone(), places: standing.places.clone() }),
        });
    }
}
