//! Threads by the kernel's numbers. A program sees those of [`gettid`](super::syscall): its process's number, and the
//! next ones in the order of creation. Where it passes one on, the kernel is asked about the thread that carries it.
//!
//! Files about a thread that name it (`comm`, `stat`, `status`) say what the program knows.
//!
//! What it misses: listings of `/proc/self/task` by `getdents`, and numbers relative to an open folder for other calls than
//! `openat`.

use std::{
    ffi::{CStr, c_char, c_int, c_void},
    ptr,
};

use libc::{id_t, pid_t, pthread_t, timespec};
use raddle_fiber::raw;
use raddle_machine::Status;
use raddle_model::{OpKind, ThreadId};
use raddle_trace::Common;

use crate::{
    abi::glibc::LAYOUT,
    base::real,
    control::{Inside, control, enter, enter_if, is_active},
    hooks::{caller, common, export, fail},
    schedule::signals::leave,
    state::listing::Listing,
};

export! {
    sched_getscheduler => do_getscheduler;
    sched_setscheduler => do_setscheduler;
    sched_getparam => do_getparam;
    sched_setparam => do_setparam;
    sched_rr_get_interval => do_interval;
    getpriority => do_getpriority;
    setpriority => do_setpriority;
    pthread_getcpuclockid => do_clock;
    stat => do_stat;
    stat64 => do_stat;
    lstat => do_lstat;
    lstat64 => do_lstat;
    access => do_access;
    opendir => do_opendir;
    fdopendir => do_fdopendir;
    scandir => do_scandir;
    scandir64 => do_scandir;
    readdir => do_readdir;
    readdir64 => do_readdir;
    rewinddir => do_rewinddir;
    closedir => do_closedir;
}

/// The longest path below `/proc` that is looked at.
const PATH_MAX: usize = 128;

/// This process's number.
pub(super) fn own_process() -> pid_t {
    // SAFETY: asks for a number.
    unsafe { raw::syscall(libc::SYS_getpid, [0; 6]) as pid_t }
}

/// The number that the program knows a thread by.
pub(super) fn of_thread(thread: ThreadId) -> pid_t {
    own_process() + thread.0 as pid_t
}

/// The thread that the program knows by a number: ours, or the one that the C library has kept for it.
pub(super) fn thread(inside: &mut Inside, number: pid_t) -> Option<ThreadId> {
    // SAFETY: active means initialised; thread control blocks live for ever.
    unsafe {
        let threads = &inside.scheduler.threads;
        let idx = usize::try_from(number.checked_sub(own_process())?).ok();
        let kept = |fs: usize| *((fs + LAYOUT.thread_number) as *const pid_t);
        idx.filter(|it| *it < threads.len())
            .or_else(|| threads.iter().position(|it| kept(it.fs) == number))
            .map(|it| ThreadId(it as u32))
    }
}

/// What the kernel is to be asked about instead of a number that the program has passed: the thread that carries the
/// one that is meant.
fn carrier(number: pid_t) -> pid_t {
    if !is_active() || number <= 0 {
        return number;
    }
    // SAFETY: active means initialised; thread control blocks live for ever.
    unsafe {
        let inside = &mut Inside::assume();
        match thread(inside, number) {
            Some(ThreadId(0)) => own_process(),
            Some(_) if inside.scheduler.has_fibers => own_process(),
            Some(it) => {
                *((inside.scheduler.threads[it.idx()].fs + LAYOUT.thread_number) as *const pid_t)
            }
            None => number,
        }
    }
}

/// The arguments of a system call, with the numbers of threads in them exchanged.
pub(super) fn exchange(call: i64, mut args: [usize; 6]) -> [usize; 6] {
    let at = match call {
        libc::SYS_sched_getattr
        | libc::SYS_sched_setattr
        | libc::SYS_sched_getscheduler
        | libc::SYS_sched_setscheduler
        | libc::SYS_sched_getparam
        | libc::SYS_sched_setparam
        | libc::SYS_sched_getaffinity
        | libc::SYS_sched_setaffinity
        | libc::SYS_sched_rr_get_interval
        | libc::SYS_prlimit64 => 0,
        libc::SYS_getpriority
        | libc::SYS_setpriority
        | libc::SYS_ioprio_get
        | libc::SYS_ioprio_set => 1,
        _ => return args,
    };
    args[at] = carrier(args[at] as pid_t) as usize;
    args
}

