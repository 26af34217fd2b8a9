//! What a picker may look at.

use raddle_model::{Op, ThreadId};

/// The threads of an execution, as far as a picker may know them.
pub trait Threads {
    /// Threads that can go on: never 0.
    fn n_enabled(&self) -> u32;
    /// The `idx`-th of them. The order is arbitrary, and the same every time.
    fn enabled(&self, idx: u32) -> ThreadId;
    /// Can this one go on?
    fn is_enabled(&self, thread: ThreadId) -> bool;
    /// Blocked threads whose wait may end now without anybody ending it: by its deadline, or
    /// spuriously where the plan allows it.
    fn timed(&self) -> &[ThreadId];
    /// What a thread is about to do: kind, object, site.
    fn op(&self, thread: ThreadId) -> &Op;
    /// Threads created so far.
    fn n_threads(&self) -> u32;
}

/// The state in which the next thread is chosen.
#[derive(Debug)]
pub struct View<'a, T> {
    /// Steps taken so far.
    pub step: u64,
    /// The thread that took the last step, and has announced its next op or finished.
    pub last: ThreadId,
    /// All threads.
    pub threads: &'a T,
}
