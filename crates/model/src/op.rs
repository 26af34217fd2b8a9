//! Threads, objects, sites; what a thread is about to do, and what it did.

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use crate::OpResult;

/// A controlled thread, numbered in order of creation; `main` is 0.
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct ThreadId(pub u32);

/// A lock, variable or other thing that threads share, numbered in order of first use. 0 is none.
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectId(pub u32);

/// A place in the program's code, numbered in order of first use. 0 is unknown.
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SiteId(pub u32);

impl ThreadId {
    /// As an index into tables of threads.
    #[inline]
    pub const fn idx(self) -> usize {
        self.0 as usize
    }
}

impl ObjectId {
    /// No object.
    pub const NONE: ObjectId = ObjectId(0);

    /// Is it none?
    pub const fn is_none(&self) -> bool {
        self.0 == 0
    }

    /// As an index into tables of objects.
    #[inline]
    pub const fn idx(self) -> usize {
        self.0 as usize
    }
}

macro_rules! op_kinds {
    ($($(#[$meta:meta])* $name:ident = $text:literal,)*) => {
        /// What an op does. The names are also those of the JSON output and the reports.
        #[cfg_attr(feature = "serde", derive(Serialize, Deserialize), serde(rename_all = "kebab-case"))]
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum OpKind { $($(#[$meta])* $name,)* }

        impl OpKind {
            /// Every kind, in the order of its number.
            pub const ALL: &[OpKind] = &[$(OpKind::$name,)*];

            /// The verb, as reports show it.
            pub const fn verb(self) -> &'static str {
                match self { $(OpKind::$name => $text,)* }
            }
        }
    };
}

op_kinds! {
    /// The first step of a thread.
    #[default]
    Start = "start",
    /// The last step of a thread, after its destructors.
    Finish = "finish",
    /// Creates the thread in `arg`.
    Spawn = "spawn",
    /// Waits for the thread whose object is `object`.
    Join = "join",
    /// Joins if the thread has finished.
    TryJoin = "tryjoin",
    /// Says that nobody will join the thread.
    Detach = "detach",
    /// Reads a variable.
    Read = "read",
    /// Writes a variable.
    Write = "write",
    /// Reads and writes a variable in one plain access.
    ReadWrite = "update",
    /// An atomic load.
    AtomicLoad = "load",
    /// An atomic store.
    AtomicStore = "store",
    /// An atomic read-modify-write that always writes.
    AtomicRmw = "rmw",
    /// A compare-exchange.
    AtomicCas = "cas",
    /// A memory fence.
    Fence = "fence",
    /// Takes a mutex.
    Lock = "lock",
    /// Takes a mutex if it is free.
    TryLock = "trylock",
    /// Gives a mutex back.
    Unlock = "unlock",
    /// Takes a read lock.
    ReadLock = "rdlock",
    /// Takes a read lock if that is possible now.
    TryReadLock = "tryrdlock",
    /// Takes a write lock.
    WriteLock = "wrlock",
    /// Takes a write lock if that is possible now.
    TryWriteLock = "trywrlock",
    /// Gives a read or write lock back.
    RwUnlock = "rwunlock",
    /// Gives the mutex `other` back and queues at the condition variable `object`.
    CondWait = "wait",
    /// Comes back from `CondWait`: was woken, and takes the mutex `other` again.
    CondWake = "wake",
    /// Wakes one waiter.
    Signal = "signal",
    /// Wakes all waiters.
    Broadcast = "broadcast",
    /// Takes one from a semaphore.
    SemWait = "sem_wait",
    /// Takes one from a semaphore if there is one.
    SemTryWait = "sem_trywait",
    /// Adds one to a semaphore.
    SemPost = "sem_post",
    /// Arrives at a barrier.
    BarrierArrive = "barrier",
    /// Leaves a barrier, when all have arrived.
    BarrierLeave = "leave",
    /// Enters a once block: runs it, or waits until whoever runs it is done.
    OnceEnter = "once",
    /// Leaves a once block that this thread ran.
    OnceDone = "once_done",
    /// Leaves a once block by an exception or cancellation; another thread may try again.
    OnceAbort = "once_abort",
    /// Queues at a futex word, if its value is the expected one.
    FutexWait = "futex_wait",
    /// Comes back from `FutexWait`.
    FutexWake = "futex_woken",
    /// Wakes up to `arg` waiters of a futex word.
    FutexNotify = "futex_wake",
    /// Sleeps until the virtual time in `arg`.
    Sleep = "sleep",
    /// Lets others go first.
    Yield = "yield",
    /// Uses a descriptor in another way than those below.
    Io = "io",
    /// Initialises an object.
    Init = "init",
    /// Destroys an object.
    Destroy = "destroy",
    /// Sends a signal to a thread.
    Kill = "kill",
    /// Runs a signal handler.
    Handle = "handle",
    /// Waits for a signal.
    SigWait = "sigwait",
    /// Asks a thread to cancel itself.
    Cancel = "cancel",
    /// Ends the process.
    Exit = "exit",
    /// Frees memory that another thread has used.
    Free = "free",
    /// Takes one of `arg` numbers, as the schedule has it.
    Any = "any",
    /// Copies the process; in the copy, only the thread that asks for it lives on.
    Fork = "fork",
    /// Uses or changes what the C library or the kernel keeps for all threads.
    Call = "use",
    /// Looks at it.
    Query = "query",
    /// Waits until a descriptor can be read, then reads.
    IoRead = "io_read",
    /// Waits until a descriptor can be written, then writes.
    IoWrite = "io_write",
    /// Waits until one of several descriptors can be used.
    Poll = "poll",
    /// Waits for a connection.
    Accept = "accept",
    /// Asks for a connection.
    Connect = "connect",
    /// Closes a descriptor.
    Close = "close",
}

impl OpKind {
    /// The kind whose number is `number`.
    pub fn from_number(number: u8) -> Option<OpKind> {
        OpKind::ALL.get(number as usize).copied()
    }

    /// Is it an access to a variable, plain or atomic?
    pub const fn is_access(self) -> bool {
        (self as u8) >= (OpKind::Read as u8) && (self as u8) <= (OpKind::AtomicCas as u8)
    }

    /// Does it take a lock, if it succeeds?
    pub const fn takes_lock(self) -> bool {
        matches!(
            self,
            OpKind::Lock
                | OpKind::TryLock
                | OpKind::ReadLock
                | OpKind::TryReadLock
                | OpKind::WriteLock
                | OpKind::TryWriteLock
                | OpKind::CondWake
        )
    }

    /// Is it an atomic access or a fence?
    pub const fn is_atomic(self) -> bool {
        matches!(
            self,
            OpKind::AtomicLoad
                | OpKind::AtomicStore
                | OpKind::AtomicRmw
                | OpKind::AtomicCas
                | OpKind::Fence
        )
    }

    /// Do the thread's stores come to memory before it, where they wait in a buffer (TSO)? So it is with locks and calls of
    /// the system, but not with accesses, nor with fences: theirs depends on the order. (A thread that ends reads nothing more.)
    pub const fn empties_buffers(self) -> bool {
        !self.is_access()
            && !matches!(self, OpKind::Fence | OpKind::Yield | OpKind::Free | OpKind::Finish)
    }

    /// Is it an op on a lock or another object that can be destroyed?
    pub const fn is_on_lock(self) -> bool {
        (self as u8) >= (OpKind::Lock as u8) && (self as u8) <= (OpKind::OnceAbort as u8)
    }

    /// Is it an op on a descriptor?
    #[inline]
    pub const fn is_io(self) -> bool {
        matches!(self, OpKind::Io) || (self as u8) >= (OpKind::IoRead as u8)
    }

    /// The verb where its object is told with it.
    pub fn word(self) -> &'static str {
        let verb = self.verb();
        verb.strip_prefix("io_").unwrap_or(verb)
    }

    /// Does it give back what its thread holds? Nobody else could do anything at that moment but wait.
    #[inline]
    pub const fn is_release(self) -> bool {
        matches!(self, OpKind::Unlock | OpKind::RwUnlock | OpKind::OnceDone | OpKind::OnceAbort)
    }

    /// Does it change its object? An op that only reads commutes with others that only read.
    #[inline]
    pub const fn is_write(self) -> bool {
        !matches!(
            self,
            OpKind::Read
                | OpKind::AtomicLoad
                | OpKind::Query
                | OpKind::Fence
                | OpKind::Yield
                | OpKind::Sleep
                | OpKind::Any
        )
    }
}

/// Marks of an op.
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Flags(pub u8);

impl Flags {
    /// No marks.
    pub const NONE: Flags = Flags(0);
    /// The thread reads the same value at the same site again and again: it waits for another.
    pub const SPIN: Flags = Flags(1);
    /// The op has a deadline, in `arg`.
    pub const TIMED: Flags = Flags(2);
    /// The op took place because its deadline had passed.
    pub const TIMED_OUT: Flags = Flags(4);
    /// The wait ended although nobody ended it.
    pub const SPURIOUS: Flags = Flags(8);
    /// The op is part of the C++ runtime's or the C library's own work, not written in the program.
    pub const IMPLIED: Flags = Flags(16);
    /// The access is to a volatile object.
    pub const VOLATILE: Flags = Flags(32);
    /// The access was made while no other thread was left: it is told, but was no step. (Accesses have no deadline.)
    pub const LONE: Flags = Flags(2);
    /// The event's value is what was written.
    pub const WRITTEN: Flags = Flags(64);
    /// The yield is the first of its thread at its place: only a hint, after which the thread may go on at once.
    pub const HINT: Flags = Flags(128);
    /// The atomic op is an instruction without a hook: what it orders is not known. (Yields have no such mark.)
    pub const UNHOOKED: Flags = Flags(128);

    /// Has all marks of `other`.
    #[inline]
    pub const fn has(self, other: Flags) -> bool {
        self.0 & other.0 == other.0
    }

    /// With the marks of `other` too.
    #[inline]
    pub const fn with(self, other: Flags) -> Flags {
        Flags(self.0 | other.0)
    }
}

/// The memory order of an atomic op or a fence. The numbers are those of C.
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize), serde(rename_all = "kebab-case"))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum MemoryOrder {
    /// Atomic, and nothing more.
    #[default]
    Relaxed = 0,
    /// What the thread does later comes after what it reads. Consume counts as this.
    Acquire = 2,
    /// What the thread did before comes before what it writes.
    Release = 3,
    /// Both.
    AcqRel = 4,
    /// Both, and one order of all.
    SeqCst = 5,
}

impl MemoryOrder {
    /// The order whose number in C is `number`. Compilers add flags above the low byte.
    #[inline]
    pub const fn from_number(number: u32) -> MemoryOrder {
        match number as u8 {
            0 => MemoryOrder::Relaxed,
            1 | 2 => MemoryOrder::Acquire,
            3 => MemoryOrder::Release,
            4 => MemoryOrder::AcqRel,
            _ => MemoryOrder::SeqCst,
        }
    }

    /// Does it acquire?
    #[inline]
    pub const fn is_acquire(self) -> bool {
        matches!(self, MemoryOrder::Acquire | MemoryOrder::AcqRel | MemoryOrder::SeqCst)
    }

    /// Does it release?
    #[inline]
    pub const fn is_release(self) -> bool {
        matches!(self, MemoryOrder::Release | MemoryOrder::AcqRel | MemoryOrder::SeqCst)
    }
}

/// What a thread is about to do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Op {
    /// What it does.
    pub kind: OpKind,
    /// Marks.
    pub flags: Flags,
    /// The memory order of an atomic op or a fence.
    pub order: MemoryOrder,
    /// Bytes accessed, for accesses to variables; 255 for more than that, 0 if unknown.
    pub size: u8,
    /// To what; [`ObjectId::NONE`] for an op without object.
    pub object: ObjectId,
    /// The mutex of a condition variable's wait; else none.
    pub other: ObjectId,
    /// Where in the code.
    pub site: SiteId,
    /// A count, a deadline (virtual nanoseconds), a thread, or how far into its object an access begins,
    /// as the kind says.
    pub arg: u64,
}