/// Makes a system call with the arguments of the function of its name.
fn pass_on(call: i64, args: [usize; 4]) -> isize {
    let [a, b, c, d] = args;
    // SAFETY: the program's promises are passed on.
    unsafe { raw::syscall(call, exchange(call, [a, b, c, d, 0, 0])) }
}

/// The same, with the result as the C library gives it.
fn result_of(call: i64, args: [usize; 4]) -> c_int {
    match pass_on(call, args) {
        error @ ..0 => fail(-error as c_int),
        result => result as c_int,
    }
}

unsafe extern "C" fn do_getscheduler(process: pid_t) -> c_int {
    result_of(libc::SYS_sched_getscheduler, [process as usize, 0, 0, 0])
}

unsafe extern "C" fn do_setscheduler(process: pid_t, policy: c_int, param: *const c_void) -> c_int {
    result_of(libc::SYS_sched_setscheduler, [process as usize, policy as usize, param as usize, 0])
}

unsafe extern "C" fn do_getparam(process: pid_t, param: *mut c_void) -> c_int {
    result_of(libc::SYS_sched_getparam, [process as usize, param as usize, 0, 0])
}

unsafe extern "C" fn do_setparam(process: pid_t, param: *const c_void) -> c_int {
    result_of(libc::SYS_sched_setparam, [process as usize, param as usize, 0, 0])
}

unsafe extern "C" fn do_interval(process: pid_t, interval: *mut timespec) -> c_int {
    result_of(libc::SYS_sched_rr_get_interval, [process as usize, interval as usize, 0, 0])
}

/// The kernel's answer goes from 40 to 1, so that none is an error.
unsafe extern "C" fn do_getpriority(which: c_int, who: id_t) -> c_int {
    match pass_on(libc::SYS_getpriority, [which as usize, who as usize, 0, 0]) {
        error @ ..0 => fail(-error as c_int),
        answer => 20 - answer as c_int,
    }
}

unsafe extern "C" fn do_setpriority(which: c_int, who: id_t, priority: c_int) -> c_int {
    result_of(libc::SYS_setpriority, [which as usize, who as usize, priority as usize, 0])
}

/// The clock of a thread of ours is the one that its reads of the clock show.
unsafe extern "C" fn do_clock(thread: pthread_t, clock: *mut libc::clockid_t) -> c_int {
    // SAFETY: the program's promises are passed on; active means initialised.
    unsafe {
        if !is_active() || (*control()).thread_of(thread as usize).is_none() {
            return real::pthread_getcpuclockid(thread, clock);
        }
        *clock = libc::CLOCK_THREAD_CPUTIME_ID;
        0
    }
}

/// A path relative to a folder, with the number of a thread below `/proc` exchanged. `room` is where another path is
/// written.
pub(super) unsafe fn path_at(
    folder: c_int,
    from: *const c_char,
    room: &mut [u8; PATH_MAX],
) -> *const c_char {
    // SAFETY: the program promises a path.
    unsafe {
        let Some(mut inside) = enter_if(!from.is_null() && (*from.cast::<u8>()).is_ascii_digit())
        else {
            return path(from, room);
        };
        if !names_threads(folder) {
            return leave(from, inside);
        }
        let text = [b"/proc/self/task/", CStr::from_ptr(from).to_bytes()].concat();
        leave(write(exchanged(&mut inside, &text), room).unwrap_or(from), inside)
    }
}

/// Writes a path, if it is one and there is room.
fn write(text: Option<Vec<u8>>, room: &mut [u8; PATH_MAX]) -> Option<*const c_char> {
    let text = text.filter(|it| it.len() < PATH_MAX)?;
    room[..text.len()].copy_from_slice(&text);
    room[text.len()] = 0;
    Some(room.as_ptr().cast())
}

