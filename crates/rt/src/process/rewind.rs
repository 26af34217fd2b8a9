//! Makes this process what it was before `main`, so that one process serves many executions.
//!
//! A fork of a small program costs a hundred microseconds, nearly all of it for page tables and for
//! pages that every execution copies anew. To put those pages back costs a few. A rewind must leave
//! nothing behind that a fork would not, so it has three parts, and where one can't be had the process
//! ends and the next execution begins with a fork:
//!
//! - *Memory* (`pages`): pages that an execution has made its own are put back as they were. Which
//!   those are is asked of the kernel whenever there were page faults. A page that is met for the first
//!   time can't be put back; the next process knows it.
//! - *The kernel's state* (`calls`): every system call of the program is seen (syscall user dispatch,
//!   Linux 5.11). What it opens is closed, what it maps is unmapped; a call that leaves something
//!   behind that we can't take back ends the process with the execution.
//! - *The place in the code*: executions begin in [`x86_64::launch`], on the stack of `main`, always at the same
//!   address and with the same registers, rewound or forked.
//!
//! The idea is that of fuzzers' snapshots (AFL's persistent mode needs the program to be changed for it,
//! Nyx a hypervisor); here a program stays as it is.

mod calls;
mod pages;

use std::{
    ffi::c_void,
    sync::atomic::{AtomicPtr, Ordering::Relaxed},
};

use raddle_fiber::raw;
use raddle_trace::{Begin, Header, Segment};

use self::{calls::Calls, pages::Pages};
use crate::{
    abi::x86_64::{self, Launch, go_on_at, relaunch},
    base::arena,
    control::control,
    process::launcher,
};

pub(crate) use self::calls::{FAULTS, context, set_handler};

/// Fewer executions than this are not worth the preparation.
const WORTH: usize = 4;
/// Bytes of the stack on which memory is put back.
const STACK_SIZE: usize = 64 << 10;

/// What survives a rewind: it lives in memory of its own, which is never put back.
#[repr(C)]
struct Keep {
    launch: Launch,
    header: *mut Header,
    segment: Segment,
    calls: Calls,
    pages: Pages,
    stack: [u8; STACK_SIZE],
}

impl Keep {
    fn stack_top(&self) -> usize {
        self.stack.as_ptr_range().end as usize & !15
    }
}

static KEEP: AtomicPtr<Keep> = AtomicPtr::new(std::ptr::null_mut());

/// Before a block: gets ready to rewind, if that is possible and worth it.
pub(crate) fn prepare(n_block: usize) {
    // SAFETY: the server alone runs, between executions; the memory that is mapped holds a `Keep`, whose
    // parts are written before they are read, or are numbers.
    unsafe {
        let control = &*control();
        let is_possible = control.scheduler.has_fibers
            && control.scheduler.has_fsgsbase
            && !launcher::is_early()
            && (*control.header).live.begin != Begin::Function as u32
            && (*control.header).may_be_rewound()
            && (n_block >= WORTH || (*control.header).request.lingers == 1);
        let mut keep = KEEP.load(Relaxed);
        if is_possible && keep.is_null() {
            keep = arena::map(size_of::<Keep>()).cast();
            if !keep.is_null() {
                (*keep).header = control.header;
                (*keep).segment = control.segment;
                KEEP.store(keep, Relaxed);
            }
        }
        if !keep.is_null() {
            (*keep).calls.prepare(is_possible);
            if is_possible {
                (*keep).pages.look_at_mappings(keep as usize..keep.add(1) as usize);
            }
        }
    }
}

/// In a process that was forked for executions: begins the first of them with `run`.
pub(crate) fn begin(run: extern "C-unwind" fn() -> !) -> ! {
    let launch = Launch { sp: 0, ip: 0, fs: 0, mxcsr: 0, x87: 0, run };
    let keep = KEEP.load(Relaxed);
    // SAFETY: the thread that runs is alone; `launch` writes where it is told to.
    unsafe {
        if keep.is_null() || !(*keep).calls.is_on {
            x86_64::launch(Box::leak(Box::new(launch)), 0, begin_first, keep.cast())
        }
        (*keep).launch = launch;
        (*keep).launch.fs = raddle_fiber::thread_pointer();
        x86_64::launch(&raw mut (*keep).launch, (*keep).stack_top(), begin_first, keep.cast())
    }
}

/// Keeps what the execution is going to change, away from the stack, which it changes too.
unsafe extern "C" fn begin_first(keep: *mut c_void) -> ! {
    let keep = keep.cast::<Keep>();
    // SAFETY: the thread that runs stands in memory that is not put back.
    unsafe {
        (*keep).pages.keep_all(&(*keep).segment);
        (*keep).calls.begin();
        relaunch(&raw const (*keep).launch)
    }
}

/// The program's code begins: from here on its system calls are seen.
pub(crate) fn watch() {
    let keep = KEEP.load(Relaxed);
    // SAFETY: the thread that runs is alone.
    unsafe {
        if !keep.is_null() && (*keep).calls.is_on {
            (*keep).calls.watch();
        }
    }
}

/// This process is not to be rewound: it is a copy of an execution on its way.
pub(crate) fn give_up() {
    let keep = KEEP.load(Relaxed);
    // SAFETY: the thread that runs is alone, and in a process of its own.
    unsafe {
        if !keep.is_null() {
            (*keep).calls.is_on = false;
        }
    }
}

/// An execution has ended and said how: leaves it, for the next one or for good.
pub(crate) fn leave() -> ! {
    let keep = KEEP.load(Relaxed);
    // SAFETY: nothing of the execution is needed any more.
    unsafe {
        if keep.is_null() || !(*keep).calls.is_on {
            raw::exit_group(0);
        }
        (*keep).calls.let_go();
        if !(*keep).calls.can_be_undone() {
            raw::exit_group(0);
        }
        go_on_at((*keep).stack_top(), rewind, keep.cast())
    }
}

/// Makes the process what it was, and begins the next execution; or ends it.
unsafe extern "C" fn rewind(keep: *mut c_void) -> ! {
    let keep = keep.cast::<Keep>();
    // SAFETY: the thread that runs stands in memory that is not put back, and touches nothing else.
    unsafe {
        let header = (*keep).header;
        let is_last = (*header).live.n_done.load(Relaxed) + 1 >= u64::from((*header).live.n_block);
        let lingers = (*header).request.lingers == 1;
        if is_last && !lingers
            || launcher::is_looked_at(header)
            || !(*keep).pages.are_known(&(*keep).segment)
        {
            raw::exit_group(0);
        }
        launcher::count_execution(header, &(*keep).segment);
        if is_last {
            (*header).live.child.store(0, Relaxed);
            launcher::answer(header);
        }
        (*keep).calls.undo();
        (*keep).pages.put_back();
        if is_last {
            launcher::linger(header);
        }
        relaunch(&raw const (*keep).launch)
    }
}
