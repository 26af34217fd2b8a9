//! The locks of streams, where the program takes them itself.
//!
//! What it misses: `printf` and its like take the stream's lock inside the C library, where nobody
//! else runs meanwhile, and so do not wait for a thread that holds it by `flockfile`.

use std::ffi::{c_int, c_void};

use raddle_machine::{MutexKind, ObjectState};
use raddle_model::{Op, OpKind};
use raddle_trace::ObjectClass;

use crate::{
    control::{Caller, control, enter, leave},
    hooks::{caller, export, mutex::errno_of},
    real,
    step::step,
};

export! {
    flockfile => do_lock;
    ftrylockfile => do_trylock;
    funlockfile => do_unlock;
}

unsafe fn perform(stream: *mut c_void, kind: OpKind, caller: Caller) -> c_int {
    // SAFETY: the program promises a stream; the borrows end before the step.
    unsafe {
        let state = || ObjectState::mutex(MutexKind::Recursive, false);
        let object = (*control()).sync_object(stream as usize, ObjectClass::Mutex, state);
        let site = (*control()).site(caller);
        errno_of(step(Op::on(kind, object, site)).result)
    }
}

unsafe extern "C-unwind" fn do_lock(stream: *mut c_void) {
    let caller = caller();
    // SAFETY: the program's promises are passed on.
    unsafe {
        if !enter() {
            return real::flockfile(stream);
        }
        perform(stream, OpKind::Lock, caller);
    }
    leave(());
}

unsafe extern "C-unwind" fn do_trylock(stream: *mut c_void) -> c_int {
    let caller = caller();
    // SAFETY: the program's promises are passed on.
    unsafe {
        if !enter() {
            return real::ftrylockfile(stream);
        }
        leave(perform(stream, OpKind::TryLock, caller))
    }
}

unsafe extern "C-unwind" fn do_unlock(stream: *mut c_void) {
    let caller = caller();
    // SAFETY: the program's promises are passed on.
    unsafe {
        if !enter() {
            return real::funlockfile(stream);
        }
        perform(stream, OpKind::Unlock, caller);
    }
    leave(());
}
