//! Reading and writing, where it can block: pipes, sockets, eventfds, timers.

use std::ffi::{c_int, c_void};

use libc::{iovec, msghdr, size_t, sockaddr, socklen_t, ssize_t};
use raddle_fiber::raw;
use raddle_model::{OpKind, OpResult, SiteId};
use raddle_trace::Common;

use crate::{
    base::real,
    control::{Inside, enter_if},
    hooks::{caller, common, export, fail, file, hooks, timer},
    outside::io,
    record::stack::Caller,
    schedule::{access::range, signals::leave},
    state::io::{AT_ONCE, DescriptorKind, is_hidden},
};

hooks! { |inside, caller|
    fn read | __read | __read_chk(fd: c_int, buffer: *mut c_void, size: size_t) -> ssize_t
        = read_from(fd, buffer, size, caller);
    fn write | __write(fd: c_int, buffer: *const c_void, size: size_t) -> ssize_t
        = write_to(fd, buffer, size, caller);
    fn recvfrom(
        fd: c_int, buffer: *mut c_void, size: size_t, flags: c_int, address: *mut sockaddr,
        n_address: *mut socklen_t
    ) -> ssize_t
        = receive(fd, buffer, size, flags, (address, n_address), caller);
    fn __recvfrom_chk(
        fd: c_int, buffer: *mut c_void, size: size_t, _room: size_t, flags: c_int, address: *mut sockaddr,
        n_address: *mut socklen_t
    ) -> ssize_t
        = receive(fd, buffer, size, flags, (address, n_address), caller);
    fn send | __send(fd: c_int, buffer: *const c_void, size: size_t, flags: c_int) -> ssize_t
        = send_to(fd, buffer, size, flags, (std::ptr::null(), 0), caller);
    fn sendto(
        fd: c_int, buffer: *const c_void, size: size_t, flags: c_int, address: *const sockaddr,
        n_address: socklen_t
    ) -> ssize_t
        = send_to(fd, buffer, size, flags, (address, n_address), caller);
    fn accept(fd: c_int, address: *mut sockaddr, n_address: *mut socklen_t) -> c_int
        = accept_from(fd, address, n_address, 0, caller);
    fn accept4(fd: c_int, address: *mut sockaddr, n_address: *mut socklen_t, flags: c_int) -> c_int
        = accept_from(fd, address, n_address, flags, caller);
}

export! {
    readv => do_readv;
    writev => do_writev;
    recv => do_recv;
    __recv_chk => do_recv_chk;
    recvmsg => do_recvmsg;
    sendmsg => do_sendmsg;
    eventfd_read => do_eventfd_read;
    eventfd_write => do_eventfd_write;
}

/// So many bytes fit into a pipe that `poll` calls writable (`PIPE_BUF`).
const PIPE_SURE: usize = 4096;

/// How a call is to be made.
struct Call {
    inside: Inside,
    way: Way,
    /// What it does.
    op: OpKind,
    site: SiteId,
}

/// What it is made on.
#[derive(Clone, Copy)]
struct Way {
    fd: c_int,
    kind: DescriptorKind,
    /// Must it not wait (`O_NONBLOCK`, `MSG_DONTWAIT`)?
    is_nonblocking: bool,
}

/// Is this a call that could block? Inside a hook then; else outside.
unsafe fn begin(fd: c_int, op: OpKind, flags: c_int, caller: Caller) -> Option<Call> {
    let mut inside = enter_if(fd >= 0)?;
    // SAFETY: the thread that runs is inside a hook.
    unsafe {
        let known = inside.process.io.look(fd);
        // What leaves the program is not its threads' business.
        let is_outside = known.is_found && op == OpKind::IoWrite;
        if !known.kind.is_stream() || is_outside {
            let is_printed = known.is_found || fd <= libc::STDERR_FILENO;
            if op == OpKind::IoRead || !is_printed {
                common::touch(&mut inside, Common::Files, OpKind::Call, caller);
            }
            return leave(None, inside);
        }
        let status =
            raw::syscall(libc::SYS_fcntl, [fd as usize, libc::F_GETFL as usize, 0, 0, 0, 0]);
        let is_nonblocking = status & libc::O_NONBLOCK as isize != 0
            || (flags & libc::MSG_DONTWAIT != 0 && known.kind == DescriptorKind::Socket);
        inside.this().spin.reset();
        let site = inside.site(caller);
        let way = Way { fd, kind: known.kind, is_nonblocking };
        Some(Call { inside, way, op, site })
    }
}

