//! What the C library and the kernel keep for all threads: files and their names, random numbers, the environment, the
//! locale, buffers that functions return. A call that uses or changes it is a step on one object of that kind, while
//! there are other threads: whoever comes first may see something else than whoever comes second.
//!
//! Such a step orders nothing for the race detector: the program must not rely on what a library does inside.

use std::{
    ffi::{CStr, c_void},
    ptr,
    sync::atomic::AtomicPtr,
};

use raddle_model::{ObjectId, Op, OpKind};
use raddle_trace::{Common, ObjectClass, ObjectEntry, protocol::RegionTag};

use crate::{
    control::{Control, Inside, enter},
    hooks::{behind, export_before, uses},
    record::stack::Caller,
    schedule::{signals::leave, step::step},
};

/// Exports functions, each with its number, the register that has its stream (0: it has none), what it uses, and how. A
/// step is made, then the C library goes on with all arguments as they were.
macro_rules! export_calls {
    ($($name:ident: $number:literal, $stream:literal, $common:ident, $kind:ident;)*) => {
        const CALLS: &[Call] = &[$(Call {
            name: match CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()) {
                Ok(name) => name,
                Err(_) => c"",
            },
            common: Common::$common,
            kind: OpKind::$kind,
        },)*];

        export_before! { before; $($name: $number, $stream;)* }
    };
}

/// A function that uses what all threads share.
struct Call {
    name: &'static CStr,
    common: Common,
    kind: OpKind,
}

