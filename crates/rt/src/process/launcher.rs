//! What goes to the launcher and comes from it: blocks, their executions, the account of each, the end of processes.

use std::{
    ffi::c_int,
    slice,
    sync::atomic::{
        AtomicBool, AtomicPtr,
        Ordering::{AcqRel, Relaxed, Release},
    },
};

use raddle_fiber::raw;
use raddle_model::End;
use raddle_trace::{
    Begin, Entry, Header, Segment, Summary,
    protocol::{self, COMMAND_FD, Command, REPLY_FD, Reply},
};

use crate::control::{Control, control};

/// A block is begun: it has not been answered for.
pub(crate) fn take_block(header: *mut Header) {
    // SAFETY: the header is mapped; the field is atomic.
    unsafe { (*header).live.is_answered.store(0, Release) };
    begin_summary(header);
    reset_streams();
}

/// Says that the block is done, if nobody has.
pub(crate) fn answer(header: *mut Header) {
    // SAFETY: the header is mapped; the field is atomic.
    if unsafe { (*header).live.is_answered.swap(1, AcqRel) } == 0 {
        reply(Reply::Done);
    }
}

/// In a process that has been rewound, and has answered for its block: waits for the next one.
pub(crate) fn linger(header: *mut Header) {
    // Copies are the server's children; it will bury them all in the end.
    while next_command() != Command::Run {}
    take_block(header);
    // SAFETY: asks; the header is mapped, the field is atomic.
    unsafe {
        let me = raw::syscall(libc::SYS_getpid, [0; 6]);
        (*header).live.child.store(me as i32, Relaxed);
    }
}

/// Waits for what the launcher wants next; ends with the launcher.
pub(crate) fn next_command() -> Command {
    loop {
        let mut byte = 0_u8;
        // SAFETY: reads one byte into our own variable.
        let n_read = unsafe { syscall_io(libc::SYS_read, COMMAND_FD, &raw mut byte) };
        match Command::from_byte(byte) {
            Some(command) if n_read == 1 => return command,
            _ if n_read == -(libc::EINTR as isize) => {}
            _ => raw::exit_group(0),
        }
    }
}

unsafe fn syscall_io(number: i64, fd: c_int, byte: *mut u8) -> isize {
    // SAFETY: the caller gives one byte of its own.
    unsafe { raw::syscall(number, [fd as usize, byte as usize, 1, 0, 0, 0]) }
}

pub(crate) fn reply(reply: Reply) {
    let mut byte = reply as u8;
    // SAFETY: writes one byte of our own.
    unsafe { syscall_io(libc::SYS_write, REPLY_FD, &raw mut byte) };
}

/// Waits for the process of an execution, and counts the last one that it ran. Is the end of that one to be
/// looked at?
pub(crate) fn end_execution(header: *mut Header, child: i32) -> bool {
    // SAFETY: the header is mapped; the field is atomic.
    unsafe { (*header).live.child.store(child, Relaxed) };
    let status = wait_for(child);
    // SAFETY: as above.
    unsafe { (*header).live.child.store(0, Relaxed) };
    count_last(header, status)
}

pub(crate) fn count_last(header: *mut Header, status: i32) -> bool {
    settle_end(header, status);
    let is_over = is_looked_at(header);
    count_execution(header, &control_ref().segment);
    is_over
}

/// Counts an execution that has ended, and begins the account of the next one.
pub(crate) fn count_execution(header: *mut Header, segment: &Segment) {
    let n_done = count(header, segment);
    // SAFETY: the header is mapped; no execution runs.
    if !is_looked_at(header) && n_done < u64::from(unsafe { (*header).live.n_block }) {
        begin_summary(header);
        reset_streams();
    }
}

/// Counts an execution that has ended. How many are there now?
pub(crate) fn count(header: *mut Header, segment: &Segment) -> u64 {
    // SAFETY: the area has room for the block; no execution runs.
    unsafe {
        let n_done = (*header).live.n_done.load(Relaxed);
        let n_pairs = (*header).result.n_pairs.saturating_sub((*header).live.n_pairs_before);
        (*header).result.summary.n_pairs = n_pairs;
        *segment.summaries().add(n_done as usize) = (*header).result.summary;
        (*header).live.n_done.store(n_done + 1, Relaxed);
        n_done + 1
    }
}

