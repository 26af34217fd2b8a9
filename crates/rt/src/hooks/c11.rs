//! C11's threads, mutexes, condition variables and keys. In glibc their types are those of POSIX, so
//! the work is done by the hooks of POSIX's functions.

use std::ffi::{c_int, c_void};

use libc::{pthread_cond_t, pthread_mutex_t, pthread_once_t, pthread_t, timespec};
use raddle_machine::{MutexKind, ObjectState};
use raddle_model::OpKind;
use raddle_trace::ObjectClass;

use crate::{
    base::real::{self, Start11, Thunk},
    control::enter,
    hooks::{caller, cond, export, hooks, make, mutex, once, thread, thread_local},
    outside::forks,
    schedule::{cancel::exit_thread, signals::leave, threads},
};

const SUCCESS: c_int = 0;
const BUSY: c_int = 1;
const ERROR: c_int = 2;
const NO_MEMORY: c_int = 3;
const TIMED_OUT: c_int = 4;
/// The bit of a recursive mutex in the type that `mtx_init` is given.
const RECURSIVE: c_int = 1;

hooks! { |inside, caller|
    fn mtx_init(mutex: *mut pthread_mutex_t, kind: c_int) -> c_int, else forks::forget(mutex as usize) => {
        let is_recursive = kind & RECURSIVE != 0;
        let machine_kind = if is_recursive { MutexKind::Recursive } else { MutexKind::Normal };
        let state = || ObjectState::mutex(machine_kind, false);
        make(inside, real::mtx_init(mutex, kind), mutex as usize, ObjectClass::Mutex, state)
    };
    fn cnd_init(cond: *mut pthread_cond_t) -> c_int
        => make(inside, real::cnd_init(cond), cond as usize, ObjectClass::Cond, ObjectState::cond);
    fn thrd_join(id: pthread_t, result: *mut c_int) -> c_int => {
        let mut value = std::ptr::null_mut();
        let error = thread::join(inside, id, &raw mut value, OpKind::Join, None, caller);
        if error == 0 && !result.is_null() {
            *result = value as isize as c_int;
        }
        result_of(error)
    };
    fn thrd_detach(id: pthread_t) -> c_int => result_of(thread::detach(inside, id, caller));
    fn mtx_destroy(mutex: *mut pthread_mutex_t) => { mutex::destroy(inside, mutex, caller); };
    fn mtx_lock(mutex: *mut pthread_mutex_t) -> c_int, else forks::meets(mutex as usize)
        => result_of(mutex::lock(inside, mutex, OpKind::Lock, None, caller));
    fn mtx_trylock(mutex: *mut pthread_mutex_t) -> c_int
        => result_of(mutex::lock(inside, mutex, OpKind::TryLock, None, caller));
    fn mtx_timedlock(mutex: *mut pthread_mutex_t, until: *const timespec) -> c_int
        => result_of(mutex::lock_until(inside, mutex, libc::CLOCK_REALTIME, until, caller));
    fn mtx_unlock(mutex: *mut pthread_mutex_t) -> c_int => result_of(mutex::unlock(inside, mutex, caller));
    fn cnd_destroy(cond: *mut pthread_cond_t) => { cond::destroy(inside, cond, caller); };
    fn cnd_wait(cond: *mut pthread_cond_t, mutex: *mut pthread_mutex_t) -> c_int
        => result_of(cond::wait(inside, cond, mutex, None, caller));
    fn cnd_timedwait(cond: *mut pthread_cond_t, mutex: *mut pthread_mutex_t, until: *const timespec) -> c_int
        => result_of(cond::wait_until(inside, cond, mutex, None, until, caller));
    fn cnd_signal(cond: *mut pthread_cond_t) -> c_int => result_of(cond::notify(inside, cond, OpKind::Signal, caller));
    fn cnd_broadcast(cond: *mut pthread_cond_t) -> c_int => result_of(cond::notify(inside, cond, OpKind::Broadcast, caller));
    fn call_once(word: *mut pthread_once_t, routine: Thunk) => { once::run(inside, word, routine, caller); };
    fn tss_create(key: *mut libc::pthread_key_t, destructor: Option<real::Destructor>) -> c_int
        = result_of(thread_local::do_key_create(key, destructor));
    fn tss_set(key: libc::pthread_key_t, value: *const c_void) -> c_int
        = result_of(thread_local::do_setspecific(key, value));
}

export! {
    thrd_create => do_create;
    thrd_exit => do_exit;
    thrd_yield => thread::do_yield;
    tss_delete => thread_local::do_key_delete;
    tss_get => thread_local::do_getspecific;
}

/// C11's name for an error of POSIX.
const fn result_of(error: c_int) -> c_int {
    match error {
        0 => SUCCESS,
        libc::EBUSY => BUSY,
        libc::ENOMEM => NO_MEMORY,
        libc::ETIMEDOUT => TIMED_OUT,
        _ => ERROR,
    }
}

/// A start routine that returns a number.
struct Start {
    start: Start11,
    arg: *mut c_void,
}

unsafe extern "C-unwind" fn begin(given: *mut c_void) -> *mut c_void {
    // SAFETY: `do_create` passes a box that is now ours; it is gone before the program's code runs.
    unsafe {
        let Start { start, arg } = *Box::from_raw(given.cast::<Start>());
        start(arg) as isize as *mut c_void
    }
}

unsafe extern "C-unwind" fn do_create(
    thread: *mut pthread_t,
    start: Start11,
    arg: *mut c_void,
) -> c_int {
    let caller = caller();
    // SAFETY: the program's promises are passed on.
    unsafe {
        let Some(mut inside) = enter() else {
            return real::thrd_create(thread, start, arg);
        };
        let site = inside.site(caller);
        let given = Box::into_raw(Box::new(Start { start, arg }));
        let result = match threads::create(&mut inside, std::ptr::null(), begin, given.cast(), site)
        {
            Ok(id) => {
                *thread = id as pthread_t;
                SUCCESS
            }
            Err(error) => {
                drop(Box::from_raw(given));
                result_of(error)
            }
        };
        leave(result, inside)
    }
}

unsafe extern "C-unwind" fn do_exit(result: c_int) -> ! {
    // SAFETY: the program's promises are passed on.
    unsafe {
        let Some(mut inside) = enter() else {
            real::thrd_exit(result);
        };
        exit_thread(&mut inside, result as isize as *mut c_void)
    }
}
