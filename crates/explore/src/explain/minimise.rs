//! The smallest schedule that still shows a finding (after Tinertia: Jalbert and Sen, FSE 2010).
//!
//! A schedule is its list of deviations from the one without preemption. First the same execution in an
//! order with fewer switches (`reorder`); then delta debugging (Zeller, Hildebrandt, TSE 2002) on the
//! deviations, by lenient replay; then, if preemptions are left, every schedule that deviates once; then the
//! deviations that are left come earlier. A change is kept if the bucket is the same and the schedule is
//! smaller: without long delays, with fewer delays, then fewer preemptions, then fewer switches, then fewer steps.
//!
//! Where we depart: deviations are named by their thread's own steps, so what D2 does by pulling and pushing
//! segments happens by itself when a deviation is left out. The result is a local optimum.

use raddle_model::{
    Before, Deviation, Event, Finding, Kind, Limits, Minimising, MinimisingEnd, PickerSpec, Plan,
    Profile, Record, Size, TIMING_US, ThreadId,
};
use raddle_trace::{EnabledSet, Trace};

use super::{
    numbers, reorder,
    trials::{Trial, Trials},
};
use crate::{
    finding::Described,
    target::{Execution, TargetError},
};

/// Schedules that deviate once are tried up to so many.
const SINGLES_MAX: usize = 100;
/// How often a deviation is tried at an earlier place.
const EARLIER_MAX: u32 = 4;
/// Shorter schedules are short enough: no deviation is tried earlier.
const SHORT: u64 = 24;
/// Other seeds that are tried with all that is known to be shared.
const SEEDS_MAX: u64 = 48;
/// Of a livelock, steps that are looked at: a multiple of what the program needs without preemption.
const LIVELOCK_FACTOR: u64 = 20;
/// But never fewer than this.
const LIVELOCK_MIN: u64 = 2_000;

/// What minimising came to.
pub(super) struct Minimised {
    pub(super) finding: Finding,
    pub(super) minimising: Minimising,
    /// What all executions had in common, and the smallest that showed it, if any did.
    pub(super) shown: Option<(Plan, Execution)>,
}

/// See the module.
pub(super) struct Minimiser<'t, 'a> {
    trials: &'t mut Trials<'a>,
    base: Plan,
    best: Best,
}

/// The smallest that is known.
struct Best {
    delays: Delays,
    size: Size,
    deviations: Vec<Deviation>,
    execution: Execution,
}

impl Best {
    fn of(execution: Execution) -> Best {
        let trace = &execution.trace;
        let delays = Delays::of(trace);
        Best { delays, size: size(trace), deviations: deviations(trace), execution }
    }

    fn rank(&self) -> (Delays, Size, usize) {
        (self.delays, self.size, self.deviations.len())
    }
}

/// What a schedule demands of the machine it runs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Delays {
    /// Is one so long that the finding is a timing assumption?
    is_long: bool,
    n: usize,
}

impl Delays {
    fn of(trace: &Trace) -> Delays {
        let n = trace.events.iter().filter(|it| it.delay_ns() > 0).count();
        Delays { is_long: TIMING_US <= trace.summary.delay_us, n }
    }
}

impl<'t, 'a> Minimiser<'t, 'a> {
    /// Makes the finding's schedule small.
    pub(super) fn run(trials: &'t mut Trials<'a>) -> Result<Minimised, TargetError> {
        let finding = trials.finding;
        let record = Record { options: true, ..finding.plan.record };
        let base = Plan {
            picker: PickerSpec::Switches,
            prefix: Vec::new(),
            profile: Profile::EMPTY,
            record,
            ..finding.plan.clone()
        };
        let Some((base, first)) = begin(trials, base)? else {
            let minimising = Minimising {
                n_replays: trials.n_replays,
                ending: trials.stopped_by.unwrap_or(MinimisingEnd::NotReproduced),
                ..Minimising::default()
            };
            return Ok(Minimised { finding: finding.clone(), minimising, shown: None });
        };
        let best = Best::of(first.execution);
        let before = best.size;
        let mut minimiser = Minimiser { trials, base, best };
        minimiser.learn(&first.shared_found)?;
        minimiser.draw_less()?;
        minimiser.leave_out_delays()?;
        minimiser.reorder()?;
        minimiser.leave_out()?;
        minimiser.deviate_once()?;
        minimiser.come_earlier()?;
        minimiser.finish(before)
    }