/// Is an open folder that of this process's threads? Inside a hook.
fn names_threads(folder: c_int) -> bool {
    if folder < 0 {
        return false;
    }
    let mut target = [0_u8; PATH_MAX];
    let link = format!("/proc/self/fd/{folder}\0");
    let args = [link.as_ptr() as usize, target.as_mut_ptr() as usize, PATH_MAX, 0, 0, 0];
    // SAFETY: both are ours.
    let size = unsafe { raw::syscall(libc::SYS_readlink, args) };
    usize::try_from(size).is_ok_and(|it| is_threads(&target[..it]))
}

/// What a file about a thread says, with the number and the name that the program knows it by; `None` of another file.
/// Inside a hook; the path is one that [`path`] has exchanged, so the thread is told by `from`.
pub(super) unsafe fn content(
    inside: &mut Inside,
    folder: c_int,
    from: *const c_char,
) -> Option<Vec<u8>> {
    // SAFETY: the program promises a path.
    let text = unsafe { CStr::from_ptr(from) }.to_bytes();
    let whole = match text.first() {
        Some(b'/') => text.to_vec(),
        Some(it) if it.is_ascii_digit() && names_threads(folder) => {
            [b"/proc/self/task/", text].concat()
        }
        _ => return None,
    };
    let (process, number, rest) = parts(&whole)?;
    let own = own_process();
    if process != b"self" && process != own.to_string().as_bytes() {
        return None;
    }
    let thread = thread(inside, number)?;
    let name = inside.scheduler.threads[thread.idx()].known_name();
    let name = name.split(|it| *it == 0).next().unwrap_or_default();
    if rest == b"/comm" {
        return Some([name, b"\n"].concat());
    }
    if rest != b"/stat" && rest != b"/status" {
        return None;
    }
    let carried = read_whole(&exchanged(inside, &whole)?)?;
    let number = number.to_string();
    if rest == b"/stat" {
        let end = carried.iter().rposition(|it| *it == b')')?;
        return Some([number.as_bytes(), b" (", name, &carried[end..]].concat());
    }
    let mut told = Vec::with_capacity(carried.len());
    for line in carried.split_inclusive(|it| *it == b'\n') {
        match line {
            _ if line.starts_with(b"Name:") => told.extend([b"Name:\t", name, b"\n"].concat()),
            _ if line.starts_with(b"Pid:") => {
                told.extend([b"Pid:\t", number.as_bytes(), b"\n"].concat());
            }
            _ => told.extend_from_slice(line),
        }
    }
    Some(told)
}

/// A small file, by the kernel.
fn read_whole(path: &[u8]) -> Option<Vec<u8>> {
    let path = [path, b"\0"].concat();
    let args = [libc::AT_FDCWD as usize, path.as_ptr() as usize, libc::O_RDONLY as usize, 0, 0, 0];
    // SAFETY: the path is ours and ends with a null.
    let fd = unsafe { raw::syscall(libc::SYS_openat, args) };
    let fd = usize::try_from(fd).ok()?;
    let mut text = vec![0_u8; 4096];
    let mut n_read = 0;
    while n_read < text.len() {
        let args = [fd, text.as_mut_ptr() as usize + n_read, text.len() - n_read, 0, 0, 0];
        // SAFETY: the buffer has so much room left.
        match unsafe { raw::syscall(libc::SYS_read, args) } {
            ..=0 => break,
            size => n_read += size as usize,
        }
    }
    // SAFETY: it was just opened.
    unsafe { raw::syscall(libc::SYS_close, [fd, 0, 0, 0, 0, 0]) };
    text.truncate(n_read);
    Some(text)
}

/// A path, with the number of a thread below `/proc` exchanged. `room` is where another path is written.
pub(super) unsafe fn path(path: *const c_char, room: &mut [u8; PATH_MAX]) -> *const c_char {
    const START: &[u8] = b"/proc/";
    // SAFETY: the program promises a path; it is looked at up to the first byte that differs, and so not beyond its end.
    let is_there = |(idx, byte): (usize, &u8)| unsafe { *path.cast::<u8>().add(idx) == *byte };
    let Some(mut inside) = enter_if(!path.is_null() && START.iter().enumerate().all(is_there))
    else {
        return path;
    };
    // SAFETY: the program promises a path.
    let text = unsafe { CStr::from_ptr(path) }.to_bytes();
    leave(write(exchanged(&mut inside, text), room).unwrap_or(path), inside)
}

