//! How a thread ends itself, or is ended: its stack is unwound, as glibc does.
//!
//! A thread never ends for the C library, so we unwind its stack ourselves: forced unwinding runs C++ destructors on the
//! way; where a C function has pushed a clean-up handler, we jump into it, and it comes back with `__pthread_unwind_next`.

use std::ffi::{c_int, c_void};

use raddle_machine::Status;
use raddle_model::{End, ObjectId, OpKind, SiteId, ThreadId};

use crate::{
    abi::glibc::jump_sp,
    base::real,
    control::{Control, Inside, control},
    schedule::{signals::is_cancellation_point, threads},
    state::thread::ThreadRt,
    tell::end,
};

/// What `pthread_join` gives for a cancelled thread (`PTHREAD_CANCELED`).
const CANCELED: *mut c_void = -1_isize as *mut c_void;

const URC_NO_REASON: c_int = 0;
const URC_NORMAL_STOP: c_int = 4;
const UA_END_OF_STACK: c_int = 16;

/// `struct _Unwind_Exception`.
#[repr(C, align(16))]
pub(crate) struct Exception {
    class: u64,
    cleanup: extern "C-unwind" fn(c_int, *mut Exception),
    private: [usize; 2],
}

pub(crate) type Stop = unsafe extern "C-unwind" fn(
    c_int,
    c_int,
    u64,
    *mut Exception,
    *mut c_void,
    *mut c_void,
) -> c_int;

unsafe extern "C-unwind" {
    fn _Unwind_ForcedUnwind(exception: *mut Exception, stop: Stop, arg: *mut c_void) -> c_int;
    fn _Unwind_GetCFA(context: *mut c_void) -> usize;
    fn _Unwind_Backtrace(
        trace: unsafe extern "C-unwind" fn(*mut c_void, *mut c_void) -> c_int,
        arg: *mut c_void,
    ) -> c_int;
}

/// Has the unwinder set itself up, before any execution: it does so in a once block at its first use,
/// which would be a step.
pub(crate) fn warm_up_unwinder() {
    unsafe extern "C-unwind" fn stop_at_once(_context: *mut c_void, _arg: *mut c_void) -> c_int {
        URC_NORMAL_STOP
    }
    // SAFETY: looks at our own frames, and stops at the first.
    unsafe { _Unwind_Backtrace(stop_at_once, std::ptr::null_mut()) };
}

/// Ends the thread that runs, from inside a hook: unwinds its stack, and then as if its first function
/// had returned.
pub(crate) fn exit_thread(inside: &mut Inside, result: *mut c_void) -> ! {
    inside.this().result = result;
    inside.this().is_unwinding = true;
    inside.look_for_pending();
    unwind()
}

/// Unwinds on. Frames of ours that are passed have nothing to drop.
pub(crate) fn unwind() -> ! {
    // SAFETY: the exception lives for ever; `stop` keeps to the unwinder's interface.
    unsafe {
        let exception =
            Box::leak(Box::new(Exception { class: 0, cleanup: not_rethrown, private: [0; 2] }));
        _Unwind_ForcedUnwind(exception, stop, std::ptr::null_mut());
        finish_unwound()
    }
}

/// `catch (...)` kept the exception for itself: glibc ends the program as well.
extern "C-unwind" fn not_rethrown(_reason: c_int, _exception: *mut Exception) {
    // SAFETY: the thread that runs is in the C++ runtime, outside every hook, and does not come back.
    let mut inside = unsafe { Inside::assume() };
    inside.is_inside = true;
    end::end(&mut inside, End::Abort, SiteId(0), b"FATAL: exception not rethrown");
}

/// Called by the unwinder before each frame that it leaves; `context` has the stack pointer of that
/// frame at its call. What the frame has to clean up runs outside the hook.
pub(crate) unsafe extern "C-unwind" fn stop(
    _version: c_int,
    actions: c_int,
    _class: u64,
    _exception: *mut Exception,
    context: *mut c_void,
    _arg: *mut c_void,
) -> c_int {
    // SAFETY: the unwinder passes its context; the thread that runs comes from the hook that it exits
    // from, or from clean-up code of its own; the buffers are those of frames that still exist.
    unsafe {
        let sp = _Unwind_GetCFA(context);
        let is_end = actions & UA_END_OF_STACK != 0;
        let control = control();
        (*control).is_inside = false;
        if let Some(buffer) = (*control).this().cleanups.last().copied()
            && (is_end || jump_sp(buffer) <= sp)
        {
            (*control).this().cleanups.pop();
            (*control).hot.stack.drop_dead(jump_sp(buffer));
            real::longjmp(buffer, 1);
        }
        if is_end || (*control).this().stack_base <= sp {
            finish_unwound();
        }
        URC_NO_REASON
    }
}

unsafe fn finish_unwound() -> ! {
    // SAFETY: the thread that runs has left all frames of the program.
    let mut inside = unsafe { Inside::assume() };
    inside.is_inside = true;
    let result = inside.this().result;
    threads::finish(inside, result)
}

impl ThreadRt {
    /// Has it been cancelled, and would act on it at a cancellation point?
    pub(crate) fn must_cancel(&self) -> bool {
        self.is_cancelled && !self.is_cancel_off && !self.is_unwinding
    }
}

/// Must the thread that runs act on a cancellation?
pub(crate) fn is_cancel_due(inside: &mut Inside) -> bool {
    inside.this().must_cancel()
}

/// A cancellation point, inside a hook.
pub(crate) fn test_cancel(inside: &mut Inside) {
    if is_cancel_due(inside) {
        exit_thread(inside, CANCELED);
    }
}

impl Control {
    /// Marks a thread as cancelled, and interrupts it where it would act on it.
    pub(crate) fn cancel(&mut self, target: ThreadId) {
        if self.scheduler.machine.status(target) == Status::Finished {
            return;
        }
        let thread = &mut self.scheduler.threads[target.idx()];
        thread.is_cancelled = true;
        if !thread.must_cancel() {
            return;
        }
        let is_async = thread.is_cancel_async;
        self.process.signals.is_any_pending = true;
        if !self.scheduler.machine.is_blocked(target) {
            return;
        }
        let op = *self.scheduler.machine.pending(target);
        if op.kind == OpKind::CondWake {
            self.cancel_wait(target, op.object);
        } else if is_async || is_cancellation_point(&op) {
            self.scheduler.machine.interrupt(target);
        }
    }

    /// Ends a thread's wait on a condition variable: it acts on its cancellation when it has the mutex
    /// again. One that was woken before does not, so that no signal is lost.
    pub(crate) fn cancel_wait(&mut self, thread: ThreadId, cond: ObjectId) {
        if self.scheduler.machine.cancel_wait(thread, cond) {
            self.scheduler.threads[thread.idx()].is_wait_cancelled = true;
        }
    }
}
