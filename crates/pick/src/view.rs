//! What a picker may look at, and what a picker is.

use raddle_model::{ObjectId, Op, SiteId, ThreadId};

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
    /// Who created it; `None` for the first.
    fn parent(&self, thread: ThreadId) -> Option<ThreadId>;
    /// The hash of an object's name, the same in every execution; 0 if it has none.
    fn name(&self, object: ObjectId) -> u64;
    /// A hash of a site, the same in every execution.
    fn site(&self, site: SiteId) -> u64 {
        u64::from(site.0)
    }
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

impl<T: Threads> View<'_, T> {
    /// Does the thread that took the last step go on, if nobody is preempted? Not if it can't, or lets others go first.
    #[inline]
    pub(crate) fn stays(&self) -> bool {
        self.threads.is_enabled(self.last) && !self.threads.op(self.last).is_hint()
    }
}

/// Chooses the next thread, knowing nothing but views, its parameters and its seed.
pub(crate) trait Picker {
    /// The next thread. Its op is performed then.
    fn pick<T: Threads>(&mut self, view: &View<'_, T>) -> ThreadId;

    /// A step that was not this picker's choice: only `thread` could go on, or a prefix says so.
    fn forced<T: Threads>(&mut self, view: &View<'_, T>, thread: ThreadId) {
        let _ = (view, thread);
    }

    /// One of several ways to perform a step.
    fn choose(&mut self, n_choices: u32) -> u32;
}
