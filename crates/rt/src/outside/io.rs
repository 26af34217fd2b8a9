//! Descriptors that threads wait for.
//!
//! A call that could block is a step that can be performed while `poll` says that the descriptor is
//! ready; then the real call is made, which does not block. Descriptors that only this program's
//! threads use (pipes, eventfds…) can be part of a deadlock; for others the execution really waits.
//!
//! What it misses: calls that the C library makes for itself (streams), and time limits of sockets.

use std::ffi::c_int;

use raddle_model::{ObjectId, Op, OpKind, OpResult, SiteId};

use crate::{
    control::Inside,
    schedule::step::step,
    state::io::{Waiting, poll_now},
};

/// What a thread waits for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PollRequest {
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
pub(crate) unsafe fn wait_for(inside: &mut Inside, request: &PollRequest) -> OpResult {
    // SAFETY: the thread that runs is inside a hook; the list lives on its stack or is the program's
    // and it waits; the borrows end before the step.
    unsafe {
        let me = inside.me;
        let waiting = Waiting {
            thread: me,
            object: request.object,
            is_write: request.written != ObjectId::NONE,
            list: request.list,
            n_list: request.n_list,
            is_late: request.is_late,
        };
        inside.process.io.waiting.push(waiting);
        inside.process.io.n_waiting += 1;
        let is_ready = !request.is_late && poll_now(request.list, request.n_list) != 0;
        inside.set_ready(&waiting, is_ready);
        let op = Op::on(request.kind, request.object, request.site).other(request.written);
        let performed = step(inside, op.until(request.deadline));
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
            let request =
                PollRequest { kind, list, n_list: 1, object, written, deadline, is_late, site };
            match wait_for(inside, &request) {
                OpResult::Done if poll_now(list, 1) == 0 => {}
                OpResult::Interrupted if inside.process.signals.ran.may_restart => {}
                result => return result,
            }
        }
    }
}

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