/// `/proc/self/task/12` or `/proc/11/task/12`, with what follows, as the kernel knows it.
fn exchanged(_inside: &mut Inside, text: &[u8]) -> Option<Vec<u8>> {
    let (process, number, rest) = parts(text)?;
    let number = carrier(number).to_string();
    Some([b"/proc/", process, b"/task/", number.as_bytes(), rest].concat())
}

/// The process, the thread and what follows.
fn parts(text: &[u8]) -> Option<(&[u8], pid_t, &[u8])> {
    let rest = text.strip_prefix(b"/proc/")?;
    let at = rest.iter().position(|it| *it == b'/')?;
    let (process, rest) = rest.split_at(at);
    let rest = rest.strip_prefix(b"/task/")?;
    let n_digits = rest.iter().take_while(|it| it.is_ascii_digit()).count();
    let (number, rest) = rest.split_at(n_digits);
    Some((process, std::str::from_utf8(number).ok()?.parse().ok()?, rest))
}

unsafe fn by_path(call: i64, from: *const c_char, second: usize) -> c_int {
    let mut room = [0; PATH_MAX];
    // SAFETY: the program's promises are passed on.
    let path = unsafe { path(from, &mut room) };
    result_of(call, [path as usize, second, 0, 0])
}

unsafe extern "C-unwind" fn do_stat(path: *const c_char, status: *mut c_void) -> c_int {
    common::call(Common::Files, OpKind::Query, caller());
    // SAFETY: the program's promises are passed on.
    unsafe { by_path(libc::SYS_stat, path, status as usize) }
}

unsafe extern "C-unwind" fn do_lstat(path: *const c_char, status: *mut c_void) -> c_int {
    common::call(Common::Files, OpKind::Query, caller());
    // SAFETY: as above.
    unsafe { by_path(libc::SYS_lstat, path, status as usize) }
}

unsafe extern "C-unwind" fn do_access(path: *const c_char, mode: c_int) -> c_int {
    common::call(Common::Files, OpKind::Query, caller());
    // SAFETY: as above.
    unsafe { by_path(libc::SYS_access, path, mode as usize) }
}

unsafe extern "C-unwind" fn do_opendir(from: *const c_char) -> *mut c_void {
    common::call(Common::Files, OpKind::Call, caller());
    let mut room = [0; PATH_MAX];
    // SAFETY: as above.
    unsafe {
        let folder = real::opendir(path(from, &mut room));
        if !folder.is_null()
            && is_threads(CStr::from_ptr(from).to_bytes())
            && let Some(mut inside) = enter()
        {
            let listing = Listing::new(living(&inside), folder as usize);
            inside.process.listings.push(listing);
            leave((), inside);
        }
        folder
    }
}

unsafe extern "C-unwind" fn do_fdopendir(fd: c_int) -> *mut c_void {
    common::call(Common::Files, OpKind::Call, caller());
    // SAFETY: the program's promises are passed on.
    unsafe {
        let folder = real::fdopendir(fd);
        if !folder.is_null()
            && let Some(mut inside) = enter()
        {
            if names_threads(fd) {
                let listing = Listing::new(living(&inside), folder as usize);
                inside.process.listings.push(listing);
            }
            leave((), inside);
        }
        folder
    }
}

type Filter = Option<unsafe extern "C-unwind" fn(*const libc::dirent64) -> c_int>;
type Compare = Option<
    unsafe extern "C-unwind" fn(*mut *const libc::dirent64, *mut *const libc::dirent64) -> c_int,
>;

