//! A trace as the program's author sees it.
//!
//! The runtime sees the atomics and futexes of Rust's std; its author sees locks, and what they protect. An order of
//! two atomics of two locks is one of critical sections, and is explained by the accesses in them. Pickers know steps by
//! what the runtime saw (`sides`), so that is kept.

use std::collections::HashMap;

use raddle_model::{Event, ObjectId, OpKind, OpResult, Side, ThreadId};
use raddle_trace::{ObjectClass, Region, Trace};

use super::edges;
use crate::{finding, target::Symbols};

/// A trace with what its steps are to the author of the program.
#[derive(Clone)]
pub(super) struct Seen {
    pub(super) trace: Trace,
    /// Every step as a side of an order.
    pub(super) sides: Vec<Side>,
    /// What blocked threads waited to do, likewise.
    pub(super) pending: Vec<(ThreadId, Side)>,
}

impl Seen {
    pub(super) fn of(mut trace: Trace, symbols: &mut dyn Symbols) -> Seen {
        let (mut sides, mut pending) = edges::sides(&trace);
        if let Some(told) = finding::told(&trace, symbols) {
            let mut parts = Parts::default();
            let recorded = std::mem::replace(&mut trace.events, told.events);
            for (event, recorded) in (0..).zip(&recorded) {
                parts.name(&mut trace, event, recorded);
            }
            for (slept, tried) in &parts.slept {
                sides[*slept] = sides[*tried];
            }
            for (idx, kind) in told.pending.into_iter().enumerate() {
                let thread = ThreadId(idx as u32);
                let op = &mut trace.threads[idx].pending;
                op.kind = kind;
                if let Some((object, tried)) =
                    parts.asleep.get(&thread).filter(|_| kind.takes_lock())
                {
                    op.object = *object;
                    let side = pending.iter_mut().find(|it| it.0 == thread);
                    side.into_iter().for_each(|it| it.1 = sides[*tried]);
                }
            }
        }
        Seen { trace, sides, pending }
    }

    /// The same with sides as the runtime has them: who slept for a lock is where it slept, not where it found the lock
    /// taken.
    pub(super) fn step_by_step(trace: Trace, symbols: &mut dyn Symbols) -> Seen {
        let (sides, pending) = edges::sides(&trace);
        Seen { sides, pending, ..Seen::of(trace, symbols) }
    }
}

/// Where every access is a step, a block that was copied as a whole is one object. What is atomic in it, a lock or a
/// count, is an object of its own.
#[derive(Default)]
struct Parts {
    /// By object and offset: what is there.
    known: HashMap<(ObjectId, u32), ObjectId>,
    /// The lock for which a thread goes to sleep: the one that it has just found taken, and the step at which it did.
    /// With the lock free, that step would have taken it.
    asleep: HashMap<ThreadId, (ObjectId, usize)>,
    /// Steps that end a sleep with the lock, and those which found it taken.
    slept: Vec<(usize, usize)>,
}

impl Parts {
    /// Puts the object of its own bytes into an event.
    fn name(&mut self, trace: &mut Trace, idx: usize, recorded: &Event) {
        let event = trace.events[idx];
        if event.object == ObjectId::NONE {
            return;
        }
        let takes_lock = event.kind.takes_lock();
        let object = match recorded.kind.is_atomic() {
            true => self.part(trace, event.object, recorded.offset()),
            // A futex has no offset.
            false if takes_lock && event.kind != OpKind::CondWake => {
                match self.asleep.get(&event.thread) {
                    Some((object, tried)) => {
                        self.slept.push((idx, *tried));
                        *object
                    }
                    None => event.object,
                }
            }
            false if class(event.kind).is_some() => event.object,
            false => return,
        };
        trace.events[idx].object = object;
        if let (Some(class), Some(object)) =
            (class(event.kind), trace.objects.get_mut(object.idx()))
        {
            object.class = class;
        }
        if takes_lock && event.result == OpResult::Busy && recorded.kind.is_atomic() {
            self.asleep.insert(event.thread, (object, idx));
        }
    }

    fn part(&mut self, trace: &mut Trace, object: ObjectId, offset: u32) -> ObjectId {
        if offset == 0 || object == ObjectId::NONE {
            return object;
        }
        *self.known.entry((object, offset)).or_insert_with(|| {
            let mut part = trace.objects.get(object.idx()).copied().unwrap_or_default();
            match &mut part.region {
                Region::Global { offset: at, .. } | Region::Heap { offset: at, .. } => {
                    *at += u64::from(offset);
                }
                Region::Stack { offset: at, frame, .. } => {
                    *at = at.saturating_sub(u64::from(offset));
                    if let Some(frame) = frame {
                        frame.from_cfa += offset as i32;
                        frame.from_sp += offset as i32;
                    }
                }
                _ => {}
            }
            trace.objects.push(part);
            ObjectId(trace.objects.len() as u32 - 1)
        })
    }
}

/// What it is that such an op is done to, if it is one of locks.
const fn class(kind: OpKind) -> Option<ObjectClass> {
    Some(match kind {
        OpKind::Lock | OpKind::TryLock | OpKind::Unlock => ObjectClass::Mutex,
        OpKind::ReadLock
        | OpKind::TryReadLock
        | OpKind::WriteLock
        | OpKind::TryWriteLock
        | OpKind::RwUnlock => ObjectClass::Rwlock,
        OpKind::CondWait | OpKind::CondWake => ObjectClass::Cond,
        _ => return None,
    })
}
