//! Total replay (seed paper 3): one execution for each situation that its reads can be in, and no more.
//!
//! The first execution is the one without preemption. From each, the reads that decide something are known
//! (`decide`), and what else they could have read ([`raddle_total::DefineSets`]). Each of these that would make
//! a situation that no execution had is a *guideline*: the read is to read that value, after what its thread has read
//! before. A schedule for it is looked for in all that threads are known to do (`model`): it is exact, or there is none
//! (*infeasible*, for now). Where there are too many states, one is woven ([`raddle_total::weave`]) out of what the
//! threads did in that execution, up to the read. From there on threads go on by themselves, without preemption. If an
//! execution does not do what a woven schedule says (threads went other ways), the next best is tried, three in all, and
//! then the picker that keeps the constraints inside the execution (`constrain`); what never comes is *unlucky*, and
//! another guideline for the same situation is tried, from another execution. When no guideline is left, the model says
//! which situations threads can come to all the same, what calls can be told that they were not (a try for a lock, a
//! wait with a time limit), where nobody could go on, and then whether manners of two threads that were seen in
//! different executions and would be in a race can come together (Algorithm 12, `combine`): if nothing comes of it, there is
//! nothing left. ThreadSet that an exit cut off go on in another execution (`rest`). What is left out all the same is said
//! (`unreached`).
//!
//! Bound: none in general, for a loop may have as many different iterations as it likes; else an execution for each
//! value that a thread can read after what it has read before. What it misses stands
//! in `decide`. Executions are made one after the other, for each may spare others; `-j` changes nothing.
//!
//! Departures: situations are told apart by values, not by lines (F3.5). Guidelines change one read of an
//! execution at a time, so what they have in common is a prefix, and starts from a checkpoint.

mod causes;
mod combine;
mod constrain;
mod decide;
mod draw;
mod figures;
mod guideline;
mod judge;
mod meetings;
mod model;
mod past;
mod planned;
mod published;
mod reached;
mod relevant;
mod replays;
mod rest;
mod roots;
mod sharing;
mod std_locks;
mod unreached;
mod witness;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use raddle_model::{Drawing, End, OpResult, PickerSpec, Scope, SearchProgress, flows::Flows, mix};
use raddle_total::{
    Checker, Constraint, DefineSets, History, Locks, MannerUse, MustOrder, first_value, manners,
};
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};

use self::{
    causes::{Ways, causes, has_gone},
    combine::Apart,
    decide::{Decisions, Situation, decide, name},
    figures::Figures,
    model::Model,
    past::{Instance, Past},
    planned::Planned,
    replays::Replays,
    rest::Rest,
    sharing::Sharing,
};
use super::{Run, Search, SpecError, Step, Task};

pub use self::draw::DrawnStep;
pub(crate) use self::published::Published;
pub use self::published::Thesis;
pub use self::witness::{LocksetRace, lockset_races};

/// Guidelines that wait at once.
const QUEUE_MAX: usize = 1_000;
/// Schedules that are tried for one guideline.
const TRIES: usize = 3;
/// Reads that a guideline keeps as they were, in each of the two threads: the last ones.
const KEPT_MAX: usize = 32;
/// Defines of one thread and variable that are tried for a read.
const DEFINES_MAX: usize = 16;
/// How often an execution is made again, to see whether it comes out the same.
const REPEATS: u32 = 2;
/// Steps of executions that are kept, if nobody says something else: with all that is known of them, about a gigabyte.
const STEPS_MAX: usize = 2_000_000;

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Total {
    flows: Flows,
    /// Not handed out yet.
    queue: VecDeque<Guide>,
    /// Handed out, by number.
    out: BTreeMap<u64, Guide>,
    /// Came back before their turn.
    results: BTreeMap<u64, Run>,
    next_number: u64,
    next_count: u64,
    has_begun: bool,
    /// Situations that executions had.
    seen: BTreeSet<u64>,
    /// Situations that executions are to have.
    planned: BTreeMap<u64, Planned>,
    /// Reads that executions made, each with all that led to it.
    had: BTreeSet<u64>,
    /// By define: the value that it wrote, if that does not depend on the schedule.
    values: BTreeMap<u64, u64>,
    sharing: Sharing,
    checker: Checker,
    /// Races that an execution has shown, and those for which one was made to.
    shown: BTreeSet<LocksetRace>,
    tried: BTreeSet<LocksetRace>,
    pasts: Vec<Option<Kept>>,
    n_steps_kept: usize,
    /// When so many are, it ends.
    steps_max: Option<usize>,
    n_combinations: usize,
    /// Combinations for which executions are made.
    apart: Vec<Apart>,
    model: Model,
    figures: Figures,
    replays: Replays,
    /// Calls whose outcome in other schedules is not foreseen.
    unforeseen: BTreeSet<&'static str>,
    /// A read that matters and can read something else was of an object that held two values at once.
    has_mixed: bool,
    /// A thread was the last one where it need not have been.
    has_last: bool,
    /// Several waits ran out of time at once: in other schedules others may.
    has_ties: bool,
    /// ThreadSet were alive when a program exited.
    is_cut_off: bool,
    /// ThreadSet that went on before an exit, where they had been left before.
    rests: BTreeSet<Rest>,
    /// What has counted, for whoever restores it.
    counted: Vec<Run>,
}

