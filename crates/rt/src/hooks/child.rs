//! Other processes: waiting for them, and what starts them inside the C library.
//!
//! A wait for a child is a wait for something outside: the program's other threads go on meanwhile,
//! for they may have to feed it.

use std::ffi::{c_char, c_int, c_void};

use libc::{id_t, pid_t, rusage, siginfo_t};
use raddle_fiber::raw;
use raddle_model::{Escape, ObjectId, OpKind, SiteId};

use crate::{
    base::real,
    control::{Inside, enter},
    hooks::{caller, export, fail, hooks},
    outside::io::{self, PollRequest},
    record::stack::Caller,
    schedule::{signals::leave, step::yield_now},
};

hooks! { |inside, caller|
    fn waitpid | __waitpid(pid: pid_t, status: *mut c_int, options: c_int) -> pid_t
        = wait_for(pid, status, options, std::ptr::null_mut(), caller);
    fn wait(status: *mut c_int) -> pid_t = wait_for(-1, status, 0, std::ptr::null_mut(), caller);
    fn wait3(status: *mut c_int, options: c_int, usage: *mut rusage) -> pid_t
        = wait_for(-1, status, options, usage, caller);
    fn wait4(pid: pid_t, status: *mut c_int, options: c_int, usage: *mut rusage) -> pid_t
        = wait_for(pid, status, options, usage, caller);
}

export! {
    waitid => do_waitid;
    system => do_system;
    popen => do_popen;
    posix_spawn => do_posix_spawn;
    posix_spawnp => do_posix_spawnp;
}

const P_ALL: c_int = 0;
const P_PID: c_int = 1;

unsafe fn wait_for(
    pid: pid_t,
    status: *mut c_int,
    options: c_int,
    usage: *mut rusage,
    caller: Caller,
) -> pid_t {
    // SAFETY: the program's promises are passed on.
    unsafe {
        let real = |options: c_int| {
            let args = [pid as usize, status as usize, options as usize, usage as usize, 0, 0];
            raw::syscall(libc::SYS_wait4, args)
        };
        let result = if let Some(mut inside) = enter() {
            let result =
                wait_with(&mut inside, pid, options & libc::WNOHANG != 0, caller, |must_return| {
                    real(if must_return { options | libc::WNOHANG } else { options })
                });
            leave(result, inside)
        } else {
            real(options)
        };
        if result < 0 { fail(-result as c_int) } else { result as pid_t }
    }
}

unsafe extern "C-unwind" fn do_waitid(
    kind: c_int,
    id: id_t,
    info: *mut siginfo_t,
    options: c_int,
) -> c_int {
    let caller = caller();
    // SAFETY: the program's promises are passed on.
    unsafe {
        let real = |options: c_int| {
            if !info.is_null() {
                (*info).si_signo = 0;
            }
            let args = [kind as usize, id as usize, info as usize, options as usize, 0, 0];
            raw::syscall(libc::SYS_waitid, args)
        };
        let result = if let Some(mut inside) = enter() {
            let pid = if kind == P_PID { id as pid_t } else { -1 };
            let is_at_once = options & libc::WNOHANG != 0 || info.is_null();
            let result = wait_with(&mut inside, pid, is_at_once, caller, |must_return| {
                let result = real(if must_return { options | libc::WNOHANG } else { options });
                // 0 without a signal's number: nothing has happened yet.
                if result == 0 && (*info).si_signo != 0 { 1 } else { result }
            });
            leave(result, inside)
        } else {
            real(options)
        };
        if result < 0 { fail(-result as c_int) } else { 0 }
    }
}

/// Waits, inside a hook. `ask` asks the kernel, at once or not, and gets 0 if nothing has happened.
unsafe fn wait_with(
    inside: &mut Inside,
    pid: pid_t,
    is_at_once: bool,
    caller: Caller,
    mut ask: impl FnMut(bool) -> isize,
) -> isize {
    // SAFETY: the thread that runs is inside a hook; the borrows end before the steps.
    unsafe {
        if is_alone(pid) {
            // No other process has a say in this.
            return ask(true);
        }
        let site = inside.site(caller);
        inside.note(Escape::WaitProcess, site);
        loop {
            if is_at_once || inside.scheduler.machine.n_live() == 1 {
                let result = ask(is_at_once);
                inside.look_at_children();
                return result;
            }
            if is_child(pid) {
                wait_for_end(inside, pid, site);
            }
            let result = ask(true);
            inside.look_at_children();
            if result != 0 {
                return result;
            }
            yield_now(inside, site);
            pause();
        }
    }
}

