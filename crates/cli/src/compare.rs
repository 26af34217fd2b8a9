//! `raddle compare`: strategies side by side, on the user's own programs.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use raddle_explore::{
    Method, Options, StoredTarget, Symbols,
    compare::{Cell, CompareError, Comparison, Contender, Quantile, Subject},
};
use raddle_launch::Native;
use raddle_model::Conditions;
use raddle_plan::Strategy;
use raddle_report::{
    campaign::compare::{self, Reach, Row, Trial},
    formats::json,
    layout::number,
    pages::{self, Heading},
    words::fault,
};

use crate::{
    args::{CompareArgs, Format, PointsArg},
    exit::{Exit, Failure},
    native::{self, Launch},
    prepare::{Named, prepare},
    search::{self, check_memory_model},
    signals::{self, Stop},
    terminal::Terminal,
};

/// Compares strategies.
pub(crate) fn compare(args: &CompareArgs, terminal: &mut Terminal) -> Result<Exit, Failure> {
    check_baseline(args)?;
    for path in [&args.csv, &args.html].into_iter().flatten() {
        check_writable(path)?;
    }
    let programs = programs(args, terminal)?;
    let stop = signals::catch();
    let targets = targets(args, &programs, stop)?;
    let subjects = programs.iter().zip(&targets);
    let comparison = Comparison {
        subjects: subjects.map(|(it, target)| Subject { name: name(it), target }).collect(),
        contenders: contenders(args),
        n_repeats: args.repeats,
        seed: args.seed,
        jobs: args.n_jobs(),
        n_learning: args.learn.unwrap_or(0),
    };
    let cells = run(args, &comparison, stop, terminal)?;
    tell(args, &comparison, &cells, terminal)?;
    Ok(stop.exit().unwrap_or_else(|| exit(&comparison, &cells, terminal)))
}

/// Where no execution finished, nothing was compared.
fn exit(comparison: &Comparison<'_>, cells: &[Cell], terminal: &mut Terminal) -> Exit {
    let has_none = |it: &&Cell| it.trials.iter().all(|it| it.executions == 0);
    let mut names: Vec<&str> = cells
        .iter()
        .filter(has_none)
        .map(|it| comparison.subjects[it.subject].name.as_str())
        .collect();
    names.dedup();
    if names.is_empty() {
        return Exit::Clean;
    }
    let line = format!(
        "no execution of {} finished, so its strategies were not compared; raise --time",
        names.join(", ")
    );
    terminal.error(&Failure { exit: Exit::Inconclusive, words: String::new(), line });
    Exit::Inconclusive
}

/// The strategy that the others are compared with is one of them.
fn check_baseline(args: &CompareArgs) -> Result<(), Failure> {
    match &args.baseline {
        Some(baseline) if !args.strategies.0.contains(baseline) => Err(Failure::usage(format!(
            "--baseline {baseline} is not one of --strategies; add it to the list"
        ))),
        _ => Ok(()),
    }
}

/// What it is called; of several kinds of scheduling points, the first.
fn baseline(args: &CompareArgs, comparison: &Comparison<'_>) -> String {
    let strategies = &args.strategies.0;
    let idx = args.baseline.as_ref().and_then(|it| strategies.iter().position(|of| of == it));
    comparison.contenders[idx.unwrap_or(0) * args.with_points.len().max(1)].name.clone()
}

/// Better now than after an hour.
fn check_writable(path: &Path) -> Result<(), Failure> {
    let opened = fs::OpenOptions::new().append(true).create(true).open(path);
    opened.map(|_| ()).map_err(|error| cannot_write(path, &error))
}

fn cannot_write(path: &Path, error: &std::io::Error) -> Failure {
    Failure::usage(format!("can't write {}: {error}", path.display()))
}

fn programs(args: &CompareArgs, terminal: &mut Terminal) -> Result<Vec<StoredTarget>, Failure> {
    let mut programs: Vec<StoredTarget> = Vec::new();
    for path in &args.programs {
        let sources = std::slice::from_ref(path);
        let named = Named { sources, args: &args.args, conditions: &args.conditions };
        let program = prepare(named, terminal)?;
        if programs.iter().any(|it| name(it) == name(&program)) {
            return Err(Failure::usage(format!(
                "two programs have the name {}; rename one of them",
                name(&program)
            )));
        }
        programs.push(program);
    }
    Ok(programs)
}

fn targets(
    args: &CompareArgs,
    programs: &[StoredTarget],
    stop: &Stop,
) -> Result<Vec<Native>, Failure> {
    args.strategies.0.iter().try_for_each(|it| check_memory_model(&args.conditions, it))?;
    let has_search = args.strategies.0.iter().any(|it| matches!(it, Strategy::Search(_)));
    let open = |program: &StoredTarget| {
        native::open(Launch {
            program: program.program.clone(),
            target: program,
            carrier: args.conditions.carrier.into(),
            is_fresh: args.conditions.fresh,
            checkpoints: 0,
            events: has_search.then_some(search::EVENTS),
            stop: Arc::clone(stop.flag()),
        })
    };
    programs.iter().map(|it| open(it).map_err(Failure::from)).collect()
}

/// Each strategy; with each of several kinds of scheduling points, if that is asked for.
fn contenders(args: &CompareArgs) -> Vec<Contender> {
    let strategies = &args.strategies.0;
    if args.with_points.is_empty() {
        let points = args.conditions.points;
        return strategies.iter().map(|it| contender(args, it, points)).collect();
    }
    let both = strategies.iter().flat_map(|it| args.with_points.iter().map(move |of| (it, *of)));
    both.map(|(strategy, points)| {
        let contender = contender(args, strategy, points);
        Contender { name: format!("{} ({} points)", contender.name, points.word()), ..contender }
    })
    .collect()
}

