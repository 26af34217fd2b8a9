//! What is known about a thread, beside what the machine knows.

use std::{cell::UnsafeCell, ffi::c_void, ptr, sync::atomic::AtomicU32};

use raddle_fiber::Fiber;
use raddle_model::ObjectId;

use crate::{
    base::{
        apart::apart,
        real::{Destructor, Start},
    },
    record::{stack::ShadowStack, stacks::StackId},
    state::{
        signals::Sent,
        waiting::{Rounds, Spin},
    },
};

/// What the runtime knows about a thread, beside what the machine knows.
///
/// What a switch touches comes first: one cache line, also among a thousand threads.
#[repr(C, align(64))]
pub(crate) struct ThreadRt {
    /// Where it stopped.
    pub(crate) fiber: UnsafeCell<Fiber>,
    /// Its thread pointer: its `pthread_t`.
    pub(crate) fs: usize,
    /// Its shadow stack, while it does not run.
    pub(crate) stack: std::cell::Cell<ShadowStack>,
    /// The object that others join.
    pub(crate) object: ObjectId,
    pub(crate) start: Option<Start>,
    pub(crate) arg: *mut c_void,
    /// What `join` gives.
    pub(crate) result: *mut c_void,
    /// Its stack's lowest and highest address, and the address that its variables are named from.
    pub(crate) stack_bottom: usize,
    pub(crate) stack_top: usize,
    pub(crate) stack_base: usize,
    /// What the program calls it; empty if it does not.
    pub(crate) name: [u8; 16],
    /// What its creator was called then.
    pub(crate) inherited: [u8; 16],
    /// The calls that created it.
    pub(crate) creation: StackId,
    pub(crate) spin: Spin,
    pub(crate) rounds: Rounds,
    /// Where it stands in the program's code, while that is asked for.
    pub(crate) place: Option<Place>,
    /// Thread-specific values, by key.
    pub(crate) values: Vec<*mut c_void>,
    /// Destructors of C++ thread-locals, in order of registration.
    pub(crate) destructors: Vec<(Destructor, *mut c_void)>,
    /// Handlers of `pthread_cleanup_push`, innermost last.
    pub(crate) cleanups: Vec<*mut c_void>,
    pub(crate) is_cancelled: bool,
    pub(crate) is_cancel_off: bool,
    /// Does it act on a cancellation anywhere?
    pub(crate) is_cancel_async: bool,
    /// Was its wait on a condition variable ended by a cancellation?
    pub(crate) is_wait_cancelled: bool,
    pub(crate) is_unwinding: bool,
    /// Signals sent to it and not yet handled.
    pub(crate) sent: Vec<Sent>,
    /// Signals that it blocks, and those that it waits for, as bit sets.
    pub(crate) mask: u64,
    pub(crate) waits_for: u64,
    /// How often its reads, and its writes, are to be ignored.
    pub(crate) ignored: [u32; 2],
    /// Where its own stack for handlers ends, if it has one, and how large that is.
    pub(crate) handler_stack: (usize, usize),
    /// Its shadow stacks below handlers of faults that run on a stack of their own.
    pub(crate) interrupted: Vec<ShadowStack>,
    /// Handlers that run in it: where on the stack, and the mask to restore.
    pub(crate) handlers: Vec<(usize, u64)>,
    /// Stands for the descriptors when it waits for any of several.
    pub(crate) poll_object: ObjectId,
    /// Kernel threads: 1 when it may run.
    pub(crate) turn: AtomicU32,
    /// Where its fiber begins, if another thread may use it when this one is over; else 0.
    pub(crate) top: usize,
    /// Is its stack one of ours?
    pub(crate) is_on_ours: bool,
}

impl ThreadRt {
    pub(crate) fn new(fiber: Fiber, fs: usize, object: ObjectId) -> ThreadRt {
        ThreadRt {
            fiber: UnsafeCell::new(fiber),
            fs,
            object,
            start: None,
            arg: ptr::null_mut(),
            result: ptr::null_mut(),
            stack: std::cell::Cell::new(ShadowStack::new()),
            stack_bottom: 0,
            stack_top: 0,
            stack_base: 0,
            name: [0; 16],
            inherited: [0; 16],
            creation: StackId::default(),
            spin: Spin::default(),
            rounds: Rounds::new(),
            place: None,
            values: Vec::new(),
            destructors: Vec::new(),
            cleanups: Vec::new(),
            is_cancelled: false,
            is_cancel_off: false,
            is_cancel_async: false,
            is_wait_cancelled: false,
            is_unwinding: false,
            sent: Vec::new(),
            mask: 0,
            waits_for: 0,
            ignored: [0; 2],
            handler_stack: (0, 0),
            interrupted: Vec::new(),
            handlers: Vec::new(),
            poll_object: ObjectId::NONE,
            turn: AtomicU32::new(0),
            top: 0,
            is_on_ours: false,
        }
    }

    /// What its stack has room for below an address, a page for functions that run meanwhile left out; none if the
    /// address is not on it.
    pub(crate) fn room_below(&self, sp: usize) -> usize {
        const PAGE: usize = 4096;
        let room = sp.saturating_sub(self.stack_bottom + PAGE);
        if sp <= self.stack_top { room } else { 0 }
    }

    /// Makes a thread of an execution that is over a new one, on the same stack.
    pub(crate) unsafe fn renew(&mut self, object: ObjectId, boot: extern "C-unwind" fn() -> !) {
        let mut stack = self.stack.get();
        stack.truncate(0);
        let (values, destructors) =
            (std::mem::take(&mut self.values), std::mem::take(&mut self.destructors));
        // SAFETY: the thread that was here is over: its stack is free.
        let fiber = unsafe { Fiber::begin(self.top, self.fs, boot as *const () as usize) };
        let fresh = ThreadRt {
            stack: std::cell::Cell::new(stack),
            stack_bottom: self.stack_bottom,
            stack_top: self.stack_top,
            top: self.top,
            is_on_ours: true,
            values,
            destructors,
            ..ThreadRt::new(fiber, self.fs, object)
        };
        *self = fresh;
        self.values.clear();
        self.destructors.clear();
        crate::base::locals::renew(self.fs);
    }

    /// The thread that runs now: `main`, at the start.
    pub(crate) fn main(object: ObjectId) -> ThreadRt {
        let fiber = Fiber::of_current_thread();
        let fs = fiber.thread_pointer();
        let mut thread = ThreadRt::new(fiber, fs, object);
        let (bottom, top) = stack_range(fs);
        (thread.stack_bottom, thread.stack_top, thread.stack_base) = (bottom, top, top);
        thread
    }
}

pub(crate) fn stack_range(pthread: usize) -> (usize, usize) {
    let (mut bottom, mut size) = (ptr::null_mut(), 0);
    // SAFETY: the thread exists; the attributes are initialised by the first call.
    unsafe {
        let mut attr = std::mem::zeroed();
        apart(|| {
            if libc::pthread_getattr_np(pthread as libc::pthread_t, &raw mut attr) == 0 {
                libc::pthread_attr_getstack(&raw const attr, &raw mut bottom, &raw mut size);
                libc::pthread_attr_destroy(&raw mut attr);
            }
        });
    }
    (bottom as usize, bottom as usize + size)
}

/// Where a thread stands in the program's code, as long as it is inside a hook.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Place {
    /// Its stack pointer, and the registers that survive calls.
    pub(crate) sp: usize,
    pub(crate) registers: [usize; 6],
}