#[rustfmt::skip]
export_calls! {
    creat: 0, "0", Files, Call;
    creat64: 1, "0", Files, Call;
    unlink: 2, "0", Files, Call;
    unlinkat: 3, "0", Files, Call;
    mkdir: 4, "0", Files, Call;
    mkdirat: 5, "0", Files, Call;
    rmdir: 6, "0", Files, Call;
    rename: 7, "0", Files, Call;
    renameat: 8, "0", Files, Call;
    renameat2: 9, "0", Files, Call;
    link: 10, "0", Files, Call;
    linkat: 11, "0", Files, Call;
    symlink: 12, "0", Files, Call;
    symlinkat: 13, "0", Files, Call;
    remove: 14, "0", Files, Call;
    chmod: 15, "0", Files, Call;
    fchmod: 16, "0", Files, Call;
    fchmodat: 17, "0", Files, Call;
    chown: 18, "0", Files, Call;
    fchown: 19, "0", Files, Call;
    lchown: 20, "0", Files, Call;
    fchownat: 21, "0", Files, Call;
    truncate: 22, "0", Files, Call;
    truncate64: 23, "0", Files, Call;
    ftruncate: 24, "0", Files, Call;
    ftruncate64: 25, "0", Files, Call;
    lseek: 26, "0", Files, Call;
    lseek64: 27, "0", Files, Call;
    fwrite: 28, "rcx", Files, Call;
    fwrite_unlocked: 29, "rcx", Files, Call;
    pwrite: 30, "0", Files, Call;
    pwrite64: 31, "0", Files, Call;
    preadv: 32, "0", Files, Call;
    preadv64: 33, "0", Files, Call;
    pwritev: 34, "0", Files, Call;
    pwritev64: 35, "0", Files, Call;
    mkstemp: 36, "0", Files, Call;
    mkstemp64: 37, "0", Files, Call;
    mkostemp: 38, "0", Files, Call;
    mkostemp64: 39, "0", Files, Call;
    mkdtemp: 40, "0", Files, Call;
    tmpfile: 41, "0", Files, Call;
    tmpfile64: 42, "0", Files, Call;
    mkfifo: 43, "0", Files, Call;
    mknod: 44, "0", Files, Call;
    chdir: 45, "0", Files, Call;
    fchdir: 46, "0", Files, Call;
    umask: 47, "0", Files, Call;
    seekdir: 48, "0", Files, Call;
    utime: 49, "0", Files, Call;
    utimes: 50, "0", Files, Call;
    utimensat: 51, "0", Files, Call;
    futimens: 52, "0", Files, Call;
    fallocate: 53, "0", Files, Call;
    fallocate64: 54, "0", Files, Call;
    posix_fallocate: 55, "0", Files, Call;
    posix_fallocate64: 56, "0", Files, Call;
    copy_file_range: 57, "0", Files, Call;
    sendfile: 58, "0", Files, Call;
    sendfile64: 59, "0", Files, Call;
    lockf: 60, "0", Files, Call;
    lockf64: 61, "0", Files, Call;
    freopen: 62, "0", Files, Call;
    freopen64: 63, "0", Files, Call;
    fstat: 64, "0", Files, Query;
    fstat64: 65, "0", Files, Query;
    fstatat: 66, "0", Files, Query;
    fstatat64: 67, "0", Files, Query;
    statx: 68, "0", Files, Query;
    faccessat: 69, "0", Files, Query;
    euidaccess: 70, "0", Files, Query;
    eaccess: 71, "0", Files, Query;
    readlink: 72, "0", Files, Query;
    readlinkat: 73, "0", Files, Query;
    getcwd: 74, "0", Files, Query;
    realpath: 75, "0", Files, Query;
    statfs: 76, "0", Files, Query;
    statvfs: 77, "0", Files, Query;
    fstatvfs: 78, "0", Files, Query;
    rand: 79, "0", Rand, Call;
    srand: 80, "0", Rand, Call;
    random: 81, "0", Rand, Call;
    srandom: 82, "0", Rand, Call;
    initstate: 83, "0", Rand, Call;
    setstate: 84, "0", Rand, Call;
    drand48: 85, "0", Drand48, Call;
    lrand48: 86, "0", Drand48, Call;
    mrand48: 87, "0", Drand48, Call;
    srand48: 88, "0", Drand48, Call;
    seed48: 89, "0", Drand48, Call;
    lcong48: 90, "0", Drand48, Call;
    strtok: 91, "0", Strtok, Call;
    localtime: 92, "0", Times, Call;
    gmtime: 93, "0", Times, Call;
    ctime: 94, "0", Times, Call;
    asctime: 95, "0", Times, Call;
    tzset: 96, "0", Times, Call;
    getdate: 97, "0", Times, Call;
    setlocale: 98, "0", Locale, Call;
    localeconv: 99, "0", Locale, Query;
    nl_langinfo: 100, "0", Locale, Query;
    setenv: 101, "0", Environment, Call;
    unsetenv: 102, "0", Environment, Call;
    putenv: 103, "0", Environment, Call;
    clearenv: 104, "0", Environment, Call;
    getenv: 105, "0", Environment, Query;
    secure_getenv: 106, "0", Environment, Query;
    nice: 107, "0", Limits, Call;
    setrlimit: 108, "0", Limits, Call;
    setrlimit64: 109, "0", Limits, Call;
    getrlimit: 110, "0", Limits, Query;
    getrlimit64: 111, "0", Limits, Query;
    __cxa_atexit: 112, "0", ExitHandlers, Call;
    on_exit: 113, "0", ExitHandlers, Call;
    hcreate: 114, "0", Tables, Call;
    hsearch: 115, "0", Tables, Call;
    hdestroy: 116, "0", Tables, Call;
    getopt: 117, "0", Tables, Call;
    getopt_long: 118, "0", Tables, Call;
    getopt_long_only: 119, "0", Tables, Call;
    getpwnam: 120, "0", Databases, Call;
    getpwuid: 121, "0", Databases, Call;
    getpwent: 122, "0", Databases, Call;
    setpwent: 123, "0", Databases, Call;
    endpwent: 124, "0", Databases, Call;
    getgrnam: 125, "0", Databases, Call;
    getgrgid: 126, "0", Databases, Call;
    getgrent: 127, "0", Databases, Call;
    setgrent: 128, "0", Databases, Call;
    endgrent: 129, "0", Databases, Call;
    gethostbyname: 130, "0", Databases, Call;
    gethostbyname2: 131, "0", Databases, Call;
    gethostbyaddr: 132, "0", Databases, Call;
    getservbyname: 133, "0", Databases, Call;
    getservbyport: 134, "0", Databases, Call;
    getprotobyname: 135, "0", Databases, Call;
    getlogin: 136, "0", Databases, Call;
    ecvt: 137, "0", Buffers, Call;
    fcvt: 138, "0", Buffers, Call;
    l64a: 139, "0", Buffers, Call;
    tmpnam: 140, "0", Buffers, Call;
    ptsname: 141, "0", Buffers, Call;
    ttyname: 142, "0", Buffers, Call;
    fprintf: 143, "rdi", Files, Call;
    vfprintf: 144, "rdi", Files, Call;
    __fprintf_chk: 145, "rdi", Files, Call;
    __vfprintf_chk: 146, "rdi", Files, Call;
    fseek: 147, "rdi", Files, Call;
    fseeko: 148, "rdi", Files, Call;
    fseeko64: 149, "rdi", Files, Call;
    ftell: 150, "rdi", Files, Call;
    ftello: 151, "rdi", Files, Call;
    ftello64: 152, "rdi", Files, Call;
    rewind: 153, "rdi", Files, Call;
    fgetpos: 154, "rdi", Files, Call;
    fsetpos: 155, "rdi", Files, Call;
    fflush: 156, "rdi", Files, Call;
    fputs: 157, "rsi", Files, Call;
    fputs_unlocked: 158, "rsi", Files, Call;
    fputc: 159, "rsi", Files, Call;
    fputc_unlocked: 160, "rsi", Files, Call;
    putc: 161, "rsi", Files, Call;
    putc_unlocked: 162, "rsi", Files, Call;
    _IO_putc: 163, "rsi", Files, Call;
    ungetc: 164, "rsi", Files, Call;
}

