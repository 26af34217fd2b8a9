//! Where else a lock is released that a thread releases without holding it: in this schedule, or in the nearest one that
//! passes. A lock that is released nowhere else is no lock but a signal.

use raddle_model::{Fault, Misuse, NamedObject, OpKind, OpResult, Place, Step, ThreadId};

use super::notes::Said;
use crate::{
    schedule::own_place,
    words::{act, place},
};

/// "T1, which locked `gate`, releases it at :18, too"; "`gate` is not released anywhere else in this schedule".
pub(super) fn note(said: &Said<'_>) -> Option<String> {
    let finding = said.finding;
    let Fault::Misuse(misused) = &finding.fault else { return None };
    if !matches!(misused.misuse, Misuse::UnlockNotOwner | Misuse::UnlockUnlocked) {
        return None;
    }
    let name = act::name(&misused.object);
    let here = last_release(&finding.steps, &finding.objects, &misused.object);
    let here = here.and_then(|it| Some((it.thread, own_place(finding, it)?)));
    if let Some((thread, at)) = here {
        return Some(match misused.misuse {
            Misuse::UnlockUnlocked => {
                format!("{} has released {name} before, at {}", act::short(thread), said.beside(at))
            }
            _ => format!("{} releases {name} at {}, too", act::short(thread), said.beside(at)),
        });
    }
    let passing = said.explanation.and_then(|it| it.passing.as_deref());
    let there = passing.and_then(|passing| {
        let step = last_release(&passing.steps, &passing.objects, &misused.object)?;
        Some((step.thread, passing.places.get(step.place as usize).filter(|it| is_own(it))?))
    });
    if let Some((thread, at)) = there {
        let which = owner(said, thread);
        let at = said.beside(at);
        return Some(format!("in a schedule that passes, {which} releases {name} at {at}"));
    }
    // What was released before there were threads is no step.
    let is_whole = finding.n_steps_dropped == 0 && misused.misuse == Misuse::UnlockNotOwner;
    is_whole.then(|| format!("no thread releases {name} anywhere else in this schedule"))
}

fn is_own(it: &Place) -> bool {
    !place::is_library(it) && it.line > 0
}

/// "T1 (worker)", or "T1, which locked it".
fn owner(said: &Said<'_>, thread: ThreadId) -> String {
    let locks = |it: &&super::Mark| it.thread == thread && it.kind.is_some_and(OpKind::takes_lock);
    match said.marks.iter().find(locks) {
        Some(_) => format!("{}, which locked it,", act::short(thread)),
        None => super::thread(said.finding, thread),
    }
}

fn last_release<'a>(
    steps: &'a [Step],
    objects: &[NamedObject],
    lock: &NamedObject,
) -> Option<&'a Step> {
    steps.iter().rfind(|it| {
        matches!(it.kind, OpKind::Unlock | OpKind::RwUnlock)
            && it.result == OpResult::Done
            && objects.get(it.object.idx()) == Some(lock)
    })
}