/// Of the folder of the threads, as the C library does it; the entries are the program's to free.
unsafe extern "C-unwind" fn do_scandir(
    from: *const c_char,
    list: *mut *mut *mut libc::dirent64,
    filter: Filter,
    compare: Compare,
) -> c_int {
    common::call(Common::Files, OpKind::Call, caller());
    // SAFETY: the program's promises are passed on; what is written to was just allocated.
    unsafe {
        let Some(mut inside) = enter_if(is_active() && is_threads(CStr::from_ptr(from).to_bytes()))
        else {
            return real::scandir(from, list.cast(), filter, compare);
        };
        // Known by where its result goes, while it is made.
        let key = list as usize;
        let made = Listing::new(living(&inside), key);
        let n_max = made.threads.len() + 2;
        inside.process.listings.push(made);
        leave((), inside);
        let all: *mut *mut libc::dirent64 = libc::calloc(n_max, size_of::<usize>()).cast();
        let mut n_kept = 0;
        for _ in 0..n_max {
            let copy: *mut libc::dirent64 = libc::malloc(size_of::<libc::dirent64>()).cast();
            if let Some(mut inside) = enter() {
                let entry =
                    listing(&mut inside, list.cast()).map_or(ptr::null_mut(), Listing::next);
                ptr::copy_nonoverlapping(entry.cast(), copy, 1);
                leave((), inside);
            }
            if filter.is_some_and(|it| it(copy) == 0) {
                libc::free(copy.cast());
                continue;
            }
            *all.add(n_kept) = copy;
            n_kept += 1;
        }
        if let Some(mut inside) = enter() {
            inside.process.listings.retain(|it| it.folder != key);
            leave((), inside);
        }
        if let Some(compare) = compare {
            // A few entries: the smallest of the rest comes next.
            for idx in 0..n_kept {
                for other in idx + 1..n_kept {
                    if compare(all.add(other).cast(), all.add(idx).cast()) < 0 {
                        ptr::swap(all.add(other), all.add(idx));
                    }
                }
            }
        }
        *list = all;
        n_kept as c_int
    }
}

/// Is it the folder of this process's threads?
fn is_threads(path: &[u8]) -> bool {
    let rest = path.strip_prefix(b"/proc/").unwrap_or_default();
    let rest = rest.strip_suffix(b"/").unwrap_or(rest);
    let process = rest.strip_suffix(b"/task").unwrap_or_default();
    let number = std::str::from_utf8(process).ok().and_then(|it| it.parse().ok());
    process == b"self" || number.is_some_and(|it: pid_t| it == own_process())
}

/// The numbers of the threads that have not ended.
fn living(inside: &Inside) -> Vec<pid_t> {
    let machine = &inside.scheduler.machine;
    let threads = (0..machine.n_threads()).map(ThreadId);
    threads.filter(|it| machine.status(*it) != Status::Finished).map(of_thread).collect()
}

/// The listing of a folder, if it is one of threads.
fn listing(inside: &mut Inside, folder: *mut c_void) -> Option<&mut Listing> {
    inside.process.listings.iter_mut().find(|it| it.folder == folder as usize)
}

unsafe extern "C-unwind" fn do_readdir(folder: *mut c_void) -> *mut c_void {
    common::call(Common::Files, OpKind::Call, caller());
    // SAFETY: the program's promises are passed on.
    unsafe {
        let Some(mut inside) = enter() else {
            return real::readdir(folder);
        };
        match listing(&mut inside, folder).map(Listing::next) {
            Some(entry) => leave(entry, inside),
            None => {
                leave((), inside);
                real::readdir(folder)
            }
        }
    }
}

unsafe extern "C-unwind" fn do_rewinddir(folder: *mut c_void) {
    common::call(Common::Files, OpKind::Call, caller());
    // SAFETY: the program's promises are passed on.
    unsafe {
        if let Some(mut inside) = enter() {
            let threads = living(&inside);
            if let Some(listing) = listing(&mut inside, folder) {
                (listing.at, listing.threads) = (0, threads);
            }
            leave((), inside);
        }
        real::rewinddir(folder);
    }
}

unsafe extern "C-unwind" fn do_closedir(folder: *mut c_void) -> c_int {
    common::call(Common::Files, OpKind::Call, caller());
    // SAFETY: the program's promises are passed on.
    unsafe {
        if let Some(mut inside) = enter() {
            inside.process.listings.retain(|it| it.folder != folder as usize);
            leave((), inside);
        }
        real::closedir(folder)
    }
}
