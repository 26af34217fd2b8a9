//! What is kept of each step beside its event, and executions that are told in brief.

use raddle_model::{ThreadId, ThreadSet};

/// Who could have gone on at a step, and in how many ways the step could be performed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct EnabledSet {
    /// Threads that could go on.
    pub enabled: ThreadSet,
    /// Blocked threads whose wait could end by itself.
    pub timed: ThreadSet,
    /// Threads that could go on, also beyond those that a set has room for.
    pub n_enabled: u32,
    /// Ways to perform the step: 1 where it had no data choice.
    pub n_choices: u32,
    /// A hash of the last [`CONTEXT_CALLS`](crate::CONTEXT_CALLS) calls that led to the step; 0 if none is known. Equal in all
    /// executions of one build.
    pub context: u64,
    /// The number of the calls that led to the step, if that is recorded; else 0.
    pub stack: u32,
    /// 1: the thread that ran last yields, and may go on at once: to leave it is no preemption. Else 0.
    pub gives_way: u32,
    /// 1: `left` is known.
    pub has_left: u64,
    /// What an update left there: its event says what it read.
    pub left: u64,
}

impl EnabledSet {
    /// What an update left there, if that is known.
    pub const fn left(&self) -> Option<u64> {
        if self.has_left == 1 { Some(self.left) } else { None }
    }

    /// Is it a preemption if another thread than this one goes on, which ran last?
    pub const fn is_preempted(&self, last: ThreadId) -> bool {
        self.enabled.has(last) && self.gives_way == 0
    }
}

/// An execution that is told in brief (see `brief`).
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct BriefEntry {
    /// Events, and as many options.
    pub n_events: u32,
    /// Threads numbered.
    pub n_threads: u32,
    /// Objects.
    pub n_objects: u32,
    /// Sites.
    pub n_sites: u32,
    /// Pending ops.
    pub n_pending: u32,
    /// Who ended it; `u32::MAX` for nobody.
    pub end_thread: u32,
}

/// What a thread was about to do when an execution ended that is told in brief.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct PendingEntry {
    /// Which thread.
    pub thread: u32,
    /// The op's object.
    pub object: u32,
    /// Its other object.
    pub other: u32,
    /// Its site.
    pub site: u32,
    /// Its kind.
    pub kind: u8,
    /// Its flags.
    pub flags: u8,
    /// 1: it can't be performed.
    pub is_blocked: u8,
    /// Zero.
    pub reserved: u8,
}