    /// The plainest schedule that keeps these orders, if it is one with fewer preemptions that shows the finding:
    /// what leaving out could not come to, since it changes one thing at a time.
    pub(super) fn calm(
        trials: &'t mut Trials<'a>,
        minimised: &Minimised,
        orders: &[Before],
    ) -> Result<Option<Minimised>, TargetError> {
        let Minimised { minimising, shown: Some((base, _)), .. } = minimised else {
            return Ok(None);
        };
        let Minimising { before, after, .. } = *minimising;
        if after.n_preemptions < 2 || orders.is_empty() {
            return Ok(None);
        }
        let plan = Plan {
            picker: PickerSpec::LeastSwitching,
            prefix: Before::script(orders),
            ..base.clone()
        };
        let Some(trial) = trials.run(&plan)? else { return Ok(None) };
        let trace = &trial.execution.trace;
        let is_late = minimised.finding.delay_us < trace.summary.delay_us;
        let is_fit = trace.n_dropped == 0 && size(trace) < after && !is_late;
        if !is_fit || !trials.shows(&trial.execution) {
            return Ok(None);
        }
        let best = Best::of(trial.execution);
        let mut minimiser = Minimiser { trials, base: base.clone(), best };
        minimiser.leave_out()?;
        minimiser.come_earlier()?;
        let calmer = minimiser.finish(before)?;
        let is_shown = calmer.minimising.ending != MinimisingEnd::NotReproduced;
        Ok(is_shown.then_some(calmer))
    }

    /// Begins again with all that the execution found to be shared, if it shows the finding then: steps
    /// where that matters become points of their own.
    fn learn(&mut self, found: &[u64]) -> Result<(), TargetError> {
        let mut shared = self.base.shared.clone();
        shared.extend(found);
        shared.sort_unstable();
        shared.dedup();
        if shared == self.base.shared {
            return Ok(());
        }
        let knowing = Plan { shared, ..self.base.clone() };
        let script = Deviation::script(&self.best.deviations);
        let seed = knowing.seed;
        let with = |picker, seed, prefix| Plan { picker, seed, prefix, ..knowing.clone() };
        let mut plans = vec![
            with(PickerSpec::Switches, seed, script),
            with(self.trials.finding.plan.picker, seed, Vec::new()),
        ];
        for seed in 0..SEEDS_MAX {
            let picker = [PickerSpec::Walk, PickerSpec::Pos, PickerSpec::Sites][seed as usize % 3];
            plans.push(with(picker, seed, Vec::new()));
        }
        for plan in plans {
            let Some(trial) = self.trials.run(&plan)? else { return Ok(()) };
            if trial.execution.trace.n_dropped == 0 && self.trials.shows(&trial.execution) {
                // Its random numbers are its seed's.
                self.base = Plan { seed: plan.seed, ..knowing };
                self.best = Best::of(trial.execution);
                return Ok(());
            }
        }
        Ok(())
    }

    /// Smaller numbers, if the program draws some.
    fn draw_less(&mut self) -> Result<(), TargetError> {
        if let Some((execution, seed)) =
            numbers::smaller(self.trials, &self.base, &self.best.execution)?
        {
            self.base.seed = seed;
            self.best = Best::of(execution);
        }
        Ok(())
    }

    /// The same switches but for those to threads whose wait was cut short.
    fn leave_out_delays(&mut self) -> Result<(), TargetError> {
        if self.best.delays.n == 0 {
            return Ok(());
        }
        let deviations = deviations_but(&self.best.execution.trace, |it| it.delay_ns() > 0);
        self.attempt(&deviations)?;
        Ok(())
    }

    /// The same steps in an order with fewer switches.
    fn reorder(&mut self) -> Result<(), TargetError> {
        let trace = &self.best.execution.trace;
        let order = reorder::order(trace);
        let events: Vec<&Event> = order.iter().map(|idx| &trace.events[*idx]).collect();
        let deviations = all_switches(&events);
        self.attempt(&deviations)?;
        Ok(())
    }

    /// Delta debugging: ever smaller parts of the deviations are left out.
    fn leave_out(&mut self) -> Result<(), TargetError> {
        let mut n_parts = 1;
        loop {
            let all = self.best.deviations.clone();
            if all.is_empty() || self.is_over() {
                return Ok(());
            }
            let part = all.len().div_ceil(n_parts);
            let mut is_smaller = false;
            for start in (0..all.len()).step_by(part) {
                let end = (start + part).min(all.len());
                let rest = [&all[..start], &all[end..]].concat();
                is_smaller = self.attempt(&rest)?;
                if is_smaller {
                    break;
                }
            }
            n_parts = match is_smaller {
                true => (n_parts - 1).max(2).min(self.best.deviations.len().max(1)),
                false if part == 1 => return Ok(()),
                false => (2 * n_parts).min(all.len()),
            };
        }
    }

    /// Every schedule that deviates once, if that is fewer preemptions than are left.
    fn deviate_once(&mut self) -> Result<(), TargetError> {
        let n_left = self.best.size.n_preemptions;
        if n_left == 0 || self.is_over() {
            return Ok(());
        }
        let Some(trial) = self.trials.run(&self.base.clone())? else { return Ok(()) };
        let singles = singles(&trial.execution.trace, n_left > 1);
        if singles.len() > SINGLES_MAX {
            return Ok(());
        }
        for single in singles {
            self.attempt(&[single])?;
            if self.best.size.n_preemptions == 0 || self.is_over() {
                break;
            }
        }
        if self.best.size.n_preemptions < n_left { self.leave_out() } else { Ok(()) }
    }

