//! Spin locks: to the machine a mutex, so that nobody spins.

use std::ffi::c_int;

use libc::pthread_spinlock_t;
use raddle_machine::{MutexKind, ObjectState};
use raddle_model::{Op, OpKind};
use raddle_trace::ObjectClass;

use crate::{
    control::{Caller, control, enter, leave},
    forks,
    hooks::{caller, destroyed, export, mutex::errno_of},
    real,
    step::step,
};

export! {
    pthread_spin_init => do_init;
    pthread_spin_destroy => do_destroy;
    pthread_spin_lock => do_lock;
    pthread_spin_trylock => do_trylock;
    pthread_spin_unlock => do_unlock;
}

fn free_lock() -> ObjectState {
    ObjectState::mutex(MutexKind::Normal, false)
}

/// Any op on a lock, inside a hook.
unsafe fn perform(lock: *mut pthread_spinlock_t, kind: OpKind, caller: Caller) -> c_int {
    // SAFETY: the program promises a spin lock; the borrows end before the step.
    unsafe {
        destroyed::check(lock as usize, caller);
        let object = (*control()).sync_object(lock as usize, ObjectClass::Spin, free_lock);
        let site = (*control()).site(caller);
        (*control()).this().spin.reset();
        let performed = step(Op::on(kind, object, site));
        destroyed::check_freed(lock as usize, object, site);
        errno_of(performed.result)
    }
}

unsafe extern "C-unwind" fn do_init(lock: *mut pthread_spinlock_t, shared: c_int) -> c_int {
    // SAFETY: the program's promises are passed on; the real function only fills the memory in.
    unsafe {
        forks::forget(lock as usize);
        let result = real::pthread_spin_init(lock, shared);
        if result != 0 || !enter() {
            return result;
        }
        (*control()).make_sync_object(lock as usize, ObjectClass::Spin, free_lock());
        leave(result)
    }
}

unsafe extern "C-unwind" fn do_destroy(lock: *mut pthread_spinlock_t) -> c_int {
    let caller = caller();
    // SAFETY: the program's promises are passed on.
    unsafe {
        if !enter() {
            return real::pthread_spin_destroy(lock);
        }
        let result = perform(lock, OpKind::Destroy, caller);
        destroyed::mark(lock as usize);
        leave(result)
    }
}

unsafe extern "C-unwind" fn do_lock(lock: *mut pthread_spinlock_t) -> c_int {
    let caller = caller();
    // SAFETY: the program's promises are passed on.
    unsafe {
        if !enter() {
            forks::meets(lock as usize);
            return real::pthread_spin_lock(lock);
        }
        leave(perform(lock, OpKind::Lock, caller))
    }
}

unsafe extern "C-unwind" fn do_trylock(lock: *mut pthread_spinlock_t) -> c_int {
    let caller = caller();
    // SAFETY: the program's promises are passed on.
    unsafe {
        if !enter() {
            return real::pthread_spin_trylock(lock);
        }
        leave(perform(lock, OpKind::TryLock, caller))
    }
}

unsafe extern "C-unwind" fn do_unlock(lock: *mut pthread_spinlock_t) -> c_int {
    let caller = caller();
    // SAFETY: the program's promises are passed on.
    unsafe {
        if !enter() {
            return real::pthread_spin_unlock(lock);
        }
        leave(perform(lock, OpKind::Unlock, caller))
    }
}
