//! Is the C library one that the runtime knows? Looked at before anything is controlled.

use std::{ffi::c_void, mem::MaybeUninit, slice, sync::atomic::AtomicI32};

use raddle_fiber::raw;

use crate::{
    abi::{
        glibc::{COUNT, LAYOUT, Made, first_unknown},
        x86_64::fill_jump_buffer,
    },
    base::real,
};

/// `PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP`.
const PREFER_WRITERS: i32 = 2;

unsafe extern "C" {
    fn pthread_mutexattr_setrobust(attr: *mut libc::pthread_mutexattr_t, robust: i32) -> i32;
    fn pthread_rwlockattr_setkind_np(attr: *mut libc::pthread_rwlockattr_t, kind: i32) -> i32;
}

/// The first structure of the C library that is not laid out as we know it.
pub(crate) fn first_unknown_structure() -> Option<&'static str> {
    first_unknown(&LAYOUT, &make())
}

/// The bytes of an object that `init` has filled in.
fn bytes<T>(init: impl FnOnce(*mut T)) -> Vec<u8> {
    let mut object = MaybeUninit::<T>::zeroed();
    init(object.as_mut_ptr());
    // SAFETY: all of its bytes are initialised: they were zeroes.
    unsafe { slice::from_raw_parts(object.as_ptr().cast::<u8>(), size_of::<T>()) }.to_vec()
}

fn make() -> Made {
    unsafe extern "C-unwind" fn nothing() {}
    let this = raddle_fiber::thread_pointer();
    let mut sp = 0;
    let mut once = AtomicI32::new(0);
    // SAFETY: every object is our own, initialised before it is used, and holds nothing that must be given back; the
    // control block reaches at least as far as the thread's number.
    unsafe {
        real::pthread_once(once.as_ptr(), nothing);
        let mutex = |mutex: *mut libc::pthread_mutex_t| {
            let mut attr = MaybeUninit::zeroed();
            libc::pthread_mutexattr_init(attr.as_mut_ptr());
            libc::pthread_mutexattr_settype(attr.as_mut_ptr(), libc::PTHREAD_MUTEX_RECURSIVE);
            pthread_mutexattr_setrobust(attr.as_mut_ptr(), libc::PTHREAD_MUTEX_ROBUST);
            real::pthread_mutex_init(mutex, attr.as_ptr());
        };
        let cond = |clock: libc::clockid_t| {
            bytes(|cond: *mut libc::pthread_cond_t| {
                let mut attr = MaybeUninit::zeroed();
                libc::pthread_condattr_init(attr.as_mut_ptr());
                libc::pthread_condattr_setclock(attr.as_mut_ptr(), clock);
                real::pthread_cond_init(cond, attr.as_ptr());
            })
        };
        Made {
            thread: slice::from_raw_parts(this as *const u8, LAYOUT.thread_number + 4).to_vec(),
            thread_self: libc::pthread_self() as u64,
            thread_number: raw::syscall(libc::SYS_gettid, [0; 6]) as i32,
            mutex: bytes(mutex),
            destroyed_mutex: bytes(|it| {
                mutex(it);
                real::pthread_mutex_destroy(it);
            }),
            realtime_cond: cond(libc::CLOCK_REALTIME),
            monotonic_cond: cond(libc::CLOCK_MONOTONIC),
            rwlock: bytes(|lock: *mut libc::pthread_rwlock_t| {
                let mut attr = MaybeUninit::zeroed();
                libc::pthread_rwlockattr_init(attr.as_mut_ptr());
                pthread_rwlockattr_setkind_np(attr.as_mut_ptr(), PREFER_WRITERS);
                real::pthread_rwlock_init(lock, attr.as_ptr());
            }),
            barrier: bytes(|barrier: *mut libc::pthread_barrier_t| {
                real::pthread_barrier_init(barrier, std::ptr::null(), COUNT);
            }),
            sem: bytes(|sem: *mut libc::sem_t| {
                real::sem_init(sem, 0, COUNT);
            }),
            once: *once.get_mut(),
            jump: bytes(|buffer: *mut [usize; 32]| {
                sp = fill_jump_buffer(buffer.cast::<c_void>()) as u64;
            }),
            sp,
        }
    }
}
