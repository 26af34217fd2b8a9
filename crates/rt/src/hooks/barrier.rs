//! Barriers.

use std::ffi::{c_int, c_uint};

use libc::{pthread_barrier_t, pthread_barrierattr_t};
use raddle_machine::ObjectState;
use raddle_model::{ObjectId, Op, OpKind, OpResult};
use raddle_trace::ObjectClass;

use crate::{
    abi::glibc::{LAYOUT, word_at},
    base::real,
    control::Inside,
    hooks::{destroyed, hooks, make},
    record::stack::Caller,
    schedule::step::step,
};

hooks! { |inside, caller|
    fn pthread_barrier_init(
        barrier: *mut pthread_barrier_t, attr: *const pthread_barrierattr_t, count: c_uint
    ) -> c_int => {
        let result = real::pthread_barrier_init(barrier, attr, count);
        make(inside, result, barrier as usize, ObjectClass::Barrier, || ObjectState::barrier(count))
    };
    fn pthread_barrier_destroy(barrier: *mut pthread_barrier_t) -> c_int => {
        let object = object_of(inside, barrier, caller);
        let site = inside.site(caller);
        step(inside, Op::on(OpKind::Destroy, object, site));
        destroyed::mark(barrier as usize);
        0
    };
    fn pthread_barrier_wait(barrier: *mut pthread_barrier_t) -> c_int => wait(inside, barrier, caller);
}

unsafe fn object_of(
    inside: &mut Inside,
    barrier: *mut pthread_barrier_t,
    caller: Caller,
) -> ObjectId {
    // SAFETY: the program promises a barrier; the count lies within it.
    unsafe {
        destroyed::check(inside, barrier as usize, caller);
        let count = *word_at::<u32>(barrier.cast(), LAYOUT.barrier_count);
        let state = || ObjectState::barrier(count);
        inside.sync_object(barrier as usize, ObjectClass::Barrier, state)
    }
}

/// Waits until all have arrived, inside a hook.
unsafe fn wait(inside: &mut Inside, barrier: *mut pthread_barrier_t, caller: Caller) -> c_int {
    // SAFETY: the program promises a barrier; the borrows end before each step.
    unsafe {
        let object = object_of(inside, barrier, caller);
        let site = inside.site(caller);
        inside.this().spin.reset();
        let arrived = step(inside, Op::on(OpKind::BarrierArrive, object, site));
        destroyed::check_freed(inside, barrier as usize, object, site);
        if arrived.result == OpResult::Chosen {
            return libc::PTHREAD_BARRIER_SERIAL_THREAD;
        }
        step(inside, Op::on(OpKind::BarrierLeave, object, site));
        0
    }
}
