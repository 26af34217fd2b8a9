//! Rust's std on futexes, seen as what it is: `Mutex`, `RwLock`, `Condvar`, `Once` (and so `OnceLock` and
//! `LazyLock`), `Barrier`, and threads that are parked: by themselves, in a channel of `mpsc`, at the end of a
//! scope.
//!
//! The runtime sees atomics and futexes. Which lock they belong to is told by the functions around them,
//! those of std's own modules, inlined or not. The slow paths of std are compiled without hooks: a thread
//! that went to sleep for a lock and has gone on has got it, though nobody saw how. Where nothing is
//! recognised, atomics stay atomics and futexes stay futexes.

use std::collections::{BTreeMap, HashMap};

use raddle_model::{Event, ObjectId, OpKind, OpResult, SiteId, StdWait, ThreadId};
use raddle_rust_std::{Doing, called, outermost, recognise};
use raddle_trace::{ObjectClass, Trace};

use super::names::Names;

/// What is known of std's locks in a trace.
#[derive(Debug, Default)]
pub(super) struct StdSync {
    by_site: HashMap<SiteId, Option<Doing>>,
    classes: HashMap<ObjectId, ObjectClass>,
    /// Who holds each lock at the end, and where it was taken.
    held: BTreeMap<ObjectId, Vec<(ThreadId, SiteId)>>,
    /// Mutexes that threads hold, as they took them.
    taken: Vec<(ThreadId, ObjectId)>,
    /// The mutex of each wait at a condition variable, by the number of its event: the one that its thread took last.
    waits: HashMap<usize, ObjectId>,
    /// Who waits at a condition variable with which mutex, and where that was taken.
    waiting: HashMap<ThreadId, (ObjectId, SiteId)>,
    /// Who went to sleep for which lock, and where.
    asleep: HashMap<ThreadId, (ObjectId, SiteId)>,
    /// The lock that each thread has found taken in its last step.
    tried: HashMap<ThreadId, ObjectId>,
    /// By an object that only sleepers use, as the writers of a `RwLock` do: their lock.
    locks: HashMap<ObjectId, ObjectId>,
    /// Whose parker an object is.
    sleepers: HashMap<ObjectId, ThreadId>,
}

impl StdSync {
    /// Looks at all steps of a trace of a Rust program.
    pub(super) fn of(trace: &Trace, names: &mut Names<'_>) -> StdSync {
        let mut sync = StdSync::default();
        if !trace.sites.iter().any(|it| it.via.is_some()) {
            return sync;
        }
        for (idx, event) in trace.events.iter().enumerate() {
            // Whose function a plain access is in says nothing, and takes time to find out.
            let may_be_std = event.kind.is_atomic() || is_futex(event.kind);
            let doing = may_be_std.then(|| sync.doing(event.site, names)).flatten();
            sync.follow(idx, event, doing);
        }
        for thread in &trace.threads {
            let doing = sync.doing(thread.pending.site, names);
            sync.classify(thread.pending.object, doing);
        }
        for (idx, thread) in trace.threads.iter().enumerate() {
            sync.note_sleeper(ThreadId(idx as u32), thread.pending.object, thread.pending.site);
        }
        sync
    }

    fn note_sleeper(&mut self, thread: ThreadId, object: ObjectId, site: SiteId) {
        let doing = self.by_site.get(&site).copied().flatten();
        if object != ObjectId::NONE && doing.is_some_and(Doing::is_parked) {
            self.sleepers.insert(object, thread);
        }
    }

    /// The thread that parks at an object.
    pub(super) fn sleeper(&self, object: ObjectId) -> Option<ThreadId> {
        self.sleepers.get(&object).copied()
    }

    /// Does a thread wait here for the threads of its scope?
    pub(super) fn is_scope(&self, site: SiteId) -> bool {
        self.by_site.get(&site) == Some(&Some(Doing::Scope))
    }

    /// What a thread waits for in std.
    pub(super) fn wait(&self, site: SiteId) -> Option<StdWait> {
        Some(match self.by_site.get(&site).copied().flatten()? {
            Doing::Park => StdWait::Unpark,
            Doing::Receive => StdWait::Message,
            Doing::Send => StdWait::Room,
            Doing::Once => StdWait::Once,
            _ => return None,
        })
    }

    /// The class of an object, if it is one of std's.
    pub(super) fn class(&self, object: ObjectId) -> Option<ObjectClass> {
        self.classes.get(&object).copied()
    }

