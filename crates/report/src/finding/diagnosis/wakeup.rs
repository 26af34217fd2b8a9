//! Why a wake-up was lost: whoever sent it did not hold the mutex that the waiting thread held from its check until it
//! waited.

use raddle_model::{Finding, Miss, ObjectId, OpKind, ThreadId};

use super::{mark::Moment, notes::Said};
use crate::{
    schedule::{held_before, own_place},
    words::act,
};

/// A notification between the check of a condition and the wait for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Unguarded {
    waiter: ThreadId,
    notifier: ThreadId,
    /// With which the waiter waits, and which the notifier did not hold.
    mutex: ObjectId,
    /// Steps, by their index: the waiter locks the mutex, is notified, waits.
    locked: usize,
    notified: usize,
    waited: usize,
}

/// The first one that shows in a finding.
pub(super) fn unguarded(finding: &Finding) -> Option<Unguarded> {
    finding.threads.iter().find_map(|state| {
        let missed = state.waits_for.as_ref()?.missed.as_ref()?;
        let is_notice = matches!(missed.kind, OpKind::Signal | OpKind::Broadcast);
        if missed.why != Miss::TooEarly || !is_notice {
            return None;
        }
        let of_waiter = |kinds: &[OpKind], object: Option<ObjectId>, n_steps: usize| {
            finding.steps[..n_steps].iter().rposition(|it| {
                let is_on = object.is_none_or(|object| it.object == object);
                it.thread == state.thread && kinds.contains(&it.kind) && is_on
            })
        };
        let waited = of_waiter(&[OpKind::CondWait], None, finding.steps.len())?;
        let mutex = finding.steps[waited].other;
        let locked = of_waiter(&[OpKind::Lock, OpKind::TryLock], Some(mutex), waited)?;
        let notified = missed.step.checked_sub(finding.n_steps_dropped + 1)?;
        let notified = usize::try_from(notified).ok()?;
        let is_between = locked < notified && notified < waited;
        let is_held = held_before(finding, notified, missed.thread).contains(&mutex);
        (is_between && !is_held && mutex != ObjectId::NONE).then_some(Unguarded {
            waiter: state.thread,
            notifier: missed.thread,
            mutex,
            locked,
            notified,
            waited,
        })
    })
}

impl Unguarded {
    /// Is a step of one of the two threads a part of it? Steps are counted from 0.
    pub(super) fn contains(&self, finding: &Finding, thread: ThreadId, step: u64) -> bool {
        let at = |idx: usize| finding.n_steps_dropped + idx as u64;
        let is_then = at(self.locked) <= step && step <= at(self.waited);
        is_then && (thread == self.waiter || thread == self.notifier)
    }

    /// "T1 broadcasts (5) without holding `queue.lock`, which T2 has locked at :66 but does not release before it waits (6)".
    pub(super) fn note(&self, said: &Said<'_>) -> Option<String> {
        let finding = said.finding;
        let lock = act::name(finding.objects.get(self.mutex.idx())?);
        let locked = own_place(finding, &finding.steps[self.locked])?;
        let verb = act::noun(finding.steps[self.notified].kind);
        Some(format!(
            "T{} does not hold {lock} at its {verb} ({}): T{} has locked it at {}, checked, and waits only \
             later ({})",
            self.notifier.0,
            said.at_step(self.notified),
            self.waiter.0,
            said.beside(locked),
            said.at_step(self.waited)
        ))
    }

    /// What keeps the two apart.
    pub(super) fn help(&self, said: &Said<'_>) -> Option<String> {
        let finding = said.finding;
        let lock = act::name(finding.objects.get(self.mutex.idx())?);
        let notified = &finding.steps[self.notified];
        // What it wrote last for it, if the text shows that.
        let wrote = said.marks.iter().rfind(|it| {
            let is_before = it.moment < said.moment(self.notified);
            it.thread == notified.thread && is_before && it.kind.is_some_and(OpKind::is_write)
        });
        let wrote = wrote.filter(|it| matches!(it.moment, Moment::Step(..)));
        let wrote = wrote.and_then(|it| it.number).map(|it| format!("at ({it}), "));
        Some(format!(
            "hold {lock} {}before the {} ({}): T{} holds it from its check to its wait (follows from the locks held)",
            wrote.unwrap_or_default(),
            act::noun(notified.kind),
            said.at_step(self.notified),
            self.waiter.0
        ))
    }
}
