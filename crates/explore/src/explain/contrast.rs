//! The nearest schedule that passes, and the first value in which it differs.

use raddle_model::{Difference, Finding, Passing, PickerSpec, Plan, Point, Record, Step};
use raddle_trace::Trace;

use super::{minimise::size, reason::PassingExecution};
use crate::{finding::Described, target::Symbols};

/// A passing execution as a value.
pub(super) fn passing(
    contrast: PassingExecution,
    failing: &Trace,
    small: &Finding,
    symbols: &mut dyn Symbols,
) -> Passing {
    let PassingExecution { execution, plan, reversed, .. } = contrast;
    let trace = &execution.trace;
    let described = Described::of(trace, symbols);
    let record = Record { options: false, ..plan.record };
    let picker = PickerSpec::Nonpreemptive;
    Passing {
        plan: Plan { prefix: described.choices, picker, record, ..plan },
        steps: described.steps,
        n_steps_dropped: described.n_steps_dropped,
        objects: described.objects,
        places: described.places,
        stacks: described.stacks,
        threads: described.threads,
        size: size(trace),
        reversed,
        difference: difference(failing, trace, small, symbols),
    }
}

/// The first step of the failing schedule that sees another value than the same step of its thread in
/// the passing one.
fn difference(
    failing: &Trace,
    passing: &Trace,
    small: &Finding,
    symbols: &mut dyn Symbols,
) -> Option<Difference> {
    let [step, other] = *raddle_analysis::differences(failing, passing).first()?;
    Some(Difference {
        point: point(step, small, symbols)?,
        passing_step: other as u64,
        values: [failing.events[step].value, passing.events[other].value],
    })
}

/// A step of the smallest schedule, if the finding has kept it.
fn point(idx: usize, small: &Finding, symbols: &mut dyn Symbols) -> Option<Point> {
    let Step { thread, kind, object, place, .. } = *small.step(idx as u64)?;
    let place = small.places.get(place as usize).cloned().unwrap_or_default();
    let source = symbols.source_line(&place).unwrap_or_default();
    Some(Point { step: Some(idx as u64), ..Point::new(thread, kind, object, place, source) })
}
