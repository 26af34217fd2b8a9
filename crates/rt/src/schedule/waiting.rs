//! Tells a thread that waits for another from one that works, where it does not say so, and lets it give way. Whoever
//! waits in a loop must, whatever the picker, or the thread that it waits for never runs.
//!
//! - *Spin loops* ([`Spin`]): the same site reads the same value from the same object again and again, with nothing
//!   else done in between. Its reads are yields.
//! - *Rounds* ([`Rounds`]): lock, look, unlock; try to lock, to receive, to take; count the failures. Such a thread
//!   neither does nor sees anything that it had not done or seen before, except for values that it has written itself.
//!   After so many steps of this kind it lets others go first before each step, until there is something new. A
//!   thread that works on memory that nobody else knows, and takes a lock for it, looks the same; so this is not taken
//!   for certain, time does not jump for it, and who has given way very often in vain does it less often.
//! - *Reads that are no steps* ([`stare`]): a loop that reads a variable which nobody has raced for yet. Reads since
//!   the last step are counted, and after very many the next ones are looked at: if they read the same again and
//!   again, the variable is made one whose reads are steps. If not, others may go on once all the same.
//!
//! A yield that the program asks for is only a hint the first time that a thread comes to it at a place: the thread may
//! go on at once. Who comes there again waits in a loop.
//!
//! All of this depends on what the thread has done itself and on nothing else, so a replay does the same.

use raddle_machine::MAY_WORK;
use raddle_model::{Flags, ObjectId, Op, OpKind, SiteId, mix};

use crate::{
    abi::x86_64,
    control::{Control, Inside, enter},
    schedule::{access, signals::leave, step::step, waiting::x86_64::peek},
    state::{
        detect::Touch,
        shadow::State,
        waiting::{PATIENCE, PATIENCE_MAX, Rounds, STEPS_BETWEEN_MAX},
    },
};

impl Control {
    /// A step was taken, and this was seen. Unless somebody waits already, one step in eight is looked at, and none of
    /// a short execution.
    #[inline(always)]
    pub(crate) fn note_step(&mut self, op: &Op, seen: u64) {
        const PART: u64 = 0xe00;
        const LOOKED_AT: u64 = 0x200;
        if self.scheduler.waiting.n_in_doubt != 0 || self.recorder.emit.n_steps & PART == LOOKED_AT
        {
            self.look_at_step(op, seen);
        }
    }

    #[inline(never)]
    fn look_at_step(&mut self, op: &Op, seen: u64) {
        if op.kind == OpKind::Yield {
            return;
        }
        let users = &mut self.scheduler.waiting.users;
        if users.len() <= op.object.idx() {
            users.resize(op.object.idx() + 1, 0);
        }
        let user = std::mem::replace(&mut users[op.object.idx()], self.me.0 + 1);
        // What it has written itself is no news.
        let seen = if user == self.me.0 + 1 && op.kind.is_access() { 0 } else { seen };
        let place = u64::from(op.site.0) << 32 | u64::from(op.object.0);
        let what = mix(mix(place, op.kind as u64), seen);
        let rounds = &mut self.this().rounds;
        let was = (rounds.is_waiting(), rounds.is_in_doubt());
        rounds.note(what);
        let is = (rounds.is_waiting(), rounds.is_in_doubt());
        self.scheduler.waiting.change(was, is);
    }

    /// Before a step of the thread that runs: does it let others go first?
    fn gives_way(&mut self) -> bool {
        let rounds = &mut self.this().rounds;
        if !rounds.is_waiting() {
            return false;
        }
        let was_in_doubt = rounds.is_in_doubt();
        if !was_in_doubt && self.recorder.emit.n_steps < self.scheduler.waiting.next_at {
            return false;
        }
        let rounds = &mut self.this().rounds;
        let gives_way = rounds.gives_way();
        let is_in_doubt = rounds.is_in_doubt();
        self.scheduler.waiting.change((true, was_in_doubt), (true, is_in_doubt));
        if !is_in_doubt {
            self.scheduler.waiting.next_at =
                self.recorder.emit.n_steps + u64::from(STEPS_BETWEEN_MAX);
        }
        gives_way
    }

