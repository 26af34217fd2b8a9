//! From what the user named to a program that can be started.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
};

use raddle_explore::{
    StoredTarget,
    store::{Bounds, CargoBuild},
};
use raddle_launch::{
    CompileRequest, CompilerChoice, Symbols, Toolchain,
    cargo::{Artifacts, Built, Cargo},
};

use crate::{args::ConditionArgs, exit::Failure, terminal::Terminal, values};

/// What sources end in; everything else that stands alone before `--` is a program.
const SOURCES: [&str; 10] = ["c", "cc", "cpp", "cxx", "C", "c++", "rs", "o", "a", "so"];

/// What linkers say of a function that is in no library they were told of.
const UNLINKED: [&str; 2] = ["undefined reference to", "undefined symbol"];

/// What the user named: sources or a program, and arguments; and how to run it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Named<'a> {
    /// Sources to compile into one program, or one program.
    pub(crate) sources: &'a [PathBuf],
    /// The program's arguments; without sources, the program comes first.
    pub(crate) args: &'a [OsString],
    pub(crate) conditions: &'a ConditionArgs,
}

/// Compiles the sources, or finds the program.
pub(crate) fn prepare(named: Named<'_>, terminal: &mut Terminal) -> Result<StoredTarget, Failure> {
    let cwd = std::env::current_dir()
        .map_err(|error| Failure::usage(format!("can't read the working directory: {error}")))?;
    let Named { sources, mut args, conditions } = named;
    let mut target = StoredTarget {
        sync_only: conditions.sync_only,
        stdin: stdin(conditions)?,
        cwd,
        compiler: conditions.compiler.clone(),
        bounds: Bounds {
            memory: conditions.memory,
            hang_timeout_ms: u64::try_from(conditions.hang_timeout.as_millis()).unwrap_or(u64::MAX),
            n_cpus: conditions.cpus,
        },
        ..StoredTarget::default()
    };
    match sources {
        [] => {
            let (program, rest) = args.split_first().ok_or_else(nothing)?;
            args = rest;
            target.program = find_program(Path::new(program), conditions.sync_only)?;
        }
        [program] if !is_source(program) => {
            target.program = find_program(program, conditions.sync_only)?;
        }
        sources => {
            target.sources = sources.to_vec();
            let flags = conditions.cflags.as_deref().unwrap_or_default();
            target.cflags =
                values::words(flags).map_err(|why| Failure::usage(format!("--cflags: {why}")))?;
            target.program = compile(&target, terminal)?;
        }
    }
    target.args = args.to_vec();
    Ok(target)
}

/// The program of a finding, compiled anew if its sources have changed.
pub(crate) fn prepare_again(
    target: &StoredTarget,
    terminal: &mut Terminal,
) -> Result<PathBuf, Failure> {
    let program = match rebuild(target, terminal)? {
        Some(program) => program,
        None if target.program.exists() => {
            warn_if_old(target, &target.program, terminal);
            inspect(&target.program, target.sync_only)?;
            target.program.clone()
        }
        None => {
            return Err(Failure::usage(format!(
                "the program of this finding does not exist here: {}; for an exported finding, use \
                 `raddle store import FILE --program PROGRAM`",
                target.program.display()
            )));
        }
    };
    if let Some(stdin) = target.stdin.as_deref() {
        check_stdin(stdin)?;
    }
    Ok(program)
}

/// Builds a program again from what is there now; `None` if nobody knows how.
fn rebuild(target: &StoredTarget, terminal: &mut Terminal) -> Result<Option<PathBuf>, Failure> {
    if let Some(build) = target.cargo.as_ref().filter(|it| it.cwd.is_dir()) {
        return build_again(build);
    }
    let is_there = !target.sources.is_empty() && target.sources.iter().all(|it| it.is_file());
    is_there.then(|| compile(target, terminal)).transpose()
}

/// Builds a program again, as it was built; `None` if it is not among what is built now.
fn build_again(build: &CargoBuild) -> Result<Option<PathBuf>, Failure> {
    let here = std::env::current_dir();
    let go = |to: &Path| {
        std::env::set_current_dir(to)
            .map_err(|error| Failure::usage(format!("{}: {error}", to.display())))
    };
    go(&build.cwd)?;
    let what = if build.is_test { Artifacts::Tests } else { Artifacts::Programs };
    let built = Cargo::open(&build.metadata).and_then(|it| it.build(what, &build.args));
    if let Ok(here) = here {
        go(&here)?;
    }
    let is_it = |it: &Built| it.id() == build.id && it.is_test == build.is_test;
    Ok(built?.into_iter().find(is_it).map(|it| it.executable))
}