    /// Who holds a lock at the end, and where it was taken.
    pub(super) fn holders(&self, object: ObjectId) -> &[(ThreadId, SiteId)] {
        self.held.get(&object).map(Vec::as_slice).unwrap_or_default()
    }

    /// The lock that is waited for at an object: mostly that itself.
    pub(super) fn lock(&self, object: ObjectId) -> ObjectId {
        self.locks.get(&object).copied().unwrap_or(object)
    }

    /// What an op is to the user.
    pub(super) fn kind(&self, kind: OpKind, site: SiteId) -> OpKind {
        let Some(doing) = self.by_site.get(&site).copied().flatten() else { return kind };
        match (kind, doing) {
            (OpKind::AtomicCas, Doing::Lock) => OpKind::Lock,
            (OpKind::AtomicCas, Doing::TryLock) => OpKind::TryLock,
            (OpKind::AtomicRmw, Doing::Unlock) => OpKind::Unlock,
            (OpKind::AtomicCas, Doing::Read) => OpKind::ReadLock,
            (OpKind::AtomicCas, Doing::TryRead) => OpKind::TryReadLock,
            (OpKind::AtomicCas, Doing::Write) => OpKind::WriteLock,
            (OpKind::AtomicCas, Doing::TryWrite) => OpKind::TryWriteLock,
            (OpKind::AtomicRmw, Doing::RwUnlock) => OpKind::RwUnlock,
            (OpKind::FutexWait | OpKind::FutexWake, Doing::LockAsleep) => OpKind::Lock,
            (OpKind::FutexWait | OpKind::FutexWake, Doing::ReadAsleep) => OpKind::ReadLock,
            (OpKind::FutexWait | OpKind::FutexWake, Doing::WriteAsleep) => OpKind::WriteLock,
            (OpKind::FutexWait, Doing::Wait) => OpKind::CondWait,
            (OpKind::FutexWake, Doing::Wait) => OpKind::CondWake,
            (OpKind::FutexNotify, Doing::Notify) => OpKind::Signal,
            (OpKind::FutexNotify, Doing::NotifyAll) => OpKind::Broadcast,
            (OpKind::FutexWait, Doing::Barrier) => OpKind::BarrierArrive,
            (OpKind::FutexWake, Doing::Barrier) => OpKind::BarrierLeave,
            (kind, _) => kind,
        }
    }

    /// What a thread is about to do: a scope ends when its threads have.
    pub(super) fn pending(&self, kind: OpKind, site: SiteId) -> OpKind {
        if self.is_scope(site) { OpKind::Join } else { self.kind(kind, site) }
    }

    /// What an event of the trace is to the user, by its number.
    pub(super) fn told(&self, idx: usize, event: &Event) -> Event {
        let kind = self.kind(event.kind, event.site);
        // Whoever goes to sleep for a lock has not got it yet.
        let is_asleep = event.kind == OpKind::FutexWait && kind.takes_lock();
        let result = if is_asleep { OpResult::Busy } else { event.result };
        let other = self.waits.get(&idx).copied().unwrap_or(event.other);
        let object = if kind.takes_lock() { self.lock(event.object) } else { event.object };
        Event { kind, object, result, other, ..*event }
    }

    /// Is it something that a lock or condition variable does on its way, and that nobody else need know of?
    pub(super) fn is_internal(&self, event: &Event) -> bool {
        let Some(doing) = self.by_site.get(&event.site).copied().flatten() else { return false };
        let is_lock = !doing.is_parked() && !matches!(doing, Doing::Once | Doing::Barrier);
        let is_way = event.kind.is_atomic() || event.kind == OpKind::FutexNotify;
        is_lock && is_way && self.kind(event.kind, event.site) == event.kind
    }

    /// Is nothing of the trace std's?
    pub(super) fn is_empty(&self) -> bool {
        self.by_site.is_empty()
    }

    fn take(&mut self, thread: ThreadId, object: ObjectId, site: SiteId) {
        self.held.entry(object).or_default().push((thread, site));
        self.taken.push((thread, object));
    }

    /// Whoever holds it, if this thread does not, loses it: a guard may be dropped by another thread than took it.
    fn release(&mut self, thread: ThreadId, object: ObjectId) -> Option<SiteId> {
        let holders = self.held.entry(object).or_default();
        let idx = holders.iter().position(|it| it.0 == thread).unwrap_or(0);
        let (holder, site) = (idx < holders.len()).then(|| holders.remove(idx))?;
        let taken = self.taken.iter().rposition(|it| *it == (holder, object));
        if let Some(taken) = taken {
            self.taken.remove(taken);
        }
        Some(site)
    }

