//! The end of an execution: says in the segment how it ended and where every thread stands, and
//! leaves the process.

use std::sync::atomic::Ordering::Relaxed;

use raddle_machine::{Performed, Status};
use raddle_model::{End, Escape, Misuse, ObjectId, Op, OpKind, SiteId, ThreadId};
use raddle_trace::{Begin, FRAMES_MAX, Header, PendingEntry, ThreadEntry, ToldInBrief};

use crate::{
    control::{Control, control, is_active},
    process::{
        launcher::{leave_void, tell_begin},
        rewind,
    },
    record::panics::Panic,
    state::{accesses, detect::TOLD_MAX, forks::Fork},
};

/// Ends the execution: the thread that runs did it, at `site`.
pub(crate) fn end(control: &mut Control, end: End, site: SiteId, message: &[u8]) -> ! {
    end_about(control, end, site, ObjectId::NONE, message)
}

/// Ends the execution because of a misuse.
#[cold]
pub(crate) fn misuse(control: &mut Control, op: &Op, performed: &Performed) -> ! {
    let misuse = performed.misuse.expect("bug: no misuse");
    end_about(control, End::Misuse(misuse), op.site, op.object, b"")
}

/// Ends the execution because no thread can go on.
#[cold]
pub(crate) fn deadlock(control: &mut Control) -> ! {
    control.look_at_children();
    if let Some((thread, op)) = control.waits_for_another_process() {
        end_with(control, End::Hang, Some(thread), op.site, op.object, b"");
    }
    flush_streams();
    end_with(control, End::Deadlock, None, SiteId(0), ObjectId::NONE, b"")
}

/// Ends the execution because a child of the program waits for ever.
#[cold]
fn held_at_fork(control: &mut Control, thread: ThreadId, site: SiteId, lock: ObjectId) -> ! {
    flush_streams();
    end_with(control, End::Misuse(Misuse::LockHeldAtFork), Some(thread), site, lock, b"")
}

/// Ends the execution because of an object.
#[cold]
pub(crate) fn end_about(
    control: &mut Control,
    end: End,
    site: SiteId,
    object: ObjectId,
    message: &[u8],
) -> ! {
    let me = control.me;
    if matches!(end, End::Misuse(_) | End::Livelock | End::Spent) {
        flush_streams();
    }
    end_with(control, end, Some(me), site, object, message)
}

fn end_with(
    control: &mut Control,
    end: End,
    thread: Option<ThreadId>,
    site: SiteId,
    object: ObjectId,
    message: &[u8],
) -> ! {
    tell(control, end, thread, site, object, message);
    control.answer_check(end);
    rewind::leave()
}

/// Says how the execution has ended.
pub(crate) fn tell(
    control: &mut Control,
    end: End,
    thread: Option<ThreadId>,
    site: SiteId,
    object: ObjectId,
    message: &[u8],
) {
    control.is_inside = true;
    let panic = control.recorder.panics.blamed(end).cloned();
    let (end, thread, site) = match &panic {
        Some(panic) => (End::Panic, Some(panic.thread), panic.site),
        None => (end, thread, site),
    };
    let message = panic.as_ref().map_or(message, |it| &it.message);
    // SAFETY: the header is mapped for as long as the process lives.
    let header = unsafe { &mut *control.header };
    if header.result.is_end_written == 0 {
        let n_message = message.len().min(header.result.message.len());
        header.result.message[..n_message].copy_from_slice(&message[..n_message]);
        header.result.n_message = n_message as u32;
        header.result.end_thread = thread.map_or(u32::MAX, |it| it.0);
        header.result.end_site = site.0;
        header.result.end_object = object.0;
        control.write_summary(end);
        let is_alone = header.request.n_block == 1 && header.request.is_brief == 0;
        let mut is_looked_at =
            end != End::Exit(0) || is_alone || header.result.summary.n_uncontrolled > 0;
        if header.request.is_brief == 1 {
            let has_found = header.live.n_shared_before < header.result.n_shared_found;
            is_looked_at = is_looked_at || has_found || !control.write_brief(thread);
            if is_looked_at {
                // Whoever looks must find it where the last one is.
                header.live.n_block = header.live.n_done.load(Relaxed) as u32 + 1;
            }
        }
        if !control.has_room_for_races() {
            // What the next one shows must not be lost: it is another block's.
            header.live.n_block = header.live.n_done.load(Relaxed) as u32 + 1;
        }
        if is_looked_at {
            let misused = matches!(end, End::Misuse(_)).then_some(object);
            control.write_threads(thread, misused, panic.as_ref());
            control.recorder.emit.publish(&control.segment, control.header);
            control.publish_stacks();
        }
        header.result.is_end_written = 1;
    }
}

/// What the program has printed but not yet written must not be lost where the execution ends by our
/// hand. (A crash loses it, as it would without us.)
fn flush_streams() {
    // SAFETY: flushes all streams; the thread that runs is inside a hook, so nothing is scheduled.
    unsafe { libc::fflush(std::ptr::null_mut()) };
}

