//! What each op does.

use raddle_model::{Misuse, ObjectId, Op, OpKind, OpResult, ThreadId};

use crate::{
    machine::{Machine, Performed},
    object::{Barrier, Cond, Mutex, ObjectState, Once, Rwlock, Sem},
    ready::Queue,
};

macro_rules! state {
    ($name:ident, $kind:ident) => {
        fn $name(&mut self, object: ObjectId) -> &mut $kind {
            match &mut self.object_mut(object).state {
                ObjectState::$kind(it) => it,
                other => panic!("bug: {} expected, found {other:?}", stringify!($kind)),
            }
        }
    };
}

impl Machine {
    /// How many ways there are to perform a thread's pending op: which waiter a signal wakes.
    pub fn n_choices(&self, thread: ThreadId) -> u32 {
        self.n_choices_of(self.pending(thread))
    }

    /// How many ways there are to perform an op.
    pub fn n_choices_of(&self, op: &Op) -> u32 {
        match op.kind {
            OpKind::Signal => match self.object(op.object) {
                Some(ObjectState::Cond(cond)) => cond.waiters.len().max(1) as u32,
                _ => 1,
            },
            OpKind::FutexNotify => {
                let n_waiters = self.futex_waiters(op.object).len() as u32;
                if (1..n_waiters).contains(&(op.arg as u32)) { n_waiters } else { 1 }
            }
            OpKind::Any => op.arg.clamp(1, u64::from(u32::MAX)) as u32,
            _ => 1,
        }
    }

    /// Performs the pending op of a thread that can go on; it runs then.
    #[inline]
    pub fn perform(&mut self, thread: ThreadId, choice: u32) -> Performed {
        let op = *self.pending(thread);
        self.detach(thread);
        self.stir(&op);
        let has_verdict = self.threads[thread.idx()].verdict.is_some();
        let performed = if op.kind.is_access() {
            Performed::default()
        } else if matches!(op.kind, OpKind::Lock | OpKind::Unlock)
            && !has_verdict
            && self.has_object(op.object)
        {
            self.perform_on_mutex(thread, &op)
        } else {
            self.perform_on_object(thread, &op, choice)
        };
        // Last: a deadline that passes may take away a waiter, and `choice` was made among them all.
        self.tick();
        performed
    }

    /// Performs an op of the thread that runs, which was not announced: [`Machine::can_perform`] holds.
    #[inline(always)]
    pub fn perform_now(&mut self, thread: ThreadId, op: &Op, choice: u32) -> Performed {
        self.stir(op);
        let performed = if op.kind.is_access() {
            Performed::default()
        } else if matches!(op.kind, OpKind::Lock | OpKind::Unlock) {
            self.perform_on_mutex(thread, op)
        } else {
            self.perform_on_object(thread, op, choice)
        };
        self.tick();
        performed
    }

    /// Something is done: those who let others go first may look again. Yields do nothing.
    #[inline(always)]
    fn stir(&mut self, op: &Op) {
        if op.is_yield() || op.kind == OpKind::Yield {
            return;
        }
        self.is_idle = false;
        if !self.yielded.is_empty() {
            self.recall_yielded();
        }
    }

    /// What most steps of most programs do, without a detour.
    #[inline(always)]
    fn perform_on_mutex(&mut self, thread: ThreadId, op: &Op) -> Performed {
        let it = self.object_mut(op.object);
        let ObjectState::Mutex(mutex) = &mut it.state else {
            panic!("bug: a mutex expected");
        };
        let result = match op.kind {
            OpKind::Lock => Ok(mutex.lock(thread, op.site)),
            _ => mutex.unlock(thread),
        };
        if !it.lines[Queue::Exclusive as usize].threads.is_empty() {
            self.refresh(op.object);
        }
        match result {
            Ok(result) => result.into(),
            Err(misuse) => Performed { result: OpResult::Misused, value: 0, misuse: Some(misuse) },
        }
    }

    fn perform_on_object(&mut self, thread: ThreadId, op: &Op, choice: u32) -> Performed {
        let verdict = self.threads[thread.idx()].verdict.take();
        if let Some(result) = verdict
            && (op.kind != OpKind::CondWake || result == OpResult::Interrupted)
            && !(result == OpResult::TimedOut && self.is_open_for(op))
        {
            return result.into();
        }
        match self.perform_op(thread, op, choice, verdict) {
            Ok(performed) => performed,
            Err(misuse) => Performed { result: OpResult::Misused, value: 0, misuse: Some(misuse) },
        }
    }

