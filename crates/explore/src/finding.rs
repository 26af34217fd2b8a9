//! The end of a trace as a finding: what went wrong, where, by which steps.
//!
//! Text is made here only where it is part of the value: names of objects, and the one line that says
//! what happened. What the program can't be blamed for (a bug of the runtime, a process that vanished
//! without a word, an execution that was given up) is no finding.

mod bucket;
mod ending;
mod gone;
mod ids;
mod inconclusive;
mod library;
mod memory;
mod missed;
mod names;
mod predicted;
mod program;
mod race;
mod should_panic;
mod std_sync;
#[cfg(test)]
mod tests;
mod waits;

use std::{borrow::Cow, collections::HashMap};

use raddle_model::{
    Bucket, End, Event, Fault, Finding, Flags, Kind, NamedObject, ObjectId, OpKind, Place, Plan,
    Step, ThreadState,
};
use raddle_trace::Trace;

use self::ending::Ending;
pub use self::ids::Ids;
pub use self::inconclusive::Inconclusive;
pub(crate) use self::missed::{are_same, has_looked, waits_at};
pub(crate) use self::names::Names;
pub(crate) use self::predicted::{Prediction, contrast, predicted, predicted_again, predictions};
pub(crate) use self::program::{file_name, is_own, reported};
pub use self::program::{is_system_file, runs_tasks};
pub(crate) use self::race::{plain_bucket, race_bucket, watched};
pub use self::race::{race, races};
use crate::target::Symbols;

/// Steps kept in a finding, the last ones: those of a livelock fill pages and say the same. (Its plan has
/// the choices of all steps.)
const STEPS_MAX: usize = 16_384;

/// What went wrong in an execution; `None` if nothing did.
///
/// `plan` is the one that was run; the finding's own follows the schedule that it led to, choice by
/// choice, if the trace has all of it.
pub fn finding(
    trace: &Trace,
    plan: &Plan,
    execution: u64,
    output: &str,
    symbols: &mut dyn Symbols,
) -> Option<Finding> {
    if !is_failure(trace, false) {
        return None;
    }
    let shown = Shown { trace, plan, execution, output };
    shown.finding(symbols, |names| Ending::of(trace, names))
}

/// An execution that shows something.
#[derive(Clone, Copy)]
pub(crate) struct Shown<'a> {
    pub(crate) trace: &'a Trace,
    pub(crate) plan: &'a Plan,
    pub(crate) execution: u64,
    pub(crate) output: &'a str,
}

impl Shown<'_> {
    /// What it shows: what `find` says, with the schedule that leads there.
    fn finding(
        &self,
        symbols: &mut dyn Symbols,
        find: impl FnOnce(&mut Names<'_>) -> Option<Ending>,
    ) -> Option<Finding> {
        let Shown { trace, plan, execution, output } = *self;
        let mut names = Names::new(trace, symbols);
        // Steps first, so that objects are told apart in the order of their use.
        let StepTables { mut steps, places, stacks } = StepTables::of(trace, &mut names);
        let ending = find(&mut names)?;
        let n_too_many = steps.len().saturating_sub(STEPS_MAX);
        let steps = steps.split_off(n_too_many);
        let objects = names.into_objects();
        Some(Finding {
            kind: ending.kind,
            bucket: ending.bucket,
            fault: match (ending.kind, should_panic::expected(output)) {
                (Kind::Exit, Some(expected)) => Fault::ShouldPanic(expected, None),
                (Kind::Panic, Some(expected)) => match ending.fault {
                    Fault::Said(said) => Fault::ShouldPanic(expected, Some(said)),
                    other => other,
                },
                _ => ending.fault,
            },
            thread: ending.thread,
            sites: ending.sites,
            is_cycle: !ending.cycle.is_empty(),
            cycle: ending.cycle,
            threads: ending.threads,
            steps,
            n_steps_dropped: trace.n_dropped + n_too_many as u64,
            objects,
            places,
            stacks,
            plan: Plan {
                prefix: choices(trace),
                picker: plan.picker.after_choices(),
                ..plan.clone()
            },
            execution,
            n_switches: trace.summary.n_switches,
            trace_digest: trace.summary.digest,
            output: output.to_owned(),
            strategy: plan.picker.to_string(),
            position: None,
            certainty: ending.certainty,
            evidence: ending.evidence,
            freed: ending.freed,
            delay_us: trace.summary.delay_us,
        })
    }
}

