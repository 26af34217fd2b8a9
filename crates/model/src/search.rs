//! How far a systematic search has come: as data. Sentences are `report`'s.

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use crate::{OpKind, ThreadId};

/// How far a search is.
#[cfg_attr(feature = "serde", derive(Serialize))]
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SearchProgress {
    /// The bound under way, for searches by levels.
    pub level: Option<u32>,
    /// Executions that count.
    pub n_executions: u64,
    /// Those of them that showed nothing new: cut short by sleep sets, or made again for the next level.
    pub n_redundant: u64,
    /// Those of them that could not follow their prefix: the program is not deterministic. What lies behind
    /// them was not explored.
    pub n_diverged: u64,
    /// The first divergence.
    pub divergence: Option<Divergence>,
    /// The part of the search under way, for whoever watches: the tuple of a ranked search.
    pub stage: Option<String>,
    /// How many executions there are in all (in this level, for searches by levels).
    pub estimate: Option<SearchSize>,
    /// Is everything explored?
    pub is_finished: bool,
    /// Did a bound leave something out?
    pub is_cut: bool,
    /// What is not covered although it was searched for.
    pub unreached: Vec<Unreached>,
    /// How many orders of two statements were covered, if that guides the search.
    pub covered: Option<CoveredPairs>,
    /// Which schedules it is about.
    pub scope: Scope,
}

/// What a search took beside the executions that count for it.
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SearchEffort {
    /// Random executions before it, to learn what is shared.
    pub n_learning: u64,
    /// How often it has begun again, because more was found to be shared.
    pub n_restarts: u32,
    /// Executions of searches that were given up so.
    pub n_abandoned: u64,
    /// Executions that were too long to be searched; what lies beside them was not explored.
    pub n_too_long: u64,
}

/// How many executions there are, more or less.
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SearchSize {
    /// The expected number.
    pub total: f64,
    /// The standard deviation between parts of the search.
    pub spread: f64,
    /// The part that is done, from 0 to 1.
    pub done: f64,
    /// There are at least so many, where not all ways are known.
    pub least: Option<u64>,
}

/// Where an execution first did something else than an earlier one with the same choices.
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Divergence {
    /// The step.
    pub step: u64,
    /// Whose step it was before.
    pub thread: ThreadId,
    /// What it was before.
    pub expected: OpKind,
    /// Who did what now; `None` if the execution had ended.
    pub seen: Option<(ThreadId, OpKind)>,
}

/// How far predecessor pairs are covered.
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CoveredPairs {
    /// Pairs that were seen, also by earlier campaigns.
    pub n_pairs: u64,
    /// Those that this one saw first.
    pub n_new: u64,
    /// Executions that were learned from.
    pub n_learned: u64,
    /// The last of them that showed something new, from 1; 0 for none.
    pub last_new: u64,
}

/// Which schedules a search explores. Whether it has explored them is another matter.
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize), serde(rename_all = "kebab-case"))]
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Scope {
    /// Every one.
    #[default]
    All,
    /// Level by level; those below the level are done.
    Levels {
        /// What it counts.
        unit: BoundUnit,
        /// At most so many of them.
        level: u32,
        /// There are schedules beyond it.
        is_cut: bool,
    },
    /// One of all that differ in the order of independent steps only, with at most so many preemptions.
    Classes(Option<u32>),
    /// Those that a published algorithm turns back for, with at most so many preemptions; it may miss others of the same
    /// bound.
    Backtracked(Option<u32>),
    /// Those that a published algorithm derives from executions; it may miss others.
    Derived(Derived),
    /// Those with an order of two places that is not covered, with at most so many preemptions.
    NewOrders(Option<u32>),
    /// Those with new orders of two places first, then those with so many old ones turned round; then all.
    NewOrdersFirst(Option<u32>),
    /// Tuples of preemptions, variables, threads and rounds, in order; the last that is done.
    Tuples(Option<String>),
    /// Those that change what a branch or a reference comes to.
    Decisions(Box<Decided>),
}

/// What a level counts.
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize), serde(rename_all = "kebab-case"))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BoundUnit {
    /// A thread that could go on is left.
    Preemptions,
    /// A thread whose turn it is is passed over.
    Delays,
}

/// A number, or one that it exceeds.
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// So many.
    pub n: u64,
    /// And more.
    pub is_cut: bool,
}

/// How large an execution is.
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TraceSize {
    /// Its steps.
    pub n_steps: u64,
    /// Its threads.
    pub n_threads: u64,
    /// Variables that several threads use, and one of them writes.
    pub n_shared: u64,
}

