//! What happens before what a thread does now.
//!
//! A clock's entry for a thread is not a count of its releases but the number of its last segment known
//! ([`Segment`]): then an earlier access needs nothing but its segment's number to be compared, however
//! many threads there are, and the runtime can keep it in the cell of the memory itself.
//!
//! Edges: thread creation and join; mutexes, spin locks; rwlocks, where those who read are not ordered among
//! each other; semaphores, once blocks, barriers (by phase); a condition variable's signal and the waits that
//! it ended; futex words, whose wakes and waits count as a release and an acquire of the word, for what
//! stands around them may be compiled without hooks; descriptors, from write to read; signals and
//! cancellation; atomics by their orders, with release sequences and fences.
//!
//! Departures from the standard, all to the side of order, which can hide a race and invents none. All
//! loads read the newest value (executions are sequentially consistent). A release sequence goes on through
//! relaxed stores of threads that have a part in it, as C++11 to C++17 have it for the one that began it. A
//! waiter of a semaphore or of a
//! descriptor is ordered after all posts before it, one of a condition variable after all signals.
//!
//! A race orders nothing: what comes after it in both threads is looked at as if it had not been, and is reported if
//! nothing else orders it, as the standards have it, and as TSan does.

use raddle_model::{Event, MemoryOrder, ObjectId, OpKind, OpResult, ThreadId};

use super::{Clock, Segment};

/// See the module.
#[derive(Debug, Default)]
pub struct Causality {
    threads: Vec<ThreadClock>,
    /// By object; made when something is first released to it.
    objects: Vec<Option<Box<ObjectClock>>>,
    /// By segment: its thread.
    owners: Vec<ThreadId>,
    /// All that was ever written to a descriptor: for those who wait for several.
    descriptors: Clock,
    /// What code that we don't see has passed on, to whoever acquires an atomic.
    unseen: Clock,
    /// Segments before this one began before the last atomic instruction without a hook.
    unhooked: Segment,
    /// All that was done before a signal or a cancellation was sent.
    signals: Clock,
    /// All that threads did that have finished: for those who inherit their robust mutexes.
    finished: Clock,
    /// Threads' and objects' clocks of executions that are over, to be used again.
    spare_threads: Vec<ThreadClock>,
    #[expect(clippy::vec_box, reason = "they go into `objects` as they are")]
    spare_objects: Vec<Box<ObjectClock>>,
}

/// What a thread knows.
#[derive(Debug, Default)]
struct ThreadClock {
    now: Clock,
    /// What its last release fence releases.
    fenced: Clock,
    /// What its next acquire fence acquires.
    to_fence: Clock,
    /// Its segment; none when the next access begins a new one.
    segment: Segment,
}

/// What an object passes on.
#[derive(Debug, Default)]
struct ObjectClock {
    /// To whom takes it (exclusively), loads any of its bytes, comes through it.
    released: Clock,
    /// Atomics: what is passed on to whom loads these bytes. The first `n_parts` are used.
    parts: Vec<Part>,
    n_parts: usize,
    /// Rwlock: of those who read, to the next one who writes. Barrier: of those who have arrived.
    gathered: Clock,
    /// Rwlock: who holds it exclusively.
    writer: Option<ThreadId>,
    /// The thread that it stands for.
    thread: Option<ThreadId>,
    /// A thread that knows all that is released: who comes back to its own lock learns nothing.
    known_to: Option<ThreadId>,
}

/// What atomic ops on some bytes of an object pass on. Two flags in one word are two atomics; ops of different
/// widths on the same bytes see each other.
#[derive(Debug, Default)]
struct Part {
    bytes: Bytes,
    released: Clock,
    /// Who has a part in what is released, as a bit set.
    heads: u64,
}

/// Some bytes of an object, counted from wherever the caller likes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bytes {
    /// The first one.
    pub start: u64,
    /// How many.
    pub size: u64,
}

impl Bytes {
    /// Those that the access of an event is to.
    pub fn of(event: &Event) -> Bytes {
        Bytes { start: event.offset().into(), size: event.size.max(1).into() }
    }

    #[inline]
    const fn meets(self, other: Bytes) -> bool {
        self.start < other.start + other.size && other.start < self.start + self.size
    }
}

