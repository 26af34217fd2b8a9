//! The machine: threads, objects, and who can go on.

use std::collections::BTreeSet;

use raddle_model::{Flags, Misuse, ObjectId, Op, OpKind, OpResult, SiteId, ThreadId};

use crate::{
    object::ObjectState,
    ready::{Line, Queue, Ready},
    thread::{Status, Thread},
};

/// See the crate.
#[derive(Clone, Debug, Default)]
pub struct Machine {
    pub(crate) threads: Vec<Thread>,
    /// By number. Entry 0 is no object; variables that nobody waits on have no state.
    objects: Vec<Option<Box<Object>>>,
    pub(crate) ready: Ready,
    /// Threads that have let others go first.
    pub(crate) yielded: Vec<ThreadId>,
    /// Blocked threads whose wait may end although others can go on: with the earliest deadline, or for no reason.
    pub(crate) timed: Vec<ThreadId>,
    /// Later deadlines are no choice.
    pub(crate) timed_end: u64,
    /// Those of `timed` whose wait may end for no reason.
    pub(crate) spurious: Vec<ThreadId>,
    /// All blocked threads with a deadline.
    pub(crate) deadlines: BTreeSet<(u64, ThreadId)>,
    /// Virtual time, in nanoseconds.
    pub(crate) now: u64,
    /// Threads that have not finished.
    n_live: u32,
    /// Those that have, and that nobody has joined.
    n_unjoined: u32,
    /// The earliest of `deadlines`, or never.
    pub(crate) next_deadline: u64,
    /// May waits on condition variables end although nobody signalled?
    pub may_wake_spuriously: bool,
    /// May any deadline pass as a choice, not only the earliest?
    pub may_reorder: bool,
    /// Is there any robust mutex?
    has_robust: bool,
    /// How often everybody had yielded, with next to nothing done in between.
    pub(crate) n_idle_rounds: u32,
    /// When that was last so.
    pub(crate) idle_since: u64,
    /// Has nobody done anything since but yield?
    pub(crate) is_idle: bool,
    /// How often clocks were read.
    pub(crate) n_clock_reads: u64,
    /// When the alarm goes off, if it is set; it stands among `deadlines`.
    pub(crate) alarm: Option<u64>,
    /// Has the alarm gone off?
    pub is_alarm_due: bool,
    /// Objects of executions that are over, to be used again.
    #[expect(clippy::vec_box, reason = "they go into `objects` as they are")]
    spare: Vec<Box<Object>>,
}

#[derive(Clone, Debug)]
pub(crate) struct Object {
    pub(crate) state: ObjectState,
    pub(crate) lines: [Line; 2],
    /// Threads that wait on it as a futex, with their bit sets, in the order in which they came.
    pub(crate) futex_waiters: Vec<(ThreadId, u32)>,
}

/// How an op went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Performed {
    /// How it ended.
    pub result: OpResult,
    /// What was woken, counted or created, as the kind says.
    pub value: u64,
    /// The program did what it must not.
    pub misuse: Option<Misuse>,
}

impl From<OpResult> for Performed {
    fn from(result: OpResult) -> Performed {
        Performed { result, value: 0, misuse: None }
    }
}

/// Why no thread can be chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stuck {
    /// None can go on and none ever will.
    Deadlock,
    /// None can go on until a descriptor is ready.
    Descriptors,
}

impl Machine {
    /// A machine with the thread `main`, running, whose object is `object`.
    pub fn new(object: ObjectId) -> Machine {
        let mut machine =
            Machine { next_deadline: u64::MAX, timed_end: u64::MAX, ..Machine::default() };
        machine.create_thread(object, None, SiteId(0));
        machine
    }

    /// Adds a thread. It has announced its start.
    pub fn create_thread(
        &mut self,
        object: ObjectId,
        parent: Option<ThreadId>,
        site: SiteId,
    ) -> ThreadId {
        let thread = ThreadId(self.threads.len() as u32);
        self.threads.push(Thread::new(object, parent, site));
        self.set_object(object, ObjectState::Thread { thread, is_finished: false });
        self.n_live += 1;
        if parent.is_some() {
            self.announce(thread, Op::on(OpKind::Start, object, SiteId(0)));
        }
        thread
    }

    /// Gives an object a state; whoever waited for the old one must be gone.
    pub fn set_object(&mut self, object: ObjectId, state: ObjectState) {
        let idx = object.idx();
        if self.objects.len() <= idx {
            self.objects.resize_with(idx + 1, || None);
        }
        self.has_robust |= matches!(&state, ObjectState::Mutex(it) if it.is_robust());
        self.objects[idx] = Some(match self.spare.pop() {
            Some(mut used) => {
                used.state = state;
                used
            }
            None => {
                Box::new(Object { state, lines: Default::default(), futex_waiters: Vec::new() })
            }
        });
        self.refresh(object);
    }

