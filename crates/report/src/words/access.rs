//! What a schedule says of the accesses that an analysis has found.

use raddle_model::{Access, Evidence, Finding, Kind};

/// Are two accesses told because of their order?
pub(crate) fn is_order(finding: &Finding) -> bool {
    let accesses = finding.evidence.as_deref().map_or(&[][..], |it| &it.accesses);
    finding.kind == Kind::Atomicity && accesses.len() == 2
}

/// What a schedule says beside an access.
pub(crate) fn mark(finding: &Finding, access: &Access) -> &'static str {
    let first = finding.evidence.as_deref().and_then(|it| it.accesses.first());
    match finding.kind {
        Kind::Atomicity if is_order(finding) => "in this order",
        Kind::Atomicity if first.is_some_and(|it| it.thread == access.thread) => "meant to be one",
        Kind::Atomicity => "in between",
        _ => "race",
    }
}

/// What a schedule says of an access that was no step.
pub(crate) fn words(access: &Access, evidence: &Evidence) -> String {
    let verb = access.kind.verb();
    match evidence.location.name.as_str() {
        name if name.is_empty() || name.contains(' ') => verb.to_owned(),
        name => format!("{verb} {name}"),
    }
}

/// The step that an access is, among those that are kept: the last one of those that were done then, if
/// it was done by this access.
pub(crate) fn step_idx(finding: &Finding, access: &Access) -> Option<usize> {
    let n_kept = access.step.checked_sub(finding.n_steps_dropped)?;
    let idx = usize::try_from(n_kept.checked_sub(1)?).ok()?;
    let step = finding.steps.get(idx)?;
    let place = finding.places.get(step.place as usize)?;
    // A step is where the access itself is, which may be in a library that the program called.
    let is_there = *place == access.place || access.stack.contains(place);
    (step.thread == access.thread && step.kind == access.kind && is_there).then_some(idx)
}
