//! Mutexes.

use std::ffi::c_int;

use libc::{pthread_mutex_t, pthread_mutexattr_t, timespec};
use raddle_machine::{MutexKind, ObjectState};
use raddle_model::{End, Misuse, ObjectId, Op, OpKind, OpResult};
use raddle_trace::ObjectClass;

use crate::{
    abi::glibc::{
        LAYOUT, MUTEX_DESTROYED, MUTEX_ERRORCHECK, MUTEX_RECURSIVE, MUTEX_ROBUST, MUTEX_TYPE,
        word_at,
    },
    base::{real, time},
    control::Inside,
    hooks::{destroyed, hooks, make},
    outside::forks,
    record::stack::Caller,
    schedule::step::step,
    tell::end,
};

hooks! { |inside, caller|
    fn pthread_mutex_init(mutex: *mut pthread_mutex_t, attr: *const pthread_mutexattr_t) -> c_int,
        else forks::forget(mutex as usize) => {
        let result = real::pthread_mutex_init(mutex, attr);
        make(inside, result, mutex as usize, ObjectClass::Mutex, || state_of(*kind_word(mutex)))
    };
    fn pthread_mutex_destroy(mutex: *mut pthread_mutex_t) -> c_int => destroy(inside, mutex, caller);
    fn pthread_mutex_lock | __pthread_mutex_lock(mutex: *mut pthread_mutex_t) -> c_int,
        else forks::meets(mutex as usize) => lock(inside, mutex, OpKind::Lock, None, caller);
    fn pthread_mutex_trylock | __pthread_mutex_trylock(mutex: *mut pthread_mutex_t) -> c_int
        => lock(inside, mutex, OpKind::TryLock, None, caller);
    fn pthread_mutex_timedlock(mutex: *mut pthread_mutex_t, until: *const timespec) -> c_int
        => lock_until(inside, mutex, libc::CLOCK_REALTIME, until, caller);
    fn pthread_mutex_clocklock(mutex: *mut pthread_mutex_t, clock: c_int, until: *const timespec) -> c_int
        => lock_until(inside, mutex, clock, until, caller);
    fn pthread_mutex_unlock | __pthread_mutex_unlock(mutex: *mut pthread_mutex_t) -> c_int => unlock(inside, mutex, caller);
    fn pthread_mutex_consistent(mutex: *mut pthread_mutex_t) -> c_int => {
        let object = object_of(inside, mutex, caller);
        let me = inside.me;
        let was_orphaned = inside.scheduler.machine.make_consistent(object, me);
        if was_orphaned { 0 } else { libc::EINVAL }
    };
}

unsafe fn kind_word(mutex: *mut pthread_mutex_t) -> *mut i32 {
    // SAFETY: the word lies within the mutex.
    unsafe { word_at(mutex.cast(), LAYOUT.mutex_kind) }
}

fn state_of(kind: i32) -> ObjectState {
    let machine_kind = match kind & MUTEX_TYPE {
        MUTEX_RECURSIVE => MutexKind::Recursive,
        MUTEX_ERRORCHECK => MutexKind::ErrorCheck,
        _ => MutexKind::Normal,
    };
    ObjectState::mutex(machine_kind, kind & MUTEX_ROBUST != 0)
}

/// The mutex's number; one that was initialised statically is met here for the first time.
#[inline(always)]
pub(crate) unsafe fn object_of(
    inside: &mut Inside,
    mutex: *mut pthread_mutex_t,
    caller: Caller,
) -> ObjectId {
    // SAFETY: the program promises a mutex.
    unsafe {
        let kind = *kind_word(mutex);
        if kind == MUTEX_DESTROYED {
            let site = inside.site(caller);
            end::end_about(inside, End::Misuse(Misuse::UseDestroyed), site, ObjectId::NONE, b"");
        }
        let object = inside.sync_object(mutex as usize, ObjectClass::Mutex, || state_of(kind));
        if kind & (MUTEX_TYPE | MUTEX_ROBUST) != 0 {
            return of_kind(inside, mutex, object, kind);
        }
        object
    }
}

