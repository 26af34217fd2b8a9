//! Streams: their locks, where the program takes them itself, and reading from one that may block.
//!
//! A stream over a pipe or socket is read only when there is something to read, or the C library would
//! wait in the kernel while nobody else runs.
//!
//! What it misses: `printf` and its like take the stream's lock inside the C library, where nobody
//! else runs meanwhile, and so do not wait for a thread that holds it by `flockfile`. A read that needs
//! more than came at once (half a line) waits in the kernel, and so does a write to a full pipe.

use std::{
    ffi::{CStr, c_int, c_void},
    ptr,
    sync::atomic::AtomicPtr,
};

use raddle_machine::{MutexKind, ObjectState};
use raddle_model::{Op, OpKind};
use raddle_trace::{Common, ObjectClass};

use crate::{
    abi::glibc::is_drained,
    base::real,
    control::{Inside, enter},
    hooks::{
        behind, caller, common, descriptor, export, export_before, hooks, mutex::errno_of, uses,
    },
    outside::io,
    record::stack::Caller,
    schedule::{signals::leave, step::step},
    state::io::AT_ONCE,
};

hooks! { |inside, caller|
    fn flockfile(stream: *mut c_void) => { perform(inside, stream, OpKind::Lock, caller); };
    fn ftrylockfile(stream: *mut c_void) -> c_int => perform(inside, stream, OpKind::TryLock, caller);
    fn funlockfile(stream: *mut c_void) => { perform(inside, stream, OpKind::Unlock, caller); };
    /// A step if threads can wait for the descriptor; the C library closes it.
    fn fclose(stream: *mut c_void) -> c_int => {
        let fd = libc::fileno(stream.cast());
        if fd >= 0 {
            descriptor::touch(inside, OpKind::Close, fd, AT_ONCE, caller);
            common::touch(inside, Common::Files, OpKind::Call, caller);
            super::timer::forget_descriptor(inside, fd);
            inside.process.io.forget(fd);
        }
        let result = real::fclose(stream);
        inside.process.io.is_stale = true;
        result
    };
}

unsafe fn perform(inside: &mut Inside, stream: *mut c_void, kind: OpKind, caller: Caller) -> c_int {
    let state = || ObjectState::mutex(MutexKind::Recursive, false);
    let object = inside.sync_object(stream as usize, ObjectClass::Mutex, state);
    let site = inside.site(caller);
    errno_of(step(inside, Op::on(kind, object, site)).result)
}

/// The functions that read from a stream, by number.
const READERS: &[&CStr] = &[
    c"fgets",
    c"fgets_unlocked",
    c"__fgets_chk",
    c"fread",
    c"fread_unlocked",
    c"__fread_chk",
    c"fgetc",
    c"getc",
    c"_IO_getc",
    c"getc_unlocked",
    c"__uflow",
    c"getline",
    c"getdelim",
    c"__getdelim",
    c"fscanf",
    c"__isoc99_fscanf",
    c"__isoc23_fscanf",
];

static FOUND: [AtomicPtr<c_void>; READERS.len()] =
    [const { AtomicPtr::new(ptr::null_mut()) }; READERS.len()];

// Each waits until there is something to read.
export_before! {
    before_read;
    fgetc: 6, "rdi";
    getc: 7, "rdi";
    _IO_getc: 8, "rdi";
    getc_unlocked: 9, "rdi";
    __uflow: 10, "rdi";
    fscanf: 14, "rdi";
    __isoc99_fscanf: 15, "rdi";
    __isoc23_fscanf: 16, "rdi";
}

/// The same for functions that write to the program's memory, which is known when they have returned.
macro_rules! export_into_memory {
    ($($name:ident($($arg:ident),*): $number:literal, $stream:ident, |$result:ident, $caller:ident| $seen:expr;)*) => {$(
        const _: () = {
            unsafe extern "C-unwind" fn work($($arg: usize),*) -> usize {
                let $caller = caller();
                // SAFETY: the program's promises are passed on; all arguments and results are words.
                unsafe {
                    let real = before_read($stream as *mut c_void, $number, $caller.pc, $caller.sp);
                    type Function = unsafe extern "C-unwind" fn($(word!($arg)),*) -> usize;
                    let $result = std::mem::transmute::<*mut c_void, Function>(real)($($arg),*);
                    $seen;
                    $result
                }
            }

            export! { $name => work; }
        };
    )*};
}

macro_rules! word {
    ($arg:ident) => {
        usize
    };
}

export_into_memory! {
    fgets(to, _size, stream): 0, stream, |result, caller| line_read(to, result, caller);
    fgets_unlocked(to, _size, stream): 1, stream, |result, caller| line_read(to, result, caller);
    __fgets_chk(to, _room, _size, stream): 2, stream, |result, caller| line_read(to, result, caller);
    fread(to, size, _n, stream): 3, stream, |result, caller| uses::written(to, result * size, caller);
    fread_unlocked(to, size, _n, stream): 4, stream, |result, caller| uses::written(to, result * size, caller);
    __fread_chk(to, _room, size, _n, stream): 5, stream, |result, caller| uses::written(to, result * size, caller);
    getline(to, _size, stream): 11, stream, |result, caller| piece_read(to, result, caller);
    getdelim(to, _size, _end, stream): 12, stream, |result, caller| piece_read(to, result, caller);
    __getdelim(to, _size, _end, stream): 13, stream, |result, caller| piece_read(to, result, caller);
}

/// `fgets` has returned.
unsafe fn line_read(to: usize, result: usize, caller: Caller) {
    if result != 0 {
        // SAFETY: it has written a string.
        unsafe { uses::text_written(to, caller) };
    }
}

/// `getline` has returned.
unsafe fn piece_read(to: usize, n_bytes: usize, caller: Caller) {
    if (n_bytes as isize) > 0 {
        // SAFETY: it has left its buffer's address there.
        uses::written(unsafe { *(to as *const usize) }, n_bytes + 1, caller);
    }
}

/// Waits until a stream can be read. Where to go on.
unsafe extern "C-unwind" fn before_read(
    stream: *mut c_void,
    number: usize,
    pc: usize,
    sp: usize,
) -> *mut c_void {
    // SAFETY: the program promises a stream; the borrows end before the steps.
    unsafe {
        if let Some(mut inside) = enter() {
            let fd = libc::fileno(stream.cast());
            if fd >= 0 && is_drained(stream) && inside.process.io.look(fd).kind.is_stream() {
                inside.this().spin.reset();
                let site = inside.site(Caller { pc, sp });
                io::wait_for_one(&mut inside, OpKind::IoRead, fd, site);
            } else {
                common::touch(&mut inside, Common::Files, OpKind::Call, Caller { pc, sp });
            }
            leave((), inside);
        }
        real_reader(number)
    }
}

/// As in `common`.
pub(super) fn find_all() {
    (0..READERS.len()).for_each(|it| {
        real_reader(it);
    });
}

fn real_reader(number: usize) -> *mut c_void {
    behind(&FOUND[number], READERS[number])
}
