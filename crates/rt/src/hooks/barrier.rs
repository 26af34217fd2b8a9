//! Barriers.

use std::ffi::{c_int, c_uint};

use libc::{pthread_barrier_t, pthread_barrierattr_t};
use raddle_machine::ObjectState;
use raddle_model::{ObjectId, Op, OpKind, OpResult};
use raddle_trace::ObjectClass;

use crate::{
    control::{Caller, control, enter, leave},
    hooks::{caller, destroyed, export},
    real,
    step::step,
};

/// Where glibc keeps how many threads a barrier is for.
const COUNT_OFFSET: usize = 8;

export! {
    pthread_barrier_init => do_init;
    pthread_barrier_destroy => do_destroy;
    pthread_barrier_wait => do_wait;
}

unsafe fn object_of(barrier: *mut pthread_barrier_t, caller: Caller) -> ObjectId {
    // SAFETY: the program promises a barrier; the count lies within it.
    unsafe {
        destroyed::check(barrier as usize, caller);
        let count = *barrier.cast::<u8>().add(COUNT_OFFSET).cast::<u32>();
        let state = || ObjectState::barrier(count);
        (*control()).sync_object(barrier as usize, ObjectClass::Barrier, state)
    }
}

/// Waits until all have arrived, inside a hook.
unsafe fn wait(barrier: *mut pthread_barrier_t, caller: Caller) -> c_int {
    // SAFETY: the program promises a barrier; the borrows end before each step.
    unsafe {
        let object = object_of(barrier, caller);
        let site = (*control()).site(caller);
        (*control()).this().spin.reset();
        let arrived = step(Op::on(OpKind::BarrierArrive, object, site));
        destroyed::check_freed(barrier as usize, object, site);
        if arrived.result == OpResult::Chosen {
            return libc::PTHREAD_BARRIER_SERIAL_THREAD;
        }
        step(Op::on(OpKind::BarrierLeave, object, site));
        0
    }
}

unsafe extern "C-unwind" fn do_init(
    barrier: *mut pthread_barrier_t,
    attr: *const pthread_barrierattr_t,
    count: c_uint,
) -> c_int {
    // SAFETY: the program's promises are passed on; the real function only fills the memory in.
    unsafe {
        let result = real::pthread_barrier_init(barrier, attr, count);
        if result != 0 || !enter() {
            return result;
        }
        let state = ObjectState::barrier(count);
        (*control()).make_sync_object(barrier as usize, ObjectClass::Barrier, state);
        leave(result)
    }
}

unsafe extern "C-unwind" fn do_destroy(barrier: *mut pthread_barrier_t) -> c_int {
    let caller = caller();
    // SAFETY: the program's promises are passed on.
    unsafe {
        if !enter() {
            return real::pthread_barrier_destroy(barrier);
        }
        let object = object_of(barrier, caller);
        let site = (*control()).site(caller);
        step(Op::on(OpKind::Destroy, object, site));
        destroyed::mark(barrier as usize);
        leave(0)
    }
}

unsafe extern "C-unwind" fn do_wait(barrier: *mut pthread_barrier_t) -> c_int {
    let caller = caller();
    // SAFETY: the program's promises are passed on.
    unsafe {
        if !enter() {
            return real::pthread_barrier_wait(barrier);
        }
        leave(wait(barrier, caller))
    }
}