impl Control {
    /// Somebody will look at this execution, even if it is killed: what explains its events is written
    /// down as it comes, not only at its end.
    pub(crate) fn go_live(&mut self) {
        self.recorder.emit.go_live(self.segment, self.header);
        self.publish_stacks();
        for id in (0..self.scheduler.machine.n_threads()).map(ThreadId) {
            self.announce_thread(id);
        }
    }

    /// Says where a thread comes from, if somebody looks; what it does is said at the end.
    pub(crate) fn announce_thread(&mut self, id: ThreadId) {
        if !self.recorder.emit.is_live() || id.0 >= self.segment.caps().threads {
            return;
        }
        // SAFETY: the area has room for this number; every bit pattern is an entry.
        let entry = unsafe { &mut *self.segment.threads().add(id.idx()) };
        *entry = ThreadEntry::default();
        self.write_origin(id, entry);
        // SAFETY: the header is mapped for as long as the process lives.
        unsafe { (*self.header).result.n_threads = self.scheduler.machine.n_threads() };
    }

    /// Is an object in memory that is shared with other processes?
    pub(crate) fn is_tied(&self, object: ObjectId) -> bool {
        let address = self.recorder.emit.address_of(object);
        self.memory.tied.iter().any(|range| range.contains(&address))
    }

    /// The first thread that waits for something in memory which a forked process shares.
    fn waits_for_another_process(&self) -> Option<(ThreadId, Op)> {
        let waits = |id: ThreadId| {
            let op = *self.scheduler.machine.pending(id);
            let is_tied = self.is_tied(op.object) || self.is_tied(op.other);
            (is_tied && self.scheduler.machine.is_blocked(id)).then_some((id, op))
        };
        let is_any = self.process.forks.is_any();
        (0..self.scheduler.machine.n_threads()).map(ThreadId).filter(|_| is_any).find_map(waits)
    }

    fn write_origin(&self, id: ThreadId, entry: &mut ThreadEntry) {
        let (_, parent, created_at) = self.scheduler.machine.origin(id);
        let thread = &self.scheduler.threads[id.idx()];
        entry.parent = parent.map_or(u32::MAX, |it| it.0);
        entry.created_at = created_at.0;
        entry.name = thread.name;
        entry.creation = thread.creation.0;
        entry.start = self.start_entry(id);
        entry.holders = [u32::MAX; 4];
    }

    fn write_summary(&mut self, end: End) {
        let (kind, detail) = end.to_numbers();
        // SAFETY: the header is mapped for as long as the process lives.
        let summary = unsafe { &mut (*self.header).result.summary };
        summary.n_steps = self.recorder.emit.n_steps;
        summary.n_points = self.recorder.emit.n_points;
        summary.n_switches = self.recorder.emit.n_switches;
        summary.digest = self.recorder.emit.digest;
        summary.class = self.recorder.emit.class;
        summary.n_threads = self.scheduler.machine.n_threads();
        summary.delay_us = u32::try_from(self.recorder.emit.delay_ns / 1_000).unwrap_or(u32::MAX);
        summary.end_kind = u32::from(kind);
        summary.end_detail = detail;
        summary.n_thinned = accesses::n_thinned();
        summary.n_clock_reads = self.recorder.emit.n_clock_reads;
        summary.kept = self.scheduler.chooser.kept() as u32;
        summary.n_allocators = self.recorder.emit.allocators.count_ones();
        summary.diverged_at =
            self.scheduler.chooser.diverged_at().map_or(0, |step| step as u32 + 1);
        // SAFETY: as above.
        unsafe { (*self.header).result.n_events = self.recorder.emit.n_steps };
    }

    /// Tells of the execution what a search wants to know; `false` if there is no room for it.
    fn write_brief(&mut self, ended: Option<ThreadId>) -> bool {
        let n_threads = self.scheduler.machine.n_threads();
        self.recorder.brief.pending.clear();
        for id in (0..n_threads).map(ThreadId) {
            if self.scheduler.machine.status(id) == Status::Finished {
                continue;
            }
            let op = self.scheduler.machine.pending(id);
            self.recorder.brief.pending.push(PendingEntry {
                thread: id.0,
                object: op.object.0,
                other: op.other.0,
                site: op.site.0,
                kind: op.kind as u8,
                flags: op.flags.0,
                is_blocked: u8::from(ended != Some(id) && self.scheduler.machine.is_blocked(id)),
                reserved: 0,
            });
        }
        self.recorder.brief.sites.clear();
        self.recorder.brief.sites.extend(self.recorder.emit.site_entries());
        let told = ToldInBrief {
            n_threads,
            end_thread: ended,
            objects: self.recorder.emit.object_entries(),
            sites: &self.recorder.brief.sites,
            pending: &self.recorder.brief.pending,
        };
        // SAFETY: the launcher waits; the events of the execution are in their area.
        unsafe { self.segment.add_brief(&told) }
    }

