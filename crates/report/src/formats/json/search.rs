//! How far a search is, as JSON.

use std::collections::BTreeMap;

use raddle_model::{CoveredPairs, Divergence, Gap};
use serde::Serialize;

use crate::{
    campaign::status::{CoveredOrder, SearchStatus},
    words::{gap, scope},
};

/// How far a search has come.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct SearchLine {
    strategy: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    stage: Option<String>,
    level: Option<u32>,
    executions: u64,
    redundant: u64,
    estimated_total: Option<f64>,
    estimated_spread: Option<f64>,
    estimated_least: Option<u64>,
    done: Option<f64>,
    learning: u64,
    restarts: u32,
    abandoned: u64,
    too_long: u64,
    diverged: u64,
    divergence: Option<DivergenceLine>,
    #[serde(skip_serializing_if = "Option::is_none")]
    covered: Option<CoveredLine>,
    steps_spared: u64,
    finished: bool,
    complete: bool,
    exhaustive: bool,
    not_covered: Vec<GapLine>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unreached: Vec<String>,
    words: String,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    figures: BTreeMap<&'static str, u64>,
    resume: Option<String>,
}

/// What limits the claim of a search.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct GapLine {
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    count: Option<u64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    modules: Vec<String>,
    words: String,
}

impl GapLine {
    fn new(gap: &Gap) -> GapLine {
        let modules = match gap {
            Gap::Unhooked(modules) => modules.clone(),
            _ => Vec::new(),
        };
        let (kind, count) = (gap.name(), gap::number(gap));
        GapLine { kind, count, modules, words: gap::words(gap) }
    }
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct DivergenceLine {
    step: u64,
    thread: u32,
    expected: &'static str,
    seen_thread: Option<u32>,
    seen: Option<&'static str>,
}

impl SearchLine {
    pub(super) fn new(search: &SearchStatus) -> SearchLine {
        let progress = &search.progress;
        let estimate = progress.estimate.as_ref();
        SearchLine {
            strategy: search.strategy.clone(),
            stage: progress.stage.clone(),
            level: progress.level,
            executions: progress.n_executions,
            redundant: progress.n_redundant,
            estimated_total: estimate.map(|it| it.total.round()),
            estimated_spread: estimate.map(|it| it.spread.round()),
            estimated_least: estimate.and_then(|it| it.least),
            done: estimate.map(|it| (it.done * 1e4).floor() / 1e4),
            learning: search.effort.n_learning,
            restarts: search.effort.n_restarts,
            abandoned: search.effort.n_abandoned,
            too_long: search.effort.n_too_long,
            diverged: progress.n_diverged,
            divergence: progress.divergence.as_ref().map(DivergenceLine::new),
            covered: progress.covered.map(|it| CoveredLine::new(it, &search.covered)),
            steps_spared: search.steps_spared,
            finished: progress.is_finished,
            complete: search.is_complete,
            exhaustive: search.is_complete && !progress.is_cut,
            not_covered: search.gaps.iter().map(GapLine::new).collect(),
            unreached: progress.unreached.iter().map(scope::unreached).collect(),
            words: search.words(),
            figures: scope::figures(&progress.scope),
            resume: search.resume.clone(),
        }
    }
}

/// Which orders of two places were covered.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct CoveredLine {
    pairs: u64,
    new: u64,
    learned: u64,
    last_new: u64,
    orders: Vec<OrderLine>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct OrderLine {
    place: String,
    after: String,
    pairs: u64,
    new: bool,
}

impl CoveredLine {
    fn new(pairs: CoveredPairs, orders: &[CoveredOrder]) -> CoveredLine {
        let order = |it: &CoveredOrder| OrderLine {
            place: it.place.clone(),
            after: it.after.clone(),
            pairs: it.n_pairs,
            new: it.is_new,
        };
        CoveredLine {
            pairs: pairs.n_pairs,
            new: pairs.n_new,
            learned: pairs.n_learned,
            last_new: pairs.last_new,
            orders: orders.iter().map(order).collect(),
        }
    }
}

impl DivergenceLine {
    fn new(divergence: &Divergence) -> DivergenceLine {
        DivergenceLine {
            step: divergence.step + 1,
            thread: divergence.thread.0,
            expected: divergence.expected.verb(),
            seen_thread: divergence.seen.map(|it| it.0.0),
            seen: divergence.seen.map(|it| it.1.verb()),
        }
    }
}
