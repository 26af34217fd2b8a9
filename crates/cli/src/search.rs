//! Systematic searches: how one is asked for, kept, gone on with, and told about.

use std::path::Path;

use raddle_explore::{
    Detect, Outcome, SearchOptions, Store, StoredTarget,
    store::{SearchSettings, StoredSearch, hash_program},
};
use raddle_model::{Limits, Points};
use raddle_plan::{
    Strategy,
    search::{Flows, SearchSpec},
};
use raddle_report::search::{Divergence, Estimate, SearchStatus};

use crate::{
    args::{Conditions, RunArgs, detect},
    exit::Failure,
    prepare::prepare_again,
    terminal::Terminal,
};

/// Events that are kept of an execution of a search: all of them are needed.
pub(crate) const EVENTS: u32 = 1 << 17;

/// The search that the user asks for, if it is one.
pub(crate) fn options(args: &RunArgs, stored: Option<StoredSearch>) -> Option<SearchOptions> {
    let Strategy::Search(spec) = &args.strategy else { return None };
    // Total replay makes every access a step, so there is nothing to learn first.
    let n_learning = if is_total(args) { 1 } else { SearchOptions::N_LEARNING };
    Some(SearchOptions {
        n_learning: args.learn.unwrap_or(n_learning),
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
        points: points(args),
    }
}

/// Is it total replay?
pub(crate) fn is_total(args: &RunArgs) -> bool {
    matches!(args.strategy, Strategy::Search(SearchSpec::Total))
}

/// Which steps are scheduling points: for total replay all, for it has to see every read and write.
pub(crate) fn points(args: &RunArgs) -> Points {
    if is_total(args) { Points::All } else { args.conditions.points.into() }
}

/// What flows where in a program's code, for total replay. If that can't be told, everything depends on
/// everything, which is right and slow.
pub(crate) fn flows(program: &Path, terminal: &mut Terminal) -> Flows {
    let path = program.canonicalize().unwrap_or_else(|_| program.to_owned());
    match raddle_slice::slice(&path, &path.to_string_lossy()) {
        Ok(sliced) => {
            if !sliced.irregular.is_empty() {
                let names: Vec<&str> =
                    sliced.irregular.iter().take(IRREGULAR_SHOWN).map(String::as_str).collect();
                let more = match sliced.irregular.len().saturating_sub(IRREGULAR_SHOWN) {
                    0 => String::new(),
                    n => format!(" and {n} more"),
                };
                terminal.warning(&format!(
                    "code too irregular to follow, its branches count as deciding by all reads: {}{more}",
                    names.join(", ")
                ));
            }
            sliced.flows
        }
        Err(error) => {
            terminal.warning(&format!(
                "failed to {error}: every branch counts as deciding by all earlier reads"
            ));
            Flows::default()
        }
    }
}

/// Functions that could not be followed, as many as are named.
const IRREGULAR_SHOWN: usize = 5;

/// What to look for: for total replay races, too, for that is what it is made for.
pub(crate) fn detection(args: &RunArgs) -> Detect {
    let mut found = detect(&args.detect);
    found.races |= is_total(args);
    found.locksets |= is_total(args);
    found
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
