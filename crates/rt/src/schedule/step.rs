//! One step: announce, choose, switch, perform, tell.

use std::sync::atomic::Ordering::Relaxed;

use raddle_machine::{Machine, Performed, Stuck};
use raddle_model::{Flags, ObjectId, Op, OpKind, OpResult, SiteId, ThreadId, ThreadSet};
use raddle_pick::{Threads, View};
use raddle_trace::EnabledSet;

use crate::{
    control::{Control, Inside},
    process::{checkpoint, launcher::refuse},
    record::emit::Emit,
    schedule::{descriptors, signals, threads::switch_to, timers, waiting::give_way_before},
    tell::end,
};

/// Performs an op of the thread that runs, when it is that thread's turn. Signal handlers that are due
/// run in here, and a thread that is cancelled leaves from here.
///
/// The common case, a thread that can go on and is chosen to, touches no list.
#[inline(always)]
pub(crate) fn step(inside: &mut Inside, op: Op) -> Performed {
    inside.settle_write();
    if inside.scheduler.waiting.may_give_way(inside.recorder.emit.n_steps) {
        give_way_before(inside, &op);
    }
    let me = inside.me;
    let is_plain = !inside.process.signals.is_any_pending && !inside.scheduler.machine.is_alone();
    if is_plain && inside.scheduler.machine.can_perform(me, &op) {
        if !is_point(inside, &op) {
            return go_on_quietly(inside, &op);
        }
        let next = choose_next(inside, Some(&op));
        return if next == me { go_on(inside, &op) } else { give_way(inside, next, &op) };
    }
    step_slowly(inside, &op)
}

/// Could another thread be chosen before this step? A step that is no point is told, but whoever comes to
/// it goes on. (Seed paper 1, but for one thing: a lock that can be tried for shows whether it is held.)
#[inline(always)]
fn is_point(control: &Control, op: &Op) -> bool {
    control.scheduler.points.is_point(op.kind, op.flags, || control.recorder.emit.is_exposed(op.object))
        || control.recorder.emit.n_steps >= control.scheduler.max_steps
        // What is held when a thread forks stays held in the child.
        || op.kind.is_release() && control.process.forks.is_pending()
}

/// Does an op tell a lock that is held from one that is not, without waiting for it?
#[inline(always)]
fn sees_locks(control: &Control, op: &Op) -> bool {
    match op.kind {
        OpKind::TryLock | OpKind::TryReadLock | OpKind::TryWriteLock => true,
        OpKind::Lock | OpKind::ReadLock | OpKind::WriteLock => op.flags.has(Flags::TIMED),
        OpKind::Destroy => op.object != ObjectId::NONE && !control.scheduler.machine.is_alone(),
        _ => false,
    }
}

/// The thread that runs goes on without a choice.
#[inline(always)]
fn go_on_quietly(inside: &mut Inside, op: &Op) -> Performed {
    let control: &mut Control = inside;
    control.scheduler.chooser.pass(control.me, control.recorder.emit.n_steps);
    if !control.recorder.options.is_null() {
        // SAFETY: the area has the events' room, which the index is cut to.
        unsafe { *control.recorder.options.add(control.recorder.emit.idx()) = only(control.me) };
    }
    go_on(inside, op)
}

/// Nobody else was to choose from.
#[cold]
fn only(thread: ThreadId) -> EnabledSet {
    let enabled = ThreadSet::one(thread);
    EnabledSet { enabled, n_enabled: 1, n_choices: 1, ..EnabledSet::default() }
}

/// The thread that runs goes on: it was chosen, and has announced nothing.
#[inline(never)]
fn go_on(control: &mut Control, op: &Op) -> Performed {
    meet_debugger(control);
    let (choice, told_choice) = choose_way(control, op);
    let performed = control.scheduler.machine.perform_now(control.me, op, choice);
    tell(control, op, &performed, told_choice);
    performed
}

/// The thread that runs could go on, but it is another's turn first.
#[inline(never)]
fn give_way(inside: &mut Inside, next: ThreadId, op: &Op) -> Performed {
    let me = inside.me;
    inside.scheduler.machine.announce(me, *op);
    switch_to(inside, next);
    let performed = complete(inside, me);
    if is_concerned(inside, &performed) && signals::after_step(inside, op, &performed) {
        return step_slowly(inside, op);
    }
    performed
}

/// May a signal or a cancellation have to do with what was performed?
fn is_concerned(control: &Control, performed: &Performed) -> bool {
    control.process.signals.is_any_pending || performed.result == OpResult::Interrupted
}

