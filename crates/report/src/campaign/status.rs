//! How a campaign stands, as a value.

use raddle_model::{Figures, Gap, SearchEffort, SearchProgress};

use crate::words::scope;

/// How a campaign stands, while it runs and when it is over.
#[derive(Clone, Debug, Default)]
pub struct Status {
    /// What it has come to.
    pub figures: Figures,
    /// What was found so far, in order.
    pub findings: Vec<Tally>,
    /// How far the search has come, if it is one.
    pub search: Option<SearchStatus>,
}

/// A finding and how often it was met.
#[derive(Clone, Debug)]
pub struct Tally {
    /// Its id.
    pub id: String,
    /// How often.
    pub count: u64,
    /// Where, as short as it can be said: `bank.c:31`.
    pub place: String,
    /// Does it take a very long delay?
    pub is_timing: bool,
    /// Is it seen whether or not the execution fails?
    pub is_race: bool,
}

/// How far a search has come.
#[derive(Clone, Debug, Default)]
pub struct SearchStatus {
    /// What the user calls it.
    pub strategy: String,
    /// What it took beside.
    pub effort: SearchEffort,
    /// The executions before it are still under way.
    pub is_learning: bool,
    /// What it says of itself.
    pub progress: SearchProgress,
    /// Has everything been explored that was asked for, and nothing been left out?
    pub is_complete: bool,
    /// What limits the claim that nothing fails.
    pub gaps: Vec<Gap>,
    /// Repetitions of the first execution that were not like it.
    pub unlike: u64,
    /// Which orders of two places were covered, if that guides the search and it is over.
    pub covered: Vec<CoveredOrder>,
    /// Steps not made again, thanks to live copies of executions.
    pub steps_spared: u64,
    /// The command that goes on with it, if it was kept.
    pub resume: Option<String>,
}

/// A place that came right after another.
#[derive(Clone, Debug)]
pub struct CoveredOrder {
    /// The place.
    pub place: String,
    /// Its predecessor, in another thread.
    pub after: String,
    /// So many pairs, by what led there.
    pub n_pairs: u64,
    /// Did this campaign see it first?
    pub is_new: bool,
}

impl SearchStatus {
    /// What has been explored, or is.
    pub(crate) fn words(&self) -> String {
        scope::words(&self.progress.scope, self.progress.is_finished)
    }

    /// Executions of what the estimate is about: the level or the tuple under way, if there are any.
    pub(crate) fn executions_here(&self) -> u64 {
        let SearchProgress { estimate, is_finished, level, stage, .. } = &self.progress;
        match estimate {
            Some(it) if !is_finished && (level.is_some() || stage.is_some()) => {
                (it.total * it.done).round() as u64
            }
            _ => self.progress.n_executions,
        }
    }
}
