//! TSan's interface for virtual machines of Java (`tsan_interface_java.h`), which C programs with heaps and locks of their
//! own may call, too.
//!
//! Objects that are allocated, freed or moved are fresh memory, in which nothing was accessed before. Locks order as they
//! do where they are annotated otherwise; how often a lock was taken is not counted. Nothing is known of where a heap's
//! objects are, so none is found.

use std::ffi::c_int;

use super::annotations::{Edge, order, renew};
use crate::{control::enter, hooks::export, schedule::signals::leave};

export! {
    __tsan_java_init => do_nothing;
    __tsan_java_fini => do_fini;
    __tsan_java_alloc => do_fresh;
    __tsan_java_free => do_fresh;
    __tsan_java_move => do_move;
    __tsan_java_finalize => do_finalize;
    __tsan_java_find => do_find;
    __tsan_java_mutex_lock => do_lock;
    __tsan_java_mutex_unlock => do_unlock;
    __tsan_java_mutex_read_lock => do_read_lock;
    __tsan_java_mutex_read_unlock => do_read_unlock;
    __tsan_java_mutex_lock_rec => do_lock;
    __tsan_java_mutex_unlock_rec => do_unlock_all;
    __tsan_java_acquire => do_acquire;
    __tsan_java_release => do_unlock;
    __tsan_java_release_store => do_unlock;
}

extern "C" fn do_nothing() {}

/// The exit code that TSan wants; races are told elsewhere.
extern "C" fn do_fini() -> c_int {
    0
}

extern "C" fn do_fresh(address: usize, size: usize) {
    renew(address, size);
}

extern "C" fn do_move(from: usize, to: usize, size: usize) {
    renew(from, size);
    renew(to, size);
}

/// Finalizers come after all that was done to what they finalize.
extern "C" fn do_finalize() {
    if let Some(mut inside) = enter() {
        inside.know_all();
        leave((), inside);
    }
}

extern "C" fn do_find(_from: *mut usize, _to: usize) -> usize {
    0
}

extern "C" fn do_lock(lock: usize) {
    order(lock, Edge::AcquireAlone);
}

extern "C" fn do_unlock(lock: usize) {
    order(lock, Edge::Release);
}

extern "C" fn do_read_lock(lock: usize) {
    order(lock, Edge::Acquire);
}

extern "C" fn do_read_unlock(lock: usize) {
    order(lock, Edge::ReleaseShared);
}

/// How often it was taken: the caller takes it as often again.
extern "C" fn do_unlock_all(lock: usize) -> c_int {
    order(lock, Edge::Release);
    1
}

extern "C" fn do_acquire(address: usize) {
    order(address, Edge::Acquire);
}
