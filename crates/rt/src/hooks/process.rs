//! How a process ends: `exit`, `abort`, `assert`; and `fork`.

use std::{
    ffi::{CStr, c_char, c_int, c_uint, c_void},
    io::Write,
    sync::atomic::{AtomicU32, Ordering::Relaxed},
};

use raddle_model::{End, Escape, ObjectId, Op, OpKind, SiteId};

use crate::{
    base::real,
    control::{Inside, control, deactivate, enter, is_active, outside},
    hooks::{caller, export, hooks},
    outside::forks,
    schedule::{
        exit::{begin_exit, exit_process},
        signals::leave,
        step::step,
    },
    tell::end,
};

hooks! { |inside, caller|
    /// The child has one thread and is not ours any more.
    fn fork | vfork() -> c_int => {
        let site = inside.site(caller);
        inside.note(Escape::Fork, site);
        inside.process.forks.n_pending += 1;
        step(inside, Op::on(OpKind::Fork, ObjectId::NONE, site));
        inside.process.forks.n_pending -= 1;
        // The handlers of `pthread_atfork` are code of the program, and those before the fork take locks.
        FORKING.store(site.0, Relaxed);
        let child = outside(inside, || real::fork());
        if child == 0 {
            // Nothing is delivered to it here.
            inside.process.signals.is_any_pending = false;
            return 0;
        }
        inside.after_fork(child);
        child
    };
    /// The same without the handlers of `pthread_atfork`.
    fn _Fork() -> c_int => {
        let site = inside.site(caller);
        inside.note(Escape::UnderscoreFork, site);
        inside.process.forks.n_pending += 1;
        step(inside, Op::on(OpKind::Fork, ObjectId::NONE, site));
        inside.process.forks.n_pending -= 1;
        inside.before_fork(site);
        let child = real::_Fork();
        if child == 0 {
            let_go();
            inside.process.signals.is_any_pending = false;
            return 0;
        }
        inside.after_fork(child);
        child
    };
}

export! {
    exit => do_exit;
    _exit => do_exit_at_once;
    _Exit => do_exit_at_once;
    quick_exit => do_quick_exit;
    abort => do_abort;
    __assert_fail => do_assert_fail;
    __assert => do_assert;
    daemon => do_daemon;
}

unsafe extern "C-unwind" fn do_exit(code: c_int) -> ! {
    let caller = caller();
    // SAFETY: the program's promises are passed on.
    unsafe {
        let Some(mut inside) = enter() else {
            real::exit(code);
        };
        let site = inside.site(caller);
        exit_process(inside, code, site)
    }
}

/// The end of a process that exits.
unsafe fn end_exit(inside: &mut Inside) {
    inside.await_children();
    if let Some((code, site)) = inside.process.exit {
        end::end(inside, End::Exit(code & 0xff), site, b"");
    }
}

/// The last thing that `exit` does for a library: here the execution ends.
extern "C" fn last() {
    // SAFETY: the process exits, on the thread that runs; nothing of the program runs after this.
    unsafe {
        if is_active() && (*control()).process.is_execution && (*control()).process.exit.is_some() {
            (*control()).is_inside = true;
            libc::fflush(std::ptr::null_mut());
            end_exit(&mut Inside::assume());
        }
    }
}

#[used]
#[unsafe(link_section = ".fini_array")]
static LAST: extern "C" fn() = last;

pub(super) unsafe extern "C-unwind" fn do_exit_at_once(code: c_int) -> ! {
    let caller = caller();
    if let Some(mut inside) = enter() {
        // SAFETY: the thread that runs is inside a hook.
        unsafe {
            if inside.process.is_execution {
                let site = inside.site(caller);
                begin_exit(&mut inside, code, site);
                end_exit(&mut inside);
            }
        }
    }
    raddle_fiber::raw::exit_group(code)
}

unsafe extern "C-unwind" fn do_quick_exit(code: c_int) -> ! {
    let caller = caller();
    // SAFETY: the program's promises are passed on; inside a hook, the borrows end before the step.
    unsafe {
        if let Some(mut inside) = enter() {
            let site = inside.site(caller);
            begin_exit(&mut inside, code, site);
            leave((), inside);
        }
        real::quick_exit(code)
    }
}

