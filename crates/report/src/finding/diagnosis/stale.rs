//! What a schedule owes to a weak memory model: loads that passed over a newer store, and stores that stand before an
//! earlier one.

use raddle_model::{Event, Finding, MemoryModel, OpKind, Step};

use super::notes::Said;
use crate::{layout::style::Style, words::act};

/// Notes of this kind, at most.
const TOLD_MAX: usize = 3;

impl Said<'_> {
    /// "stale read: T2 reads `ready` = 0 (4), although T1 stored 1 (2): …".
    pub(super) fn stale(&self) -> Vec<String> {
        let steps = self.finding.steps.iter().enumerate();
        let mut all: Vec<String> = Vec::new();
        for (idx, step) in steps {
            let Some(text) = self.passed(idx, step) else { continue };
            if all.len() == TOLD_MAX {
                break;
            }
            if !all.contains(&text) {
                all.push(text);
            }
        }
        all
    }

    fn passed(&self, idx: usize, step: &Step) -> Option<String> {
        let event = step.event();
        let n_dropped = usize::try_from(self.finding.n_steps_dropped).ok()?;
        let other = event.passed()?.checked_sub(n_dropped)?;
        let newer = self.finding.steps.get(other)?;
        let object = self.finding.objects.get(step.object.idx())?;
        let name = act::name(object);
        let value = |it: &Step| act::shown(it.value, Some(object), self.style);
        let (at, newer_at) = (self.at_step(idx), self.at_step(other));
        let orders = format!("{} and {}", order(&event), order(&newer.event()));
        if step.kind == OpKind::AtomicStore {
            return Some(format!(
                "T{} stores {} to {name} ({at}) after T{}'s {} ({newer_at}), but it takes effect before: nothing orders \
                 the two ({orders})",
                step.thread.0,
                value(step),
                newer.thread.0,
                act::noun(newer.kind),
            ));
        }
        let stored = match newer.kind {
            OpKind::AtomicStore => format!("stored {}", value(newer)),
            _ => "changed it".to_owned(),
        };
        let why = match self.finding.plan.conditions.memory_model {
            MemoryModel::Tso => "the store is still in a store buffer".to_owned(),
            _ => format!("nothing orders the two ({orders})"),
        };
        Some(format!(
            "stale read: T{} reads {name} = {} ({at}), although T{} {stored} ({newer_at}): {why}",
            step.thread.0,
            value(step),
            newer.thread.0,
        ))
    }
}

/// "T2 reads `ready` = 0, although T1 stored 1 before (stale read)": of the last load that passed over a newer store, the
/// failing thread's if there is one; else of the last store that was overtaken.
pub(super) fn sentence(finding: &Finding, style: &Style) -> Option<String> {
    let n_dropped = usize::try_from(finding.n_steps_dropped).ok()?;
    let newer = |it: &Step| finding.steps.get(it.event().passed()?.checked_sub(n_dropped)?);
    let passed = finding.steps.iter().filter_map(|it| Some((it, newer(it)?)));
    let (step, newer) = passed.max_by_key(|(it, _)| {
        (it.kind != OpKind::AtomicStore, Some(it.thread) == finding.thread)
    })?;
    let object = finding.objects.get(step.object.idx())?;
    let name = act::name(object);
    let value = |it: &Step| act::shown(it.value, Some(object), style);
    let (who, other) = (step.thread.0, newer.thread.0);
    Some(match (step.kind, newer.kind) {
        (OpKind::AtomicStore, _) => {
            format!("T{who}'s store to {name} takes effect before T{other}'s earlier one")
        }
        (_, OpKind::AtomicStore) => {
            let (read, stored) = (value(step), value(newer));
            format!("T{who} reads {name} = {read}, although T{other} stored {stored} (stale read)")
        }
        _ => {
            let read = value(step);
            format!("T{who} reads {name} = {read}, although T{other} changed it (stale read)")
        }
    })
}

/// As C has it: `relaxed`, `acq_rel`.
const fn order(event: &Event) -> &'static str {
    event.order().word()
}