    pub(crate) fn restore_objects(&mut self, earlier: &Machine) {
        let n_earlier = earlier.objects.len();
        for mut object in self.objects.drain(n_earlier.min(self.objects.len())..).flatten() {
            object.clear();
            self.spare.push(object);
        }
        self.objects.resize_with(n_earlier, || None);
        for (object, earlier) in self.objects.iter_mut().zip(&earlier.objects) {
            match (object, earlier) {
                (Some(object), Some(earlier)) => object.restore(earlier),
                (object, earlier) => object.clone_from(earlier),
            }
        }
    }

    pub(crate) fn restore_counts(&mut self, earlier: &Machine) {
        self.n_live = earlier.n_live;
        self.n_unjoined = earlier.n_unjoined;
        self.has_robust = earlier.has_robust;
    }

    /// Forgets an object's state.
    pub fn forget_object(&mut self, object: ObjectId) {
        if let Some(slot) = self.objects.get_mut(object.idx()) {
            *slot = None;
        }
    }

    /// An object's state, if it has one.
    #[inline]
    pub fn object(&self, object: ObjectId) -> Option<&ObjectState> {
        self.objects.get(object.idx())?.as_ref().map(|it| &it.state)
    }

    /// Has the object a state?
    #[inline]
    pub fn has_object(&self, object: ObjectId) -> bool {
        self.objects.get(object.idx()).is_some_and(|it| it.is_some())
    }

    /// One more than the highest number of an object that ever had a state.
    pub(crate) fn n_objects(&self) -> u32 {
        self.objects.len() as u32
    }

    pub(crate) fn object_ref(&self, object: ObjectId) -> Option<&Object> {
        self.objects.get(object.idx())?.as_deref()
    }

    #[inline]
    pub(crate) fn object_mut(&mut self, object: ObjectId) -> &mut Object {
        let slot = self.objects.get_mut(object.idx()).and_then(|it| it.as_mut());
        slot.expect("bug: an op on an object without state")
    }

    /// Threads created so far.
    #[inline]
    pub fn n_threads(&self) -> u32 {
        self.threads.len() as u32
    }

    /// Threads that have not finished.
    #[inline]
    pub fn n_live(&self) -> u32 {
        self.n_live
    }

    /// Does all that any other thread did or will do happen before what is done now, or after it? One that has finished
    /// could have been later, unless it was joined: what the last thread alive does may conflict with it.
    #[inline]
    pub fn is_alone(&self) -> bool {
        self.n_live + self.n_unjoined == 1
    }

    /// Virtual time, in nanoseconds since the execution began.
    #[inline]
    pub fn now(&self) -> u64 {
        self.now
    }

    /// How often clocks were read.
    pub fn n_clock_reads(&self) -> u64 {
        self.n_clock_reads
    }

    /// Threads that can go on.
    #[inline]
    pub fn n_enabled(&self) -> u32 {
        self.ready.len()
    }

    /// The `idx`-th thread that can go on; the order is arbitrary, but the same every time.
    #[inline]
    pub fn enabled(&self, idx: u32) -> ThreadId {
        let idx = idx as usize;
        if let Some(thread) = self.ready.singles.get(idx) {
            return *thread;
        }
        self.enabled_in_line(idx - self.ready.singles.len())
    }

    fn enabled_in_line(&self, mut idx: usize) -> ThreadId {
        for (object, queue) in &self.ready.lines {
            let line =
                &self.objects[object.idx()].as_ref().expect("bug: a line without object").lines
                    [*queue as usize];
            match line.threads.get(idx) {
                Some(thread) => return *thread,
                None => idx -= line.threads.len(),
            }
        }
        panic!("bug: fewer threads can go on than were counted")
    }

    /// What a thread is about to do.
    #[inline]
    pub fn pending(&self, thread: ThreadId) -> &Op {
        &self.threads[thread.idx()].pending
    }

    /// Where a thread stands.
    #[inline]
    pub fn status(&self, thread: ThreadId) -> Status {
        self.threads[thread.idx()].status
    }

    /// The object that others join, where and by whom it was created.
    pub fn origin(&self, thread: ThreadId) -> (ObjectId, Option<ThreadId>, SiteId) {
        let it = &self.threads[thread.idx()];
        (it.object, it.parent, it.created_at)
    }

