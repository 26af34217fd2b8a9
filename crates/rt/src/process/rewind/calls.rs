//! System calls of an execution: what they leave behind in the kernel is taken back, or the process can't
//! be rewound.
//!
//! While the program's code runs, each system call of this process raises SIGSYS instead (syscall user
//! dispatch), wherever it comes from: the program, the C library or our own hooks. The handler performs
//! it. A call that leaves nothing behind, or something that [`Calls::undo`] takes back, costs a
//! microsecond or two that way. At the first call that leaves more, the dispatch ends, the call is made
//! again, and so are all after it: at full speed.
//!
//! The yardstick is a fork. What a fork shares with its parent (files and their offsets) need not be
//! taken back; what it copies (memory, descriptors, signal actions and masks) must be.

use std::{
    ffi::{c_int, c_void},
    sync::{
        OnceLock,
        atomic::{AtomicPtr, AtomicU8, Ordering::Relaxed},
    },
};

use raddle_fiber::raw;

use crate::abi::x86_64::{RESTORE_BYTES, restore};

/// An execution that makes more calls than this is left to forks.
const CALLS_MAX: u32 = 1_000;
const OPENED_MAX: usize = 256;
const MAPPED_MAX: usize = 256;

/// See the module. Lives in memory that is never put back.
#[repr(C)]
pub(super) struct Calls {
    /// May this process be rewound at all?
    pub(super) is_on: bool,
    /// The kernel looks here: are calls to be dispatched?
    selector: AtomicU8,
    /// Something was left behind that can't be taken back.
    is_lasting: bool,
    is_mask_changed: bool,
    n_calls: u32,
    /// Where the program made the call that is being made for it; null if none is.
    context: *const libc::ucontext_t,
    /// The end of the heap before `main`, and the signal mask.
    heap_end: usize,
    mask: u64,
    n_opened: usize,
    opened: [c_int; OPENED_MAX],
    n_mapped: usize,
    mapped: [(usize, usize); MAPPED_MAX],
    /// Signals whose action was changed, as a bit set; and the actions before.
    changed: u64,
    actions: [KernelAction; 65],
}

const ALLOW: u8 = 0;
const BLOCK: u8 = 1;

/// `struct sigaction`, as the kernel has it.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
struct KernelAction {
    handler: usize,
    flags: u64,
    restorer: usize,
    mask: u64,
}

/// What a call leaves behind.
enum Leaves {
    /// Nothing, or nothing that a fork would take back.
    Nothing,
    /// A descriptor, which it returns.
    Descriptor,
    /// Two descriptors, in an array.
    Pair(usize),
    /// A mapping of so many bytes, whose address it returns.
    Mapping(usize),
    /// More than can be taken back.
    More,
}

static CALLS: AtomicPtr<Calls> = AtomicPtr::new(std::ptr::null_mut());

impl Calls {
    /// Before processes are forked: says where the handler finds its notes.
    pub(super) fn prepare(&mut self, is_possible: bool) {
        self.is_on = is_possible;
        CALLS.store(&raw mut *self, Relaxed);
    }

    /// In a new process: notes what must be put back, and takes over SIGSYS.
    pub(super) fn begin(&mut self) {
        self.selector.store(ALLOW, Relaxed);
        self.forget();
        // SAFETY: asks; the mask goes into our own word.
        unsafe {
            self.heap_end = raw::syscall(libc::SYS_brk, [0; 6]) as usize;
            let args = [0, 0, &raw mut self.mask as usize, 8, 0, 0];
            raw::syscall(libc::SYS_rt_sigprocmask, args);
        }
        let flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_NODEFER;
        set_handler(libc::SIGSYS, on_call as *const () as usize, flags);
        const PR_SET_SYSCALL_USER_DISPATCH: usize = 59;
        let start = restore as *const () as usize;
        let args = [
            PR_SET_SYSCALL_USER_DISPATCH,
            1,
            start,
            RESTORE_BYTES,
            self.selector.as_ptr() as usize,
            0,
        ];
        // SAFETY: the byte lives as long as the process; nothing is dispatched yet.
        self.is_on = unsafe { raw::syscall(libc::SYS_prctl, args) } == 0;
    }

