//! Spin locks: to the machine a mutex, so that nobody spins.

use std::ffi::c_int;

use libc::pthread_spinlock_t;
use raddle_machine::{MutexKind, ObjectState};
use raddle_model::{Op, OpKind};
use raddle_trace::ObjectClass;

use crate::{
    base::real,
    control::Inside,
    hooks::{destroyed, hooks, make, mutex::errno_of},
    outside::forks,
    record::stack::Caller,
    schedule::step::step,
};

hooks! { |inside, caller|
    fn pthread_spin_init(lock: *mut pthread_spinlock_t, shared: c_int) -> c_int, else forks::forget(lock as usize)
        => make(inside, real::pthread_spin_init(lock, shared), lock as usize, ObjectClass::Spin, free_lock);
    fn pthread_spin_destroy(lock: *mut pthread_spinlock_t) -> c_int => {
        let result = perform(inside, lock, OpKind::Destroy, caller);
        destroyed::mark(lock as usize);
        result
    };
    fn pthread_spin_lock(lock: *mut pthread_spinlock_t) -> c_int, else forks::meets(lock as usize)
        => perform(inside, lock, OpKind::Lock, caller);
    fn pthread_spin_trylock(lock: *mut pthread_spinlock_t) -> c_int => perform(inside, lock, OpKind::TryLock, caller);
    fn pthread_spin_unlock(lock: *mut pthread_spinlock_t) -> c_int => perform(inside, lock, OpKind::Unlock, caller);
}

fn free_lock() -> ObjectState {
    ObjectState::mutex(MutexKind::Normal, false)
}

/// Any op on a lock, inside a hook.
unsafe fn perform(
    inside: &mut Inside,
    lock: *mut pthread_spinlock_t,
    kind: OpKind,
    caller: Caller,
) -> c_int {
    // SAFETY: the program promises a spin lock; the borrows end before the step.
    unsafe {
        destroyed::check(inside, lock as usize, caller);
        let object = inside.sync_object(lock as usize, ObjectClass::Spin, free_lock);
        let site = inside.site(caller);
        inside.this().spin.reset();
        let performed = step(inside, Op::on(kind, object, site));
        destroyed::check_freed(inside, lock as usize, object, site);
        errno_of(performed.result)
    }
}