/// Waits for the descriptor, and makes a call that does not block then: `-errno` or its result.
unsafe fn perform(call: &mut Call, mut real: impl FnMut() -> isize) -> isize {
    // SAFETY: the thread that runs is inside a hook; the caller's call is what the program asked for.
    unsafe {
        loop {
            if call.way.is_nonblocking {
                let object = call.inside.descriptor_object(call.way.fd);
                io::step_at_once(&mut call.inside, call.op, object, AT_ONCE, call.site);
            } else if io::wait_for_one(&mut call.inside, call.op, call.way.fd, call.site)
                == OpResult::Interrupted
            {
                return -(libc::EINTR as isize);
            }
            let result = real();
            call.inside.process.io.is_stale = true;
            if result != -(libc::EAGAIN as isize) || call.way.is_nonblocking {
                return result;
            }
        }
    }
}

/// Sends all of `size` bytes, in as many pieces as it takes, where a blocking call would.
unsafe fn perform_all(call: &mut Call, size: usize, mut part: impl FnMut(usize) -> isize) -> isize {
    let mut n_done = 0;
    loop {
        // SAFETY: as in `perform`.
        let result = unsafe { perform(call, || part(n_done)) };
        if result < 0 {
            return if n_done > 0 { n_done as isize } else { result };
        }
        n_done += result as usize;
        if call.way.is_nonblocking || result == 0 || n_done >= size {
            return n_done as isize;
        }
    }
}

/// Leaves the hook; what the program gets for the kernel's answer.
fn end(result: isize, call: Call) -> ssize_t {
    leave((), call.inside);
    if result < 0 { fail(-result as c_int) as ssize_t } else { result }
}

/// The bytes that came in were written to memory.
fn came_in(buffer: *mut c_void, result: ssize_t, caller: Caller) -> ssize_t {
    if result > 0 {
        range(buffer as usize, result as usize, OpKind::Write, caller);
    }
    result
}

unsafe fn read_from(fd: c_int, buffer: *mut c_void, size: size_t, caller: Caller) -> ssize_t {
    // SAFETY: the program's promises are passed on.
    unsafe {
        if is_hidden(fd) {
            return fail(libc::EBADF) as ssize_t;
        }
        let Some(mut call) = begin(fd, OpKind::IoRead, 0, caller) else {
            let result = match file::read_random(fd, buffer, size) {
                Some(result) => result,
                None => real::read(fd, buffer, size),
            };
            return came_in(buffer, result, caller);
        };
        let mut result = perform(&mut call, || {
            raw::syscall(libc::SYS_read, [fd as usize, buffer as usize, size, 0, 0, 0])
        });
        if call.way.kind == DescriptorKind::Timer {
            result = timer::expirations(&mut call.inside, fd, buffer, result);
        }
        came_in(buffer, end(result, call), caller)
    }
}

unsafe extern "C-unwind" fn do_readv(fd: c_int, parts: *const iovec, n_parts: c_int) -> ssize_t {
    let caller = caller();
    // SAFETY: the program's promises are passed on.
    unsafe {
        if is_hidden(fd) {
            return fail(libc::EBADF) as ssize_t;
        }
        let result = match begin(fd, OpKind::IoRead, 0, caller) {
            None => real::readv(fd, parts, n_parts),
            Some(mut call) => end(
                perform(&mut call, || {
                    let args = [fd as usize, parts as usize, n_parts as usize, 0, 0, 0];
                    raw::syscall(libc::SYS_readv, args)
                }),
                call,
            ),
        };
        parts_used(parts, n_parts as usize, result, OpKind::Write, caller);
        result
    }
}

/// The first `n_bytes` of a list of buffers were read or written.
unsafe fn parts_used(
    parts: *const iovec,
    n_parts: usize,
    n_bytes: isize,
    kind: OpKind,
    caller: Caller,
) {
    let mut n_left = n_bytes.max(0) as usize;
    for idx in 0..n_parts {
        // SAFETY: the program promises so many entries.
        let part = unsafe { &*parts.add(idx) };
        let n_used = part.iov_len.min(n_left);
        range(part.iov_base as usize, n_used, kind, caller);
        n_left -= n_used;
    }
}

unsafe fn write_to(fd: c_int, buffer: *const c_void, size: size_t, caller: Caller) -> ssize_t {
    // SAFETY: the program's promises are passed on.
    unsafe {
        if is_hidden(fd) {
            return fail(libc::EBADF) as ssize_t;
        }
        range(buffer as usize, size, OpKind::Read, caller);
        match begin(fd, OpKind::IoWrite, 0, caller) {
            None => real::write(fd, buffer, size),
            Some(mut call) => {
                let way = call.way;
                let part = |n_done| write_part(way, buffer as usize + n_done, size - n_done);
                end(perform_all(&mut call, size, part), call)
            }
        }
    }
}

