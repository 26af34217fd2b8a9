//! Runs a toy program under a plan.

use raddle_machine::{Machine, MutexKind, ObjectState, Performed, Status};
use raddle_model::{
    End, Flags, ObjectId, Op, OpKind, OpResult, PickerSpec, ProfileView, SiteId, ThreadId,
};
use raddle_pick::{Chooser, Origin, Threads as _, View};
use raddle_plan::search::{ObjectName, Pending, Run, Step, ThreadSet};

use super::program::{If, Ins, Program, Reg, Val, Var};

/// A toy program, ready to run again and again.
pub(crate) struct Toy {
    pub(crate) program: Program,
    machine: Machine,
    at: Objects,
    pub(crate) steps_max: usize,
}

/// What came of an execution beside its steps.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Outcome {
    pub(crate) vars: Vec<i64>,
    pub(crate) regs: Vec<[i64; N_REGS]>,
    pub(crate) n_failures: u32,
    pub(crate) is_deadlock: bool,
    pub(crate) is_aborted: bool,
    pub(crate) diverged_at: Option<u64>,
}

pub(crate) const N_REGS: usize = 4;

/// Where the objects of each kind begin.
#[derive(Clone, Copy, Default)]
struct Objects {
    vars: u32,
    mutexes: u32,
    conds: u32,
    rwlocks: u32,
    sems: u32,
    barriers: u32,
    onces: u32,
    end: u32,
}

#[derive(Clone, Copy, Default)]
struct Thread {
    next: usize,
    regs: [i64; N_REGS],
    /// The second half of an instruction that takes two steps.
    is_half: bool,
}

struct State {
    machine: Machine,
    threads: Vec<Thread>,
    vars: Vec<i64>,
    n_failures: u32,
    is_aborted: bool,
}

struct Sees<'a>(&'a Machine);

impl raddle_pick::Threads for Sees<'_> {
    fn n_enabled(&self) -> u32 {
        self.0.n_enabled()
    }
    fn enabled(&self, idx: u32) -> ThreadId {
        self.0.enabled(idx)
    }
    fn is_enabled(&self, thread: ThreadId) -> bool {
        self.0.is_enabled(thread)
    }
    fn timed(&self) -> &[ThreadId] {
        self.0.timed()
    }
    fn op(&self, thread: ThreadId) -> &Op {
        self.0.pending(thread)
    }
    fn n_threads(&self) -> u32 {
        self.0.n_threads()
    }
    fn parent(&self, thread: ThreadId) -> Option<ThreadId> {
        self.0.origin(thread).1
    }
    fn name(&self, object: ObjectId) -> u64 {
        u64::from(object.0)
    }
}

impl Toy {
    pub(crate) fn new(program: Program) -> Toy {
        let mut next = 1 + program.threads.len() as u32;
        let mut place = |count: usize| {
            next += count as u32;
            next - count as u32
        };
        let at = Objects {
            vars: place(program.n_vars),
            mutexes: place(program.n_mutexes),
            conds: place(program.n_conds),
            rwlocks: place(program.n_rwlocks),
            sems: place(program.sems.len()),
            barriers: place(program.barriers.len()),
            onces: place(program.n_onces),
            end: 0,
        };
        let at = Objects { end: next, ..at };
        let mut machine = Machine::new(ObjectId(1));
        machine.may_reorder = true;
        machine.may_wake_spuriously = program.is_spurious;
        let kind = if program.is_recursive { MutexKind::Recursive } else { MutexKind::Normal };
        for idx in 0..program.n_mutexes as u32 {
            machine.set_object(ObjectId(at.mutexes + idx), ObjectState::mutex(kind, false));
        }
        for idx in 0..program.n_conds as u32 {
            machine.set_object(ObjectId(at.conds + idx), ObjectState::cond());
        }
        for idx in 0..program.n_rwlocks as u32 {
            machine.set_object(ObjectId(at.rwlocks + idx), ObjectState::rwlock(false));
        }
        for (idx, count) in (0..).zip(&program.sems) {
            machine.set_object(ObjectId(at.sems + idx), ObjectState::sem(*count));
        }
        for (idx, count) in (0..).zip(&program.barriers) {
            machine.set_object(ObjectId(at.barriers + idx), ObjectState::barrier(*count));
        }
        for idx in 0..program.n_onces as u32 {
            machine.set_object(ObjectId(at.onces + idx), ObjectState::once());
        }
        Toy { program, machine, at, steps_max: 10_000 }
    }