/// What an atomic op does to what is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Atomic {
    /// Load, store, rmw or cas.
    pub kind: OpKind,
    /// Its order, that of failure for a compare-exchange that failed.
    pub order: MemoryOrder,
    /// Did a compare-exchange fail?
    pub is_failed: bool,
}

impl Atomic {
    /// That of an event that is an atomic access. (One to a volatile object is none: C, C++ and Rust order nothing
    /// by it.)
    pub const fn of(event: &Event) -> Option<Atomic> {
        let is_failed = matches!(event.result, OpResult::Busy);
        match event.kind {
            OpKind::AtomicLoad | OpKind::AtomicStore | OpKind::AtomicRmw | OpKind::AtomicCas => {
                Some(Atomic { kind: event.kind, order: event.order(), is_failed })
            }
            _ => None,
        }
    }

    /// The kind of access that it is to memory.
    pub const fn access(self) -> OpKind {
        if self.is_failed { OpKind::AtomicLoad } else { self.kind }
    }

    /// Does it acquire what it reads?
    pub const fn is_acquire(self) -> bool {
        self.is_read() && self.order.is_acquire()
    }

    const fn is_read(self) -> bool {
        !matches!(self.kind, OpKind::AtomicStore)
    }

    const fn is_write(self) -> bool {
        !matches!(self.kind, OpKind::AtomicLoad) && !self.is_failed
    }
}

impl Causality {
    /// One thread, `main`.
    pub fn new() -> Causality {
        // Room for a small execution: what is there from the beginning need not grow in each.
        let mut causality = Causality {
            threads: Vec::with_capacity(8),
            objects: Vec::with_capacity(64),
            owners: Vec::with_capacity(128),
            ..Causality::default()
        };
        // Segment 0 is nobody's, and before all.
        causality.owners.push(ThreadId(u32::MAX));
        causality.threads.push(ThreadClock::default());
        causality
    }

    /// As a new one with so many threads, of which nothing is known; what is allocated is kept for later.
    pub fn reset(&mut self, n_threads: usize) {
        for mut it in self.threads.drain(..) {
            it.clear();
            self.spare_threads.push(it);
        }
        for mut it in self.objects.drain(..).flatten() {
            it.clear();
            self.spare_objects.push(it);
        }
        self.owners.truncate(1);
        self.unhooked = Segment::NONE;
        for clock in
            [&mut self.descriptors, &mut self.unseen, &mut self.signals, &mut self.finished]
        {
            clock.clear();
        }
        self.add_threads(n_threads);
    }

    fn add_threads(&mut self, n_threads: usize) {
        while self.threads.len() < n_threads {
            self.threads.push(self.spare_threads.pop().unwrap_or_default());
        }
    }

    /// The thread of a segment.
    #[inline]
    pub fn owner(&self, segment: Segment) -> ThreadId {
        self.owners[segment.0 as usize]
    }

    /// Threads by segment, for the assembly of the hottest hooks: valid until the next segment begins.
    pub fn owners(&self) -> *const ThreadId {
        self.owners.as_ptr()
    }

    /// Does all that happened in a segment so far happen before what the thread does now?
    #[inline]
    pub fn is_before(&self, segment: Segment, thread: ThreadId) -> bool {
        segment <= self.threads[thread.idx()].now.get(self.owner(segment))
    }

    /// The segment of what a thread does now, or none if the next access begins one.
    #[inline]
    pub fn open_segment(&self, thread: ThreadId) -> Segment {
        self.threads[thread.idx()].segment
    }

    /// The segment of what a thread does now. [`Segment::NONE`] when numbers have run out.
    #[inline]
    pub fn segment(&mut self, thread: ThreadId) -> Segment {
        let segment = self.threads[thread.idx()].segment;
        if segment == Segment::NONE { self.begin_segment(thread) } else { segment }
    }

    /// Have the numbers of segments run short? From then on each thread keeps the segment that it has, and
    /// nothing can be said about what is ordered.
    pub fn is_full(&self) -> bool {
        const RESERVE: usize = 1 << 16;
        self.owners.len() + RESERVE >= Segment::LIMIT as usize
    }

    fn begin_segment(&mut self, thread: ThreadId) -> Segment {
        let number = self.owners.len() as u32;
        if number >= Segment::LIMIT {
            return Segment::NONE;
        }
        self.owners.push(thread);
        let it = &mut self.threads[thread.idx()];
        it.segment = Segment(number);
        it.now.set(thread, it.segment);
        it.segment
    }

