//! The same trace whatever the environment: every program under `programs/`, some seeds, run in several
//! environments (variables, folder, how often the server has run before). Each environment is a process
//! of its own, which prints one line for each trace.

use std::{
    collections::BTreeMap,
    env,
    path::Path,
    process::{Command, Stdio},
};

use anyhow::{Context, ensure};
use raddle_explore::{Block, Session, Target};
use raddle_launch::{CompilerChoice, Native, NativeOptions};
use raddle_model::{PickerSpec, Plan};
use raddle_trace::{Entry, Trace};

use crate::soak;

/// What to run.
#[derive(Debug)]
pub(crate) struct Options {
    /// Seeds from 1 to this.
    pub(crate) seeds: u64,
    /// Only programs whose path contains this.
    pub(crate) only: String,
    /// Print traces, and compare nothing: what one environment does.
    pub(crate) is_one: bool,
    /// All steps of each trace as well.
    pub(crate) is_verbose: bool,
}

/// Runs every program in every environment, prints the differences and fails if there are any.
pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    if options.is_one {
        return print_traces(options);
    }
    let runs = environments()
        .into_iter()
        .map(|(name, command)| Ok((name, lines_of(command, options)?)))
        .collect::<anyhow::Result<Vec<_>>>()?;
    let (first_name, first) = &runs[0];
    let mut n_different = 0;
    for (name, lines) in &runs[1..] {
        for (key, value) in first {
            if lines.get(key) != Some(value) {
                n_different += 1;
                let other = lines.get(key).map_or("nothing", String::as_str);
                eprintln!("{key}: {value} {first_name}, {other} {name}");
            }
        }
    }
    eprintln!("{} traces in {} environments, {n_different} differences", first.len(), runs.len());
    ensure!(n_different == 0, "traces depend on the environment");
    Ok(())
}

/// Commands that run this program again, each in an environment of its own.
fn environments() -> Vec<(&'static str, Command)> {
    let this = env::current_exe().expect("this program has a path");
    let cache = env::var_os("RADDLE_CACHE");
    let fresh = |folder: &str| {
        let mut command = Command::new(&this);
        command.current_dir(folder);
        command
    };
    let mut usual = fresh("/");
    usual.env("TERM", "xterm-256color");
    let mut large = fresh("/tmp");
    large.env("TERM", "dumb").env("COLUMNS", "40");
    for number in 0..100 {
        large.env(format!("A_VARIABLE_{number}"), "x".repeat(number * 3 + 1));
    }
    let mut empty = fresh("/usr");
    empty.env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin").env("HOME", "/");
    if let Some(cache) = cache {
        empty.env("RADDLE_CACHE", cache);
    }
    vec![("usually", usual), ("with many variables", large), ("with an empty environment", empty)]
}

fn lines_of(mut command: Command, options: &Options) -> anyhow::Result<BTreeMap<String, String>> {
    command.args(["determinism", "--one", "--seeds", &options.seeds.to_string()]);
    command.args(["--only", &options.only]).stdin(Stdio::null()).stderr(Stdio::inherit());
    let output = command.output().context("failed to run this program again")?;
    ensure!(output.status.success(), "a run in another environment failed");
    let text = String::from_utf8_lossy(&output.stdout);
    let split = |line: &str| line.split_once('\t').map(|(a, b)| (a.to_owned(), b.to_owned()));
    Ok(text.lines().filter_map(split).collect())
}

#[expect(clippy::print_stdout, reason = "what the other process reads")]
fn print_traces(options: &Options) -> anyhow::Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../programs");
    for path in soak::programs_under(&root) {
        let name = path.strip_prefix(&root).unwrap_or(&path).display().to_string();
        if !name.contains(&options.only) {
            continue;
        }
        for (key, value) in traces_of(&path, &name, options)? {
            println!("{key}\t{value}");
        }
    }
    Ok(())
}

fn traces_of(
    path: &std::path::Path,
    name: &str,
    options: &Options,
) -> anyhow::Result<Vec<(String, String)>> {
    let native = soak::build(path, CompilerChoice::Environment)
        .with_context(|| format!("failed to build {name}"))?;
    let mut session = open(&native)?;
    let mut rows = Vec::new();
    for seed in 1..=options.seeds {
        let mut plan = Plan::new(PickerSpec::Walk, seed);
        for round in 0..3 {
            let (trace, shared) = trace_of(&mut *session, &plan)?;
            let (digest, n_steps) = (trace.summary.digest, trace.summary.n_steps);
            let value = format!("{digest:016x} {n_steps} steps, {:?}", trace.end);
            rows.push((format!("{name} seed {seed} round {round}"), value));
            if options.is_verbose {
                tell(&trace);
            }
            // The first two are to be equal; the third knows what the first has learned.
            if round == 1 {
                plan.shared = shared;
                plan.shared.sort_unstable();
            }
        }
        let idx = rows.len() - 3;
        if rows[idx].1 != rows[idx + 1].1 {
            eprintln!("{}: {}, then {}", rows[idx].0, rows[idx].1, rows[idx + 1].1);
        }
    }
    Ok(rows)
}

fn open(native: &NativeOptions) -> anyhow::Result<Box<dyn Session + Send>> {
    Ok(Native::new(native.clone()).open()?)
}

fn trace_of(session: &mut dyn Session, plan: &Plan) -> anyhow::Result<(Trace, Vec<u64>)> {
    let entry = Entry { seed: plan.seed, picker: 1, ..Entry::default() };
    let (plan, entries) = (plan.clone(), vec![entry]);
    let block = Block { plan, entries, exit_is_fine: false, common: 0 };
    let result = session.run(&block)?;
    let last = result.last.context("an execution without trace")?;
    Ok((last.trace, result.shared_found))
}

fn tell(trace: &Trace) {
    for (number, object) in trace.objects.iter().enumerate() {
        eprintln!("object {number}: {object:?}");
    }
    for (number, event) in trace.events.iter().enumerate() {
        let site = trace.sites.get(event.site.0 as usize);
        let (thread, object, kind) = (event.thread.0, event.object.0, event.kind);
        eprintln!(
            "{number}: T{thread} {kind:?} object {object} value {} at {site:x?}",
            event.value
        );
    }
}