    fn forget(&mut self) {
        self.context = std::ptr::null();
        self.is_lasting = false;
        self.is_mask_changed = false;
        (self.n_calls, self.n_opened, self.n_mapped, self.changed) = (0, 0, 0, 0);
    }

    /// From now on calls are seen.
    pub(super) fn watch(&self) {
        self.selector.store(BLOCK, Relaxed);
    }

    /// From now on calls are made as ever.
    pub(super) fn let_go(&self) {
        self.selector.store(ALLOW, Relaxed);
    }

    /// Can all be taken back that the execution left behind?
    pub(super) fn can_be_undone(&self) -> bool {
        !self.is_lasting
    }

    /// Takes it back.
    pub(super) fn undo(&mut self) {
        // SAFETY: descriptors and mappings are the execution's, and nobody needs them any more; the rest
        // is put back as it was.
        unsafe {
            for fd in &self.opened[..self.n_opened] {
                raw::syscall(libc::SYS_close, [*fd as usize, 0, 0, 0, 0, 0]);
            }
            for (start, size) in &self.mapped[..self.n_mapped] {
                raw::syscall(libc::SYS_munmap, [*start, *size, 0, 0, 0, 0]);
            }
            if self.n_calls > 0 {
                raw::syscall(libc::SYS_brk, [self.heap_end, 0, 0, 0, 0, 0]);
            }
            if self.is_mask_changed {
                let args = [libc::SIG_SETMASK as usize, &raw const self.mask as usize, 0, 8, 0, 0];
                raw::syscall(libc::SYS_rt_sigprocmask, args);
            }
        }
        for signal in (1..65).filter(|it| self.changed & (1 << (it - 1)) != 0) {
            set_action(signal, &self.actions[signal as usize]);
        }
        self.forget();
    }

    /// What a call will leave behind.
    fn judge(&mut self, number: i64, args: &[usize; 6]) -> Leaves {
        self.n_calls += 1;
        let has_room = self.n_opened + 2 <= OPENED_MAX && self.n_mapped < MAPPED_MAX;
        if self.n_calls > CALLS_MAX || !has_room {
            return Leaves::More;
        }
        let nothing_if = |it: bool| if it { Leaves::Nothing } else { Leaves::More };
        match number {
            libc::SYS_open
            | libc::SYS_openat
            | libc::SYS_socket
            | libc::SYS_accept
            | libc::SYS_accept4
            | libc::SYS_dup
            | libc::SYS_eventfd
            | libc::SYS_eventfd2
            | libc::SYS_epoll_create
            | libc::SYS_epoll_create1
            | libc::SYS_timerfd_create
            | libc::SYS_memfd_create
            | libc::SYS_creat => Leaves::Descriptor,
            libc::SYS_pipe | libc::SYS_pipe2 => Leaves::Pair(args[0]),
            libc::SYS_socketpair => Leaves::Pair(args[3]),
            libc::SYS_close => nothing_if(self.close(args[0] as c_int)),
            libc::SYS_fcntl => match args[1] as c_int {
                libc::F_DUPFD | libc::F_DUPFD_CLOEXEC => Leaves::Descriptor,
                libc::F_SETFD => nothing_if(self.is_opened(args[0] as c_int)),
                libc::F_GETFD | libc::F_GETFL | libc::F_SETFL => Leaves::Nothing,
                _ => Leaves::More,
            },
            libc::SYS_ioctl => nothing_if(matches!(
                args[1] as libc::Ioctl,
                libc::TCGETS | libc::FIONREAD | libc::FIONBIO | libc::TIOCGWINSZ
            )),
            libc::SYS_mmap if args[3] & libc::MAP_FIXED as usize == 0 => Leaves::Mapping(args[1]),
            libc::SYS_munmap | libc::SYS_mprotect | libc::SYS_madvise => {
                nothing_if(self.is_mapped(args[0], args[1]))
            }
            libc::SYS_brk => nothing_if(args[0] == 0 || args[0] >= self.heap_end),
            libc::SYS_prlimit64 => nothing_if(args[2] == 0),
            libc::SYS_rt_sigprocmask => {
                self.is_mask_changed = true;
                Leaves::Nothing
            }
            libc::SYS_rt_sigaction => {
                self.note_action(args[0] as c_int);
                Leaves::Nothing
            }
            _ => nothing_if(leaves_nothing(number)),
        }
    }

