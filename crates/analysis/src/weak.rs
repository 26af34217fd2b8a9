//! What is ordered in a trace without regard to locks: what must be, whoever comes first to a lock.
//!
//! Program order, creation and join, what a thread waited for (conditions, semaphores, barriers, once blocks,
//! futexes, descriptors), atomics, and what each read reads: a value that was passed on under a lock orders
//! who wrote it and who read it, although the lock itself does not.

use raddle_model::{Event, ObjectId, OpKind, ThreadId};

use crate::hb::{Atomic, Causality, Clock, Segment};

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

/// See the module.
#[derive(Debug)]
pub(crate) struct WeakOrder {
    causality: Causality,
}

impl WeakOrder {
    pub(crate) fn new() -> WeakOrder {
        WeakOrder { causality: Causality::new() }
    }

    /// The moment at which a thread is.
    pub(crate) fn now(&mut self, thread: ThreadId) -> Weak {
        let segment = self.causality.segment(thread);
        Weak { thread, segment, known: self.causality.clock(thread).clone() }
    }

    /// A step goes by.
    pub(crate) fn step(&mut self, event: &Event) {
        match event.kind {
            kind if kind.is_access() => self.access(event),
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
        let (thread, object) = (event.thread, event.object);
        let is_failed = Atomic::of(event).is_some_and(|it| it.access() == OpKind::AtomicLoad);
        let reads = !matches!(event.kind, OpKind::Write | OpKind::AtomicStore);
        if reads {
            self.causality.acquire(thread, object);
        }
        if event.kind.is_write() && !is_failed {
            self.causality.pass_on(thread, object);
        }
    }
}