    /// Could an op take its object now? If so it does, however late: POSIX lets no timed lock fail that
    /// could be taken at once.
    fn is_open_for(&self, op: &Op) -> bool {
        let queue = match op.kind {
            OpKind::Lock | OpKind::WriteLock | OpKind::SemWait | OpKind::Join => Queue::Exclusive,
            OpKind::ReadLock => Queue::Shared,
            _ => return false,
        };
        self.object(op.object).is_some_and(|it| it.is_open(queue))
    }

    /// Has an object of the op been destroyed since it was announced?
    fn is_too_late(&self, op: &Op) -> bool {
        match op.kind {
            OpKind::CondWake => !self.has_object(op.other),
            OpKind::CondWait => !self.has_object(op.object) || !self.has_object(op.other),
            OpKind::BarrierLeave => false,
            kind if kind == OpKind::Destroy || kind.is_on_lock() => !self.has_object(op.object),
            _ => false,
        }
    }

    fn perform_op(
        &mut self,
        thread: ThreadId,
        op: &Op,
        choice: u32,
        verdict: Option<OpResult>,
    ) -> Result<Performed, Misuse> {
        let object = op.object;
        if self.is_too_late(op) {
            return Err(Misuse::UseDestroyed);
        }
        let result = match op.kind {
            OpKind::Lock => self.mutex(object).lock(thread, op.site),
            OpKind::TryLock => self.mutex(object).try_lock(thread, op.site),
            OpKind::Unlock => self.mutex(object).unlock(thread)?,
            OpKind::ReadLock => self.rwlock(object).lock(thread, Queue::Shared, op.site),
            OpKind::WriteLock => self.rwlock(object).lock(thread, Queue::Exclusive, op.site),
            OpKind::TryReadLock => self.rwlock(object).try_lock(thread, Queue::Shared, op.site),
            OpKind::TryWriteLock => self.rwlock(object).try_lock(thread, Queue::Exclusive, op.site),
            OpKind::RwUnlock => self.rwlock(object).unlock(thread)?,
            OpKind::SemWait | OpKind::SemTryWait | OpKind::SemPost => {
                return Ok(self.perform_on_sem(op));
            }
            OpKind::OnceEnter => self.once(object).enter(thread, op.site),
            OpKind::OnceDone | OpKind::OnceAbort => {
                self.once(object).leave(op.kind == OpKind::OnceDone);
                OpResult::Done
            }
            OpKind::CondWait => return self.cond_wait(thread, op),
            OpKind::CondWake => return Ok(self.cond_wake(thread, op, verdict)),
            OpKind::Signal => return Ok(self.signal(object, choice)),
            OpKind::Broadcast => return Ok(self.broadcast(object)),
            OpKind::BarrierArrive => return Ok(self.arrive(thread, object)),
            OpKind::FutexNotify => return Ok(self.notify(op, choice)),
            OpKind::Any => {
                return Ok(Performed { value: u64::from(choice), ..OpResult::Done.into() });
            }
            OpKind::Join | OpKind::TryJoin => return self.join(thread, op),
            OpKind::Detach => return self.detach_thread(ThreadId(op.arg as u32)),
            OpKind::Finish => {
                self.orphan_mutexes(thread);
                self.finish_thread(thread);
                return Ok(OpResult::Done.into());
            }
            OpKind::Destroy => return self.destroy(object),
            OpKind::Sleep => {
                self.now = self.now.max(op.arg);
                return Ok(OpResult::Done.into());
            }
            _ => return Ok(OpResult::Done.into()),
        };
        self.refresh(object);
        Ok(result.into())
    }

    state!(mutex, Mutex);
    state!(rwlock, Rwlock);
    state!(sem, Sem);
    state!(once, Once);
    state!(cond, Cond);
    state!(barrier, Barrier);

    /// The value is the semaphore's, afterwards: who took what others gave follows from it.
    fn perform_on_sem(&mut self, op: &Op) -> Performed {
        let sem = self.sem(op.object);
        let result = if op.kind == OpKind::SemPost { sem.post() } else { sem.take() };
        let value = u64::from(sem.count);
        self.refresh(op.object);
        Performed { result, value, misuse: None }
    }

    fn cond_wait(&mut self, thread: ThreadId, op: &Op) -> Result<Performed, Misuse> {
        let depth = self.mutex(op.other).release_all(thread)?;
        self.refresh(op.other);
        self.cond(op.object).enqueue(thread, depth, op.other)?;
        self.threads[thread.idx()].is_woken = false;
        Ok(OpResult::Done.into())
    }

