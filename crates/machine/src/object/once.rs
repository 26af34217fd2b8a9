//! Once blocks: `pthread_once`, `call_once`, C++ function-local statics.

use raddle_model::{OpResult, SiteId, ThreadId};

/// A once block.
#[derive(Clone, Debug, Default)]
pub struct Once {
    pub(crate) is_done: bool,
    pub(crate) runner: Option<ThreadId>,
    pub(crate) entered_at: SiteId,
}

impl Once {
    pub(crate) fn is_running(&self) -> bool {
        self.runner.is_some()
    }

    /// Enters: this thread is chosen to run the block, or it has been run.
    pub(crate) fn enter(&mut self, thread: ThreadId, site: SiteId) -> OpResult {
        if self.is_done {
            return OpResult::Done;
        }
        self.runner = Some(thread);
        self.entered_at = site;
        OpResult::Chosen
    }

    pub(crate) fn leave(&mut self, is_done: bool) {
        self.runner = None;
        self.is_done = is_done;
    }
}
