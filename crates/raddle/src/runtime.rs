//! The runtime's functions, found by name when they are first asked for: a program that was not built by
//! `cargo raddle` has none, and needs none to link.

use std::{
    ffi::{CStr, CString, c_char, c_int, c_uint, c_void},
    mem::transmute,
    ptr,
    sync::{
        OnceLock,
        atomic::{AtomicU64, Ordering::SeqCst},
    },
};

use crate::Config;

/// When an operation ran: steps of the execution before its first one, and before it returned. `struct raddle_span`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub(crate) struct Span {
    pub(crate) invoked: u64,
    pub(crate) returned: u64,
    pub(crate) thread: u32,
}

/// A history that no order explains, as texts.
pub(crate) struct Told {
    pub(crate) order: u32,
    pub(crate) operations: Vec<ToldOperation>,
    pub(crate) explained: Vec<u32>,
    /// Operations that could come next, and what they would return.
    pub(crate) refused: Vec<(u32, Option<String>)>,
}

/// An operation as texts.
pub(crate) struct ToldOperation {
    pub(crate) span: Span,
    pub(crate) call: String,
    pub(crate) result: Option<String>,
}

unsafe extern "C" {
    fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
}

type Function = unsafe extern "C" fn(*mut c_void) -> c_int;
type Check = unsafe extern "C" fn(Function, *mut c_void) -> c_int;
type AnyOf = unsafe extern "C" fn(c_uint) -> c_uint;
type Ask = unsafe extern "C" fn(*const Asked);
type Begin = unsafe extern "C" fn() -> u64;
type End = unsafe extern "C" fn(u64, *mut Span);
type NotLinearizable = unsafe extern "C" fn(*const ToldPointers);
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

/// What the runtime has for operations of data structures.
#[derive(Clone, Copy)]
pub(crate) struct Hooks {
    begin: Begin,
    end: End,
    not_linearizable: NotLinearizable,
}

impl Hooks {
    /// Looked for once, before the first execution.
    pub(crate) fn find() -> Option<Hooks> {
        let begin = find(c"__raddle_operation_begin");
        let end = find(c"__raddle_operation_end");
        let not_linearizable = find(c"__raddle_not_linearizable");
        if begin.is_null() || end.is_null() || not_linearizable.is_null() || !is_on() {
            return None;
        }
        Some(Hooks {
            // SAFETY: the runtime's function of this name has this type.
            begin: unsafe { transmute::<*mut c_void, Begin>(begin) },
            // SAFETY: as above.
            end: unsafe { transmute::<*mut c_void, End>(end) },
            // SAFETY: as above.
            not_linearizable: unsafe {
                transmute::<*mut c_void, NotLinearizable>(not_linearizable)
            },
        })
    }
}

/// Without Raddle, operations are ordered by this. Under Raddle it would order them for the race detector, too.
static CLOCK: AtomicU64 = AtomicU64::new(0);

/// An operation is about to be called.
pub(crate) fn begin(hooks: Option<&Hooks>) -> u64 {
    match hooks {
        // SAFETY: it only looks.
        Some(hooks) => unsafe { (hooks.begin)() },
        None => CLOCK.fetch_add(1, SeqCst),
    }
}

/// It has returned: when did it run? Without Raddle, threads are the scenario's.
pub(crate) fn end(hooks: Option<&Hooks>, begun: u64, column: u32) -> Span {
    let mut span = Span { invoked: begun, returned: 0, thread: column };
    match hooks {
        // SAFETY: there is room for what it writes.
        Some(hooks) => unsafe { (hooks.end)(begun, &raw mut span) },
        None => span.returned = CLOCK.fetch_add(1, SeqCst),
    }
    span
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
struct Refused {
    operation: c_uint,
    expected: *const c_char,
}

/// `struct raddle_history` of `raddle.h`.
#[repr(C)]
struct ToldPointers {
    consistency: c_uint,
    n_operations: c_uint,
    operations: *const Called,
    n_explained: c_uint,
    explained: *const c_uint,
    n_refused: c_uint,
    refused: *const Refused,
}

/// Ends the execution: no order explains these operations.
pub(crate) fn not_linearizable(hooks: &Hooks, told: &Told) {
    let mut texts: Vec<CString> = Vec::new();
    let mut text = |it: Option<&str>| {
        let Some(it) = it else { return ptr::null() };
        texts.push(CString::new(it.replace('\0', " ")).unwrap_or_default());
        texts.last().map_or(ptr::null(), |it| it.as_ptr())
    };
    let operations: Vec<Called> = told
        .operations
        .iter()
        .map(|it| Called {
            span: it.span,
            call: text(Some(&it.call)),
            result: text(it.result.as_deref()),
        })
        .collect();
    let refused: Vec<Refused> = told
        .refused
        .iter()
        .map(|it| Refused { operation: it.0, expected: text(it.1.as_deref()) })
        .collect();
    let pointers = ToldPointers {
        consistency: told.order,
        n_operations: operations.len() as c_uint,
        operations: operations.as_ptr(),
        n_explained: told.explained.len() as c_uint,
        explained: told.explained.as_ptr(),
        n_refused: refused.len() as c_uint,
        refused: refused.as_ptr(),
    };
    // SAFETY: so many of each, with texts that live until then.
    unsafe { (hooks.not_linearizable)(&raw const pointers) };
}
