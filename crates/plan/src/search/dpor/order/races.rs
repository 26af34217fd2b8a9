//! Races, and what must come first to turn one round.

use raddle_model::{Conflict, Effect, Flags, OpKind, ThreadId, conflict};

use super::{Asked, Entry, HappensBefore, Sequence};
use crate::search::{Step, ThreadSet};

impl HappensBefore {
    /// Steps with which an op is in a race, the last one first. Of those that come one before the other,
    /// only the last: when that race has been turned round, the others will be seen.
    pub(crate) fn immediate_races(&mut self, asked: &Asked, steps: &[Step]) -> Vec<usize> {
        let mut found = self.races(asked, steps);
        let mut n_kept = 0;
        for idx in 0..found.len() {
            let step = found[idx];
            if found[..n_kept].iter().all(|later| !self.is_before(step, *later)) {
                found[n_kept] = step;
                n_kept += 1;
            }
        }
        found.truncate(n_kept);
        found
    }

    /// All of them, as far as one does not hide another on the same object.
    fn races(&mut self, asked: &Asked, steps: &[Step]) -> Vec<usize> {
        let mut found = std::mem::take(&mut self.found);
        found.clear();
        if self.is_out(asked, steps) {
            return found;
        }
        for (list, (_, how)) in asked.event.lists.into_iter().zip(asked.event.deed.uses) {
            let Some(list) = list else { continue };
            self.walk(list, how, |entry, conflict| {
                let step = entry.event as usize;
                if conflict == Conflict::Race && self.is_race(step, entry.how, asked, how, steps) {
                    found.push(step);
                }
            });
        }
        if found.len() > 1 {
            found.sort_unstable_by(|a, b| b.cmp(a));
            found.dedup();
        }
        found
    }

    /// The races of each state since the thread came to its op; of what was before, the last of each thread.
    pub(crate) fn races_by_thread(&mut self, asked: &Asked, steps: &[Step]) -> Vec<usize> {
        let mut found = self.all_races(asked, steps);
        let mut seen = ThreadSet::NONE;
        found.retain(|step| {
            let thread = self.events[*step].thread;
            let is_last = !seen.has(thread);
            seen = if *step < asked.announced() { seen.with(thread) } else { seen };
            asked.announced() <= *step || is_last
        });
        found
    }

    /// Steps that let an op go on, or might have, the last of each thread: had its thread come to it before, it
    /// would have had to wait.
    pub(crate) fn releases_by_thread(&self, asked: &Asked) -> Vec<usize> {
        let mut found = Vec::new();
        let mut seen = ThreadSet::one(asked.event.thread);
        for (list, (_, how)) in asked.event.lists.into_iter().zip(asked.event.deed.uses) {
            let Some(list) = list else { continue };
            for entry in self.list(list).iter().rev() {
                let (step, lets) = (entry.event as usize, conflict(entry.how, how));
                let thread = self.events[step].thread;
                let is_release = matches!(lets, Conflict::Ordered | Conflict::Enables);
                let is_unordered = self.past[thread.idx()] <= entry.event;
                if is_release && is_unordered && !seen.has(thread) {
                    seen = seen.with(thread);
                    found.push(step);
                }
            }
        }
        found
    }

    /// The races that Flanagan and Godefroid look at: of each state since the thread came to its op, the last
    /// step that is in a race with it.
    pub(crate) fn pending_races(&mut self, asked: &Asked, steps: &[Step]) -> Vec<usize> {
        let mut found = self.all_races(asked, steps);
        let n_since = found.iter().filter(|it| asked.announced() <= **it).count();
        found.truncate(n_since + 1);
        found
    }

    /// Steps that an op is in a race with: all since its thread came to it; of those before, such as are not
    /// before another of them. The last one first.
    pub(crate) fn maximal_races(&self, asked: &Asked, steps: &[Step]) -> Vec<usize> {
        let mut found = self.all_races(asked, steps);
        let mut kept: Vec<usize> = Vec::new();
        found.retain(|step| {
            let is_maximal = kept.iter().all(|later| !self.is_before(*step, *later));
            if *step < asked.announced() && is_maximal {
                kept.push(*step);
            }
            asked.announced() <= *step || is_maximal
        });
        found
    }