    fn is_opened(&self, fd: c_int) -> bool {
        self.opened[..self.n_opened].contains(&fd)
    }

    /// Forgets a descriptor that the execution opened. `false` if it did not.
    fn close(&mut self, fd: c_int) -> bool {
        let Some(idx) = self.opened[..self.n_opened].iter().position(|it| *it == fd) else {
            return false;
        };
        self.n_opened -= 1;
        self.opened[idx] = self.opened[self.n_opened];
        true
    }

    /// Is all of this memory mapped by the execution?
    fn is_mapped(&self, start: usize, size: usize) -> bool {
        let holds =
            |it: &(usize, usize)| it.0 <= start && start.saturating_add(size) <= it.0 + it.1;
        self.mapped[..self.n_mapped].iter().any(holds)
    }

    fn note_action(&mut self, signal: c_int) {
        if !(1..65).contains(&signal) || self.changed & (1 << (signal - 1)) != 0 {
            return;
        }
        self.changed |= 1 << (signal - 1);
        let action = &raw mut self.actions[signal as usize];
        // SAFETY: the kernel writes the action into our own memory.
        unsafe {
            let args = [signal as usize, 0, action as usize, 8, 0, 0];
            raw::syscall(libc::SYS_rt_sigaction, args);
        }
    }

    fn note(&mut self, leaves: &Leaves, result: isize) {
        if result < 0 {
            return;
        }
        match leaves {
            Leaves::Descriptor => self.note_opened(result as c_int),
            Leaves::Pair(address) => {
                // SAFETY: the call has succeeded, so the kernel has written two numbers there.
                let pair = unsafe { *(*address as *const [c_int; 2]) };
                pair.into_iter().for_each(|it| self.note_opened(it));
            }
            Leaves::Mapping(size) => {
                self.mapped[self.n_mapped] = (result as usize, size.next_multiple_of(4096));
                self.n_mapped += 1;
            }
            Leaves::Nothing | Leaves::More => {}
        }
    }

    fn note_opened(&mut self, fd: c_int) {
        self.opened[self.n_opened] = fd;
        self.n_opened += 1;
    }
}

/// Calls that leave nothing behind that a fork would take back.
const fn leaves_nothing(number: i64) -> bool {
    matches!(
        number,
        libc::SYS_read
            | libc::SYS_write
            | libc::SYS_pread64
            | libc::SYS_pwrite64
            | libc::SYS_readv
            | libc::SYS_writev
            | libc::SYS_lseek
            | libc::SYS_stat
            | libc::SYS_fstat
            | libc::SYS_lstat
            | libc::SYS_newfstatat
            | libc::SYS_statx
            | libc::SYS_access
            | libc::SYS_faccessat
            | libc::SYS_faccessat2
            | libc::SYS_readlink
            | libc::SYS_readlinkat
            | libc::SYS_getdents64
            | libc::SYS_getcwd
            | libc::SYS_unlink
            | libc::SYS_unlinkat
            | libc::SYS_rename
            | libc::SYS_mkdir
            | libc::SYS_rmdir
            | libc::SYS_ftruncate
            | libc::SYS_fsync
            | libc::SYS_poll
            | libc::SYS_ppoll
            | libc::SYS_select
            | libc::SYS_pselect6
            | libc::SYS_epoll_ctl
            | libc::SYS_epoll_wait
            | libc::SYS_epoll_pwait
            | libc::SYS_timerfd_settime
            | libc::SYS_timerfd_gettime
            | libc::SYS_connect
            | libc::SYS_bind
            | libc::SYS_listen
            | libc::SYS_shutdown
            | libc::SYS_sendto
            | libc::SYS_recvfrom
            | libc::SYS_sendmsg
            | libc::SYS_recvmsg
            | libc::SYS_getsockopt
            | libc::SYS_setsockopt
            | libc::SYS_getsockname
            | libc::SYS_getpeername
            | libc::SYS_futex
            | libc::SYS_sched_yield
            | libc::SYS_sched_getaffinity
            | libc::SYS_nanosleep
            | libc::SYS_clock_nanosleep
            | libc::SYS_clock_gettime
            | libc::SYS_clock_getres
            | libc::SYS_gettimeofday
            | libc::SYS_time
            | libc::SYS_times
            | libc::SYS_getrusage
            | libc::SYS_getrandom
            | libc::SYS_getrlimit
            | libc::SYS_getpid
            | libc::SYS_gettid
            | libc::SYS_getppid
            | libc::SYS_getpgrp
            | libc::SYS_getuid
            | libc::SYS_geteuid
            | libc::SYS_getgid
            | libc::SYS_getegid
            | libc::SYS_getcpu
            | libc::SYS_uname
            | libc::SYS_sysinfo
            | libc::SYS_rt_sigpending
    )
}