    fn cond_wake(&mut self, thread: ThreadId, op: &Op, verdict: Option<OpResult>) -> Performed {
        let depth = self.threads[thread.idx()].depth;
        self.threads[thread.idx()].is_woken = false;
        let locked = self.mutex(op.other).restore(thread, depth, op.site);
        self.refresh(op.other);
        match (verdict, locked) {
            (Some(result), OpResult::Done) => result.into(),
            (_, locked) => locked.into(),
        }
    }

    fn signal(&mut self, object: ObjectId, choice: u32) -> Performed {
        let cond = self.cond(object);
        if cond.waiters.is_empty() {
            return OpResult::Done.into();
        }
        let (thread, depth) = cond.waiters.remove(choice as usize);
        self.wake(thread, depth);
        Performed { result: OpResult::Done, value: u64::from(thread.0) + 1, misuse: None }
    }

    fn broadcast(&mut self, object: ObjectId) -> Performed {
        let waiters = std::mem::take(&mut self.cond(object).waiters);
        for (thread, depth) in &waiters {
            self.wake(*thread, *depth);
        }
        Performed { result: OpResult::Done, value: waiters.len() as u64, misuse: None }
    }

    /// Ends a thread's wait.
    fn wake(&mut self, thread: ThreadId, depth: u32) {
        let deadline_kept = self.threads[thread.idx()].pending.kind != OpKind::CondWake;
        self.threads[thread.idx()].is_woken = true;
        self.threads[thread.idx()].depth = depth;
        if matches!(self.status(thread), crate::Status::Parked) {
            self.remove_deadline(thread);
            self.after_wake(thread);
        }
        debug_assert!(deadline_kept || !self.threads[thread.idx()].is_timed);
    }

    fn arrive(&mut self, thread: ThreadId, object: ObjectId) -> Performed {
        self.threads[thread.idx()].is_woken = false;
        match self.barrier(object).arrive(thread) {
            // The value is how many are missing still.
            None => {
                let value = u64::from(self.barrier(object).n_missing());
                Performed { result: OpResult::Done, value, misuse: None }
            }
            Some(others) => {
                for other in &others {
                    self.wake(*other, 0);
                }
                Performed { result: OpResult::Chosen, value: others.len() as u64, misuse: None }
            }
        }
    }

    /// Queues the thread that runs at a variable. Its `FutexWait` was performed just before, and the
    /// runtime has found the expected value: both are one step, since nobody else ran in between.
    pub fn queue_at_futex(&mut self, thread: ThreadId, object: ObjectId, bits: u32) {
        self.threads[thread.idx()].is_woken = false;
        self.object_mut(object).futex_waiters.push((thread, bits));
    }

    /// Threads that wait on a variable, in the order in which they came, with their bit sets.
    pub fn futex_waiters(&self, object: ObjectId) -> &[(ThreadId, u32)] {
        self.object_ref(object).map_or(&[], |it| &it.futex_waiters)
    }

    /// Moves up to `count` waiters from one variable to another (`FUTEX_REQUEUE`).
    pub fn requeue(&mut self, from: ObjectId, to: ObjectId, count: u32) -> u32 {
        let waiters = &mut self.object_mut(from).futex_waiters;
        let n_moved = (count as usize).min(waiters.len());
        let moved: Vec<_> = waiters.drain(..n_moved).collect();
        for (thread, _) in &moved {
            self.threads[thread.idx()].pending.object = to;
        }
        self.object_mut(to).futex_waiters.extend(moved);
        n_moved as u32
    }

    /// `arg` has the count in its low half and the bit set in its high half.
    fn notify(&mut self, op: &Op, choice: u32) -> Performed {
        let (count, bits) = (op.arg as u32, (op.arg >> 32) as u32);
        let value = u64::from(self.wake_futex(op.object, count, bits, choice));
        Performed { result: OpResult::Done, value, misuse: None }
    }

    /// Wakes up to `count` waiters of a variable whose bits match, the first of them by choice; how
    /// many there were. For what the kernel does in one step with something else.
    pub fn wake_futex(&mut self, object: ObjectId, count: u32, bits: u32, choice: u32) -> u32 {
        let mut n_woken = 0;
        let mut first = choice as usize;
        while n_woken < count {
            let waiters = &mut self.object_mut(object).futex_waiters;
            let n_waiters = waiters.len();
            let matching = (0..n_waiters)
                .map(|k| (first + k) % n_waiters)
                .find(|idx| waiters[*idx].1 & bits != 0);
            let Some(idx) = matching else { break };
            let (thread, _) = waiters.remove(idx);
            first = 0;
            self.wake(thread, 0);
            n_woken += 1;
        }
        n_woken
    }