#[inline(never)]
fn step_slowly(inside: &mut Inside, op: &Op) -> Performed {
    loop {
        if inside.process.signals.is_any_pending {
            signals::before_step(inside, op);
        }
        let performed = step_once(inside, op);
        if !is_concerned(inside, &performed) || !signals::after_step(inside, op, &performed) {
            return performed;
        }
    }
}

fn step_once(inside: &mut Inside, op: &Op) -> Performed {
    let me = inside.me;
    if inside.scheduler.machine.is_alone() && !is_always_told(op.kind) {
        inside.scheduler.machine.announce(me, *op);
        return match op.kind.is_access() && inside.tells_lone() {
            true => alone_and_told(inside, op),
            false => alone(inside, me),
        };
    }
    if inside.scheduler.machine.can_perform(me, op) {
        let next = choose_next(inside, Some(op));
        if next == me {
            return go_on(inside, op);
        }
        inside.scheduler.machine.announce(me, *op);
        switch_to(inside, next);
    } else {
        inside.scheduler.machine.announce(me, *op);
        let next = choose_next(inside, None);
        if next != me {
            switch_to(inside, next);
        }
    }
    complete(inside, me)
}

/// Steps that change who there is, or that are choices, are told even when nobody else is there to see them.
const fn is_always_told(kind: OpKind) -> bool {
    matches!(
        kind,
        OpKind::Spawn
            | OpKind::Join
            | OpKind::Finish
            | OpKind::Start
            | OpKind::Exit
            | OpKind::Any
            | OpKind::Fork
    )
}

/// A step while no other thread is alive: no choice, no event.
fn alone(control: &mut Control, me: ThreadId) -> Performed {
    if !control.scheduler.machine.is_enabled(me) {
        make_way(control);
        assert!(control.scheduler.machine.is_enabled(me), "bug: nobody else is alive");
    }
    if control.scheduler.machine.n_threads() > 1 {
        control.recorder.emit.count_lone(me);
    } else {
        control.recorder.emit.n_lone_steps += 1;
    }
    control.beat();
    let choice = 0;
    let op = *control.scheduler.machine.pending(me);
    let performed = control.scheduler.machine.perform(me, choice);
    if performed.misuse.is_some() {
        end::misuse(control, &op, &performed);
    }
    if !op.kind.is_access() {
        control.order_by(&op, performed.result, performed.value);
    }
    performed
}

/// The same for an access that is to be told: no choice, but an event.
fn alone_and_told(control: &mut Control, op: &Op) -> Performed {
    let op = Op { flags: op.flags.with(Flags::LONE), ..*op };
    // SAFETY: what is told of steps has the events' room, which the index is cut to.
    unsafe { *control.recorder.options.add(control.recorder.emit.idx()) = only(control.me) };
    let performed = control.scheduler.machine.perform_now(control.me, &op, 0);
    tell(control, &op, &performed, 0);
    performed
}

/// Performs the pending op of the thread that runs, which was chosen, and tells it.
pub(crate) fn complete(control: &mut Control, me: ThreadId) -> Performed {
    let op = *control.scheduler.machine.pending(me);
    meet_debugger(control);
    let (choice, told_choice) = choose_way(control, &op);
    let mut performed = control.scheduler.machine.perform(me, choice);
    if op.flags.has(Flags::TIMED_OUT) {
        let delay_ns = std::mem::take(&mut control.scheduler.delay_ns);
        if op.kind == OpKind::Sleep || performed.result == OpResult::TimedOut {
            performed.value = delay_ns;
        }
    }
    tell(control, &op, &performed, told_choice);
    performed
}

/// Under a debugger, a breakpoint may be here.
#[inline(always)]
fn meet_debugger(control: &Control) {
    if !control.recorder.options.is_null() {
        crate::base::debug::before_step(control.recorder.emit.n_steps + 1, control.me.0);
    }
}

/// One of the ways to perform an op; and the choice as the event tells it: plus one, 0 for none.
#[inline(always)]
fn choose_way(control: &mut Control, op: &Op) -> (u32, u32) {
    if !matches!(op.kind, OpKind::Signal | OpKind::FutexNotify | OpKind::Any) {
        return (0, 0);
    }
    let n_choices = control.scheduler.machine.n_choices_of(op);
    if n_choices == 1 {
        return (0, 0);
    }
    let choice = control.scheduler.chooser.choose(n_choices, control.recorder.emit.n_steps);
    if !control.recorder.options.is_null() {
        // SAFETY: the area has the events' room, which the index is cut to.
        unsafe {
            (*control.recorder.options.add(control.recorder.emit.idx())).n_choices = n_choices
        };
    }
    (choice, choice + 1)
}