impl Op {
    /// An op on one object.
    #[inline]
    pub const fn on(kind: OpKind, object: ObjectId, site: SiteId) -> Op {
        Op {
            kind,
            flags: Flags::NONE,
            order: MemoryOrder::Relaxed,
            size: 0,
            object,
            other: ObjectId::NONE,
            site,
            arg: 0,
        }
    }

    /// With a memory order.
    #[inline]
    pub const fn order(mut self, order: MemoryOrder) -> Op {
        self.order = order;
        self
    }

    /// With the bytes of its object that it accesses.
    #[inline]
    pub const fn bytes(mut self, offset: u64, size: usize) -> Op {
        self.arg = offset;
        self.size = if size < 255 { size as u8 } else { 255 };
        self
    }

    /// With a count, deadline or thread.
    #[inline]
    pub const fn arg(mut self, arg: u64) -> Op {
        self.arg = arg;
        self
    }

    /// With a mutex beside the condition variable.
    #[inline]
    pub const fn other(mut self, other: ObjectId) -> Op {
        self.other = other;
        self
    }

    /// With a deadline in virtual nanoseconds, if there is one.
    #[inline]
    pub const fn until(mut self, deadline: Option<u64>) -> Op {
        if let Some(deadline) = deadline {
            self.flags = self.flags.with(Flags::TIMED);
            self.arg = deadline;
        }
        self
    }

