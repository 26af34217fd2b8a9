//! Checkpoints: live copies of an execution that wait at a choice, so that other executions with the same
//! beginning start there and not at `main`.
//!
//! An execution that comes to a position of its prefix where a copy is asked for forks. The parent goes on
//! as if nothing had happened. The child, a process with every fiber of the program alive, sleeps until it
//! is told to run a block whose prefix begins with the choices that led to it; then it forks again, and the
//! copy of the copy follows the rest of that prefix. With kernel threads there are no copies: a fork takes
//! only one of them along.
//!
//! A copy shares with the others what the kernel keeps: the segment, what was printed, how far standard
//! input was read. The first two are saved and written back before each execution, the third is set again.
//! Where the program holds more than that (open descriptors, shared mappings, other processes), a copy
//! would meddle with the execution that it was made from, and is refused.

use std::{
    mem,
    sync::atomic::{AtomicU64, Ordering::*},
};

use libc::c_int;
use raddle_fiber::raw;
use raddle_model::Event;
use raddle_trace::{
    Checkpoint, EnabledSet, Header, NoteEntry, RaceEntry, Sighting, Summary,
    protocol::{COMMAND_FD, Reply},
};

use crate::{
    control::Control,
    process::{
        launcher::{begin_copy, end_execution, reply},
        rewind,
    },
};

/// How often a copy looks whether the launcher still lives.
const LOOK_EVERY_S: i64 = 1;
/// More output than this is not kept.
const OUTPUT_MAX: usize = 1 << 20;

/// What the server's descriptors were, before any execution; and which file is standard output.
static DESCRIPTORS: AtomicU64 = AtomicU64::new(0);
static OUTPUT: AtomicU64 = AtomicU64::new(0);

/// Remembers what every execution begins with. Called by the server, once.
pub(crate) fn remember_beginning() {
    DESCRIPTORS.store(descriptors().unwrap_or(0), Relaxed);
    OUTPUT.store(file_number(1).unwrap_or(0), Relaxed);
}

/// Leaves a copy here, if one is asked for: before the next choice of the prefix. (Where the prefix ends, a
/// part of a step may have been chosen by it, and the rest not.)
#[cold]
pub(crate) fn leave_copy(control: &mut Control) {
    // SAFETY: the header is mapped for as long as the process lives.
    let is_brief = unsafe { (*control.header).request.is_brief == 1 };
    if !control.scheduler.chooser.is_following() || is_brief {
        return;
    }
    let position = control.scheduler.chooser.position();
    // SAFETY: the header is mapped for as long as the process lives; only the running execution writes
    // more than the states, which are atomic.
    let slots = unsafe { &mut (*control.header).live.checkpoints };
    for slot in slots {
        let is_here = slot.position as usize == position;
        if slot.state.load(Relaxed) == Checkpoint::ASKED && is_here && fork_here(control, slot) {
            return;
        }
    }
}

/// Makes the copy; `true` in an execution that begins here.
fn fork_here(control: &mut Control, slot: &mut Checkpoint) -> bool {
    let Some(saved) = Saved::of(control) else {
        slot.state.store(Checkpoint::REFUSED, Relaxed);
        return false;
    };
    // SAFETY: with fibers there is no other kernel thread but parked donors.
    let copy = unsafe { raw::fork() };
    match copy {
        0 => {
            serve(control, slot, &saved);
            true
        }
        1.. => {
            slot.process.store(copy as i32, Relaxed);
            slot.n_steps = control.recorder.emit.n_steps;
            slot.state.store(Checkpoint::WAITS, Release);
            false
        }
        _ => {
            slot.state.store(Checkpoint::REFUSED, Relaxed);
            false
        }
    }
}

/// The life of a copy. Returns in the processes of executions that begin here.
fn serve(control: &mut Control, slot: &Checkpoint, saved: &Saved) {
    rewind::give_up();
    // The program may handle signals, the end of a child above all: not here.
    let mask = block_signals();
    loop {
        match slot.state.load(Acquire) {
            Checkpoint::RUNS => {}
            state => {
                wait(slot, state);
                continue;
            }
        }
        saved.write_back(control);
        // SAFETY: as in `fork_here`.
        let child = unsafe { raw::fork() };
        if child == 0 {
            begin_copy(control);
            set_signals(mask);
            return;
        }
        end_execution(control.header, child as i32);
        slot.state.store(Checkpoint::WAITS, Release);
        reply(Reply::Done);
    }
}