    /// What the thread does from now on is known to nobody else yet.
    #[inline]
    pub fn end_segment(&mut self, thread: ThreadId) {
        if !self.is_full() {
            self.threads[thread.idx()].segment = Segment::NONE;
        }
    }

    /// All that any thread did happens before what this one does from now on. Nobody knows more of a thread
    /// than it does itself, so one number of each is enough.
    pub fn know_all(&mut self, thread: ThreadId) {
        let mut known = std::mem::take(&mut self.threads[thread.idx()].now);
        for (idx, other) in self.threads.iter().enumerate() {
            let idx = ThreadId(idx as u32);
            let segment = other.now.get(idx);
            if idx != thread && segment > known.get(idx) {
                known.set(idx, segment);
            }
        }
        self.threads[thread.idx()].now = known;
    }

    /// The thread orders itself and others in a way that nobody sees: what it did happens before all that others do from
    /// now on, and what they did before all that it does.
    pub fn meet_all(&mut self, thread: ThreadId) {
        let known = std::mem::take(&mut self.threads[thread.idx()].now);
        for (idx, other) in self.threads.iter_mut().enumerate() {
            if idx != thread.idx() {
                other.now.join(&known);
            }
        }
        self.threads[thread.idx()].now = known;
        self.end_segment(thread);
        self.know_all(thread);
    }

    /// An atomic instruction without a hook: it acquires and releases the memory that it is about; if `is_changed`, code
    /// without hooks has stored something there since, nobody knows who.
    pub fn step_unhooked(
        &mut self,
        thread: ThreadId,
        object: ObjectId,
        bytes: Bytes,
        is_changed: bool,
    ) {
        let op = Atomic { kind: OpKind::AtomicRmw, order: MemoryOrder::SeqCst, is_failed: false };
        if is_changed {
            self.know_all(thread);
        }
        self.before_atomic(thread, object, bytes, op);
        self.after_atomic(thread, object, bytes, op);
        // Accesses before and after it are in different segments, whoever makes them.
        for idx in 0..self.threads.len() {
            self.end_segment(ThreadId(idx as u32));
        }
        self.unhooked = Segment(self.owners.len() as u32);
    }

    /// Has an atomic instruction without a hook been performed since a segment began? It may have ordered what was done
    /// in the segment and what comes now.
    pub fn is_before_unhooked(&self, segment: Segment) -> bool {
        segment < self.unhooked
    }

    /// Code without hooks has changed an object, nobody knows when: all that any thread did happens before
    /// what this one does from now on, and what all others do that come to the object after it.
    pub fn know_all_at(&mut self, thread: ThreadId, object: ObjectId) {
        self.know_all(thread);
        self.release(thread, object);
    }

    /// A thread creates another, which others join through an object.
    pub fn spawn(&mut self, parent: ThreadId, child: ThreadId, object: ObjectId) {
        self.add_threads(child.idx() + 1);
        let known = std::mem::take(&mut self.threads[parent.idx()].now);
        self.threads[child.idx()].now.copy(&known);
        self.threads[parent.idx()].now = known;
        self.end_segment(parent);
        self.slot(object).thread = Some(child);
    }

    /// Says which thread an object stands for.
    pub fn stands_for(&mut self, object: ObjectId, thread: ThreadId) {
        self.slot(object).thread = Some(thread);
    }

    /// All that a thread did happens before what another one does from now on.
    pub fn join(&mut self, thread: ThreadId, ended: ThreadId) {
        let known = std::mem::take(&mut self.threads[ended.idx()].now);
        self.threads[thread.idx()].now.join(&known);
        self.threads[ended.idx()].now = known;
    }

    /// What was released to an object is known.
    #[inline]
    pub fn acquire(&mut self, thread: ThreadId, object: ObjectId) {
        if let Some(Some(it)) = self.objects.get_mut(object.idx())
            && it.known_to != Some(thread)
        {
            let now = &mut self.threads[thread.idx()].now;
            now.join(&it.released);
            it.parts[..it.n_parts].iter().for_each(|part| now.join(&part.released));
            it.known_to = Some(thread);
        }
    }

