//! The C library's own functions, found behind our definitions of the same name.

#![expect(non_snake_case, reason = "the C library's names")]

use std::{
    ffi::{CStr, c_char, c_int, c_uint, c_void},
    mem, ptr,
    sync::atomic::{AtomicPtr, Ordering::Relaxed},
};

use libc::{
    pthread_attr_t, pthread_barrier_t, pthread_barrierattr_t, pthread_cond_t, pthread_condattr_t,
    pthread_key_t, pthread_mutex_t, pthread_mutexattr_t, pthread_once_t, pthread_rwlock_t,
    pthread_rwlockattr_t, pthread_spinlock_t, pthread_t, sem_t, sigset_t, size_t, ssize_t,
    timespec,
};

macro_rules! real {
    ($(fn $name:ident($($arg:ident: $type:ty),* $(,)?) $(-> $result:ty)?;)*) => {
        /// The functions by number.
        #[expect(non_camel_case_types, reason = "the C library's names")]
        #[derive(Clone, Copy)]
        enum Number { $($name,)* }

        /// Their names.
        const NAMES: &[&CStr] = &[$(
            match CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()) {
                Ok(name) => name,
                Err(_) => panic!("a name is a C string"),
            },
        )*];

        /// Where they are.
        static FOUND: [AtomicPtr<c_void>; NAMES.len()] =
            [const { AtomicPtr::new(ptr::null_mut()) }; NAMES.len()];

        $(
            /// The C library's function of this name.
            ///
            /// # Safety
            ///
            /// As its documentation says.
            #[inline]
            pub(crate) unsafe fn $name($($arg: $type),*) $(-> $result)? {
                let mut symbol = FOUND[Number::$name as usize].load(Relaxed);
                if symbol.is_null() {
                    symbol = find(Number::$name as usize);
                }
                // SAFETY: this is the type that the C library gives to the function of this name.
                let function = unsafe {
                    mem::transmute::<*mut c_void, unsafe extern "C-unwind" fn($($type),*) $(-> $result)?>(symbol)
                };
                // SAFETY: the caller promises what the function asks for.
                unsafe { function($($arg),*) }
            }
        )*
    };
}

/// Looks a function up once. Threads that race here find the same answer, so no lock is needed.
#[cold]
fn find(number: usize) -> *mut c_void {
    let symbol = look_up(NAMES[number]);
    if symbol.is_null() {
        crate::base::die::die(&[b"the C library has no function ", NAMES[number].to_bytes()]);
    }
    FOUND[number].store(symbol, Relaxed);
    symbol
}

/// The unwinder's function that throws, behind ours.
pub(crate) fn unwinder() -> *mut c_void {
    let symbol = look_up(c"_Unwind_RaiseException");
    if symbol.is_null() {
        crate::base::die::die(&[b"there is no unwinder"]);
    }
    symbol
}

/// Looks them all up, so that no execution has to; one that this C library lacks stays unknown.
pub(crate) fn find_all() {
    for (name, found) in NAMES.iter().zip(&FOUND) {
        found.store(look_up(name), Relaxed);
    }
}

fn look_up(name: &CStr) -> *mut c_void {
    let mut symbol = ptr::null_mut();
    if name.to_bytes().starts_with(b"pthread_cond_") {
        // Before glibc 2.36 the unversioned look-up finds the condition variables of 1999.
        // SAFETY: both are C strings, and RTLD_NEXT is a valid handle.
        symbol = unsafe { libc::dlvsym(libc::RTLD_NEXT, name.as_ptr(), c"GLIBC_2.3.2".as_ptr()) };
    }
    if symbol.is_null() {
        // SAFETY: `name` is a C string, and RTLD_NEXT is a valid handle.
        symbol = unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) };
    }
    if symbol.is_null() {
        // Raddle loads us first. A program that is run without it may have the C library before us: there is
        // nothing behind us then, and nobody calls our functions but the hooks of the compiler.
        // SAFETY: both are C strings; the library is there already.
        symbol = unsafe {
            let library = libc::dlopen(c"libc.so.6".as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD);
            if library.is_null() { symbol } else { libc::dlsym(library, name.as_ptr()) }
        };
    }
    symbol
}

