//! One execution, as total replay sees it: steps in order, and which reads flow into which step.

use std::collections::BTreeMap;

use raddle_model::{OpResult, ThreadId, TraceSize};

/// What a step asks for. Objects, locks and places are names that are the same in every execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Act {
    /// Uses a variable.
    Read,
    /// Defines a variable.
    Write,
    /// Uses and defines it at once: an atomic update.
    Update,
    /// Takes a lock.
    Lock,
    /// Takes a lock that other readers may hold too.
    ReadLock,
    /// Takes a lock, if it is free.
    TryLock,
    /// The same, where other readers may hold it.
    TryReadLock,
    /// Gives a lock back.
    Unlock,
    /// Gives `other` back and waits at a condition variable.
    Wait,
    /// Comes back from waiting, and takes `other` again.
    Wake,
    /// Wakes one that waits.
    Notify,
    /// Wakes all that wait.
    NotifyAll,
    /// Takes one from a semaphore.
    Take,
    /// Takes one from a semaphore, if there is one.
    TryTake,
    /// Adds one to a semaphore.
    Post,
    /// Arrives at a barrier: the last one is chosen.
    Arrive,
    /// Leaves a barrier, when all have arrived.
    Leave,
    /// Enters a once block: the first one is chosen, and the others wait.
    Enter,
    /// Has run a once block.
    EnterDone,
    /// Creates a thread.
    Spawn(ThreadId),
    /// Waits for the end of a thread.
    Join(ThreadId),
    /// A branch with its outcome: a truth value, or which case.
    Branch(u64),
    /// The thread is at its end.
    Finish,
    /// Ends the program.
    Exit,
    /// Something else: it takes part in no race, and keeps its place in its thread.
    Other,
}

impl Act {
    /// Does it use a variable?
    pub const fn is_read(self) -> bool {
        matches!(self, Act::Read | Act::Update)
    }

    /// Does it define a variable?
    pub const fn is_write(self) -> bool {
        matches!(self, Act::Write | Act::Update)
    }

    /// Does it do either?
    pub const fn is_access(self) -> bool {
        matches!(self, Act::Read | Act::Write | Act::Update)
    }

    /// Is its thread told something that depends on what others did, beside what it reads?
    pub const fn has_answers(self) -> bool {
        matches!(
            self,
            Act::Lock
                | Act::ReadLock
                | Act::TryLock
                | Act::TryReadLock
                | Act::Wake
                | Act::Take
                | Act::TryTake
                | Act::Arrive
                | Act::Enter
        )
    }
}

/// One step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Who.
    pub thread: ThreadId,
    /// What.
    pub act: Act,
    /// To what; 0 is nothing.
    pub object: u64,
    /// The lock beside a condition variable; 0 is none.
    pub other: u64,
    /// Where in the code.
    pub place: u64,
    /// An access that is in no race with others of its kind.
    pub is_atomic: bool,
    /// It waits only so long.
    pub is_timed: bool,
    /// How it ended.
    pub answer: OpResult,
    /// Of a notification: which of those that waited it woke, in the order in which they came.
    pub way: u32,
}

impl Default for Step {
    fn default() -> Step {
        Step {
            thread: ThreadId(0),
            act: Act::Other,
            object: 0,
            other: 0,
            place: 0,
            is_atomic: false,
            is_timed: false,
            answer: OpResult::Done,
            way: 0,
        }
    }
}

impl Step {
    /// What came of it: a lock that it did not get is nothing, and one that was tried for is as any other.
    pub const fn done(&self) -> Act {
        let is_done = matches!(self.answer, OpResult::Done | OpResult::OwnerDied);
        match self.act {
            Act::Lock | Act::TryLock if is_done => Act::Lock,
            Act::ReadLock | Act::TryReadLock if is_done => Act::ReadLock,
            Act::Lock | Act::ReadLock | Act::TryLock | Act::TryReadLock => Act::Other,
            Act::Unlock | Act::Wait if !is_done => Act::Other,
            Act::Wake if matches!(self.answer, OpResult::Busy) => Act::Other,
            Act::Take | Act::TryTake | Act::Post | Act::Arrive | Act::Leave => Act::Other,
            Act::Enter | Act::EnterDone => Act::Other,
            act => act,
        }
    }

    /// Is it the same call as another's, however it ended?
    pub(crate) fn is_same_call(&self, other: &Step) -> bool {
        let Step { answer, way, .. } = *other;
        Step { act: self.call(), answer, way, ..*self } == Step { act: other.call(), ..*other }
    }

