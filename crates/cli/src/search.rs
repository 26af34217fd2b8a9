//! Systematic searches: how one is asked for, kept, gone on with, and told about.

use std::{collections::BTreeMap, path::Path};

use clap::ValueEnum;
use raddle_explore::{
    CoveredOrders, Method, Outcome, Saved, SearchOptions, Searched, StoredTarget,
    store::{SearchSettings, StoredSearch, hash_program, read_hapsets, write_hapsets},
};
use raddle_launch::Symbols;
use raddle_model::{Conditions, Detect, MemoryModel, Place};
use raddle_plan::{Strategy, search::SearchSpec};
use raddle_report::{
    campaign::status::{CoveredOrder, SearchStatus},
    layout::number,
};

use crate::{
    args::{ConditionArgs, DetectArg, Format, RunArgs, detect},
    exit::Failure,
    prepare::prepare_again,
    stored,
    terminal::Terminal,
};

/// Events that are kept of an execution of a search: all of them are needed.
pub(crate) const EVENTS: u32 = 1 << 17;

/// Most searches count on what is read being decided by the order of steps alone. And without hooks there are no orders.
pub(crate) fn check_memory_model(
    conditions: &ConditionArgs,
    strategy: &Strategy,
) -> Result<(), Failure> {
    let model = MemoryModel::from(conditions.memory_model);
    if model.is_sc() {
        return Ok(());
    }
    if conditions.sync_only {
        return Err(Failure::usage(format!(
            "--memory-model {} needs a program whose atomics are instrumented; build it with `raddle cc` or `raddle c++`, and \
             remove --sync-only",
            model.word()
        )));
    }
    match strategy {
        Strategy::Search(spec) if !spec.knows_weak_memory() => Err(Failure::usage(format!(
            "`{strategy}` explores sequentially consistent memory only; with --memory-model {}, use {} or a random strategy",
            model.word(),
            SearchSpec::WITH_WEAK_MEMORY
        ))),
        _ => Ok(()),
    }
}

/// The search that the user asks for, if it is one.
pub(crate) fn method(
    args: &RunArgs,
    program_hash: u64,
    stored: Option<StoredSearch>,
) -> Result<Method, Failure> {
    let mut method = Method::new(&args.strategy, args.n_planned());
    let Some(search) = method.search_mut() else { return Ok(method) };
    // Total replay makes every access a step, so there is nothing to learn first.
    let n_learning = if is_total(args) { 1 } else { SearchOptions::N_LEARNING };
    search.n_learning = args.learn.unwrap_or(n_learning);
    if let Some(file) = &args.hapset {
        search.covered = read_hapsets(file, program_hash)?;
    }
    search.saved = stored.map(|it| it.saved);
    Ok(method)
}

/// Keeps what was covered, if the user wants it.
pub(crate) fn keep_covered(
    args: &RunArgs,
    program_hash: u64,
    outcome: &Outcome,
) -> Result<(), Failure> {
    let covered = outcome.search.as_ref().and_then(|it| it.covered.as_ref());
    if let (Some(file), Some(covered)) = (&args.hapset, covered) {
        write_hapsets(file, program_hash, &covered.sets)?;
    }
    Ok(())
}

/// What was covered, for whoever reads it: each order of two places once, whatever calls led there.
fn covered(searched: &Searched) -> Vec<CoveredOrder> {
    let Some(CoveredOrders { sets, places }) = &searched.covered else { return Vec::new() };
    let mut symbols = Symbols::new();
    let mut names: BTreeMap<u64, String> = BTreeMap::new();
    let mut name = |site: u64| {
        let find = || match places.get(&site) {
            Some((module, offset)) => {
                let all = symbols.places(Path::new(module), offset.saturating_sub(1));
                all.first().map_or_else(|| "?".to_owned(), place_name)
            }
            None => "?".to_owned(),
        };
        names.entry(site).or_insert_with(find).clone()
    };
    let mut orders: BTreeMap<(String, String), (u64, bool)> = BTreeMap::new();
    for (pair, is_new) in sets.iter() {
        let order = (name(pair.site), name(pair.predecessor));
        let (n_pairs, any_new) = orders.entry(order).or_default();
        *n_pairs += 1;
        *any_new |= is_new;
    }
    let order =
        |((place, after), (n_pairs, is_new))| CoveredOrder { place, after, n_pairs, is_new };
    orders.into_iter().map(order).collect()
}

fn place_name(place: &Place) -> String {
    let file = place.file.rsplit('/').next().unwrap_or_default();
    match (file, place.line) {
        ("", _) | (_, 0) => format!("{}+{:#x}", place.module, place.offset),
        (file, line) => format!("{file}:{line}"),
    }
}

/// What decides which executions a search makes.
pub(crate) fn settings(args: &RunArgs) -> SearchSettings {
    SearchSettings {
        strategy: args.strategy.to_string(),
        conditions: conditions(args),
        detect: detection(args),
    }
}

/// Is it total replay?
pub(crate) fn is_total(args: &RunArgs) -> bool {
    matches!(&args.strategy, Strategy::Search(spec) if spec.is_total())
}

