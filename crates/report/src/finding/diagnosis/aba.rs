//! The ABA problem: a compare-exchange succeeds because a variable holds again what the thread had read, while what else
//! it read meanwhile is out of date.

use raddle_model::{Finding, ObjectId, OpKind, OpResult, Step};

use super::mark::{Mark, Moment};
use crate::words::act;

/// The steps of it, by their index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Aba {
    /// The thread's read of the variable.
    pub(super) read: usize,
    /// Its read of something else, which another thread writes before the compare-exchange.
    pub(super) stale: usize,
    /// That write.
    pub(super) overwrite: usize,
    /// Another thread's first write of the variable after the read.
    pub(super) away: usize,
    /// The last one, which leaves the same value again; it may be the first.
    pub(super) back: usize,
    /// The compare-exchange that succeeds.
    pub(super) cas: usize,
}

/// The last one whose compare-exchange the text shows.
pub(super) fn aba(finding: &Finding, marks: &[Mark]) -> Option<Aba> {
    let steps = &finding.steps;
    let is_shown = |idx: &usize| marks.iter().any(|it| it.moment == moment(finding, *idx));
    (0..steps.len()).rev().filter(is_shown).find_map(|cas| of_cas(steps, cas))
}

fn moment(finding: &Finding, idx: usize) -> Moment {
    Moment::Step(finding.n_steps_dropped + idx as u64, 0)
}

impl Aba {
    /// "T1's compare-exchange of `head` succeeds although T3 has written it since T1 read it (ABA)".
    pub(super) fn sentence(&self, finding: &Finding) -> String {
        let who = finding.steps[self.cas].thread.0;
        let others = self.others(finding);
        let has = if others.contains(" and ") { "have" } else { "has" };
        let head = name(finding, self.cas);
        format!(
            "T{who}'s compare-exchange of {head} succeeds although {others} {has} written it \
             since T{who} read it (ABA)"
        )
    }

    /// What was read, and is out of date.
    pub(super) fn note(&self, finding: &Finding, at: impl Fn(usize) -> String) -> String {
        let steps = &finding.steps;
        let who = steps[self.cas].thread.0;
        let (head, other) = (name(finding, self.read), name(finding, self.stale));
        format!(
            "ABA: T{who} reads {head} ({}), then {other} ({}); T{} changes {other} ({}), and {head} is \
             the same again when T{who}'s compare-exchange ({}) succeeds",
            at(self.read),
            at(self.stale),
            steps[self.overwrite].thread.0,
            at(self.overwrite),
            at(self.cas)
        )
    }

    /// "T2 and T3".
    fn others(&self, finding: &Finding) -> String {
        let threads = [self.away, self.back].map(|it| finding.steps[it].thread);
        let mut threads: Vec<String> = threads.iter().map(|it| format!("T{}", it.0)).collect();
        threads.sort_unstable();
        threads.dedup();
        act::listed(&threads)
    }
}

fn name(finding: &Finding, idx: usize) -> String {
    let object = finding.objects.get(finding.steps[idx].object.idx());
    object.map(act::name).unwrap_or_default()
}

fn of_cas(steps: &[Step], cas: usize) -> Option<Aba> {
    let Step { thread, object, value, .. } = steps[cas];
    if steps[cas].kind != OpKind::AtomicCas || steps[cas].result == OpResult::Busy {
        return None;
    }
    let is_read = |it: &Step| matches!(it.kind, OpKind::Read | OpKind::AtomicLoad);
    let read = (0..cas)
        .rev()
        .find(|idx| steps[*idx].thread == thread && touches(&steps[*idx], object))
        .filter(|idx| is_read(&steps[*idx]) && steps[*idx].value == value)?;
    let writes_of = |object: ObjectId, from: usize| {
        (from + 1..cas).filter(move |idx| {
            let step = &steps[*idx];
            step.thread != thread && touches(step, object) && is_write(step)
        })
    };
    let away = writes_of(object, read).next()?;
    let back = writes_of(object, read).next_back()?;
    // A lock that was taken and released meanwhile is none: nothing that was read in between is used.
    let (stale, overwrite) = (read + 1..cas)
        .filter(|idx| {
            let step = &steps[*idx];
            let reads = is_read(step) || step.kind == OpKind::AtomicRmw;
            step.thread == thread && reads && step.object != object
        })
        .find_map(|idx| Some((idx, writes_of(steps[idx].object, idx).next()?)))?;
    Some(Aba { read, stale, overwrite, away, back, cas })
}

fn touches(step: &Step, object: ObjectId) -> bool {
    step.object == object && step.kind.is_access() && object != ObjectId::NONE
}

fn is_write(step: &Step) -> bool {
    step.kind.is_write() && step.result != OpResult::Busy
}

#[cfg(test)]
mod tests {
    use raddle_model::ThreadId;

    use super::*;

    fn step(thread: u32, kind: OpKind, object: u32, value: u64) -> Step {
        Step { thread: ThreadId(thread), kind, object: ObjectId(object), value, ..Step::default() }
    }

    /// T1 reads head (1) and the next of that cell, which T2 takes out and puts back with another one behind it.
    #[test]
    fn a_cell_that_came_back_with_another_one_behind_it() {
        let steps = [
            step(1, OpKind::AtomicLoad, 1, 7),
            step(1, OpKind::AtomicLoad, 2, 8),
            step(2, OpKind::AtomicCas, 1, 7),
            step(2, OpKind::AtomicStore, 2, 9),
            step(2, OpKind::AtomicCas, 1, 8),
            step(1, OpKind::AtomicCas, 1, 7),
        ];
        let expected = Aba { read: 0, stale: 1, overwrite: 3, away: 2, back: 4, cas: 5 };
        assert_eq!(of_cas(&steps, 5), Some(expected));
    }

    #[test]
    fn a_lock_that_was_released_again() {
        let steps = [
            step(1, OpKind::AtomicLoad, 1, 0),
            step(2, OpKind::AtomicCas, 1, 0),
            step(2, OpKind::Write, 2, 1),
            step(2, OpKind::AtomicStore, 1, 0),
            step(1, OpKind::AtomicCas, 1, 0),
            step(1, OpKind::Read, 2, 1),
        ];
        assert_eq!(of_cas(&steps, 4), None);
    }
}
