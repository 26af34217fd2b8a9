//! `cargo raddle build|run|test`, which is `raddle cargo …`: Rust crates as they are.
//!
//! Cargo's own options go to cargo, all others are those of `raddle run`. So the command line is split
//! here, before anybody parses it.

mod partition;
mod split;
mod suite;
mod test;

use std::{ffi::OsString, io::Write as _};

use raddle_explore::{
    StoredTarget,
    store::{Bounds, CargoBuild},
};
use raddle_launch::cargo::{Artifacts, Built, Cargo, CargoError};

use self::split::{CargoVerb, Split};
use crate::{
    args::{Arguments, ConditionArgs, RunArgs, Verb},
    config::{self, Refused},
    exit::{Exit, Failure},
    report, run, search,
    terminal::Terminal,
};

/// Becomes `raddle cargo`, if that is what was asked for.
pub(crate) fn take_over() -> Option<Exit> {
    let mut words = std::env::args_os().skip(1);
    if words.next()? != "cargo" {
        return None;
    }
    let split = match Split::of(words.collect()) {
        Ok(Some(split)) => split,
        Ok(None) => {
            // There is nobody left to tell if this fails.
            let _ = write!(std::io::stdout(), "{}", split::HELP);
            return Some(Exit::Clean);
        }
        Err(line) => {
            let _ = writeln!(std::io::stderr(), "error: {line}");
            return Some(Exit::Usage);
        }
    };
    Some(obey(&split))
}

/// `cargo raddle COMMAND`, where `raddle.toml` asks for it.
pub(crate) fn explore(
    command: &str,
    args: &RunArgs,
    terminal: &mut Terminal,
) -> Result<Exit, Failure> {
    let words: Vec<OsString> = command.split_whitespace().map(OsString::from).collect();
    match Split::of(words) {
        Ok(Some(split)) => perform(&split, args, terminal),
        Ok(None) => Err(Failure::usage("expected `cargo = \"test\"` in raddle.toml".to_owned())),
        Err(line) => Err(Failure::usage(format!("`cargo` in raddle.toml: {line}"))),
    }
}

fn obey(split: &Split) -> Exit {
    let words = ["raddle", "run"].into_iter().map(OsString::from);
    let line: Vec<OsString> = words.chain(split.raddle.clone()).collect();
    let (arguments, matches) = match Arguments::parse_or_exit(&line) {
        Ok(parsed) => parsed,
        Err(exit) => return exit,
    };
    let mut terminal = Terminal::new(&arguments.look);
    let Verb::Run(args) = arguments.verb else { unreachable!("bug: `run` was asked for") };
    let result = match config::configure(*args, &line, &matches) {
        Ok((args, warnings)) => {
            warnings.iter().for_each(|it| terminal.warning(it));
            let ended = perform(split, &args, &mut terminal);
            report::at_end(&args, ended, &mut terminal)
        }
        Err(Refused::Said(exit)) => return exit,
        Err(Refused::Failure(failure)) => Err(failure),
    };
    match result {
        Ok(exit) => exit,
        Err(failure) => {
            terminal.error(&failure);
            failure.exit
        }
    }
}

fn perform(split: &Split, args: &RunArgs, terminal: &mut Terminal) -> Result<Exit, Failure> {
    search::check_memory_model(&args.conditions, &args.strategy)?;
    let cargo = Cargo::open(&split.metadata)?.with_cfgs(&split.cfgs);
    for lost in cargo.lost() {
        terminal.warning(&lost.to_string());
    }
    match split.verb {
        CargoVerb::Build => build(&cargo, split, args, terminal),
        CargoVerb::Run => run_program(&cargo, split, args, terminal),
        CargoVerb::Test => test::test(&cargo, split, args, terminal),
    }
}

fn build(
    cargo: &Cargo,
    split: &Split,
    args: &RunArgs,
    terminal: &mut Terminal,
) -> Result<Exit, Failure> {
    if let Some(word) =
        args.sources.first().map(|it| it.as_os_str()).or(args.args.first().map(|it| &**it))
    {
        let word = word.to_string_lossy();
        return Err(Failure::usage(format!(
            "unexpected argument `{word}` for `cargo raddle build`"
        )));
    }
    let built = cargo.build(Artifacts::Programs, &split.cargo)?;
    for it in built {
        terminal.note(&format!("to explore it: raddle run -- {}\n", shown(&it)));
    }
    Ok(Exit::Clean)
}

/// A program's path, as short as it can be said.
fn shown(built: &Built) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    let path = built.executable.strip_prefix(here).unwrap_or(&built.executable);
    path.display().to_string()
}

fn run_program(
    cargo: &Cargo,
    split: &Split,
    args: &RunArgs,
    terminal: &mut Terminal,
) -> Result<Exit, Failure> {
    if let Some(word) = args.sources.first() {
        let word = word.display();
        return Err(Failure::usage(format!(
            "unexpected argument `{word}`; to pass it to the program: `cargo raddle run -- {word}`"
        )));
    }
    let built = cargo.build(Artifacts::Programs, &split.cargo)?;
    let program = chosen(built, split.is_named)?;
    let cwd = std::env::current_dir()
        .map_err(|error| Failure::usage(format!("can't read the working directory: {error}")))?;
    let target =
        StoredTarget { cwd, args: args.args.clone(), ..target(&program, split, &args.conditions) };
    run::run_program(args, &target, None, terminal)
}

/// The one program that was built; if there are several, the one that the manifest names.
fn chosen(built: Vec<Built>, is_named: bool) -> Result<Built, Failure> {
    let is_program = |it: &Built| it.kind == "bin" || (is_named && it.kind == "example");
    let mut programs: Vec<Built> = built.into_iter().filter(is_program).collect();
    if programs.len() > 1 {
        let is_default = |it: &Built| it.package.default_run.as_ref() == Some(&it.name);
        if programs.iter().any(is_default) {
            programs.retain(is_default);
        }
    }
    match programs.len() {
        0 => Err(Failure::usage(
            "the crate has no program; use `cargo raddle test` to explore its tests".to_owned(),
        )),
        1 => Ok(programs.remove(0)),
        _ => {
            let names: Vec<&str> = programs.iter().map(|it| it.name.as_str()).collect();
            let names = names.join(", ");
            Err(Failure::usage(format!(
                "the crate has several programs ({names}); choose one with --bin"
            )))
        }
    }
}

/// What was built, as something that can be run now and again later.
fn target(built: &Built, split: &Split, conditions: &ConditionArgs) -> StoredTarget {
    StoredTarget {
        program: built.executable.clone(),
        cargo: Some(CargoBuild {
            cwd: std::env::current_dir().unwrap_or_default(),
            metadata: split.metadata.clone(),
            args: split.cargo.clone(),
            is_test: split.verb == CargoVerb::Test,
            id: built.id(),
        }),
        env: built.environment(),
        cwd: built.package.root.clone(),
        stdin: conditions.stdin.clone(),
        bounds: Bounds {
            memory: conditions.memory,
            hang_timeout_ms: u64::try_from(conditions.hang_timeout.as_millis()).unwrap_or(u64::MAX),
            n_cpus: conditions.cpus,
        },
        ..StoredTarget::default()
    }
}

impl From<CargoError> for Failure {
    fn from(error: CargoError) -> Failure {
        let line = error.to_string();
        match error {
            CargoError::Build => Failure { exit: Exit::Baseline, words: String::new(), line },
            CargoError::Metadata { words } => Failure { exit: Exit::Usage, words, line },
            _ => Failure::usage(line),
        }
    }
}