/// What the program may do. For total replay every access is a scheduling point: it has to see all reads and writes.
pub(crate) fn conditions(args: &RunArgs) -> Conditions {
    let conditions = args.conditions.of_executions();
    if is_total(args) { conditions.at_every_access() } else { conditions }
}

/// What to look for: for total replay races and deadlocks, too, for that is what it is made for.
pub(crate) fn detection(args: &RunArgs) -> Detect {
    let mut found = detect(&args.detect);
    found.races |= is_total(args);
    found.locksets |= is_total(args);
    found.deadlocks |= is_total(args);
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
    let search = stored::store(&args.common.store).find_search(name)?;
    let mut program = search.info.target.clone();
    program.program = prepare_again(&program, terminal)?;
    let is_same = hash_program(&program.program).ok() == Some(search.info.program_hash);
    if !is_same {
        return Err(Failure::usage(
            "the program was rebuilt since this search started, so its schedules may differ; start again \
             without --resume"
                .to_owned(),
        ));
    }
    let settings = &search.settings;
    let strategy = Strategy::parse(&settings.strategy).map_err(|error| {
        Failure::usage(format!("this search was saved by an incompatible version: {error}"))
    })?;
    let conditions = ConditionArgs {
        exit_ok: search.info.exit_is_fine,
        carrier: search.info.carrier.into(),
        ..args.conditions.with(settings.conditions)
    };
    let detect = DetectArg::list(settings.detect);
    let resumed =
        RunArgs { strategy, seed: Some(search.info.seed), detect, conditions, ..args.clone() };
    require_unchanged(args, &resumed)?;
    Ok(Resumed { args: resumed, program, search })
}

/// What decides which executions a search makes stays as it was: the closing line would otherwise be about another search
/// than the one that was asked for.
fn require_unchanged(args: &RunArgs, resumed: &RunArgs) -> Result<(), Failure> {
    let pairs = fixed(args).into_iter().zip(fixed(resumed));
    for ((id, asked), (_, kept)) in pairs {
        if asked != kept && args.said.iter().any(|it| it == id) {
            let option = id.replace('_', "-");
            let kept =
                if kept.is_empty() { "without it".to_owned() } else { format!("with {kept}") };
            return Err(Failure::usage(format!(
                "--resume continues this search {kept}; remove --{option}, or start again without --resume"
            )));
        }
    }
    Ok(())
}

/// The arguments that a search keeps, by name, with what they say.
fn fixed(args: &RunArgs) -> Vec<(&'static str, String)> {
    fn word(value: impl ValueEnum) -> String {
        value.to_possible_value().map(|it| it.get_name().to_owned()).unwrap_or_default()
    }
    let ConditionArgs {
        carrier,
        points,
        memory_model,
        max_steps,
        timeouts,
        spurious,
        signals,
        exit_ok,
        ..
    } = &args.conditions;
    let flag = |is_on: bool, word: &str| if is_on { word.to_owned() } else { String::new() };
    let mut detect: Vec<String> = DetectArg::list(detection(args)).into_iter().map(word).collect();
    if detect.is_empty() {
        detect.push(word(DetectArg::None));
    }
    [
        ("strategy", format!("--strategy {}", args.strategy)),
        ("seed", format!("--seed {}", args.seed())),
        ("detect", format!("--detect {}", detect.join(","))),
        ("carrier", format!("--carrier {}", word(*carrier))),
        ("points", format!("--points {}", word(*points))),
        ("memory_model", format!("--memory-model {}", word(*memory_model))),
        ("max_steps", format!("--max-steps {max_steps}")),
        ("timeouts", format!("--timeouts {}", word(*timeouts))),
        ("signals", format!("--signals {}", word(*signals))),
        ("spurious", flag(*spurious, "--spurious")),
        ("exit_ok", flag(*exit_ok, "--exit-ok")),
    ]
    .into()
}

/// Says how far earlier parts of a search have come, and what they have found.
pub(crate) fn tell_earlier(args: &RunArgs, saved: &Saved, terminal: &mut Terminal) {
    if args.common.message_format == Format::Json {
        return;
    }
    if !saved.has_begun() {
        terminal.note("the search was interrupted before it started; starting it now\n");
    }
    let findings = &saved.earlier.findings;
    if findings.is_empty() {
        return;
    }
    let ids: Vec<&str> = findings.iter().map(|it| it.id.as_str()).collect();
    let count = number::count(findings.len() as u64, "finding");
    terminal.note(&format!("earlier parts of this search have {count}: {}\n", ids.join(", ")));
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

/// A search's figures, as reports want them; when it is over also what it has covered, pair by pair.
pub(crate) fn status(
    outcome: &Outcome,
    resume: Option<&str>,
    is_over: bool,
) -> Option<SearchStatus> {
    let search = outcome.search.as_ref()?;
    Some(SearchStatus {
        strategy: search.strategy.clone(),
        progress: search.progress.clone(),
        effort: search.effort,
        is_learning: search.is_learning,
        is_complete: outcome.is_complete(),
        gaps: outcome.gaps.clone(),
        unlike: outcome.n_unlike,
        covered: if is_over { covered(search) } else { Vec::new() },
        steps_spared: outcome.steps_spared,
        resume: resume.map(str::to_owned),
    })
}
