//! What to hold, order or change: only what was tested by constrained schedules, or follows from the locks that were
//! held, and it says which.

use raddle_model::{Misuse, Observation, OpKind, Place, Point, Share};

use super::{
    mark::Mark,
    notes::{Said, share},
    released::is_read_locked,
    wakeup::unguarded,
};
use crate::words::{place, strength};

/// The proposals; empty where nothing is known.
pub(super) fn help(said: &Said<'_>) -> Vec<String> {
    let mut all = Vec::new();
    // What was tried on the program says more than what its schedules have in common.
    all.extend(said.explanation.and_then(|it| strength::help(it.weakness.as_ref()?)));
    all.extend(unguarded(said.finding).and_then(|it| it.help(said)));
    let observations = said.reason().map_or(&[][..], |it| &it.observations);
    // Who does not look again after a wait does not need a longer section.
    if !observations.iter().any(|it| matches!(it, Observation::NoLoop { .. })) {
        all.extend(of_released(said));
    }
    for observation in observations.iter().filter(|it| said.is_about_orders(it)) {
        all.extend(of(said, observation));
    }
    all.extend(said.misuse().and_then(of_misuse).map(str::to_owned));
    // One is enough: the first is the most particular.
    all.truncate(1);
    all
}

/// "do not release `lock` between :23 and :26, or check again".
fn of_released(said: &Said<'_>) -> Option<String> {
    let released = said.released();
    let first = released.first()?;
    let lock = said.finding.objects.get(first.lock.idx())?;
    // Two calls of one function are told by who calls it.
    let place = |mark: &Mark| match (&first.from.caller, &first.to.caller) {
        (Some(from), Some(to)) if from != to => mark.caller.clone().unwrap_or_default(),
        _ => mark.place.clone(),
    };
    let (from, to) = (place(first.from), place(first.to));
    let is_below = from.function == to.function && from.line < to.line;
    // Lines of two functions are no stretch: the numbers say which ones are meant.
    let at = |mark: &Mark| match (mark.number, said.beside(&place(mark))) {
        (Some(number), at) if !is_below => format!("{number} ({at})"),
        (_, at) => at,
    };
    let lock_name = crate::words::act::name(lock);
    // Who holds a read lock and asks for the write lock waits for itself.
    if is_read_locked(said.finding, std::slice::from_ref(first.from), first.lock) {
        return Some(format!(
            "write-lock {lock_name} from {} on, or check again after locking it ({})",
            at(first.from),
            known(said)
        ));
    }
    Some(format!(
        "do not release {lock_name} between {} and {}, or check again after locking it ({})",
        at(first.from),
        at(first.to),
        known(said)
    ))
}

fn of(said: &Said<'_>, observation: &Observation) -> Option<String> {
    match observation {
        Observation::NotOne { from, between, to, lock: None }
            if (from.kind, to.kind) == (OpKind::Read, OpKind::Write)
                && between.kind == OpKind::Write
                && from.object == to.object
                && said.holds_nothing(from)
                && said.holds_nothing(to) =>
        {
            Some(format!(
                "hold one lock from the read {} to the write {}, in every thread (follows from the locks held: none)",
                said.at(from),
                said.at(to)
            ))
        }
        Observation::NotOne { from, between, to, lock: None }
            if (from.kind, to.kind) == (OpKind::AtomicLoad, OpKind::AtomicStore)
                && between.kind.is_write()
                && from.object == to.object =>
        {
            Some(format!(
                "make the read {} and the write {} one compare-exchange (each alone is atomic, the two are not)",
                said.at(from),
                said.at(to)
            ))
        }
        Observation::NotOne { from, between, to, lock: None }
            if between.kind.is_write()
                && [from, between, to].iter().all(|it| it.kind.is_access()) =>
        {
            let guards = said.held(between);
            let held = [said.held(from), said.held(to)].concat();
            let lock = held.into_iter().find(|it| guards.contains(it))?;
            Some(format!(
                "hold {} from {} to {}, as T{} does {} ({})",
                crate::words::act::name(said.finding.objects.get(lock.idx())?),
                said.at(from),
                said.at(to),
                between.thread.0,
                said.at(between),
                known(said)
            ))
        }
        Observation::NotOne { from, to, lock: Some(lock), .. } => Some(format!(
            "do not release {} between {} and {}, or check again after locking it ({})",
            crate::words::act::name(lock),
            said.at(from),
            said.at(to),
            known(said)
        )),
        Observation::LockOnOneSide { holding, other, lock } if said.misuse().is_none() => {
            Some(format!(
                "hold {} at {}, too (follows from the locks held: T{} holds it at {})",
                crate::words::act::name(lock),
                said.at(other),
                holding.thread.0,
                said.at(holding)
            ))
        }
        Observation::DifferentLocks { sides: [one, other], .. } => Some(format!(
            "hold the same lock at {} and {} (follows from the locks held)",
            said.at(one),
            said.at(other)
        )),
        Observation::LockOrder { links } => {
            let mut names: Vec<String> = links.iter().map(|it| said.lock(&it[0])).collect();
            names.dedup();
            let or = links.iter().find_map(|it| called_with_lock(said, it)).unwrap_or_default();
            Some(format!(
                "lock {} in the same order in every thread{or} (follows from the locks held)",
                crate::words::act::listed(&names)
            ))
        }
        Observation::TakenSignal { signal, woken, wait } if signal.kind == OpKind::Signal => {
            Some(format!(
                "make the signal {} a broadcast, which wakes both T{} and T{} (follows from this schedule)",
                said.at(signal),
                woken.thread.0,
                wait.thread.0
            ))
        }
        Observation::WastedSignal { signal, .. } if signal.kind == OpKind::Signal => Some(format!(
            "make the signal {} a broadcast, or use one condition variable for each condition (follows from this schedule)",
            said.at(signal)
        )),
        Observation::NoLoop { wait } => Some(format!(
            "wait in a loop that checks the condition {} (follows from this schedule)",
            said.at(wait)
        )),
        _ => None,
    }
}

/// ", or release `bus.lock` before the call of on_event at :23": where one function takes a lock, and one that it calls
/// waits for another.
fn called_with_lock(said: &Said<'_>, [took, wants]: &[Point; 2]) -> Option<String> {
    let state = said.finding.threads.iter().find(|it| it.thread == wants.thread)?;
    let is_own = |it: &&Place| !place::is_library(it) && it.line > 0;
    let frames: Vec<&Place> = state.stack.iter().filter(is_own).collect();
    let holder = frames.iter().position(|it| it.function == took.place.function)?;
    let callee = frames.get(holder.checked_sub(1)?)?;
    let (lock, at) = (said.lock(took), said.beside(frames[holder]));
    Some(format!(
        ", or release {lock} before the call of {} at {at}",
        place::function(&callee.function)
    ))
}

/// How it is known that nothing may come in between.
fn known(said: &Said<'_>) -> String {
    let turned: Vec<Share> = said.orders().iter().map(|it| it.0.reversed).collect();
    let sum =
        Share { n: turned.iter().map(|it| it.n).sum(), of: turned.iter().map(|it| it.of).sum() };
    match sum {
        Share { n: 0, of } if of > 0 => {
            format!(
                "follows from the locks held; {} schedules with an ordering reversed fail",
                share(sum)
            )
        }
        _ => "follows from the locks held".to_owned(),
    }
}

/// What undefined uses want instead.
const fn of_misuse(misuse: Misuse) -> Option<&'static str> {
    match misuse {
        Misuse::UnlockNotOwner => Some(
            "to let another thread go on, use a semaphore or a condition variable (follows from the locks held)",
        ),
        _ => None,
    }
}