/// Sources that are named in a warning.
const NAMED_MAX: usize = 3;

/// Says so, if a program that we can't build was built before its sources were changed.
pub(crate) fn warn_if_old(target: &StoredTarget, program: &Path, terminal: &mut Terminal) {
    if let Some(gone) = target.sources.iter().find(|it| !it.is_file()) {
        let gone = gone.display();
        return terminal
            .warning(&format!("{gone} no longer exists; using the program as it was built"));
    }
    let newer = Symbols::new().newer_sources(program);
    if newer.is_empty() {
        return;
    }
    let here = std::env::current_dir().unwrap_or_default();
    let names = newer.iter().take(NAMED_MAX);
    let names = names.map(|it| it.strip_prefix(&here).unwrap_or(it).display().to_string());
    let names: Vec<String> = names.collect();
    let more = match newer.len().saturating_sub(NAMED_MAX) {
        0 => String::new(),
        n => format!(" and {n} more"),
    };
    terminal.warning(&format!(
        "the program is older than its sources ({}{more}); rebuild it to test the current sources",
        names.join(", ")
    ));
}

/// Compiles a target's sources.
pub(crate) fn compile(target: &StoredTarget, terminal: &mut Terminal) -> Result<PathBuf, Failure> {
    let choice = compiler(target.compiler.as_deref());
    let toolchain = Toolchain::open(choice)?;
    let request = CompileRequest {
        inputs: target.sources.clone(),
        flags: target.cflags.iter().map(OsString::from).collect(),
    };
    let compiled = raddle_launch::compile(&toolchain, &request).map_err(|error| {
        let names: Vec<_> = target.sources.iter().map(|it| it.display().to_string()).collect();
        let mut failure = Failure::from(error);
        if !failure.words.is_empty() {
            let is_unlinked =
                UNLINKED.iter().any(|it| failure.words.contains(it)) && target.cflags.is_empty();
            let hint =
                if is_unlinked { "; add libraries with --cflags, e.g. `--cflags=-lm`" } else { "" };
            failure.line = format!("compilation of {} failed{hint}", names.join(" "));
        }
        failure
    })?;
    terminal.note(&compiled.warnings);
    inspect(&compiled.program, target.sync_only)?;
    Ok(compiled.program)
}

/// Can the program be controlled?
pub(crate) fn inspect(program: &Path, sync_only: bool) -> Result<(), Failure> {
    let executable = raddle_launch::inspect(program)?;
    if !sync_only {
        executable.require_hooks()?;
    }
    Ok(())
}

fn nothing() -> Failure {
    Failure::usage(
        "no program given; name C, C++ or Rust sources (`raddle run bank.c`) or, after `--`, a program built \
         with `raddle cc` (`raddle run -- ./bank`)"
            .to_owned(),
    )
}

fn compiler(name: Option<&str>) -> CompilerChoice {
    match name {
        None => CompilerChoice::Environment,
        Some("gcc") => CompilerChoice::Gcc,
        Some("clang") => CompilerChoice::Clang,
        Some(path) => CompilerChoice::Program(path.into()),
    }
}

/// Is it compiled or linked before it runs?
pub(crate) fn is_source(path: &Path) -> bool {
    path.extension().and_then(|it| it.to_str()).is_some_and(|it| SOURCES.contains(&it))
}

/// As a shell does: a name without slashes is looked for in `$PATH`.
fn find_program(program: &Path, sync_only: bool) -> Result<PathBuf, Failure> {
    let has_slash = program.to_string_lossy().contains('/');
    let folders = std::env::var_os("PATH").filter(|_| !has_slash).unwrap_or_default();
    let found = std::env::split_paths(&folders).map(|it| it.join(program)).find(|it| it.is_file());
    // What is wrong with it is said of the name that the user gave.
    let found = found.unwrap_or_else(|| program.to_owned());
    inspect(&found, sync_only)?;
    absolute(&found)
}

fn stdin(conditions: &ConditionArgs) -> Result<Option<PathBuf>, Failure> {
    let Some(path) = &conditions.stdin else { return Ok(None) };
    check_stdin(path)?;
    absolute(path).map(Some)
}

fn check_stdin(path: &Path) -> Result<(), Failure> {
    match std::fs::File::open(path) {
        Ok(_) => Ok(()),
        Err(error) => Err(Failure::usage(format!("--stdin {}: {error}", path.display()))),
    }
}

fn absolute(path: &Path) -> Result<PathBuf, Failure> {
    std::path::absolute(path)
        .map_err(|error| Failure::usage(format!("{}: {error}", path.display())))
}
