//! Reader-writer locks.

use std::ffi::c_int;

use libc::{pthread_rwlock_t, pthread_rwlockattr_t, timespec};
use raddle_machine::ObjectState;
use raddle_model::{ObjectId, Op, OpKind};
use raddle_trace::ObjectClass;

use crate::{
    abi::glibc::{LAYOUT, RWLOCK_PREFERS_WRITERS, word_at},
    base::real,
    control::Inside,
    hooks::{destroyed, hooks, make, mutex::errno_of, time::deadline_of},
    outside::forks,
    record::stack::Caller,
    schedule::step::step,
};

hooks! { |inside, caller|
    fn pthread_rwlock_init(lock: *mut pthread_rwlock_t, attr: *const pthread_rwlockattr_t) -> c_int,
        else forks::forget(lock as usize) => {
        let result = real::pthread_rwlock_init(lock, attr);
        make(inside, result, lock as usize, ObjectClass::Rwlock, || state_of(lock))
    };
    fn pthread_rwlock_destroy(lock: *mut pthread_rwlock_t) -> c_int => {
        let result = perform(inside, lock, OpKind::Destroy, None, caller);
        destroyed::mark(lock as usize);
        result
    };
    fn pthread_rwlock_rdlock(lock: *mut pthread_rwlock_t) -> c_int, else forks::meets_for_reading(lock as usize)
        => perform(inside, lock, OpKind::ReadLock, None, caller);
    fn pthread_rwlock_tryrdlock(lock: *mut pthread_rwlock_t) -> c_int
        => perform(inside, lock, OpKind::TryReadLock, None, caller);
    fn pthread_rwlock_timedrdlock(lock: *mut pthread_rwlock_t, until: *const timespec) -> c_int
        => lock_until(inside, lock, OpKind::ReadLock, libc::CLOCK_REALTIME, until, caller);
    fn pthread_rwlock_clockrdlock(lock: *mut pthread_rwlock_t, clock: c_int, until: *const timespec) -> c_int
        => lock_until(inside, lock, OpKind::ReadLock, clock, until, caller);
    fn pthread_rwlock_wrlock(lock: *mut pthread_rwlock_t) -> c_int, else forks::meets(lock as usize)
        => perform(inside, lock, OpKind::WriteLock, None, caller);
    fn pthread_rwlock_trywrlock(lock: *mut pthread_rwlock_t) -> c_int
        => perform(inside, lock, OpKind::TryWriteLock, None, caller);
    fn pthread_rwlock_timedwrlock(lock: *mut pthread_rwlock_t, until: *const timespec) -> c_int
        => lock_until(inside, lock, OpKind::WriteLock, libc::CLOCK_REALTIME, until, caller);
    fn pthread_rwlock_clockwrlock(lock: *mut pthread_rwlock_t, clock: c_int, until: *const timespec) -> c_int
        => lock_until(inside, lock, OpKind::WriteLock, clock, until, caller);
    fn pthread_rwlock_unlock(lock: *mut pthread_rwlock_t) -> c_int => perform(inside, lock, OpKind::RwUnlock, None, caller);
}

unsafe fn state_of(lock: *const pthread_rwlock_t) -> ObjectState {
    // SAFETY: the word lies within the lock.
    let kind: i32 = unsafe { *word_at(lock.cast(), LAYOUT.rwlock_kind) };
    ObjectState::rwlock(kind == RWLOCK_PREFERS_WRITERS)
}

/// The lock's number; one that was initialised statically is met here for the first time.
unsafe fn object_of(inside: &mut Inside, lock: *mut pthread_rwlock_t, caller: Caller) -> ObjectId {
    // SAFETY: the program promises a reader-writer lock.
    unsafe {
        destroyed::check(inside, lock as usize, caller);
        inside.sync_object(lock as usize, ObjectClass::Rwlock, || state_of(lock))
    }
}

/// Any op on a lock, inside a hook.
unsafe fn perform(
    inside: &mut Inside,
    lock: *mut pthread_rwlock_t,
    kind: OpKind,
    deadline: Option<u64>,
    caller: Caller,
) -> c_int {
    // SAFETY: the program promises a reader-writer lock; the borrows end before the step.
    unsafe {
        let object = object_of(inside, lock, caller);
        let site = inside.site(caller);
        inside.this().spin.reset();
        let performed = step(inside, Op::on(kind, object, site).until(deadline));
        destroyed::check_freed(inside, lock as usize, object, site);
        errno_of(performed.result)
    }
}

/// Takes a lock until a deadline, inside a hook.
unsafe fn lock_until(
    inside: &mut Inside,
    lock: *mut pthread_rwlock_t,
    kind: OpKind,
    clock: c_int,
    until: *const timespec,
    caller: Caller,
) -> c_int {
    // SAFETY: the program promises a reader-writer lock and a time.
    unsafe {
        match deadline_of(clock, until) {
            Ok(deadline) => perform(inside, lock, kind, Some(deadline), caller),
            Err(error) => error,
        }
    }
}
