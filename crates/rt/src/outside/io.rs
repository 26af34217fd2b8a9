//! Descriptors that threads wait for.
//!
//! A call that could block is a step that can be performed while `poll` says that the descriptor is
//! ready; then the real call is made, which does not block. Descriptors that only this program's
//! threads use (pipes, eventfds…) can be part of a deadlock; for others the execution really waits.
//!
//! What it misses: calls that the C library makes for itself (streams), and time limits of sockets.

use std::ffi::c_int;

use raddle_fiber::raw;
use raddle_machine::ObjectState;
use raddle_model::{Escape, ObjectId, Op, OpKind, OpResult, SiteId, ThreadId};
use raddle_trace::{
    ObjectClass, ObjectEntry,
    protocol::{REPLY_FD, RegionTag, SEGMENT_FD},
};

use crate::{
    control::{Control, Inside},
    schedule::step::step,
    tell::end,
};

/// What is known about descriptors.
#[derive(Debug, Default)]
pub(crate) struct Io {
    /// Threads that wait for a descriptor.
    pub(crate) n_waiting: u32,
    /// Has anything happened since readiness was last looked at?
    pub(crate) is_stale: bool,
    /// How often a moment was waited for what is outside, in vain.
    n_misses: u32,
    /// By number.
    known: Vec<Descriptor>,
    waiting: Vec<Waiting>,
}

impl Io {
    /// Begins another execution: nobody waits, and of the descriptors that were used, only those that were
    /// used before it have an object.
    pub(crate) fn restart(&mut self, n_objects: usize) {
        (self.n_waiting, self.is_stale, self.n_misses) = (0, false, 0);
        self.waiting.clear();
        for descriptor in &mut self.known {
            if descriptor.object.idx() >= n_objects {
                descriptor.object = ObjectId::NONE;
            }
        }
    }
}

/// What is known about a descriptor.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Descriptor {
    pub(crate) kind: Kind,
    /// Its number in traces; made at its first use. Both ends of a pipe have the same.
    pub(crate) object: ObjectId,
    /// The descriptor at the other end, if it was made together with this one.
    peer: Option<c_int>,
    /// Can only this program's threads make it ready?
    pub(crate) is_internal: bool,
    /// Was it there when the program began, or made behind our back?
    pub(crate) is_found: bool,
}

/// What kind of thing a descriptor is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Not looked at yet.
    #[default]
    Unknown,
    /// A file, directory or terminal: calls pass straight through.
    Plain,
    Pipe,
    Socket,
    /// An eventfd, an epoll instance…
    Event,
    Timer,
    /// `/dev/urandom`.
    Random,
}

/// A thread that waits for descriptors, which are listed on its stack.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    thread: ThreadId,
    object: ObjectId,
    is_write: bool,
    list: *mut libc::pollfd,
    n_list: usize,
    is_late: bool,
}

/// Descriptors of ours that the program must not touch.
pub(crate) const fn is_hidden(fd: c_int) -> bool {
    fd >= HIDDEN.0 && fd <= HIDDEN.1
}

/// The first and the last of them; see `trace::protocol`.
pub(crate) const HIDDEN: (c_int, c_int) = (SEGMENT_FD, REPLY_FD);

impl Io {
    fn slot(&mut self, fd: c_int) -> Option<&mut Descriptor> {
        let idx = usize::try_from(fd).ok()?;
        if self.known.len() <= idx {
            self.known.resize(idx + 1, Descriptor::default());
        }
        self.known.get_mut(idx)
    }

    /// A descriptor was made by the program.
    pub(crate) fn add(&mut self, fd: c_int, kind: Kind, is_internal: bool) {
        if let Some(slot) = self.slot(fd) {
            *slot = Descriptor { kind, is_internal, ..Descriptor::default() };
        }
        self.is_stale = true;
    }

    /// Two descriptors are the ends of one thing.
    pub(crate) fn add_pair(&mut self, ends: [c_int; 2], kind: Kind) {
        for (fd, other) in [(ends[0], ends[1]), (ends[1], ends[0])] {
            self.add(fd, kind, true);
            if let Some(slot) = self.slot(fd) {
                slot.peer = Some(other);
            }
        }
    }

    /// `new` is now the same as `old`.
    pub(crate) fn copy(&mut self, old: c_int, new: c_int) {
        let it = self.slot(old).copied().unwrap_or_default();
        if let Some(slot) = self.slot(new) {
            *slot = it;
        }
        self.is_stale = true;
    }

