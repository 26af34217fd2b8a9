//! Every correct program under `programs/pass`, explored for long: nothing may be found.
//!
//! A finding here is either a bug of the program, which then belongs under `programs/fail`, or one of
//! ours. All detectors look, on both carriers, with every compiler that there is, and with seeds that no run before
//! had: their first one is told, so that it can be run again. Warnings are no findings, but they are told.
//!
//! Before that, tests of generated cases are run with the first of these seeds (`properties`). A seed that fails becomes
//! a case of its test.

mod properties;

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::atomic::AtomicBool,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use anyhow::{Context, ensure};
use raddle_explore::{Campaign, Found, Options as CampaignOptions};
use raddle_launch::{
    CompileRequest, CompilerChoice, Native, NativeOptions, Symbols, Toolchain, compile,
};
use raddle_model::{Carrier, Conditions, Detect, Kind, MemoryModel};
use raddle_report::words::{escape, fault};
use serde::Serialize;

/// What to run.
#[derive(Debug)]
pub(crate) struct Options {
    /// Executions of each program on fibers, for each seed and compiler.
    pub(crate) executions: u64,
    /// The same on kernel threads.
    pub(crate) on_threads: u64,
    /// So many seeds.
    pub(crate) seeds: u64,
    /// What atomic loads may read.
    pub(crate) memory_model: MemoryModel,
    /// From this one on; without it they are new ones.
    pub(crate) from_seed: Option<u64>,
    /// A campaign ends after this time, however few executions it has had.
    pub(crate) time: Duration,
    /// Only programs whose path contains this.
    pub(crate) only: String,
    /// Where the figures go.
    pub(crate) json: Option<PathBuf>,
}

/// The model of this name.
pub(crate) fn memory_model(name: &str) -> Result<MemoryModel, String> {
    let all = [MemoryModel::Sc, MemoryModel::Tso, MemoryModel::C11];
    all.into_iter().find(|it| it.word() == name).ok_or_else(|| "write sc, tso or c11".to_owned())
}

/// One campaign.
#[derive(Debug, Serialize)]
struct Row {
    program: String,
    compiler: &'static str,
    carrier: &'static str,
    seed: u64,
    executions: u64,
    distinct_traces: u64,
    steps_max: u64,
    execs_per_s: f64,
    stability: f64,
    /// Notes about what could not be controlled.
    uncontrolled: Vec<String>,
    /// What could happen, or takes very long delays.
    warnings: Vec<String>,
    /// What was found, or went wrong; empty if all is well.
    trouble: String,
}

/// Explores all programs, prints what is wrong as it is found, and fails if anything is.
pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../programs/pass");
    let mut compilers = vec![("gcc", CompilerChoice::Environment)];
    if Command::new("clang").arg("--version").output().is_ok_and(|it| it.status.success()) {
        compilers.push(("clang", CompilerChoice::Clang));
    }
    let first_seed = options.from_seed.unwrap_or_else(new_seed);
    eprintln!("seeds from {first_seed}: `--from-seed {first_seed}` runs them again");
    if options.only.is_empty() {
        properties::run(first_seed)?;
    }
    let start = Instant::now();
    let mut rows = Vec::new();
    for path in programs_under(&root) {
        let name = path.strip_prefix(&root).unwrap_or(&path).display().to_string();
        if !name.contains(&options.only) {
            continue;
        }
        let text = fs::read_to_string(&path)?;
        let is_racy = text.lines().any(|it| it.starts_with("//@ racy:"));
        let program = Program { name: &name, is_racy };
        for (compiler, choice) in &compilers {
            let native =
                build(&path, choice.clone()).with_context(|| format!("failed to build {name}"))?;
            for seed in first_seed..first_seed + options.seeds {
                rows.push(soak(&program, compiler, &native, Carrier::Fibers, seed, options));
            }
            rows.push(soak(&program, compiler, &native, Carrier::Threads, first_seed, options));
        }
    }
    tell_sum(&rows, start.elapsed());
    if let Some(path) = &options.json {
        fs::write(path, serde_json::to_string_pretty(&rows)?)
            .with_context(|| format!("failed to write {}", path.display()))?;
    }
    let n_bad = rows.iter().filter(|it| !it.trouble.is_empty()).count();
    ensure!(n_bad == 0, "{n_bad} of {} campaigns found something in a correct program", rows.len());
    Ok(())
}

/// One that no run had before.
fn new_seed() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |it| it.as_secs())
}

fn tell_sum(rows: &[Row], elapsed: Duration) {
    let n_executions = rows.iter().map(|it| it.executions).sum::<u64>();
    let n_traces = rows.iter().map(|it| it.distinct_traces).sum::<u64>();
    let n_warned = rows.iter().filter(|it| !it.warnings.is_empty()).count();
    eprintln!(
        "{} campaigns, {n_executions} executions, {n_traces} distinct traces, {n_warned} with warnings, in {:.0} s",
        rows.len(),
        elapsed.as_secs_f64()
    );
}