/// Sleeps until the state changes, for a while at most; ends with the launcher.
fn wait(slot: &Checkpoint, state: u32) {
    const FUTEX_WAIT: usize = 0;
    let limit = libc::timespec { tv_sec: LOOK_EVERY_S, tv_nsec: 0 };
    let mut command = libc::pollfd { fd: COMMAND_FD, events: 0, revents: 0 };
    // SAFETY: the word is in the segment; the others are our own variables.
    unsafe {
        let (word, limit) = (slot.state.as_ptr() as usize, &raw const limit as usize);
        raw::syscall(libc::SYS_futex, [word, FUTEX_WAIT, state as usize, limit, 0, 0]);
        if slot.state.load(Relaxed) == state {
            raw::syscall(libc::SYS_poll, [&raw mut command as usize, 1, 0, 0, 0, 0]);
        }
    }
    if command.revents != 0 {
        raw::exit_group(0);
    }
}

/// What an execution has left behind outside of its own memory.
struct Saved {
    events: Vec<Event>,
    options: Vec<EnabledSet>,
    notes: Vec<NoteEntry>,
    races: Vec<RaceEntry>,
    sightings: Vec<Sighting>,
    shared_found: Vec<u64>,
    summary: Summary,
    heartbeat: u64,
    output: Vec<u8>,
    input_offset: isize,
}

impl Saved {
    /// `None` if there is more than can be saved.
    fn of(control: &Control) -> Option<Saved> {
        let segment = &control.segment;
        let caps = segment.caps();
        let n_steps = control.recorder.emit.n_steps as usize;
        // SAFETY: the header and the areas are mapped; only this execution writes to them.
        unsafe {
            let header: *const Header = control.header;
            let is_tied =
                !control.memory.tied.is_empty() || (*header).result.summary.n_uncontrolled > 0;
            if is_tied || n_steps > caps.events as usize {
                return None;
            }
            let is_same = descriptors()? == DESCRIPTORS.load(Relaxed);
            let is_output = [1, 2].iter().all(|fd| file_number(*fd) == Some(OUTPUT.load(Relaxed)));
            if !is_same || !is_output {
                return None;
            }
            let found = segment.shared().add((*header).request.n_shared as usize);
            Some(Saved {
                events: segment.copy(segment.events(), n_steps),
                options: segment.copy(segment.options(), n_steps),
                notes: segment
                    .copy(segment.notes(), (*header).result.n_notes.min(caps.notes) as usize),
                races: segment
                    .copy(segment.races(), (*header).result.n_races.min(caps.races) as usize),
                sightings: segment.copy(
                    segment.sightings(),
                    (*header).result.n_sightings.min(caps.sightings) as usize,
                ),
                shared_found: segment.copy(found, (*header).result.n_shared_found as usize),
                summary: (*header).result.summary,
                heartbeat: (*header).live.heartbeat.load(Relaxed),
                output: read_output()?,
                input_offset: raw::syscall(libc::SYS_lseek, [0, 0, 1, 0, 0, 0]),
            })
        }
    }

    /// Makes everything as it was, for one more execution.
    fn write_back(&self, control: &Control) {
        let segment = &control.segment;
        control.recorder.emit.coverage.tell_again();
        // SAFETY: the areas had room for it before; no execution runs, and the launcher waits.
        unsafe {
            let header = &mut *control.header;
            segment.write(segment.events(), &self.events);
            segment.write(segment.options(), &self.options);
            segment.write(segment.notes(), &self.notes);
            segment.write(segment.races(), &self.races);
            segment.write(segment.sightings(), &self.sightings);
            segment
                .write(segment.shared().add(header.request.n_shared as usize), &self.shared_found);
            header.result.n_notes = self.notes.len() as u32;
            header.result.n_races = self.races.len() as u32;
            header.result.n_sightings = self.sightings.len() as u32;
            header.result.n_shared_found = self.shared_found.len() as u32;
            header.result.summary = self.summary;
            header.result.forget_end();
            header.live.heartbeat.store(self.heartbeat, Relaxed);
            raw::syscall(libc::SYS_ftruncate, [1, 0, 0, 0, 0, 0]);
            let (bytes, len) = (self.output.as_ptr() as usize, self.output.len());
            raw::syscall(libc::SYS_write, [1, bytes, len, 0, 0, 0]);
            if self.input_offset >= 0 {
                raw::syscall(libc::SYS_lseek, [0, self.input_offset as usize, 0, 0, 0, 0]);
            }
        }
    }
}