    /// Long schedules fail in a late round of a loop, perhaps, where an early one would do.
    fn come_earlier(&mut self) -> Result<(), TargetError> {
        let mut idx = 0;
        while idx < self.best.deviations.len() && SHORT < self.best.size.n_steps {
            for n_tries in 0..EARLIER_MAX {
                let Some(earlier) = earlier(&self.best.deviations, idx, n_tries) else { break };
                if self.is_over() || self.attempt(&earlier)? {
                    break;
                }
            }
            idx += 1;
        }
        Ok(())
    }

    fn is_over(&self) -> bool {
        self.trials.stopped_by.is_some()
    }

    /// Runs with these deviations: is it the same finding, and smaller?
    fn attempt(&mut self, deviations: &[Deviation]) -> Result<bool, TargetError> {
        let plan = Plan { prefix: Deviation::script(deviations), ..self.base.clone() };
        let Some(trial) = self.trials.run(&plan)? else { return Ok(false) };
        if trial.execution.trace.n_dropped > 0 || !self.trials.shows(&trial.execution) {
            return Ok(false);
        }
        let new = Best::of(trial.execution);
        let is_smaller = new.rank() < self.best.rank();
        if is_smaller {
            self.best = new;
        }
        Ok(is_smaller)
    }

    /// The finding as the smallest schedule shows it, run once more as others will run it.
    fn finish(self, before: Size) -> Result<Minimised, TargetError> {
        let original = self.trials.finding;
        let record = original.plan.record;
        let script = Deviation::script(&self.best.deviations);
        let mut scripted = Plan { prefix: script, record, ..self.base.clone() };
        scripted.conditions.limits = original.plan.conditions.limits;
        let trial = self.trials.run_free(&scripted)?;
        self.trials.n_replays += 1;
        // A livelock's steps are too many to follow one by one: its plan is its script.
        let is_whole = trial.execution.trace.n_dropped == 0;
        let picker = if is_whole { PickerSpec::Nonpreemptive } else { PickerSpec::Switches };
        let plan = Plan { picker, ..scripted.clone() };
        let found = self.trials.finding_of(&trial.execution, &plan);
        let stopped_by = self.trials.stopped_by;
        let Minimiser { trials, base, best } = self;
        let ending = match &found {
            None => MinimisingEnd::NotReproduced,
            Some(_) => stopped_by.unwrap_or_default(),
        };
        let mut finding = found.unwrap_or_else(|| original.clone());
        if ending != MinimisingEnd::NotReproduced && !is_whole {
            finding.plan = scripted;
            show_start(&mut finding, &best.execution.trace, trials);
        }
        let after = if ending == MinimisingEnd::NotReproduced { before } else { best.size };
        let minimising = Minimising { before, after, n_replays: trials.n_replays, ending };
        Ok(Minimised { finding, minimising, shown: Some((base, best.execution)) })
    }
}

/// A livelock's first steps say more than its last.
fn show_start(finding: &mut Finding, trace: &Trace, trials: &mut Trials<'_>) {
    let described = Described::of(trace, trials.symbols);
    finding.steps = described.steps;
    finding.n_steps_dropped = described.n_steps_dropped;
    finding.n_switches = trace.summary.n_switches;
    finding.places = described.places;
    finding.stacks = described.stacks;
    finding.objects = described.objects;
}

/// The first execution: the finding's own, with all that has to be known about it. `None` if it is not
/// what it was.
fn begin(trials: &mut Trials<'_>, base: Plan) -> Result<Option<(Plan, Trial)>, TargetError> {
    let plan = &trials.finding.plan;
    let (own_prefix, own_picker) = (plan.prefix.clone(), plan.picker);
    let mut base = base;
    if trials.finding.kind == Kind::Livelock {
        let Some(trial) = trials.run(&base)? else { return Ok(None) };
        let n_steps = trial.execution.trace.summary.n_steps;
        let max_steps = (LIVELOCK_FACTOR * n_steps).max(LIVELOCK_MIN);
        let max_steps = max_steps.min(base.conditions.limits.max_steps);
        base.conditions.limits = Limits { max_steps };
    }
    let own = Plan {
        prefix: own_prefix,
        picker: own_picker,
        profile: trials.finding.plan.profile.clone(),
        ..base.clone()
    };
    let Some(trial) = trials.run(&own)? else { return Ok(None) };
    let is_known = trial.execution.trace.n_dropped == 0;
    Ok((is_known && trials.shows(&trial.execution)).then_some((base, trial)))
}