/// Writes what fits without waiting.
unsafe fn write_part(way: Way, address: usize, size: usize) -> isize {
    let fd = way.fd as usize;
    // SAFETY: the program promises so many bytes.
    unsafe {
        if way.kind == DescriptorKind::Socket {
            let flags = libc::MSG_DONTWAIT as usize;
            let result = raw::syscall(libc::SYS_sendto, [fd, address, size, flags, 0, 0]);
            if result != -(libc::ENOTSOCK as isize) {
                return result;
            }
            // The C library has closed the socket, and the number is another's.
        }
        let write = || raw::syscall(libc::SYS_write, [fd, address, size, 0, 0, 0]);
        if way.is_nonblocking || size <= PIPE_SURE {
            return write();
        }
        // Nobody else runs meanwhile, so nobody else sees the flag.
        let (get, set) = (libc::F_GETFL as usize, libc::F_SETFL as usize);
        let flags = raw::syscall(libc::SYS_fcntl, [fd, get, 0, 0, 0, 0]) as usize;
        let open = flags | libc::O_NONBLOCK as usize;
        raw::syscall(libc::SYS_fcntl, [fd, set, open, 0, 0, 0]);
        let result = write();
        raw::syscall(libc::SYS_fcntl, [fd, set, flags, 0, 0, 0]);
        result
    }
}

unsafe extern "C-unwind" fn do_writev(fd: c_int, parts: *const iovec, n_parts: c_int) -> ssize_t {
    let caller = caller();
    // SAFETY: the program's promises are passed on.
    unsafe {
        if is_hidden(fd) {
            return fail(libc::EBADF) as ssize_t;
        }
        let n_parts = n_parts.max(0) as usize;
        let size = (0..n_parts).map(|idx| (*parts.add(idx)).iov_len).sum::<usize>();
        parts_used(parts, n_parts, size as isize, OpKind::Read, caller);
        let Some(mut call) = begin(fd, OpKind::IoWrite, 0, caller) else {
            return real::writev(fd, parts, n_parts as c_int);
        };
        let way = call.way;
        if way.is_nonblocking || size <= PIPE_SURE {
            return end(
                perform(&mut call, || {
                    raw::syscall(libc::SYS_writev, [fd as usize, parts as usize, n_parts, 0, 0, 0])
                }),
                call,
            );
        }
        end(
            perform_all(&mut call, size, |n_done| {
                let (address, size) = part_at(parts, n_parts, n_done);
                write_part(way, address, size)
            }),
            call,
        )
    }
}

/// The rest of the buffer that the `n_done`-th byte of a list is in.
unsafe fn part_at(parts: *const iovec, n_parts: usize, mut n_done: usize) -> (usize, usize) {
    for idx in 0..n_parts {
        // SAFETY: the program promises so many entries.
        let part = unsafe { &*parts.add(idx) };
        if n_done < part.iov_len {
            return (part.iov_base as usize + n_done, part.iov_len - n_done);
        }
        n_done -= part.iov_len;
    }
    (0, 0)
}

unsafe extern "C-unwind" fn do_recv(
    fd: c_int,
    buffer: *mut c_void,
    size: size_t,
    flags: c_int,
) -> ssize_t {
    let caller = caller();
    let from = (std::ptr::null_mut(), std::ptr::null_mut());
    // SAFETY: the program's promises are passed on.
    unsafe { receive(fd, buffer, size, flags, from, caller) }
}

unsafe extern "C-unwind" fn do_recv_chk(
    fd: c_int,
    buffer: *mut c_void,
    size: size_t,
    _room: size_t,
    flags: c_int,
) -> ssize_t {
    let caller = caller();
    let from = (std::ptr::null_mut(), std::ptr::null_mut());
    // SAFETY: the program's promises are passed on.
    unsafe { receive(fd, buffer, size, flags, from, caller) }
}

unsafe fn receive(
    fd: c_int,
    buffer: *mut c_void,
    size: size_t,
    flags: c_int,
    from: (*mut sockaddr, *mut socklen_t),
    caller: Caller,
) -> ssize_t {
    // SAFETY: the program's promises are passed on.
    unsafe {
        let Some(mut call) = begin(fd, OpKind::IoRead, flags, caller) else {
            let result = real::recvfrom(fd, buffer, size, flags, from.0, from.1);
            return came_in(buffer, result, caller);
        };
        let wants_all = flags & (libc::MSG_WAITALL | libc::MSG_PEEK) == libc::MSG_WAITALL;
        let flags = (flags & !libc::MSG_WAITALL | libc::MSG_DONTWAIT) as usize;
        let part = |n_done: usize| {
            let (at, room) = (buffer as usize + n_done, size - n_done);
            let args = [fd as usize, at, room, flags, from.0 as usize, from.1 as usize];
            raw::syscall(libc::SYS_recvfrom, args)
        };
        let result = match wants_all {
            true => perform_all(&mut call, size, part),
            false => perform(&mut call, || part(0)),
        };
        came_in(buffer, end(result, call), caller)
    }
}