    /// What it asked for. A compare-exchange that came to nothing is a read.
    pub const fn call(&self) -> Act {
        match self.act {
            Act::Read if matches!(self.answer, OpResult::Busy) => Act::Update,
            act => act,
        }
    }
}

/// Which reads flow into a step: into the value that it writes, the outcome that it has, the address or the
/// lock that it uses. Only reads of its own thread; what others wrote comes through those.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Flow {
    /// None.
    #[default]
    Nothing,
    /// These steps. Invariant: reads of the same thread, earlier ones, in order.
    Reads(Vec<u32>),
    /// Not known: every earlier read of its thread.
    Earlier,
}

/// The steps of an execution, in order.
#[derive(Clone, Debug, Default)]
pub struct History {
    /// In order.
    pub steps: Vec<Step>,
    /// By step. Invariant: as many as there are steps.
    pub flows: Vec<Flow>,
    /// By semaphore: its count before the first step. By barrier: how many threads it waits for.
    pub counts: BTreeMap<u64, u32>,
    /// What threads were blocked at when it ended.
    pub blocked: Vec<Step>,
}

impl History {
    /// Adds a step.
    pub fn push(&mut self, step: Step, flow: Flow) {
        self.steps.push(step);
        self.flows.push(flow);
    }

    /// How many threads have steps: one more than the highest number.
    pub fn n_threads(&self) -> usize {
        self.steps.iter().map(|it| it.thread.idx() + 1).max().unwrap_or(0)
    }

    /// How large it is.
    pub fn size(&self) -> TraceSize {
        TraceSize {
            n_steps: self.steps.len() as u64,
            n_threads: self.n_threads() as u64,
            n_shared: self.shared().len() as u64,
        }
    }

    /// The steps of each thread.
    pub fn by_thread(&self) -> Vec<Vec<u32>> {
        let mut threads = vec![Vec::new(); self.n_threads()];
        for (idx, step) in self.steps.iter().enumerate() {
            threads[step.thread.idx()].push(idx as u32);
        }
        threads
    }

    /// The reads that flow into a step. Conservative flows cost the length of the thread.
    pub fn reads_into(&self, step: u32) -> Vec<u32> {
        match &self.flows[step as usize] {
            Flow::Nothing => Vec::new(),
            Flow::Reads(reads) => reads.clone(),
            Flow::Earlier => {
                let thread = self.steps[step as usize].thread;
                let earlier = self.steps[..step as usize].iter().enumerate();
                earlier
                    .filter(|(_, it)| it.thread == thread && it.act.is_read())
                    .map(|(idx, _)| idx as u32)
                    .collect()
            }
        }
    }

    /// Objects that more than one thread accesses and at least one writes. Sorted.
    pub fn shared(&self) -> Vec<u64> {
        let mut accesses: Vec<(u64, ThreadId, bool)> = self
            .steps
            .iter()
            .filter(|it| it.act.is_access())
            .map(|it| (it.object, it.thread, it.act.is_write()))
            .collect();
        accesses.sort_unstable();
        accesses.dedup();
        let of_object = accesses.chunk_by(|a, b| a.0 == b.0);
        of_object
            .filter(|all| all.iter().any(|it| it.2) && all.iter().any(|it| it.1 != all[0].1))
            .map(|all| all[0].0)
            .collect()
    }
}

/// What flows into steps, for whoever gathers it from many: where a flow is not known, reads that were given back for
/// another one are left out.
#[derive(Clone, Debug)]
pub(crate) struct Sources<'a> {
    history: &'a History,
    /// By thread: all of its reads before this step were given back.
    earlier: BTreeMap<ThreadId, u32>,
}

impl<'a> Sources<'a> {
    pub(crate) fn of(history: &'a History) -> Sources<'a> {
        Sources { history, earlier: BTreeMap::new() }
    }

    /// The reads that flow into a step.
    pub(crate) fn reads_into(&mut self, step: u32) -> Vec<u32> {
        if self.history.flows[step as usize] != Flow::Earlier {
            return self.history.reads_into(step);
        }
        let thread = self.history.steps[step as usize].thread;
        let given = self.earlier.entry(thread).or_default();
        if step <= *given {
            return Vec::new();
        }
        let from = std::mem::replace(given, step);
        let all = self.history.steps[from as usize..step as usize].iter().zip(from..);
        all.filter(|(it, _)| it.thread == thread && it.act.is_read()).map(|it| it.1).collect()
    }
}