    /// A descriptor was closed.
    pub(crate) fn forget(&mut self, fd: c_int) {
        if let Some(slot) = self.known.get_mut(fd as usize) {
            *slot = Descriptor::default();
        }
        self.is_stale = true;
    }

    /// Descriptors from `first` to `last` were closed.
    pub(crate) fn forget_range(&mut self, first: usize, last: usize) {
        for fd in first..self.known.len().min(last.saturating_add(1)) {
            self.forget(fd as c_int);
        }
    }

    /// From now on others than this program's threads can make it ready.
    pub(crate) fn set_internal(&mut self, fd: c_int, is_internal: bool) {
        if let Some(slot) = self.slot(fd) {
            slot.is_internal = is_internal;
        }
    }

    /// Is it known that others than this program's threads make it ready?
    pub(crate) fn is_outside(&self, fd: c_int) -> bool {
        self.known.get(fd as usize).is_some_and(|it| it.kind.is_stream() && !it.is_internal)
    }

    /// What kind it is, if that is known.
    pub(crate) fn kind_of(&self, fd: c_int) -> Kind {
        self.known.get(fd as usize).map_or(Kind::Unknown, |it| it.kind)
    }

    /// What is known about a descriptor, looked up if nothing is.
    pub(crate) fn look(&mut self, fd: c_int) -> Descriptor {
        let Some(slot) = self.slot(fd) else { return Descriptor::default() };
        if slot.kind == Kind::Unknown {
            *slot = Descriptor { kind: find_kind(fd), is_found: true, ..Descriptor::default() };
        }
        *slot
    }

    /// A thread no longer waits.
    pub(crate) fn stop_waiting(&mut self, thread: ThreadId) {
        self.waiting.retain(|it| it.thread != thread);
        self.n_waiting = self.waiting.len() as u32;
    }

    fn is_internal_wait(&self, waiting: &Waiting) -> bool {
        // SAFETY: the waiting thread's list lives on its stack for as long as it waits.
        let list = unsafe { list_of(waiting) };
        let is_internal =
            |fd: c_int| fd < 0 || self.known.get(fd as usize).is_some_and(|it| it.is_internal);
        list.iter().all(|it| is_internal(it.fd))
    }
}

unsafe fn list_of<'a>(waiting: &Waiting) -> &'a mut [libc::pollfd] {
    if waiting.n_list == 0 {
        return &mut [];
    }
    // SAFETY: the caller promises that the thread waits.
    unsafe { std::slice::from_raw_parts_mut(waiting.list, waiting.n_list) }
}

fn find_kind(fd: c_int) -> Kind {
    // SAFETY: the kernel fills our own structure in.
    let (result, mode) = unsafe {
        let mut status = std::mem::zeroed::<libc::stat>();
        let result =
            raw::syscall(libc::SYS_fstat, [fd as usize, &raw mut status as usize, 0, 0, 0, 0]);
        (result, status.st_mode)
    };
    match mode & libc::S_IFMT {
        _ if result < 0 => Kind::Plain,
        libc::S_IFIFO => Kind::Pipe,
        libc::S_IFSOCK => Kind::Socket,
        0 => Kind::Event,
        _ => Kind::Plain,
    }
}

impl Kind {
    /// Can a call on it block?
    pub(crate) fn is_stream(self) -> bool {
        !matches!(self, Kind::Unknown | Kind::Plain | Kind::Random)
    }
}

impl Control {
    /// The number of a descriptor in traces.
    pub(crate) fn descriptor_object(&mut self, fd: c_int) -> ObjectId {
        let known = self.process.io.look(fd);
        if known.object != ObjectId::NONE {
            return known.object;
        }
        let peer = known.peer.filter(|_| known.kind == Kind::Pipe);
        let object = self.add_descriptor_object(fd, peer);
        for end in [Some(fd), peer].into_iter().flatten() {
            if let Some(slot) = self.process.io.slot(end)
                && slot.kind == known.kind
                && slot.object == ObjectId::NONE
            {
                slot.object = object;
            }
        }
        object
    }

