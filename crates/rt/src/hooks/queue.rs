//! POSIX message queues. On Linux they are descriptors, so a thread waits for one as for a pipe, and the call itself
//! is made with a time limit that has passed.
//!
//! What it misses: `mq_notify`, and other processes that use a queue which this one has created.

use std::ffi::{c_char, c_int, c_uint};

use libc::{mode_t, mq_attr, size_t, ssize_t, timespec};
use raddle_fiber::raw;
use raddle_model::{OpKind, OpResult};

use crate::{
    base::real,
    control::{Inside, enter_if},
    hooks::{descriptor::made, export, fail, hooks, time::deadline_of},
    outside::io,
    record::stack::Caller,
    schedule::{access::range, signals::leave},
    state::io::{AT_ONCE, DescriptorKind},
};

hooks! { |inside, caller|
    fn mq_receive(queue: c_int, buffer: *mut c_char, size: size_t, priority: *mut c_uint) -> ssize_t
        = receive(queue, buffer, size, priority, std::ptr::null(), caller);
    fn mq_timedreceive(
        queue: c_int, buffer: *mut c_char, size: size_t, priority: *mut c_uint, until: *const timespec
    ) -> ssize_t
        = receive(queue, buffer, size, priority, until, caller);
    fn mq_send(queue: c_int, message: *const c_char, size: size_t, priority: c_uint) -> c_int
        = send(queue, message, size, priority, std::ptr::null(), caller);
    fn mq_timedsend(
        queue: c_int, message: *const c_char, size: size_t, priority: c_uint, until: *const timespec
    ) -> c_int
        = send(queue, message, size, priority, until, caller);
}

export! {
    mq_open => do_open;
}

/// A time limit that has passed.
static PAST: timespec = timespec { tv_sec: 0, tv_nsec: 0 };

unsafe extern "C-unwind" fn do_open(
    name: *const c_char,
    flags: c_int,
    mode: mode_t,
    attributes: *mut mq_attr,
) -> c_int {
    // SAFETY: the program's promises are passed on; what it has not given is not looked at.
    let queue = unsafe { real::mq_open(name, flags, mode, attributes) };
    made(queue, DescriptorKind::Event, flags & libc::O_CREAT != 0)
}

/// Waits until the queue is ready, if the program would, and makes the call: `-errno` or its result.
unsafe fn perform(
    inside: &mut Inside,
    queue: c_int,
    kind: OpKind,
    until: *const timespec,
    caller: Caller,
    real: impl Fn() -> isize,
) -> isize {
    // SAFETY: the thread that runs is inside a hook; the program promises a time or nothing.
    unsafe {
        let deadline = match until.is_null() {
            true => None,
            false => match deadline_of(libc::CLOCK_REALTIME, until) {
                Ok(deadline) => Some(deadline),
                Err(error) => return -(error as isize),
            },
        };
        let get_flags = [queue as usize, libc::F_GETFL as usize, 0, 0, 0, 0];
        let flags = raw::syscall(libc::SYS_fcntl, get_flags);
        let is_nonblocking = flags < 0 || flags & libc::O_NONBLOCK as isize != 0;
        inside.this().spin.reset();
        let site = inside.site(caller);
        loop {
            if is_nonblocking {
                let object = inside.descriptor_object(queue);
                io::step_at_once(inside, kind, object, AT_ONCE, site);
            } else {
                match io::wait_for_one_until(inside, kind, queue, deadline, site) {
                    OpResult::Interrupted => return -(libc::EINTR as isize),
                    OpResult::TimedOut => return -(libc::ETIMEDOUT as isize),
                    _ => {}
                }
            }
            let result = real();
            inside.process.io.is_stale = true;
            // Another thread was faster.
            if result != -(libc::ETIMEDOUT as isize) {
                return result;
            }
        }
    }
}

/// What the program gets for the kernel's answer.
fn answer(result: isize) -> ssize_t {
    if result < 0 { fail(-result as c_int) as ssize_t } else { result }
}

unsafe fn receive(
    queue: c_int,
    buffer: *mut c_char,
    size: size_t,
    priority: *mut c_uint,
    until: *const timespec,
    caller: Caller,
) -> ssize_t {
    // SAFETY: the program's promises are passed on.
    unsafe {
        let Some(mut inside) = enter_if(queue >= 0) else {
            return real::mq_timedreceive(queue, buffer, size, priority, until);
        };
        let past = &raw const PAST as usize;
        let args = [queue as usize, buffer as usize, size, priority as usize, past, 0];
        let result = perform(&mut inside, queue, OpKind::IoRead, until, caller, || {
            raw::syscall(libc::SYS_mq_timedreceive, args)
        });
        leave((), inside);
        if result > 0 {
            range(buffer as usize, result as usize, OpKind::Write, caller);
        }
        answer(result)
    }
}

unsafe fn send(
    queue: c_int,
    message: *const c_char,
    size: size_t,
    priority: c_uint,
    until: *const timespec,
    caller: Caller,
) -> c_int {
    // SAFETY: the program's promises are passed on.
    unsafe {
        range(message as usize, size, OpKind::Read, caller);
        let Some(mut inside) = enter_if(queue >= 0) else {
            return real::mq_timedsend(queue, message, size, priority, until);
        };
        let past = &raw const PAST as usize;
        let args = [queue as usize, message as usize, size, priority as usize, past, 0];
        let result = perform(&mut inside, queue, OpKind::IoWrite, until, caller, || {
            raw::syscall(libc::SYS_mq_timedsend, args)
        });
        leave((), inside);
        answer(result) as c_int
    }
}