    fn join(&mut self, thread: ThreadId, op: &Op) -> Result<Performed, Misuse> {
        let target = match self.object(op.object) {
            Some(ObjectState::Thread { thread, .. }) => *thread,
            other => panic!("bug: thread expected, found {other:?}"),
        };
        if target == thread {
            return Err(Misuse::JoinSelf);
        }
        if !self.is_joinable(target) {
            return Err(Misuse::JoinTwice);
        }
        if self.status(target) != crate::Status::Finished {
            return Ok(OpResult::Busy.into());
        }
        self.threads[target.idx()].is_joined = true;
        self.join_finished();
        Ok(OpResult::Done.into())
    }

    fn detach_thread(&mut self, target: ThreadId) -> Result<Performed, Misuse> {
        if !self.is_joinable(target) {
            return Err(Misuse::DetachTwice);
        }
        self.threads[target.idx()].is_detached = true;
        Ok(OpResult::Done.into())
    }

    /// Marks a thread as created detached.
    pub fn detach_quietly(&mut self, target: ThreadId) {
        self.threads[target.idx()].is_detached = true;
    }

    fn destroy(&mut self, object: ObjectId) -> Result<Performed, Misuse> {
        let it = self.object_mut(object);
        match &it.state {
            ObjectState::Mutex(mutex) => mutex.destroy()?,
            ObjectState::Rwlock(rwlock) => rwlock.destroy()?,
            ObjectState::Cond(cond) => cond.destroy()?,
            ObjectState::Barrier(barrier) => barrier.destroy()?,
            _ => {}
        }
        if it.lines.iter().any(|line| !line.threads.is_empty()) {
            return Err(Misuse::DestroyAwaited);
        }
        self.forget_object(object);
        Ok(OpResult::Done.into())
    }

    /// A semaphore's value.
    pub fn sem_count(&self, object: ObjectId) -> u32 {
        match self.object(object) {
            Some(ObjectState::Sem(sem)) => sem.count,
            _ => 0,
        }
    }

    /// Has a once block been run to its end?
    pub fn is_once_done(&self, object: ObjectId) -> bool {
        matches!(self.object(object), Some(ObjectState::Once(once)) if once.is_done)
    }

    /// `pthread_mutex_consistent`; was there anything to make consistent?
    pub fn make_consistent(&mut self, object: ObjectId, thread: ThreadId) -> bool {
        self.mutex(object).make_consistent(thread)
    }

    /// Ends a wait for a signal, or makes that of a thread that is about to wait end at once.
    pub fn wake_sigwait(&mut self, thread: ThreadId) {
        self.wake(thread, 0);
    }

    /// A thread is about to wait for a signal: what woke it before does not count.
    pub fn forget_wake(&mut self, thread: ThreadId) {
        self.threads[thread.idx()].is_woken = false;
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use crate::script::check;

    #[test]
    fn join_waits_for_the_end() {
        check(
            "
             0 join t1
             1 finish
             0 goes",
            expect![[r#"
                0 join t1: Queued
                1 finish: Done
                0 goes: Done
            "#]],
        );
    }

    #[test]
    fn tryjoin() {
        check(
            "
             0 tryjoin t1
             0 tryjoin t0
             1 finish
             0 tryjoin t1
             0 tryjoin t1",
            expect![[r#"
                0 tryjoin t1: Busy
                0 tryjoin t0: join-self
                1 finish: Done
                0 tryjoin t1: Done
                0 tryjoin t1: join-twice
            "#]],
        );
    }

    #[test]
    fn join_and_detach_misuse() {
        check(
            "
             0 detach t1
             0 detach t1
             1 finish
             0 join t1
             2 finish
             0 join t2
             0 join t2
             0 detach t2
             3 finish
             0 detach t3",
            expect![[r#"
                0 detach t1: Done
                0 detach t1: detach-twice
                1 finish: Done
                0 join t1: join-twice
                2 finish: Done
                0 join t2: Done
                0 join t2: join-twice
                0 detach t2: detach-twice
                3 finish: Done
                0 detach t3: Done
            "#]],
        );
    }

    #[test]
    fn two_join_the_same() {
        check(
            "
             0 join t3
             1 join t3
             3 finish
             1 goes
             0 goes",
            expect![[r#"
                0 join t3: Queued
                1 join t3: Queued
                3 finish: Done
                1 goes: Done
                0 goes: join-twice
            "#]],
        );
    }

    #[test]
    fn a_thread_that_joins_itself_is_told() {
        check(
            "
             0 join t0
             1 join t1 until 5000",
            expect![[r#"
                0 join t0: join-self
                1 join t1 until 5000: join-self
            "#]],
        );
    }
}