    /// The same for what atomic ops on some bytes have released.
    pub fn acquire_bytes(&mut self, thread: ThreadId, object: ObjectId, bytes: Bytes) {
        if let Some(Some(it)) = self.objects.get(object.idx()) {
            it.pass_to(&mut self.threads[thread.idx()].now, bytes);
        }
    }

    /// What was released to a lock is known, by those who only read under it, too.
    pub fn acquire_exclusively(&mut self, thread: ThreadId, object: ObjectId) {
        self.acquire(thread, object);
        if let Some(Some(it)) = self.objects.get(object.idx()) {
            self.threads[thread.idx()].now.join(&it.gathered);
        }
    }

    /// What the thread knows is known to whoever acquires the object exclusively.
    pub fn release_shared(&mut self, thread: ThreadId, object: ObjectId) {
        let it = slot(&mut self.objects, &mut self.spare_objects, object);
        it.gathered.join(&self.threads[thread.idx()].now);
        self.end_segment(thread);
    }

    /// What the thread knows is known to whoever acquires the object.
    #[inline]
    pub fn release(&mut self, thread: ThreadId, object: ObjectId) {
        if object == ObjectId::NONE {
            return;
        }
        let it = slot(&mut self.objects, &mut self.spare_objects, object);
        let now = &self.threads[thread.idx()].now;
        if it.known_to == Some(thread) {
            it.released.copy(now);
        } else {
            it.released.join(now);
            it.known_to = None;
        }
        self.end_segment(thread);
    }

    /// What an atomic op on an object learns. The access itself comes after this, for it is ordered by what
    /// it reads, and before [`Causality::after_atomic`].
    #[inline]
    pub fn before_atomic(&mut self, thread: ThreadId, object: ObjectId, bytes: Bytes, op: Atomic) {
        if op.order.is_acquire() && !self.unseen.is_empty() {
            self.threads[thread.idx()].now.join(&self.unseen);
        }
        if op.is_read()
            && let Some(Some(it)) = self.objects.get(object.idx())
        {
            let me = &mut self.threads[thread.idx()];
            let to = if op.order.is_acquire() { &mut me.now } else { &mut me.to_fence };
            it.pass_to(to, bytes);
        }
    }

    /// What an atomic op on some bytes of an object passes on.
    #[inline]
    pub fn after_atomic(&mut self, thread: ThreadId, object: ObjectId, bytes: Bytes, op: Atomic) {
        if !op.is_write() {
            return;
        }
        let me = &mut self.threads[thread.idx()];
        let is_release = op.order.is_release();
        let what = if is_release { &me.now } else { &me.fenced };
        let is_known = self.objects.get(object.idx()).is_some_and(|it| it.is_some());
        if !is_known && what.is_empty() {
            return;
        }
        let it = slot(&mut self.objects, &mut self.spare_objects, object);
        it.known_to = None;
        let me_bit = 1 << thread.0.min(63);
        let part = it.part(bytes);
        let goes_on = op.kind != OpKind::AtomicStore || !is_release && part.heads & me_bit != 0;
        if goes_on {
            part.released.join(what);
            part.heads |= me_bit;
        } else {
            part.released.copy(what);
            part.heads = me_bit;
            // What wakes of a futex have passed on was about the value that is gone.
            if bytes.size >= 4 {
                it.released.clear();
            }
        }
        if is_release {
            self.end_segment(thread);
        }
    }

    /// What a thread learns by a load that reads `message`: at once, or at its next acquire fence.
    #[inline]
    pub(super) fn receive(&mut self, thread: ThreadId, message: &Clock, is_acquire: bool) {
        let me = &mut self.threads[thread.idx()];
        if is_acquire {
            me.now.join(&self.unseen);
            me.now.join(message);
        } else {
            me.to_fence.join(message);
        }
    }

    /// What whoever reads a store of the thread learns by it. Ends the segment of one that releases.
    #[inline]
    pub(super) fn send(&mut self, thread: ThreadId, message: &mut Clock, is_release: bool) {
        let me = &self.threads[thread.idx()];
        message.join(if is_release { &me.now } else { &me.fenced });
        if is_release {
            self.end_segment(thread);
        }
    }

