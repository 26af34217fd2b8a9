//! Threads: create, join, detach, exit, cancel, name.

use std::{
    ffi::{CStr, c_char, c_int, c_void},
    ptr,
};

use libc::{pthread_attr_t, pthread_t, size_t, timespec};
use raddle_model::{End, Misuse, Op, OpKind, OpResult};

use crate::{
    base::{
        real::{self, Start},
        time,
    },
    control::{Inside, enter},
    hooks::{caller, export, fail, hooks},
    outside::forks,
    record::stack::Caller,
    schedule::{signals::leave, step::step, threads},
    tell::end,
};

hooks! { |inside, caller|
    fn pthread_create(
        thread: *mut pthread_t, attr: *const pthread_attr_t, start: Start, arg: *mut c_void
    ) -> c_int, else forks::create_thread() => {
        let site = inside.site(caller);
        match threads::create(inside, attr, start, arg, site) {
            Ok(id) => {
                *thread = id as pthread_t;
                0
            }
            Err(error) => error,
        }
    };
    fn pthread_join(thread: pthread_t, result: *mut *mut c_void) -> c_int
        => join(inside, thread, result, OpKind::Join, None, caller);
    fn pthread_tryjoin_np(thread: pthread_t, result: *mut *mut c_void) -> c_int
        => join(inside, thread, result, OpKind::TryJoin, None, caller);
    fn pthread_timedjoin_np(thread: pthread_t, result: *mut *mut c_void, until: *const timespec) -> c_int => {
        let deadline = until.as_ref().map(|it| time::deadline(libc::CLOCK_REALTIME, it));
        join(inside, thread, result, OpKind::Join, deadline, caller)
    };
    fn pthread_clockjoin_np(
        thread: pthread_t, result: *mut *mut c_void, clock: c_int, until: *const timespec
    ) -> c_int => {
        let deadline = until.as_ref().map(|it| time::deadline(clock, it));
        join(inside, thread, result, OpKind::Join, deadline, caller)
    };
    fn pthread_detach(thread: pthread_t) -> c_int => detach(inside, thread, caller);
    fn pthread_setname_np(thread: pthread_t, name: *const c_char) -> c_int => {
        let name = CStr::from_ptr(name).to_bytes();
        let Some(target) = inside.thread_of(thread as usize) else {
            return libc::ESRCH;
        };
        if name.len() > 15 {
            return libc::ERANGE;
        }
        let kept = &mut inside.scheduler.threads[target.idx()].name;
        *kept = [0; 16];
        kept[..name.len()].copy_from_slice(name);
        inside.announce_thread(target);
        0
    };
    /// Variadic in C: what is not passed is not looked at.
    fn prctl(option: c_int, a: usize, b: usize, c: usize, d: usize) -> c_int,
        if matches!(option, libc::PR_SET_NAME | libc::PR_GET_NAME) => name_itself(inside, option, a);
    fn pthread_getname_np(thread: pthread_t, name: *mut c_char, size: size_t) -> c_int => {
        let Some(target) = inside.thread_of(thread as usize) else {
            return libc::ESRCH;
        };
        let kept = inside.scheduler.threads[target.idx()].known_name();
        if size < 16 {
            return libc::ERANGE;
        }
        ptr::copy_nonoverlapping(kept.as_ptr().cast(), name, 16);
        0
    };
    /// What std asks for at the beginning of every Rust thread. The C library would ask the kernel which
    /// processors the thread may use, and know nothing of the page that guards a stack of ours.
    fn pthread_getattr_np(thread: pthread_t, attr: *mut pthread_attr_t) -> c_int => {
        let range = inside.own_stack(thread as usize);
        match range {
            Some((bottom, top)) => {
                libc::pthread_attr_init(attr);
                libc::pthread_attr_setguardsize(attr, threads::GUARD);
                libc::pthread_attr_setstack(attr, bottom as *mut c_void, top - bottom)
            }
            None => real::pthread_getattr_np(thread, attr),
        }
    };
    /// A stack for handlers. The kernel keeps to ours, which the carrier has whoever runs; handlers of faults are run on
    /// the one that the thread has asked for. Who has none is told, as std asks in every Rust thread, that there is one.
    fn sigaltstack(stack: *const libc::stack_t, old: *mut libc::stack_t) -> c_int => {
        let (end, size) = inside.this().handler_stack;
        let wanted = (!stack.is_null()).then(|| *stack);
        if !old.is_null() {
            *old = match size {
                0 => crate::base::signal_stack::alternate_stack(),
                _ => {
                    libc::stack_t { ss_sp: (end - size) as *mut c_void, ss_flags: 0, ss_size: size }
                }
            };
        }
        let Some(wanted) = wanted else { return 0 };
        if wanted.ss_flags & libc::SS_DISABLE == 0 && wanted.ss_size < libc::MINSIGSTKSZ {
            return fail(libc::ENOMEM);
        }
        let is_none = wanted.ss_flags & libc::SS_DISABLE != 0;
        let end = wanted.ss_sp as usize + wanted.ss_size;
        inside.this().handler_stack = if is_none { (0, 0) } else { (end, wanted.ss_size) };
        0
    };
}

