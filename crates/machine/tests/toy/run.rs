//! Runs a toy program, step by step, as the runtime runs a real one.

use std::collections::BTreeMap;

use raddle_machine::{Machine, Performed, Stuck};
use raddle_model::{Event, Flags, Misuse, ObjectId, Op, OpKind, OpResult, ThreadId};
use raddle_pick::{Chooser, Threads, View};

use super::{BARRIER, Do, ONCE, Program, RWLOCK, SEM, machine, site, thread_object};

/// Whoever looks on while a program runs.
pub(crate) trait Watch {
    /// A thread is about to announce an op.
    fn announces(&mut self, machine: &Machine, thread: ThreadId, op: &Op);
    /// A thread is to be chosen.
    fn chooses(&mut self, machine: &Machine);
    /// The wait of a blocked thread was chosen to end by itself.
    fn times_out(&mut self, machine: &Machine, thread: ThreadId);
    /// A step was taken.
    fn did(&mut self, machine: &Machine, event: &Event, misuse: Option<Misuse>);
    /// Nobody can go on.
    fn deadlocks(&mut self, machine: &Machine);
}

/// Nobody looks on.
impl Watch for () {
    fn announces(&mut self, _: &Machine, _: ThreadId, _: &Op) {}
    fn chooses(&mut self, _: &Machine) {}
    fn times_out(&mut self, _: &Machine, _: ThreadId) {}
    fn did(&mut self, _: &Machine, _: &Event, _: Option<Misuse>) {}
    fn deadlocks(&mut self, _: &Machine) {}
}

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Ended {
    Finished,
    Deadlock,
    Misuse,
    StepLimit,
}

/// What became of a program.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) trace: Vec<Event>,
    pub(crate) ended: Ended,
    /// The schedule, as a prefix: a thread for each step, and a data choice where there was one.
    pub(crate) choices: Vec<u32>,
    /// For each choice, what it was chosen from. Blocked threads with a deadline come last.
    pub(crate) options: Vec<Vec<u32>>,
    pub(crate) diverged_at: Option<u64>,
}

/// Runs a program for so many steps at most.
pub(crate) fn run<W: Watch>(
    program: &Program,
    chooser: Chooser<'_>,
    max_steps: usize,
    watch: &mut W,
) -> Run {
    let mut toy = Toy::new(program, chooser, watch);
    let ended = loop {
        if toy.machine.n_live() == 0 {
            break Ended::Finished;
        }
        if toy.trace.len() >= max_steps {
            break Ended::StepLimit;
        }
        if let Err(ended) = toy.step() {
            break ended;
        }
    };
    let diverged_at = toy.chooser.diverged_at();
    Run { trace: toy.trace, ended, choices: toy.choices, options: toy.options, diverged_at }
}

/// Where a thread stands in its code: a statement, and which half of it.
#[derive(Clone, Copy, Debug, Default)]
struct Position {
    statement: usize,
    is_second_half: bool,
}

struct Toy<'a, W> {
    program: &'a Program,
    machine: Machine,
    chooser: Chooser<'a>,
    watch: &'a mut W,
    positions: Vec<Position>,
    values: BTreeMap<ObjectId, u64>,
    last: ThreadId,
    trace: Vec<Event>,
    choices: Vec<u32>,
    options: Vec<Vec<u32>>,
}