/// If the execution that has just ended could not say how: what the kernel says.
fn settle_end(header: *mut Header, status: i32) {
    // SAFETY: the process that wrote has ended.
    unsafe {
        if (*header).result.is_end_written == 0 {
            let (kind, detail) = End::Lost(status).to_numbers();
            (*header).result.summary.end_kind = u32::from(kind);
            (*header).result.summary.end_detail = detail;
            (*header).result.summary.n_steps = (*header).live.heartbeat.load(Relaxed);
        }
    }
}

pub(crate) fn control_ref() -> &'static Control {
    // SAFETY: the server alone runs, between executions.
    unsafe { &*control() }
}

/// Each execution prints to an empty file and reads its input from the start.
pub(crate) fn reset_streams() {
    // SAFETY: both are the launcher's own files; where input can't be rewound nothing happens.
    unsafe {
        raw::syscall(libc::SYS_ftruncate, [1, 0, 0, 0, 0, 0]);
        raw::syscall(libc::SYS_lseek, [0, 0, 0, 0, 0, 0]);
    }
}

pub(crate) fn begin_summary(header: *mut Header) {
    // SAFETY: no execution runs.
    unsafe {
        (*header).result.summary = Summary::default();
        (*header).live.n_pairs_before = (*header).result.n_pairs;
        (*header).live.n_shared_before = (*header).result.n_shared_found;
        (*header).result.forget_end();
        (*header).live.forked_lock.store(0, Relaxed);
        (*header).live.heartbeat.store(0, Relaxed);
    }
}

/// Is the end of the last execution one that the launcher wants to see?
pub(crate) fn is_looked_at(header: *mut Header) -> bool {
    // SAFETY: no execution runs.
    let (summary, exit_is_fine) =
        unsafe { ((*header).result.summary, (*header).request.exit_is_fine == 1) };
    let end = End::from_numbers(summary.end_kind as u8, summary.end_detail);
    protocol::must_be_looked_at(end, exit_is_fine)
}

/// In the copy of a copy: the rest of the prefix is another one.
pub(crate) fn begin_copy(control: &mut Control) {
    die_with_parent();
    control.process.is_copy = true;
    // SAFETY: a copy runs blocks of one, and the launcher has written that one.
    let entry = unsafe { &*control.segment.entries() };
    control.scheduler.chooser.go_on_with(prefix(control, entry));
}

/// The prefix that the launcher wrote for an execution.
pub(crate) fn prefix(control: &Control, entry: &Entry) -> &'static [u32] {
    // SAFETY: the area holds what the launcher wrote; it stays mapped and unchanged for the block.
    unsafe {
        let start = control.segment.prefix().add(entry.prefix_at as usize);
        slice::from_raw_parts(start, entry.n_prefix as usize)
    }
}

/// In the copy: it does not outlive the server.
pub(crate) fn die_with_parent() {
    // SAFETY: a plain system call.
    unsafe {
        let (death, kill) = (libc::PR_SET_PDEATHSIG as usize, libc::SIGKILL as usize);
        raw::syscall(libc::SYS_prctl, [death, kill, 0, 0, 0, 0]);
    }
}

pub(crate) fn wait_for(child: i32) -> i32 {
    let mut status = 0_i32;
    loop {
        // SAFETY: waits for our own child, into our own variable.
        let result = unsafe {
            raw::syscall(libc::SYS_wait4, [child as usize, &raw mut status as usize, 0, 0, 0, 0])
        };
        if result == child as isize || result == -(libc::ECHILD as isize) {
            return status;
        }
    }
}

pub(crate) fn tell_begin(header: *mut Header, begin: Begin) {
    // SAFETY: the header is mapped for as long as the process lives.
    unsafe { (*header).live.begin = begin as u32 };
}

/// What this process ran was no execution of its block.
pub(crate) fn leave_void(header: *mut Header) -> ! {
    // SAFETY: as above.
    unsafe { (*header).live.is_void = 1 };
    raw::exit_group(0)
}

/// Executions can't begin with the function after all: a thread goes on that waited before it was called.
#[cold]
pub(crate) fn refuse(control: &Control) -> ! {
    tell_begin(control.header, Begin::Main);
    leave_void(control.header)
}

pub(crate) static MAIN: AtomicPtr<()> = AtomicPtr::new(std::ptr::null_mut());

/// Does the program create a thread before `main`? Then executions begin there.
pub(crate) static IS_EARLY: AtomicBool = AtomicBool::new(false);

/// See [`IS_EARLY`].
pub(crate) fn is_early() -> bool {
    IS_EARLY.load(Relaxed)
}

/// Where the program's `main` is.
pub(crate) fn main_address() -> usize {
    MAIN.load(Relaxed) as usize
}
