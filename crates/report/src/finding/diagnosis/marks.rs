//! Which moments of an execution the first screen shows: the sides of the orderings that make it fail, who took what
//! others wait for, what ended a lifetime, the write that a failing read saw, and the failure itself.

use std::collections::BTreeSet;

use raddle_model::{
    Access, Constraint, Evidence, Explanation, Fault, Finding, Flags, Kind, Link, Missed, Misuse,
    Misused, NamedObject, ObjectId, Observation, OpKind, OpResult, Origin, Place, Reason, Share,
    Step, ThreadId, ThreadState, WaitFor, signal_name,
};

use super::{
    mark::{Mark, Moment},
    notes::SAMPLES_MIN,
    operands,
    released::held_everywhere,
    round,
    wakeup::{self, Unguarded},
};
use crate::{
    schedule::{held_before, own_place},
    words::{fault, place},
};

/// More than this do not fit above the schedule.
const MARKS_MAX: usize = 8;
/// Places: more than this before the failure itself push it out of the first twenty lines.
const BEFORE_MAX: usize = 5;

/// What a step read or wrote, if it says so.
pub(super) fn value(step: &Step) -> Option<u64> {
    let is_written = step.kind == OpKind::AtomicStore || Flags(step.flags).has(Flags::WRITTEN);
    // Of a copy of many bytes, the step has no value.
    let is_one = step.size <= 8;
    ((reads(step.kind) || is_written) && is_one).then_some(step.value)
}

/// Is the value of such a step what it read?
const fn reads(kind: OpKind) -> bool {
    matches!(kind, OpKind::Read | OpKind::AtomicLoad | OpKind::AtomicRmw | OpKind::AtomicCas)
}

/// What an update leaves: nobody says so but who reads it next.
pub(super) fn left(finding: &Finding, idx: usize) -> Option<u64> {
    let step = &finding.steps[idx];
    if !matches!(step.kind, OpKind::AtomicRmw | OpKind::AtomicCas) {
        return None;
    }
    if step.result == OpResult::Busy {
        return Some(step.value);
    }
    if step.left.is_some() {
        return step.left;
    }
    let is_next = |it: &&Step| it.object == step.object && it.kind.is_access();
    let next = finding.steps[idx + 1..].iter().find(is_next)?;
    (reads(next.kind) && next.size == step.size).then_some(next.value)
}

/// The last write of what a step reads.
pub(super) fn origin(finding: &Finding, idx: usize) -> Option<Origin> {
    let steps = &finding.steps;
    let is_it = |it: &Step| {
        it.object == steps[idx].object
            && it.kind.is_access()
            && it.kind.is_write()
            && it.result != OpResult::Busy
    };
    let write = steps[..idx].iter().rposition(is_it).filter(|_| reads(steps[idx].kind))?;
    let place = own_place(finding, &steps[write]).cloned().unwrap_or_default();
    let step = Some(finding.n_steps_dropped + write as u64);
    Some(Origin { thread: steps[write].thread, step, after: 0, place })
}

/// The moments, as they came, numbered.
pub(crate) fn marks(finding: &Finding, explanation: Option<&Explanation>) -> Vec<Mark> {
    let reason = explanation.and_then(|it| it.reason.as_ref());
    let mut marks = Marks { finding, reason, all: Vec::new() };
    match finding.evidence.as_deref() {
        Some(evidence) => marks.evidence(evidence),
        None => {
            marks.reason();
            match finding.kind {
                Kind::Deadlock => {
                    marks.waits();
                    marks.lost_wakeup();
                }
                Kind::Livelock => marks.round(),
                _ => marks.failure(),
            }
        }
    }
    marks.done()
}

struct Marks<'a> {
    finding: &'a Finding,
    reason: Option<&'a Reason>,
    all: Vec<Mark>,
}

