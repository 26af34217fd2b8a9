//! The runtime's functions, found by name when they are first asked for: a program that was not built by
//! `cargo raddle` has none, and needs none to link.

use std::{
    ffi::{CStr, c_char, c_int, c_uint, c_void},
    mem::transmute,
    ptr,
    sync::OnceLock,
};

use crate::Config;

unsafe extern "C" {
    fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
}

type Function = unsafe extern "C" fn(*mut c_void) -> c_int;
type Check = unsafe extern "C" fn(Function, *mut c_void) -> c_int;
type AnyOf = unsafe extern "C" fn(c_uint) -> c_uint;
type Ask = unsafe extern "C" fn(*const Asked);
type IsOn = unsafe extern "C" fn() -> c_int;

/// `struct raddle_config` of `raddle.h`.
#[repr(C)]
struct Asked {
    execs: u64,
    time_ms: u64,
    seed: u64,
    has_seed: c_int,
    strategy: *const c_char,
    replay: *const c_char,
}

fn find(name: &CStr) -> *mut c_void {
    // SAFETY: looks for a name among all libraries, and calls nothing.
    unsafe { dlsym(ptr::null_mut(), name.as_ptr()) }
}

/// Calls `closure` as often as the runtime wants, until it returns `false`.
pub(crate) fn check(closure: &mut dyn FnMut() -> bool) {
    let found = find(c"__raddle_check_result");
    if found.is_null() {
        hint();
        closure();
        return;
    }
    // SAFETY: the runtime's function of this name has this type.
    let check = unsafe { transmute::<*mut c_void, Check>(found) };
    let mut closure = closure;
    // SAFETY: `call` gets a pointer to the closure, which outlives the call, and does not unwind.
    unsafe { check(call, (&raw mut closure).cast()) };
}

unsafe extern "C" fn call(closure: *mut c_void) -> c_int {
    // SAFETY: `check` has passed a pointer to the closure, and nobody else uses it meanwhile.
    let closure = unsafe { &mut *closure.cast::<&mut dyn FnMut() -> bool>() };
    c_int::from(!closure())
}

/// Says once how to explore what runs plainly now.
#[expect(clippy::print_stderr, reason = "the one thing that the crate says, once")]
fn hint() {
    static IS_SAID: OnceLock<()> = OnceLock::new();
    IS_SAID.get_or_init(|| {
        eprintln!("raddle: the closure is called once; `cargo raddle test` explores its schedules");
    });
}

/// Looked for each time: what the first call would keep, the next execution of a closure would find.
pub(crate) fn any(n_choices: u32) -> u32 {
    let found = find(c"__raddle_any");
    if found.is_null() {
        return 0;
    }
    // SAFETY: the runtime's function of this name has this type.
    let any = unsafe { transmute::<*mut c_void, AnyOf>(found) };
    // SAFETY: it takes any number.
    unsafe { any(n_choices) }
}

pub(crate) fn is_on() -> bool {
    let found = find(c"__raddle_is_on");
    if found.is_null() {
        return false;
    }
    // SAFETY: the runtime's function of this name has this type.
    let is_on = unsafe { transmute::<*mut c_void, IsOn>(found) };
    // SAFETY: it only looks.
    unsafe { is_on() != 0 }
}

/// Tells the launcher how far the next closure is to be explored.
pub(crate) fn ask(config: &Config<'_>) {
    let found = find(c"__raddle_ask");
    if found.is_null() {
        return;
    }
    let text = |it: Option<&str>| it.map(|it| format!("{it}\0"));
    let (strategy, replay) = (text(config.strategy), text(config.replay));
    let pointer = |it: &Option<String>| it.as_ref().map_or(ptr::null(), |it| it.as_ptr().cast());
    let asked = Asked {
        execs: config.execs.unwrap_or(0),
        time_ms: config.time.map_or(0, |it| it.as_millis().max(1) as u64),
        seed: config.seed.unwrap_or(0),
        has_seed: c_int::from(config.seed.is_some()),
        strategy: pointer(&strategy),
        replay: pointer(&replay),
    };
    // SAFETY: the runtime's function of this name has this type.
    let ask = unsafe { transmute::<*mut c_void, Ask>(found) };
    // SAFETY: it copies what it reads.
    unsafe { ask(&raw const asked) };
}