/// An execution to come.
#[derive(Clone, Debug, Default)]
struct Guide {
    attempt: Attempt,
    /// What it is to show.
    aim: Option<Aim>,
    /// Others for the same.
    others: Vec<Attempt>,
    /// Situations that nobody had when it was planned.
    keys: Vec<u64>,
    /// It only shows a race that is known.
    is_witness: bool,
    /// It only shows whether the program does the same again: so many more may follow.
    n_repeats: Option<u32>,
    /// A guideline for which no schedule was made yet: the execution that it is from, and what is to be read.
    from: Option<(usize, Constraint)>,
}

/// How an execution is led.
#[derive(Clone, Debug)]
struct Attempt {
    prefix: Vec<u32>,
    picker: PickerSpec,
    /// What threads are expected to do.
    ways: Ways,
    /// Choices that it has in common with an execution that others are to be like, too.
    common: Option<u32>,
}

impl Default for Attempt {
    fn default() -> Attempt {
        Attempt::woven(Vec::new())
    }
}

impl Attempt {
    /// By a schedule, as far as that goes.
    fn woven(prefix: Vec<u32>) -> Attempt {
        Attempt { prefix, picker: PickerSpec::Nonpreemptive, ways: Ways::new(), common: None }
    }
}

#[derive(Clone, Copy, Debug)]
struct Aim {
    read: Instance,
    define: Option<Instance>,
    /// The define with what flows into it, if that may come otherwise.
    name: Option<u64>,
}

/// What is kept of an execution, for combinations.
#[derive(Debug)]
struct Kept {
    past: Past,
    /// Reads that decide something, and what they read.
    reads: Vec<Constraint>,
    /// By thread and manner: its last step.
    ends: BTreeMap<(u32, u64), u32>,
    /// By step: what flows into it, as a hash.
    inputs: Vec<u64>,
    /// By read that decides something: its situations, its own value left out.
    situations: Vec<(u32, Vec<Situation>)>,
}

#[derive(Serialize, Deserialize)]
struct Saved {
    flows: Flows,
    #[serde(default)]
    may_time_out: bool,
    counted: Vec<Run>,
}

impl Total {
    /// Ends when so many steps of executions are kept, or a number that is fit for most machines. `may_time_out`: may
    /// waits end by themselves although others can go on?
    pub(crate) fn new(steps_max: Option<usize>, may_time_out: bool) -> Total {
        Total { steps_max, model: Model::new(may_time_out), ..Total::default() }
    }

    /// Goes on where it was saved.
    pub(crate) fn restore(saved: &RawValue, steps_max: Option<usize>) -> Result<Total, SpecError> {
        let saved: Saved = serde_json::from_str(saved.get())?;
        let mut total = Total { flows: saved.flows, ..Total::new(steps_max, saved.may_time_out) };
        for run in saved.counted {
            let Some(task) = total.next(1).pop() else { break };
            total.learn(task.number, &run);
        }
        Ok(total)
    }

    /// Is there no room for more executions?
    fn is_full(&self) -> bool {
        self.n_steps_kept >= self.steps_max.unwrap_or(STEPS_MAX)
    }

