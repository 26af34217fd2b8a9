//! What to hold, order or change: only what was tested by constrained schedules, or follows from the locks that were
//! held, and it says which.

use raddle_model::{Misuse, Observation, Share};

use super::notes::{Said, share};

/// The proposals; empty where nothing is known.
pub(super) fn help(said: &Said<'_>) -> Vec<String> {
    let mut all = Vec::new();
    let observations = said.reason().map_or(&[][..], |it| &it.observations);
    for observation in observations.iter().filter(|it| said.is_about_orders(it)) {
        all.extend(of(said, observation));
    }
    all.extend(said.misuse().and_then(of_misuse).map(str::to_owned));
    // One is enough: the first is the most particular.
    all.truncate(1);
    all
}

fn of(said: &Said<'_>, observation: &Observation) -> Option<String> {
    match observation {
        Observation::NotOne { from, to, lock: Some(lock), .. } => Some(format!(
            "hold {} from {} to {} ({})",
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
            Some(format!(
                "lock {} in the same order in every thread (follows from the locks held)",
                crate::words::act::listed(&names)
            ))
        }
        Observation::NoLoop { wait } => Some(format!(
            "wait in a loop that checks the condition {} (follows from this schedule)",
            said.at(wait)
        )),
        _ => None,
    }
}

/// How it is known that nothing may come in between.
fn known(said: &Said<'_>) -> String {
    let turned: Vec<Share> = said.orders().iter().map(|it| it.0.reversed).collect();
    let sum =
        Share { n: turned.iter().map(|it| it.n).sum(), of: turned.iter().map(|it| it.of).sum() };
    match sum {
        Share { n: 0, of } if of > 0 => {
            format!("tested: {} schedules with an ordering reversed fail", share(sum))
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