/// The deviations of an execution from the one without preemption.
fn deviations(trace: &Trace) -> Vec<Deviation> {
    deviations_but(trace, |_| false)
}

/// The same without switches to some steps.
fn deviations_but(trace: &Trace, is_left_out: impl Fn(&Event) -> bool) -> Vec<Deviation> {
    let mut walk = Walk::new(trace.threads.len());
    let mut found = Vec::new();
    for (idx, event) in trace.events.iter().enumerate() {
        let is_default = trace.options.get(idx).is_some_and(|it| {
            let is_forced = it.n_enabled == 1 && it.timed.is_empty();
            is_forced || default(it, walk.last) == Some(event.thread)
        });
        let is_default = is_default || is_left_out(event);
        if !is_default && (walk.last != event.thread || !trace.options.is_empty()) {
            found.push(walk.switch(event.thread));
        }
        found.extend(walk.choice(event));
        walk.step(event);
    }
    found
}

/// Every switch of a sequence of steps, and every data choice.
fn all_switches(events: &[&Event]) -> Vec<Deviation> {
    let n_threads = events.iter().map(|it| it.thread.idx() + 1).max().unwrap_or(0);
    let mut walk = Walk::new(n_threads);
    let mut found = Vec::new();
    for event in events {
        if walk.last != event.thread {
            found.push(walk.switch(event.thread));
        }
        found.extend(walk.choice(event));
        walk.step(event);
    }
    found
}

/// Every single deviation from an execution: of threads that could not go on, and of others if wanted.
fn singles(trace: &Trace, with_preemptions: bool) -> Vec<Deviation> {
    let mut walk = Walk::new(trace.threads.len());
    let mut found = Vec::new();
    for (idx, event) in trace.events.iter().enumerate() {
        let options = trace.options.get(idx).copied().unwrap_or_default();
        if with_preemptions || !options.is_preempted(walk.last) {
            let others = options.enabled.without(event.thread).iter();
            found.extend(others.map(|it| walk.switch(it)));
        }
        walk.step(event);
    }
    found
}

/// A deviation at an earlier place: half way to the thread's start first, then nearer.
fn earlier(deviations: &[Deviation], idx: usize, n_tries: u32) -> Option<Vec<Deviation>> {
    let mut deviations = deviations.to_vec();
    let Deviation::Switch { n_steps, .. } = &mut deviations[idx] else { return None };
    let new = *n_steps - (*n_steps >> (n_tries + 1));
    if new == *n_steps {
        return None;
    }
    *n_steps = new;
    Some(deviations)
}

/// How large an execution is.
pub(super) fn size(trace: &Trace) -> Size {
    let mut size = Size { n_steps: trace.summary.n_steps, ..Size::default() };
    let mut took_steps = vec![false; trace.threads.len()];
    let mut last = trace.events.first().map_or(ThreadId(0), |it| it.thread);
    for (idx, event) in trace.events.iter().enumerate() {
        if event.thread != last {
            size.n_switches += 1;
            let is_preemption = trace.options.get(idx).is_some_and(|it| it.is_preempted(last));
            size.n_preemptions += u64::from(is_preemption);
        }
        if let Some(took) = took_steps.get_mut(event.thread.idx()) {
            *took = true;
        }
        last = event.thread;
    }
    size.n_threads = took_steps.iter().filter(|it| **it).count() as u64;
    size
}

/// Who goes on if nobody deviates; `None` if that is not known.
fn default(options: &EnabledSet, last: ThreadId) -> Option<ThreadId> {
    if options.enabled.len() != options.n_enabled {
        return None;
    }
    if options.is_preempted(last) {
        return Some(last);
    }
    options.enabled.round(last).next()
}

/// Along a sequence of steps: who came last, and how many steps each thread has taken.
struct Walk {
    last: ThreadId,
    n_steps: Vec<u32>,
}

impl Walk {
    fn new(n_threads: usize) -> Walk {
        Walk { last: ThreadId(0), n_steps: vec![0; n_threads] }
    }

    fn n_steps(&self, thread: ThreadId) -> u32 {
        self.n_steps.get(thread.idx()).copied().unwrap_or(0)
    }

    fn switch(&self, to: ThreadId) -> Deviation {
        Deviation::Switch { thread: self.last, n_steps: self.n_steps(self.last), to }
    }

    fn choice(&self, event: &Event) -> Option<Deviation> {
        let choice = event.choice().filter(|it| *it != 0)?;
        let thread = event.thread;
        Some(Deviation::Choice { thread, n_steps: self.n_steps(thread), choice })
    }

    fn step(&mut self, event: &Event) {
        if let Some(n_steps) = self.n_steps.get_mut(event.thread.idx()) {
            *n_steps += 1;
        }
        self.last = event.thread;
    }
}
