//! Descriptors: made, copied, closed.

use std::ffi::{c_int, c_uint};

use libc::{sockaddr, socklen_t};
use raddle_fiber::raw;
use raddle_model::{Escape, OpKind};
use raddle_trace::Common;

use crate::{
    base::real,
    control::{Inside, enter},
    hooks::{caller, common, export, fail, file, hooks},
    outside::io,
    record::stack::Caller,
    schedule::signals::leave,
    state::io::{AT_ONCE, AT_ONCE_NO_POINT, DescriptorKind, HIDDEN, is_hidden},
};

hooks! { |inside, caller|
    fn connect | __connect(fd: c_int, address: *const sockaddr, size: socklen_t) -> c_int => {
        if inside.process.io.look(fd).kind.is_stream() {
            touch(inside, OpKind::Connect, fd, AT_ONCE, caller);
            inside.process.io.set_internal(fd, is_local(address));
        }
        real::connect(fd, address, size)
    };
    fn epoll_ctl(epoll: c_int, op: c_int, fd: c_int, event: *mut libc::epoll_event) -> c_int => {
        touch(inside, OpKind::Io, epoll, AT_ONCE_NO_POINT, caller);
        if op == libc::EPOLL_CTL_ADD && !inside.process.io.look(fd).is_internal {
            inside.process.io.set_internal(epoll, false);
        }
        real::epoll_ctl(epoll, op, fd, event)
    };
}

export! {
    pipe => do_pipe;
    pipe2 => do_pipe2;
    socketpair => do_socketpair;
    socket => do_socket;
    bind => do_bind;
    shutdown => do_shutdown;
    eventfd => do_eventfd;
    epoll_create => do_epoll_create;
    epoll_create1 => do_epoll_create1;
    dup => do_dup;
    dup2 => do_dup2;
    dup3 => do_dup3;
    fcntl => do_fcntl;
    fcntl64 => do_fcntl;
    close => do_close;
    __close => do_close;
    closefrom => do_closefrom;
    close_range => do_close_range;
}

/// Remembers a descriptor that was made; outside a hook, after the real call.
pub(crate) fn made(fd: c_int, kind: DescriptorKind, is_internal: bool) -> c_int {
    if fd >= 0
        && let Some(mut inside) = enter()
    {
        inside.process.io.add(fd, kind, is_internal);
        leave((), inside);
    }
    fd
}

unsafe fn made_pair(result: c_int, ends: *const c_int, kind: DescriptorKind) -> c_int {
    if result == 0
        && let Some(mut inside) = enter()
    {
        // SAFETY: the call has filled both in; the thread that runs is inside a hook.
        unsafe { inside.process.io.add_pair([*ends, *ends.add(1)], kind) };
        leave((), inside);
    }
    result
}

unsafe extern "C-unwind" fn do_pipe(ends: *mut c_int) -> c_int {
    common::call(Common::Files, OpKind::Call, caller());
    // SAFETY: the program's promises are passed on.
    unsafe { made_pair(real::pipe2(ends, 0), ends, DescriptorKind::Pipe) }
}

unsafe extern "C-unwind" fn do_pipe2(ends: *mut c_int, flags: c_int) -> c_int {
    common::call(Common::Files, OpKind::Call, caller());
    // SAFETY: the program's promises are passed on.
    unsafe { made_pair(real::pipe2(ends, flags), ends, DescriptorKind::Pipe) }
}

unsafe extern "C-unwind" fn do_socketpair(
    domain: c_int,
    kind: c_int,
    protocol: c_int,
    ends: *mut c_int,
) -> c_int {
    common::call(Common::Files, OpKind::Call, caller());
    // SAFETY: the program's promises are passed on.
    unsafe {
        made_pair(real::socketpair(domain, kind, protocol, ends), ends, DescriptorKind::Socket)
    }
}

unsafe extern "C-unwind" fn do_socket(domain: c_int, kind: c_int, protocol: c_int) -> c_int {
    common::call(Common::Files, OpKind::Call, caller());
    // SAFETY: the program's promises are passed on.
    let fd = unsafe { real::socket(domain, kind, protocol) };
    made(fd, DescriptorKind::Socket, domain == libc::AF_UNIX)
}

