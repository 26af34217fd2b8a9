//! A finding's plan, run again.
//!
//! The plan follows the recorded choices where there are any, and leaves the rest to its own seed and
//! picker. What happens then is compared with the recorded steps by what does not depend on the
//! machine or on how the compiler laid out the program: thread, op, object number, and place in the
//! source.

use raddle_model::{
    Certainty, Finding, Kind, Moment, ObjectId, OpKind, Place, Step, ThreadId, Watch,
};
use raddle_trace::SeenRace;

use crate::{
    finding::{self, Schedule},
    target::{Block, Execution, Session, Symbols, TargetError},
};

/// Races of a program that was built anew, among which one is looked for.
const MOVED_MAX: usize = 16;

/// What became of a finding when its plan was run again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The same finding, by the same steps.
    Reproduced {
        /// Was the whole trace the same, down to its digest?
        exact: bool,
        /// The finding as it is now: lines may have moved since it was recorded.
        finding: Box<Finding>,
    },
    /// The execution left the recorded steps.
    Diverged {
        /// The first step that differs, from 0.
        at_step: u64,
        /// What was recorded there.
        expected: Box<Moment>,
        /// What happened there.
        found: Box<Moment>,
        /// Did it end in a finding of the same bucket all the same?
        same_bucket: bool,
        /// What the execution ended in, if it failed.
        finding: Option<Box<Finding>>,
    },
    /// The same steps, and no failure.
    Gone,
}

/// When two findings are the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sameness {
    /// They have the same bucket.
    #[default]
    Bucket,
    /// They have the same kind, functions and files: lines may have moved, for the program was built
    /// anew.
    Functions,
}

/// Runs a finding's plan again and compares.
pub fn replay(
    session: &mut dyn Session,
    finding: &Finding,
    symbols: &mut dyn Symbols,
    exit_is_fine: bool,
    same: Sameness,
) -> Result<Verdict, TargetError> {
    let moved;
    let finding = match moved_race(session, finding, symbols, exit_is_fine, same)? {
        Some(watch) => {
            let mut plan = finding.plan.clone();
            plan.record.watch = Some(watch);
            moved = Finding { plan, ..finding.clone() };
            &moved
        }
        None => finding,
    };
    let execution = run_again(session, finding, exit_is_fine)?;
    let trace = &execution.trace;
    let new = find_again(&execution, finding, symbols, exit_is_fine, same);
    let same_bucket = new.as_ref().is_some_and(|it| is_same(it, finding, same));
    let is_same_trace = trace.summary.digest == finding.trace_digest;
    let new = match new {
        Some(new) if is_same_trace && same_bucket => {
            return Ok(Verdict::Reproduced { exact: true, finding: Box::new(new) });
        }
        new => new,
    };
    let recorded = Tale { schedule: &Schedule::of_finding(finding), end: Some(finding) };
    let schedule = match &new {
        Some(new) => Schedule::of_finding(new),
        None => Schedule::of_trace(trace, symbols),
    };
    let told = Tale { schedule: &schedule, end: new.as_ref() };
    let difference = recorded.first_difference(&told, same);
    let at_step = difference.unwrap_or(recorded.n_steps());
    let (expected, found) = (recorded.moment(at_step), told.moment(at_step));
    let is_over = at_step == recorded.n_steps();
    match new {
        Some(new) if difference.is_none() && same_bucket => {
            Ok(Verdict::Reproduced { exact: false, finding: Box::new(new) })
        }
        None if is_over => Ok(Verdict::Gone),
        new => Ok(Verdict::Diverged {
            at_step,
            expected: Box::new(expected),
            found: Box::new(found),
            same_bucket,
            finding: new.map(Box::new),
        }),
    }
}

/// What an execution shows of the kind of a finding: the same one, if it shows that.
pub(crate) fn find_again(
    execution: &Execution,
    finding: &Finding,
    symbols: &mut dyn Symbols,
    exit_is_fine: bool,
    same: Sameness,
) -> Option<Finding> {
    let Execution { trace, output } = execution;
    // One that was seen is seen again, even if it is not certain what it means; one that was predicted is not.
    let is_shown = finding.certainty == Certainty::Shown;
    let is_seen = finding.kind == Kind::Race && (is_shown || finding.plan.record.watch.is_some());
    if is_seen && same == Sameness::Bucket {
        let mut all = finding::watched(trace, &finding.plan);
        let is_it =
            |it: &&SeenRace| finding::race_bucket(trace, it, symbols) == Some(finding.bucket);
        let it = all.find(is_it).or_else(|| finding::watched(trace, &finding.plan).next())?;
        return finding::race(trace, it, &finding.plan, finding.execution, output, symbols);
    }
    let all = if is_seen {
        Some(finding::races(trace, &finding.plan, finding.execution, output, symbols))
    } else if !is_shown {
        let (plan, execution) = (&finding.plan, finding.execution);
        let shown = finding::Shown { trace, plan, execution, output };
        Some(finding::predicted_again(shown, finding, symbols))
    } else {
        None
    };
    if let Some(all) = all {
        let is_it = |it: &Finding| is_same(it, finding, same);
        let idx = all.iter().position(is_it).unwrap_or(0);
        return all.into_iter().nth(idx);
    }
    if !finding::is_failure(trace, exit_is_fine) {
        return None;
    }
    finding::finding(trace, &finding.plan, finding.execution, output, symbols)
}