    /// Runs it; `run` is filled.
    pub(crate) fn run(&self, prefix: &[u32], picker: PickerSpec, run: &mut Run) -> Outcome {
        run.clear();
        let names =
            (0..self.at.end).map(|it| ObjectName { name: u64::from(it) * 2 + 100, block: 0 });
        run.objects.extend(names);
        run.objects[0] = ObjectName::default();
        let profile = ProfileView::default();
        let origin = Origin { picker, seed: 7, may_time_out: false, profile };
        let mut chooser = Chooser::of(prefix, &origin);
        let mut state = self.begin();
        let mut last = ThreadId(0);
        while !state.is_aborted
            && run.steps.len() < self.steps_max
            && state.machine.settle().is_ok()
        {
            let step = self.step(&mut state, &mut chooser, last, run.steps.len() as u64);
            last = step.thread;
            run.steps.push(step);
        }
        self.end(state, &chooser, run)
    }

    fn begin(&self) -> State {
        let mut state = State {
            machine: self.machine.clone(),
            threads: Vec::with_capacity(self.program.threads.len()),
            vars: vec![0; self.program.n_vars],
            n_failures: 0,
            is_aborted: false,
        };
        state.threads.push(Thread::default());
        for thread in 1..self.program.threads.len() {
            if !self.program.is_spawned(thread) {
                self.create(&mut state);
            }
        }
        self.advance(&mut state, ThreadId(0));
        state
    }

    fn create(&self, state: &mut State) -> ThreadId {
        let number = state.threads.len() as u32;
        let thread =
            state.machine.create_thread(ObjectId(number + 1), Some(ThreadId(0)), SiteId(0));
        assert_eq!(thread.0, number);
        state.threads.push(Thread::default());
        if !self.program.has_ends {
            state.machine.perform(thread, 0);
            self.advance(state, thread);
        }
        thread
    }

    fn step(
        &self,
        state: &mut State,
        chooser: &mut Chooser<'_>,
        last: ThreadId,
        step: u64,
    ) -> Step {
        let machine = &state.machine;
        let sees = Sees(machine);
        let mut enabled = ThreadSet::NONE;
        for idx in 0..sees.n_enabled() {
            enabled = enabled.with(sees.enabled(idx));
        }
        let timed: ThreadSet = machine.timed().iter().copied().collect();
        let gives_way = machine.pending(last).is_hint();
        let view = View { step, last, threads: &sees };
        let is_forced = enabled.len() == 1 && timed.is_empty();
        let thread = if is_forced { chooser.forced(&view) } else { chooser.pick(&view) };
        let machine = &mut state.machine;
        if !machine.is_enabled(thread) {
            machine.time_out(thread);
        }
        let op = *machine.pending(thread);
        let n_choices = machine.n_choices(thread);
        let mut did = Step {
            thread,
            kind: op.kind,
            flags: op.flags,
            object: op.object,
            other: op.other,
            site: op.site,
            enabled,
            timed,
            gives_way,
            n_choices,
            size: if op.kind.is_access() { 8 } else { 0 },
            ..Step::default()
        };
        if !machine.is_enabled(thread) {
            did.result = OpResult::Busy;
            return did;
        }
        did.choice = if n_choices > 1 { chooser.choose(n_choices, step) } else { 0 };
        let performed = machine.perform(thread, did.choice);
        assert_eq!(performed.misuse, None, "{:?} in {}", op, self.program.name);
        (did.result, did.value) = (performed.result, performed.value);
        self.effect(state, thread, &op, performed, &mut did);
        if state.machine.status(thread) == Status::Running && !state.is_aborted {
            self.advance(state, thread);
        }
        did
    }