impl Marks<'_> {
    /// Adds a mark, or what is new in it; its index.
    fn add(&mut self, mark: Mark) -> usize {
        let known = self.all.iter().position(|it| it.is_same(&mark));
        let Some(idx) = known else {
            self.all.push(mark);
            return self.all.len() - 1;
        };
        let old = &mut self.all[idx];
        old.moment = old.moment.min(mark.moment);
        old.is_order |= mark.is_order;
        old.is_noted |= mark.is_noted;
        old.value = old.value.or(mark.value);
        old.caller = old.caller.take().or(mark.caller);
        old.failure = old.failure.take().or(mark.failure);
        idx
    }

    /// The sides of the orderings, and of what stands out about them.
    fn reason(&mut self) {
        let Some(reason) = self.reason else { return };
        for point in reason.orders.iter().flat_map(|it| [&it.first, &it.second]) {
            let mark = Mark::of_point(self.finding, point);
            self.add(Mark { is_order: true, ..mark });
        }
        for observation in &reason.observations {
            let (points, is_order) = match observation {
                Observation::NotOne { from, between, to, .. } => (vec![from, between, to], true),
                Observation::LockOrder { .. } | Observation::NoLock { .. } => continue,
                other => (other.points(), false),
            };
            for point in points {
                // What is locked on one side is told by the access, not by the lock.
                let mark = Mark::of_point(self.finding, point);
                let has_caller = mark.caller.is_some();
                let near = self.all.iter().position(|it| {
                    it.thread == mark.thread && it.moment == mark.moment && it.object == mark.object
                });
                match near {
                    Some(idx) if !has_caller => self.all[idx].is_noted = true,
                    _ => drop(self.add(Mark { is_order, is_noted: true, ..mark })),
                }
            }
        }
    }

    /// Two accesses, or the links of a cycle of locks.
    fn evidence(&mut self, evidence: &Evidence) {
        for access in &evidence.accesses {
            let mut mark = self.of_access(access, evidence.memory_id);
            mark.holds = Some(access.holds.iter().map(|it| it.lock.clone()).collect());
            let name = &evidence.location.name;
            mark.name = Some(name.clone()).filter(|it| !it.is_empty() && evidence.memory.len() < 2);
            self.all.push(mark);
        }
        for link in &evidence.links {
            self.link(link);
        }
        // As they came; the last is where it shows.
        let wants = evidence.links.first().map(|it| (it.thread, it.wants_id));
        let last = match wants {
            None => self.all.len().checked_sub(1),
            Some(wants) => self.all.iter().position(|it| (it.thread, it.object) == wants),
        };
        if let Some(last) = last {
            self.all[last].is_primary = true;
        }
    }

    fn of_access(&self, access: &Access, memory: ObjectId) -> Mark {
        let own = access.stack.iter().find(|it| !place::is_library(it) && it.line > 0);
        let place = own.unwrap_or(&access.place).clone();
        // The step that it is, if it is one.
        let idx = crate::words::access::step_idx(self.finding, access);
        let after = u32::from(idx.is_none());
        let moment = Moment::Step(access.step.saturating_sub(1), after);
        let mut mark = Mark::new(access.thread, moment, access.kind, memory, place);
        mark.value = idx.and_then(|it| value(&self.finding.steps[it]));
        mark
    }

    /// "T1 locks `a`", then "T1 locks `b`", which it would wait for.
    fn link(&mut self, link: &Link) {
        let took = Moment::Step(link.steps[0].saturating_sub(1), 0);
        let took = Mark::new(
            link.thread,
            took,
            OpKind::Lock,
            link.holds.lock_id,
            link.holds.taken_at.clone(),
        );
        self.add(took);
        let wants = Moment::Step(link.steps[1].saturating_sub(1), 0);
        let wants =
            Mark::new(link.thread, wants, OpKind::Lock, link.wants_id, link.wants_at.clone());
        self.add(wants);
    }

    /// Who waits, who holds it, and the notification that did not come in time.
    fn waits(&mut self) {
        let finding = self.finding;
        let mut states: Vec<&ThreadState> =
            finding.threads.iter().filter(|it| it.waits_for.is_some()).collect();
        let told = fault::told_wait(finding).map(|it| it.thread);
        states.sort_by_key(|it| {
            let in_cycle = finding.cycle.iter().position(|thread| *thread == it.thread);
            (in_cycle.unwrap_or(usize::MAX), told != Some(it.thread))
        });
        let in_cycle = |it: &ThreadState| finding.cycle.contains(&it.thread);
        let is_join = |it: &ThreadState| it.pending == Some(OpKind::Join);
        // Who only waits for the end of those is told below.
        let has_others = states.iter().any(|it| in_cycle(it) || !is_join(it));
        states.retain(|it| in_cycle(it) || !has_others || !is_join(it));
        // So is who waits where no line of the program is: the harness of a test.
        let has_line = |it: &ThreadState| it.waits_for.as_ref().is_some_and(|it| it.at.line > 0);
        if states.iter().any(|it| has_line(it)) {
            states.retain(|it| in_cycle(it) || has_line(it));
        }
        let mut primary = None;
        for state in states {
            let Some(wait) = &state.waits_for else { continue };
            for (holder, taken) in &wait.holders {
                if !place::is_ahead(finding, *holder, wait) {
                    self.took(*holder, wait.object_id, taken);
                }
            }
            if let Some(missed) = &wait.missed {
                self.missed(missed, wait.object_id);
            }
            // The wait may be a step that an ordering speaks of.
            let last = finding.steps.iter().rposition(|it| it.thread == state.thread);
            let began = last.filter(|it| begins_wait(&finding.steps[*it], wait));
            let at = |it: usize| Moment::Step(finding.n_steps_dropped + it as u64, 0);
            let known = self.all.iter().position(|it| {
                it.thread == state.thread && Some(it.moment) == last.map(at) && it.place == wait.at
            });
            let kind = state.pending.unwrap_or(OpKind::Lock);
            let mut mark =
                Mark::new(state.thread, Moment::Blocked, kind, wait.object_id, wait.at.clone());
            mark.moment = began.map_or(Moment::Blocked, at);
            if let Some(began) = began {
                self.since(began);
            }
            let idx = match known {
                Some(idx) => {
                    let is_order = self.all[idx].is_order;
                    self.all[idx] = Mark { is_order, ..mark };
                    idx
                }
                None => self.add(mark),
            };
            primary = primary.or(Some(idx));
        }
        if let Some(idx) = primary {
            self.all[idx].is_primary = true;
        }
    }

    /// What others did to a futex after a thread began to wait there: whom they woke, and who took and gave it back
    /// since.
    fn since(&mut self, began: usize) {
        let finding = self.finding;
        let Step { kind: OpKind::FutexWait, object, thread, .. } = finding.steps[began] else {
            return;
        };
        let is_own = |it: &Step| own_place(finding, it).is_some_and(|it| !place::is_library(it));
        let others = finding.steps.iter().enumerate().skip(began + 1).filter(|(_, it)| {
            let is_change =
                it.kind.is_access() && it.kind.is_write() && it.result != OpResult::Busy;
            let is_notice = matches!(it.kind, OpKind::FutexNotify | OpKind::FutexWake);
            it.object == object && it.thread != thread && (is_change || is_notice) && is_own(it)
        });
        let others: Vec<usize> = others.map(|it| it.0).collect();
        // A futex that is busy for long is a lock of its own: its story does not fit.
        if others.len() + 2 <= MARKS_MAX {
            for idx in others {
                self.add(Mark { is_noted: true, ..Mark::of_step(finding, idx) });
            }
        }
    }

    /// Where a thread took what another waits for.
    fn took(&mut self, holder: ThreadId, object: ObjectId, taken: &Place) {
        let finding = self.finding;
        let takes = |it: &Step| {
            it.thread == holder
                && it.object == object
                && it.result == OpResult::Done
                && !it.kind.is_release()
                && !it.kind.is_access()
        };
        let is_there = |it: &Step| finding.places.get(it.place as usize) == Some(taken);
        let there = finding.steps.iter().rposition(|it| takes(it) && is_there(it));
        let idx = there.or_else(|| finding.steps.iter().rposition(takes));
        match idx {
            Some(idx) => {
                let mut mark = Mark::of_step(finding, idx);
                // A library takes it for a line of the program.
                if !taken.file.is_empty() && !place::is_library(taken) {
                    mark.place = taken.clone();
                }
                self.add(mark);
            }
            None if taken.line > 0 => {
                let lock = OpKind::Lock;
                self.add(Mark::new(holder, Moment::Before, lock, object, taken.clone()));
            }
            None => {}
        }
    }

    fn missed(&mut self, missed: &Missed, object: ObjectId) {
        let moment = Moment::Step(missed.step.saturating_sub(1), 0);
        let mark = Mark::new(missed.thread, moment, missed.kind, object, missed.at.clone());
        let is_known = self.all.iter().any(|it| {
            it.thread == mark.thread && it.moment == mark.moment && it.place == mark.place
        });
        if !is_known {
            self.add(mark);
        }
    }

    /// A notification between a check and its wait says more than orderings that seldom fail.
    fn lost_wakeup(&mut self) {
        let Some(lost) = self.reason.and_then(|it| explains_better(self.finding, it)) else {
            return;
        };
        let is_part = |it: &Mark| match it.moment {
            Moment::Step(step, _) => lost.contains(self.finding, it.thread, step),
            Moment::Failure | Moment::Blocked => it.is_primary,
            Moment::Before | Moment::Never => false,
        };
        self.all.retain(is_part);
    }

    /// Where every thread of a livelock was.
    fn round(&mut self) {
        let finding = self.finding;
        for state in finding.threads.iter().filter(|it| !it.is_finished) {
            let own = state.stack.iter().find(|it| !place::is_library(it) && it.line > 0);
            let Some(at) = own.or(state.stack.first()) else { continue };
            let moment = if state.waits_for.is_some() { Moment::Blocked } else { Moment::Failure };
            let kind = state.pending.unwrap_or(OpKind::Yield);
            let object = state.waits_for.as_ref().map_or(ObjectId::NONE, |it| it.object_id);
            let mut mark = Mark::new(state.thread, moment, kind, object, at.clone());
            if state.waits_for.is_none() {
                mark.kind = None;
                let over_and_over = round::of_thread(finding, state.thread);
                mark.failure = over_and_over.or_else(|| Some("runs here".to_owned()));
            }
            self.add(mark);
        }
        let first = self.all.iter().position(|it| it.moment == Moment::Failure);
        if let Some(idx) = first.or((!self.all.is_empty()).then_some(0)) {
            self.all[idx].is_primary = true;
        }
    }

    /// Where it failed, and what ended the lifetime of what was used there.
    fn failure(&mut self) {
        let finding = self.finding;
        let Some(thread) = finding.thread.or(finding.threads.first().map(|it| it.thread)) else {
            return;
        };
        if let Fault::Misuse(misused) = &finding.fault {
            self.gone(misused);
            self.holder(misused, thread);
        }
        let (place, is_there) = failed_at(finding, thread);
        let Some(place) = place else { return };
        let words = how(finding, is_there);
        let misused = finding.steps.iter().rposition(|it| it.result == OpResult::Misused);
        if let Some(idx) = misused.filter(|_| finding.kind == Kind::Misuse) {
            let idx = self.add(Mark::of_step(finding, idx));
            self.all[idx].is_primary = true;
            self.all[idx].kind = None;
            self.all[idx].failure = Some(words);
            return;
        }
        // A read in the failed condition, or the call that is the misuse, is the same line.
        let is_here = |it: &Mark| {
            it.thread == thread
                && matches!(it.moment, Moment::Step(..))
                && (it.place.line, &it.place.file) == (place.line, &place.file)
        };
        let last = self.all.iter().enumerate().filter(|it| is_here(it.1));
        let last = last.max_by_key(|it| it.1.moment).map(|it| it.0);
        let idx = last.or_else(|| self.looked()).unwrap_or_else(|| {
            let seen = self.seen(thread, &place);
            let mut mark = Mark::new(thread, Moment::Failure, OpKind::Exit, ObjectId::NONE, place);
            mark.kind = None;
            seen.unwrap_or_else(|| {
                self.all.push(mark);
                self.all.len() - 1
            })
        });
        self.all[idx].failure = Some(words);
        self.all[idx].is_primary = true;
        self.operands(idx);
    }

    /// What the failing thread read on that line, when it was the last thread.
    fn looked(&mut self) -> Option<usize> {
        let looks = &self.reason?.looks;
        let marks = looks.iter().map(|it| Mark::of_point(self.finding, it));
        let marks: Vec<Mark> =
            marks.map(|it| Mark { is_noted: true, is_lone: true, ..it }).collect();
        marks.into_iter().map(|it| self.add(it)).last()
    }

    /// What the variables of the failed condition held, and who wrote that.
    fn operands(&mut self, failure: usize) {
        let finding = self.finding;
        let mut operands = operands::operands(finding);
        // What was read on the failing line says its value.
        let is_read = |object| self.all.iter().any(|it| it.is_lone && it.object == object);
        let is_lone = self.all[failure].is_lone;
        operands.retain(|it| is_lone || it.object != self.all[failure].object);
        let values = operands.iter().filter(|it| !is_read(it.object));
        let values = values.map(|it| format!("{} = {}", it.name, it.value));
        let values = values.collect::<Vec<_>>().join(", ");
        if let Some(words) = self.all[failure].failure.as_mut().filter(|_| !values.is_empty()) {
            *words = format!("{words} (last seen: {values})");
        }
        let ways: Vec<[usize; 2]> =
            operands.iter().filter_map(|it| led_to(finding, it.write?)).collect();
        if self.reason.is_some_and(is_undecided) && !ways.is_empty() {
            self.all.retain(|it| it.is_primary || it.is_lone);
            for idx in ways.into_iter().flatten() {
                let mark = Mark::of_step(finding, idx);
                self.add(Mark { is_order: true, ..mark });
            }
        }
        for operand in operands {
            let is_told = self.all.iter().any(|it| !it.is_lone && it.object == operand.object);
            if let Some(write) = operand.write.filter(|_| !is_told) {
                self.add(Mark::of_step(finding, write));
            }
        }
    }

    /// Without orderings: the thread's last read on the failing line, and the write that it saw, if that is another's.
    fn seen(&mut self, thread: ThreadId, place: &Place) -> Option<usize> {
        let finding = self.finding;
        let steps = &finding.steps;
        let is_here = |it: &Step| {
            own_place(finding, it)
                .is_some_and(|at| (at.line, &at.file) == (place.line, &place.file))
        };
        let read = steps
            .iter()
            .rposition(|it| it.thread == thread && it.kind.is_access() && is_here(it))?;
        let is_write = |it: &Step| {
            it.object == steps[read].object && it.kind.is_access() && it.kind.is_write()
        };
        let write = steps[..read].iter().rposition(is_write);
        let in_library = |it: &Step| own_place(finding, it).is_none_or(place::is_library);
        if in_library(&steps[read])
            || steps[read].kind == OpKind::AtomicRmw
                && write.is_some_and(|it| in_library(&steps[it]))
        {
            return None;
        }
        if !self.all.iter().any(|it| it.is_order)
            && let Some(write) = write.filter(|it| steps[*it].thread != thread)
        {
            self.add(Mark::of_step(finding, write));
        }
        Some(self.add(Mark::of_step(finding, read)))
    }

    /// Where that went which was used all the same.
    fn gone(&mut self, misused: &Misused) {
        let finding = self.finding;
        if let Some(freed) = finding.freed.as_deref() {
            let mut mark = self.of_access(&freed.free, ObjectId::NONE);
            mark.kind = Some(OpKind::Free);
            mark.object = misused_id(finding, misused);
            mark.name.clone_from(&misused.block);
            // It may be a step that an ordering speaks of.
            let is_same = |it: &Mark| {
                (it.thread, it.kind, it.place.line) == (mark.thread, mark.kind, mark.place.line)
            };
            if !self.all.iter().any(is_same) {
                self.all.push(mark);
            }
        } else if let Some((thread, kind, at)) = &misused.gone {
            let object = misused_id(finding, misused);
            let step = finding
                .steps
                .iter()
                .rposition(|it| it.thread == *thread && it.kind == *kind && it.object == object);
            let step = step.map_or(0, |it| finding.n_steps_dropped + it as u64);
            self.add(Mark::new(*thread, Moment::Step(step, 0), *kind, object, at.clone()));
        }
    }

    /// Who holds the lock that is misused, and since where.
    fn holder(&mut self, misused: &Misused, thread: ThreadId) {
        let finding = self.finding;
        let object = misused_id(finding, misused);
        // The parent goes on after a fork.
        let forks = |it: &Step| it.thread == thread && it.kind == OpKind::Fork;
        let forked = finding.steps.iter().rposition(forks);
        let forked = forked.filter(|_| misused.misuse == Misuse::LockHeldAtFork);
        let n_steps = forked.unwrap_or(finding.steps.len());
        let holders = finding
            .threads
            .iter()
            .map(|it| it.thread)
            .filter(|it| *it != thread && held_before(finding, n_steps, *it).contains(&object));
        let holders: Vec<ThreadId> = holders.collect();
        if let ([], Some((holder, taken))) = (holders.as_slice(), &misused.holder) {
            self.took(*holder, object, taken);
        }
        // A lock of the program's own has no holder that is known, but someone has changed it.
        if holders.is_empty() && misused.holder.is_none() && forked.is_some() {
            let changes = |it: &Step| {
                it.object == object
                    && it.thread != thread
                    && it.kind.is_access()
                    && it.kind.is_write()
                    && it.result != OpResult::Busy
            };
            if let Some(change) = finding.steps[..n_steps].iter().rposition(changes) {
                self.add(Mark { is_noted: true, ..Mark::of_step(finding, change) });
            }
        }
        for holder in holders {
            self.took(holder, object, &Place::default());
        }
    }

    /// A misuse is what its thread did not come to on that line.
    fn unite(&mut self) {
        let Some(primary) = self.all.iter().find(|it| it.is_primary).cloned() else { return };
        let is_same = |it: &Mark| {
            it.moment == Moment::Never
                && it.thread == primary.thread
                && primary.is_misuse_at(self.finding, &it.place)
        };
        let n_before = self.all.len();
        self.all.retain(|it| !is_same(it));
        let is_order = self.all.len() < n_before;
        self.all.iter_mut().filter(|it| it.is_primary).for_each(|it| it.is_order |= is_order);
    }

    /// Sorted, no more than fit, numbered.
    fn done(mut self) -> Vec<Mark> {
        self.unite();
        self.all.sort_by_key(|it| (it.moment, !it.is_primary));
        self.all.retain(|it| it.is_primary || !it.place.text().is_empty());
        loop {
            let n_before = self.all.iter().position(|it| it.is_primary).unwrap_or(0);
            let before: BTreeSet<(&str, u32)> =
                self.all[..n_before].iter().map(|it| (&*it.place.file, it.place.line)).collect();
            let n_candidates = match () {
                () if BEFORE_MAX < before.len() => n_before,
                () if MARKS_MAX < self.all.len() => self.all.len(),
                () => break,
            };
            // What nobody speaks of, then what did not come, then what came first.
            let worth = |it: &Mark| match it {
                it if it.is_primary => 4,
                it if !it.is_order && !it.is_noted => 0,
                it if it.moment == Moment::Never => 1,
                it if it.is_noted => 3,
                _ => 2,
            };
            let least = (0..n_candidates).min_by_key(|idx| worth(&self.all[*idx]));
            self.all.remove(least.unwrap_or(0));
        }
        let is_alone = self.all.len() < 2;
        let all_hold = self.finding.evidence.is_some();
        // What holds for all is a note.
        let is_lock_held = self.all.iter().any(|it| !self.held(it).is_empty())
            && held_everywhere(self.finding, &self.all).is_none();
        let marks = std::mem::take(&mut self.all).into_iter().enumerate().map(|(idx, mut mark)| {
            let is_plain = mark.kind.is_some_and(OpKind::is_access) && !mark.is_lone;
            if is_lock_held && is_plain && !all_hold && matches!(mark.moment, Moment::Step(..)) {
                mark.holds = Some(self.held(&mark));
            }
            // What was not reached comes last, and did not happen.
            let has_happened = mark.moment != Moment::Never;
            mark.number = (!is_alone && has_happened).then_some(idx + 1);
            mark
        });
        marks.collect()
    }

    /// The locks that are held at a moment.
    fn held(&self, mark: &Mark) -> Vec<NamedObject> {
        let held = held_at(self.finding, mark);
        held.into_iter().filter_map(|it| self.finding.objects.get(it.idx()).cloned()).collect()
    }
}

