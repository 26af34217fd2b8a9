//! What is known about calls of `raddle_check` in this process.

use raddle_machine::Machine;
use raddle_model::{Event, PickerSpec, ThreadId};
use raddle_trace::{Begin, Header};

use crate::{base::locals, record::emit::Mark};

/// What is known about calls of `raddle_check` in this process.
#[derive(Debug, Default)]
pub(crate) struct Check {
    /// Does this process find out where executions can begin?
    pub(crate) is_asking: bool,
    /// Is its plan the one that it would have anyway?
    pub(crate) is_as_planned: bool,
    pub(crate) n_calls: u32,
    /// Has something been met that speaks against it?
    pub(crate) is_refused: bool,
    /// Threads that there were before; they must not go on. 0: they may.
    pub(crate) n_before: u32,
    pub(crate) beginning: Option<Box<Beginning>>,
    /// Does the function run for the second time, only to find out whether it does the same?
    pub(crate) is_again: bool,
    /// Digest and steps of the first run of the function.
    pub(crate) first: (u64, Vec<Event>),
    /// Executions of this process.
    pub(crate) n_served: u64,
    /// How far below their beginnings stacks were searched for return addresses. What earlier calls have left there
    /// would be found again, so it is cleared.
    pub(crate) n_searched: usize,
}

/// Stacks are cleared so much further than they were searched, and at most so far.
const CLEARED_MORE: usize = 1 << 10;

const CLEARED_MAX: usize = 1 << 16;

/// What executions begin with.
#[derive(Debug)]
pub(crate) struct Beginning {
    pub(crate) machine: Machine,
    pub(crate) emit: Mark,
    pub(crate) ordinals: Vec<u32>,
    pub(crate) thread: ThreadId,
    /// Where its stack ends.
    pub(crate) sp: usize,
    /// Of the thread that called: functions it is in, destructors it has to run, and thread-locals.
    pub(crate) depth: usize,
    pub(crate) n_destructors: usize,
    pub(crate) locals: locals::Saved,
}

impl Check {
    /// An execution begins in a new process. Is it to be prepared under the schedule that all know?
    pub(crate) fn begin(
        &mut self,
        header: *const Header,
        picker: PickerSpec,
        n_prefix: u32,
    ) -> bool {
        // SAFETY: the header is mapped for as long as the process lives.
        let begin = unsafe { (*header).live.begin };
        self.is_as_planned = picker == PickerSpec::Nonpreemptive && n_prefix == 0;
        match Begin::from_number(begin) {
            Begin::Unknown => self.is_asking = self.is_as_planned,
            Begin::Asked => self.is_asking = true,
            Begin::Function => {}
            Begin::Main => return false,
        }
        begin != Begin::Unknown as u32
    }

    /// Is the thread one of those that must not go on, or this would be another beginning?
    #[inline(always)]
    pub(crate) fn forbids(&self, thread: ThreadId) -> bool {
        thread.0 < self.n_before && self.is_before(thread)
    }

    #[cold]
    fn is_before(&self, thread: ThreadId) -> bool {
        self.beginning.as_ref().is_some_and(|it| it.thread != thread)
    }

    /// A stack that begins at `top` is searched from `sp` on.
    pub(crate) fn is_searched(&mut self, thread: ThreadId, top: usize, sp: usize) {
        let Some(beginning) = &self.beginning else { return };
        let top = if beginning.thread == thread { beginning.sp } else { top };
        let n_bytes = (top.saturating_sub(sp) + CLEARED_MORE).min(CLEARED_MAX);
        self.n_searched = self.n_searched.max(n_bytes);
    }

    /// What is to be cleared below the beginning of a stack that has been used, if it has room for it.
    pub(crate) fn n_searched(&self) -> usize {
        self.n_searched
    }
}