    /// The next result has come: learns from it.
    fn count(&mut self, guide: Guide, run: &Run) {
        if !self.replays.agrees(run) {
            self.figures.n_executions += 1;
            self.figures.n_repeats += u64::from(guide.n_repeats.is_some());
            self.pasts.push(None);
            self.checker.check(&[], &MustOrder::of(&History::default()));
            return self.try_again(guide);
        }
        let past = Past::of(run, &self.flows);
        self.suspect(&guide, run, &past);
        self.unforeseen.extend(&past.unforeseen);
        self.is_cut_off |= !run.pending.is_empty() && matches!(run.end, Some(End::Exit(_)));
        // Where time only passes when nobody can go on, it passes for all whose time it is.
        let is_tied = |it: &Step| it.result == OpResult::TimedOut && it.enabled.len() > 1;
        self.has_ties |= !self.model.may_time_out && run.steps.iter().any(is_tied);
        let order = MustOrder::of(&past.history);
        self.has_last |= past.has_last(&order);
        let locks = Locks::of(&past.history);
        let sets = DefineSets::new(&past.history, &order, &locks).at_most(DEFINES_MAX);
        let decisions = decide(&past, &self.flows, &sets, &locks);
        let mut reads = past.history.steps.iter().zip(&decisions.is_affected);
        self.has_mixed |=
            reads.any(|it| *it.1 && it.0.act.is_read() && past.mixed.contains(&it.0.object));
        let is_hit = guide.aim.is_none_or(|it| is_hit(&past, &sets, it));
        if self.figures.n_executions == 0 {
            self.figures.measure(&past.history);
            self.figures.drawn = draw::draw(&past, &self.flows, &decisions);
        }
        self.figures.n_astray += u64::from(!has_gone(&past.history, &guide.attempt.ways));
        let n_seen = self.seen.len();
        self.learn_values(&past, &sets, &decisions);
        self.see(&past, &sets, &decisions);
        let causes = causes(&past.history, 0..past.history.steps.len() as u32);
        let steps = past.history.steps.iter().zip(&causes);
        self.had.extend(steps.filter(|it| it.0.act.is_read()).map(|it| it.1.whole));
        if self.sharing.add(&past.history) {
            self.check_again();
        }
        let uses = manners(&past.history, &locks, &self.sharing.shared);
        let checked = self.checker.check(&uses, &order);
        self.witness(&past, &sets, &decisions, &uses, &checked.races);
        let is_new = n_seen < self.seen.len() || checked.is_new_group;
        let is_repeat = guide.n_repeats.is_some();
        self.figures.count(&decisions, is_new || is_repeat, guide.is_witness);
        self.figures.n_repeats += u64::from(is_repeat);
        self.plan(&past, &sets, &decisions, &causes);
        self.go_on(run, &past);
        if !is_hit {
            self.try_again(guide);
        } else {
            let read = guide.aim.and_then(|it| Some((past.find(it.read)?, it.name?)));
            let is_other = read.is_some_and(|(read, name)| {
                named(&past, &decisions.inputs, read, sets.actual(read)) != name
            });
            // It reads that define, but something else flowed into it.
            self.figures.n_unlucky += u64::from(is_other);
            self.fall_back(&guide.keys);
        }
        let reads = decisions
            .deciders
            .iter()
            .map(|it| Constraint { use_step: it.read, define: sets.actual(it.read) });
        let reads = reads.collect();
        let ends = ends(&uses);
        self.note_combined(&ends);
        self.model.hear(&past, &decisions);
        let situations = decisions.deciders.into_iter().map(|it| (it.read, it.situations));
        let situations = situations.collect();
        self.keep(Kept { past, reads, ends, inputs: decisions.inputs, situations });
    }

    /// Notes the situations of an execution.
    fn see(&mut self, past: &Past, sets: &DefineSets<'_>, decisions: &Decisions) {
        for decider in &decisions.deciders {
            let value = self.value_read(past, sets, decider.read);
            // By name too: what was planned before the value was known is done now.
            let named = named(past, &decisions.inputs, decider.read, sets.actual(decider.read));
            for situation in &decider.situations {
                self.seen.insert(situation.key(value));
                self.seen.insert(situation.key(named));
            }
        }
    }

    /// Has the same executed again, if the program seems to depend on more than its schedule.
    fn suspect(&mut self, guide: &Guide, run: &Run, past: &Past) {
        let n_left = match guide.n_repeats {
            Some(n_left) => n_left,
            None if self.replays.is_suspicious(run) => REPEATS,
            None => 0,
        };
        if n_left > 0 {
            let all: Vec<u32> = (0..past.history.steps.len() as u32).collect();
            let attempt = Attempt::woven(past.prefix(&all));
            let n_repeats = Some(n_left - 1);
            self.queue.push_front(Guide { attempt, n_repeats, ..Guide::default() });
        }
    }

    /// More is shared than was known: what earlier executions did is looked at again.
    fn check_again(&mut self) {
        self.checker.begin_again();
        for kept in &mut self.pasts {
            let Some(kept) = kept else {
                self.checker.check(&[], &MustOrder::of(&History::default()));
                continue;
            };
            let locks = Locks::of(&kept.past.history);
            let uses = manners(&kept.past.history, &locks, &self.sharing.shared);
            self.checker.check(&uses, &MustOrder::of(&kept.past.history));
            kept.ends = ends(&uses);
        }
    }

    fn keep(&mut self, kept: Kept) {
        self.n_steps_kept += kept.past.history.steps.len();
        self.figures.is_full = self.is_full();
        self.pasts.push(Some(kept));
    }

    fn learn_values(&mut self, past: &Past, sets: &DefineSets<'_>, decisions: &Decisions) {
        for decider in &decisions.deciders {
            let Some(value) = past.values[decider.read as usize] else { continue };
            let name = named(past, &decisions.inputs, decider.read, sets.actual(decider.read));
            self.values.insert(name, value);
        }
    }

