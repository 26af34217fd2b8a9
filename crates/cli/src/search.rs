//! Systematic searches: how one is asked for, kept, gone on with, and told about.

use raddle_explore::{
    Outcome, SearchOptions, Store, StoredTarget,
    store::{SearchSettings, StoredSearch, hash_program},
};
use raddle_model::Limits;
use raddle_plan::Strategy;
use raddle_report::search::{Divergence, Estimate, SearchStatus};

use crate::{
    args::{Conditions, RunArgs},
    exit::Failure,
    prepare::prepare_again,
    terminal::Terminal,
};

/// Events that are kept of an execution of a search: all of them are needed.
pub(crate) const EVENTS: u32 = 1 << 17;

/// The search that the user asks for, if it is one.
pub(crate) fn options(args: &RunArgs, stored: Option<StoredSearch>) -> Option<SearchOptions> {
    let Strategy::Search(spec) = &args.strategy else { return None };
    Some(SearchOptions {
        n_learning: args.learn.unwrap_or(SearchOptions::N_LEARNING),
        saved: stored.map(|it| it.saved),
        ..SearchOptions::new(spec.clone())
    })
}

/// What decides which executions a search makes.
pub(crate) fn settings(args: &RunArgs) -> SearchSettings {
    SearchSettings {
        strategy: args.strategy.to_string(),
        limits: Limits { max_steps: args.conditions.max_steps },
        timeouts: args.conditions.timeouts.into(),
        spurious: args.conditions.spurious,
        handlers: args.conditions.signals.into(),
        points: args.conditions.points.into(),
    }
}

/// A search to go on with: its program, and the arguments with what it was begun with in place.
#[derive(Debug)]
pub(crate) struct Resumed {
    pub(crate) args: RunArgs,
    pub(crate) program: StoredTarget,
    pub(crate) search: StoredSearch,
}

/// Finds a search that was kept.
pub(crate) fn resume(
    args: &RunArgs,
    name: &str,
    terminal: &mut Terminal,
) -> Result<Resumed, Failure> {
    let search = Store::at(&args.common.store).find_search(name)?;
    let mut program = search.info.target.clone();
    program.program = prepare_again(&program, terminal)?;
    let is_same = hash_program(&program.program).ok() == Some(search.info.program_hash);
    if !is_same {
        return Err(Failure::usage(
            "the program was built anew since this search began, and has other schedules now: begin \
             again without --resume"
                .to_owned(),
        ));
    }
    let settings = &search.settings;
    let strategy = Strategy::parse(&settings.strategy).map_err(|error| {
        Failure::usage(format!("the stored search is none of this raddle: {error}"))
    })?;
    let conditions = Conditions {
        exit_ok: search.info.exit_is_fine,
        carrier: search.info.carrier.into(),
        max_steps: settings.limits.max_steps,
        timeouts: settings.timeouts.into(),
        spurious: settings.spurious,
        signals: settings.handlers.into(),
        points: settings.points.into(),
        ..args.conditions.clone()
    };
    let args = RunArgs { strategy, seed: search.info.seed, conditions, ..args.clone() };
    Ok(Resumed { args, program, search })
}

/// The command that goes on with a search.
pub(crate) fn command(args: &RunArgs, run: &str) -> String {
    // As much of a run's id as tells milliseconds apart.
    let run: String = run.chars().take(13).collect();
    let store = match args.common.is_default_store() {
        true => String::new(),
        false => format!(" --store {}", args.common.store.display()),
    };
    format!("raddle run --resume={run}{store}")
}

/// A search's figures, as reports want them.
pub(crate) fn status(outcome: &Outcome, resume: Option<&str>) -> Option<SearchStatus> {
    let search = outcome.search.as_ref()?;
    let progress = &search.progress;
    Some(SearchStatus {
        strategy: search.strategy.clone(),
        learning: search.n_learning,
        is_learning: search.is_learning,
        level: progress.level,
        executions: progress.n_executions,
        redundant: progress.n_redundant,
        estimate: progress.estimate.map(|it| Estimate {
            total: it.total,
            spread: it.spread,
            done: it.done,
        }),
        is_finished: progress.is_finished,
        is_exhaustive: outcome.is_exhaustive(),
        is_cut: progress.is_cut,
        words: progress.words.clone(),
        restarts: search.n_restarts,
        abandoned: search.n_abandoned,
        too_long: search.n_too_long,
        diverged: progress.n_diverged,
        divergence: progress.divergence.as_ref().map(|it| Divergence {
            step: it.step + 1,
            thread: it.thread.0,
            expected: it.expected.verb().to_owned(),
            seen: it.seen.map(|(thread, kind)| (thread.0, kind.verb().to_owned())),
        }),
        steps_spared: outcome.steps_spared,
        resume: resume.map(str::to_owned),
    })
}