static FOUND: [AtomicPtr<c_void>; CALLS.len()] =
    [const { AtomicPtr::new(ptr::null_mut()) }; CALLS.len()];

/// Makes a step of a call. Where to go on.
unsafe extern "C-unwind" fn before(
    stream: *mut c_void,
    number: usize,
    pc: usize,
    sp: usize,
) -> *mut c_void {
    let call = &CALLS[number];
    // SAFETY: we were called by an entry of `export_before`.
    unsafe { uses::of_other(call.name, Caller { pc, sp }) };
    if is_shared(stream)
        && let Some(mut inside) = enter()
    {
        // SAFETY: the thread that runs is inside a hook.
        unsafe { touch(&mut inside, call.common, call.kind, Caller { pc, sp }) };
        leave((), inside);
    }
    real(number)
}

/// The C library's function.
fn real(number: usize) -> *mut c_void {
    behind(&FOUND[number], CALLS[number].name)
}

/// Finds all of them at the beginning: later, a search would take away what `dlerror` has to say.
pub(super) fn find_all() {
    (0..CALLS.len()).for_each(|it| {
        real(it);
    });
}

/// Can threads see what becomes of a stream? What is printed leaves the program.
fn is_shared(stream: *mut c_void) -> bool {
    // SAFETY: null, or the program promises a stream.
    stream.is_null() || unsafe { libc::fileno(stream.cast()) } > libc::STDERR_FILENO
}

/// A step of the thread that runs on something that all threads share, if there are others. Inside a hook.
pub(crate) unsafe fn touch(inside: &mut Inside, common: Common, kind: OpKind, caller: Caller) {
    if inside.scheduler.machine.is_alone() {
        return;
    }
    let object = inside.common_object(common);
    inside.this().spin.reset();
    let site = inside.site(caller);
    step(inside, Op::on(kind, object, site));
}

/// The same, outside a hook: a function of ours goes on that uses it.
pub(crate) fn call(common: Common, kind: OpKind, caller: Caller) {
    if let Some(mut inside) = enter() {
        // SAFETY: the thread that runs is inside a hook.
        unsafe { touch(&mut inside, common, kind, caller) };
        leave((), inside);
    }
}

impl Control {
    fn common_object(&mut self, common: Common) -> ObjectId {
        let known = self.scheduler.commons[common as usize];
        if known != ObjectId::NONE {
            return known;
        }
        let entry = ObjectEntry {
            class: ObjectClass::Common as u8,
            region: RegionTag::Common as u8,
            base: common as u32,
            ..ObjectEntry::default()
        };
        let object = self.recorder.emit.add_object(entry, ObjectClass::Common, 0);
        self.scheduler.commons[common as usize] = object;
        object
    }
}
