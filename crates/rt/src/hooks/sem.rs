//! Semaphores, unnamed and named. What other processes do to a named one is not seen.

use std::{
    cell::UnsafeCell,
    ffi::{c_char, c_int, c_uint},
};

use libc::{sem_t, timespec};
use raddle_machine::ObjectState;
use raddle_model::{MemoryOrder, ObjectId, Op, OpKind, OpResult};
use raddle_trace::ObjectClass;

use crate::{
    abi::glibc::{LAYOUT, word_at},
    base::real,
    control::Inside,
    hooks::{destroyed, fail, hooks, make, time::deadline_of},
    record::stack::Caller,
    schedule::step::step,
};

hooks! { |inside, caller|
    fn sem_init(sem: *mut sem_t, shared: c_int, count: c_uint) -> c_int => {
        let result = real::sem_init(sem, shared, count);
        make(inside, result, sem as usize, ObjectClass::Semaphore, || ObjectState::sem(count))
    };
    fn sem_destroy(sem: *mut sem_t) -> c_int => {
        let result = perform(inside, sem, OpKind::Destroy, None, caller);
        destroyed::mark(sem as usize);
        result
    };
    fn sem_wait(sem: *mut sem_t) -> c_int => perform(inside, sem, OpKind::SemWait, None, caller);
    fn sem_trywait(sem: *mut sem_t) -> c_int => perform(inside, sem, OpKind::SemTryWait, None, caller);
    fn sem_timedwait(sem: *mut sem_t, until: *const timespec) -> c_int
        => wait_until(inside, sem, libc::CLOCK_REALTIME, until, caller);
    fn sem_clockwait(sem: *mut sem_t, clock: c_int, until: *const timespec) -> c_int
        => wait_until(inside, sem, clock, until, caller);
    fn sem_post(sem: *mut sem_t) -> c_int => perform(inside, sem, OpKind::SemPost, None, caller);
    /// A step of its own: what others do between this and the next op makes the value stale.
    fn sem_getvalue(sem: *mut sem_t, value: *mut c_int) -> c_int => {
        let object = object_of(inside, sem, caller);
        let site = inside.site(caller);
        let is_told = !inside.scheduler.machine.is_alone();
        step(inside, Op::on(OpKind::AtomicLoad, object, site).order(MemoryOrder::Acquire));
        inside.acquire(object);
        let count = inside.scheduler.machine.sem_count(object);
        if is_told {
            inside.recorder.emit.set_value(u64::from(count), 4);
        }
        *value = count as c_int;
        0
    };
    /// The mode and count are there only if a semaphore may be created; passing them on does no harm.
    fn sem_open(name: *const c_char, flags: c_int, mode: c_uint, count: c_uint) -> *mut sem_t => {
        let sem = real::sem_open(name, flags, mode, count);
        if sem.is_null() {
            return sem;
        }
        let named = &mut *NAMED.0.get();
        match named.iter_mut().find(|it| it.0 == sem as usize) {
            Some((_, n_open)) => *n_open += 1,
            None => {
                named.push((sem as usize, 1));
                inside.memory.tied.push(sem as usize..sem as usize + size_of::<sem_t>());
                let state = ObjectState::sem(*word_at::<u32>(sem.cast(), LAYOUT.sem_count));
                inside.make_sync_object(sem as usize, ObjectClass::Semaphore, state);
            }
        }
        sem
    };
    fn sem_close(sem: *mut sem_t) -> c_int => {
        let named = &mut *NAMED.0.get();
        if let Some(idx) = named.iter().position(|it| it.0 == sem as usize) {
            named[idx].1 -= 1;
            if named[idx].1 == 0 {
                named.swap_remove(idx);
            }
        }
        real::sem_close(sem)
    };
}

/// Named semaphores that are open, and how often.
struct Named(UnsafeCell<Vec<(usize, u32)>>);

// SAFETY: touched by the thread that runs, inside a hook.
unsafe impl Sync for Named {}

static NAMED: Named = Named(UnsafeCell::new(Vec::new()));

/// The semaphore's number. Its memory keeps the count that it began with.
unsafe fn object_of(inside: &mut Inside, sem: *mut sem_t, caller: Caller) -> ObjectId {
    // SAFETY: the program promises a semaphore, whose first word is the count.
    unsafe {
        destroyed::check(inside, sem as usize, caller);
        let count = *word_at::<u32>(sem.cast(), LAYOUT.sem_count);
        let state = || ObjectState::sem(count);
        inside.sync_object(sem as usize, ObjectClass::Semaphore, state)
    }
}

/// Any op on a semaphore, inside a hook. Every wait on a semaphore is this one.
pub(crate) unsafe fn perform(
    inside: &mut Inside,
    sem: *mut sem_t,
    kind: OpKind,
    deadline: Option<u64>,
    caller: Caller,
) -> c_int {
    // SAFETY: the program promises a semaphore; the borrows end before the step.
    unsafe {
        let object = object_of(inside, sem, caller);
        let site = inside.site(caller);
        inside.this().spin.reset();
        let performed = step(inside, Op::on(kind, object, site).until(deadline));
        destroyed::check_freed(inside, sem as usize, object, site);
        match performed.result {
            OpResult::Done => 0,
            OpResult::Busy => fail(libc::EAGAIN),
            OpResult::TimedOut => fail(libc::ETIMEDOUT),
            OpResult::Overflow => fail(libc::EOVERFLOW),
            OpResult::Interrupted => fail(libc::EINTR),
            _ => fail(libc::EINVAL),
        }
    }
}

unsafe fn wait_until(
    inside: &mut Inside,
    sem: *mut sem_t,
    clock: c_int,
    until: *const timespec,
    caller: Caller,
) -> c_int {
    // SAFETY: the program promises a semaphore and a time.
    unsafe {
        match deadline_of(clock, until) {
            Ok(deadline) => perform(inside, sem, OpKind::SemWait, Some(deadline), caller),
            Err(error) => fail(error),
        }
    }
}
