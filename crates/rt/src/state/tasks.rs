//! Tasks of async runtimes: which there are, who is polled, who was put off.
//!
//! A task is known from its first poll until its memory is freed. Before that it is only counted, by the number that it was
//! given when it was spawned.

use std::collections::BTreeMap;

use raddle_model::{ObjectId, SiteId, TaskState, ThreadId};

use crate::record::stacks::StackId;

/// All tasks of an execution.
#[derive(Debug, Default)]
pub(crate) struct Tasks {
    /// Those that were spawned and not polled yet, by number.
    spawned: BTreeMap<u64, Spawn>,
    /// By place: tasks spawned there so far.
    n_spawned_at: BTreeMap<SiteId, u32>,
    pub(crate) live: Vec<Task>,
    /// Those that are ready and in no queue, until their thread would wait.
    held: Vec<Held>,
    /// Polls so far.
    pub(crate) n_polls: u64,
    /// Is there an epoll instance, at which a runtime waits?
    pub(crate) has_driver: bool,
}

/// Where a task was spawned.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Spawn {
    pub(crate) site: SiteId,
    pub(crate) stack: StackId,
    /// Which one of that place.
    pub(crate) ordinal: u32,
}

/// A task that was polled.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Task {
    /// Where it is in memory.
    pub(crate) header: usize,
    pub(crate) spawn: Spawn,
    pub(crate) object: ObjectId,
    /// Polls of all tasks when it was last put off.
    pub(crate) put_off_at: Option<u64>,
    /// How often it was put off since it was polled.
    pub(crate) n_put_off: u32,
    /// How often it came back at once since then.
    pub(crate) n_returned: u32,
    /// Was it held since it was polled?
    pub(crate) was_held: bool,
    /// Who polls it.
    pub(crate) polled_by: Option<ThreadId>,
    /// Where it waits, as far as its last poll has shown.
    pub(crate) awaits: SiteId,
}

#[derive(Clone, Copy, Debug)]
struct Held {
    thread: ThreadId,
    header: usize,
    table: usize,
}

/// What the runtime keeps at the beginning of each task: its state, a link, its table of functions, its owner.
const N_WORDS: usize = 4;
const STATE: usize = 0;
const TABLE: usize = 2;
const OWNER: usize = 3;
/// Bits of the state.
const RUNNING: usize = 1;
const COMPLETE: usize = 2;
const NOTIFIED: usize = 4;

/// The words at the beginning of a task.
///
/// # Safety
///
/// It is a task, or was one and is not freed.
unsafe fn words(header: usize) -> [usize; N_WORDS] {
    // SAFETY: the caller's promise; others do not run meanwhile.
    unsafe { (header as *const [usize; N_WORDS]).read_volatile() }
}

/// Is what is about to be polled laid out as we know tasks, with its table of functions here, and in the care of a scheduler?
///
/// # Safety
///
/// As for [`words`].
pub(crate) unsafe fn is_known_layout(header: usize, table: usize) -> bool {
    // SAFETY: the caller's promise.
    let words = unsafe { words(header) };
    words[TABLE] == table && words[OWNER] != 0 && words[STATE] & NOTIFIED != 0
}

/// Where a task is in its life.
///
/// # Safety
///
/// As for [`words`].
unsafe fn state(header: usize) -> TaskState {
    // SAFETY: the caller's promise.
    let state = unsafe { words(header)[STATE] };
    if state & COMPLETE != 0 {
        TaskState::Finished
    } else if state & RUNNING != 0 {
        TaskState::Polled
    } else if state & NOTIFIED != 0 {
        TaskState::Ready
    } else {
        TaskState::Waiting
    }
}

/// Is a task in a queue?
unsafe fn is_ready(header: usize) -> bool {
    // SAFETY: the caller's promise.
    unsafe { state(header) == TaskState::Ready }
}

impl Tasks {
    /// Begins another execution.
    pub(crate) fn restart(&mut self) {
        self.spawned.clear();
        self.n_spawned_at.clear();
        self.live.clear();
        self.held.clear();
        (self.n_polls, self.has_driver) = (0, false);
    }

    /// A task was numbered, at the program's call here.
    pub(crate) fn spawn(&mut self, number: u64, site: SiteId, stack: StackId) {
        let n_before = self.n_spawned_at.entry(site).or_default();
        self.spawned.insert(number, Spawn { site, stack, ordinal: *n_before });
        *n_before += 1;
    }

    /// Where the task with this number was spawned, if it was not asked for before.
    pub(crate) fn claim(&mut self, number: u64) -> Option<Spawn> {
        self.spawned.remove(&number)
    }

    /// All tasks that are not over.
    ///
    /// # Safety
    ///
    /// As for [`Tasks::is_other_ready`].
    pub(crate) unsafe fn states(&self) -> Vec<(Task, TaskState)> {
        // SAFETY: what is live is not freed.
        self.live.iter().map(|it| (*it, unsafe { state(it.header) })).collect()
    }

    pub(crate) fn find(&mut self, header: usize) -> Option<&mut Task> {
        self.live.iter_mut().find(|it| it.header == header)
    }

    /// Its memory is freed.
    pub(crate) fn forget(&mut self, header: usize) {
        self.live.retain(|it| it.header != header);
    }

    /// Could another task be polled now? Of those that were never polled that is not known.
    ///
    /// # Safety
    ///
    /// The thread that runs is inside a hook.
    pub(crate) unsafe fn is_other_ready(&self, header: usize) -> bool {
        // SAFETY: what is live is not freed.
        let is_one = |it: &Task| it.header != header && unsafe { is_ready(it.header) };
        !self.spawned.is_empty() || self.live.iter().any(is_one)
    }

    pub(crate) fn hold(&mut self, thread: ThreadId, header: usize, table: usize) {
        self.held.push(Held { thread, header, table });
    }

    /// The first task that a thread holds: where it is in memory, and its table.
    pub(crate) fn first_held(&self, thread: ThreadId) -> Option<(usize, usize)> {
        let first = self.held.iter().find(|it| it.thread == thread)?;
        Some((first.header, first.table))
    }

    pub(crate) fn is_any_held(&self) -> bool {
        !self.held.is_empty()
    }

    /// It is held no more; was it?
    pub(crate) fn release(&mut self, header: usize) -> bool {
        let n_before = self.held.len();
        self.held.retain(|it| it.header != header);
        self.held.len() < n_before
    }
}