    /// An object has a new value: what wakes of a futex have passed on was about the old one.
    pub fn forget_wakes(&mut self, object: ObjectId) {
        if let Some(Some(it)) = self.objects.get_mut(object.idx()) {
            it.released.clear();
            it.known_to = None;
        }
    }

    /// The thread comes to a sequentially consistent fence, the one of this number.
    pub(super) fn know_fence(&mut self, thread: ThreadId, number: u32) {
        self.threads[thread.idx()].now.know_fence(number);
    }

    /// A fence.
    pub fn fence(&mut self, thread: ThreadId, order: MemoryOrder) {
        let me = &mut self.threads[thread.idx()];
        if order.is_acquire() {
            me.now.join(&me.to_fence);
        }
        if order.is_release() {
            me.fenced.copy(&me.now);
            self.end_segment(thread);
        }
    }

    /// A step that is no access to memory and no fence: what it orders.
    ///
    /// A spawn counts only if its value is the thread that was created (see [`Causality::spawn`]).
    pub fn step(&mut self, event: &Event) {
        let (thread, object) = (event.thread, event.object);
        let is_done =
            matches!(event.result, OpResult::Done | OpResult::Chosen | OpResult::OwnerDied);
        match event.kind {
            OpKind::Spawn if is_done && event.value != 0 => {
                self.spawn(thread, ThreadId(event.value as u32), object);
            }
            OpKind::Join | OpKind::TryJoin if is_done => {
                let ended = self.objects.get(object.idx()).and_then(|it| it.as_ref()?.thread);
                if let Some(ended) = ended {
                    self.join(thread, ended);
                }
            }
            OpKind::Lock | OpKind::TryLock | OpKind::SemWait | OpKind::SemTryWait if is_done => {
                self.acquire(thread, object);
                if event.result == OpResult::OwnerDied {
                    self.threads[thread.idx()].now.join(&self.finished);
                }
            }
            OpKind::Finish => self.finished.join(&self.threads[thread.idx()].now),
            OpKind::Unlock | OpKind::SemPost if is_done => self.release(thread, object),
            OpKind::OnceEnter => self.acquire(thread, object),
            OpKind::OnceDone | OpKind::OnceAbort => self.release(thread, object),
            OpKind::ReadLock | OpKind::TryReadLock if is_done => self.acquire(thread, object),
            OpKind::WriteLock | OpKind::TryWriteLock if is_done => self.write_lock(thread, object),
            OpKind::RwUnlock if is_done => self.rw_unlock(thread, object),
            OpKind::CondWait if is_done => self.release(thread, event.other),
            OpKind::CondWake => self.cond_wake(event),
            // One that wakes nobody orders nothing.
            OpKind::Signal | OpKind::Broadcast if event.value != 0 => self.release(thread, object),
            OpKind::BarrierArrive => self.arrive(thread, object, event.result == OpResult::Chosen),
            OpKind::BarrierLeave => self.acquire(thread, object),
            OpKind::FutexWait | OpKind::FutexWake => self.acquire(thread, object),
            OpKind::FutexNotify => {
                self.release(thread, object);
                self.release(thread, event.other);
            }
            kind if kind.is_io() => self.io(event),
            OpKind::Kill | OpKind::Cancel => {
                self.signals.join(&self.threads[thread.idx()].now);
                self.end_segment(thread);
            }
            OpKind::Handle | OpKind::SigWait => {
                self.threads[thread.idx()].now.join(&self.signals);
            }
            _ => {}
        }
    }

    fn write_lock(&mut self, thread: ThreadId, object: ObjectId) {
        let it = slot(&mut self.objects, &mut self.spare_objects, object);
        it.writer = Some(thread);
        let now = &mut self.threads[thread.idx()].now;
        now.join(&it.released);
        now.join(&it.gathered);
    }

    fn rw_unlock(&mut self, thread: ThreadId, object: ObjectId) {
        let it = slot(&mut self.objects, &mut self.spare_objects, object);
        let now = &self.threads[thread.idx()].now;
        if it.writer == Some(thread) {
            it.writer = None;
            it.known_to = None;
            it.released.copy(now);
            it.gathered.clear();
        } else {
            it.gathered.join(now);
        }
        self.end_segment(thread);
    }

