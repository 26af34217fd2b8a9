//! Which threads can go on: kept up to date step by step, in constant time for each change.
//!
//! A thread that can go on whatever others do stands in `singles`. A thread that wants an object stands
//! in that object's queue; all of a queue can go on while the object is free for them, so a queue
//! that is open and not empty is listed once, as a whole. A thousand threads that contend for one
//! mutex cost as much as two.

use raddle_model::{ObjectId, ThreadId};

/// Which of an object's queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Queue {
    /// Threads that want it for themselves (descriptors: to read).
    Exclusive = 0,
    /// Threads that can share it (descriptors: to write).
    Shared = 1,
}

impl Queue {
    pub(crate) const BOTH: [Queue; 2] = [Queue::Exclusive, Queue::Shared];
}

/// The threads that want one object in one way.
#[derive(Clone, Debug, Default)]
pub(crate) struct Line {
    pub(crate) threads: Vec<ThreadId>,
    pub(crate) is_open: bool,
    /// Where it stands among the open lines, plus one; 0 if it does not.
    pub(crate) listed: u32,
}

/// The threads that can go on.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ready {
    pub(crate) singles: Vec<ThreadId>,
    /// Lines that are open and not empty.
    pub(crate) lines: Vec<(ObjectId, Queue)>,
    /// Threads in those lines.
    pub(crate) n_in_lines: u32,
}

impl Ready {
    #[inline]
    pub(crate) fn len(&self) -> u32 {
        self.singles.len() as u32 + self.n_in_lines
    }
}
