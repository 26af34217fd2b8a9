//! How a thread ends itself, or is ended: `pthread_exit`, cancellation, clean-up handlers.
//!
//! A thread never ends for the C library, so we unwind its stack ourselves, as glibc does: forced
//! unwinding runs C++ destructors on the way; where a C function has pushed a clean-up handler, we
//! jump into it, and it comes back with `__pthread_unwind_next`.
//!
//! What it misses: handlers of the interface before 2003 (`_pthread_cleanup_push`).

use std::ffi::{c_int, c_void};

use libc::pthread_t;
use raddle_model::{Op, OpKind};

use crate::{
    abi::glibc::jump_sp,
    base::real,
    control::{enter, is_active},
    hooks::{export, hooks},
    schedule::{
        cancel::{exit_thread, test_cancel, unwind},
        step::step,
    },
};

const PTHREAD_CANCEL_ENABLE: c_int = 0;
const PTHREAD_CANCEL_DISABLE: c_int = 1;
const PTHREAD_CANCEL_DEFERRED: c_int = 0;
const PTHREAD_CANCEL_ASYNCHRONOUS: c_int = 1;

hooks! { |inside, caller|
    fn pthread_cancel(thread: pthread_t) -> c_int => {
        let site = inside.site(caller);
        let Some(target) = inside.thread_of(thread as usize) else { return libc::ESRCH };
        let object = inside.scheduler.threads[target.idx()].object;
        step(inside, Op::on(OpKind::Cancel, object, site).arg(u64::from(target.0)));
        inside.cancel(target);
        0
    };
    fn pthread_testcancel() => {
        if !inside.this().is_cancel_off && inside.scheduler.machine.n_live() > 1 {
            let site = inside.site(caller);
            let object = inside.this().object;
            step(inside, Op::on(OpKind::Handle, object, site));
        }
        test_cancel(inside);
    };
    fn pthread_setcancelstate(state: c_int, old: *mut c_int) -> c_int => {
        if state != PTHREAD_CANCEL_ENABLE && state != PTHREAD_CANCEL_DISABLE {
            return libc::EINVAL;
        }
        let this = inside.this();
        let was_off = std::mem::replace(&mut this.is_cancel_off, state == PTHREAD_CANCEL_DISABLE);
        if !old.is_null() {
            *old = c_int::from(was_off);
        }
        inside.look_for_pending();
        0
    };
    fn pthread_setcanceltype(kind: c_int, old: *mut c_int) -> c_int => {
        if kind != PTHREAD_CANCEL_DEFERRED && kind != PTHREAD_CANCEL_ASYNCHRONOUS {
            return libc::EINVAL;
        }
        let this = inside.this();
        let is_async = kind == PTHREAD_CANCEL_ASYNCHRONOUS;
        let was_async = std::mem::replace(&mut this.is_cancel_async, is_async);
        if !old.is_null() {
            *old = c_int::from(was_async);
        }
        0
    };
    fn __pthread_register_cancel | __pthread_register_cancel_defer(buffer: *mut c_void) => {
        let sp = jump_sp(buffer);
        let cleanups = &mut inside.this().cleanups;
        while let Some(last) = cleanups.last().copied()
            && jump_sp(last) < sp
        {
            cleanups.pop();
        }
        cleanups.push(buffer);
    };
    fn __pthread_unregister_cancel | __pthread_unregister_cancel_restore(buffer: *mut c_void) => {
        let cleanups = &mut inside.this().cleanups;
        if let Some(idx) = cleanups.iter().rposition(|it| *it == buffer) {
            cleanups.truncate(idx);
        }
    };
}

export! {
    pthread_exit => do_exit;
    __pthread_unwind_next => do_unwind_next;
    longjmp => do_longjmp;
    _longjmp => do_longjmp;
    siglongjmp => do_longjmp;
    __longjmp_chk => do_longjmp;
}

unsafe extern "C-unwind" fn do_exit(result: *mut c_void) -> ! {
    // SAFETY: the program's promises are passed on.
    unsafe {
        let Some(mut inside) = enter() else {
            real::pthread_exit(result);
        };
        exit_thread(&mut inside, result)
    }
}

unsafe extern "C-unwind" fn do_unwind_next(buffer: *mut c_void) -> ! {
    // SAFETY: the compiled program calls this at the end of a handler that `stop` jumped into.
    unsafe {
        let Some(_inside) = enter() else {
            real::__pthread_unwind_next(buffer);
        };
        unwind()
    }
}

/// A jump out of handlers and functions: what they left behind is dropped.
unsafe extern "C-unwind" fn do_longjmp(buffer: *mut c_void, value: c_int) -> ! {
    // SAFETY: the program's promises are passed on; nothing here switches.
    unsafe {
        if is_active()
            && let Some(mut inside) = enter()
        {
            let sp = jump_sp(buffer);
            inside.drop_handlers_below(sp);
            inside.end_apart(Some(sp));
            inside.hot.stack.drop_dead(sp);
            while let Some(last) = inside.this().cleanups.last().copied()
                && jump_sp(last) < sp
            {
                inside.this().cleanups.pop();
            }
            inside.is_inside = false;
        }
        real::longjmp(buffer, value)
    }
}
