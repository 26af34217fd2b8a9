//! Rust's std on futexes, seen as what it is: `Mutex`, `RwLock`, `Condvar`, `Once`, parked threads.
//!
//! The runtime sees atomics and futexes. Which lock they belong to is told by the functions around them,
//! those of std's own modules, inlined or not. The slow paths of std are compiled without hooks: a thread
//! that went to sleep for a lock and has gone on has got it, though nobody saw how. Where nothing is
//! recognised, atomics stay atomics and futexes stay futexes.

use std::collections::{BTreeMap, HashMap};

use raddle_model::{Event, ObjectId, OpKind, OpResult, SiteId, ThreadId};
use raddle_trace::{ObjectClass, Trace};

use super::names::Names;

/// What std is doing around an op.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Doing {
    Lock,
    TryLock,
    /// The slow path of a lock: asleep, then it has it.
    LockAsleep,
    Unlock,
    Read,
    TryRead,
    ReadAsleep,
    Write,
    TryWrite,
    WriteAsleep,
    RwUnlock,
    Wait,
    Notify,
    Once,
}

/// What is known of std's locks in a trace.
#[derive(Debug, Default)]
pub(super) struct StdSync {
    by_site: HashMap<SiteId, Option<Doing>>,
    classes: HashMap<ObjectId, ObjectClass>,
    /// Who holds each lock at the end, and where it was taken.
    held: BTreeMap<ObjectId, Vec<(ThreadId, SiteId)>>,
    /// Who went to sleep for which lock, and where.
    asleep: HashMap<ThreadId, (ObjectId, SiteId)>,
}

impl StdSync {
    /// Looks at all steps of a trace of a Rust program.
    pub(super) fn of(trace: &Trace, names: &mut Names<'_>) -> StdSync {
        let mut sync = StdSync::default();
        if !trace.sites.iter().any(|it| it.via.is_some()) {
            return sync;
        }
        for event in &trace.events {
            let doing = sync.doing(event.site, names);
            sync.follow(event, doing);
        }
        for thread in &trace.threads {
            let doing = sync.doing(thread.pending.site, names);
            sync.classify(thread.pending.object, doing);
        }
        sync
    }

    /// The class of an object, if it is one of std's.
    pub(super) fn class(&self, object: ObjectId) -> Option<ObjectClass> {
        self.classes.get(&object).copied()
    }

    /// Who holds a lock at the end, and where it was taken.
    pub(super) fn holders(&self, object: ObjectId) -> &[(ThreadId, SiteId)] {
        self.held.get(&object).map(Vec::as_slice).unwrap_or_default()
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
            (OpKind::FutexWait, Doing::Wait) => OpKind::CondWait,
            (OpKind::FutexWake, Doing::Wait) => OpKind::CondWake,
            (kind, _) => kind,
        }
    }

    fn doing(&mut self, site: SiteId, names: &mut Names<'_>) -> Option<Doing> {
        if let Some(known) = self.by_site.get(&site) {
            return *known;
        }
        let doing = names.frames(site).iter().find_map(|it| recognise(&it.function));
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
            Some(Doing::Wait | Doing::Notify) => ObjectClass::Cond,
            Some(Doing::Once) => ObjectClass::Once,
            None => return,
        };
        self.classes.entry(object).or_insert(class);
    }

    fn follow(&mut self, event: &Event, doing: Option<Doing>) {
        let (thread, object, site) = (event.thread, event.object, event.site);
        let is_done = event.result == OpResult::Done;
        let is_futex = matches!(event.kind, OpKind::FutexWait | OpKind::FutexWake);
        let is_asleep = is_futex
            && matches!(doing, Some(Doing::LockAsleep | Doing::ReadAsleep | Doing::WriteAsleep));
        if is_asleep {
            self.classify(object, doing);
            self.asleep.insert(thread, (object, site));
            return;
        }
        if let Some((object, site)) = self.asleep.remove(&thread) {
            self.held.entry(object).or_default().push((thread, site));
        }
        let is_lock = matches!(event.kind, OpKind::AtomicCas | OpKind::AtomicRmw) || is_futex;
        if !is_lock {
            return;
        }
        self.classify(object, doing);
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
            ) if is_done => self.held.entry(object).or_default().push((thread, site)),
            (OpKind::AtomicRmw, Some(Doing::Unlock | Doing::RwUnlock)) => {
                let holders = self.held.entry(object).or_default();
                // A guard may be given back by another thread than took it.
                let idx = holders.iter().position(|it| it.0 == thread).unwrap_or(0);
                if idx < holders.len() {
                    holders.remove(idx);
                }
            }
            _ => {}
        }
    }
}

/// What a function of std does, by its name: `<std::sys::sync::mutex::futex::Mutex>::lock`.
fn recognise(function: &str) -> Option<Doing> {
    let (_, path) = function.split_once("std::sys::sync::")?;
    let (module, rest) = path.split_once("::")?;
    let method = rest.rsplit("::").find(|it| !it.starts_with('{') && !it.starts_with('<'))?;
    Some(match (module, method) {
        ("mutex", "lock") => Doing::Lock,
        ("mutex", "try_lock") => Doing::TryLock,
        ("mutex", "lock_contended") => Doing::LockAsleep,
        ("mutex", "unlock") => Doing::Unlock,
        ("rwlock", "read") => Doing::Read,
        ("rwlock", "try_read") => Doing::TryRead,
        ("rwlock", "read_contended") => Doing::ReadAsleep,
        ("rwlock", "write") => Doing::Write,
        ("rwlock", "try_write") => Doing::TryWrite,
        ("rwlock", "write_contended") => Doing::WriteAsleep,
        ("rwlock", "read_unlock" | "write_unlock") => Doing::RwUnlock,
        ("condvar", "wait" | "wait_timeout" | "wait_optional_timeout") => Doing::Wait,
        ("condvar", "notify_one" | "notify_all") => Doing::Notify,
        ("once", _) => Doing::Once,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::{Doing, recognise};

    #[test]
    fn functions_of_std_are_recognised() {
        for (name, doing) in [
            ("<std::sys::sync::mutex::futex::Mutex>::lock", Some(Doing::Lock)),
            ("std::sys::sync::mutex::futex::Mutex::lock_contended", Some(Doing::LockAsleep)),
            ("<std::sys::sync::condvar::futex::Condvar>::wait_optional_timeout", Some(Doing::Wait)),
            ("<std::sys::sync::once::futex::Once>::call", Some(Doing::Once)),
            ("<std::sys::sync::rwlock::futex::RwLock>::write_contended", Some(Doing::WriteAsleep)),
            ("<std::sync::poison::mutex::Mutex<u32>>::lock", None),
            ("mine::sync::mutex::lock", None),
        ] {
            assert_eq!(recognise(name), doing, "{name}");
        }
    }
}