/// Sets a handler that returns by a call which is not dispatched: what it interrupts can still be rewound.
pub(crate) fn set_handler(signal: c_int, handler: usize, flags: c_int) {
    const SA_RESTORER: u64 = 0x0400_0000;
    // Of a handler that is none (`SIG_DFL`), the kernel does not look at the rest.
    let action = KernelAction {
        handler,
        flags: SA_RESTORER | flags as u64,
        restorer: restore as *const () as usize,
        mask: 0,
    };
    set_action(signal, &action);
}

fn set_action(signal: c_int, action: &KernelAction) {
    // SAFETY: an action of ours, or one that the kernel gave us.
    unsafe {
        let args = [signal as usize, &raw const *action as usize, 0, 8, 0, 0];
        raw::syscall(libc::SYS_rt_sigaction, args);
    }
}

/// What a handler is to the kernel.
pub(crate) type Handler = unsafe extern "C-unwind" fn(c_int, *mut libc::siginfo_t, *mut c_void);

/// Handles a signal that is no call after all.
pub(crate) static FAULTS: OnceLock<Handler> = OnceLock::new();

/// Instead of a call: SIGSYS.
unsafe extern "C" fn on_call(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    const SYS_USER_DISPATCH: c_int = 2;
    // SAFETY: the kernel passes what it promises; the process has one thread of ours, which is here.
    unsafe {
        if (*info).si_code != SYS_USER_DISPATCH {
            let handle = FAULTS.get().expect("bug: faults are handled before calls are watched");
            return handle(signal, info, context);
        }
        let calls = &mut *CALLS.load(Relaxed);
        calls.let_go();
        let registers = &mut (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs;
        let register = |number: c_int| registers[number as usize] as usize;
        let number = registers[libc::REG_RAX as usize];
        let args = [
            register(libc::REG_RDI),
            register(libc::REG_RSI),
            register(libc::REG_RDX),
            register(libc::REG_R10),
            register(libc::REG_R8),
            register(libc::REG_R9),
        ];
        let leaves = calls.judge(number, &args);
        if matches!(leaves, Leaves::More) {
            calls.is_lasting = true;
            // The instruction is made again; it has two bytes.
            registers[libc::REG_RIP as usize] -= 2;
            return;
        }
        calls.context = context.cast();
        let result = perform(number, args);
        calls.context = std::ptr::null();
        calls.note(&leaves, result);
        registers[libc::REG_RAX as usize] = result as i64;
        calls.watch();
    }
}

/// Makes a call. SIGSYS is ours, and never blocked.
unsafe fn perform(number: i64, mut args: [usize; 6]) -> isize {
    let mut mask = 0_u64;
    // SAFETY: what the program promised for its call is passed on.
    unsafe {
        if number == libc::SYS_rt_sigaction && args[0] as c_int == libc::SIGSYS && args[1] != 0 {
            return 0;
        }
        if number == libc::SYS_rt_sigprocmask && args[1] != 0 {
            mask = *(args[1] as *const u64) & !(1 << (libc::SIGSYS - 1));
            args[1] = &raw const mask as usize;
        }
        let result = raw::syscall(number, args);
        std::hint::black_box(mask);
        result
    }
}

/// Where the program is that waits for a call which is made on its behalf.
pub(crate) fn context() -> Option<*const libc::ucontext_t> {
    let calls = CALLS.load(Relaxed);
    // SAFETY: the notes live as long as the process; nobody else runs.
    unsafe { (!calls.is_null()).then(|| (*calls).context).filter(|it| !it.is_null()) }
}
