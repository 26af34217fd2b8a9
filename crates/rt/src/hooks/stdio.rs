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
    hooks::{behind, common, descriptor, export_before, hooks, mutex::errno_of},
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
    fgets: 0, "rdx";
    fgets_unlocked: 1, "rdx";
    __fgets_chk: 2, "rcx";
    fread: 3, "rcx";
    fread_unlocked: 4, "rcx";
    __fread_chk: 5, "r8";
    fgetc: 6, "rdi";
    getc: 7, "rdi";
    _IO_getc: 8, "rdi";
    getc_unlocked: 9, "rdi";
    __uflow: 10, "rdi";
    getline: 11, "rdx";
    getdelim: 12, "rcx";
    __getdelim: 13, "rcx";
    fscanf: 14, "rdi";
    __isoc99_fscanf: 15, "rdi";
    __isoc23_fscanf: 16, "rdi";
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