/// What was printed so far; `None` if it is too much, or can't be read.
fn read_output() -> Option<Vec<u8>> {
    let size = status(1)?.st_size as usize;
    if size == 0 {
        return Some(Vec::new());
    }
    let fd = open(c"/proc/self/fd/1", libc::O_RDONLY).filter(|_| size <= OUTPUT_MAX)?;
    let mut bytes = vec![0; size];
    // SAFETY: reads into our own buffer, from a descriptor of ours.
    let n_read = unsafe {
        let n_read =
            raw::syscall(libc::SYS_pread64, [fd, bytes.as_mut_ptr() as usize, size, 0, 0, 0]);
        raw::syscall(libc::SYS_close, [fd, 0, 0, 0, 0, 0]);
        n_read
    };
    (n_read == size as isize).then_some(bytes)
}

fn open(path: &std::ffi::CStr, flags: c_int) -> Option<usize> {
    let flags = (flags | libc::O_CLOEXEC) as usize;
    // SAFETY: the path ends with a zero.
    let fd = unsafe { raw::syscall(libc::SYS_open, [path.as_ptr() as usize, flags, 0, 0, 0, 0]) };
    usize::try_from(fd).ok()
}

fn status(fd: usize) -> Option<libc::stat> {
    // SAFETY: zeroed memory is a status; the kernel fills in our own variable.
    unsafe {
        let mut status: libc::stat = mem::zeroed();
        let result = raw::syscall(libc::SYS_fstat, [fd, &raw mut status as usize, 0, 0, 0, 0]);
        (result == 0).then_some(status)
    }
}

/// Tells open files apart.
fn file_number(fd: usize) -> Option<u64> {
    status(fd).map(|it| raddle_model::mix(it.st_dev, it.st_ino))
}

/// A number that stands for the set of open descriptors.
fn descriptors() -> Option<u64> {
    let fd = open(c"/proc/self/fd", libc::O_RDONLY | libc::O_DIRECTORY)?;
    let mut buffer = [0_u8; 4096];
    let mut sum = 0_u64;
    loop {
        let args = [fd, buffer.as_mut_ptr() as usize, buffer.len(), 0, 0, 0];
        // SAFETY: the kernel fills our own buffer with entries.
        let n_bytes = unsafe { raw::syscall(libc::SYS_getdents64, args) };
        let Ok(n_bytes @ 1..) = usize::try_from(n_bytes) else { break };
        for number in numbers(&buffer[..n_bytes]).filter(|it| *it != fd as u64) {
            sum = sum.wrapping_add(raddle_model::mix(number, 1));
        }
    }
    // SAFETY: a descriptor of ours.
    unsafe { raw::syscall(libc::SYS_close, [fd, 0, 0, 0, 0, 0]) };
    Some(sum)
}

/// The names of directory entries that are numbers.
fn numbers(entries: &[u8]) -> impl Iterator<Item = u64> {
    // Inode, offset, length of the entry (two bytes), type, name, zero.
    const LENGTH: usize = 16;
    const NAME: usize = 19;
    let mut rest = entries;
    std::iter::from_fn(move || {
        let length = usize::from(u16::from_le_bytes([*rest.get(LENGTH)?, *rest.get(LENGTH + 1)?]));
        let (entry, others) = rest.split_at_checked(length)?;
        rest = others;
        Some(entry.get(NAME..).unwrap_or_default())
    })
    .filter_map(|name| {
        let digits = name.split(|it| *it == 0).next()?;
        std::str::from_utf8(digits).ok()?.parse().ok()
    })
}

/// Blocks all signals; returns what was blocked before.
fn block_signals() -> u64 {
    let (all, mut old) = (u64::MAX, 0_u64);
    let (all, before) = (&raw const all as usize, &raw mut old as usize);
    let how = libc::SIG_SETMASK as usize;
    // SAFETY: the kernel's sets have 64 bits; both are our own variables.
    unsafe { raw::syscall(libc::SYS_rt_sigprocmask, [how, all, before, 8, 0, 0]) };
    old
}

fn set_signals(mask: u64) {
    let how = libc::SIG_SETMASK as usize;
    // SAFETY: as above.
    unsafe { raw::syscall(libc::SYS_rt_sigprocmask, [how, &raw const mask as usize, 0, 8, 0, 0]) };
}