/// The locks that are held at a moment.
pub(super) fn held_at(finding: &Finding, mark: &Mark) -> Vec<ObjectId> {
    match steps_before(finding, mark) {
        Some(n_steps) => held_before(finding, n_steps, mark.thread),
        None => Vec::new(),
    }
}

/// How many of the steps that were kept come before a moment.
pub(super) fn steps_before(finding: &Finding, mark: &Mark) -> Option<usize> {
    let Moment::Step(step, after) = mark.moment else { return None };
    let idx = usize::try_from(step.checked_sub(finding.n_steps_dropped)?).ok()?;
    Some(idx + usize::from(after > 0))
}

/// The lost wake-up of a deadlock whose orderings seldom make it fail.
pub(super) fn explains_better(finding: &Finding, reason: &Reason) -> Option<Unguarded> {
    let Share { n, of } = reason.sufficient;
    wakeup::unguarded(finding).filter(|_| SAMPLES_MIN <= of && 2 * n < of)
}

/// What the failing thread had seen of others when it wrote something: who wrote that, and its read.
fn led_to(finding: &Finding, write: usize) -> Option<[usize; 2]> {
    let steps = &finding.steps;
    let Step { thread, object, .. } = steps[write];
    let is_it = |it: &Step| {
        it.thread == thread && it.kind.is_access() && reads(it.kind) && it.object != object
    };
    let read = steps[..write].iter().rposition(is_it);
    let read = read.filter(|_| Some(thread) == finding.thread)?;
    let is_write =
        |it: &Step| it.object == steps[read].object && it.kind.is_access() && it.kind.is_write();
    let seen = steps[..read].iter().rposition(is_write)?;
    (steps[seen].thread != thread).then_some([seen, read])
}