fn contender(args: &CompareArgs, strategy: &Strategy, points: PointsArg) -> Contender {
    Contender {
        name: strategy.to_string(),
        options: Options {
            executions: Some(args.execs),
            time: args.time,
            keep_going: args.keep_going,
            until_first: true,
            exit_is_fine: args.conditions.exit_ok,
            method: Method::new(strategy, args.execs),
            conditions: Conditions { points: points.into(), ..args.conditions.of_executions() },
            ..Options::default()
        },
    }
}

/// Runs all campaigns, and says how far it has come.
fn run(
    args: &CompareArgs,
    comparison: &Comparison<'_>,
    stop: &Stop,
    terminal: &mut Terminal,
) -> Result<Vec<Cell>, Failure> {
    let n_cells = comparison.subjects.len() * comparison.contenders.len();
    let n_all = n_cells as u64 * u64::from(args.repeats);
    let is_human = args.message_format != Format::Json;
    let mut told = |n_done: u64, cell: Option<&Cell>| {
        let Some(cell) = cell.filter(|_| is_human) else { return };
        let row = row(comparison, cell);
        let (done, all) = (number::grouped(n_done), number::grouped(n_all));
        let (found, of) = (row.n_found, row.n_repeats);
        terminal.note(&format!(
            "[{done}/{all}] {} {}: failure found in {found} of {of}\n",
            row.program, row.strategy
        ));
    };
    let symbols = || Box::new(raddle_launch::Symbols::new()) as Box<dyn Symbols>;
    comparison.run(&symbols, stop.flag(), &mut told).map_err(|error| match error {
        CompareError::Target { name, error } => {
            let failure = Failure::from(error);
            Failure { line: format!("{name}: {}", failure.line), ..failure }
        }
        CompareError::Baseline { ref finding, .. } => {
            let line = format!("{error}: {}", fault::line(finding));
            Failure { exit: Exit::Baseline, words: String::new(), line }
        }
    })
}

fn tell(
    args: &CompareArgs,
    comparison: &Comparison<'_>,
    cells: &[Cell],
    terminal: &mut Terminal,
) -> Result<(), Failure> {
    let rows: Vec<Row> = cells.iter().map(|it| row(comparison, it)).collect();
    match args.message_format {
        Format::Json => rows.iter().for_each(|it| terminal.out(&json::compared(it))),
        Format::Human | Format::Short => {
            let style = terminal.out_style;
            terminal.out(&compare::table(&rows, &style));
            if comparison.subjects.len() > 1 {
                terminal.out(&format!("\n{}", compare::verdict(&rows)));
            }
        }
    }
    if let Some(path) = &args.csv {
        let trials: Vec<Trial> = cells.iter().flat_map(|it| trials(comparison, it)).collect();
        fs::write(path, compare::csv(&trials)).map_err(|error| cannot_write(path, &error))?;
    }
    if let Some(path) = &args.html {
        let page = pages::compare(&heading(args, baseline(args, comparison)), &rows);
        fs::write(path, page).map_err(|error| cannot_write(path, &error))?;
    }
    Ok(())
}

fn heading(args: &CompareArgs, baseline: String) -> Heading {
    let campaigns = number::count(args.repeats.into(), "campaign");
    let executions = number::count(args.execs, "execution");
    let end = if args.keep_going { "" } else { ", or up to the first failure" };
    Heading {
        title: "Comparison of strategies".to_owned(),
        words: format!(
            "{campaigns} of each strategy on each program, {executions} each{end}; seed {}.",
            args.seed
        ),
        baseline,
    }
}

fn row(comparison: &Comparison<'_>, cell: &Cell) -> Row {
    let (failures, executions) = cell.failures();
    Row {
        program: comparison.subjects[cell.subject].name.clone(),
        strategy: comparison.contenders[cell.contender].name.clone(),
        n_repeats: cell.trials.len() as u64,
        n_found: cell.n_found() as u64,
        median: reach(cell, 0.5),
        p95: reach(cell, 0.95),
        failures,
        executions,
        points: cell.points_per_execution(),
        points_max: cell.points_max(),
        execs_per_s: cell.executions_per_s(),
    }
}

fn reach(cell: &Cell, share: f64) -> Reach {
    match cell.quantile(share) {
        Quantile::At(executions) => Reach::At(executions),
        Quantile::Beyond(executions) if cell.is_over() => Reach::Never(executions),
        Quantile::Beyond(executions) => Reach::Beyond(executions),
    }
}

fn trials(comparison: &Comparison<'_>, cell: &Cell) -> impl Iterator<Item = Trial> {
    let program = &comparison.subjects[cell.subject].name;
    let strategy = &comparison.contenders[cell.contender].name;
    cell.trials.iter().map(|it| Trial {
        program: program.clone(),
        strategy: strategy.clone(),
        seed: it.seed,
        found: it.found,
        executions: it.executions,
        failures: it.failures,
        points: it.points,
        points_max: it.points_max,
        elapsed_s: it.elapsed.as_secs_f64(),
        is_over: it.is_over,
        place: it.place.clone(),
    })
}

/// What the user calls the program, without its ending.
fn name(target: &StoredTarget) -> String {
    let path: &PathBuf = target.sources.first().unwrap_or(&target.program);
    path.file_stem().unwrap_or(Path::new("?").as_os_str()).to_string_lossy().into_owned()
}
