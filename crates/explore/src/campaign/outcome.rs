//! What a campaign has come to, at its end and on the way.

use std::collections::BTreeMap;

use raddle_model::{
    CurvePoint, Drawing, Explanation, Figures, Finding, Gap, Place, Reproduced, SearchEffort,
    SearchProgress, StepsAt, Uncontrolled,
};
use raddle_plan::search;
use raddle_trace::Summary;
use serde::{Serialize, Serializer};

use super::account::Uses;
use crate::{explain::Explained, finding::Inconclusive, target::Execution};

/// What a campaign has come to.
///
/// All but the times is the same for the same options, however many workers there were, unless the
/// campaign was ended by the clock or by the user.
#[derive(Clone, Debug, Serialize, Default)]
pub struct Outcome {
    /// In figures.
    pub figures: Figures,
    /// One for each bucket, in the order of their first executions.
    pub findings: Vec<Found>,
    /// One for each bucket that the user does not want to hear of.
    pub suppressed: Vec<Suppressed>,
    /// What could not be controlled; counts are added up.
    pub uncontrolled: Vec<Uncontrolled>,
    /// The same, by reason and place.
    pub inconclusive: Vec<Inconclusive>,
    /// There were so many of them, one after the other, that the campaign was ended.
    pub is_given_up: bool,
    /// How far the first of those had come.
    pub cut_at: Option<CutAt>,
    /// Executions that read clocks, while there were other threads.
    pub n_clocked: u64,
    /// Executions in which several threads allocated memory.
    pub n_allocating: u64,
    /// Repetitions of the first execution, after a search, that were not like it.
    pub n_unlike: u64,
    /// Time was over before the first execution could be repeated, after a search.
    pub is_unrepeated: bool,
    /// Executions of earlier parts of a search that failed in a way that the user does not want to hear of.
    pub n_suppressed_earlier: u64,
    /// Findings of earlier parts of a search that are not in the store any more.
    pub n_gone: u64,
    /// What limits the claim of a search; filled in at the end.
    pub gaps: Vec<Gap>,
    /// Loaded code that does not tell its accesses to memory, by its file's name.
    pub unhooked: Vec<String>,
    /// How the first execution went.
    #[serde(skip)]
    pub baseline: Option<Summary>,
    /// The first execution failed before there was a second thread: no schedule is to blame.
    pub baseline_failure: Option<Finding>,
    /// Steps that were not made again, because executions began from live copies of others.
    pub steps_spared: u64,
    /// How far the search has come, if it was one.
    pub search: Option<Searched>,
    /// Names of variables that are known to be exposed: for the campaigns to come.
    pub exposed: Vec<u64>,
    /// How it grew.
    pub curve: Vec<CurvePoint>,
    /// Where steps were, in the executions that were looked at step by step; most first.
    pub steps_at: Vec<StepsAt>,
    /// How many executions those were.
    pub n_looked_at: u64,
}

/// How far an execution had come that was cut short.
#[derive(Clone, Debug, Serialize, Default, PartialEq, Eq)]
pub struct CutAt {
    /// Its steps.
    pub n_steps: u64,
    /// Where the thread stood that was running, innermost first.
    pub places: Vec<Place>,
}

/// How far a search has come.
#[derive(Clone, Debug, Serialize, Default)]
pub struct Searched {
    /// What the user calls the search.
    pub strategy: String,
    /// What it says of itself.
    pub progress: SearchProgress,
    /// What it took beside.
    pub effort: SearchEffort,
    /// What the first execution depends on; empty if the search does not know.
    #[serde(skip)]
    pub drawings: Vec<Drawing<search::DrawnStep>>,
    /// Variables known to be shared.
    pub n_shared: u64,
    /// It has not begun yet.
    pub is_learning: bool,
    /// What its executions made use of that is explored only in part.
    pub uses: Uses,
    /// Which orders of two statements were covered, if that guides the search.
    #[serde(skip)]
    pub covered: Option<CoveredOrders>,
}

/// Orders of two statements that were covered.
#[derive(Clone, Debug, Default)]
pub struct CoveredOrders {
    /// All of them.
    pub sets: search::HapSets,
    /// Where their statements are, by name: module and offset. Not all may be known.
    pub places: BTreeMap<u64, (String, u64)>,
}

impl Outcome {
    /// Nothing has run.
    pub fn new() -> Outcome {
        let figures = Figures { stability: 100.0, ..Figures::default() };
        Outcome { figures, ..Outcome::default() }
    }