impl<'a, W: Watch> Toy<'a, W> {
    fn new(program: &'a Program, chooser: Chooser<'a>, watch: &'a mut W) -> Toy<'a, W> {
        let mut toy = Toy {
            program,
            machine: machine(),
            chooser,
            watch,
            positions: vec![Position::default()],
            values: BTreeMap::new(),
            last: ThreadId(0),
            trace: Vec::new(),
            choices: Vec::new(),
            options: Vec::new(),
        };
        toy.machine.may_wake_spuriously = program.may_wake_spuriously;
        if !program.has_main {
            for _ in 1..program.threads.len() {
                let thread = toy.create();
                toy.machine.perform(thread, 0);
                toy.announce(thread);
            }
        }
        toy.announce(ThreadId(0));
        toy
    }

    fn create(&mut self) -> ThreadId {
        let object = thread_object(self.positions.len() as u32);
        self.positions.push(Position::default());
        self.machine.create_thread(object, Some(ThreadId(0)), site(0, 0))
    }

    fn step(&mut self) -> Result<(), Ended> {
        if self.machine.settle() == Err(Stuck::Deadlock) {
            self.watch.deadlocks(&self.machine);
            return Err(Ended::Deadlock);
        }
        self.watch.chooses(&self.machine);
        let thread = self.pick();
        if !self.machine.is_enabled(thread) {
            self.machine.time_out(thread);
            self.watch.times_out(&self.machine, thread);
            if !self.machine.is_enabled(thread) {
                let op = *self.machine.pending(thread);
                self.tell(thread, &op, OpResult::Busy.into(), 0);
                return Ok(());
            }
        }
        self.complete(thread)
    }

    fn pick(&mut self) -> ThreadId {
        let sees = Sees(&self.machine);
        let mut options: Vec<u32> =
            (0..sees.n_threads()).filter(|it| sees.is_enabled(ThreadId(*it))).collect();
        let timed = sees.timed().iter().filter(|it| !sees.is_enabled(**it));
        options.extend(timed.map(|it| it.0));
        let view = View { step: self.trace.len() as u64, last: self.last, threads: &sees };
        let thread = if sees.n_enabled() == 1 && sees.timed().is_empty() {
            self.chooser.forced(&view)
        } else {
            self.chooser.pick(&view)
        };
        self.choices.push(thread.0);
        self.options.push(options);
        thread
    }

    fn complete(&mut self, thread: ThreadId) -> Result<(), Ended> {
        let op = *self.machine.pending(thread);
        let n_choices = self.machine.n_choices(thread);
        let (mut choice, mut told_choice) = (0, 0);
        if n_choices > 1 {
            choice = self.chooser.choose(n_choices, self.trace.len() as u64);
            told_choice = choice + 1;
            self.choices.push(choice);
            self.options.push((0..n_choices).collect());
        }
        let mut performed = self.machine.perform(thread, choice);
        self.use_memory(thread, &op, &mut performed);
        self.tell(thread, &op, performed, told_choice);
        self.last = thread;
        if performed.misuse.is_some() {
            return Err(Ended::Misuse);
        }
        if op.kind == OpKind::Spawn {
            self.create();
        }
        if op.kind != OpKind::Finish {
            self.move_on(thread, &op, performed.result);
            self.announce(thread);
        }
        Ok(())
    }

    /// What the runtime does itself, since memory is not the machine's.
    fn use_memory(&mut self, thread: ThreadId, op: &Op, performed: &mut Performed) {
        let value = self.values.entry(op.object).or_default();
        match op.kind {
            OpKind::Read => performed.value = *value,
            OpKind::Write => *value = op.arg,
            OpKind::AtomicCas => {
                performed.value = *value;
                let (from, to) = (op.arg >> 32, op.arg & 0xffff_ffff);
                performed.result = if *value == from { OpResult::Done } else { OpResult::Busy };
                *value = if *value == from { to } else { *value };
            }
            OpKind::FutexWait if *value == op.arg => {
                self.machine.queue_at_futex(thread, op.object, u32::MAX);
            }
            OpKind::FutexWait => performed.result = OpResult::Busy,
            _ => {}
        }
    }

    fn tell(&mut self, thread: ThreadId, op: &Op, performed: Performed, choice: u32) {
        let event = Event {
            kind: op.kind,
            flags: op.flags,
            result: performed.result,
            size: 0,
            thread,
            object: op.object,
            other: op.other,
            site: op.site,
            detail: choice,
            value: performed.value,
        };
        self.watch.did(&self.machine, &event, performed.misuse);
        self.trace.push(event);
    }

    fn announce(&mut self, thread: ThreadId) {
        let op = self.next_op(thread);
        if matches!(op.kind, OpKind::FutexWait | OpKind::FutexNotify) {
            self.machine.make_futex(op.object);
        }
        self.watch.announces(&self.machine, thread, &op);
        self.machine.announce(thread, op);
    }

    /// To the second half of a statement that has one, or to the next statement.
    fn move_on(&mut self, thread: ThreadId, op: &Op, result: OpResult) {
        let position = &mut self.positions[thread.idx()];
        let has_second_half = match op.kind {
            OpKind::CondWait => true,
            OpKind::FutexWait | OpKind::BarrierArrive => result == OpResult::Done,
            OpKind::OnceEnter => result == OpResult::Chosen,
            _ => false,
        };
        if has_second_half {
            position.is_second_half = true;
        } else if op.kind != OpKind::Start {
            *position = Position { statement: position.statement + 1, is_second_half: false };
        }
    }

    fn next_op(&self, thread: ThreadId) -> Op {
        let position = self.positions[thread.idx()];
        let op = match (self.program.has_main, thread.idx()) {
            (true, 0) => self.op_of_main(position.statement),
            (true, idx) => self.op_in(&self.program.threads[idx - 1], position),
            (false, idx) => self.op_in(&self.program.threads[idx], position),
        };
        Op { site: site(thread.idx(), position.statement), ..op }
    }

    fn op_of_main(&self, statement: usize) -> Op {
        let n_threads = self.program.threads.len();
        let object = |number: usize| thread_object(number as u32);
        match statement {
            it if it < n_threads => on(OpKind::Spawn, object(it + 1)),
            it if it < 2 * n_threads => on(OpKind::Join, object(it + 1 - n_threads)),
            _ => on(OpKind::Finish, object(0)),
        }
    }

    fn op_in(&self, code: &[Do], position: Position) -> Op {
        let Some(statement) = code.get(position.statement) else {
            return on(OpKind::Finish, ObjectId::NONE);
        };
        match position.is_second_half {
            false => first_op(*statement, self.machine.now()),
            true => second_op(*statement, self.machine.now()),
        }
    }
}

fn on(kind: OpKind, object: ObjectId) -> Op {
    Op::on(kind, object, site(0, 0))
}

fn first_op(statement: Do, now: u64) -> Op {
    let until = |time: u64| Some(now + time);
    match statement {
        Do::Lock(mutex) => on(OpKind::Lock, mutex),
        Do::TimedLock(mutex, time) => on(OpKind::Lock, mutex).until(until(time)),
        Do::TryLock(mutex) => on(OpKind::TryLock, mutex),
        Do::Unlock(mutex) => on(OpKind::Unlock, mutex),
        Do::ReadLock => on(OpKind::ReadLock, RWLOCK),
        Do::TimedReadLock(time) => on(OpKind::ReadLock, RWLOCK).until(until(time)),
        Do::TryReadLock => on(OpKind::TryReadLock, RWLOCK),
        Do::WriteLock => on(OpKind::WriteLock, RWLOCK),
        Do::TimedWriteLock(time) => on(OpKind::WriteLock, RWLOCK).until(until(time)),
        Do::TryWriteLock => on(OpKind::TryWriteLock, RWLOCK),
        Do::RwUnlock => on(OpKind::RwUnlock, RWLOCK),
        Do::Wait(cond, mutex) | Do::TimedWait(cond, mutex, _) => {
            on(OpKind::CondWait, cond).other(mutex)
        }
        Do::Signal(cond) => on(OpKind::Signal, cond),
        Do::Broadcast(cond) => on(OpKind::Broadcast, cond),
        Do::SemWait => on(OpKind::SemWait, SEM),
        Do::TimedSemWait(time) => on(OpKind::SemWait, SEM).until(until(time)),
        Do::SemTryWait => on(OpKind::SemTryWait, SEM),
        Do::SemPost => on(OpKind::SemPost, SEM),
        Do::Barrier => on(OpKind::BarrierArrive, BARRIER),
        Do::Once | Do::OnceThatThrows => on(OpKind::OnceEnter, ONCE),
        Do::FutexWait(word, value) | Do::TimedFutexWait(word, value, _) => {
            on(OpKind::FutexWait, word).arg(value)
        }
        Do::FutexWake(word, count) => {
            on(OpKind::FutexNotify, word).arg(u64::from(count) | u64::from(u32::MAX) << 32)
        }
        Do::Read(variable) => on(OpKind::Read, variable),
        Do::Write(variable, value) => on(OpKind::Write, variable).arg(value),
        Do::Cas(variable, from, to) => on(OpKind::AtomicCas, variable).arg(from << 32 | to),
        Do::Sleep(time) => on(OpKind::Sleep, ObjectId::NONE).until(until(time)),
        Do::Yield => on(OpKind::Yield, ObjectId::NONE),
        Do::HintedYield => Op { flags: Flags::HINT, ..on(OpKind::Yield, ObjectId::NONE) },
    }
}

fn second_op(statement: Do, now: u64) -> Op {
    let until = |time: u64| Some(now + time);
    match statement {
        Do::Wait(cond, mutex) => on(OpKind::CondWake, cond).other(mutex),
        Do::TimedWait(cond, mutex, time) => {
            on(OpKind::CondWake, cond).other(mutex).until(until(time))
        }
        Do::Barrier => on(OpKind::BarrierLeave, BARRIER),
        Do::Once => on(OpKind::OnceDone, ONCE),
        Do::OnceThatThrows => on(OpKind::OnceAbort, ONCE),
        Do::FutexWait(word, _) => on(OpKind::FutexWake, word),
        Do::TimedFutexWait(word, _, time) => on(OpKind::FutexWake, word).until(until(time)),
        other => panic!("{other:?} has no second half"),
    }
}

/// What a picker sees of the machine.
struct Sees<'a>(&'a Machine);

impl Threads for Sees<'_> {
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
