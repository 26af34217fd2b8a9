//! What all threads are about to do, side by side: to find those that conflict with an op without looking
//! at each thread.
//!
//! A thread's op changes only when it has taken a step, so one entry is brought up to date at each choice.

use raddle_model::{ObjectId, Op, OpKind, ThreadId, dependent};

use crate::view::{Threads, View};

/// The objects of an op that concerns more than they tell.
const WIDE: u32 = u32::MAX;

/// By thread: the objects of its op.
#[derive(Clone, Debug)]
pub(crate) struct Pending {
    objects: Vec<u32>,
    others: Vec<u32>,
    /// Threads about to do what concerns more than the objects it names.
    n_wide: u32,
}

impl Pending {
    pub(crate) fn new() -> Pending {
        Pending { objects: Vec::with_capacity(64), others: Vec::with_capacity(64), n_wide: 0 }
    }

    /// Threads known.
    pub(crate) fn len(&self) -> usize {
        self.objects.len()
    }

    /// The state at a choice: new threads have come, and the last one that ran has a new op.
    #[inline]
    pub(crate) fn update<T: Threads>(&mut self, view: &View<'_, T>) {
        if self.objects.len() < view.threads.n_threads() as usize {
            self.grow(view.threads);
        }
        self.set(view.last, view.threads.op(view.last));
    }

    #[cold]
    fn grow<T: Threads>(&mut self, threads: &T) {
        for thread in self.objects.len() as u32..threads.n_threads() {
            self.objects.push(0);
            self.others.push(0);
            self.set(ThreadId(thread), threads.op(ThreadId(thread)));
        }
    }

    #[inline]
    fn set(&mut self, thread: ThreadId, op: &Op) {
        let idx = thread.idx();
        let was_wide = self.objects[idx] == WIDE;
        if is_wide(op.kind) || was_wide {
            self.n_wide -= u32::from(was_wide);
            self.n_wide += u32::from(is_wide(op.kind));
        }
        self.objects[idx] = if is_wide(op.kind) { WIDE } else { op.object.0 };
        self.others[idx] = op.other.0;
    }

    /// Calls `found` for each other thread whose op depends on the one that `thread` is about to perform,
    /// also for those that can't go on.
    #[inline]
    pub(crate) fn each_dependent<T: Threads>(
        &self,
        thread: ThreadId,
        threads: &T,
        mut found: impl FnMut(ThreadId),
    ) {
        let op = threads.op(thread);
        let is_plain = self.n_wide == 0 && op.other == ObjectId::NONE && !is_wide(op.kind);
        if is_plain && op.object == ObjectId::NONE {
            return;
        }
        let mut check = |idx: usize| {
            let other = ThreadId(idx as u32);
            if other != thread && dependent(op, threads.op(other)) {
                found(other);
            }
        };
        if !is_plain {
            return (0..self.len()).for_each(check);
        }
        let object = op.object.0;
        // In pieces, so that the processor compares many at once and the pieces without a hit are left.
        for (piece, (objects, others)) in
            self.objects.chunks(16).zip(self.others.chunks(16)).enumerate()
        {
            let is_hit = |idx: usize| objects[idx] == object || others[idx] == object;
            let any = (0..objects.len()).fold(false, |any, idx| any | is_hit(idx));
            if any {
                (0..objects.len())
                    .filter(|idx| is_hit(*idx))
                    .for_each(|idx| check(piece * 16 + idx));
            }
        }
    }
}

/// May the op depend on one with other objects?
const fn is_wide(kind: OpKind) -> bool {
    matches!(
        kind,
        OpKind::Exit | OpKind::Io | OpKind::Kill | OpKind::Handle | OpKind::SigWait | OpKind::Free
    )
}

#[cfg(test)]
mod tests {
    use raddle_model::{ObjectId, Op, OpKind, SiteId, ThreadId, dependent};

    use super::Pending;
    use crate::fake::Fake;

    /// Every kind of op against every kind, with objects in several places: as `dependent` says.
    #[test]
    fn finds_what_depends() {
        let op = |kind: OpKind, object: u32, other: u32| {
            Op::on(kind, ObjectId(object), SiteId(1)).other(ObjectId(other))
        };
        let mut ops: Vec<Op> = OpKind::ALL.iter().map(|it| op(*it, 1, 0)).collect();
        ops.extend([
            op(OpKind::CondWait, 2, 1),
            op(OpKind::CondWake, 1, 2),
            op(OpKind::Lock, 2, 0),
        ]);
        ops.extend([op(OpKind::Yield, 0, 0), op(OpKind::Write, 3, 0)]);
        for with_wide in [true, false] {
            let mut threads = Fake::new(ops.len() as u32, &[0], &[]);
            threads.ops.clone_from(&ops);
            if !with_wide {
                threads.ops.retain(|it| !super::is_wide(it.kind));
                threads.n_threads = threads.ops.len() as u32;
            }
            let mut pending = Pending::new();
            pending.update(&threads.view(0, 0));
            for (idx, op) in threads.ops.iter().enumerate() {
                let mut found = Vec::new();
                pending.each_dependent(ThreadId(idx as u32), &threads, |it| found.push(it.idx()));
                let others = threads.ops.iter().enumerate();
                let expected: Vec<usize> = others
                    .filter(|(other, it)| *other != idx && dependent(op, it))
                    .map(|(other, _)| other)
                    .collect();
                assert_eq!(found, expected, "{op:?}");
            }
        }
    }

    #[test]
    fn follows_the_thread_that_ran() {
        let write = |object| Op::on(OpKind::Write, ObjectId(object), SiteId(1));
        let mut threads = Fake::new(3, &[0, 1, 2], &[]);
        threads.ops = vec![write(1), write(2), write(3)];
        let mut pending = Pending::new();
        let mut hit_by_first = |threads: &Fake, last| {
            pending.update(&threads.view(0, last));
            let mut found = Vec::new();
            pending.each_dependent(ThreadId(0), threads, |it| found.push(it.0));
            found
        };
        assert_eq!(hit_by_first(&threads, 0), [0; 0]);
        threads.ops[2] = write(1);
        assert_eq!(hit_by_first(&threads, 2), [2]);
        threads.ops[1] = Op::on(OpKind::Exit, ObjectId::NONE, SiteId(0));
        assert_eq!(hit_by_first(&threads, 1), [1, 2]);
        threads.ops[1] = write(1);
        threads.ops[2] = write(7);
        assert_eq!(hit_by_first(&threads, 1), [1, 2][..1]);
    }
}