#[inline(always)]
fn tell(control: &mut Control, op: &Op, performed: &Performed, told_choice: u32) {
    if !control.recorder.options.is_null() {
        // SAFETY: the area has the events' room, which the index is cut to.
        let told = unsafe { &mut *control.recorder.options.add(control.recorder.emit.idx()) };
        told.context = control.context();
        if control.recorder.keeps_stacks && !control.recorder.stacks.is_half_full() {
            told.stack = control.keep_stack(control.recorder.emit.site_pc(op.site)).0;
        }
    }
    control.recorder.emit.event(control.me, op, performed, told_choice);
    control.beat();
    control.hot.patience = control.hot.patience_max;
    if performed.misuse.is_some() {
        end::misuse(control, op, performed);
    }
    if sees_locks(control, op) {
        control.expose(op.object);
    }
    if !op.kind.is_access() {
        control.note_step(op, performed.result as u64);
        control.order_by(op, performed.result, performed.value);
    }
}

/// The thread whose turn it is. Ends the execution if there is none.
///
/// `proposed`: what the thread that runs could go on with, without being listed among those who can. It
/// is the first of them to the picker.
#[inline(never)]
pub(crate) fn choose_next(control: &mut Control, proposed: Option<&Op>) -> ThreadId {
    loop {
        if control.scheduler.machine.n_enabled() == 0 && proposed.is_none() {
            make_way(control);
        } else if control.scheduler.machine.is_alarm_due {
            timers::fire(control);
        } else if control.process.io.n_waiting > 0 && control.process.io.is_stale {
            descriptors::refresh(control);
        }
        if control.recorder.emit.n_steps >= control.scheduler.max_steps
            && let Some((end, words)) = control.end_if_spent(proposed)
        {
            end::end(control, end, SiteId(0), words.as_bytes());
        }
        let next = pick(control, proposed);
        if next == control.me && proposed.is_some() {
            return next;
        }
        if !control.scheduler.machine.is_enabled(next) {
            let now = control.scheduler.machine.now();
            pass_alarms(control, next);
            if !control.scheduler.machine.is_enabled(next) {
                control.scheduler.machine.time_out(next);
            }
            control.scheduler.delay_ns = control.scheduler.machine.now() - now;
            control.recorder.emit.delay_ns =
                control.recorder.emit.delay_ns.max(control.scheduler.delay_ns);
            if !control.scheduler.machine.is_enabled(next) {
                tell_time_out(control, next);
                continue;
            }
        }
        if next != control.me {
            control.recorder.emit.n_switches += 1;
            if control.process.check.forbids(next) {
                refuse(control);
            }
        }
        return next;
    }
}

/// Time is about to jump to the deadline of a blocked thread: timers that go off before that may end its wait.
fn pass_alarms(control: &mut Control, thread: ThreadId) {
    // One that repeats without end catches up afterwards.
    const ALARMS_MAX: u32 = 64;
    for _ in 0..ALARMS_MAX {
        let Some(length) = control.scheduler.machine.alarm_before(thread) else { break };
        control.scheduler.machine.advance(length);
        timers::fire(control);
        if control.scheduler.machine.is_enabled(thread) {
            break;
        }
    }
}

#[inline]
fn pick(control: &mut Control, proposed: Option<&Op>) -> ThreadId {
    control.recorder.emit.n_points += 1;
    if !control.recorder.options.is_null() && control.scheduler.has_fibers {
        checkpoint::leave_copy(control);
    }
    let step = control.recorder.emit.n_steps;
    if !control.recorder.options.is_null() {
        // SAFETY: the area has the events' room, which the index is cut to.
        unsafe {
            *control.recorder.options.add(control.recorder.emit.idx()) = options(control, proposed)
        };
    }
    if step >= control.scheduler.max_steps
        && let Some(next) = control.next_of_trial(proposed)
    {
        return next;
    }
    let sees = Sees {
        machine: &control.scheduler.machine,
        emit: &control.recorder.emit,
        unlisted: proposed.map(|op| (control.me, op)),
    };
    let view = View { step, last: control.me, threads: &sees };
    if sees.n_enabled() == 1 && sees.timed().is_empty() {
        return control.scheduler.chooser.forced(&view);
    }
    control.scheduler.chooser.pick(&view)
}