/// Can only this machine be at the other end? Then it is most likely this program.
unsafe fn is_local(address: *const sockaddr) -> bool {
    // SAFETY: the program promises an address of the family that it names.
    unsafe {
        match c_int::from((*address).sa_family) {
            libc::AF_UNIX => true,
            libc::AF_INET => {
                let it = &*address.cast::<libc::sockaddr_in>();
                it.sin_addr.s_addr.to_ne_bytes()[0] == 127
            }
            libc::AF_INET6 => {
                let it = &*address.cast::<libc::sockaddr_in6>();
                it.sin6_addr.s6_addr == std::net::Ipv6Addr::LOCALHOST.octets()
            }
            _ => false,
        }
    }
}

unsafe extern "C-unwind" fn do_bind(fd: c_int, address: *const sockaddr, size: socklen_t) -> c_int {
    // SAFETY: the program's promises are passed on.
    unsafe {
        let result = real::bind(fd, address, size);
        if result == 0
            && is_local(address)
            && let Some(mut inside) = enter()
        {
            inside.process.io.set_internal(fd, true);
            leave((), inside);
        }
        result
    }
}

/// A step on a descriptor that does not wait, if it is one that threads can wait for.
pub(crate) unsafe fn touch(inside: &mut Inside, kind: OpKind, fd: c_int, arg: u64, caller: Caller) {
    // SAFETY: the thread that runs is inside a hook; the borrows end before the step.
    unsafe {
        if inside.process.io.look(fd).kind.is_stream() {
            let site = inside.site(caller);
            let object = inside.descriptor_object(fd);
            io::step_at_once(inside, kind, object, arg, site);
        }
    }
}

unsafe extern "C-unwind" fn do_shutdown(fd: c_int, how: c_int) -> c_int {
    let caller = caller();
    // SAFETY: the program's promises are passed on.
    unsafe {
        if let Some(mut inside) = enter() {
            touch(&mut inside, OpKind::Io, fd, AT_ONCE_NO_POINT, caller);
            let result = real::shutdown(fd, how);
            return leave(result, inside);
        }
        real::shutdown(fd, how)
    }
}

unsafe extern "C-unwind" fn do_eventfd(count: c_uint, flags: c_int) -> c_int {
    common::call(Common::Files, OpKind::Call, caller());
    // SAFETY: the program's promises are passed on.
    made(unsafe { real::eventfd(count, flags) }, DescriptorKind::Event, true)
}

unsafe extern "C-unwind" fn do_epoll_create(size: c_int) -> c_int {
    common::call(Common::Files, OpKind::Call, caller());
    if size <= 0 {
        return fail(libc::EINVAL);
    }
    // SAFETY: the program's promises are passed on.
    made(unsafe { real::epoll_create1(0) }, DescriptorKind::Event, true)
}

unsafe extern "C-unwind" fn do_epoll_create1(flags: c_int) -> c_int {
    common::call(Common::Files, OpKind::Call, caller());
    // SAFETY: the program's promises are passed on.
    made(unsafe { real::epoll_create1(flags) }, DescriptorKind::Event, true)
}

unsafe extern "C-unwind" fn do_dup(old: c_int) -> c_int {
    common::call(Common::Files, OpKind::Call, caller());
    // SAFETY: the program's promises are passed on.
    unsafe {
        if is_hidden(old) {
            return fail(libc::EBADF);
        }
        copied(old, real::dup(old))
    }
}

fn copied(old: c_int, new: c_int) -> c_int {
    if new >= 0
        && new != old
        && let Some(mut inside) = enter()
    {
        if inside.process.io.look(old).kind.is_stream() {
            inside.descriptor_object(old);
        }
        inside.process.io.copy(old, new);
        leave((), inside);
    }
    new
}