/// The last handler of `quick_exit`.
extern "C" fn last_quick(_: *mut c_void) {
    // SAFETY: as in `last`.
    unsafe {
        if is_active() && (*control()).process.is_execution {
            end_exit(&mut Inside::assume());
        }
    }
}

unsafe extern "C" {
    fn __cxa_at_quick_exit(handler: extern "C" fn(*mut c_void), dso: *mut c_void) -> c_int;
}

/// Registers what must be first among its like: the last handler of `quick_exit`, and the first of a
/// forked child, which is not ours any more.
pub(crate) fn register_handlers() {
    // SAFETY: the handlers are ours, and stay.
    unsafe {
        __cxa_at_quick_exit(last_quick, std::ptr::null_mut());
        libc::pthread_atfork(Some(before_fork), None, Some(let_go));
    }
}

/// The last of the handlers before a fork, after those of the program.
unsafe extern "C" fn before_fork() {
    if let Some(mut inside) = enter() {
        inside.before_fork(SiteId(FORKING.load(Relaxed)));
        leave((), inside);
    }
}

unsafe extern "C" fn let_go() {
    deactivate();
    forks::begin_child();
}

unsafe extern "C-unwind" fn do_abort() -> ! {
    let caller = caller();
    let Some(mut inside) = enter() else {
        // SAFETY: as the program asked.
        unsafe { real::abort() }
    };
    let site = inside.site(caller);
    match exception_type() {
        Some(name) => end::end(&mut inside, End::Exception, site, name),
        None => end::end(&mut inside, End::Abort, site, b""),
    }
}

/// The type of the exception that led to `std::terminate`, mangled.
fn exception_type() -> Option<&'static [u8]> {
    // SAFETY: the C++ runtime's function has no arguments and returns a `type_info` or null; the name
    // is its second word, a C string.
    unsafe {
        let symbol = libc::dlsym(libc::RTLD_DEFAULT, c"__cxa_current_exception_type".as_ptr());
        if symbol.is_null() {
            return None;
        }
        let current = std::mem::transmute::<
            *mut c_void,
            extern "C" fn() -> *const [*const c_char; 2],
        >(symbol);
        let info = current();
        if info.is_null() {
            return None;
        }
        let name = CStr::from_ptr((*info)[1]).to_bytes();
        Some(name.strip_prefix(b"*").unwrap_or(name))
    }
}

unsafe extern "C-unwind" fn do_assert_fail(
    text: *const c_char,
    file: *const c_char,
    line: c_uint,
    function: *const c_char,
) -> ! {
    let caller = caller();
    let Some(mut inside) = enter() else {
        // SAFETY: the program's promises are passed on.
        unsafe { real::__assert_fail(text, file, line, function) }
    };
    // SAFETY: the compiler passes C strings.
    unsafe {
        let site = inside.site(caller);
        let text = CStr::from_ptr(text).to_bytes();
        tell_assertion(text, file, line);
        end::end(&mut inside, End::Assert, site, text)
    }
}

unsafe extern "C-unwind" fn do_assert(text: *const c_char, file: *const c_char, line: c_int) -> ! {
    // SAFETY: the compiler passes C strings.
    unsafe { do_assert_fail(text, file, line as c_uint, c"".as_ptr()) }
}

/// The line that the C library would print.
unsafe fn tell_assertion(text: &[u8], file: *const c_char, line: c_uint) {
    let mut buffer = [0_u8; 512];
    let mut rest = &mut buffer[..];
    // SAFETY: the compiler passes a C string.
    let file = unsafe { CStr::from_ptr(file) }.to_string_lossy();
    let _ = writeln!(rest, "{file}:{line}: Assertion `{}' failed.", String::from_utf8_lossy(text));
    let n_bytes = 512 - rest.len();
    // SAFETY: writes our own bytes.
    unsafe {
        raddle_fiber::raw::syscall(libc::SYS_write, [2, buffer.as_ptr() as usize, n_bytes, 0, 0, 0])
    };
}

/// Where the thread that runs forks.
static FORKING: AtomicU32 = AtomicU32::new(0);

unsafe extern "C-unwind" fn do_daemon(_keep_directory: c_int, _keep_streams: c_int) -> c_int {
    let caller = caller();
    if let Some(mut inside) = enter() {
        let site = inside.site(caller);
        inside.note(Escape::Daemon, site);
        leave((), inside);
    }
    0
}
