//! Once blocks: `pthread_once`, and the guards of C++ function-local statics.
//!
//! A block that is done is told by the program's memory alone, as the C library does it. That a thread finds it done
//! is a step the first time, for the thread might have come earlier and run the block itself; later, nothing can
//! change it any more.

use std::{
    ffi::c_int,
    sync::atomic::{AtomicI32, AtomicU8, Ordering::SeqCst},
};

use libc::pthread_once_t;
use raddle_machine::ObjectState;
use raddle_model::{ObjectId, Op, OpKind, OpResult, SiteId};
use raddle_trace::ObjectClass;

use crate::{
    abi::glibc::{ONCE_DONE, ONCE_FRESH},
    base::real::{self, Thunk},
    control::{Inside, enter, outside},
    hooks::{caller, export, hooks},
    record::stack::Caller,
    schedule::{signals::leave, step::step, threads::IMPLIED},
};

/// Compilers load a guard's first byte themselves, which makes that a variable: the object stands in
/// the guard's second half.
const GUARD_OBJECT_OFFSET: usize = 4;

hooks! { |inside, caller|
    fn pthread_once(word: *mut pthread_once_t, routine: Thunk) -> c_int => {
        run(inside, word, routine, caller);
        0
    };
    fn __cxa_guard_release(guard: *mut u64) => {
        guard_step(inside, guard, OpKind::OnceDone, caller);
        guard_byte(guard).store(1, SeqCst);
        // Compilers look at the byte before they call us again.
        if let Some(object) = inside.known_variable(guard as usize) {
            inside.release(object);
        }
    };
    fn __cxa_guard_abort(guard: *mut u64) => { guard_step(inside, guard, OpKind::OnceAbort, caller); };
}

export! {
    __cxa_guard_acquire => do_guard_acquire;
}

/// The block that this thread runs. However it is left, others are told: an exception, or the end of
/// the thread, lets another one try.
struct Running {
    word: *mut pthread_once_t,
    object: ObjectId,
    site: SiteId,
    is_done: bool,
}

impl Drop for Running {
    fn drop(&mut self) {
        let (kind, value) = if self.is_done {
            (OpKind::OnceDone, ONCE_DONE)
        } else {
            (OpKind::OnceAbort, ONCE_FRESH)
        };
        // SAFETY: the thread that runs is in its own hook, or an exception of its passes by, outside
        // every hook. The borrows end before the step.
        unsafe {
            let mut inside = Inside::assume();
            inside.is_inside = true;
            step(&mut inside, Op::on(kind, self.object, self.site));
            AtomicI32::from_ptr(self.word).store(value, SeqCst);
            inside.is_inside = self.is_done;
        }
    }
}

/// Runs the block unless it was run, inside a hook.
///
/// The frame has something to drop: exceptions of the program pass through it, which `C-unwind` and
/// Rust's own calling convention allow, and the drop is what the C library's cleanup handler is there.
pub(crate) unsafe fn run(
    inside: &mut Inside,
    word: *mut pthread_once_t,
    routine: Thunk,
    caller: Caller,
) {
    // SAFETY: the program promises a once word; the borrows end before each step.
    unsafe {
        if AtomicI32::from_ptr(word).load(SeqCst) == ONCE_DONE {
            return find_done(inside, word as usize, caller);
        }
        let object = object_of(inside, word as usize);
        let site = inside.site(caller);
        inside.this().spin.reset();
        if step(inside, Op::on(OpKind::OnceEnter, object, site)).result == OpResult::Chosen {
            let mut running = Running { word, object, site, is_done: false };
            outside(inside, || routine());
            running.is_done = true;
        }
    }
}

/// A thread comes to a block that is done.
unsafe fn find_done(inside: &mut Inside, address: usize, caller: Caller) {
    let Some(object) = inside.known_sync_object(address, ObjectClass::Once) else {
        return;
    };
    inside.acquire(object);
    let visit = (object, inside.me);
    if !inside.scheduler.known_done.contains(&visit) {
        inside.scheduler.known_done.push(visit);
        inside.this().spin.reset();
        let site = inside.site(caller);
        step(inside, Op::on(OpKind::OnceEnter, object, site));
    }
}

/// The number of a block that the program's memory says is not done.
unsafe fn object_of(inside: &mut Inside, address: usize) -> ObjectId {
    let object = inside.sync_object(address, ObjectClass::Once, ObjectState::once);
    if !inside.scheduler.machine.is_once_done(object) {
        return object;
    }
    // The memory is used again, for another block.
    inside.make_sync_object(address, ObjectClass::Once, ObjectState::once())
}

/// A guard's first byte: is its static initialised?
unsafe fn guard_byte<'a>(guard: *mut u64) -> &'a AtomicU8 {
    // SAFETY: the compiler passes a guard.
    unsafe { AtomicU8::from_ptr(guard.cast()) }
}

/// A step on a guard, inside a hook.
unsafe fn guard_step(
    inside: &mut Inside,
    guard: *mut u64,
    kind: OpKind,
    caller: Caller,
) -> OpResult {
    // SAFETY: the compiler passes a guard; the borrows end before the step.
    unsafe {
        let object = object_of(inside, guard as usize + GUARD_OBJECT_OFFSET);
        let site = inside.site(caller);
        inside.this().spin.reset();
        step(inside, Op { flags: IMPLIED, ..Op::on(kind, object, site) }).result
    }
}

unsafe extern "C-unwind" fn do_guard_acquire(guard: *mut u64) -> c_int {
    let caller = caller();
    // SAFETY: the compiler's promises are passed on.
    unsafe {
        if guard_byte(guard).load(SeqCst) != 0 {
            return 0;
        }
        let Some(mut inside) = enter() else {
            return real::__cxa_guard_acquire(guard);
        };
        let result = guard_step(&mut inside, guard, OpKind::OnceEnter, caller);
        leave(c_int::from(result == OpResult::Chosen), inside)
    }
}
