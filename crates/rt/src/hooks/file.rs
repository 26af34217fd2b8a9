//! Files, where opening or locking them can block: named pipes and locks between descriptions; and the
//! file that is random.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};

use raddle_fiber::raw;
use raddle_model::{OpKind, SiteId};
use raddle_trace::Common;

use crate::{
    base::{random::fill, real},
    control::{Inside, enter, enter_if, is_active},
    hooks::{caller, child::pause, common, export, fail, hooks, number},
    outside::io,
    record::stack::Caller,
    schedule::{signals::leave, step::yield_now},
    state::io::{AT_ONCE_NO_POINT, DescriptorKind, is_hidden},
};

hooks! { |inside, caller|
    /// Variadic in C; the mode is there if a file may be created. Passing it on does no harm.
    fn open | open64 | __open | __open64 | __open_2 | __open64_2(
        path: *const c_char, flags: c_int, mode: c_uint
    ) -> c_int
        = open_at(libc::AT_FDCWD, path, flags, mode, caller);
    fn openat | openat64 | __openat_2 | __openat64_2(
        folder: c_int, path: *const c_char, flags: c_int, mode: c_uint
    ) -> c_int
        = open_at(folder, path, flags, mode, caller);
}

export! {
    flock => do_flock;
    fopen => do_fopen;
    fopen64 => do_fopen;
}

/// So many tries to get what another thread has are made at full speed; then it is somebody outside who
/// has it, most likely.
const TRIES_FAST: u32 = 10_000;
/// A stream of random bytes has so many.
const RANDOM_SIZE: usize = 1 << 16;

unsafe fn open_at(
    folder: c_int,
    path: *const c_char,
    flags: c_int,
    mode: c_uint,
    caller: Caller,
) -> c_int {
    let mut room = [0; 128];
    let from = path;
    // SAFETY: the program's promises are passed on.
    let path = unsafe { number::path_at(folder, path, &mut room) };
    let is_number = path != from;
    let real = |flags: c_int| {
        let args = [folder as usize, path as usize, flags as usize, mode as usize, 0, 0];
        // SAFETY: the program's promises are passed on.
        unsafe { raw::syscall(libc::SYS_openat, args) }
    };
    // SAFETY: the program's promises are passed on; the thread that runs is inside a hook.
    unsafe {
        let result = if let Some(mut inside) = enter() {
            common::touch(&mut inside, Common::Files, OpKind::Call, caller);
            let told = (is_number && flags & libc::O_ACCMODE == libc::O_RDONLY)
                .then(|| number::content(&mut inside, folder, from));
            let result = match flags & libc::O_ACCMODE {
                _ if told.as_ref().is_some_and(Option::is_some) => {
                    let is_kept = flags & libc::O_CLOEXEC == 0;
                    file_of(&mut inside, &told.flatten().unwrap_or_default(), is_kept)
                }
                libc::O_RDONLY | libc::O_WRONLY
                    if flags & libc::O_NONBLOCK == 0 && is_fifo(folder, path) =>
                {
                    let site = inside.site(caller);
                    open_fifo(&mut inside, || real(flags | libc::O_NONBLOCK), site)
                }
                _ => real(flags),
            };
            if result >= 0 {
                inside.process.io.forget(result as c_int);
                if is_random(path) {
                    inside.process.io.add(result as c_int, DescriptorKind::Random, false);
                }
            }
            leave(result, inside)
        } else {
            real(flags)
        };
        if result < 0 { fail(-result as c_int) } else { result as c_int }
    }
}

unsafe fn is_fifo(folder: c_int, path: *const c_char) -> bool {
    // SAFETY: the program promises a path; the kernel fills our own structure in.
    unsafe {
        let mut status = std::mem::zeroed::<libc::stat>();
        let args = [folder as usize, path as usize, &raw mut status as usize, 0, 0, 0];
        raw::syscall(libc::SYS_newfstatat, args) == 0
            && status.st_mode & libc::S_IFMT == libc::S_IFIFO
    }
}

/// Opens one end of a named pipe without blocking in the kernel. To write, somebody must read first; who
/// reads gets its end at once, and waits when it reads.
unsafe fn open_fifo(inside: &mut Inside, open: impl Fn() -> isize, site: SiteId) -> isize {
    // SAFETY: the thread that runs is inside a hook.
    unsafe {
        let result = try_again(inside, libc::ENXIO, open, site);
        if result >= 0 {
            let fd = result as usize;
            let (get, set) = (libc::F_GETFL as usize, libc::F_SETFL as usize);
            let flags = raw::syscall(libc::SYS_fcntl, [fd, get, 0, 0, 0, 0]) as usize;
            let flags = flags & !(libc::O_NONBLOCK as usize);
            raw::syscall(libc::SYS_fcntl, [fd, set, flags, 0, 0, 0]);
            inside.process.io.is_stale = true;
        }
        result
    }
}

/// Tries again, after the others, while the answer is that another thread has to do something first.
pub(super) unsafe fn try_again(
    inside: &mut Inside,
    error: c_int,
    ask: impl Fn() -> isize,
    site: SiteId,
) -> isize {
    let mut n_tries = 0;
    loop {
        let result = ask();
        if result != -(error as isize) {
            return result;
        }
        yield_now(inside, site);
        n_tries += 1;
        if n_tries > TRIES_FAST {
            pause();
        }
    }
}