    /// Does the thread say that it can't go on before another has?
    #[inline]
    pub const fn is_yield(&self) -> bool {
        matches!(self.kind, OpKind::Yield) && !self.is_hint() || self.flags.has(Flags::SPIN)
    }

    /// Does the thread yield, and may it go on at once all the same?
    #[inline]
    pub const fn is_hint(&self) -> bool {
        matches!(self.kind, OpKind::Yield) && self.flags.has(Flags::HINT)
    }
}

/// What a thread did: one step of a trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Event {
    /// What was done.
    pub kind: OpKind,
    /// Marks.
    pub flags: Flags,
    /// How it ended.
    pub result: OpResult,
    /// Bytes accessed, for accesses to variables; 255 for more than that, 0 if unknown.
    pub size: u8,
    /// Who did it.
    pub thread: ThreadId,
    /// To what.
    pub object: ObjectId,
    /// The mutex of a condition variable's wait; of accesses, see [`Event::passed`]; else none.
    pub other: ObjectId,
    /// Where in the code.
    pub site: SiteId,
    /// Read it with [`Event::choice`], [`Event::order`] and [`Event::offset`].
    pub detail: u32,
    /// The value read, the thread created or woken, as the kind says; of a wait that is over because its deadline has
    /// passed, the delay ([`Event::delay_ns`]).
    pub value: u64,
}