/// Did the execution end in a way that the program must answer for?
pub fn is_failure(trace: &Trace, exit_is_fine: bool) -> bool {
    match ending::failure(trace) {
        Some(End::Exit(_)) => !exit_is_fine,
        end => end.is_some(),
    }
}

/// The bucket of what [`finding()`] would find, for less work.
pub fn bucket(trace: &Trace, symbols: &mut dyn Symbols) -> Option<Bucket> {
    Ending::of(trace, &mut Names::new(trace, symbols)).map(|it| it.bucket)
}

/// The steps of an execution and the tables that explain their numbers, as in a [`Finding`].
#[derive(Debug)]
pub(crate) struct Schedule<'a> {
    pub(crate) steps: Cow<'a, [Step]>,
    pub(crate) places: Cow<'a, [Place]>,
    pub(crate) objects: Cow<'a, [NamedObject]>,
    pub(crate) n_dropped: u64,
}

impl<'a> Schedule<'a> {
    /// The schedule of a finding.
    pub(crate) fn of_finding(finding: &'a Finding) -> Schedule<'a> {
        Schedule {
            steps: Cow::Borrowed(&finding.steps),
            places: Cow::Borrowed(&finding.places),
            objects: Cow::Borrowed(&finding.objects),
            n_dropped: finding.n_steps_dropped,
        }
    }

    /// The schedule of an execution that need not have failed.
    pub(crate) fn of_trace(trace: &Trace, symbols: &mut dyn Symbols) -> Schedule<'static> {
        let mut names = Names::new(trace, symbols);
        let StepTables { steps, places, .. } = StepTables::of(trace, &mut names);
        Schedule {
            steps: steps.into(),
            places: places.into(),
            objects: names.into_objects().into(),
            n_dropped: trace.n_dropped,
        }
    }
}

/// An execution with the tables that explain its numbers, whether it failed or not.
#[derive(Debug)]
pub(crate) struct Described {
    pub(crate) steps: Vec<Step>,
    pub(crate) n_steps_dropped: u64,
    pub(crate) places: Vec<Place>,
    pub(crate) stacks: Vec<Vec<u32>>,
    pub(crate) objects: Vec<NamedObject>,
    pub(crate) threads: Vec<ThreadState>,
    pub(crate) choices: Vec<u32>,
}

impl Described {
    pub(crate) fn of(trace: &Trace, symbols: &mut dyn Symbols) -> Described {
        let mut names = Names::new(trace, symbols);
        let StepTables { mut steps, places, stacks } = StepTables::of(trace, &mut names);
        let threads = ending::states(trace, &mut names);
        let n_too_many = steps.len().saturating_sub(STEPS_MAX);
        let steps = steps.split_off(n_too_many);
        let objects = names.into_objects();
        Described {
            steps,
            n_steps_dropped: trace.n_dropped + n_too_many as u64,
            places,
            stacks,
            objects,
            threads,
            choices: choices(trace),
        }
    }
}

impl Described {
    /// Where a step of the trace was.
    pub(crate) fn place(&self, trace: &Trace, idx: usize) -> Place {
        let n_cut = trace.events.len() - self.steps.len();
        let step = idx.checked_sub(n_cut).and_then(|it| self.steps.get(it));
        step.and_then(|it| self.places.get(it.place as usize)).cloned().unwrap_or_default()
    }
}

/// What the steps of a trace are to the author of the program, and what threads were about to do at its end.
pub(crate) struct ToldSteps {
    /// What a lock does on its way is done to nothing.
    pub(crate) events: Vec<Event>,
    pub(crate) pending: Vec<OpKind>,
}

/// The same steps as locks of Rust's std, where they are such; `None` of a program without it.
pub(crate) fn told(trace: &Trace, symbols: &mut dyn Symbols) -> Option<ToldSteps> {
    let sync = Names::new(trace, symbols).std_sync();
    if sync.is_empty() {
        return None;
    }
    let events = trace.events.iter().enumerate().map(|(idx, it)| match sync.is_internal(it) {
        true => Event { object: ObjectId::NONE, ..*it },
        false => sync.told(idx, it),
    });
    let pending = trace.threads.iter().map(|it| sync.kind(it.pending.kind, it.pending.site));
    Some(ToldSteps { events: events.collect(), pending: pending.collect() })
}