    fn write_threads(
        &mut self,
        ended: Option<ThreadId>,
        misused: Option<ObjectId>,
        panic: Option<&Panic>,
    ) {
        let n_threads = self.scheduler.machine.n_threads().min(self.segment.caps().threads);
        // SAFETY: the header is mapped for as long as the process lives.
        unsafe { (*self.header).result.n_threads = n_threads };
        for id in (0..n_threads).map(ThreadId) {
            // SAFETY: the area has room for this number.
            let entry = unsafe { self.segment.threads().add(id.idx()) };
            let is_ended = ended == Some(id);
            self.write_thread(id, entry, is_ended, misused.filter(|_| is_ended));
            if let Some(panic) = panic.filter(|it| it.thread == id) {
                // SAFETY: as above.
                self.write_frames(unsafe { &mut *entry }, &panic.callers);
            }
        }
    }

    /// Of what it misused, who holds it is told.
    fn write_thread(
        &mut self,
        id: ThreadId,
        entry: *mut ThreadEntry,
        is_ended: bool,
        misused: Option<ObjectId>,
    ) {
        // SAFETY: the caller points into the area; every bit pattern is an entry.
        let entry = unsafe { &mut *entry };
        let status = self.scheduler.machine.status(id);
        let op = *self.scheduler.machine.pending(id);
        self.write_origin(id, entry);
        entry.is_finished = u8::from(status == Status::Finished);
        entry.n_events = self.recorder.emit.n_events_of(id);
        entry.is_blocked = u8::from(!is_ended && self.scheduler.machine.is_blocked(id));
        entry.op_kind = op.kind as u8;
        entry.op_flags = op.flags.0;
        entry.object = op.object.0;
        entry.other = op.other.0;
        entry.site = op.site.0;
        let wanted = match op.kind {
            OpKind::CondWake if matches!(status, Status::Queued(..)) => op.other,
            _ => op.object,
        };
        let wanted = misused.unwrap_or(wanted);
        let obstacles = self.scheduler.machine.obstacles(id, wanted);
        for (idx, (holder, since)) in obstacles.into_iter().take(4).enumerate() {
            entry.holders[idx] = holder.0;
            entry.held_since[idx] = since.0;
        }
        let callers: Vec<usize> = self.stack_of_thread(id).callers().take(FRAMES_MAX).collect();
        self.write_frames(entry, &callers);
    }

    fn write_frames(&mut self, entry: &mut ThreadEntry, callers: &[usize]) {
        for (to, pc) in entry.frames.iter_mut().zip(callers) {
            *to = self.add_site(*pc, false).0;
        }
        entry.n_frames = callers.len().min(FRAMES_MAX) as u32;
    }

    /// Ends the execution if a child has found a lock taken.
    pub(crate) fn look_at_children(&mut self) {
        // SAFETY: the header is mapped for as long as the process lives; the field is atomic.
        let told = unsafe { (*self.header).live.forked_lock.swap(0, Relaxed) };
        if told == 0 {
            return;
        }
        let (fork, object) = ((told >> 32) as usize, ObjectId(told as u32 - 1));
        if let Some(Fork { thread, site, .. }) = self.process.forks.made.get(fork) {
            let (thread, site) = (*thread, *site);
            held_at_fork(self, thread, site, object);
        }
    }

    /// Can another execution of the block tell all of its races?
    pub(crate) fn has_room_for_races(&self) -> bool {
        // SAFETY: this is the running execution.
        unsafe { self.segment.has_room_for_races(TOLD_MAX as u32) }
    }

    /// The process ends. If it was to find out where executions begin, that is its answer.
    pub(crate) fn answer_check(&mut self, end: End) {
        let header = self.header;
        if self.process.check.is_again {
            self.note(Escape::UnequalCheck, end_site(header));
            tell_begin(header, Begin::Main);
            leave_void(header);
        }
        let is_answer = self.process.check.is_asking
            && (self.process.check.n_calls > 0 || !self.process.check.is_as_planned);
        if !is_answer {
            return;
        }
        let is_fine = matches!(end, End::Exit(_))
            && self.process.check.n_calls == 1
            && !self.process.check.is_refused;
        tell_begin(header, if is_fine { Begin::Function } else { Begin::Main });
        // What the function did from its own beginning on is not what it does in an execution that begins with `main`.
        if is_fine || !self.process.check.is_as_planned || self.process.check.beginning.is_some() {
            leave_void(header);
        }
    }
}

/// The runtime dies of a bug: if an execution is on its way, it ends by that.
pub(crate) fn end_by_bug(words: &[u8]) {
    if is_active() {
        // SAFETY: the thread that runs does nothing more, whatever it was doing to the state.
        let control = unsafe { &mut *control() };
        end_with(control, End::Bug, None, SiteId(0), ObjectId::NONE, words);
    }
}

fn end_site(header: *const Header) -> SiteId {
    // SAFETY: the header is mapped for as long as the process lives.
    SiteId(unsafe { (*header).result.end_site })
}
