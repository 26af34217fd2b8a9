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
    Barrier,
    Park,
    Receive,
    Send,
    /// At the end of a scope, for its threads.
    Scope,
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
        for event in &trace.events {
            let doing = sync.doing(event.site, names);
            sync.follow(event, doing);
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
            (OpKind::FutexWait, Doing::Barrier) => OpKind::BarrierArrive,
            (OpKind::FutexWake, Doing::Barrier) => OpKind::BarrierLeave,
            (kind, _) => kind,
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
            Some(Doing::Wait | Doing::Notify) => ObjectClass::Cond,
            Some(Doing::Once) => ObjectClass::Once,
            Some(Doing::Barrier) => ObjectClass::Barrier,
            Some(Doing::Park | Doing::Receive | Doing::Send | Doing::Scope) | None => return,
        };
        self.classes.entry(object).or_insert(class);
    }

    fn follow(&mut self, event: &Event, doing: Option<Doing>) {
        let (thread, object, site) = (event.thread, event.object, event.site);
        let is_done = event.result == OpResult::Done;
        let is_futex = matches!(event.kind, OpKind::FutexWait | OpKind::FutexWake);
        if is_futex {
            self.note_sleeper(thread, object, site);
        }
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

impl Doing {
    /// Does the thread wait for its own parker?
    const fn is_parked(self) -> bool {
        matches!(self, Doing::Park | Doing::Receive | Doing::Send | Doing::Scope)
    }
}

/// The name of a function without its types and their brackets: `std::sync::barrier::Barrier::wait`.
fn plain(function: &str) -> String {
    let mut depth = 0_i32;
    let mut plain = String::new();
    // A path that begins with `<` is a method's: `<std::sync::once::Once>::wait`.
    for letter in function.trim_start_matches('<').chars() {
        match letter {
            '<' => depth += 1,
            '>' => depth = (depth - 1).max(0),
            letter if depth == 0 => plain.push(letter),
            _ => {}
        }
    }
    // What is left of `scope::<F, T>`.
    plain.trim_end_matches("::").to_owned()
}

/// What the function of std does that the program called.
fn called(function: &str) -> Option<Doing> {
    if !function.contains("std::") {
        return None;
    }
    let plain = plain(function);
    let path: Vec<&str> = plain.split("::").collect();
    Some(match path[..] {
        ["std", "sync", .., "Barrier", "wait"] => Doing::Barrier,
        ["std", "thread", .., "park" | "park_timeout" | "park_timeout_ms"] => Doing::Park,
        ["std", "sync", .., "Once", "wait" | "wait_force"] => Doing::Once,
        _ => return None,
    })
}

/// What the outermost function of std does that has hooks: a thread may park for other reasons than its own.
fn outermost<'a>(functions: impl Iterator<Item = &'a str>) -> Option<Doing> {
    let is_parked = |it: &str| it.contains("thread_parking") || it.contains("std::thread::");
    let functions: Vec<&str> = functions.collect();
    if !functions.iter().any(|it| is_parked(it) || it.contains("mpmc::context")) {
        return None;
    }
    functions.iter().rev().find_map(|it| {
        let plain = plain(it);
        let method = plain.rsplit("::").next()?;
        let is_channel =
            ["std::sync::mpsc::", "std::sync::mpmc::"].iter().any(|it| plain.starts_with(it));
        match method {
            "recv" | "recv_timeout" | "recv_deadline" if is_channel => Some(Doing::Receive),
            "send" | "send_timeout" | "send_deadline" if is_channel => Some(Doing::Send),
            "scope" if plain.starts_with("std::thread::scoped::") => Some(Doing::Scope),
            "park" | "park_timeout" if plain.starts_with("std::") => Some(Doing::Park),
            _ => None,
        }
    })
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
    use super::{Doing, called, outermost, recognise};

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

    #[test]
    fn what_the_program_called_is_recognised() {
        for (name, doing) in [
            ("<std::sync::barrier::Barrier>::wait", Some(Doing::Barrier)),
            ("std::thread::functions::park", Some(Doing::Park)),
            ("std::thread::park_timeout", Some(Doing::Park)),
            ("<std::sync::poison::once::Once>::wait", Some(Doing::Once)),
            ("<mine::Barrier>::wait", None),
            ("", None),
        ] {
            assert_eq!(called(name), doing, "{name}");
        }
    }

    #[test]
    fn a_thread_is_parked_for_what_it_called() {
        let park = "<std::sys::sync::thread_parking::futex::Parker>::park";
        let of = |outer: &str| outermost([park, outer, "mine::f"].into_iter());
        assert_eq!(of("<std::sync::mpmc::list::Channel<u32>>::recv"), Some(Doing::Receive));
        assert_eq!(of("<std::sync::mpsc::SyncSender<u32>>::send"), Some(Doing::Send));
        assert_eq!(
            of("std::thread::scoped::scope::<mine::f::{closure#0}, ()>"),
            Some(Doing::Scope)
        );
        assert_eq!(of("mine::send"), Some(Doing::Park));
        assert_eq!(outermost(["mine::send", "mine::f"].into_iter()), None);
    }
}