    /// Steps that a step is immediately dependent upon: the last one of each other thread on the same object,
    /// if they conflict and, if its own accesses hide what is before, its own thread has not used the object since.
    /// Releases do not count.
    pub(crate) fn predecessors(&self, step: usize, has_hiding: bool) -> Vec<usize> {
        let event = &self.events[step];
        let is_release = |how: Effect| matches!(how, Effect::Give | Effect::Unshare);
        let mut found = Vec::new();
        for (list, (_, how)) in event.lists.into_iter().zip(event.deed.uses).take(2) {
            let Some(list) = list.filter(|_| !is_release(how)) else { continue };
            let entries = self.list(list);
            let n_before = entries.partition_point(|it| (it.event as usize) < step);
            let mut seen = ThreadSet::NONE;
            for entry in entries[..n_before].iter().rev().filter(|it| !is_release(it.how)) {
                let thread = self.events[entry.event as usize].thread;
                match thread == event.thread {
                    true if has_hiding => break,
                    true => continue,
                    false => {}
                }
                if !seen.has(thread) && conflict(entry.how, how) == Conflict::Race {
                    found.push(entry.event as usize);
                }
                seen = seen.with(thread);
            }
        }
        found
    }

    /// All steps that an op is in a race with, the last one first.
    pub(crate) fn all_races(&self, asked: &Asked, steps: &[Step]) -> Vec<usize> {
        let mut found = Vec::new();
        if self.is_out(asked, steps) {
            return found;
        }
        for (list, (_, how)) in asked.event.lists.into_iter().zip(asked.event.deed.uses) {
            let Some(list) = list else { continue };
            let races = self.list(list).iter().filter(|entry| {
                conflict(entry.how, how) == Conflict::Race
                    && self.is_race(entry.event as usize, entry.how, asked, how, steps)
            });
            found.extend(races.map(|it| it.event as usize));
        }
        found.sort_unstable_by(|a, b| b.cmp(a));
        found.dedup();
        found
    }

    /// Is an op in no race at all: it only reads again what it has read, or nobody has ended its wait?
    fn is_out(&self, asked: &Asked, steps: &[Step]) -> bool {
        let is_untimed = asked.event.deed.uses[0].1 == Effect::Nothing;
        let waits =
            asked.op.kind == OpKind::CondWake && is_untimed && !self.has_left(&asked.op, steps);
        asked.event.is_repeat || waits && self.enabler(asked, steps).is_none()
    }

    /// Gives the list of races back, to be filled again.
    pub(crate) fn recycle(&mut self, found: Vec<usize>) {
        self.found = found;
    }

    /// Gives a sequence back, to be filled again.
    pub(crate) fn recycle_sequence(&mut self, sequence: Sequence) {
        self.spare = sequence;
    }

    fn is_race(
        &self,
        step: usize,
        first: Effect,
        asked: &Asked,
        second: Effect,
        steps: &[Step],
    ) -> bool {
        let event = &self.events[step];
        event.thread != asked.event.thread
            && !event.is_repeat
            && self.past[event.thread.idx()] <= step as u32
            && !self.would_repeat(step, asked)
            && self.is_reversible(step, first, asked, second, steps)
    }

    /// Would a thread that waits by looking see only what it saw before, if it looked before a step?
    fn would_repeat(&self, step: usize, asked: &Asked) -> bool {
        let Some(looked) = asked.looked.filter(|it| *it < step) else { return false };
        let between = |it: &&Entry| (looked..step).contains(&(it.event as usize));
        let mut uses = self.uses(asked.op.object).iter().filter(between);
        !uses.any(|it| matches!(it.how, Effect::Change | Effect::Whole))
    }

    /// ThreadSet that can be chosen in the state before a step.
    pub(crate) fn choosable(&self, step: &Step) -> ThreadSet {
        if self.may_time_out { step.enabled.or(step.timed) } else { step.enabled }
    }