    /// Has it been joined or detached?
    pub fn is_joinable(&self, thread: ThreadId) -> bool {
        let it = &self.threads[thread.idx()];
        !it.is_joined && !it.is_detached
    }

    /// Can it go on now?
    #[inline]
    pub fn is_enabled(&self, thread: ThreadId) -> bool {
        match self.threads[thread.idx()].status {
            Status::Ready => true,
            Status::Queued(object, queue) => self.objects[object.idx()]
                .as_ref()
                .is_some_and(|it| it.lines[queue as usize].is_open),
            _ => false,
        }
    }

    /// Who stands between a thread and an object that it waits for, and since where: who holds it; or writers who
    /// wait themselves, if the lock lets them go first.
    pub fn obstacles(&self, thread: ThreadId, object: ObjectId) -> Vec<(ThreadId, SiteId)> {
        let Some(it) = self.object_ref(object) else { return Vec::new() };
        let is_reader = self.threads[thread.idx()].status == Status::Queued(object, Queue::Shared);
        match &it.state {
            ObjectState::Rwlock(rwlock) if is_reader && rwlock.is_reserved() => {
                let writers = &it.lines[Queue::Exclusive as usize].threads;
                writers.iter().map(|writer| (*writer, self.pending(*writer).site)).collect()
            }
            state => state.holders(),
        }
    }

    /// Is it blocked: neither running nor able to go on nor finished?
    pub fn is_blocked(&self, thread: ThreadId) -> bool {
        let status = self.threads[thread.idx()].status;
        !matches!(status, Status::Running | Status::Finished | Status::Yielded)
            && !self.is_enabled(thread)
    }

    /// Could a running thread perform this op at once? It need not be announced then, as long as whoever
    /// chooses knows of it ([`Machine::perform_now`]).
    #[inline(always)]
    pub fn can_perform(&self, thread: ThreadId, op: &Op) -> bool {
        if op.is_yield() {
            return false;
        }
        if op.kind.is_access() {
            return true;
        }
        let is_open = |queue| self.object(op.object).is_some_and(|it| it.is_open(queue));
        match op.kind {
            OpKind::Lock | OpKind::WriteLock => {
                is_open(Queue::Exclusive) || self.answers_at_once(thread, op.object)
            }
            OpKind::ReadLock => is_open(Queue::Shared) || self.answers_at_once(thread, op.object),
            OpKind::SemWait | OpKind::Join | OpKind::OnceEnter => is_open(Queue::Exclusive),
            OpKind::CondWake
            | OpKind::FutexWake
            | OpKind::BarrierLeave
            | OpKind::SigWait
            | OpKind::Sleep => false,
            kind => !kind.is_io(),
        }
    }

    /// Says what a running thread is about to do.
    #[inline]
    pub fn announce(&mut self, thread: ThreadId, op: Op) {
        debug_assert_eq!(self.threads[thread.idx()].status, Status::Running);
        self.threads[thread.idx()].pending = op;
        if op.is_yield() {
            self.set_yielded(thread);
            return;
        }
        if op.kind.is_access() || op.kind == OpKind::Unlock {
            return self.set_ready(thread);
        }
        match op.kind {
            OpKind::Lock if !self.answers_at_once(thread, op.object) => {
                self.enqueue(thread, op.object, Queue::Exclusive);
            }
            OpKind::WriteLock if !self.answers_at_once(thread, op.object) => {
                self.enqueue(thread, op.object, Queue::Exclusive);
            }
            OpKind::ReadLock if !self.answers_at_once(thread, op.object) => {
                self.enqueue(thread, op.object, Queue::Shared);
            }
            OpKind::Join if self.threads[thread.idx()].object == op.object => {
                self.set_ready(thread);
            }
            OpKind::SemWait | OpKind::Join | OpKind::OnceEnter => {
                self.enqueue(thread, op.object, Queue::Exclusive);
            }
            kind if kind.is_io()
                && op.object != ObjectId::NONE
                && (op.flags.has(Flags::TIMED) || op.arg == 0) =>
            {
                let queue =
                    if op.other == ObjectId::NONE { Queue::Exclusive } else { Queue::Shared };
                self.enqueue(thread, op.object, queue);
            }
            OpKind::CondWake | OpKind::FutexWake | OpKind::BarrierLeave | OpKind::SigWait => {
                if self.threads[thread.idx()].is_woken {
                    // Its wait is over: no deadline and no chance can end it again.
                    return self.after_wake(thread);
                }
                self.threads[thread.idx()].status = Status::Parked;
            }
            OpKind::Sleep => {
                if op.arg <= self.now {
                    self.set_ready(thread);
                } else {
                    self.threads[thread.idx()].status = Status::Parked;
                }
            }
            _ => self.set_ready(thread),
        }
        if op.flags.has(Flags::TIMED) {
            self.add_deadline(thread);
        } else if self.may_wake_spuriously && op.kind == OpKind::CondWake {
            self.add_spurious(thread);
        }
    }