    /// What a step does to registers and variables.
    fn effect(
        &self,
        state: &mut State,
        id: ThreadId,
        op: &Op,
        performed: Performed,
        did: &mut Step,
    ) {
        let is_done = performed.result == OpResult::Done;
        let thread = &mut state.threads[id.idx()];
        let Some(ins) = self.program.threads[id.idx()].get(thread.next).copied() else { return };
        if op.kind == OpKind::Start {
            return;
        }
        thread.next += 1;
        match ins {
            Ins::Load(reg, var) | Ins::Spin(reg, var) => {
                thread.regs[reg] = state.vars[var.idx(&thread.regs)];
                did.value = thread.regs[reg] as u64;
            }
            Ins::Store(var, val) => state.vars[var.idx(&thread.regs)] = val.get(&thread.regs),
            Ins::Add(reg, var, by) => {
                let var = var.idx(&thread.regs);
                thread.regs[reg] = state.vars[var];
                state.vars[var] += by;
                did.value = thread.regs[reg] as u64;
            }
            Ins::Cas(reg, var, from, to) => {
                let var = var.idx(&thread.regs);
                let is_equal = state.vars[var] == from.get(&thread.regs);
                did.value = state.vars[var] as u64;
                if is_equal {
                    state.vars[var] = to.get(&thread.regs);
                } else {
                    did.result = OpResult::Busy;
                }
                thread.regs[reg] = i64::from(is_equal);
            }
            Ins::TryLock(reg, _)
            | Ins::TimedLock(reg, _)
            | Ins::TryReadLock(reg, _)
            | Ins::TryWriteLock(reg, _)
            | Ins::TryTake(reg, _) => thread.regs[reg] = i64::from(is_done),
            Ins::Wait(..) | Ins::TimedWait(..) if !thread.is_half => {
                (thread.is_half, thread.next) = (true, thread.next - 1);
            }
            Ins::TimedWait(reg, ..) => {
                thread.is_half = false;
                thread.regs[reg] = i64::from(is_done);
            }
            Ins::Wait(..) => thread.is_half = false,
            Ins::Arrive(reg, _) if op.kind == OpKind::BarrierArrive => {
                thread.regs[reg] = i64::from(performed.result == OpResult::Chosen);
                if thread.regs[reg] == 0 {
                    (thread.is_half, thread.next) = (true, thread.next - 1);
                }
            }
            Ins::Arrive(..) => thread.is_half = false,
            Ins::FutexWait(reg, var, expected) if !thread.is_half => {
                let seen = state.vars[var.idx(&thread.regs)];
                did.value = seen as u64;
                if seen == expected {
                    (thread.is_half, thread.next) = (true, thread.next - 1);
                    state.machine.queue_at_futex(id, op.object, u32::MAX);
                } else {
                    thread.regs[reg] = 1;
                    did.result = OpResult::Busy;
                }
            }
            Ins::FutexWait(..) => thread.is_half = false,
            Ins::Once(reg, _) => {
                thread.regs[reg] = i64::from(performed.result == OpResult::Chosen);
            }
            Ins::Spawn(child) => {
                did.value = child as u64;
                assert_eq!(self.create(state).idx(), child, "threads are spawned in order");
            }
            _ => {}
        }
    }

    /// Runs what is no step, and announces the next step.
    fn advance(&self, state: &mut State, id: ThreadId) {
        loop {
            let thread = &mut state.threads[id.idx()];
            match self.program.threads[id.idx()].get(thread.next).copied() {
                None => return self.finish(state, id),
                Some(Ins::Set(reg, val)) => thread.regs[reg] = val.get(&thread.regs),
                Some(Ins::Plus(reg, by)) => thread.regs[reg] += by,
                Some(Ins::Goto(when, target)) if when.holds(&thread.regs) => {
                    thread.next = target;
                    continue;
                }
                Some(Ins::Goto(..)) => {}
                Some(Ins::Fail) => state.n_failures += 1,
                Some(Ins::Abort) => {
                    state.is_aborted = true;
                    return;
                }
                Some(ins) => {
                    let op = self.op(ins, thread, id);
                    if matches!(ins, Ins::FutexWait(..) | Ins::FutexWake(..)) {
                        state.machine.make_futex(op.object);
                    }
                    return state.machine.announce(id, op);
                }
            }
            state.threads[id.idx()].next += 1;
        }
    }

    fn finish(&self, state: &mut State, id: ThreadId) {
        state.machine.announce(id, Op::on(OpKind::Finish, ObjectId(id.0 + 1), SiteId(999)));
        if !self.program.has_ends {
            state.machine.perform(id, 0);
        }
    }

    fn op(&self, ins: Ins, thread: &Thread, id: ThreadId) -> Op {
        let at = &self.at;
        let var = |var: Var| at.vars + var.idx(&thread.regs) as u32;
        let nth = |first: u32, idx: usize| first + idx as u32;
        let (first, half) = match ins {
            Ins::Wait(cond, _) | Ins::TimedWait(_, cond, _) => {
                ((OpKind::CondWait, nth(at.conds, cond)), OpKind::CondWake)
            }
            Ins::Arrive(_, barrier) => {
                ((OpKind::BarrierArrive, nth(at.barriers, barrier)), OpKind::BarrierLeave)
            }
            Ins::FutexWait(_, it, _) => ((OpKind::FutexWait, var(it)), OpKind::FutexWake),
            _ => (self.plain_op(ins, &var), OpKind::Yield),
        };
        let kind = if thread.is_half { half } else { first.0 };
        let site = SiteId(id.0 * 100 + thread.next as u32 + 1);
        let mut op = Op::on(kind, ObjectId(first.1), site);
        match ins {
            Ins::Wait(_, mutex) | Ins::TimedWait(_, _, mutex) => {
                op = op.other(ObjectId(nth(at.mutexes, mutex)));
            }
            Ins::Hint => op.flags = Flags::HINT,
            Ins::FutexWake(_, count) => op = op.arg(u64::from(count) | u64::MAX << 32),
            _ => {}
        }
        // Not so near that it passes by itself.
        match ins {
            Ins::TimedLock(_, lock) => {
                op = op.until(Some(900_000_000 + 200_000_000 * lock as u64));
            }
            Ins::TimedWait(..) if thread.is_half => {
                op = op.until(Some(900_050_000 + 100_000_000 * u64::from(id.0 / 2)));
            }
            _ => {}
        }
        if matches!(ins, Ins::Spin(..)) {
            op.flags = Flags::SPIN;
        }
        op
    }