/// Of the detail of an access, the bits of its memory order.
const ORDER_BITS: u32 = 3;
/// In the detail of an access that could be performed in several ways: the choice follows above the offset.
const CHOSEN: u32 = 1 << 31;
const CHOICE_AT: u32 = 24;

impl Event {
    /// Is it an atomic instruction without a hook? Then it counts as ordering all threads.
    #[inline]
    pub const fn is_unhooked(&self) -> bool {
        matches!(self.kind, OpKind::AtomicRmw) && self.flags.has(Flags::UNHOOKED)
    }

    /// How far time jumped to the deadline of this wait although others could go on: for so long they made no
    /// progress. 0 if it came that far otherwise.
    pub const fn delay_ns(&self) -> u64 {
        let is_over = matches!(self.kind, OpKind::Sleep)
            || matches!(self.result, OpResult::TimedOut | OpResult::Busy);
        if is_over && self.flags.has(Flags::TIMED_OUT) { self.value } else { 0 }
    }

    /// The event of an op. `choice` is one of several ways to perform it, if it had several.
    #[inline]
    pub const fn of(
        thread: ThreadId,
        op: &Op,
        result: OpResult,
        value: u64,
        choice: Option<u32>,
    ) -> Event {
        let detail = match choice {
            _ if op.kind.is_access() => op.order as u32 | (op.arg as u32) << ORDER_BITS & !CHOSEN,
            _ if matches!(op.kind, OpKind::Fence) => op.order as u32,
            Some(choice) => choice + 1,
            None => 0,
        };
        Event {
            kind: op.kind,
            flags: op.flags,
            result,
            size: op.size,
            thread,
            object: op.object,
            other: op.other,
            site: op.site,
            detail,
            value,
        }
    }

    /// Makes it the event of a compare-exchange that did not write: a load, of this order.
    pub const fn set_failed(&mut self, order: MemoryOrder) {
        self.result = OpResult::Busy;
        self.detail = self.detail >> ORDER_BITS << ORDER_BITS | order as u32;
    }