    /// A pipe is named after both ends, whichever is used first.
    fn add_descriptor_object(&mut self, fd: c_int, peer: Option<c_int>) -> ObjectId {
        let entry = ObjectEntry {
            class: ObjectClass::Descriptor as u8,
            region: RegionTag::Descriptor as u8,
            base: peer.map_or(fd, |it| it.min(fd)) as u32,
            ordinal: peer.map_or(0, |it| it.max(fd) as u32),
            ..ObjectEntry::default()
        };
        let class = ObjectClass::Descriptor;
        let object = self.recorder.emit.add_object(entry, class, 0);
        self.scheduler.machine.set_object(object, ObjectState::Descriptor([false; 2]));
        object
    }

    /// What a write to a descriptor changes: the other end of a pair, or itself.
    fn written_object(&mut self, fd: c_int) -> ObjectId {
        let known = self.process.io.look(fd);
        match known.peer {
            Some(peer)
                if known.kind == Kind::Socket && self.process.io.look(peer).kind == known.kind =>
            {
                self.descriptor_object(peer)
            }
            _ => self.descriptor_object(fd),
        }
    }

    /// Stands for any of several descriptors that the thread that runs waits for; named after the first
    /// one that it waited for in this way.
    pub(crate) fn poll_object(&mut self, first: c_int) -> ObjectId {
        if self.this().poll_object == ObjectId::NONE {
            let object = self.add_descriptor_object(first, None);
            self.this().poll_object = object;
        }
        self.this().poll_object
    }

    fn set_ready(&mut self, waiting: &Waiting, is_ready: bool) {
        let mut ready = match self.scheduler.machine.object(waiting.object) {
            Some(ObjectState::Descriptor(ready)) => *ready,
            _ => [false; 2],
        };
        if ready[usize::from(waiting.is_write)] != is_ready {
            ready[usize::from(waiting.is_write)] = is_ready;
            self.scheduler.machine.set_descriptor(waiting.object, ready);
        }
    }
}

/// What a thread waits for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wish {
    /// What for.
    pub(crate) kind: OpKind,
    pub(crate) list: *mut libc::pollfd,
    pub(crate) n_list: usize,
    /// The descriptor's object, or that of the list.
    pub(crate) object: ObjectId,
    /// What is written to, or none.
    pub(crate) written: ObjectId,
    pub(crate) deadline: Option<u64>,
    /// Is it looked at only when no thread can go on without it? What others do outside then happens
    /// as late as it can, and not sooner or later as the machine's load will have it.
    pub(crate) is_late: bool,
    pub(crate) site: SiteId,
}

/// Waits until one of the listed descriptors is ready, inside a hook. When this returns `Done`, it
/// was: look again.
pub(crate) unsafe fn wait_for(inside: &mut Inside, wish: &Wish) -> OpResult {
    // SAFETY: the thread that runs is inside a hook; the list lives on its stack or is the program's
    // and it waits; the borrows end before the step.
    unsafe {
        let me = inside.me;
        let waiting = Waiting {
            thread: me,
            object: wish.object,
            is_write: wish.written != ObjectId::NONE,
            list: wish.list,
            n_list: wish.n_list,
            is_late: wish.is_late,
        };
        inside.process.io.waiting.push(waiting);
        inside.process.io.n_waiting += 1;
        let is_ready = !wish.is_late && poll_now(wish.list, wish.n_list) != 0;
        inside.set_ready(&waiting, is_ready);
        let op = Op::on(wish.kind, wish.object, wish.site).other(wish.written);
        let performed = step(inside, op.until(wish.deadline));
        inside.process.io.stop_waiting(me);
        inside.process.io.is_stale = true;
        performed.result
    }
}

/// Waits until one descriptor can be written, if that is what the op does, or else read; inside a hook.
pub(crate) unsafe fn wait_for_one(
    inside: &mut Inside,
    kind: OpKind,
    fd: c_int,
    site: SiteId,
) -> OpResult {
    // SAFETY: the caller's promise is passed on.
    unsafe { wait_for_one_until(inside, kind, fd, None, site) }
}