/// Where the memory of a race is now, in a program that was built anew: one of the races that its plan shows.
fn moved_race(
    session: &mut dyn Session,
    finding: &Finding,
    symbols: &mut dyn Symbols,
    exit_is_fine: bool,
    same: Sameness,
) -> Result<Option<Watch>, TargetError> {
    let is_watched = finding.kind == Kind::Race && finding.plan.record.watch.is_some();
    if same == Sameness::Bucket || !is_watched {
        return Ok(None);
    }
    let with = |watch| {
        let mut plan = finding.plan.clone();
        plan.record.watch = watch;
        Finding { plan, ..finding.clone() }
    };
    let all = run_again(session, &with(None), exit_is_fine)?.trace.races;
    let mut seen: Vec<Watch> = Vec::new();
    for watch in all.iter().map(|it| it.watch).take(MOVED_MAX) {
        if seen.contains(&watch) || watch.region == 0 {
            continue;
        }
        seen.push(watch);
        let like = with(Some(watch));
        let execution = run_again(session, &like, exit_is_fine)?;
        let new = find_again(&execution, &like, symbols, exit_is_fine, same);
        if new.is_some_and(|it| is_same(&it, finding, same)) {
            return Ok(Some(watch));
        }
    }
    Ok(None)
}

/// Are two findings the same?
pub fn is_same(new: &Finding, old: &Finding, same: Sameness) -> bool {
    let look = |finding: &Finding| -> Vec<(String, String)> {
        let places = finding.sites.iter();
        places.map(|it| (it.function.clone(), finding::file_name(it).to_owned())).collect()
    };
    match same {
        _ if new.bucket == old.bucket => true,
        Sameness::Bucket => false,
        Sameness::Functions => new.kind == old.kind && look(new) == look(old),
    }
}

fn run_again(
    session: &mut dyn Session,
    finding: &Finding,
    exit_is_fine: bool,
) -> Result<Execution, TargetError> {
    session.run(&Block::one(finding.plan.clone(), exit_is_fine))?.into_last()
}

/// Steps and how they end.
struct Tale<'a> {
    schedule: &'a Schedule<'a>,
    end: Option<&'a Finding>,
}

impl Tale<'_> {
    /// The first step where the two differ, as far as both know their steps.
    fn first_difference(&self, other: &Tale<'_>, same: Sameness) -> Option<u64> {
        let start = self.schedule.n_dropped.max(other.schedule.n_dropped);
        let end = self.n_steps().min(other.n_steps());
        (start..end)
            .find(|step| self.look(*step, same) != other.look(*step, same))
            .or_else(|| (self.n_steps() != other.n_steps()).then_some(end))
    }

    fn n_steps(&self) -> u64 {
        self.schedule.n_dropped + self.schedule.steps.len() as u64
    }

    fn step(&self, step: u64) -> Option<&Step> {
        self.schedule.steps.get(usize::try_from(step.checked_sub(self.schedule.n_dropped)?).ok()?)
    }

    fn place(&self, step: &Step) -> Option<&Place> {
        self.schedule.places.get(step.place as usize)
    }

    /// What is compared of a step. In a program that was built anew lines have moved: there, places are
    /// numbered as they come, so that another line of the same function is told from one that moved.
    fn look(&self, step: u64, same: Sameness) -> Option<(ThreadId, OpKind, ObjectId, &str, u32)> {
        let step = self.step(step)?;
        let place = self.place(step);
        let (function, line) = place.map_or(("", 0), |it| (it.function.as_str(), it.line));
        let position = match same {
            Sameness::Bucket => line,
            Sameness::Functions => step.place,
        };
        Some((step.thread, step.kind, step.object, function, position))
    }

    /// A step, or the end.
    fn moment(&self, step: u64) -> Moment {
        let Some(step) = self.step(step) else {
            return Moment::End(self.end.map(|it| (it.kind, it.fault.clone())));
        };
        Moment::Step {
            thread: step.thread,
            kind: step.kind,
            object: self.schedule.objects.get(step.object.idx()).cloned().unwrap_or_default(),
            place: self.place(step).map(finding::reported).unwrap_or_default(),
        }
    }
}

#[cfg(test)]
mod tests;
