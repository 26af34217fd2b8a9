//! Thread-specific data: keys with destructors, and the destructors of C++ thread-locals.
//!
//! All of it is ours, since threads never end for the C library: it would never run a destructor.

use std::{
    ffi::{c_int, c_void},
    ptr,
};

use libc::pthread_key_t;

use crate::{
    base::real::{self, Destructor},
    control::{Inside, enter, enter_if},
    hooks::export,
    schedule::signals::leave,
    state::keys::Key,
};

/// `PTHREAD_KEYS_MAX`.
const KEYS_MAX: usize = 1024;
/// Our keys begin here, apart from those made before we were in control.
const FIRST_KEY: u32 = 1 << 20;

export! {
    pthread_key_create => do_key_create;
    pthread_key_delete => do_key_delete;
    pthread_getspecific => do_getspecific;
    pthread_setspecific => do_setspecific;
    __cxa_thread_atexit_impl => do_thread_atexit;
}

/// Makes a key, inside a hook.
pub(crate) unsafe fn create_key(
    inside: &mut Inside,
    key: *mut pthread_key_t,
    destructor: Option<Destructor>,
) -> c_int {
    // SAFETY: see `Keys`; the program promises the place for the key.
    unsafe {
        let keys = &mut inside.process.keys;
        let fresh = Key { is_used: true, destructor };
        let idx = match keys.iter().position(|it| !it.is_used) {
            Some(idx) => {
                keys[idx] = fresh;
                idx
            }
            None if keys.len() < KEYS_MAX => {
                keys.push(fresh);
                keys.len() - 1
            }
            None => return libc::EAGAIN,
        };
        for thread in &mut inside.scheduler.threads {
            if let Some(value) = thread.values.get_mut(idx) {
                *value = ptr::null_mut();
            }
        }
        *key = FIRST_KEY + idx as u32;
        0
    }
}

pub(super) unsafe extern "C-unwind" fn do_key_create(
    key: *mut pthread_key_t,
    destructor: Option<Destructor>,
) -> c_int {
    // SAFETY: the program's promises are passed on.
    unsafe {
        let Some(mut inside) = enter() else {
            return real::pthread_key_create(key, destructor);
        };
        leave(create_key(&mut inside, key, destructor), inside)
    }
}

pub(super) unsafe extern "C-unwind" fn do_key_delete(key: pthread_key_t) -> c_int {
    // SAFETY: the program's promises are passed on; see `Keys`.
    unsafe {
        let Some(mut inside) = enter_if(key >= FIRST_KEY) else {
            return real::pthread_key_delete(key);
        };
        let result = match inside.process.keys.get_mut((key - FIRST_KEY) as usize) {
            Some(it) if it.is_used => {
                it.is_used = false;
                0
            }
            _ => libc::EINVAL,
        };
        leave(result, inside)
    }
}

/// The value of a key for the thread that runs.
pub(crate) unsafe fn get(inside: &mut Inside, key: pthread_key_t) -> *mut c_void {
    let idx = (key - FIRST_KEY) as usize;
    inside.this().values.get(idx).copied().unwrap_or(ptr::null_mut())
}

pub(super) unsafe extern "C-unwind" fn do_getspecific(key: pthread_key_t) -> *mut c_void {
    // SAFETY: the program's promises are passed on.
    unsafe {
        let Some(mut inside) = enter_if(key >= FIRST_KEY) else {
            return if key < FIRST_KEY { real::pthread_getspecific(key) } else { ptr::null_mut() };
        };
        leave(get(&mut inside, key), inside)
    }
}

/// Sets the value of a key for the thread that runs.
pub(crate) unsafe fn set(inside: &mut Inside, key: pthread_key_t, value: *const c_void) -> c_int {
    let idx = (key - FIRST_KEY) as usize;
    let values = &mut inside.this().values;
    if values.len() <= idx {
        values.resize(idx + 1, ptr::null_mut());
    }
    values[idx] = value.cast_mut();
    0
}

pub(super) unsafe extern "C-unwind" fn do_setspecific(
    key: pthread_key_t,
    value: *const c_void,
) -> c_int {
    // SAFETY: the program's promises are passed on.
    unsafe {
        let Some(mut inside) = enter_if(key >= FIRST_KEY) else {
            return if key < FIRST_KEY {
                real::pthread_setspecific(key, value)
            } else {
                libc::EINVAL
            };
        };
        leave(set(&mut inside, key, value), inside)
    }
}

unsafe extern "C-unwind" fn do_thread_atexit(
    destructor: Destructor,
    object: *mut c_void,
    dso: *mut c_void,
) -> c_int {
    // SAFETY: the program's promises are passed on.
    unsafe {
        let Some(mut inside) = enter() else {
            return real::__cxa_thread_atexit_impl(destructor, object, dso);
        };
        inside.this().destructors.push((destructor, object));
        leave(0, inside)
    }
}
