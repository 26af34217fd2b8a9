//! What goes wrong from outside is tried again: a server that was killed, an execution that somebody killed, a plan
//! for which there is no room.

use std::mem;

use raddle_explore::target::{Block, BlockResult, TargetError};
use raddle_model::{End, OrderAt, Plan};
use raddle_trace::{
    Caps, Summary,
    protocol::{DEBUG_VARIABLE, name},
};

use super::NativeSession;
use crate::{checkpoints::Checkpoints, options::NativeOptions, server::Server};

/// How often a server that was killed is replaced, for one block.
const RESTARTS_MAX: u32 = 3;
/// How often an execution that was killed is run again. One that never ends otherwise does that itself.
const LOOKS_MAX: u32 = 3;
/// The most choices in a prefix, and names of shared variables.
const PREFIX_MAX: usize = 1 << 28;
const SHARED_MAX: usize = 1 << 24;

/// Starts a server.
pub(super) fn start(options: &NativeOptions, caps: Caps) -> Result<Server, TargetError> {
    Server::start(options, caps).map_err(|error| {
        let program = options.program.display();
        TargetError::Unusable(format!("can't start `{program}`: {error}"))
    })
}

impl NativeSession {
    /// Runs something; with another server, if the one at hand was killed meanwhile. The executions are the same
    /// then: their plans are.
    pub(super) fn steadily<T>(
        &mut self,
        mut run: impl FnMut(&mut NativeSession) -> Result<T, TargetError>,
    ) -> Result<T, TargetError> {
        for _ in 0..RESTARTS_MAX {
            match run(self) {
                Err(_) if mem::take(&mut self.is_gone) => self.restart()?,
                ran => return ran,
            }
        }
        run(self)
    }

    /// Begins with another server. Live copies of executions were the old one's.
    fn restart(&mut self) -> Result<(), TargetError> {
        self.server = start(&self.options, self.caps)?;
        self.checkpoints = Checkpoints::new(self.options.checkpoints, self.options.checkpoint_gap);
        self.last_plan = None;
        self.await_main()
    }

    /// Sees to it that a plan fits into the segment, and that as many variables again can be found to be shared.
    pub(super) fn make_room(&mut self, plan: &Plan) -> Result<(), TargetError> {
        if !plan.profile.fits() || OrderAt::MAX < plan.orders.len() {
            return Err(TargetError::Unusable("the plan is too long to replay".to_owned()));
        }
        let (n_prefix, n_shared) = (plan.prefix.len(), 2 * plan.shared.len());
        if n_prefix <= self.caps.prefix as usize && n_shared <= self.caps.shared as usize {
            return Ok(());
        }
        if PREFIX_MAX < n_prefix || SHARED_MAX < n_shared {
            return Err(TargetError::Unusable(format!(
                "a schedule of {n_prefix} choices with {} shared variables is too long to replay",
                plan.shared.len()
            )));
        }
        let room = |now: u32, wanted: usize| now.max(wanted.next_power_of_two() as u32);
        self.caps.prefix = room(self.caps.prefix, n_prefix);
        self.caps.shared = room(self.caps.shared, n_shared);
        self.restart()
    }

    /// Once more alone, if the last execution of a block ended by a signal without saying so. If it ends in the same
    /// way again, it does that by itself, and explains its events as they come. Else somebody outside has sent the
    /// signal: the second execution counts.
    pub(super) fn look_again(
        &mut self,
        alone: &Block,
        mut result: BlockResult,
    ) -> Result<BlockResult, TargetError> {
        // Under a debugger the user ends executions.
        if self.options.env.iter().any(|it| it.0 == name(DEBUG_VARIABLE)) {
            return Ok(result);
        }
        for _ in 0..LOOKS_MAX {
            let Some(last) = &result.last else { break };
            let is_silent =
                last.trace.threads.is_empty() && matches!(last.trace.end, Some(End::Exit(_)));
            let was_killed = mem::take(&mut self.was_killed);
            if !is_silent && !was_killed {
                break;
            }
            let mut again = self.steadily(|session| session.run_once(alone))?;
            let Some(summary) = again.summaries.pop() else {
                // Time is over.
                result.summaries.pop();
                (result.last, result.cut) = (None, again.cut);
                break;
            };
            let Some(first) = result.summaries.last_mut() else { break };
            let look = |it: &Summary| (it.end_kind, it.end_detail, it.n_steps);
            let is_same = look(&summary) == look(first);
            if is_same || was_killed {
                (*first, result.last) = (summary, again.last);
            }
            if is_same || is_silent {
                break;
            }
        }
        self.was_killed = false;
        Ok(result)
    }
}
