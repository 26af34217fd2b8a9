//! Processors: as many as the plan says, whatever the machine has, since programs size their pools by
//! them.

use std::ffi::{c_int, c_long, c_void};

use libc::{pid_t, pthread_t, size_t};

use crate::{
    base::real,
    control::{control, is_active},
    hooks::{export, fail},
};

/// Processors where the plan says nothing.
const CPUS_DEFAULT: u32 = 4;

export! {
    sched_getaffinity => do_getaffinity;
    sched_setaffinity => do_setaffinity;
    pthread_getaffinity_np => do_thread_getaffinity;
    pthread_setaffinity_np => do_thread_setaffinity;
    sysconf => do_sysconf;
    get_nprocs => do_nprocs;
    get_nprocs_conf => do_nprocs_conf;
    sched_getcpu => do_getcpu;
}

fn n_cpus() -> u32 {
    // SAFETY: active means initialised; the header is mapped for as long as the process lives.
    match unsafe { (*(*control()).header).request.n_cpus } {
        0 => CPUS_DEFAULT,
        given => given,
    }
}

/// Fills a set of processors in; the error is that of the kernel.
unsafe fn fill(size: size_t, set: *mut c_void) -> c_int {
    let n_cpus = n_cpus() as usize;
    if size.saturating_mul(8) < n_cpus {
        return libc::EINVAL;
    }
    for idx in 0..size {
        let bits = n_cpus.saturating_sub(idx * 8).min(8);
        // SAFETY: the program promises a set of this size.
        unsafe { set.cast::<u8>().add(idx).write_volatile(((1_u16 << bits) - 1) as u8) };
    }
    0
}

unsafe extern "C" fn do_getaffinity(process: pid_t, size: size_t, set: *mut c_void) -> c_int {
    // SAFETY: the program's promises are passed on.
    unsafe {
        if !is_active() {
            return real::sched_getaffinity(process, size, set);
        }
        match fill(size, set) {
            0 => 0,
            error => fail(error),
        }
    }
}

unsafe extern "C" fn do_setaffinity(process: pid_t, size: size_t, set: *const c_void) -> c_int {
    if is_active() {
        return 0;
    }
    // SAFETY: the program's promises are passed on.
    unsafe { real::sched_setaffinity(process, size, set) }
}

unsafe extern "C" fn do_thread_getaffinity(
    thread: pthread_t,
    size: size_t,
    set: *mut c_void,
) -> c_int {
    // SAFETY: the program's promises are passed on.
    unsafe {
        if !is_active() {
            return real::pthread_getaffinity_np(thread, size, set);
        }
        fill(size, set)
    }
}

unsafe extern "C" fn do_thread_setaffinity(
    thread: pthread_t,
    size: size_t,
    set: *const c_void,
) -> c_int {
    if is_active() {
        return 0;
    }
    // SAFETY: the program's promises are passed on.
    unsafe { real::pthread_setaffinity_np(thread, size, set) }
}

unsafe extern "C" fn do_sysconf(name: c_int) -> c_long {
    match name {
        libc::_SC_NPROCESSORS_ONLN | libc::_SC_NPROCESSORS_CONF if is_active() => {
            c_long::from(n_cpus())
        }
        // SAFETY: needs nothing.
        _ => unsafe { real::sysconf(name) },
    }
}

unsafe extern "C" fn do_nprocs() -> c_int {
    if is_active() {
        return n_cpus() as c_int;
    }
    // SAFETY: needs nothing.
    unsafe { real::get_nprocs() }
}

unsafe extern "C" fn do_nprocs_conf() -> c_int {
    if is_active() {
        return n_cpus() as c_int;
    }
    // SAFETY: needs nothing.
    unsafe { real::get_nprocs_conf() }
}

unsafe extern "C" fn do_getcpu() -> c_int {
    if is_active() {
        return 0;
    }
    // SAFETY: needs nothing.
    unsafe { real::sched_getcpu() }
}