unsafe extern "C-unwind" fn do_recvmsg(fd: c_int, message: *mut msghdr, flags: c_int) -> ssize_t {
    let caller = caller();
    // SAFETY: the program's promises are passed on.
    unsafe {
        let result = match begin(fd, OpKind::IoRead, flags, caller) {
            None => real::recvmsg(fd, message, flags),
            Some(mut call) => end(
                perform(&mut call, || {
                    let flags = (flags | libc::MSG_DONTWAIT) as usize;
                    raw::syscall(libc::SYS_recvmsg, [fd as usize, message as usize, flags, 0, 0, 0])
                }),
                call,
            ),
        };
        let (parts, n_parts) = ((*message).msg_iov, (*message).msg_iovlen);
        parts_used(parts, n_parts, result, OpKind::Write, caller);
        result
    }
}

unsafe fn send_to(
    fd: c_int,
    buffer: *const c_void,
    size: size_t,
    flags: c_int,
    to: (*const sockaddr, socklen_t),
    caller: Caller,
) -> ssize_t {
    // SAFETY: the program's promises are passed on.
    unsafe {
        range(buffer as usize, size, OpKind::Read, caller);
        let Some(mut call) = begin(fd, OpKind::IoWrite, flags, caller) else {
            return real::sendto(fd, buffer, size, flags, to.0, to.1);
        };
        let flags = (flags | libc::MSG_DONTWAIT) as usize;
        end(
            perform_all(&mut call, size, |n_done| {
                let (at, room) = (buffer as usize + n_done, size - n_done);
                let args = [fd as usize, at, room, flags, to.0 as usize, to.1 as usize];
                raw::syscall(libc::SYS_sendto, args)
            }),
            call,
        )
    }
}

unsafe extern "C-unwind" fn do_sendmsg(fd: c_int, message: *const msghdr, flags: c_int) -> ssize_t {
    let caller = caller();
    // SAFETY: the program's promises are passed on.
    unsafe {
        let (parts, n_parts) = ((*message).msg_iov, (*message).msg_iovlen);
        parts_used(parts, n_parts, isize::MAX, OpKind::Read, caller);
        match begin(fd, OpKind::IoWrite, flags, caller) {
            None => real::sendmsg(fd, message, flags),
            Some(mut call) => end(
                perform(&mut call, || {
                    let flags = (flags | libc::MSG_DONTWAIT) as usize;
                    raw::syscall(libc::SYS_sendmsg, [fd as usize, message as usize, flags, 0, 0, 0])
                }),
                call,
            ),
        }
    }
}

unsafe fn accept_from(
    fd: c_int,
    address: *mut sockaddr,
    n_address: *mut socklen_t,
    flags: c_int,
    caller: Caller,
) -> c_int {
    // SAFETY: the program's promises are passed on.
    unsafe {
        let Some(mut call) = begin(fd, OpKind::Accept, 0, caller) else {
            return real::accept4(fd, address, n_address, flags);
        };
        let args = [fd as usize, address as usize, n_address as usize, flags as usize, 0, 0];
        let result = perform(&mut call, || raw::syscall(libc::SYS_accept4, args));
        if result >= 0 {
            let is_internal = call.inside.process.io.look(fd).is_internal;
            call.inside.process.io.add(result as c_int, DescriptorKind::Socket, is_internal);
        }
        end(result, call) as c_int
    }
}

unsafe extern "C-unwind" fn do_eventfd_read(fd: c_int, value: *mut u64) -> c_int {
    let caller = caller();
    // SAFETY: the program's promises are passed on.
    let n_read = unsafe { read_from(fd, value.cast(), 8, caller) };
    if n_read == 8 { 0 } else { -1 }
}

unsafe extern "C-unwind" fn do_eventfd_write(fd: c_int, value: u64) -> c_int {
    let caller = caller();
    // SAFETY: writes our own copy of the value.
    let n_written = unsafe { write_to(fd, (&raw const value).cast(), 8, caller) };
    if n_written == 8 { 0 } else { -1 }
}