pub(crate) fn programs_under(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let Ok(entries) = fs::read_dir(folder) else { return found };
    for entry in entries.flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(programs_under(&path));
        } else if path.extension().is_some_and(|it| it == "c" || it == "cpp") {
            found.push(path);
        }
    }
    found.sort();
    found
}

pub(crate) fn build(path: &Path, choice: CompilerChoice) -> anyhow::Result<NativeOptions> {
    let text = fs::read_to_string(path)?;
    let words = |key: &str| -> Vec<std::ffi::OsString> {
        let start = format!("//@ {key}:");
        let line = text.lines().find_map(|line| line.strip_prefix(&start)).unwrap_or_default();
        line.split_whitespace().map(Into::into).collect()
    };
    let toolchain = Toolchain::open(choice)?;
    let request = CompileRequest { inputs: vec![path.to_owned()], flags: words("flags") };
    let program = compile(&toolchain, &request)?.program;
    let mut native = NativeOptions::of(&toolchain.cache, program, words("args"))?;
    native.hang_timeout = Duration::from_secs(10);
    Ok(native)
}

/// A program that is explored.
struct Program<'a> {
    name: &'a str,
    /// Does it race on purpose (`//@ racy:`)?
    is_racy: bool,
}

fn soak(
    program: &Program<'_>,
    compiler: &'static str,
    native: &NativeOptions,
    carrier: Carrier,
    seed: u64,
    options: &Options,
) -> Row {
    let executions =
        if carrier == Carrier::Fibers { options.executions } else { options.on_threads };
    let target = Native::new(NativeOptions { carrier, ..native.clone() });
    let campaign_options = CampaignOptions {
        seed,
        executions: Some(executions),
        time: Some(options.time),
        keep_going: true,
        detect: Detect { races: true, locksets: true, deadlocks: true, atomicity: true },
        jobs: std::thread::available_parallelism().map_or(1, usize::from),
        conditions: Conditions { memory_model: options.memory_model, ..Conditions::DEFAULT },
        ..CampaignOptions::default()
    };
    let outcome = Campaign::new(&target, campaign_options).run(
        &mut Symbols::new(),
        &mut (),
        &AtomicBool::new(false),
    );
    let mut row = Row {
        program: program.name.to_owned(),
        compiler,
        carrier: if carrier == Carrier::Fibers { "fibers" } else { "threads" },
        seed,
        executions: 0,
        distinct_traces: 0,
        steps_max: 0,
        execs_per_s: 0.0,
        stability: 0.0,
        uncontrolled: Vec::new(),
        warnings: Vec::new(),
        trouble: String::new(),
    };
    match outcome {
        Err(error) => row.trouble = format!("{error:#}"),
        Ok(outcome) => {
            row.executions = outcome.figures.executions;
            row.distinct_traces = outcome.figures.distinct_traces;
            row.steps_max = outcome.figures.steps_max;
            row.execs_per_s = outcome.figures.execs_per_s();
            row.stability = outcome.figures.stability;
            row.uncontrolled =
                outcome.uncontrolled.iter().map(|it| escape::words(it.what)).collect();
            let is_meant = |it: &&Found| program.is_racy && it.finding.kind == Kind::Race;
            let told = outcome.findings.iter().filter(|it| !is_meant(it));
            let (warnings, errors): (Vec<&Found>, Vec<&Found>) =
                told.partition(|it| it.finding.is_warning());
            row.warnings = warnings.into_iter().map(in_a_line).collect();
            if !errors.is_empty() {
                row.trouble = errors.into_iter().map(in_a_line).collect::<Vec<_>>().join("; ");
            } else if let Some(finding) = &outcome.baseline_failure {
                row.trouble =
                    format!("baseline: {}: {}", finding.kind.word(), fault::line(finding));
            } else if outcome.figures.n_inconclusive > 0 {
                row.trouble = format!("{} executions hung", outcome.figures.n_inconclusive);
            }
        }
    }
    eprintln!(
        "{} {:36} {:5} {:7} seed {seed} {:>7} executions {:>7} traces {:>6} steps {:>6.0}/s {}{}",
        if row.trouble.is_empty() { "ok " } else { "BAD" },
        row.program,
        row.compiler,
        row.carrier,
        row.executions,
        row.distinct_traces,
        row.steps_max,
        row.execs_per_s,
        row.uncontrolled.join("; "),
        row.trouble
    );
    for warning in &row.warnings {
        eprintln!("    warning: {warning}");
    }
    row
}

fn in_a_line(found: &Found) -> String {
    let finding = &found.finding;
    format!("{} at execution {}: {}", finding.kind.word(), found.first, fault::line(finding))
}
