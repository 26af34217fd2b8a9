//! Descriptors that threads wait for: are they ready?

use std::ffi::c_int;

use raddle_fiber::raw;
use raddle_machine::ObjectState;
use raddle_model::{Escape, ObjectId};
use raddle_trace::{ObjectClass, ObjectEntry, protocol::RegionTag};

use crate::{
    control::Control,
    state::io::{DescriptorKind, Waiting, list_of, poll_now},
    tell::end,
};

impl Control {
    /// The number of a descriptor in traces.
    pub(crate) fn descriptor_object(&mut self, fd: c_int) -> ObjectId {
        let known = self.process.io.look(fd);
        if known.object != ObjectId::NONE {
            return known.object;
        }
        let peer = known.peer.filter(|_| known.kind == DescriptorKind::Pipe);
        let object = self.add_descriptor_object(fd, peer);
        for end in [Some(fd), peer].into_iter().flatten() {
            if let Some(slot) = self.process.io.slot(end)
                && slot.kind == known.kind
                && slot.object == ObjectId::NONE
            {
                slot.object = object;
            }
        }
        object
    }

    /// A pipe is named after both ends, whichever is used first.
    fn add_descriptor_object(&mut self, fd: c_int, peer: Option<c_int>) -> ObjectId {
        let entry = ObjectEntry {
            class: ObjectClass::Descriptor as u8,
            region: RegionTag::Descriptor as u8,
            base: peer.map_or(fd, |it| it.min(fd)) as u32,
            ordinal: peer.map_or(0, |it| it.max(fd) as u32),
            ..ObjectEntry::default()
        };
        let class = ObjectClass::Descriptor;
        let object = self.recorder.emit.add_object(entry, class, 0);
        self.scheduler.machine.set_object(object, ObjectState::Descriptor([false; 2]));
        object
    }

    /// What a write to a descriptor changes: the other end of a pair, or itself.
    pub(crate) fn written_object(&mut self, fd: c_int) -> ObjectId {
        let known = self.process.io.look(fd);
        match known.peer {
            Some(peer)
                if known.kind == DescriptorKind::Socket
                    && self.process.io.look(peer).kind == known.kind =>
            {
                self.descriptor_object(peer)
            }
            _ => self.descriptor_object(fd),
        }
    }

    /// Stands for any of several descriptors that the thread that runs waits for; named after the first
    /// one that it waited for in this way.
    pub(crate) fn poll_object(&mut self, first: c_int) -> ObjectId {
        if self.this().poll_object == ObjectId::NONE {
            let object = self.add_descriptor_object(first, None);
            self.this().poll_object = object;
        }
        self.this().poll_object
    }

    pub(crate) fn set_ready(&mut self, waiting: &Waiting, is_ready: bool) {
        let mut ready = match self.scheduler.machine.object(waiting.object) {
            Some(ObjectState::Descriptor(ready)) => *ready,
            _ => [false; 2],
        };
        if ready[usize::from(waiting.is_write)] != is_ready {
            ready[usize::from(waiting.is_write)] = is_ready;
            self.scheduler.machine.set_descriptor(waiting.object, ready);
        }
    }
}

/// Looks which awaited descriptors are ready.
#[cold]
pub(crate) fn refresh(control: &mut Control) {
    refresh_those(control, false);
}

/// The same, when no thread can go on: waits a moment for what is outside, before time jumps.
#[cold]
pub(crate) fn refresh_stuck(control: &mut Control) {
    const PATIENCE_MS: usize = 20;
    const MISSES_MAX: u32 = 5;
    for idx in 0..control.process.io.waiting.len() {
        let waiting = control.process.io.waiting[idx];
        if waiting.is_late && control.process.io.n_misses < MISSES_MAX {
            let args = [waiting.list as usize, waiting.n_list, PATIENCE_MS, 0, 0, 0];
            // SAFETY: the waiting thread's list lives for as long as it waits.
            let n_ready = unsafe { raw::syscall(libc::SYS_poll, args) };
            control.process.io.n_misses += u32::from(n_ready == 0);
        }
    }
    refresh_those(control, true);
}

fn refresh_those(control: &mut Control, is_stuck: bool) {
    control.process.io.is_stale = false;
    for idx in 0..control.process.io.waiting.len() {
        let waiting = control.process.io.waiting[idx];
        if waiting.is_late && !is_stuck {
            continue;
        }
        // SAFETY: the waiting thread's list lives for as long as it waits.
        let is_ready = unsafe { poll_now(waiting.list, waiting.n_list) != 0 };
        control.set_ready(&waiting, is_ready);
    }
}

/// Nobody can go on before a descriptor is ready.
#[cold]
pub(crate) fn wait(control: &mut Control) {
    let mut all: Vec<libc::pollfd> = Vec::new();
    let has_children = has_children();
    for waiting in &control.process.io.waiting {
        if has_children || !control.process.io.is_internal_wait(waiting) {
            // SAFETY: the waiting thread's list lives for as long as it waits.
            all.extend_from_slice(unsafe { list_of(waiting) });
        }
    }
    if all.is_empty() {
        end::deadlock(control);
    }
    let site = control.scheduler.machine.pending(control.process.io.waiting[0].thread).site;
    control.note(Escape::WaitInput, site);
    let for_ever = -1_isize as usize;
    // SAFETY: the list is ours.
    unsafe {
        raw::syscall(libc::SYS_poll, [all.as_mut_ptr() as usize, all.len(), for_ever, 0, 0, 0])
    };
    control.receive_arrived();
    refresh_those(control, true);
}

/// Has the process children, which may hold the other ends?
pub(crate) fn has_children() -> bool {
    const P_ALL: usize = 0;
    let flags = (libc::WEXITED | libc::WNOHANG | libc::WNOWAIT) as usize;
    // SAFETY: asks without taking an answer.
    let result = unsafe { raw::syscall(libc::SYS_waitid, [P_ALL, 0, 0, flags, 0, 0]) };
    result != -(libc::ECHILD as isize)
}
