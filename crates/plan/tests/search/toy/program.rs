//! What toy programs are written in.

/// A register of a thread.
pub(crate) type Reg = usize;

/// A number: written out, or in a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Val {
    Is(i64),
    In(Reg),
}

/// A variable: this one, or so many further on as a register says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Var {
    At(usize),
    Off(usize, Reg),
}

/// When to jump.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum If {
    Always,
    Equal(Reg, i64),
    Differs(Reg, i64),
}

/// An instruction. All but the last group are steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ins {
    Load(Reg, Var),
    Store(Var, Val),
    /// The old value goes to the register.
    Add(Reg, Var, i64),
    /// 1 or 0 goes to the register; from this value to that.
    Cas(Reg, Var, Val, Val),
    Lock(usize),
    /// 1 or 0 goes to the register, here and in what follows.
    TryLock(Reg, usize),
    TimedLock(Reg, usize),
    Unlock(usize),
    Wait(usize, usize),
    TimedWait(Reg, usize, usize),
    Signal(usize),
    Broadcast(usize),
    ReadLock(usize),
    TryReadLock(Reg, usize),
    WriteLock(usize),
    TryWriteLock(Reg, usize),
    RwUnlock(usize),
    Take(usize),
    TryTake(Reg, usize),
    Post(usize),
    Arrive(Reg, usize),
    /// Runs the next instruction if it is the first to come; 1 goes to the register then.
    Once(Reg, usize),
    OnceDone(usize),
    FutexWait(Reg, Var, i64),
    FutexWake(Var, u32),
    Spawn(usize),
    Join(usize),
    Yield,
    /// For the first time at its place.
    Hint,
    /// As what the runtime takes for spinning.
    Spin(Reg, Var),

    Set(Reg, Val),
    Plus(Reg, i64),
    Goto(If, usize),
    /// Notes that something is wrong, and goes on.
    Fail,
    /// Ends the execution.
    Abort,
}

/// A program. Thread 0 runs first; the others too if nobody spawns them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Program {
    pub(crate) name: String,
    pub(crate) threads: Vec<Vec<Ins>>,
    pub(crate) n_vars: usize,
    pub(crate) n_mutexes: usize,
    pub(crate) n_conds: usize,
    pub(crate) n_rwlocks: usize,
    /// The count of each at first.
    pub(crate) sems: Vec<u32>,
    /// How many threads each waits for.
    pub(crate) barriers: Vec<u32>,
    pub(crate) n_onces: usize,
    /// Are the first and the last step of a thread steps, as in the runtime?
    pub(crate) has_ends: bool,
    /// Are mutexes recursive?
    pub(crate) is_recursive: bool,
    /// May waits end for no reason?
    pub(crate) is_spurious: bool,
}

impl Program {
    /// A program with all the objects that its threads name; semaphores are 0 at first, and barriers wait
    /// for all threads.
    pub(crate) fn new(name: &str, threads: Vec<Vec<Ins>>) -> Program {
        let n_threads = threads.len() as u32;
        let mut program = Program { name: name.to_owned(), threads, ..Program::default() };
        let all: Vec<Ins> = program.threads.iter().flatten().copied().collect();
        for ins in all {
            program.add_objects(ins, n_threads);
        }
        program
    }

    pub(crate) fn with_sems(mut self, sems: &[u32]) -> Program {
        self.sems = sems.to_vec();
        self
    }

    /// So that variables beyond those named can be reached.
    pub(crate) fn with_vars(mut self, n_vars: usize) -> Program {
        self.n_vars = n_vars;
        self
    }

    /// Is a thread created by another?
    pub(crate) fn is_spawned(&self, thread: usize) -> bool {
        self.threads.iter().flatten().any(|it| *it == Ins::Spawn(thread))
    }

    fn add_objects(&mut self, ins: Ins, n_threads: u32) {
        use Ins::*;
        let grow = |count: &mut usize, idx: usize| *count = (*count).max(idx + 1);
        match ins {
            Load(_, Var::At(var) | Var::Off(var, _))
            | Store(Var::At(var) | Var::Off(var, _), _)
            | Add(_, Var::At(var) | Var::Off(var, _), _)
            | Cas(_, Var::At(var) | Var::Off(var, _), _, _)
            | FutexWait(_, Var::At(var) | Var::Off(var, _), _)
            | FutexWake(Var::At(var) | Var::Off(var, _), _)
            | Spin(_, Var::At(var) | Var::Off(var, _)) => grow(&mut self.n_vars, var),
            Lock(mutex) | TryLock(_, mutex) | TimedLock(_, mutex) | Unlock(mutex) => {
                grow(&mut self.n_mutexes, mutex);
            }
            Wait(cond, mutex) | TimedWait(_, cond, mutex) => {
                grow(&mut self.n_conds, cond);
                grow(&mut self.n_mutexes, mutex);
            }
            Signal(cond) | Broadcast(cond) => grow(&mut self.n_conds, cond),
            ReadLock(lock) | TryReadLock(_, lock) | WriteLock(lock) | TryWriteLock(_, lock) => {
                grow(&mut self.n_rwlocks, lock);
            }
            RwUnlock(lock) => grow(&mut self.n_rwlocks, lock),
            Take(sem) | TryTake(_, sem) | Post(sem) => {
                let n_sems = self.sems.len().max(sem + 1);
                self.sems.resize(n_sems, 0);
            }
            Arrive(_, barrier) => {
                let n_barriers = self.barriers.len().max(barrier + 1);
                self.barriers.resize(n_barriers, n_threads);
            }
            Once(_, once) | OnceDone(once) => grow(&mut self.n_onces, once),
            Spawn(_) | Join(_) | Yield | Hint | Set(..) | Plus(..) | Goto(..) | Fail | Abort => {}
        }
    }
}
