//! ThreadSet that could have gone on when an execution ended, for the program exits without waiting for them. What they
//! would have done is in no trace, so no guideline has it: an execution is made in which they go on before the exit.

use raddle_model::{End, OpKind, ThreadId};

use super::{
    super::Run,
    {Attempt, Guide, Total, past::Past},
};

/// So many such executions are made: a thread without an end has always something left to do.
const RESTS_MAX: usize = 16;

/// A thread, and what it was about to do, where.
pub(super) type Rest = (ThreadId, OpKind, u64);

impl Total {
    /// Plans an execution that goes on where this one has ended, unless one did so there.
    pub(super) fn go_on(&mut self, run: &Run, past: &Past) {
        let exit = run.steps.iter().rposition(|it| it.kind == OpKind::Exit);
        let (Some(exit), Some(End::Exit(_))) = (exit, run.end) else { return };
        for it in run.pending.iter().filter(|it| !it.is_blocked) {
            let place = run.sites.get(it.site.0 as usize).copied().unwrap_or_default();
            let has_room = self.rests.len() < RESTS_MAX;
            if has_room && self.rests.insert((it.thread, it.kind, place)) {
                let before: Vec<u32> = (0..exit as u32).collect();
                let mut prefix = past.prefix(&before);
                prefix.push(it.thread.0);
                let attempt = Attempt::woven(prefix);
                // Those behind it go on, too, if they can.
                return self.queue.push_back(Guide { attempt, ..Guide::default() });
            }
        }
    }
}