/// Who can go on, as it is recorded.
#[cold]
fn options(control: &Control, proposed: Option<&Op>) -> EnabledSet {
    let sees = Sees::of(control, proposed);
    let n_enabled = sees.n_enabled();
    EnabledSet {
        enabled: (0..n_enabled).map(|idx| sees.enabled(idx)).collect(),
        timed: sees.timed().iter().copied().collect(),
        n_enabled,
        n_choices: 1,
        gives_way: u32::from(sees.op(control.me).is_hint()),
        ..EnabledSet::default()
    }
}

/// A timed wait on a condition variable is over, but its mutex is not free: the choice was a step.
fn tell_time_out(control: &mut Control, thread: ThreadId) {
    let op = *control.scheduler.machine.pending(thread);
    let value = std::mem::take(&mut control.scheduler.delay_ns);
    let performed = Performed { result: OpResult::Busy, value, misuse: None };
    control.recorder.emit.event(thread, &op, &performed, 0);
    control.beat();
}

/// Nobody can go on: looks at descriptors, recalls who yielded, lets time jump; or it is the end.
#[cold]
fn make_way(control: &mut Control) {
    if control.process.io.n_waiting > 0 {
        descriptors::refresh_stuck(control);
    }
    loop {
        match control.scheduler.machine.settle() {
            Ok(()) if control.scheduler.machine.is_alarm_due => timers::fire(control),
            Ok(()) => return,
            Err(Stuck::Deadlock) => end::deadlock(control),
            Err(Stuck::Descriptors) => descriptors::wait(control),
        }
    }
}

impl Control {
    /// Shows the launcher's watchdog that the execution goes on.
    #[inline]
    fn beat(&mut self) {
        let n_beats = self.recorder.emit.n_steps + self.recorder.emit.n_lone_steps;
        // SAFETY: the header is mapped for as long as the process lives.
        unsafe { (*self.header).live.heartbeat.store(n_beats, Relaxed) };
    }
}

/// The program asks to let others go first. The first time at a place that is a hint; who asks again waits in a loop.
pub(crate) fn yield_at(inside: &mut Inside, site: SiteId) {
    let is_first =
        inside.scheduler.machine.n_live() > 1 && inside.this().rounds.is_first_yield(site);
    let flags = if is_first { Flags::HINT } else { Flags::NONE };
    step(inside, Op { flags, ..Op::on(OpKind::Yield, ObjectId::NONE, site) });
}

/// An op without object that lets others go first.
pub(crate) fn yield_now(inside: &mut Inside, site: SiteId) {
    step(inside, Op::on(OpKind::Yield, ObjectId::NONE, site));
}

/// What a picker sees of the machine.
struct Sees<'a> {
    machine: &'a Machine,
    emit: &'a Emit,
    /// The thread that runs and what it would do, if it can go on.
    unlisted: Option<(ThreadId, &'a Op)>,
}

impl<'a> Sees<'a> {
    fn of(control: &'a Control, proposed: Option<&'a Op>) -> Sees<'a> {
        let unlisted = proposed.map(|op| (control.me, op));
        Sees { machine: &control.scheduler.machine, emit: &control.recorder.emit, unlisted }
    }
}

impl Threads for Sees<'_> {
    #[inline]
    fn n_enabled(&self) -> u32 {
        self.machine.n_enabled() + u32::from(self.unlisted.is_some())
    }

    #[inline]
    fn enabled(&self, idx: u32) -> ThreadId {
        match self.unlisted {
            Some((thread, _)) if idx == 0 => thread,
            Some(_) => self.machine.enabled(idx - 1),
            None => self.machine.enabled(idx),
        }
    }

    #[inline]
    fn is_enabled(&self, thread: ThreadId) -> bool {
        self.unlisted.is_some_and(|(it, _)| it == thread) || self.machine.is_enabled(thread)
    }

    #[inline]
    fn timed(&self) -> &[ThreadId] {
        self.machine.timed()
    }

    #[inline]
    fn op(&self, thread: ThreadId) -> &Op {
        match self.unlisted {
            Some((it, op)) if it == thread => op,
            _ => self.machine.pending(thread),
        }
    }

    #[inline]
    fn n_threads(&self) -> u32 {
        self.machine.n_threads()
    }

    fn parent(&self, thread: ThreadId) -> Option<ThreadId> {
        self.machine.origin(thread).1
    }

    fn name(&self, object: ObjectId) -> u64 {
        self.emit.name_of(object)
    }

    fn site(&self, site: SiteId) -> u64 {
        let entry = self.emit.site_entry(site);
        raddle_model::mix(u64::from(entry.module), entry.offset)
    }
}