unsafe extern "C-unwind" fn do_flock(fd: c_int, operation: c_int) -> c_int {
    let caller = caller();
    let real = |operation: c_int| {
        // SAFETY: the program's promises are passed on.
        unsafe { raw::syscall(libc::SYS_flock, [fd as usize, operation as usize, 0, 0, 0, 0]) }
    };
    // SAFETY: the thread that runs is inside a hook; the borrows end before the steps.
    unsafe {
        let result = if let Some(mut inside) = enter() {
            common::touch(&mut inside, Common::Files, OpKind::Call, caller);
            let result = match operation & (libc::LOCK_NB | libc::LOCK_UN) {
                0 => lock(&mut inside, fd, || real(operation | libc::LOCK_NB), caller),
                _ => {
                    inside.meet();
                    real(operation)
                }
            };
            leave(result, inside)
        } else {
            real(operation)
        };
        if result < 0 { fail(-result as c_int) } else { 0 }
    }
}

/// Locks a file, inside a hook; `ask` does not block.
pub(super) unsafe fn lock(
    inside: &mut Inside,
    fd: c_int,
    ask: impl Fn() -> isize,
    caller: Caller,
) -> isize {
    // SAFETY: the thread that runs is inside a hook; the borrows end before the steps.
    unsafe {
        let site = inside.site(caller);
        let object = inside.descriptor_object(fd);
        io::step_at_once(inside, OpKind::Io, object, AT_ONCE_NO_POINT, site);
        let result = try_again(inside, libc::EAGAIN, ask, site);
        inside.meet();
        result
    }
}

unsafe fn is_random(path: *const c_char) -> bool {
    // SAFETY: the program promises a path.
    let path = unsafe { CStr::from_ptr(path) };
    path == c"/dev/urandom" || path == c"/dev/random"
}

unsafe extern "C-unwind" fn do_fopen(path: *const c_char, mode: *const c_char) -> *mut c_void {
    let caller = caller();
    // SAFETY: the program's promises are passed on.
    unsafe {
        common::call(Common::Files, OpKind::Call, caller);
        if is_active()
            && is_random(path)
            && let Some(mut inside) = enter()
        {
            let stream = random_stream(&mut inside);
            if !leave(stream, inside).is_null() {
                return stream;
            }
        }
        let mut room = [0; 128];
        let other = number::path(path, &mut room);
        if other != path
            && *mode.cast::<u8>() == b'r'
            && let Some(mut inside) = enter()
        {
            let told = number::content(&mut inside, libc::AT_FDCWD, path);
            if let Some(fd) =
                leave(told.map(|it| file_of(&mut inside, &it, true)).filter(|it| *it >= 0), inside)
            {
                return libc::fdopen(fd as c_int, mode).cast();
            }
        }
        real::fopen(other, mode)
    }
}

/// A file in memory, at its beginning; or the kernel's error.
unsafe fn file_of(inside: &mut Inside, bytes: &[u8], is_kept: bool) -> isize {
    let flags = if is_kept { 0 } else { libc::MFD_CLOEXEC as usize };
    // SAFETY: the name and the bytes are ours; the thread that runs is inside a hook.
    unsafe {
        let args = [c"thread".as_ptr() as usize, flags, 0, 0, 0, 0];
        let fd = raw::syscall(libc::SYS_memfd_create, args);
        if fd >= 0 {
            let args = [fd as usize, bytes.as_ptr() as usize, bytes.len(), 0, 0, 0];
            raw::syscall(libc::SYS_pwrite64, args);
            inside.process.io.forget(fd as c_int);
        }
        fd
    }
}

/// A stream of random bytes, the same in each execution; null if there is no room for it.
unsafe fn random_stream(inside: &mut Inside) -> *mut c_void {
    let mut bytes = vec![0_u8; RANDOM_SIZE];
    // SAFETY: the buffer is ours; the thread that runs is inside a hook.
    unsafe {
        fill(bytes.as_mut_ptr().cast(), RANDOM_SIZE);
        let fd = libc::memfd_create(c"random".as_ptr(), libc::MFD_CLOEXEC);
        if fd < 0 {
            return std::ptr::null_mut();
        }
        let args = [fd as usize, bytes.as_ptr() as usize, RANDOM_SIZE, 0, 0, 0];
        raw::syscall(libc::SYS_pwrite64, args);
        inside.process.io.forget(fd);
        libc::fdopen(fd, c"r".as_ptr()).cast()
    }
}

/// Reads from a file that is random. `None` if it is another.
pub(super) unsafe fn read_random(fd: c_int, buffer: *mut c_void, size: usize) -> Option<isize> {
    let inside = enter_if(!is_hidden(fd) && fd >= 0)?;
    // SAFETY: the program promises the buffer; the thread that runs is inside a hook.
    unsafe {
        if inside.process.io.kind_of(fd) != DescriptorKind::Random {
            return leave(None, inside);
        }
        fill(buffer, size);
        leave(Some(size as isize), inside)
    }
}
