//! What must have happened before each step of a trace, in whatever order its threads run; and from that,
//! which steps must come along when some are wanted: the sync-preserving closure.
//!
//! SyncP (Mathur, Pavlogiannis, Viswanathan, POPL 2021) and SPDOffline (Tunç, Mathur, Pavlogiannis,
//! Viswanathan, PLDI 2023): a set of steps that is closed under program order, under what
//! each read reads from, and under releases (of two sections of one lock, the earlier one is whole) can be
//! executed in the order of the trace with all other steps left out. So a cycle of locks, or a race, whose
//! steps are not in the closure of what comes before them, can be made to happen, and the closure is how.
//!
//! Beside locks and variables there are ops that wait for others: what they waited for is needed. Where the
//! trace does not say exactly which step that was (semaphores, descriptors, a lock that was found taken) all
//! that could have been it is: fewer predictions, none wrong. What a trace does not tell (memory that was
//! not known to be shared, what a thread did alone, time) can make a prediction wrong all the same: whoever
//! tells it to a user tries it first.

use std::collections::HashMap;

use raddle_model::{Event, ObjectId, OpKind, OpResult};
use raddle_trace::Trace;

use crate::weak::Hidden;

/// See the module. Steps are indices into the events.
#[derive(Debug)]
pub(crate) struct Needs {
    /// By step: its thread, and which step of that thread it is.
    place: Vec<(u32, u32)>,
    /// By step: other steps that must have been done.
    needed: Vec<Vec<u32>>,
    /// By thread: its steps.
    threads: Vec<Vec<u32>>,
    sections: Vec<Section>,
    /// By lock, the indices of its sections, in the order of the trace.
    by_lock: HashMap<ObjectId, Vec<u32>>,
}

/// A stretch of a thread's steps in which it holds a lock.
#[derive(Clone, Copy, Debug)]
struct Section {
    begin: u32,
    /// `None` if the trace ends before it.
    end: Option<u32>,
    is_shared: bool,
}

/// How many steps of each thread are wanted.
pub(crate) type Cut = Vec<u32>;

/// The steps of a trace after which each of the given ones is the next of its thread, in order. `None` if one
/// of them must have been done before another, or if the trace has lost its start.
pub fn way_to(trace: &Trace, steps: &[usize]) -> Option<Vec<usize>> {
    if trace.n_dropped != 0 {
        return None;
    }
    let needs = Needs::of(&trace.events);
    needs.before(steps).map(|it| needs.steps(&it))
}

impl Needs {
    /// Of the events of a trace, from its start.
    pub(crate) fn of(events: &[Event]) -> Needs {
        let mut builder = Builder::default();
        for (step, event) in events.iter().enumerate() {
            builder.add(step as u32, event);
        }
        builder.needs()
    }

    /// All that must have been done before each of these steps is the next one of its thread. `None` if one
    /// of them must itself have been done.
    pub(crate) fn before(&self, steps: &[usize]) -> Option<Cut> {
        let mut cut = vec![0; self.threads.len()];
        for step in steps {
            let (thread, position) = self.place[*step];
            cut[thread as usize] = position.max(cut[thread as usize]);
        }
        self.close(&mut cut);
        let is_free = |step: &usize| {
            let (thread, position) = self.place[*step];
            cut[thread as usize] <= position
        };
        steps.iter().all(is_free).then_some(cut)
    }

    /// The steps of a cut, in the order of the trace.
    pub(crate) fn steps(&self, cut: &Cut) -> Vec<usize> {
        let is_in = |it: &(u32, u32)| it.1 < cut[it.0 as usize];
        self.place.iter().enumerate().filter(|(_, it)| is_in(it)).map(|(step, _)| step).collect()
    }

    /// Adds all that is needed.
    fn close(&self, cut: &mut Cut) {
        let mut done = vec![0; cut.len()];
        loop {
            let before = cut.clone();
            for thread in 0..cut.len() {
                let (from, to) = (done[thread] as usize, cut[thread] as usize);
                for step in &self.threads[thread][from..to] {
                    for needed in &self.needed[*step as usize] {
                        self.include(cut, *needed);
                    }
                }
                done[thread] = to as u32;
            }
            for sections in self.by_lock.values() {
                self.close_lock(sections, cut);
            }
            if *cut == before {
                return;
            }
        }
    }