    /// Which of several ways to perform the op was chosen, if it had several.
    #[inline]
    pub const fn choice(&self) -> Option<u32> {
        if self.kind.is_access() {
            let is_chosen = self.detail & CHOSEN != 0;
            return if is_chosen { Some((self.detail & !CHOSEN) >> CHOICE_AT) } else { None };
        }
        if matches!(self.kind, OpKind::Fence) {
            return None;
        }
        self.detail.checked_sub(1)
    }

    /// The memory order of an atomic op or a fence.
    #[inline]
    pub const fn order(&self) -> MemoryOrder {
        if self.kind.is_access() || matches!(self.kind, OpKind::Fence) {
            return MemoryOrder::from_number(self.detail & ((1 << ORDER_BITS) - 1));
        }
        MemoryOrder::Relaxed
    }

    /// Offsets and choices below these fit into one event: see [`Event::set_chosen`].
    pub const CHOSEN_OFFSETS: u64 = 1 << (CHOICE_AT - ORDER_BITS);
    /// As above.
    pub const ACCESS_CHOICES: usize = 1 << (31 - CHOICE_AT);

    /// An atomic access could be performed in several ways: the choice, and if memory is weak, the step of the store that
    /// should have been read, or that this one stands before although it came later.
    pub fn set_chosen(&mut self, choice: u32, passed: Option<u64>) {
        let below = self.detail & ((1 << CHOICE_AT) - 1);
        self.detail = CHOSEN | choice << CHOICE_AT | below;
        self.other = ObjectId(passed.map_or(0, |it| it as u32 + 1));
    }

    /// Of an atomic access that is not up to date: the step of the store that a load has passed over, or that a store stands
    /// before in modification order although it was made later.
    pub const fn passed(&self) -> Option<usize> {
        if !self.kind.is_access() || self.detail & CHOSEN == 0 || self.other.is_none() {
            return None;
        }
        Some(self.other.idx() - 1)
    }

    /// The mutex of a wait; the descriptor that is written to.
    #[inline]
    pub const fn other_object(&self) -> ObjectId {
        if self.kind.is_access() { ObjectId::NONE } else { self.other }
    }

    /// How far into its object an access begins.
    #[inline]
    pub const fn offset(&self) -> u32 {
        if !self.kind.is_access() {
            return 0;
        }
        let is_chosen = self.detail & CHOSEN != 0;
        let detail = if is_chosen { self.detail & ((1 << CHOICE_AT) - 1) } else { self.detail };
        detail >> ORDER_BITS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Order, offset and choice of an access do not disturb each other.
    #[test]
    fn an_access_tells_what_was_chosen() {
        let op = Op::on(OpKind::AtomicCas, ObjectId(3), SiteId(1));
        let op = op.order(MemoryOrder::AcqRel).bytes(Event::CHOSEN_OFFSETS - 1, 4);
        let mut event = Event::of(ThreadId(1), &op, OpResult::Done, 7, None);
        assert_eq!((event.choice(), event.passed()), (None, None));
        let most = Event::ACCESS_CHOICES as u32 - 1;
        for (choice, passed) in [(0, None), (1, Some(0)), (most, Some(1 << 31))] {
            event.set_chosen(choice, passed);
            assert_eq!(event.choice(), Some(choice));
            assert_eq!(event.passed(), passed.map(|it| it as usize));
            assert_eq!(u64::from(event.offset()), Event::CHOSEN_OFFSETS - 1);
            assert_eq!(event.order(), MemoryOrder::AcqRel);
            assert_eq!(event.other_object(), ObjectId::NONE);
        }
        event.set_failed(MemoryOrder::Acquire);
        assert_eq!((event.choice(), event.order()), (Some(most), MemoryOrder::Acquire));
    }

    /// The other object of an op that is no access stays one.
    #[test]
    fn a_wait_has_a_mutex() {
        let op = Op::on(OpKind::CondWait, ObjectId(3), SiteId(1)).other(ObjectId(4));
        let event = Event::of(ThreadId(1), &op, OpResult::Done, 0, Some(2));
        assert_eq!((event.choice(), event.passed()), (Some(2), None));
        assert_eq!(event.other_object(), ObjectId(4));
    }
}
