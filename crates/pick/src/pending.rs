//! What all threads are about to do, by object: to find those that conflict with an op without looking at
//! every thread.
//!
//! A thread's op changes only when it has taken a step, so one thread is brought up to date at each choice.
//! Threads whose ops have an object in common are linked to each other.

use raddle_model::{ObjectId, Op, ThreadId, dependent};

use crate::view::{Threads, View};

/// No thread.
const NONE: u32 = u32::MAX;

/// See the module.
#[derive(Clone, Debug)]
pub(crate) struct Pending {
    /// By object: the first place in its list.
    heads: Vec<u32>,
    /// Two places for each thread: for its op's object, and for the other one.
    places: Vec<Place>,
    /// Threads about to do what concerns more than the objects it names.
    n_wide: u32,
    /// By thread: is it one of those?
    is_wide: Vec<bool>,
}

/// A place in the list of an object, or in none.
#[derive(Clone, Copy, Debug)]
struct Place {
    object: u32,
    next: u32,
    previous: u32,
}

impl Place {
    const FREE: Place = Place { object: 0, next: NONE, previous: NONE };
}

impl Pending {
    pub(crate) fn new() -> Pending {
        Pending {
            heads: Vec::with_capacity(64),
            places: Vec::with_capacity(128),
            n_wide: 0,
            is_wide: Vec::with_capacity(64),
        }
    }

    /// Threads known.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.is_wide.len()
    }

    /// The state at a choice: new threads have come, and the last one that ran has a new op.
    #[inline]
    pub(crate) fn update<T: Threads>(&mut self, view: &View<'_, T>) {
        if self.len() < view.threads.n_threads() as usize {
            self.grow(view.threads);
        }
        self.set(view.last, view.threads.op(view.last));
    }

    #[cold]
    fn grow<T: Threads>(&mut self, threads: &T) {
        for thread in self.len() as u32..threads.n_threads() {
            self.places.extend([Place::FREE; 2]);
            self.is_wide.push(false);
            self.set(ThreadId(thread), threads.op(ThreadId(thread)));
        }
    }

    #[inline]
    fn set(&mut self, thread: ThreadId, op: &Op) {
        let is_wide = op.kind.is_wide();
        if is_wide != self.is_wide[thread.idx()] {
            self.is_wide[thread.idx()] = is_wide;
            self.n_wide = if is_wide { self.n_wide + 1 } else { self.n_wide - 1 };
        }
        self.move_to(thread.0 * 2, op.object);
        self.move_to(thread.0 * 2 + 1, op.other);
    }

    #[inline]
    fn move_to(&mut self, place: u32, object: ObjectId) {
        let Place { object: before, next, previous } = self.places[place as usize];
        if before == object.0 {
            return;
        }
        if before != ObjectId::NONE.0 {
            match previous {
                NONE => self.heads[before as usize] = next,
                previous => self.places[previous as usize].next = next,
            }
            if next != NONE {
                self.places[next as usize].previous = previous;
            }
        }
        self.places[place as usize] = Place { object: object.0, ..Place::FREE };
        if object == ObjectId::NONE {
            return;
        }
        if self.heads.len() <= object.idx() {
            self.heads.resize(object.idx() + 1, NONE);
        }
        let first = std::mem::replace(&mut self.heads[object.idx()], place);
        self.places[place as usize].next = first;
        if first != NONE {
            self.places[first as usize].previous = place;
        }
    }

    /// Calls `found` for each other thread whose op depends on the one that `thread` is about to perform,
    /// also for those that can't go on. In an order that is the same every time.
    #[inline]
    pub(crate) fn each_dependent<T: Threads>(
        &self,
        thread: ThreadId,
        threads: &T,
        mut found: impl FnMut(ThreadId),
    ) {
        let op = threads.op(thread);
        let mut check = |other: ThreadId| {
            if other != thread && dependent(op, threads.op(other)) {
                found(other);
            }
        };
        if self.n_wide > 0 || op.other != ObjectId::NONE {
            return (0..self.len() as u32).map(ThreadId).for_each(check);
        }
        let mut place = self.heads.get(op.object.idx()).copied().unwrap_or(NONE);
        while place != NONE {
            check(ThreadId(place / 2));
            place = self.places[place as usize].next;
        }
    }
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
                threads.ops.retain(|it| !it.kind.is_wide());
                threads.n_threads = threads.ops.len() as u32;
            }
            let mut pending = Pending::new();
            pending.update(&threads.view(0, 0));
            for (idx, op) in threads.ops.iter().enumerate() {
                let mut found = Vec::new();
                pending.each_dependent(ThreadId(idx as u32), &threads, |it| found.push(it.idx()));
                found.sort_unstable();
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
            found.sort_unstable();
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