    /// Of sections of one lock that have begun, all but the last are over, as far as they exclude others.
    fn close_lock(&self, sections: &[u32], cut: &mut Cut) {
        let has_begun = |cut: &Cut, it: &Section| self.is_in(cut, it.begin);
        let all = || sections.iter().map(|idx| &self.sections[*idx as usize]);
        let mut begun = all().enumerate().filter(|(_, it)| has_begun(cut, it));
        let Some((last, _)) = begun.next_back() else { return };
        // A later reader ends earlier writers only, and a later writer all.
        let mut is_exclusive_later = false;
        let mut is_any_later = false;
        for it in all().take(last + 1).collect::<Vec<_>>().into_iter().rev() {
            if !has_begun(cut, it) {
                continue;
            }
            let must_end = if it.is_shared { is_exclusive_later } else { is_any_later };
            if must_end && let Some(end) = it.end {
                self.include(cut, end);
            }
            is_any_later = true;
            is_exclusive_later |= !it.is_shared;
        }
    }

    fn include(&self, cut: &mut Cut, step: u32) {
        let (thread, position) = self.place[step as usize];
        let wanted = &mut cut[thread as usize];
        *wanted = (*wanted).max(position + 1);
    }

    fn is_in(&self, cut: &Cut, step: u32) -> bool {
        let (thread, position) = self.place[step as usize];
        position < cut[thread as usize]
    }
}

/// What is known while a trace goes by.
#[derive(Default)]
struct Builder {
    place: Vec<(u32, u32)>,
    needed: Vec<Vec<u32>>,
    threads: Vec<Vec<u32>>,
    sections: Vec<Section>,
    by_lock: HashMap<ObjectId, Vec<u32>>,
    /// By thread and lock: the section that is open, and how deep it is.
    open: HashMap<(u32, ObjectId), (u32, u32)>,
    /// By object: the last step that changed it.
    last_write: HashMap<ObjectId, u32>,
    /// By object: steps that others may wait for.
    notices: HashMap<ObjectId, Vec<u32>>,
    /// By thread: the step that created it, and the last that woke it.
    created: HashMap<u32, u32>,
    woken: HashMap<u32, u32>,
    /// By object that stands for a thread.
    threads_of: HashMap<ObjectId, u32>,
    hidden: Hidden,
    /// The last step that ended a once block: who comes to one that is done makes no step.
    once_done: Option<u32>,
}

impl Builder {
    fn add(&mut self, step: u32, event: &Event) {
        let thread = event.thread.0;
        if self.threads.len() <= thread as usize {
            self.threads.resize_with(thread as usize + 1, Vec::new);
        }
        let position = self.threads[thread as usize].len() as u32;
        let mut needed = Vec::new();
        if position == 0 {
            needed.extend(self.created.get(&thread));
        }
        if self.hidden.step(event) {
            self.everything(step, &mut needed);
        }
        needed.extend(self.once_done);
        if matches!(event.kind, OpKind::OnceDone | OpKind::OnceAbort) {
            self.once_done = Some(step);
        }
        self.place.push((thread, position));
        self.threads[thread as usize].push(step);
        self.add_needs(step, event, &mut needed);
        self.needed.push(needed);
    }