/// Does it fail about as often if any of the orderings is reversed?
pub(super) fn is_undecided(reason: &Reason) -> bool {
    let Share { n, of } = reason.sufficient;
    let is_weak = |it: &Constraint| {
        SAMPLES_MIN <= it.reversed.of && n * it.reversed.of <= 2 * it.reversed.n * of
    };
    !reason.orders.is_empty() && reason.orders.iter().all(is_weak)
}

/// Does a wait that nobody ends begin with a step?
fn begins_wait(step: &Step, wait: &WaitFor) -> bool {
    let begins = matches!(step.kind, OpKind::CondWait | OpKind::FutexWait | OpKind::BarrierArrive);
    begins && step.object == wait.object_id && wait.holders.is_empty()
}

/// The number of the object that was misused.
fn misused_id(finding: &Finding, misused: &Misused) -> ObjectId {
    let idx = finding.objects.iter().position(|it| !it.is_none() && *it == misused.object);
    idx.map_or(ObjectId::NONE, |it| ObjectId(it as u32))
}

/// Where a thread failed, in the program's own code; `false` if that is only where it was last.
fn failed_at(finding: &Finding, thread: ThreadId) -> (Option<Place>, bool) {
    let state = finding.threads.iter().find(|it| it.thread == thread);
    let is_own = |it: &&Place| !place::is_library(it) && it.line > 0;
    let site = finding.sites.first();
    let frames = state.map_or(&[][..], |it| &it.stack);
    if let Some(own) = site.filter(is_own).or(frames.iter().find(is_own)) {
        return (Some(own.clone()), true);
    }
    // `main` has returned, or the process was killed: its last step is what there is.
    let steps = finding.steps.iter().rev().filter(|it| it.thread == thread);
    let last = steps.filter_map(|it| own_place(finding, it)).find(is_own).cloned();
    match last {
        Some(last) => (Some(last), false),
        None => (site.or(frames.first()).cloned(), true),
    }
}

/// "assertion failed: `n == 2`".
fn how(finding: &Finding, is_there: bool) -> String {
    let after = if is_there { "" } else { " after this line" };
    let said = |title: &str| match &finding.fault {
        Fault::Said(said) if !said.is_empty() => format!("{title}: {said}"),
        _ => title.to_owned(),
    };
    match (&finding.fault, finding.kind) {
        (Fault::Signal { number, .. }, _) => format!("{}{after}", signal_name(*number)),
        (Fault::StackOverflow { .. }, _) => "stack overflow".to_owned(),
        (Fault::ExitCode(code), _) => format!("exits with code {code}{after}"),
        (_, Kind::Assert) => said("assertion failed"),
        (_, Kind::Exception) => said("uncaught exception"),
        (_, Kind::Panic) => said("panicked"),
        (_, Kind::Linearizability) => "no order explains the results".to_owned(),
        (_, Kind::Abort) => said("calls abort"),
        (_, Kind::Exit) => format!("exits{after}"),
        (_, Kind::OutOfMemory) => format!("out of memory{after}"),
        (Fault::Misuse(it), _) => fault::misuse(it.misuse).to_owned(),
        _ => "fails here".to_owned(),
    }
}