/// What a search counts that derives test cases from executions.
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Derived {
    /// The first execution.
    pub first: TraceSize,
    /// Nodes of the graphs that were kept for one execution, where that was most.
    pub nodes: Count,
    /// And their bytes.
    pub n_bytes: u64,
    /// Races by access-manners.
    #[cfg_attr(feature = "serde", serde(default))]
    pub judged: Judged,
    /// Microseconds for the analysis of executions; whoever has a clock fills them in.
    #[cfg_attr(feature = "serde", serde(default))]
    pub analysis_us: u64,
    /// Microseconds for the generation of test cases.
    #[cfg_attr(feature = "serde", serde(default))]
    pub generation_us: u64,
}

/// What came of judging executions by access-manners.
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Judged {
    /// Pairs that were checked for a race.
    pub n_checked: u64,
    /// Those that were not, for equal ones had been.
    pub n_reused: u64,
    /// Groups of executions that are equal as far as races go.
    pub n_groups: u64,
    /// Pairs of places in a race.
    pub n_races: u64,
}

/// What total replay has counted.
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Decided {
    /// The first execution.
    #[cfg_attr(feature = "serde", serde(default))]
    pub first: TraceSize,
    /// Steps of threads that the model of states has, each after all that its thread had read.
    #[cfg_attr(feature = "serde", serde(default))]
    pub n_known_nodes: u64,
    /// And their bytes.
    #[cfg_attr(feature = "serde", serde(default))]
    pub n_known_bytes: u64,
    /// Branches that executions came to, of those that reads of shared variables decide.
    #[cfg_attr(feature = "serde", serde(default))]
    pub n_reached: u64,
    /// Branches of the program.
    pub n_branches: u64,
    /// Those of them of which it is not known what decides them.
    pub n_unknown: u64,
    /// Those that an interleaving decides.
    pub n_affected: u64,
    /// Orders that may change what something comes to.
    pub n_guidelines: u64,
    /// Those of them that are still to be tried.
    pub n_waiting: u64,
    /// So many waited at once that others were left for later executions to show again.
    pub is_queue_full: bool,
    /// Those for which there is no schedule.
    pub n_infeasible: u64,
    /// Those for which no schedule was found, where there were too many states to look at all.
    pub n_unwoven: u64,
    /// Those that no execution followed, though there were schedules for them.
    pub n_unlucky: u64,
    /// Executions whose threads did something else than was expected of them, for they had read something else.
    pub n_astray: u64,
    /// Executions that did not follow their guideline, after which another schedule was tried.
    pub n_again: u64,
    /// Executions that were made because something may come out otherwise, and the first one.
    pub n_test_cases: u64,
    /// Those that only show a race which is known.
    pub n_witnesses: u64,
    /// Those that only show whether the program does the same again.
    pub n_repeats: u64,
    /// Pairs of accesses that were checked for a race.
    pub n_checked: u64,
    /// Those that were not, for equal ones had been.
    pub n_reused: u64,
    /// Groups of executions that are equal as far as races go.
    pub n_groups: u64,
    /// Combinations of access-manners that were seen apart.
    pub n_combined: u64,
    /// Those of them that would be a race.
    pub n_potential: u64,
    /// Those of them that were too many to be looked at.
    pub n_untried: u64,
    /// Those of them of which it is not known whether they can come together.
    pub n_unsettled: u64,
    /// No more executions could be kept, and some are still to be made.
    pub is_full: bool,
    /// There were more states than could be looked at.
    pub is_model_cut: bool,
    /// Nodes of the first execution's dependency graphs.
    pub n_graph_nodes: u64,
    /// And their bytes.
    pub n_graph_bytes: u64,
    /// Executions that reachability testing would need after the first; `None` if nobody counted.
    pub reachability: Option<Count>,
    /// Executions that testing of thread pairs would need after the first.
    pub thread_pairs: Option<Count>,
    /// Nodes of reachability testing's graph.
    pub variant_nodes: Option<Count>,
    /// And its bytes.
    pub n_variant_bytes: u64,
}

/// What a search that has ended has not covered although it searched for it.
#[cfg_attr(feature = "serde", derive(Serialize))]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unreached {
    /// Guidelines that were neither followed nor shown to be impossible.
    Guidelines {
        /// So many.
        n: u64,
        /// Of these.
        of: u64,
    },
    /// There were more states than could be looked at.
    States,
    /// Outcomes of these calls that were not tried.
    Outcomes(Vec<&'static str>),
    /// Several waits timed out at the same time.
    Ties,
    /// Threads were alive at the exit.
    CutOff,
    /// The last thread to run was seen alone only.
    LastThread,
    /// Not every combination of known decisions was executed.
    Combinations,
    /// So many potential races are not settled.
    Races(u64),
}