    fn answers_at_once(&self, thread: ThreadId, object: ObjectId) -> bool {
        match self.object(object) {
            Some(ObjectState::Mutex(mutex)) => mutex.answers_at_once(thread),
            Some(ObjectState::Rwlock(rwlock)) => rwlock.answers_at_once(thread),
            _ => false,
        }
    }

    /// A thread whose wait has been ended goes on, or competes for its mutex.
    pub(crate) fn after_wake(&mut self, thread: ThreadId) {
        let op = self.threads[thread.idx()].pending;
        match op.kind {
            OpKind::CondWake if self.has_object(op.other) => {
                self.enqueue(thread, op.other, Queue::Exclusive);
            }
            _ => self.set_ready(thread),
        }
    }

    #[inline]
    pub(crate) fn set_ready(&mut self, thread: ThreadId) {
        let it = &mut self.threads[thread.idx()];
        it.status = Status::Ready;
        it.slot = self.ready.singles.len() as u32;
        self.ready.singles.push(thread);
    }

    fn set_yielded(&mut self, thread: ThreadId) {
        let it = &mut self.threads[thread.idx()];
        it.status = Status::Yielded;
        it.slot = self.yielded.len() as u32;
        self.yielded.push(thread);
    }

    /// Lets those who yielded compete again.
    pub(crate) fn recall_yielded(&mut self) {
        while let Some(thread) = self.yielded.pop() {
            self.set_ready(thread);
        }
    }

    pub(crate) fn enqueue(&mut self, thread: ThreadId, object: ObjectId, queue: Queue) {
        let it = self.objects[object.idx()].as_mut().expect("bug: a queue without object");
        let line = &mut it.lines[queue as usize];
        let waiting = &mut self.threads[thread.idx()];
        waiting.status = Status::Queued(object, queue);
        waiting.slot = line.threads.len() as u32;
        line.threads.push(thread);
        if line.listed == 0 {
            line.is_open = it.state.is_open(queue);
            if line.is_open {
                // It was empty: an open line with threads in it is listed.
                self.ready.lines.push((object, queue));
                line.listed = self.ready.lines.len() as u32;
            }
        }
        self.ready.n_in_lines += u32::from(line.listed != 0);
        self.after_queueing(object, queue);
    }

    /// A line has grown or shrunk: that of writers may matter to readers.
    #[inline]
    fn after_queueing(&mut self, object: ObjectId, queue: Queue) {
        let it = self.object_mut(object);
        let n_waiting = it.lines[queue as usize].threads.len() as u32;
        if queue == Queue::Exclusive
            && let ObjectState::Rwlock(rwlock) = &mut it.state
            && rwlock.set_writers_waiting(n_waiting)
        {
            self.refresh_line(object, Queue::Shared);
        }
    }

    /// Takes a thread out of whatever list it stands in; it runs then.
    #[inline]
    pub(crate) fn detach(&mut self, thread: ThreadId) {
        let Thread { status, slot, .. } = self.threads[thread.idx()];
        match status {
            Status::Ready => {
                self.ready.singles.swap_remove(slot as usize);
                if let Some(moved) = self.ready.singles.get(slot as usize) {
                    self.threads[moved.idx()].slot = slot;
                }
            }
            Status::Yielded => {
                self.yielded.swap_remove(slot as usize);
                if let Some(moved) = self.yielded.get(slot as usize) {
                    self.threads[moved.idx()].slot = slot;
                }
            }
            Status::Queued(object, queue) => self.leave_line(object, queue, slot),
            Status::Running | Status::Parked | Status::Finished => {}
        }
        self.threads[thread.idx()].status = Status::Running;
        self.remove_deadline(thread);
    }

    fn leave_line(&mut self, object: ObjectId, queue: Queue, slot: u32) {
        let it = self.objects[object.idx()].as_mut().expect("bug: a queue without object");
        let line = &mut it.lines[queue as usize];
        line.threads.swap_remove(slot as usize);
        if let Some(moved) = line.threads.get(slot as usize) {
            self.threads[moved.idx()].slot = slot;
        }
        if line.listed != 0 {
            self.ready.n_in_lines -= 1;
            if line.threads.is_empty() {
                let place = std::mem::take(&mut line.listed) as usize;
                self.unlist(place);
            }
        }
        self.after_queueing(object, queue);
    }