/// The steps of a trace, and the tables that they refer to. Place 0 and stack 0 are unknown.
struct StepTables {
    steps: Vec<Step>,
    places: Vec<Place>,
    stacks: Vec<Vec<u32>>,
}

impl StepTables {
    fn of(trace: &Trace, names: &mut Names<'_>) -> StepTables {
        let mut places = Places::default();
        let mut by_site = HashMap::new();
        let mut steps = Vec::with_capacity(trace.events.len());
        let std_sync = names.std_sync();
        for (idx, event) in trace.events.iter().enumerate() {
            let event = &std_sync.told(idx, event);
            let (number, is_housekeeping) = *by_site.entry(event.site).or_insert_with(|| {
                (places.number(names.place(event.site)), names.is_housekeeping(event.site))
            });
            names.object(event.object);
            names.object(event.other_object());
            let mut step = Step::of(event, number);
            if is_housekeeping && event.kind.is_access() {
                step.flags |= Flags::IMPLIED.0;
            }
            steps.push(step);
        }
        let stacks = StepTables::stacks(trace, names, &mut steps, &mut places);
        StepTables { steps, places: places.all, stacks }
    }

    /// The calls that led to each step, where they were written down. Their places come after those of the
    /// steps, whose numbers don't depend on them: replays compare those.
    fn stacks(
        trace: &Trace,
        names: &mut Names<'_>,
        steps: &mut [Step],
        places: &mut Places,
    ) -> Vec<Vec<u32>> {
        let mut stacks = Vec::new();
        let mut numbers = HashMap::new();
        for (step, options) in steps.iter_mut().zip(&trace.options) {
            step.left = options.left();
        }
        for (step, options) in steps.iter_mut().zip(&trace.options).filter(|it| it.1.stack != 0) {
            step.stack = *numbers.entry(options.stack).or_insert_with(|| {
                if stacks.is_empty() {
                    stacks.push(Vec::new());
                }
                let frames = names.stack(options.stack);
                stacks.push(frames.into_iter().map(|it| places.number(it)).collect());
                stacks.len() as u32 - 1
            });
        }
        stacks
    }
}

/// Places, each once, by number; 0 is unknown.
struct Places {
    all: Vec<Place>,
    numbers: HashMap<Place, u32>,
}

impl Default for Places {
    fn default() -> Places {
        Places { all: vec![Place::default()], numbers: HashMap::from([(Place::default(), 0)]) }
    }
}

impl Places {
    fn number(&mut self, place: Place) -> u32 {
        *self.numbers.entry(place).or_insert_with_key(|place| {
            self.all.push(place.clone());
            self.all.len() as u32 - 1
        })
    }
}

/// Where the thread stood that was running when an execution ended, innermost first.
pub(crate) fn end_stack(trace: &Trace, symbols: &mut dyn Symbols) -> Vec<Place> {
    ending::end_stack(trace, &mut Names::new(trace, symbols))
}

/// Where each step of a trace was.
pub(crate) fn step_places(trace: &Trace, symbols: &mut dyn Symbols) -> Vec<Place> {
    let mut names = Names::new(trace, symbols);
    let StepTables { steps, places, .. } = StepTables::of(trace, &mut names);
    steps.iter().map(|it| places[it.place as usize].clone()).collect()
}

/// The choices that lead along a trace: the thread of each step, and the data choice where there was
/// one. Empty if the trace has lost its start: then only seed and picker lead along it.
fn choices(trace: &Trace) -> Vec<u32> {
    first_choices(trace, trace.events.len())
}

/// The same for the first so many steps.
pub(crate) fn first_choices(trace: &Trace, n_steps: usize) -> Vec<u32> {
    if trace.n_dropped != 0 {
        return Vec::new();
    }
    let mut choices = Vec::with_capacity(n_steps);
    for event in trace.events.iter().take(n_steps) {
        choices.push(event.thread.0);
        choices.extend(event.choice());
    }
    choices
}
