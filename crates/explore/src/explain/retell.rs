//! A schedule once more, with all that can be told of its steps: the values that were written, and the calls that
//! led there.
//!
//! Executions that are only compared with others don't keep that, for it would take them several times as long.
//! The schedules that are shown are run once more instead.

use raddle_model::{Finding, Passing, Place, Plan, Record, Step};

use super::trials::Trials;
use crate::{finding::Described, target::TargetError};

/// Tells the steps of a finding that `plan` leads along.
pub(super) fn finding(
    trials: &mut Trials<'_>,
    plan: &Plan,
    finding: &mut Finding,
) -> Result<(), TargetError> {
    let Finding { steps, places, stacks, .. } = finding;
    retell(trials, plan, Tables { steps, places, stacks })
}

/// Tells the steps of a schedule that passes.
pub(super) fn passing(trials: &mut Trials<'_>, passing: &mut Passing) -> Result<(), TargetError> {
    let Passing { plan, steps, places, stacks, .. } = passing;
    retell(trials, plan, Tables { steps, places, stacks })
}

struct Tables<'a> {
    steps: &'a mut Vec<Step>,
    places: &'a mut Vec<Place>,
    stacks: &'a mut Vec<Vec<u32>>,
}

/// What comes of it is left out if these were other steps.
fn retell(trials: &mut Trials<'_>, plan: &Plan, old: Tables<'_>) -> Result<(), TargetError> {
    if trials.is_late() {
        return Ok(());
    }
    let record = Record { options: true, stacks: true, ..plan.record };
    let trial = match trials.run_free(&Plan { record, ..plan.clone() }) {
        // Time is over: it is shown without.
        Err(TargetError::Stopped) => return Ok(()),
        trial => trial?,
    };
    let new = Described::of(&trial.execution.trace, trials.symbols);
    let look = |it: &Step| (it.thread, it.kind, it.object, it.place);
    if new.steps.iter().map(look).eq(old.steps.iter().map(look)) {
        (*old.steps, *old.places, *old.stacks) = (new.steps, new.places, new.stacks);
    }
    Ok(())
}