    fn value_read(&self, past: &Past, sets: &DefineSets<'_>, read: u32) -> u64 {
        let define = sets.actual(read);
        past.values[read as usize].unwrap_or_else(|| define_key(past, read, define))
    }
}

/// By thread and manner: its last step.
fn ends(uses: &[MannerUse]) -> BTreeMap<(u32, u64), u32> {
    let end = |it: &MannerUse| Some(((it.thread.0, it.manner.fingerprint()), *it.steps.last()?));
    uses.iter().filter_map(end).collect()
}

/// A define by name, with what flows into it: the value that it writes is the same whenever that is.
fn named(past: &Past, inputs: &[u64], read: u32, define: Option<u32>) -> u64 {
    define.map_or_else(|| define_key(past, read, None), |it| write_name(past, inputs, it))
}

/// The same, of a write.
fn write_name(past: &Past, inputs: &[u64], write: u32) -> u64 {
    let name = name(&past.instances[write as usize]);
    match inputs[write as usize] {
        0 => name,
        inputs => mix(name, inputs),
    }
}

/// A define by name; the first value of a variable has one too.
fn define_key(past: &Past, read: u32, define: Option<u32>) -> u64 {
    match define {
        Some(define) => name(&past.instances[define as usize]),
        None => first_value(past.history.steps[read as usize].object),
    }
}

/// Did an execution show what it was to show?
fn is_hit(past: &Past, sets: &DefineSets<'_>, aim: Aim) -> bool {
    let Some(read) = past.find(aim.read) else { return false };
    sets.actual(read).map(|it| past.instances[it as usize]) == aim.define
}

impl Search for Total {
    fn next(&mut self, n_max: usize) -> Vec<Task> {
        if !self.has_begun {
            self.has_begun = true;
            self.queue.push_back(Guide::default());
        }
        let mut tasks = Vec::new();
        // One at a time: what it shows may spare others.
        if n_max > 0
            && !self.is_full()
            && self.out.is_empty()
            && let Some(guide) = self.queue.pop_front()
        {
            let number = self.next_number;
            self.next_number += 1;
            let Attempt { prefix, picker: tail, .. } = guide.attempt.clone();
            tasks.push(Task { number, prefix, tail });
            self.out.insert(number, guide);
        }
        tasks
    }

    fn turn(&self) -> Option<u64> {
        self.out.contains_key(&self.next_count).then_some(self.next_count)
    }

    fn common(&self, number: u64) -> Option<u32> {
        self.out.get(&number)?.attempt.common
    }

    fn learn(&mut self, number: u64, run: &Run) -> Vec<u64> {
        self.results.insert(number, run.clone());
        let mut counted = Vec::new();
        while let Some(run) = self.results.remove(&self.next_count) {
            let number = self.next_count;
            self.next_count += 1;
            let guide = self.out.remove(&number).unwrap_or_default();
            self.count(guide, &run);
            self.counted.push(run);
            counted.push(number);
            let seen = &self.seen;
            let is_done =
                |it: &Guide| !it.keys.is_empty() && it.keys.iter().all(|it| seen.contains(it));
            self.queue.retain(|it| !is_done(it));
            self.make_ready();
            if self.queue.is_empty() && self.out.is_empty() {
                self.ask_unseen();
            }
            if self.queue.is_empty() && self.out.is_empty() {
                self.ask_stuck();
            }
            if self.queue.is_empty() && self.out.is_empty() {
                self.combine();
            }
        }
        counted
    }

    fn hear_flows(&mut self, flows: &Flows) {
        self.flows = flows.clone();
    }

    fn is_finished(&self) -> bool {
        self.has_begun && (self.queue.is_empty() || self.is_full()) && self.out.is_empty()
    }

    fn progress(&self) -> SearchProgress {
        // Without room, it has ended and not finished.
        let is_finished = self.is_finished() && self.queue.is_empty();
        let n_waiting = self.queue.len() as u64;
        let decided =
            self.figures.decided(&self.flows, &self.checker, n_waiting, self.model.size());
        SearchProgress {
            n_executions: self.figures.n_executions,
            n_redundant: self.figures.n_redundant,
            n_diverged: self.replays.n_diverged,
            divergence: self.replays.first.clone(),
            is_finished,
            // Of all schedules it makes only those that can matter for races.
            is_cut: true,
            unreached: if is_finished { self.unreached() } else { Vec::new() },
            scope: Scope::Decisions(Box::new(decided)),
            ..SearchProgress::default()
        }
    }

    fn drawings(&self) -> &[Drawing<DrawnStep>] {
        &self.figures.drawn.drawings
    }

    fn save(&self) -> Box<RawValue> {
        let saved = Saved {
            flows: self.flows.clone(),
            may_time_out: self.model.may_time_out,
            counted: self.counted.clone(),
        };
        to_raw_value(&saved).expect("bug: a search can be written")
    }
}