/// The number of a mutex that is not of the usual kind. The memory may have held another one before:
/// C++ makes and destroys mutexes without a call.
#[inline(never)]
unsafe fn of_kind(
    inside: &mut Inside,
    mutex: *mut pthread_mutex_t,
    object: ObjectId,
    kind: i32,
) -> ObjectId {
    let wanted = state_of(kind);
    if inside.scheduler.machine.object(object).is_some_and(|it| it.is_mutex_like(&wanted)) {
        return object;
    }
    inside.make_sync_object(mutex as usize, ObjectClass::Mutex, wanted)
}

/// Takes a mutex, inside a hook.
#[inline(always)]
pub(crate) unsafe fn lock(
    inside: &mut Inside,
    mutex: *mut pthread_mutex_t,
    kind: OpKind,
    deadline: Option<u64>,
    caller: Caller,
) -> c_int {
    // SAFETY: the program promises a mutex; the borrows end before the step.
    unsafe {
        let object = object_of(inside, mutex, caller);
        let site = inside.site(caller);
        inside.this().spin.reset();
        let performed = step(inside, Op::on(kind, object, site).until(deadline));
        destroyed::check_freed(inside, mutex as usize, object, site);
        errno_of(performed.result)
    }
}

/// What the pthread functions return.
pub(crate) fn errno_of(result: OpResult) -> c_int {
    match result {
        OpResult::Done | OpResult::Chosen => 0,
        OpResult::Busy => libc::EBUSY,
        OpResult::TimedOut => libc::ETIMEDOUT,
        OpResult::WouldDeadlock => libc::EDEADLK,
        OpResult::OwnerDied => libc::EOWNERDEAD,
        OpResult::NotRecoverable => libc::ENOTRECOVERABLE,
        OpResult::NotOwner => libc::EPERM,
        OpResult::Overflow => libc::EAGAIN,
        OpResult::Misused => libc::EINVAL,
        OpResult::Interrupted => libc::EINTR,
    }
}

/// Destroys a mutex, inside a hook.
pub(crate) unsafe fn destroy(
    inside: &mut Inside,
    mutex: *mut pthread_mutex_t,
    caller: Caller,
) -> c_int {
    // SAFETY: the program promises a mutex; the borrows end before the step.
    unsafe {
        if inside.known_sync_object(mutex as usize, ObjectClass::Mutex).is_some() {
            let object = object_of(inside, mutex, caller);
            let site = inside.site(caller);
            step(inside, Op::on(OpKind::Destroy, object, site));
        }
        *kind_word(mutex) = MUTEX_DESTROYED;
        0
    }
}

/// Takes a mutex until a deadline, inside a hook.
pub(crate) unsafe fn lock_until(
    inside: &mut Inside,
    mutex: *mut pthread_mutex_t,
    clock: c_int,
    until: *const timespec,
    caller: Caller,
) -> c_int {
    // SAFETY: the program promises a mutex and a time.
    unsafe {
        if !time::is_valid(&*until) {
            return libc::EINVAL;
        }
        lock(inside, mutex, OpKind::Lock, Some(time::deadline(clock, &*until)), caller)
    }
}

/// Gives a mutex back, inside a hook.
#[inline(always)]
pub(crate) unsafe fn unlock(
    inside: &mut Inside,
    mutex: *mut pthread_mutex_t,
    caller: Caller,
) -> c_int {
    // SAFETY: the program promises a mutex; the borrows end before the step.
    unsafe {
        let object = object_of(inside, mutex, caller);
        let site = inside.site(caller);
        let performed = step(inside, Op::on(OpKind::Unlock, object, site));
        destroyed::check_freed(inside, mutex as usize, object, site);
        errno_of(performed.result)
    }
}
