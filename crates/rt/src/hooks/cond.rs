//! Condition variables.

use std::ffi::c_int;

use libc::{pthread_cond_t, pthread_condattr_t, pthread_mutex_t, timespec};
use raddle_machine::ObjectState;
use raddle_model::{ObjectId, Op, OpKind, OpResult};
use raddle_trace::ObjectClass;

use crate::{
    abi::glibc::{COND_MONOTONIC, LAYOUT, word_at},
    base::real,
    control::Inside,
    hooks::{destroyed, hooks, make, mutex, time::deadline_of},
    record::stack::Caller,
    schedule::step::step,
};

hooks! { |inside, caller|
    fn pthread_cond_init(cond: *mut pthread_cond_t, attr: *const pthread_condattr_t) -> c_int
        => make(inside, real::pthread_cond_init(cond, attr), cond as usize, ObjectClass::Cond, ObjectState::cond);
    fn pthread_cond_destroy(cond: *mut pthread_cond_t) -> c_int => destroy(inside, cond, caller);
    fn pthread_cond_wait(cond: *mut pthread_cond_t, mutex: *mut pthread_mutex_t) -> c_int
        => wait(inside, cond, mutex, None, caller);
    fn pthread_cond_timedwait(cond: *mut pthread_cond_t, mutex: *mut pthread_mutex_t, until: *const timespec) -> c_int
        => wait_until(inside, cond, mutex, None, until, caller);
    fn pthread_cond_clockwait(
        cond: *mut pthread_cond_t, mutex: *mut pthread_mutex_t, clock: c_int, until: *const timespec
    ) -> c_int
        => wait_until(inside, cond, mutex, Some(clock), until, caller);
    fn pthread_cond_signal(cond: *mut pthread_cond_t) -> c_int => notify(inside, cond, OpKind::Signal, caller);
    fn pthread_cond_broadcast(cond: *mut pthread_cond_t) -> c_int => notify(inside, cond, OpKind::Broadcast, caller);
}

/// The condition variable's number; one that was initialised statically is met here for the first
/// time.
unsafe fn object_of(inside: &mut Inside, cond: *mut pthread_cond_t, caller: Caller) -> ObjectId {
    // SAFETY: the program promises a condition variable.
    unsafe {
        destroyed::check(inside, cond as usize, caller);
        inside.sync_object(cond as usize, ObjectClass::Cond, ObjectState::cond)
    }
}

/// The clock of the deadlines of `pthread_cond_timedwait`.
unsafe fn clock_of(cond: *mut pthread_cond_t) -> c_int {
    // SAFETY: the word lies within the condition variable.
    let attributes: u32 = unsafe { *word_at(cond.cast(), LAYOUT.cond_attributes) };
    if attributes & COND_MONOTONIC == 0 { libc::CLOCK_REALTIME } else { libc::CLOCK_MONOTONIC }
}

/// Waits, inside a hook. Every wait on a condition variable is this one.
pub(crate) unsafe fn wait(
    inside: &mut Inside,
    cond: *mut pthread_cond_t,
    mutex: *mut pthread_mutex_t,
    deadline: Option<u64>,
    caller: Caller,
) -> c_int {
    // SAFETY: the program promises a condition variable and a mutex; the borrows end before each step.
    unsafe {
        let object = object_of(inside, cond, caller);
        let lock = mutex::object_of(inside, mutex, caller);
        let site = inside.site(caller);
        inside.this().spin.reset();
        step(inside, Op::on(OpKind::CondWait, object, site).other(lock));
        destroyed::check_freed(inside, cond as usize, object, site);
        let woken =
            step(inside, Op::on(OpKind::CondWake, object, site).other(lock).until(deadline));
        match woken.result {
            // A handler that ran is no reason to tell: the wait ends spuriously at most.
            OpResult::Interrupted => 0,
            result => mutex::errno_of(result),
        }
    }
}

/// Waits until a deadline of a clock (that of the condition variable, if none is given), inside a hook.
pub(crate) unsafe fn wait_until(
    inside: &mut Inside,
    cond: *mut pthread_cond_t,
    mutex: *mut pthread_mutex_t,
    clock: Option<c_int>,
    until: *const timespec,
    caller: Caller,
) -> c_int {
    // SAFETY: the program promises a condition variable, a mutex and a time.
    unsafe {
        let clock = clock.unwrap_or_else(|| clock_of(cond));
        match deadline_of(clock, until) {
            Ok(deadline) => wait(inside, cond, mutex, Some(deadline), caller),
            Err(error) => error,
        }
    }
}

/// Wakes one waiter (`Signal`) or all (`Broadcast`), or ends the object (`Destroy`), inside a hook.
pub(crate) unsafe fn notify(
    inside: &mut Inside,
    cond: *mut pthread_cond_t,
    kind: OpKind,
    caller: Caller,
) -> c_int {
    // SAFETY: the program promises a condition variable; the borrows end before the step.
    unsafe {
        let object = object_of(inside, cond, caller);
        let site = inside.site(caller);
        inside.this().spin.reset();
        let performed = step(inside, Op::on(kind, object, site));
        destroyed::check_freed(inside, cond as usize, object, site);
        mutex::errno_of(performed.result)
    }
}

/// Destroys a condition variable, inside a hook.
pub(crate) unsafe fn destroy(
    inside: &mut Inside,
    cond: *mut pthread_cond_t,
    caller: Caller,
) -> c_int {
    // SAFETY: the program promises a condition variable, and gives it up.
    unsafe {
        let result = notify(inside, cond, OpKind::Destroy, caller);
        destroyed::mark(cond as usize);
        result
    }
}
