//! Once blocks: `pthread_once`, `call_once`, C++ function-local statics.

use raddle_model::{OpResult, SiteId, ThreadId};

/// A once block.
#[derive(Clone, Debug, Hash, Default)]
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

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use crate::script::check;

    #[test]
    fn one_runs_and_all_wait_for_it() {
        check(
            "
             0 once o
             1 once o
             2 once o
             who
             0 once_done o
             who
             2 goes
             1 goes
             3 once o",
            expect![[r#"
                0 once o: Chosen
                1 once o: Queued
                2 once o: Queued
                who: []
                0 once_done o: Done
                who: [1, 2]
                2 goes: Done
                1 goes: Done
                3 once o: Done
            "#]],
        );
    }

    #[test]
    fn abort_and_retry() {
        check(
            "
             0 once o
             1 once o
             2 once o
             0 once_abort o
             2 goes
             1 goes
             2 once_abort o
             1 goes
             1 once_done o
             2 once o",
            expect![[r#"
                0 once o: Chosen
                1 once o: Queued
                2 once o: Queued
                0 once_abort o: Done
                2 goes: Chosen
                1 goes: can't, "once"
                2 once_abort o: Done
                1 goes: Chosen
                1 once_done o: Done
                2 once o: Done
            "#]],
        );
    }

    #[test]
    fn a_block_that_enters_itself_waits_for_ever() {
        check(
            "
             0 once o
             0 once o
             settle",
            expect![[r#"
                0 once o: Chosen
                0 once o: Queued
                settle: deadlock
            "#]],
        );
    }
}