    /// Can the op come first? Not if it would have to wait then.
    fn is_reversible(
        &self,
        step: usize,
        first: Effect,
        asked: &Asked,
        second: Effect,
        steps: &[Step],
    ) -> bool {
        match (first, second) {
            // The lock was free before it was taken, and nothing that happens in spite of that takes it.
            (Effect::Take | Effect::TryTake, Effect::Take | Effect::Share) => true,
            (_, Effect::Take | Effect::Share) => self.is_free_without(step, asked, second),
            // What could go on by itself, and what lies outside.
            (_, Effect::Leave | Effect::Whole) if asked.announced() <= step => {
                self.choosable(&steps[step]).has(asked.event.thread)
            }
            (_, Effect::TryTake | Effect::TryShare | Effect::TryDraw)
                if asked.announced() <= step && asked.op.flags.has(Flags::TIMED) =>
            {
                self.choosable(&steps[step]).has(asked.event.thread)
            }
            _ => true,
        }
    }

    /// Is a lock free after all that happens without a step?
    fn is_free_without(&self, step: usize, asked: &Asked, wanted: Effect) -> bool {
        let object = match asked.op.kind {
            OpKind::CondWake => asked.op.other,
            _ => asked.op.object,
        };
        let happens = |it: &usize| *it < step || *it != step && !self.is_before(step, *it);
        let (mut n_alone, mut n_shared) = (0, 0);
        for entry in self.uses(object).iter().filter(|it| happens(&(it.event as usize))) {
            match entry.how {
                Effect::Take | Effect::TryTake => n_alone += 1,
                Effect::Give => n_alone -= 1,
                Effect::Share | Effect::TryShare => n_shared += 1,
                Effect::Unshare => n_shared -= 1,
                _ => {}
            }
        }
        n_alone <= 0 && (wanted == Effect::Share || n_shared <= 0)
    }

    /// ThreadSet that can begin if a race is turned round: of all steps after `step` that happen in spite of it,
    /// and the op last, those that nothing else of these comes before.
    pub(crate) fn initials(&self, step: usize, asked: &Asked) -> ThreadSet {
        let mut initials = ThreadSet::NONE;
        let mut seen = ThreadSet::one(self.events[step].thread);
        for idx in step + 1..self.events.len() {
            let thread = self.events[idx].thread;
            if seen.has(thread) {
                continue;
            }
            seen = seen.with(thread);
            if !self.is_before(step, idx) && self.is_first(self.clock_of(idx), thread.idx(), step) {
                initials = initials.with(thread);
            }
        }
        let thread = asked.event.thread;
        let asked = &self.turned(step, asked);
        let is_initial = !seen.has(thread)
            && self.is_first(&self.past, thread.idx(), step)
            && !self.depends_on_some(step, asked);
        if is_initial { initials.with(thread) } else { initials }
    }

    /// ThreadSet that take a step after `step` that comes before the op asked about.
    pub(crate) fn needed(&self, step: usize) -> ThreadSet {
        let threads = self.past.iter().enumerate().filter(|(_, last)| step as u32 + 1 < **last);
        threads.map(|(thread, _)| ThreadId(thread as u32)).collect()
    }

    /// Does nothing of others after `step` come before a clock?
    fn is_first(&self, clock: &[u32], thread: usize, step: usize) -> bool {
        clock.iter().enumerate().all(|(it, last)| it == thread || *last <= step as u32 + 1)
    }

    /// Does an op depend on a step after `step` that happens in spite of it?
    fn depends_on_some(&self, step: usize, asked: &Asked) -> bool {
        asked.event.lists.into_iter().zip(asked.event.deed.uses).any(|(list, (_, how))| {
            let Some(list) = list else { return false };
            let later = self.list(list).iter().rev().take_while(|it| step < it.event as usize);
            let mut later = later.filter(|it| depends(it, how));
            later.any(|it| !self.is_before(step, it.event as usize))
        })
    }
}

/// Does a later use of an object depend on an earlier one?
pub(super) const fn depends(entry: &Entry, how: Effect) -> bool {
    matches!(conflict(entry.how, how), Conflict::Ordered | Conflict::Race)
}
