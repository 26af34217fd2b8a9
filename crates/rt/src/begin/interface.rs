//! Raddle's own interface: `raddle.h`.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};

use raddle_model::{ObjectId, Op, OpKind};

use crate::{
    begin::check::{self, Function},
    control::{enter, enter_if, is_active},
    hooks::{caller, export, hooks},
    schedule::{signals::leave, step::step},
};

hooks! { |inside, caller|
    /// The same for a function that can fail: then what it returned is returned.
    fn __raddle_check_result(function: Function, arg: *mut c_void) -> c_int = check::check(function, arg, caller);
}

export! {
    __raddle_check => do_check;
    __raddle_any => do_any;
    __raddle_ask => do_ask;
    __raddle_is_on => do_is_on;
}

/// Explores `function(arg)`.
unsafe extern "C-unwind" fn do_check(
    function: unsafe extern "C-unwind" fn(*mut c_void),
    arg: *mut c_void,
) {
    let caller = caller();
    let mut call = Call { function, arg };
    // SAFETY: the program's promises are passed on; the call is on this stack.
    unsafe { check::check(call_it, (&raw mut call).cast(), caller) };
}

struct Call {
    function: unsafe extern "C-unwind" fn(*mut c_void),
    arg: *mut c_void,
}

unsafe extern "C-unwind" fn call_it(call: *mut c_void) -> c_int {
    // SAFETY: `do_check` passes its call; the program promises the function and what it gets.
    unsafe { ((*call.cast::<Call>()).function)((*call.cast::<Call>()).arg) };
    0
}

/// One of the numbers below `n_choices`.
unsafe extern "C-unwind" fn do_any(n_choices: c_uint) -> c_uint {
    let caller = caller();
    let Some(mut inside) = enter_if(n_choices >= 2) else {
        return 0;
    };
    let site = inside.site(caller);
    let chosen =
        step(&mut inside, Op::on(OpKind::Any, ObjectId::NONE, site).arg(u64::from(n_choices)));
    leave(chosen.value as c_uint, inside)
}

/// `struct raddle_config` of `raddle.h`.
#[repr(C)]
struct Config {
    execs: u64,
    time_ms: u64,
    seed: u64,
    has_seed: c_int,
    strategy: *const c_char,
    replay: *const c_char,
}

/// How far the program wants to be explored.
unsafe extern "C-unwind" fn do_ask(config: *const Config) {
    let Some(mut inside) = enter() else {
        return;
    };
    // SAFETY: the program promises a configuration with texts that end with 0, or are null; the header is
    // mapped.
    unsafe {
        let (config, ask) = (&*config, &mut (*inside.header).result.ask);
        (ask.execs, ask.time_ms, ask.seed) = (config.execs, config.time_ms, config.seed);
        ask.has_seed = u64::from(config.has_seed != 0);
        copy(config.strategy, &mut ask.strategy);
        copy(config.replay, &mut ask.replay);
    }
    leave((), inside);
}

/// Copies a text as far as there is room for it, and for a 0 after it.
unsafe fn copy(text: *const c_char, to: &mut [u8]) {
    to.fill(0);
    if text.is_null() {
        return;
    }
    // SAFETY: the caller promises a text.
    let bytes = unsafe { CStr::from_ptr(text) }.to_bytes();
    let n_bytes = bytes.len().min(to.len() - 1);
    to[..n_bytes].copy_from_slice(&bytes[..n_bytes]);
}

/// Is the program explored?
unsafe extern "C-unwind" fn do_is_on() -> c_int {
    c_int::from(is_active())
}
