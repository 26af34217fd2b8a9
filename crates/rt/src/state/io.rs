//! Descriptors: what is known about each, and who waits for them.

use std::ffi::c_int;

use raddle_fiber::raw;
use raddle_model::{ObjectId, ThreadId};
use raddle_trace::protocol::{REPLY_FD, SEGMENT_FD};

/// What is known about descriptors.
#[derive(Debug, Default)]
pub(crate) struct Io {
    /// Threads that wait for a descriptor.
    pub(crate) n_waiting: u32,
    /// Has anything happened since readiness was last looked at?
    pub(crate) is_stale: bool,
    /// How often a moment was waited for what is outside, in vain.
    pub(crate) n_misses: u32,
    /// By number.
    known: Vec<Descriptor>,
    pub(crate) waiting: Vec<Waiting>,
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
    pub(crate) kind: DescriptorKind,
    /// Its number in traces; made at its first use. Both ends of a pipe have the same.
    pub(crate) object: ObjectId,
    /// The descriptor at the other end, if it was made together with this one.
    pub(crate) peer: Option<c_int>,
    /// Can only this program's threads make it ready?
    pub(crate) is_internal: bool,
    /// Was it there when the program began, or made behind our back?
    pub(crate) is_found: bool,
}

/// What kind of thing a descriptor is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum DescriptorKind {
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
pub(crate) struct Waiting {
    pub(crate) thread: ThreadId,
    pub(crate) object: ObjectId,
    pub(crate) is_write: bool,
    pub(crate) list: *mut libc::pollfd,
    pub(crate) n_list: usize,
    pub(crate) is_late: bool,
}

/// Descriptors of ours that the program must not touch.
pub(crate) const fn is_hidden(fd: c_int) -> bool {
    fd >= HIDDEN.0 && fd <= HIDDEN.1
}

/// The first and the last of them; see `trace::protocol`.
pub(crate) const HIDDEN: (c_int, c_int) = (SEGMENT_FD, REPLY_FD);

impl Io {
    pub(crate) fn slot(&mut self, fd: c_int) -> Option<&mut Descriptor> {
        let idx = usize::try_from(fd).ok()?;
        if self.known.len() <= idx {
            self.known.resize(idx + 1, Descriptor::default());
        }
        self.known.get_mut(idx)
    }

    /// A descriptor was made by the program.
    pub(crate) fn add(&mut self, fd: c_int, kind: DescriptorKind, is_internal: bool) {
        if let Some(slot) = self.slot(fd) {
            *slot = Descriptor { kind, is_internal, ..Descriptor::default() };
        }
        self.is_stale = true;
    }

    /// Two descriptors are the ends of one thing.
    pub(crate) fn add_pair(&mut self, ends: [c_int; 2], kind: DescriptorKind) {
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
    pub(crate) fn kind_of(&self, fd: c_int) -> DescriptorKind {
        self.known.get(fd as usize).map_or(DescriptorKind::Unknown, |it| it.kind)
    }

    /// What is known about a descriptor, looked up if nothing is.
    pub(crate) fn look(&mut self, fd: c_int) -> Descriptor {
        let Some(slot) = self.slot(fd) else { return Descriptor::default() };
        if slot.kind == DescriptorKind::Unknown {
            *slot = Descriptor { kind: find_kind(fd), is_found: true, ..Descriptor::default() };
        }
        *slot
    }

    /// A thread no longer waits.
    pub(crate) fn stop_waiting(&mut self, thread: ThreadId) {
        self.waiting.retain(|it| it.thread != thread);
        self.n_waiting = self.waiting.len() as u32;
    }

    pub(crate) fn is_internal_wait(&self, waiting: &Waiting) -> bool {
        // SAFETY: the waiting thread's list lives on its stack for as long as it waits.
        let list = unsafe { list_of(waiting) };
        let is_internal =
            |fd: c_int| fd < 0 || self.known.get(fd as usize).is_some_and(|it| it.is_internal);
        list.iter().all(|it| is_internal(it.fd))
    }
}

pub(crate) unsafe fn list_of<'a>(waiting: &Waiting) -> &'a mut [libc::pollfd] {
    if waiting.n_list == 0 {
        return &mut [];
    }
    // SAFETY: the caller promises that the thread waits.
    unsafe { std::slice::from_raw_parts_mut(waiting.list, waiting.n_list) }
}

fn find_kind(fd: c_int) -> DescriptorKind {
    // SAFETY: the kernel fills our own structure in.
    let (result, mode) = unsafe {
        let mut status = std::mem::zeroed::<libc::stat>();
        let result =
            raw::syscall(libc::SYS_fstat, [fd as usize, &raw mut status as usize, 0, 0, 0, 0]);
        (result, status.st_mode)
    };
    match mode & libc::S_IFMT {
        _ if result < 0 => DescriptorKind::Plain,
        libc::S_IFIFO => DescriptorKind::Pipe,
        libc::S_IFSOCK => DescriptorKind::Socket,
        0 => DescriptorKind::Event,
        _ => DescriptorKind::Plain,
    }
}

impl DescriptorKind {
    /// Can a call on it block?
    pub(crate) fn is_stream(self) -> bool {
        !matches!(self, DescriptorKind::Unknown | DescriptorKind::Plain | DescriptorKind::Random)
    }
}

/// The argument of an op on a descriptor that does not wait: as a cancellation point or not.
pub(crate) const AT_ONCE: u64 = 1;

pub(crate) const AT_ONCE_NO_POINT: u64 = 2;

/// How many of the listed descriptors are ready now; an error counts.
pub(crate) unsafe fn poll_now(list: *mut libc::pollfd, n_list: usize) -> isize {
    // SAFETY: the caller promises a list.
    unsafe { raw::syscall(libc::SYS_poll, [list as usize, n_list, 0, 0, 0, 0]) }
}
