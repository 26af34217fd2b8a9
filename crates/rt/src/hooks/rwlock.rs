//! Reader-writer locks.

use std::ffi::c_int;

use libc::{pthread_rwlock_t, pthread_rwlockattr_t, timespec};
use raddle_machine::ObjectState;
use raddle_model::{ObjectId, Op, OpKind};
use raddle_trace::ObjectClass;

use crate::{
    control::{Caller, control, enter, leave},
    forks,
    hooks::{caller, destroyed, export, mutex::errno_of, time::deadline_of},
    real,
    step::step,
};

export! {
    pthread_rwlock_init => do_init;
    pthread_rwlock_destroy => do_destroy;
    pthread_rwlock_rdlock => do_rdlock;
    pthread_rwlock_tryrdlock => do_tryrdlock;
    pthread_rwlock_timedrdlock => do_timedrdlock;
    pthread_rwlock_clockrdlock => do_clockrdlock;
    pthread_rwlock_wrlock => do_wrlock;
    pthread_rwlock_trywrlock => do_trywrlock;
    pthread_rwlock_timedwrlock => do_timedwrlock;
    pthread_rwlock_clockwrlock => do_clockwrlock;
    pthread_rwlock_unlock => do_unlock;
}

/// Where glibc keeps a lock's kind, and the one that prefers writers. (`PTHREAD_RWLOCK_PREFER_WRITER_NP` prefers
/// readers.)
const KIND_OFFSET: usize = 48;
const PREFERS_WRITERS: i32 = 2;

unsafe fn state_of(lock: *const pthread_rwlock_t) -> ObjectState {
    // SAFETY: the word lies within the lock.
    let kind = unsafe { lock.cast::<u8>().add(KIND_OFFSET).cast::<i32>().read() };
    ObjectState::rwlock(kind == PREFERS_WRITERS)
}

/// The lock's number; one that was initialised statically is met here for the first time.
unsafe fn object_of(lock: *mut pthread_rwlock_t, caller: Caller) -> ObjectId {
    // SAFETY: the program promises a reader-writer lock.
    unsafe {
        destroyed::check(lock as usize, caller);
        (*control()).sync_object(lock as usize, ObjectClass::Rwlock, || state_of(lock))
    }
}

/// Any op on a lock, inside a hook.
unsafe fn perform(
    lock: *mut pthread_rwlock_t,
    kind: OpKind,
    deadline: Option<u64>,
    caller: Caller,
) -> c_int {
    // SAFETY: the program promises a reader-writer lock; the borrows end before the step.
    unsafe {
        let object = object_of(lock, caller);
        let site = (*control()).site(caller);
        (*control()).this().spin.reset();
        let performed = step(Op::on(kind, object, site).until(deadline));
        destroyed::check_freed(lock as usize, object, site);
        errno_of(performed.result)
    }
}

/// Takes a lock until a deadline, inside a hook.
unsafe fn lock_until(
    lock: *mut pthread_rwlock_t,
    kind: OpKind,
    clock: c_int,
    until: *const timespec,
    caller: Caller,
) -> c_int {
    // SAFETY: the program promises a reader-writer lock and a time.
    unsafe {
        match deadline_of(clock, until) {
            Ok(deadline) => perform(lock, kind, Some(deadline), caller),
            Err(error) => error,
        }
    }
}

unsafe extern "C-unwind" fn do_init(
    lock: *mut pthread_rwlock_t,
    attr: *const pthread_rwlockattr_t,
) -> c_int {
    // SAFETY: the program's promises are passed on; the real function only fills the memory in.
    unsafe {
        forks::forget(lock as usize);
        let result = real::pthread_rwlock_init(lock, attr);
        if result != 0 || !enter() {
            return result;
        }
        let state = state_of(lock);
        (*control()).make_sync_object(lock as usize, ObjectClass::Rwlock, state);
        leave(result)
    }
}