/// The same, until a deadline.
pub(crate) unsafe fn wait_for_one_until(
    inside: &mut Inside,
    kind: OpKind,
    fd: c_int,
    deadline: Option<u64>,
    site: SiteId,
) -> OpResult {
    let is_write = kind == OpKind::IoWrite;
    let events = if is_write { libc::POLLOUT } else { libc::POLLIN };
    let mut list = libc::pollfd { fd, events, revents: 0 };
    // SAFETY: the thread that runs is inside a hook; the list lives while it waits.
    unsafe {
        let object = inside.descriptor_object(fd);
        let written = if is_write { inside.written_object(fd) } else { ObjectId::NONE };
        let is_late = !inside.process.io.look(fd).is_internal;
        loop {
            let list = &raw mut list;
            let wish = Wish { kind, list, n_list: 1, object, written, deadline, is_late, site };
            match wait_for(inside, &wish) {
                OpResult::Done if poll_now(list, 1) == 0 => {}
                OpResult::Interrupted if inside.process.signals.ran.may_restart => {}
                result => return result,
            }
        }
    }
}

/// The argument of an op on a descriptor that does not wait: as a cancellation point or not.
pub(crate) const AT_ONCE: u64 = 1;
pub(crate) const AT_ONCE_NO_POINT: u64 = 2;

/// A step on a descriptor that does not wait.
pub(crate) unsafe fn step_at_once(
    inside: &mut Inside,
    kind: OpKind,
    object: ObjectId,
    arg: u64,
    site: SiteId,
) {
    inside.this().spin.reset();
    step(inside, Op::on(kind, object, site).arg(arg));
    inside.process.io.is_stale = true;
}

/// How many of the listed descriptors are ready now; an error counts.
pub(crate) unsafe fn poll_now(list: *mut libc::pollfd, n_list: usize) -> isize {
    // SAFETY: the caller promises a list.
    unsafe { raw::syscall(libc::SYS_poll, [list as usize, n_list, 0, 0, 0, 0]) }
}

/// Looks which awaited descriptors are ready.
#[cold]
pub(crate) fn refresh(control: &mut Control) {
    refresh_those(control, false);
}

/// The same, when no thread can go on: waits a moment for what is outside, before time jumps.
#[cold]
pub(crate) fn refresh_stuck(control: &mut Control) {
    const PATIENCE_MS: usize = 20;
    const MISSES_MAX: u32 = 5;
    for idx in 0..control.process.io.waiting.len() {
        let waiting = control.process.io.waiting[idx];
        if waiting.is_late && control.process.io.n_misses < MISSES_MAX {
            let args = [waiting.list as usize, waiting.n_list, PATIENCE_MS, 0, 0, 0];
            // SAFETY: the waiting thread's list lives for as long as it waits.
            let n_ready = unsafe { raw::syscall(libc::SYS_poll, args) };
            control.process.io.n_misses += u32::from(n_ready == 0);
        }
    }
    refresh_those(control, true);
}

fn refresh_those(control: &mut Control, is_stuck: bool) {
    control.process.io.is_stale = false;
    for idx in 0..control.process.io.waiting.len() {
        let waiting = control.process.io.waiting[idx];
        if waiting.is_late && !is_stuck {
            continue;
        }
        // SAFETY: the waiting thread's list lives for as long as it waits.
        let is_ready = unsafe { poll_now(waiting.list, waiting.n_list) != 0 };
        control.set_ready(&waiting, is_ready);
    }
}

/// Nobody can go on before a descriptor is ready.
#[cold]
pub(crate) fn wait(control: &mut Control) {
    let mut all: Vec<libc::pollfd> = Vec::new();
    let has_children = has_children();
    for waiting in &control.process.io.waiting {
        if has_children || !control.process.io.is_internal_wait(waiting) {
            // SAFETY: the waiting thread's list lives for as long as it waits.
            all.extend_from_slice(unsafe { list_of(waiting) });
        }
    }
    if all.is_empty() {
        end::deadlock();
    }
    let site = control.scheduler.machine.pending(control.process.io.waiting[0].thread).site;
    control.note(Escape::WaitInput, site);
    let for_ever = -1_isize as usize;
    // SAFETY: the list is ours.
    unsafe {
        raw::syscall(libc::SYS_poll, [all.as_mut_ptr() as usize, all.len(), for_ever, 0, 0, 0])
    };
    control.receive_arrived();
    refresh_those(control, true);
}

/// Has the process children, which may hold the other ends?
fn has_children() -> bool {
    const P_ALL: usize = 0;
    let flags = (libc::WEXITED | libc::WNOHANG | libc::WNOWAIT) as usize;
    // SAFETY: asks without taking an answer.
    let result = unsafe { raw::syscall(libc::SYS_waitid, [P_ALL, 0, 0, flags, 0, 0]) };
    result != -(libc::ECHILD as isize)
}
