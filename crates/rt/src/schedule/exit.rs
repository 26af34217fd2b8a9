//! The end of a thread and of the process, as the program asks for it: destructors run, scheduled as all else.

use std::{
    ffi::{c_int, c_void},
    ptr,
};

use raddle_model::{ObjectId, Op, OpKind, SiteId, ThreadId};

use crate::{
    base::real::{self, Destructor},
    control::{Inside, outside},
    schedule::{signals::leave, step::step},
    state::keys::Key,
};

/// `PTHREAD_DESTRUCTOR_ITERATIONS`.
const ROUNDS_MAX: usize = 4;

/// Exits from inside a hook: the handlers of the program run, scheduled as all else. `site`: where that was
/// asked for; 0 if nobody did, but `main` came to its end.
pub(crate) fn exit_process(mut inside: Inside, code: c_int, site: SiteId) -> ! {
    // SAFETY: the thread that runs is inside a hook; the borrows end before each step.
    unsafe {
        begin_exit(&mut inside, code, site);
        let me = inside.me;
        run_cxx_destructors(&mut inside, me);
        leave((), inside);
        real::exit(code)
    }
}

pub(crate) unsafe fn begin_exit(inside: &mut Inside, code: c_int, site: SiteId) {
    let at = if site == SiteId(0) { inside.lone_look() } else { site };
    step(inside, Op::on(OpKind::Exit, ObjectId::NONE, at).arg(code as u64));
    inside.process.exit = Some((code, site));
}

/// Runs the destructors of a thread that ends: C++ thread-locals, then keys, as the C library does.
pub(crate) unsafe fn run_thread_destructors(inside: &mut Inside, me: ThreadId) {
    // SAFETY: the thread that runs is inside a hook; no borrow lives while its destructors run.
    unsafe {
        run_cxx_destructors(inside, me);
        for _ in 0..ROUNDS_MAX {
            if !run_key_destructors(inside, me) {
                return;
            }
        }
    }
}

/// Runs the destructors of C++ thread-locals, the last one registered first.
unsafe fn run_cxx_destructors(inside: &mut Inside, me: ThreadId) {
    // SAFETY: as above.
    unsafe {
        while let Some((destructor, object)) = inside.scheduler.threads[me.idx()].destructors.pop()
        {
            destroy(inside, destructor, object);
        }
    }
}

/// Runs a destructor. What one of a library does to tell others has no hooks (a promise that is kept at the
/// thread's end).
pub(crate) unsafe fn destroy(inside: &mut Inside, destructor: Destructor, object: *mut c_void) {
    // SAFETY: the thread that runs is inside a hook; no borrow lives while its destructors run.
    unsafe {
        let is_foreign = inside.is_system_code(destructor as usize);
        if is_foreign {
            inside.release_to_all();
        }
        outside(inside, || destructor(object));
        if is_foreign {
            inside.release_to_all();
        }
    }
}

unsafe fn run_key_destructors(inside: &mut Inside, me: ThreadId) -> bool {
    let mut has_run = false;
    // SAFETY: as above.
    unsafe {
        for idx in 0..inside.scheduler.threads[me.idx()].values.len() {
            let values = &mut inside.scheduler.threads[me.idx()].values;
            let value = std::mem::replace(&mut values[idx], ptr::null_mut());
            let key = inside.process.keys.get(idx).copied().filter(|it| it.is_used);
            if let Some(Key { destructor: Some(destructor), .. }) = key
                && !value.is_null()
            {
                has_run = true;
                destroy(inside, destructor, value);
            }
        }
    }
    has_run
}