unsafe extern "C-unwind" fn do_destroy(lock: *mut pthread_rwlock_t) -> c_int {
    let caller = caller();
    // SAFETY: the program's promises are passed on.
    unsafe {
        if !enter() {
            return real::pthread_rwlock_destroy(lock);
        }
        let result = perform(lock, OpKind::Destroy, None, caller);
        destroyed::mark(lock as usize);
        leave(result)
    }
}

unsafe extern "C-unwind" fn do_rdlock(lock: *mut pthread_rwlock_t) -> c_int {
    let caller = caller();
    // SAFETY: the program's promises are passed on.
    unsafe {
        if !enter() {
            forks::meets_for_reading(lock as usize);
            return real::pthread_rwlock_rdlock(lock);
        }
        leave(perform(lock, OpKind::ReadLock, None, caller))
    }
}

unsafe extern "C-unwind" fn do_tryrdlock(lock: *mut pthread_rwlock_t) -> c_int {
    let caller = caller();
    // SAFETY: the program's promises are passed on.
    unsafe {
        if !enter() {
            return real::pthread_rwlock_tryrdlock(lock);
        }
        leave(perform(lock, OpKind::TryReadLock, None, caller))
    }
}

unsafe extern "C-unwind" fn do_timedrdlock(
    lock: *mut pthread_rwlock_t,
    until: *const timespec,
) -> c_int {
    let caller = caller();
    // SAFETY: the program's promises are passed on.
    unsafe {
        if !enter() {
            return real::pthread_rwlock_timedrdlock(lock, until);
        }
        leave(lock_until(lock, OpKind::ReadLock, libc::CLOCK_REALTIME, until, caller))
    }
}

unsafe extern "C-unwind" fn do_clockrdlock(
    lock: *mut pthread_rwlock_t,
    clock: c_int,
    until: *const timespec,
) -> c_int {
    let caller = caller();
    // SAFETY: the program's promises are passed on.
    unsafe {
        if !enter() {
            return real::pthread_rwlock_clockrdlock(lock, clock, until);
        }
        leave(lock_until(lock, OpKind::ReadLock, clock, until, caller))
    }
}

unsafe extern "C-unwind" fn do_wrlock(lock: *mut pthread_rwlock_t) -> c_int {
    let caller = caller();
    // SAFETY: the program's promises are passed on.
    unsafe {
        if !enter() {
            forks::meets(lock as usize);
            return real::pthread_rwlock_wrlock(lock);
        }
        leave(perform(lock, OpKind::WriteLock, None, caller))
    }
}

unsafe extern "C-unwind" fn do_trywrlock(lock: *mut pthread_rwlock_t) -> c_int {
    let caller = caller();
    // SAFETY: the program's promises are passed on.
    unsafe {
        if !enter() {
            return real::pthread_rwlock_trywrlock(lock);
        }
        leave(perform(lock, OpKind::TryWriteLock, None, caller))
    }
}

unsafe extern "C-unwind" fn do_timedwrlock(
    lock: *mut pthread_rwlock_t,
    until: *const timespec,
) -> c_int {
    let caller = caller();
    // SAFETY: the program's promises are passed on.
    unsafe {
        if !enter() {
            return real::pthread_rwlock_timedwrlock(lock, until);
        }
        leave(lock_until(lock, OpKind::WriteLock, libc::CLOCK_REALTIME, until, caller))
    }
}

unsafe extern "C-unwind" fn do_clockwrlock(
    lock: *mut pthread_rwlock_t,
    clock: c_int,
    until: *const timespec,
) -> c_int {
    let caller = caller();
    // SAFETY: the program's promises are passed on.
    unsafe {
        if !enter() {
            return real::pthread_rwlock_clockwrlock(lock, clock, until);
        }
        leave(lock_until(lock, OpKind::WriteLock, clock, until, caller))
    }
}

unsafe extern "C-unwind" fn do_unlock(lock: *mut pthread_rwlock_t) -> c_int {
    let caller = caller();
    // SAFETY: the program's promises are passed on.
    unsafe {
        if !enter() {
            return real::pthread_rwlock_unlock(lock);
        }
        leave(perform(lock, OpKind::RwUnlock, None, caller))
    }
}