    /// The mutex is taken again, unless the wait goes on (a handler ran, or the deadline passed first).
    fn cond_wake(&mut self, event: &Event) {
        if matches!(event.result, OpResult::Interrupted | OpResult::Busy) {
            return;
        }
        self.acquire(event.thread, event.other);
        if event.result == OpResult::Done {
            self.acquire(event.thread, event.object);
        }
    }

    fn arrive(&mut self, thread: ThreadId, object: ObjectId, is_last: bool) {
        let it = slot(&mut self.objects, &mut self.spare_objects, object);
        it.gathered.join(&self.threads[thread.idx()].now);
        if is_last {
            it.known_to = None;
            it.released.copy(&it.gathered);
            it.gathered.clear();
            self.threads[thread.idx()].now.join(&it.released);
        }
        self.end_segment(thread);
    }

    /// Code that we don't see passes on what a thread knows, to whoever acquires an atomic.
    pub fn release_to_all(&mut self, thread: ThreadId) {
        self.unseen.join(&self.threads[thread.idx()].now);
        self.end_segment(thread);
    }

    /// The thread uses something that the system shares between all of a program's threads, such as the lock
    /// of a file: it comes after all who did so before.
    pub fn meet(&mut self, thread: ThreadId) {
        let now = &mut self.threads[thread.idx()].now;
        now.join(&self.descriptors);
        self.descriptors.join(now);
        self.end_segment(thread);
    }

    /// A write names what is written to as its other object. One that does not wait (its argument is not
    /// told in events) may be either, and waits for several name none of them.
    fn io(&mut self, event: &Event) {
        let (thread, written) = (event.thread, event.other);
        self.acquire(thread, event.object);
        if written == ObjectId::NONE {
            self.threads[thread.idx()].now.join(&self.descriptors);
            self.release(thread, event.object);
        } else {
            self.release(thread, written);
        }
        self.descriptors.join(&self.threads[thread.idx()].now);
    }

    fn slot(&mut self, object: ObjectId) -> &mut ObjectClock {
        slot(&mut self.objects, &mut self.spare_objects, object)
    }

    /// Forgets what is known of an object: it is used anew.
    pub fn forget(&mut self, object: ObjectId) {
        if let Some(it) = self.objects.get_mut(object.idx()) {
            *it = None;
        }
    }

    /// The clock of a thread.
    pub fn clock(&self, thread: ThreadId) -> &Clock {
        &self.threads[thread.idx()].now
    }
}

impl ThreadClock {
    fn clear(&mut self) {
        self.now.clear();
        self.fenced.clear();
        self.to_fence.clear();
        self.segment = Segment::NONE;
    }
}

impl ObjectClock {
    fn clear(&mut self) {
        self.released.clear();
        self.gathered.clear();
        self.n_parts = 0;
        (self.writer, self.thread, self.known_to) = (None, None, None);
    }

    /// What some bytes pass on to whom loads them.
    #[inline]
    fn pass_to(&self, clock: &mut Clock, bytes: Bytes) {
        clock.join(&self.released);
        for part in &self.parts[..self.n_parts] {
            if part.bytes.meets(bytes) {
                clock.join(&part.released);
            }
        }
    }

    /// What atomic ops on exactly these bytes pass on.
    #[inline]
    fn part(&mut self, bytes: Bytes) -> &mut Part {
        let known = self.parts[..self.n_parts].iter().position(|it| it.bytes == bytes);
        let idx = known.unwrap_or_else(|| self.add_part(bytes));
        &mut self.parts[idx]
    }

    #[cold]
    fn add_part(&mut self, bytes: Bytes) -> usize {
        let idx = self.n_parts;
        if idx == self.parts.len() {
            self.parts.push(Part::default());
        }
        let part = &mut self.parts[idx];
        part.released.clear();
        (part.bytes, part.heads) = (bytes, 0);
        self.n_parts += 1;
        idx
    }
}

/// The clock of an object, made if there is none.
#[expect(clippy::vec_box, reason = "they go into `objects` as they are")]
#[inline]
fn slot<'a>(
    objects: &'a mut Vec<Option<Box<ObjectClock>>>,
    spare: &mut Vec<Box<ObjectClock>>,
    object: ObjectId,
) -> &'a mut ObjectClock {
    if objects.len() <= object.idx() {
        objects.resize_with(object.idx() + 1, || None);
    }
    objects[object.idx()].get_or_insert_with(|| spare.pop().unwrap_or_default())
}