    /// Executions that came to an end of their own.
    pub const fn n_ended(&self) -> u64 {
        self.figures.executions.saturating_sub(self.figures.n_inconclusive + self.figures.n_spent)
    }

    /// Has every schedule been explored, up to the order of independent steps? A bound, and a method that may miss some,
    /// leave others out. What is not modelled may limit what that means: see `gaps`.
    pub fn is_exhaustive(&self) -> bool {
        self.is_complete() && self.search.as_ref().is_some_and(|it| !it.progress.is_cut)
    }

    /// Has everything been executed that the search asks for, and nothing been left out on the way?
    pub fn is_complete(&self) -> bool {
        let is_whole = |it: &Searched| {
            it.progress.is_finished
                && it.progress.unreached.is_empty()
                && it.progress.n_diverged == 0
                && it.effort.n_too_long == 0
        };
        self.search.as_ref().is_some_and(is_whole)
            && self.figures.n_inconclusive
                + self.figures.n_spent
                + self.n_unlike
                + self.figures.n_thinned
                == 0
            && self.uncontrolled.is_empty()
    }

    /// Has at least one execution come to its end, now or in an earlier part of the search?
    pub fn has_run(&self) -> bool {
        let n_earlier = self.search.as_ref().map_or(0, |it| it.progress.n_executions);
        self.n_ended() + n_earlier > 0
    }

    /// Were there failures that are not told: suppressed ones, or findings that were discarded since?
    pub fn has_hidden_failures(&self) -> bool {
        self.n_suppressed() + self.n_gone > 0
    }

    /// Executions that failed in a way that the user does not want to hear of.
    pub fn n_suppressed(&self) -> u64 {
        self.n_suppressed_earlier + self.suppressed.iter().map(|it| it.count).sum::<u64>()
    }
}

/// All findings of one bucket.
#[derive(Clone, Debug, Serialize)]
pub struct Found {
    /// The first of them, with the smallest schedule that is known.
    pub finding: Finding,
    /// The same with the schedule that was found, if a smaller one is known.
    pub original: Option<Box<Finding>>,
    /// Why it happens, if that was looked into.
    pub explanation: Option<Box<Explanation>>,
    /// What the user calls it: `dl-02c1`.
    pub id: String,
    /// Executions that showed it.
    pub count: u64,
    /// The first of those.
    pub first: u64,
    /// How often it came back when its plan was run again.
    pub reproduced: Reproduced,
}

/// All findings of one bucket that the user does not want to hear of.
#[derive(Clone, Debug, Serialize)]
pub struct Suppressed {
    /// The first of them.
    pub finding: Finding,
    /// The rule that says so, by its number in the options.
    pub rule: usize,
    /// Executions that showed it.
    pub count: u64,
}

impl Found {
    /// Takes over what was found out about it.
    pub(super) fn take(&mut self, explained: Explained) {
        let Explained { finding, original, explanation } = explained;
        self.original = (finding.plan != original.plan).then(|| Box::new(original));
        self.finding = finding;
        self.explanation = Some(Box::new(explanation));
    }
}

/// What happens in a campaign, in the order of executions. Whatever is shown or kept of a campaign is made of these: the
/// terminal, JSON lines, the store.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum CampaignEvent<'a> {
    /// A new bucket has its first finding, which is not confirmed yet.
    Found {
        /// What the user calls it.
        id: &'a str,
        /// It.
        finding: &'a Finding,
    },
    /// The finding's plan was run again, and it was looked into, if that was asked for.
    Confirmed(&'a Found),
    /// How far it is: every 200 ms or more often.
    Progress(&'a Outcome),
    /// An execution has ended, if the options say `verbose`.
    Executed {
        /// Which.
        number: u64,
        /// What it did; as text, what it wrote.
        #[serde(rename = "output", serialize_with = "output")]
        execution: &'a Execution,
    },
    /// It is over.
    Ended(&'a Outcome),
}

fn output<S: Serializer>(execution: &&Execution, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(&execution.output)
}

/// Sees what happens in a campaign, on the campaign's own thread.
pub trait Observer {
    /// Takes in one event.
    fn see(&mut self, event: CampaignEvent<'_>);
}

/// Nobody watches.
impl Observer for () {
    fn see(&mut self, _event: CampaignEvent<'_>) {}
}