    /// The thread that runs waits for nothing any more: it ends.
    pub(crate) fn end_waiting(&mut self) {
        let rounds = &mut self.this().rounds;
        let was = (rounds.is_waiting(), rounds.is_in_doubt());
        rounds.n_known = 0;
        self.scheduler.waiting.change(was, (false, false));
    }

    /// Begins another execution, whose threads have waited for nothing yet.
    pub(crate) fn forget_waiting(&mut self) {
        (
            self.scheduler.waiting.n_threads,
            self.scheduler.waiting.n_in_doubt,
            self.scheduler.waiting.next_at,
        ) = (0, 0, 0);
        self.scheduler.waiting.users.clear();
        (self.hot.patience, self.hot.patience_max) = (PATIENCE, PATIENCE);
        for thread in self.scheduler.threads.iter_mut().filter(|it| it.rounds.is_used) {
            thread.rounds = Rounds::new();
        }
    }
}

/// A thread that waits in rounds lets others go first, if it is one that is about to take a step.
#[cold]
#[inline(never)]
pub(crate) fn give_way_before(inside: &mut Inside, op: &Op) {
    if inside.scheduler.machine.n_live() > 1 && can_wait_before(op) && inside.gives_way() {
        yield_unsure(inside, op.site);
    }
}

/// Not before steps that end a wait or give something back: others may want that first.
fn can_wait_before(op: &Op) -> bool {
    let is_try = matches!(
        op.kind,
        OpKind::Lock
            | OpKind::TryLock
            | OpKind::ReadLock
            | OpKind::TryReadLock
            | OpKind::WriteLock
            | OpKind::TryWriteLock
            | OpKind::SemTryWait
            | OpKind::TryJoin
            | OpKind::FutexWait
            | OpKind::FutexNotify
            | OpKind::Fence
    );
    !op.is_yield() && (is_try || op.kind.is_access() || op.kind.is_io())
}

/// Others go first, but the thread may well have something to do.
fn yield_unsure(inside: &mut Inside, site: SiteId) {
    let op = Op::on(OpKind::Yield, ObjectId::NONE, site).arg(MAY_WORK);
    step(inside, Op { flags: Flags::IMPLIED, ..op });
}

/// So many of them at most, and so many must have been the same.
const STARES_MAX: u32 = 256;
const STARES_SAME: u32 = 48;

/// A read, after so many others without a step. Is it settled, as a step?
#[cold]
#[inline(never)]
pub(crate) fn stare(touch: &Touch) -> bool {
    let Some(mut inside) = enter() else { return false };
    // SAFETY: the thread that runs is inside a hook; the borrows end before each step.
    unsafe {
        let is_alone = inside.scheduler.machine.n_live() == 1;
        inside.hot.patience = if is_alone { inside.hot.patience_max } else { 0 };
        if is_alone {
            return leave(false, inside);
        }
        let value = peek(touch.address, touch.size);
        let rounds = &mut inside.this().rounds;
        rounds.stares.note(mix(touch.caller.pc as u64, touch.address as u64), value);
        rounds.n_stares += 1;
        rounds.is_used = true;
        let is_same = rounds.stares.n_same >= STARES_SAME;
        if !is_same && rounds.n_stares < STARES_MAX {
            return leave(false, inside);
        }
        rounds.stares.reset();
        rounds.n_stares = 0;
        let cell = inside.memory.shadow.cell(touch.address);
        let is_memory = !cell.is_null() && !matches!((*cell).state(), State::Sync(_));
        if is_same && is_memory {
            access::watch(&mut inside, touch);
        } else {
            // Most likely it computes. Who gives way again and again meanwhile makes others look at the same memory in turn.
            inside.hot.patience_max = (inside.hot.patience_max * 2).min(PATIENCE_MAX);
            let site = inside.site(touch.caller);
            yield_unsure(&mut inside, site);
        }
        leave(is_same && is_memory, inside)
    }
}