    fn add_needs(&mut self, step: u32, event: &Event, needed: &mut Vec<u32>) {
        let is_done =
            matches!(event.result, OpResult::Done | OpResult::Chosen | OpResult::OwnerDied);
        match event.kind {
            kind if kind.is_access() => self.access(step, event, needed),
            OpKind::Spawn if event.value != 0 => {
                self.created.insert(event.value as u32, step);
                self.threads_of.insert(event.object, event.value as u32);
            }
            OpKind::Join | OpKind::TryJoin if is_done => {
                let ended = self.threads_of.get(&event.object);
                let steps = ended.and_then(|it| self.threads.get(*it as usize));
                needed.extend(steps.and_then(|it| it.last()));
            }
            OpKind::Lock | OpKind::TryLock | OpKind::WriteLock | OpKind::TryWriteLock
                if is_done =>
            {
                self.begin(step, event, event.object, false);
            }
            OpKind::ReadLock | OpKind::TryReadLock if is_done => {
                self.begin(step, event, event.object, true);
            }
            // It was found taken, and by whom is not told.
            OpKind::TryLock | OpKind::TryReadLock | OpKind::TryWriteLock | OpKind::TryJoin => {
                self.everything(step, needed);
            }
            OpKind::Unlock | OpKind::RwUnlock if is_done => self.end(step, event, event.object),
            OpKind::CondWait if is_done => {
                self.end_all(step, event, event.other);
                self.note(step, event.object);
            }
            OpKind::CondWake => self.cond_wake(step, event, needed),
            OpKind::Signal if event.value != 0 => {
                self.woken.insert(event.value as u32 - 1, step);
                self.note(step, event.object);
            }
            OpKind::Broadcast | OpKind::FutexNotify => self.note(step, event.object),
            OpKind::SemPost | OpKind::OnceDone | OpKind::OnceAbort | OpKind::BarrierArrive => {
                self.note(step, event.object);
            }
            OpKind::SemWait | OpKind::SemTryWait | OpKind::OnceEnter | OpKind::BarrierLeave => {
                self.all_notices(event.object, needed);
            }
            OpKind::FutexWait | OpKind::FutexWake => {
                needed.extend(self.last_write.get(&event.object));
                self.all_notices(event.object, needed);
            }
            OpKind::Kill | OpKind::Handle | OpKind::SigWait | OpKind::Cancel => {
                self.everything(step, needed);
            }
            kind if kind.is_io() => self.everything(step, needed),
            _ => {}
        }
    }

    fn access(&mut self, step: u32, event: &Event, needed: &mut Vec<u32>) {
        let reads = !matches!(event.kind, OpKind::Write | OpKind::AtomicStore);
        let writes = event.kind.is_write() && event.result != OpResult::Busy;
        if reads {
            needed.extend(self.last_write.get(&event.object));
        }
        if writes {
            self.last_write.insert(event.object, step);
        }
    }

    fn cond_wake(&mut self, step: u32, event: &Event, needed: &mut Vec<u32>) {
        match event.result {
            OpResult::Interrupted | OpResult::Busy => return self.everything(step, needed),
            OpResult::TimedOut => {}
            _ => match self.woken.remove(&event.thread.0) {
                Some(signal) => needed.push(signal),
                None => self.all_notices(event.object, needed),
            },
        }
        self.begin(step, event, event.other, false);
    }

    fn note(&mut self, step: u32, object: ObjectId) {
        self.notices.entry(object).or_default().push(step);
    }

    fn all_notices(&mut self, object: ObjectId, needed: &mut Vec<u32>) {
        needed.extend(self.notices.get(&object).into_iter().flatten());
    }

    /// All steps before this one.
    fn everything(&mut self, step: u32, needed: &mut Vec<u32>) {
        let lasts = self.threads.iter().filter_map(|it| it.iter().rfind(|it| **it < step));
        needed.extend(lasts);
    }

    fn begin(&mut self, step: u32, event: &Event, lock: ObjectId, is_shared: bool) {
        let thread = event.thread.0;
        if let Some((_, depth)) = self.open.get_mut(&(thread, lock)) {
            *depth += 1;
            return;
        }
        let idx = self.sections.len() as u32;
        self.sections.push(Section { begin: step, end: None, is_shared });
        self.by_lock.entry(lock).or_default().push(idx);
        self.open.insert((thread, lock), (idx, 1));
    }

    fn end(&mut self, step: u32, event: &Event, lock: ObjectId) {
        let key = (event.thread.0, lock);
        if let Some((_, depth)) = self.open.get_mut(&key) {
            *depth -= 1;
            if *depth == 0 {
                self.end_all(step, event, lock);
            }
        }
    }

    fn end_all(&mut self, step: u32, event: &Event, lock: ObjectId) {
        if let Some((idx, _)) = self.open.remove(&(event.thread.0, lock)) {
            self.sections[idx as usize].end = Some(step);
        }
    }

    fn needs(self) -> Needs {
        Needs {
            place: self.place,
            needed: self.needed,
            threads: self.threads,
            sections: self.sections,
            by_lock: self.by_lock,
        }
    }
}