/// A thread's start routine.
pub(crate) type Start = unsafe extern "C-unwind" fn(*mut c_void) -> *mut c_void;
/// A C11 thread's start routine.
pub(crate) type Start11 = unsafe extern "C-unwind" fn(*mut c_void) -> c_int;
/// `main`.
pub(crate) type Main =
    unsafe extern "C-unwind" fn(c_int, *mut *mut c_char, *mut *mut c_char) -> c_int;
/// A destructor.
pub(crate) type Destructor = unsafe extern "C-unwind" fn(*mut c_void);
/// A function without arguments.
pub(crate) type Thunk = unsafe extern "C-unwind" fn();

real! {
    fn __libc_start_main(
        main: Main, argc: c_int, argv: *mut *mut c_char, init: *mut c_void, fini: *mut c_void,
        rtld_fini: *mut c_void, stack_end: *mut c_void
    ) -> c_int;
    fn pthread_create(thread: *mut pthread_t, attr: *const pthread_attr_t, start: Start, arg: *mut c_void) -> c_int;
    fn pthread_join(thread: pthread_t, result: *mut *mut c_void) -> c_int;
    fn pthread_tryjoin_np(thread: pthread_t, result: *mut *mut c_void) -> c_int;
    fn pthread_timedjoin_np(thread: pthread_t, result: *mut *mut c_void, deadline: *const timespec) -> c_int;
    fn pthread_clockjoin_np(thread: pthread_t, result: *mut *mut c_void, clock: c_int, deadline: *const timespec) -> c_int;
    fn pthread_detach(thread: pthread_t) -> c_int;
    fn pthread_exit(result: *mut c_void) -> !;
    fn pthread_cancel(thread: pthread_t) -> c_int;
    fn pthread_testcancel();
    fn pthread_setcancelstate(state: c_int, old: *mut c_int) -> c_int;
    fn pthread_setcanceltype(kind: c_int, old: *mut c_int) -> c_int;
    fn pthread_setname_np(thread: pthread_t, name: *const c_char) -> c_int;
    fn pthread_getname_np(thread: pthread_t, name: *mut c_char, size: size_t) -> c_int;
    fn pthread_getattr_np(thread: pthread_t, attr: *mut pthread_attr_t) -> c_int;
    fn sigaltstack(stack: *const libc::stack_t, old: *mut libc::stack_t) -> c_int;
    fn pthread_kill(thread: pthread_t, signal: c_int) -> c_int;
    fn pthread_mutex_init(mutex: *mut pthread_mutex_t, attr: *const pthread_mutexattr_t) -> c_int;
    fn pthread_mutex_destroy(mutex: *mut pthread_mutex_t) -> c_int;
    fn pthread_mutex_lock(mutex: *mut pthread_mutex_t) -> c_int;
    fn pthread_mutex_trylock(mutex: *mut pthread_mutex_t) -> c_int;
    fn pthread_mutex_timedlock(mutex: *mut pthread_mutex_t, deadline: *const timespec) -> c_int;
    fn pthread_mutex_clocklock(mutex: *mut pthread_mutex_t, clock: c_int, deadline: *const timespec) -> c_int;
    fn pthread_mutex_unlock(mutex: *mut pthread_mutex_t) -> c_int;
    fn pthread_mutex_consistent(mutex: *mut pthread_mutex_t) -> c_int;
    fn pthread_cond_init(cond: *mut pthread_cond_t, attr: *const pthread_condattr_t) -> c_int;
    fn pthread_cond_destroy(cond: *mut pthread_cond_t) -> c_int;
    fn pthread_cond_wait(cond: *mut pthread_cond_t, mutex: *mut pthread_mutex_t) -> c_int;
    fn pthread_cond_timedwait(cond: *mut pthread_cond_t, mutex: *mut pthread_mutex_t, deadline: *const timespec) -> c_int;
    fn pthread_cond_clockwait(cond: *mut pthread_cond_t, mutex: *mut pthread_mutex_t, clock: c_int, deadline: *const timespec) -> c_int;
    fn pthread_cond_signal(cond: *mut pthread_cond_t) -> c_int;
    fn pthread_cond_broadcast(cond: *mut pthread_cond_t) -> c_int;
    fn pthread_rwlock_init(lock: *mut pthread_rwlock_t, attr: *const pthread_rwlockattr_t) -> c_int;
    fn pthread_rwlock_destroy(lock: *mut pthread_rwlock_t) -> c_int;
    fn pthread_rwlock_rdlock(lock: *mut pthread_rwlock_t) -> c_int;
    fn pthread_rwlock_tryrdlock(lock: *mut pthread_rwlock_t) -> c_int;
    fn pthread_rwlock_timedrdlock(lock: *mut pthread_rwlock_t, deadline: *const timespec) -> c_int;
    fn pthread_rwlock_clockrdlock(lock: *mut pthread_rwlock_t, clock: c_int, deadline: *const timespec) -> c_int;
    fn pthread_rwlock_wrlock(lock: *mut pthread_rwlock_t) -> c_int;
    fn pthread_rwlock_trywrlock(lock: *mut pthread_rwlock_t) -> c_int;
    fn pthread_rwlock_timedwrlock(lock: *mut pthread_rwlock_t, deadline: *const timespec) -> c_int;
    fn pthread_rwlock_clockwrlock(lock: *mut pthread_rwlock_t, clock: c_int, deadline: *const timespec) -> c_int;
    fn pthread_rwlock_unlock(lock: *mut pthread_rwlock_t) -> c_int;
    fn pthread_spin_init(lock: *mut pthread_spinlock_t, shared: c_int) -> c_int;
    fn pthread_spin_destroy(lock: *mut pthread_spinlock_t) -> c_int;
    fn pthread_spin_lock(lock: *mut pthread_spinlock_t) -> c_int;
    fn pthread_spin_trylock(lock: *mut pthread_spinlock_t) -> c_int;
    fn pthread_spin_unlock(lock: *mut pthread_spinlock_t) -> c_int;
    fn pthread_barrier_init(barrier: *mut pthread_barrier_t, attr: *const pthread_barrierattr_t, count: c_uint) -> c_int;
    fn pthread_barrier_destroy(barrier: *mut pthread_barrier_t) -> c_int;
    fn pthread_barrier_wait(barrier: *mut pthread_barrier_t) -> c_int;
    fn pthread_once(once: *mut pthread_once_t, routine: Thunk) -> c_int;
    fn pthread_key_create(key: *mut pthread_key_t, destructor: Option<Destructor>) -> c_int;
    fn pthread_key_delete(key: pthread_key_t) -> c_int;
    fn pthread_getspecific(key: pthread_key_t) -> *mut c_void;
    fn pthread_setspecific(key: pthread_key_t, value: *const c_void) -> c_int;
    fn sem_init(sem: *mut sem_t, shared: c_int, count: c_uint) -> c_int;
    fn sem_destroy(sem: *mut sem_t) -> c_int;
    fn sem_wait(sem: *mut sem_t) -> c_int;
    fn sem_trywait(sem: *mut sem_t) -> c_int;
    fn sem_timedwait(sem: *mut sem_t, deadline: *const timespec) -> c_int;
    fn sem_clockwait(sem: *mut sem_t, clock: c_int, deadline: *const timespec) -> c_int;
    fn sem_post(sem: *mut sem_t) -> c_int;
    fn sem_getvalue(sem: *mut sem_t, value: *mut c_int) -> c_int;
    fn __cxa_thread_atexit_impl(destructor: Destructor, object: *mut c_void, dso: *mut c_void) -> c_int;
    fn __cxa_guard_acquire(guard: *mut u64) -> c_int;
    fn __cxa_guard_release(guard: *mut u64);
    fn __cxa_guard_abort(guard: *mut u64);
    fn __assert_fail(text: *const c_char, file: *const c_char, line: c_uint, function: *const c_char) -> !;
    fn abort() -> !;
    fn exit(code: c_int) -> !;
    fn quick_exit(code: c_int) -> !;
    fn _exit(code: c_int) -> !;
    fn syscall(number: i64, a: usize, b: usize, c: usize, d: usize, e: usize, f: usize) -> i64;
    fn sched_yield() -> c_int;
    fn pthread_getcpuclockid(thread: pthread_t, clock: *mut libc::clockid_t) -> c_int;
    fn opendir(path: *const c_char) -> *mut c_void;
    fn fdopendir(fd: c_int) -> *mut c_void;
    fn scandir(path: *const c_char, list: *mut c_void, filter: Option<unsafe extern "C-unwind" fn(*const libc::dirent64) -> c_int>, compare: Option<unsafe extern "C-unwind" fn(*mut *const libc::dirent64, *mut *const libc::dirent64) -> c_int>) -> c_int;
    fn nanosleep(length: *const timespec, left: *mut timespec) -> c_int;
    fn clock_nanosleep(clock: c_int, flags: c_int, length: *const timespec, left: *mut timespec) -> c_int;
    fn clock_gettime(clock: c_int, time: *mut timespec) -> c_int;
    fn sigaction(signal: c_int, action: *const libc::sigaction, old: *mut libc::sigaction) -> c_int;
    fn pthread_sigmask(how: c_int, set: *const sigset_t, old: *mut sigset_t) -> c_int;
    fn fork() -> c_int;
    fn _Fork() -> c_int;
    fn readdir(folder: *mut c_void) -> *mut c_void;
    fn closedir(folder: *mut c_void) -> c_int;
    fn rewinddir(folder: *mut c_void);
    fn prctl(option: c_int, a: usize, b: usize, c: usize, d: usize) -> c_int;
    fn system(command: *const c_char) -> c_int;
    fn popen(command: *const c_char, mode: *const c_char) -> *mut c_void;
    fn posix_spawn(pid: *mut libc::pid_t, path: *const c_char, actions: *const c_void, attr: *const c_void, args: *const *mut c_char, environment: *const *mut c_char) -> c_int;
    fn posix_spawnp(pid: *mut libc::pid_t, path: *const c_char, actions: *const c_void, attr: *const c_void, args: *const *mut c_char, environment: *const *mut c_char) -> c_int;
    fn sbrk(increment: isize) -> *mut c_void;
    fn fopen(path: *const c_char, mode: *const c_char) -> *mut c_void;
    fn fclose(stream: *mut c_void) -> c_int;
    fn memcpy(to: *mut c_void, from: *const c_void, size: size_t) -> *mut c_void;
    fn memmove(to: *mut c_void, from: *const c_void, size: size_t) -> *mut c_void;
    fn memset(to: *mut c_void, byte: c_int, size: size_t) -> *mut c_void;
    fn read(fd: c_int, buffer: *mut c_void, size: size_t) -> ssize_t;
    fn write(fd: c_int, buffer: *const c_void, size: size_t) -> ssize_t;
    fn poll(fds: *mut libc::pollfd, count: libc::nfds_t, timeout_ms: c_int) -> c_int;
    fn longjmp(buffer: *mut c_void, value: c_int) -> !;
    fn sem_open(name: *const c_char, flags: c_int, mode: c_uint, count: c_uint) -> *mut sem_t;
    fn sem_close(sem: *mut sem_t) -> c_int;
    fn usleep(length_us: c_uint) -> c_int;
    fn sleep(length_s: c_uint) -> c_uint;
    fn thrd_sleep(length: *const timespec, left: *mut timespec) -> c_int;
    fn gettimeofday(to: *mut libc::timeval, zone: *mut c_void) -> c_int;
    fn time(to: *mut libc::time_t) -> libc::time_t;
    fn timespec_get(to: *mut timespec, base: c_int) -> c_int;
    fn clock() -> libc::c_long;
    fn sched_getaffinity(process: libc::pid_t, size: size_t, set: *mut c_void) -> c_int;
    fn sched_setaffinity(process: libc::pid_t, size: size_t, set: *const c_void) -> c_int;
    fn pthread_getaffinity_np(thread: pthread_t, size: size_t, set: *mut c_void) -> c_int;
    fn pthread_setaffinity_np(thread: pthread_t, size: size_t, set: *const c_void) -> c_int;
    fn sysconf(name: c_int) -> libc::c_long;
    fn get_nprocs() -> c_int;
    fn get_nprocs_conf() -> c_int;
    fn sched_getcpu() -> c_int;
    fn flockfile(stream: *mut c_void);
    fn ftrylockfile(stream: *mut c_void) -> c_int;
    fn funlockfile(stream: *mut c_void);
    fn thrd_create(thread: *mut pthread_t, start: Start11, arg: *mut c_void) -> c_int;
    fn thrd_join(thread: pthread_t, result: *mut c_int) -> c_int;
    fn thrd_detach(thread: pthread_t) -> c_int;
    fn thrd_exit(result: c_int) -> !;
    fn mtx_init(mutex: *mut pthread_mutex_t, kind: c_int) -> c_int;
    fn mtx_destroy(mutex: *mut pthread_mutex_t);
    fn mtx_lock(mutex: *mut pthread_mutex_t) -> c_int;
    fn mtx_trylock(mutex: *mut pthread_mutex_t) -> c_int;
    fn mtx_timedlock(mutex: *mut pthread_mutex_t, deadline: *const timespec) -> c_int;
    fn mtx_unlock(mutex: *mut pthread_mutex_t) -> c_int;
    fn cnd_init(cond: *mut pthread_cond_t) -> c_int;
    fn cnd_destroy(cond: *mut pthread_cond_t);
    fn cnd_wait(cond: *mut pthread_cond_t, mutex: *mut pthread_mutex_t) -> c_int;
    fn cnd_timedwait(cond: *mut pthread_cond_t, mutex: *mut pthread_mutex_t, deadline: *const timespec) -> c_int;
    fn cnd_signal(cond: *mut pthread_cond_t) -> c_int;
    fn cnd_broadcast(cond: *mut pthread_cond_t) -> c_int;
    fn call_once(once: *mut pthread_once_t, routine: Thunk);
    fn __pthread_register_cancel(buffer: *mut c_void);
    fn __pthread_unregister_cancel(buffer: *mut c_void);
    fn __pthread_unwind_next(buffer: *mut c_void) -> !;
    fn signal(signal: c_int, handler: usize) -> usize;
    fn sigprocmask(how: c_int, set: *const sigset_t, old: *mut sigset_t) -> c_int;
    fn sigpending(set: *mut sigset_t) -> c_int;
    fn raise(signal: c_int) -> c_int;
    fn pthread_sigqueue(thread: pthread_t, signal: c_int, value: usize) -> c_int;
    fn tgkill(process: c_int, thread: c_int, signal: c_int) -> c_int;
    fn kill(process: c_int, signal: c_int) -> c_int;
    fn sigqueue(process: c_int, signal: c_int, value: usize) -> c_int;
    fn sigwait(set: *const sigset_t, signal: *mut c_int) -> c_int;
    fn sigwaitinfo(set: *const sigset_t, info: *mut libc::siginfo_t) -> c_int;
    fn sigtimedwait(set: *const sigset_t, info: *mut libc::siginfo_t, length: *const timespec) -> c_int;
    fn sigsuspend(set: *const sigset_t) -> c_int;
    fn pause() -> c_int;
    fn signalfd(fd: c_int, set: *const sigset_t, flags: c_int) -> c_int;
    fn alarm(seconds: c_uint) -> c_uint;
    fn ualarm(value_us: c_uint, interval_us: c_uint) -> c_uint;
    fn setitimer(which: c_int, new: *const libc::itimerval, old: *mut libc::itimerval) -> c_int;
    fn getitimer(which: c_int, value: *mut libc::itimerval) -> c_int;
    fn timer_create(clock: c_int, event: *mut libc::sigevent, timer: *mut *mut c_void) -> c_int;
    fn timer_settime(timer: *mut c_void, flags: c_int, new: *const libc::itimerspec, old: *mut libc::itimerspec) -> c_int;
    fn timer_gettime(timer: *mut c_void, value: *mut libc::itimerspec) -> c_int;
    fn timer_getoverrun(timer: *mut c_void) -> c_int;
    fn timer_delete(timer: *mut c_void) -> c_int;
    fn timerfd_create(clock: c_int, flags: c_int) -> c_int;
    fn timerfd_settime(fd: c_int, flags: c_int, new: *const libc::itimerspec, old: *mut libc::itimerspec) -> c_int;
    fn timerfd_gettime(fd: c_int, value: *mut libc::itimerspec) -> c_int;
    fn pipe2(ends: *mut c_int, flags: c_int) -> c_int;
    fn socketpair(domain: c_int, kind: c_int, protocol: c_int, ends: *mut c_int) -> c_int;
    fn socket(domain: c_int, kind: c_int, protocol: c_int) -> c_int;
    fn bind(fd: c_int, address: *const libc::sockaddr, size: libc::socklen_t) -> c_int;
    fn connect(fd: c_int, address: *const libc::sockaddr, size: libc::socklen_t) -> c_int;
    fn shutdown(fd: c_int, how: c_int) -> c_int;
    fn eventfd(count: c_uint, flags: c_int) -> c_int;
    fn epoll_create1(flags: c_int) -> c_int;
    fn epoll_ctl(epoll: c_int, op: c_int, fd: c_int, event: *mut libc::epoll_event) -> c_int;
    fn dup(fd: c_int) -> c_int;
    fn dup2(old: c_int, new: c_int) -> c_int;
    fn dup3(old: c_int, new: c_int, flags: c_int) -> c_int;
    fn fcntl(fd: c_int, command: c_int, arg: usize) -> c_int;
    fn close(fd: c_int) -> c_int;
    fn readv(fd: c_int, parts: *const libc::iovec, n_parts: c_int) -> ssize_t;
    fn writev(fd: c_int, parts: *const libc::iovec, n_parts: c_int) -> ssize_t;
    fn recvfrom(fd: c_int, buffer: *mut c_void, size: size_t, flags: c_int, address: *mut libc::sockaddr, n_address: *mut libc::socklen_t) -> ssize_t;
    fn recvmsg(fd: c_int, message: *mut libc::msghdr, flags: c_int) -> ssize_t;
    fn sendto(fd: c_int, buffer: *const c_void, size: size_t, flags: c_int, address: *const libc::sockaddr, n_address: libc::socklen_t) -> ssize_t;
    fn sendmsg(fd: c_int, message: *const libc::msghdr, flags: c_int) -> ssize_t;
    fn accept4(fd: c_int, address: *mut libc::sockaddr, n_address: *mut libc::socklen_t, flags: c_int) -> c_int;
    fn mq_open(name: *const c_char, flags: c_int, mode: c_uint, attributes: *mut libc::mq_attr) -> c_int;
    fn mq_timedreceive(queue: c_int, buffer: *mut c_char, size: size_t, priority: *mut c_uint, until: *const timespec) -> ssize_t;
    fn mq_timedsend(queue: c_int, message: *const c_char, size: size_t, priority: c_uint, until: *const timespec) -> c_int;
    fn ppoll(list: *mut libc::pollfd, count: libc::nfds_t, length: *const timespec, mask: *const sigset_t) -> c_int;
    fn select(count: c_int, reads: *mut libc::fd_set, writes: *mut libc::fd_set, others: *mut libc::fd_set, length: *mut libc::timeval) -> c_int;
    fn pselect(count: c_int, reads: *mut libc::fd_set, writes: *mut libc::fd_set, others: *mut libc::fd_set, length: *const timespec, mask: *const sigset_t) -> c_int;
    fn epoll_wait(epoll: c_int, events: *mut libc::epoll_event, count: c_int, timeout_ms: c_int) -> c_int;
    fn epoll_pwait(epoll: c_int, events: *mut libc::epoll_event, count: c_int, timeout_ms: c_int, mask: *const sigset_t) -> c_int;
    fn epoll_pwait2(epoll: c_int, events: *mut libc::epoll_event, count: c_int, length: *const timespec, mask: *const sigset_t) -> c_int;
}
