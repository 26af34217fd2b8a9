//! Processes that the program forks. In the child only the thread that forked lives on: a lock that another thread
//! held at that moment stays locked there for ever.
//!
//! The child is not controlled, but it has our hooks, and in them it looks whether a lock that it is about to take is
//! one of those. If so it says so in the segment and ends, and the program's own process tells it: when it waits for a
//! child, or when it ends.
//!
//! Who holds a lock that is made of atomics and a futex (Rust's std) is not known. But a child of one thread that waits
//! at a private futex, without a timeout, waits for ever; if another thread changed that word last, before the fork,
//! that is what it waits for.
//!
//! Waits with a timeout come to an end, and are the child's own affair. What it misses: children that outlive the
//! program by a second, and futexes of children that the program does not wait for.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use libc::pid_t;
use raddle_fiber::raw;
use raddle_machine::ObjectState;
use raddle_model::{ObjectId, SiteId, ThreadId};

use crate::{
    control::{Control, control, is_active},
    state::{forks::Fork, shadow::State},
};

/// A child that may find a lock taken is waited for so long, when the program ends before it.
const PATIENCE_MS: usize = 1_000;

/// Is this the child of a fork at which others held locks?
static IS_RISKY_CHILD: AtomicBool = AtomicBool::new(false);
/// Is this a child that has lost threads, and has created none?
static IS_ALONE: AtomicBool = AtomicBool::new(false);

impl Control {
    /// The thread that runs is about to fork.
    pub(crate) fn before_fork(&mut self, site: SiteId) {
        let others =
            (0..self.scheduler.machine.n_threads()).map(ThreadId).filter(|it| *it != self.me);
        let held = others.flat_map(|it| self.recorder.emit.coverage.held(it).all()).copied();
        // What is shared with the child, the thread that holds it releases there too.
        let held = held.filter(|it| !self.is_tied(*it));
        let is_shared =
            |it| self.scheduler.machine.object(it).is_some_and(ObjectState::is_held_by_readers);
        self.process.forks.held = held.map(|it| (it, is_shared(it))).collect();
        let is_risky = !self.process.forks.held.is_empty();
        self.process.forks.made.push(Fork { thread: self.me, site, child: 0, is_risky });
    }

    /// It has: in the program's own process.
    pub(crate) fn after_fork(&mut self, child: pid_t) {
        if let Some(last) = self.process.forks.made.last_mut() {
            last.child = child;
        }
    }

    /// The program ends: waits for children that may still find a lock taken.
    pub(crate) fn await_children(&mut self) {
        for fork in
            self.process.forks.made.clone().into_iter().filter(|it| it.is_risky && it.child > 0)
        {
            // SAFETY: asks for a descriptor and waits for it; a child that is gone has none.
            unsafe {
                let fd = raw::syscall(libc::SYS_pidfd_open, [fork.child as usize, 0, 0, 0, 0, 0]);
                if fd >= 0 {
                    let mut ended =
                        libc::pollfd { fd: fd as i32, events: libc::POLLIN, revents: 0 };
                    let args = [&raw mut ended as usize, 1, PATIENCE_MS, 0, 0, 0];
                    raw::syscall(libc::SYS_poll, args);
                    raw::syscall(libc::SYS_close, [fd as usize, 0, 0, 0, 0, 0]);
                }
            }
        }
        self.look_at_children();
    }
}

/// In the child.
pub(crate) fn begin_child() {
    // SAFETY: one thread is left, which was inside a hook or ran the program's handlers.
    let (is_risky, n_live) = unsafe {
        (!(*control()).process.forks.held.is_empty(), (*control()).scheduler.machine.n_live())
    };
    IS_RISKY_CHILD.store(is_risky, Relaxed);
    IS_ALONE.store(n_live > 1, Relaxed);
}

/// A function that is not controlled creates a thread.
pub(crate) fn create_thread() {
    IS_ALONE.store(false, Relaxed);
}

/// A function that is not controlled is about to take a lock, or to wait for one.
#[inline]
pub(crate) fn meets(address: usize) {
    if IS_RISKY_CHILD.load(Relaxed) && !is_active() {
        look_at_lock(address, false);
    }
}

/// The same, for reading.
#[inline]
pub(crate) fn meets_for_reading(address: usize) {
    if IS_RISKY_CHILD.load(Relaxed) && !is_active() {
        look_at_lock(address, true);
    }
}

/// A function that is not controlled is about to wait at a futex, until it is woken.
pub(crate) fn meets_futex(address: usize) {
    if !IS_ALONE.load(Relaxed) || is_active() {
        return;
    }
    // SAFETY: the child has one thread.
    let control = unsafe { &*control() };
    if let Some(State::Variable(object)) = state_at(control, address)
        && control.memory.detect.last_writer(object).is_some_and(|it| it != control.me)
    {
        tell(control, object);
    }
}

#[cold]
fn look_at_lock(address: usize, is_reader: bool) {
    // SAFETY: the child has one thread.
    let control = unsafe { &*control() };
    let Some(object) = object_at(control, address) else { return };
    let is_taken =
        |(held, is_shared): &(ObjectId, bool)| *held == object && !(*is_shared && is_reader);
    if control.process.forks.held.iter().any(is_taken) {
        tell(control, object);
    }
}

fn tell(control: &Control, object: ObjectId) -> ! {
    let fork = control.process.forks.made.len() as u64 - 1;
    // SAFETY: the header is mapped; the field is atomic.
    unsafe {
        (*control.header).live.forked_lock.store(fork << 32 | u64::from(object.0 + 1), Relaxed)
    };
    raw::exit_group(128 + libc::SIGKILL)
}

/// The child makes a lock anew: it is free then.
pub(crate) fn forget(address: usize) {
    if IS_RISKY_CHILD.load(Relaxed) && !is_active() {
        // SAFETY: the child has one thread.
        unsafe {
            if let Some(object) = object_at(&*control(), address) {
                (*control()).process.forks.held.retain(|it| it.0 != object);
            }
        }
    }
}

fn object_at(control: &Control, address: usize) -> Option<ObjectId> {
    match state_at(control, address) {
        Some(State::Sync(object)) => Some(object),
        _ => None,
    }
}

fn state_at(control: &Control, address: usize) -> Option<State> {
    let cell = control.memory.shadow.cell(address);
    // SAFETY: not null, so a cell.
    (!cell.is_null()).then(|| unsafe { *cell }.state())
}