unsafe extern "C-unwind" fn do_dup2(old: c_int, new: c_int) -> c_int {
    common::call(Common::Files, OpKind::Call, caller());
    // SAFETY: the program's promises are passed on.
    unsafe {
        if is_hidden(old) || is_hidden(new) {
            return fail(libc::EBADF);
        }
        copied(old, real::dup2(old, new))
    }
}

unsafe extern "C-unwind" fn do_dup3(old: c_int, new: c_int, flags: c_int) -> c_int {
    common::call(Common::Files, OpKind::Call, caller());
    // SAFETY: the program's promises are passed on.
    unsafe {
        if is_hidden(old) || is_hidden(new) {
            return fail(libc::EBADF);
        }
        copied(old, real::dup3(old, new, flags))
    }
}

/// Variadic in C; the third argument is a number or a pointer, in the same register.
unsafe extern "C-unwind" fn do_fcntl(fd: c_int, command: c_int, arg: usize) -> c_int {
    let caller = caller();
    // SAFETY: the program's promises are passed on.
    unsafe {
        if is_hidden(fd) {
            return fail(libc::EBADF);
        }
        if command == libc::F_OFD_SETLKW
            && let Some(mut inside) = enter()
        {
            let args = [fd as usize, libc::F_OFD_SETLK as usize, arg, 0, 0, 0];
            let result =
                file::lock(&mut inside, fd, || raw::syscall(libc::SYS_fcntl, args), caller);
            leave((), inside);
            return if result < 0 { fail(-result as c_int) } else { 0 };
        }
        if command == libc::F_OFD_SETLK
            && let Some(mut inside) = enter()
        {
            inside.meet();
            leave((), inside);
        }
        common::call(Common::Files, OpKind::Call, caller);
        // Locks of the process: only others can make it wait.
        if command == libc::F_SETLKW
            && let Some(mut inside) = enter()
        {
            let site = inside.site(caller);
            inside.note(Escape::FileLock, site);
            leave((), inside);
        }
        let result = real::fcntl(fd, command, arg);
        match command {
            libc::F_DUPFD | libc::F_DUPFD_CLOEXEC => copied(fd, result),
            _ => result,
        }
    }
}

unsafe extern "C-unwind" fn do_close(fd: c_int) -> c_int {
    let caller = caller();
    // SAFETY: the program's promises are passed on.
    unsafe {
        if is_hidden(fd) {
            return fail(libc::EBADF);
        }
        let Some(mut inside) = enter() else {
            return real::close(fd);
        };
        touch(&mut inside, OpKind::Close, fd, AT_ONCE, caller);
        common::touch(&mut inside, Common::Files, OpKind::Call, caller);
        super::timer::forget_descriptor(&mut inside, fd);
        inside.process.io.forget(fd);
        let result = real::close(fd);
        leave(result, inside)
    }
}

unsafe extern "C-unwind" fn do_closefrom(first: c_int) {
    // SAFETY: the program's promises are passed on.
    unsafe { close_all(first.max(0) as usize, c_uint::MAX as usize, 0) };
}

pub(super) unsafe extern "C-unwind" fn do_close_range(
    first: c_uint,
    last: c_uint,
    flags: c_int,
) -> c_int {
    // SAFETY: the program's promises are passed on.
    match unsafe { close_all(first as usize, last as usize, flags) } {
        0 => 0,
        error => fail(-error as c_int),
    }
}

/// Closes all descriptors of a range but ours.
unsafe fn close_all(first: usize, last: usize, flags: c_int) -> isize {
    let (before, after) = (HIDDEN.0 as usize - 1, HIDDEN.1 as usize + 1);
    if first > last {
        return -(libc::EINVAL as isize);
    }
    if let Some(mut inside) = enter() {
        if flags == 0 {
            inside.process.io.forget_range(first, last);
        }
        leave((), inside);
    }
    let mut result = 0;
    for (first, last) in [(first, last.min(before)), (first.max(after), last)] {
        if first <= last {
            let args = [first, last, flags as usize, 0, 0, 0];
            // SAFETY: the program promises that it does not need these any more.
            result = unsafe { raw::syscall(libc::SYS_close_range, args) }.min(result);
        }
    }
    result
}