    /// A wait at a condition variable begins or ends: its mutex is released, and taken again.
    fn wait_at(&mut self, idx: usize, event: &Event) {
        let thread = event.thread;
        if event.kind == OpKind::FutexWake {
            if let Some((mutex, site)) = self.waiting.remove(&thread) {
                self.waits.insert(idx, mutex);
                self.take(thread, mutex, site);
            }
            return;
        }
        let is_mutex = |it: &&(ThreadId, ObjectId)| {
            it.0 == thread && self.classes.get(&it.1) == Some(&ObjectClass::Mutex)
        };
        let Some(mutex) = self.taken.iter().rev().find(is_mutex).map(|it| it.1) else { return };
        self.waits.insert(idx, mutex);
        if let Some(site) = self.release(thread, mutex) {
            self.waiting.insert(thread, (mutex, site));
        }
    }

    fn doing(&mut self, site: SiteId, names: &mut Names<'_>) -> Option<Doing> {
        if let Some(known) = self.by_site.get(&site) {
            return *known;
        }
        let frames = names.frames(site);
        // What the program called says more than what that did to sleep.
        let outer = || outermost(frames.iter().map(|it| it.function.as_str()));
        let inner = frames.iter().find_map(|it| recognise(&it.function));
        let doing = called(&names.called_at(site)).or_else(outer).or(inner);
        self.by_site.insert(site, doing);
        doing
    }

    fn classify(&mut self, object: ObjectId, doing: Option<Doing>) {
        let class = match doing {
            Some(Doing::Lock | Doing::TryLock | Doing::LockAsleep | Doing::Unlock) => {
                ObjectClass::Mutex
            }
            Some(
                Doing::Read
                | Doing::TryRead
                | Doing::ReadAsleep
                | Doing::Write
                | Doing::TryWrite
                | Doing::WriteAsleep
                | Doing::RwUnlock,
            ) => ObjectClass::Rwlock,
            Some(Doing::Wait | Doing::Notify | Doing::NotifyAll) => ObjectClass::Cond,
            Some(Doing::Once) => ObjectClass::Once,
            Some(Doing::Barrier) => ObjectClass::Barrier,
            Some(Doing::Park | Doing::Receive | Doing::Send | Doing::Scope) | None => return,
        };
        self.classes.entry(object).or_insert(class);
    }

    fn follow(&mut self, idx: usize, event: &Event, doing: Option<Doing>) {
        let (thread, object, site) = (event.thread, event.object, event.site);
        let is_done = event.result == OpResult::Done;
        let is_sleep = matches!(event.kind, OpKind::FutexWait | OpKind::FutexWake);
        if is_sleep {
            self.note_sleeper(thread, object, site);
        }
        // A slow path that was not seen to try, as that of standard output, sleeps for another lock.
        let tried = self.tried.remove(&thread);
        let is_asleep = is_sleep
            && matches!(doing, Some(Doing::LockAsleep | Doing::ReadAsleep | Doing::WriteAsleep));
        if is_asleep {
            self.classify(object, doing);
            if let (Some(Doing::WriteAsleep), Some(lock)) = (doing, tried) {
                self.locks.insert(object, lock);
            }
            self.asleep.insert(thread, (self.lock(object), site));
            return;
        }
        if let Some((object, site)) = self.asleep.remove(&thread) {
            self.take(thread, object, site);
        }
        let is_lock = matches!(event.kind, OpKind::AtomicCas | OpKind::AtomicRmw) || is_sleep;
        if !is_lock {
            return;
        }
        self.classify(object, doing);
        if event.kind == OpKind::AtomicCas && doing == Some(Doing::Write) && !is_done {
            self.tried.insert(thread, object);
        }
        match (event.kind, doing) {
            (
                OpKind::AtomicCas,
                Some(
                    Doing::Lock
                    | Doing::TryLock
                    | Doing::Read
                    | Doing::TryRead
                    | Doing::Write
                    | Doing::TryWrite,
                ),
            ) if is_done => self.take(thread, object, site),
            (OpKind::AtomicRmw, Some(Doing::Unlock | Doing::RwUnlock)) => {
                self.release(thread, object);
            }
            (OpKind::FutexWait | OpKind::FutexWake, Some(Doing::Wait)) => self.wait_at(idx, event),
            _ => {}
        }
    }
}

const fn is_futex(kind: OpKind) -> bool {
    matches!(kind, OpKind::FutexWait | OpKind::FutexWake | OpKind::FutexNotify)
}