/// Is it a child that can be waited for, ended or not?
fn is_child(pid: pid_t) -> bool {
    pid > 0 && peek(P_PID, pid, libc::WEXITED) == 0
}

/// Are there no children that such a wait could be for? Of a group's, whether there are any at all.
fn is_alone(pid: pid_t) -> bool {
    let kind = if pid > 0 { P_PID } else { P_ALL };
    let flags = libc::WEXITED | libc::WSTOPPED | libc::WCONTINUED | libc::__WALL;
    peek(kind, pid.max(0), flags) == -(libc::ECHILD as isize)
}

/// Looks for children, and leaves them as they are.
fn peek(kind: c_int, id: pid_t, flags: c_int) -> isize {
    let flags = (flags | libc::WNOHANG | libc::WNOWAIT) as usize;
    let args = [kind as usize, id as usize, 0, flags, 0, 0];
    // SAFETY: asks without taking an answer.
    unsafe { raw::syscall(libc::SYS_waitid, args) }
}

/// Lets others go on until a child ends; returns at once where the kernel can't tell (before 5.3).
unsafe fn wait_for_end(inside: &mut Inside, pid: pid_t, site: SiteId) {
    // SAFETY: the thread that runs is inside a hook; the list lives while it waits.
    unsafe {
        let fd = raw::syscall(libc::SYS_pidfd_open, [pid as usize, 0, 0, 0, 0, 0]) as c_int;
        if fd < 0 {
            return;
        }
        let mut list = libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
        let object = inside.poll_object(fd);
        io::wait_for(
            inside,
            &PollRequest {
                kind: OpKind::Io,
                list: &raw mut list,
                n_list: 1,
                object,
                written: ObjectId::NONE,
                deadline: None,
                is_late: true,
                site,
            },
        );
        raw::syscall(libc::SYS_close, [fd as usize, 0, 0, 0, 0, 0]);
    }
}

/// Really waits, a millisecond.
pub(super) fn pause() {
    let length = libc::timespec { tv_sec: 0, tv_nsec: 1_000_000 };
    // SAFETY: the kernel reads our own structure.
    unsafe { raw::syscall(libc::SYS_nanosleep, [&raw const length as usize, 0, 0, 0, 0, 0]) };
}

/// Says that something goes on that we do not see.
pub(super) fn note(what: Escape, caller: Caller) {
    if let Some(mut inside) = enter() {
        let site = inside.site(caller);
        inside.note(what, site);
        leave((), inside);
    }
}

unsafe extern "C-unwind" fn do_system(command: *const c_char) -> c_int {
    note(Escape::System, caller());
    // SAFETY: the program's promises are passed on.
    unsafe { real::system(command) }
}

unsafe extern "C-unwind" fn do_popen(command: *const c_char, mode: *const c_char) -> *mut c_void {
    note(Escape::Popen, caller());
    // SAFETY: the program's promises are passed on.
    unsafe { real::popen(command, mode) }
}

unsafe extern "C-unwind" fn do_posix_spawn(
    pid: *mut pid_t,
    path: *const c_char,
    actions: *const c_void,
    attr: *const c_void,
    args: *const *mut c_char,
    environment: *const *mut c_char,
) -> c_int {
    note(Escape::PosixSpawn, caller());
    // SAFETY: the program's promises are passed on.
    unsafe { real::posix_spawn(pid, path, actions, attr, args, environment) }
}

unsafe extern "C-unwind" fn do_posix_spawnp(
    pid: *mut pid_t,
    path: *const c_char,
    actions: *const c_void,
    attr: *const c_void,
    args: *const *mut c_char,
    environment: *const *mut c_char,
) -> c_int {
    note(Escape::PosixSpawn, caller());
    // SAFETY: the program's promises are passed on.
    unsafe { real::posix_spawnp(pid, path, actions, attr, args, environment) }
}