    /// Takes a line out of the list of open lines; `place` counts from 1.
    fn unlist(&mut self, place: usize) {
        self.ready.lines.swap_remove(place - 1);
        if let Some((moved, queue)) = self.ready.lines.get(place - 1).copied() {
            self.object_mut(moved).lines[queue as usize].listed = place as u32;
        }
    }

    /// Brings an object's queues up to date after its state has changed.
    #[inline]
    pub(crate) fn refresh(&mut self, object: ObjectId) {
        if self.object_mut(object).lines.iter().all(|it| it.threads.is_empty()) {
            return;
        }
        for queue in Queue::BOTH {
            self.refresh_line(object, queue);
        }
    }

    fn refresh_line(&mut self, object: ObjectId, queue: Queue) {
        let it = self.object_mut(object);
        let is_open = it.state.is_open(queue);
        let line = &mut it.lines[queue as usize];
        line.is_open = is_open;
        let is_wanted = is_open && !line.threads.is_empty();
        let (listed, n_threads) = (line.listed, line.threads.len() as u32);
        match (is_wanted, listed) {
            (true, 0) => {
                self.ready.lines.push((object, queue));
                self.ready.n_in_lines += n_threads;
                let listed = self.ready.lines.len() as u32;
                self.object_mut(object).lines[queue as usize].listed = listed;
            }
            (false, 1..) => {
                self.object_mut(object).lines[queue as usize].listed = 0;
                self.ready.n_in_lines -= n_threads;
                self.unlist(listed as usize);
            }
            _ => return,
        }
        if !self.deadlines.is_empty() && self.is_line_timed(object, queue) {
            self.choose_timed();
        }
    }

    /// Does a thread with a deadline stand in a line?
    fn is_line_timed(&self, object: ObjectId, queue: Queue) -> bool {
        let line = self.object_ref(object).map(|it| &it.lines[queue as usize]);
        let mut threads = line.into_iter().flat_map(|it| &it.threads);
        threads.any(|it| self.pending(*it).flags.has(Flags::TIMED))
    }

    pub(crate) fn finish_thread(&mut self, thread: ThreadId) {
        self.threads[thread.idx()].status = Status::Finished;
        self.n_live -= 1;
        self.n_unjoined += 1;
        let object = self.threads[thread.idx()].object;
        self.object_mut(object).state = ObjectState::Thread { thread, is_finished: true };
        self.refresh(object);
    }

    /// A thread that has finished is joined.
    pub(crate) fn join_finished(&mut self) {
        self.n_unjoined -= 1;
    }

    /// The last thread to finish runs on, to end the process.
    pub fn revive(&mut self, thread: ThreadId) {
        assert_eq!(self.n_live, 0, "bug: others are alive");
        self.threads[thread.idx()].status = Status::Running;
        self.n_live = 1;
        self.n_unjoined -= 1;
    }

    /// Makes the object one that threads can wait on as a futex, if it has no state yet.
    pub fn make_futex(&mut self, object: ObjectId) {
        if !self.has_object(object) {
            self.set_object(object, ObjectState::Futex);
        }
    }

    /// Robust mutexes of a thread that ends pass on.
    pub(crate) fn orphan_mutexes(&mut self, thread: ThreadId) {
        if !self.has_robust {
            return;
        }
        for idx in 1..self.objects.len() {
            let Some(it) = &mut self.objects[idx] else { continue };
            if let ObjectState::Mutex(mutex) = &mut it.state
                && mutex.is_robust()
                && mutex.owner() == Some(thread)
            {
                mutex.orphan();
                self.refresh(ObjectId(idx as u32));
            }
        }
    }

    /// Says whether a descriptor can be read and written.
    pub fn set_descriptor(&mut self, object: ObjectId, ready: [bool; 2]) {
        self.object_mut(object).state = ObjectState::Descriptor(ready);
        self.refresh(object);
    }

    /// Descriptors that threads wait for, in order of their numbers.
    pub fn awaited_descriptors(&self) -> impl Iterator<Item = ObjectId> + '_ {
        self.objects.iter().enumerate().filter_map(|(idx, it)| {
            let it = it.as_ref()?;
            let is_awaited = it.lines.iter().any(|line| !line.threads.is_empty());
            (matches!(it.state, ObjectState::Descriptor(_)) && is_awaited)
                .then_some(ObjectId(idx as u32))
        })
    }
}
