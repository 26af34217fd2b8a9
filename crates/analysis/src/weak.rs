//! What is ordered in a trace without regard to locks: what must be, whoever comes first to a lock.
//!
//! Program order, creation and join, what a thread waited for (conditions, semaphores, barriers, once blocks,
//! futexes, descriptors), atomics, and what each read reads: a value that was passed on under a lock orders
//! who wrote it and who read it, although the lock itself does not.
//!
//! Locks of Rust's std are atomics, and order as such. A wait at its `Condvar` gives the mutex back and takes it again
//! without a step; the look at the condition variable before it names the mutex, and stands for both.
//!
//! Not all that orders is in a trace ([`Hidden`]). Where something may have, it is taken to: fewer pairs are
//! told, none that is excused by what was not seen.

use std::collections::BTreeMap;

use raddle_model::{Event, MemoryOrder, ObjectId, OpKind, ThreadId};

use crate::hb::{Atomic, Bytes, Causality, Clock, Segment};

/// A moment of a thread.
#[derive(Clone, Debug)]
pub(crate) struct Weak {
    thread: ThreadId,
    segment: Segment,
    known: Clock,
}

impl Weak {
    /// Must this moment come before the other?
    pub(crate) fn is_before(&self, other: &Weak) -> bool {
        self.segment <= other.known.get(self.thread)
    }
}

/// Steps before which a thread may have come to know all that the others did, in a way that is not in the
/// trace: it was alone for a while, and what a thread does alone is not told; or it waited for something of
/// the system's, such as the lock of a file.
#[derive(Debug)]
pub(crate) struct Hidden {
    live: Vec<ThreadId>,
    /// Who has become alone, and not been seen since.
    alone: Option<ThreadId>,
    /// Whose last step, but for yields, was a wait for the system.
    waiting: Vec<ThreadId>,
}

impl Default for Hidden {
    /// One thread, and nothing has happened.
    fn default() -> Hidden {
        Hidden { live: vec![ThreadId(0)], alone: None, waiting: Vec::new() }
    }
}

impl Hidden {
    /// A step goes by: may its thread know all that came before?
    pub(crate) fn step(&mut self, event: &Event) -> bool {
        let me = event.thread;
        let was_alone = self.alone.take_if(|it| *it == me).is_some();
        match event.kind {
            OpKind::Spawn if event.value != 0 => self.live.push(ThreadId(event.value as u32)),
            OpKind::Finish => {
                self.live.retain(|it| *it != me);
                self.alone = match self.live[..] {
                    [alone] => Some(alone),
                    _ => None,
                };
            }
            _ => {}
        }
        let is_waiting = match event.kind {
            kind if kind.is_io() => true,
            OpKind::Yield => self.waiting.contains(&me),
            _ => false,
        };
        self.waiting.retain(|it| *it != me);
        if is_waiting {
            self.waiting.push(me);
        }
        was_alone || is_waiting
    }
}

/// See the module.
#[derive(Debug)]
pub(crate) struct WeakOrder {
    causality: Causality,
    hidden: Hidden,
    /// What once blocks have done: who comes to one that is done makes no step.
    once: Clock,
    /// By thread in a wait at a condition variable of Rust's std: that, and the mutex that it takes again.
    waiting: BTreeMap<ThreadId, (ObjectId, ObjectId)>,
}

impl WeakOrder {
    pub(crate) fn new() -> WeakOrder {
        WeakOrder {
            causality: Causality::new(),
            hidden: Hidden::default(),
            once: Clock::new(),
            waiting: BTreeMap::new(),
        }
    }

    /// The moment at which a thread is.
    pub(crate) fn now(&mut self, thread: ThreadId) -> Weak {
        let segment = self.causality.segment(thread);
        let mut known = self.causality.clock(thread).clone();
        known.join(&self.once);
        Weak { thread, segment, known }
    }

    /// A step is about to be made.
    pub(crate) fn begin(&mut self, event: &Event) {
        let may_know_all = self.hidden.step(event);
        if event.is_unhooked() {
            self.causality.meet_all(event.thread);
        } else if may_know_all {
            self.causality.know_all(event.thread);
        }
        self.take_again(event);
    }

    /// Who has come back from a wait at a condition variable of Rust's std has its mutex.
    fn take_again(&mut self, event: &Event) {
        let Some((condition, mutex)) = self.waiting.get(&event.thread).copied() else { return };
        let is_futex =
            matches!(event.kind, OpKind::FutexWait | OpKind::FutexWake | OpKind::FutexNotify);
        if !(is_futex && [condition, mutex].contains(&event.object)) {
            self.waiting.remove(&event.thread);
            self.causality.acquire(event.thread, mutex);
        }
    }

    /// The step that was begun is made.
    pub(crate) fn step(&mut self, event: &Event) {
        match event.kind {
            _ if event.is_unhooked() => {}
            kind if kind.is_access() => self.access(event),
            OpKind::OnceDone | OpKind::OnceAbort => {
                self.once.join(self.causality.clock(event.thread));
                self.causality.step(event);
            }
            OpKind::Lock
            | OpKind::TryLock
            | OpKind::Unlock
            | OpKind::ReadLock
            | OpKind::TryReadLock
            | OpKind::WriteLock
            | OpKind::TryWriteLock
            | OpKind::RwUnlock => {}
            // Without its mutex.
            OpKind::CondWait => {}
            OpKind::CondWake => {
                self.causality.step(&Event { other: ObjectId::NONE, ..*event });
            }
            OpKind::Fence => self.causality.fence(event.thread, event.order()),
            _ => self.causality.step(event),
        }
    }

    /// A read comes after the write that it reads, of whatever kind both are.
    fn access(&mut self, event: &Event) {
        let (thread, object, bytes) = (event.thread, event.object, Bytes::of(event));
        if event.kind == OpKind::AtomicLoad && event.size == 0 && event.other != ObjectId::NONE {
            self.causality.release(thread, event.other);
            self.waiting.insert(thread, (object, event.other));
        }
        let is_failed = Atomic::of(event).is_some_and(|it| it.access() == OpKind::AtomicLoad);
        let reads = !matches!(event.kind, OpKind::Write | OpKind::AtomicStore);
        if reads {
            self.causality.acquire_bytes(thread, object, bytes);
        }
        if event.kind.is_write() && !is_failed {
            let store =
                Atomic { kind: OpKind::AtomicStore, order: MemoryOrder::Release, is_failed: false };
            self.causality.after_atomic(thread, object, bytes, store);
        }
    }
}
