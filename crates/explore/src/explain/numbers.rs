//! Smaller numbers: what a program drew with `raddle_any` before it had threads, made small before the schedule is.
//!
//! Such numbers say what is to be run: how many elements, which operations. A smaller one makes other threads take other
//! steps, so the schedule that showed the finding is none for it, and others are tried: a few dozen at random, with the
//! numbers as the beginning of all of them. Each number is tried as 0, then as one less; a change that shows the finding
//! is kept, if the execution is no longer for it.

use raddle_model::{Event, OpKind, PickerSpec, Plan};
use raddle_trace::{Entry, Trace};

use super::trials::Trials;
use crate::target::{Block, Execution, TargetError};

/// Schedules that are tried for smaller numbers.
const SCHEDULES: u64 = 96;
/// Changes that are tried.
const CHANGES_MAX: usize = 80;

/// The beginning of executions: all choices until the last number was drawn.
struct Beginning {
    choices: Vec<u32>,
    /// Where numbers are among them.
    numbers: Vec<usize>,
}

impl Beginning {
    /// `None` if no number was drawn before there were several threads.
    fn of(trace: &Trace) -> Option<Beginning> {
        let events = &trace.events;
        let is_number = |it: &Event| it.kind == OpKind::Any;
        let first = events.iter().position(is_number).filter(|_| trace.n_dropped == 0)?;
        let thread = events[first].thread;
        let n_alone = events[first..].iter().take_while(|it| it.thread == thread).count();
        let last = events[..first + n_alone].iter().rposition(is_number)?;
        let mut beginning = Beginning { choices: Vec::new(), numbers: Vec::new() };
        for event in &events[..=last] {
            beginning.choices.push(event.thread.0);
            let Some(choice) = event.choice() else { continue };
            if is_number(event) {
                beginning.numbers.push(beginning.choices.len());
            }
            beginning.choices.push(choice);
        }
        Some(beginning)
    }
}

/// An execution that shows the finding with smaller numbers, and its seed, if there is one.
pub(super) fn smaller(
    trials: &mut Trials<'_>,
    base: &Plan,
    first: &Execution,
) -> Result<Option<(Execution, u64)>, TargetError> {
    let mut best: Option<(Execution, u64)> = None;
    let mut n_changes = 0;
    let mut idx = 0;
    let mut is_first_round = true;
    loop {
        let trace = best.as_ref().map_or(&first.trace, |it| &it.0.trace);
        let Some(Beginning { mut choices, numbers }) = Beginning::of(trace) else { break };
        let Some(at) = numbers.get(idx).copied() else {
            if !is_first_round {
                break;
            }
            (is_first_round, idx) = (false, 0);
            continue;
        };
        // 0 first, and where that was in vain, one less.
        let old = choices[at];
        let new = if is_first_round { 0 } else { old.saturating_sub(1) };
        if old == new || trials.is_late() {
            idx += 1;
            continue;
        }
        if n_changes == CHANGES_MAX {
            break;
        }
        n_changes += 1;
        choices[at] = new;
        let size = cost(trace);
        match shown(trials, &Plan { prefix: choices, ..base.clone() }, size)? {
            Some(found) => best = Some(found),
            None => idx += 1,
        }
    }
    Ok(best)
}

/// What an execution is asked not to exceed.
fn cost(trace: &Trace) -> u64 {
    let n_operations = trace.history.as_ref().map(|it| it.operations.len() as u64);
    n_operations.unwrap_or(trace.summary.n_steps)
}

/// An execution that begins so and shows the finding, and its seed.
fn shown(
    trials: &mut Trials<'_>,
    plan: &Plan,
    size: u64,
) -> Result<Option<(Execution, u64)>, TargetError> {
    const PICKERS: [PickerSpec; 3] = [PickerSpec::Walk, PickerSpec::Pos, PickerSpec::Sites];
    let mut next = 0;
    while next < SCHEDULES && !trials.is_late() {
        let entries: Vec<Entry> =
            (next..SCHEDULES).map(|it| Entry::new(PICKERS[it as usize % 3], it)).collect();
        let (picker, seed) = (PICKERS[next as usize % 3], next);
        let plan = Plan { picker, seed, ..plan.clone() };
        let (n_run, execution) = trials.run_until(Block {
            plan,
            entries,
            exit_is_fine: trials.exit_is_fine,
            common: 0,
        })?;
        let Some(execution) = execution.filter(|_| n_run > 0) else { return Ok(None) };
        next += n_run;
        let is_kept = execution.trace.n_dropped == 0 && cost(&execution.trace) <= size;
        if is_kept && trials.shows(&execution) {
            return Ok(Some((execution, next - 1)));
        }
    }
    Ok(None)
}