export! {
    sched_yield => do_yield;
    pthread_yield => do_yield;
}

/// Joins, inside a hook. A thread's number goes in `arg`, or in `other` beside a deadline: the machine
/// finds it by its object.
pub(crate) unsafe fn join(
    inside: &mut Inside,
    thread: pthread_t,
    result: *mut *mut c_void,
    kind: OpKind,
    deadline: Option<u64>,
    caller: Caller,
) -> c_int {
    // SAFETY: the thread that runs is inside a hook; the borrows end before the step.
    unsafe {
        let site = inside.site(caller);
        let Some(target) = inside.thread_of(thread as usize) else { return libc::ESRCH };
        let object = inside.scheduler.threads[target.idx()].object;
        if target == inside.me {
            end::end_about(inside, End::Misuse(Misuse::JoinSelf), site, object, b"");
        }
        let performed = step(inside, Op::on(kind, object, site).until(deadline));
        match performed.result {
            OpResult::Done => {
                if !result.is_null() {
                    *result = inside.scheduler.threads[target.idx()].result;
                }
                0
            }
            OpResult::TimedOut => libc::ETIMEDOUT,
            _ => libc::EBUSY,
        }
    }
}

/// Detaches, inside a hook.
pub(crate) unsafe fn detach(inside: &mut Inside, thread: pthread_t, caller: Caller) -> c_int {
    let site = inside.site(caller);
    let Some(target) = inside.thread_of(thread as usize) else { return libc::ESRCH };
    let object = inside.scheduler.threads[target.idx()].object;
    step(inside, Op::on(OpKind::Detach, object, site).arg(u64::from(target.0)));
    0
}

/// `PR_SET_NAME` and `PR_GET_NAME`, inside a hook: the kernel knows the names of carriers only.
pub(super) unsafe fn name_itself(inside: &mut Inside, option: c_int, text: usize) -> c_int {
    // SAFETY: the program promises a string, or room for 16 bytes; the thread that runs is inside a hook.
    unsafe {
        let me = inside.me;
        if option == libc::PR_GET_NAME {
            let known = inside.scheduler.threads[me.idx()].known_name();
            ptr::copy_nonoverlapping(known.as_ptr(), text as *mut u8, known.len());
            return 0;
        }
        let kept = &mut inside.scheduler.threads[me.idx()].name;
        let name = CStr::from_ptr(text as *const c_char).to_bytes();
        let n_kept = name.len().min(kept.len() - 1);
        *kept = [0; 16];
        kept[..n_kept].copy_from_slice(&name[..n_kept]);
        inside.announce_thread(me);
        0
    }
}

pub(super) unsafe extern "C-unwind" fn do_yield() -> c_int {
    let caller = caller();
    let Some(mut inside) = enter() else {
        // SAFETY: needs nothing.
        return unsafe { real::sched_yield() };
    };
    let site = inside.site(caller);
    crate::schedule::step::yield_at(&mut inside, site);
    leave(0, inside)
}
