//! Raddle's own interface: `raddle.h`.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};

use raddle_model::{Consistency, End, History, ObjectId, Op, OpKind, Operation, Refused, ThreadId};
use raddle_trace::history;

use crate::{
    begin::check::{self, Function},
    control::{enter, enter_if, is_active},
    hooks::{caller, export, hooks},
    schedule::{signals::leave, step::step},
    tell::end,
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
    __raddle_operation_begin => do_operation_begin;
    __raddle_operation_end => do_operation_end;
    __raddle_not_linearizable => do_not_linearizable;
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

/// An operation of a data structure is about to be called: steps so far. No step, and no order for the race detector.
unsafe extern "C-unwind" fn do_operation_begin() -> u64 {
    let Some(inside) = enter() else { return 0 };
    let n_steps = inside.recorder.emit.n_steps;
    leave(n_steps, inside)
}

/// When an operation ran, in steps of the execution, and on which thread.
#[repr(C)]
struct Span {
    invoked: u64,
    returned: u64,
    thread: c_uint,
}

/// An operation has returned that was about to be called when `begun` steps were made. It began with its first step: until
/// then nobody could have told.
unsafe extern "C-unwind" fn do_operation_end(begun: u64, span: *mut Span) {
    let Some(inside) = enter() else { return };
    let (emit, me) = (&inside.recorder.emit, inside.me);
    let told = Span {
        invoked: emit.first_step_of(me, begun).unwrap_or(emit.n_steps),
        returned: emit.n_steps,
        thread: me.0,
    };
    // SAFETY: the program promises room for it.
    unsafe { span.write(told) };
    leave((), inside);
}

/// `struct raddle_operation` of `raddle.h`.
#[repr(C)]
struct Called {
    span: Span,
    call: *const c_char,
    result: *const c_char,
}

/// `struct raddle_refused` of `raddle.h`.
#[repr(C)]
struct RefusedCall {
    operation: c_uint,
    expected: *const c_char,
}

/// `struct raddle_history` of `raddle.h`.
#[repr(C)]
struct Told {
    consistency: c_uint,
    n_operations: c_uint,
    operations: *const Called,
    n_explained: c_uint,
    explained: *const c_uint,
    n_refused: c_uint,
    refused: *const RefusedCall,
}

/// Ends the execution: no order explains what these operations returned.
unsafe extern "C-unwind" fn do_not_linearizable(told: *const Told) {
    let caller = caller();
    let Some(mut inside) = enter() else { return };
    let site = inside.site(caller);
    // SAFETY: the program promises a history, as `raddle.h` describes it.
    let history = unsafe { history_of(&*told) };
    end::end(&mut inside, End::NotLinearizable, site, &history::encode(&history))
}

unsafe fn history_of(told: &Told) -> History {
    // SAFETY: the caller promises so many of each, and texts that end with 0, or are null.
    unsafe {
        let operations = slice(told.operations, told.n_operations).iter().map(|it| Operation {
            thread: ThreadId(it.span.thread),
            call: text(it.call).unwrap_or_default(),
            result: text(it.result),
            invoked: it.span.invoked,
            returned: it.span.returned,
        });
        let refused = slice(told.refused, told.n_refused)
            .iter()
            .map(|it| Refused { operation: it.operation, expected: text(it.expected) });
        History {
            consistency: Consistency::from_number(told.consistency as u8).unwrap_or_default(),
            operations: operations.collect(),
            explained: slice(told.explained, told.n_explained).to_vec(),
            refused: refused.collect(),
        }
    }
}

unsafe fn slice<'a, T>(first: *const T, n: c_uint) -> &'a [T] {
    if n == 0 || first.is_null() {
        return &[];
    }
    // SAFETY: the caller promises so many.
    unsafe { std::slice::from_raw_parts(first, n as usize) }
}

unsafe fn text(text: *const c_char) -> Option<String> {
    // SAFETY: the caller promises a text that ends with 0, if there is one.
    (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned())
}