    fn plain_op(&self, ins: Ins, var: &dyn Fn(Var) -> u32) -> (OpKind, u32) {
        let at = &self.at;
        let nth = |first: u32, idx: usize| first + idx as u32;
        match ins {
            Ins::Load(_, it) => (OpKind::Read, var(it)),
            Ins::Spin(_, it) => (OpKind::AtomicLoad, var(it)),
            Ins::Store(it, _) => (OpKind::Write, var(it)),
            Ins::Add(_, it, _) => (OpKind::AtomicRmw, var(it)),
            Ins::Cas(_, it, _, _) => (OpKind::AtomicCas, var(it)),
            Ins::Lock(it) | Ins::TimedLock(_, it) => (OpKind::Lock, nth(at.mutexes, it)),
            Ins::TryLock(_, it) => (OpKind::TryLock, nth(at.mutexes, it)),
            Ins::Unlock(it) => (OpKind::Unlock, nth(at.mutexes, it)),
            Ins::Signal(it) => (OpKind::Signal, nth(at.conds, it)),
            Ins::Broadcast(it) => (OpKind::Broadcast, nth(at.conds, it)),
            Ins::ReadLock(it) => (OpKind::ReadLock, nth(at.rwlocks, it)),
            Ins::TryReadLock(_, it) => (OpKind::TryReadLock, nth(at.rwlocks, it)),
            Ins::WriteLock(it) => (OpKind::WriteLock, nth(at.rwlocks, it)),
            Ins::TryWriteLock(_, it) => (OpKind::TryWriteLock, nth(at.rwlocks, it)),
            Ins::RwUnlock(it) => (OpKind::RwUnlock, nth(at.rwlocks, it)),
            Ins::Take(it) => (OpKind::SemWait, nth(at.sems, it)),
            Ins::TryTake(_, it) => (OpKind::SemTryWait, nth(at.sems, it)),
            Ins::Post(it) => (OpKind::SemPost, nth(at.sems, it)),
            Ins::Once(_, it) => (OpKind::OnceEnter, nth(at.onces, it)),
            Ins::OnceDone(it) => (OpKind::OnceDone, nth(at.onces, it)),
            Ins::FutexWake(it, _) => (OpKind::FutexNotify, var(it)),
            Ins::Spawn(thread) => (OpKind::Spawn, thread as u32 + 1),
            Ins::Join(thread) => (OpKind::Join, thread as u32 + 1),
            Ins::Yield | Ins::Hint => (OpKind::Yield, 0),
            other => panic!("{other:?} is no plain step"),
        }
    }

    fn end(&self, state: State, chooser: &Chooser<'_>, run: &mut Run) -> Outcome {
        let machine = &state.machine;
        let is_stuck = !state.is_aborted && run.steps.len() < self.steps_max;
        let is_deadlock = is_stuck && machine.n_live() > 0;
        for number in 0..machine.n_threads() {
            let thread = ThreadId(number);
            if matches!(machine.status(thread), Status::Finished | Status::Running) {
                continue;
            }
            let op = machine.pending(thread);
            run.pending.push(Pending {
                thread,
                kind: op.kind,
                flags: op.flags,
                object: op.object,
                other: op.other,
                site: op.site,
                is_blocked: machine.is_blocked(thread),
                is_weak: false,
            });
        }
        run.end = Some(match (state.is_aborted, is_deadlock) {
            (true, _) => End::Abort,
            (_, true) => End::Deadlock,
            _ if is_stuck => End::Exit(0),
            _ => End::Livelock,
        });
        Outcome {
            regs: state.threads.iter().map(|it| it.regs).collect(),
            vars: state.vars,
            n_failures: state.n_failures,
            is_deadlock,
            is_aborted: state.is_aborted,
            diverged_at: chooser.diverged_at(),
        }
    }
}

impl Val {
    fn get(self, regs: &[i64; N_REGS]) -> i64 {
        match self {
            Val::Is(value) => value,
            Val::In(reg) => regs[reg],
        }
    }
}

impl Var {
    fn idx(self, regs: &[i64; N_REGS]) -> usize {
        match self {
            Var::At(idx) => idx,
            Var::Off(idx, reg) => (idx as i64 + regs[reg]) as usize,
        }
    }
}

impl If {
    fn holds(self, regs: &[i64; N_REGS]) -> bool {
        let equal = |reg: Reg, value: i64| regs[reg] == value;
        match self {
            If::Always => true,
            If::Equal(reg, value) => equal(reg, value),
            If::Differs(reg, value) => !equal(reg, value),
        }
    }
}
