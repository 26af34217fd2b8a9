//! Every program under `programs/`, explored: one test for each, with each compiler that there is.
//!
//! A program says in its first lines what is to be found in it, and within how many executions. A
//! program with a bug must show that bug, of that kind, and its finding must come back, step by step,
//! in new processes on both carriers. A program without one must show nothing. Both must run the same
//! way twice.
//!
//! What users read about a finding, text and Markdown, is compared with the files under `golden/`, as gcc and
//! rustc build the programs. `UPDATE_EXPECT=1` writes those anew: look at the difference before you keep it.
//!
//! Only this file's own arguments differ from `cargo test`'s: none do; `programs.rs` is one test
//! binary whose tests are found by looking at the folder.

#[path = "programs/first_screen.rs"]
mod first_screen;

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    process::{Command, ExitCode},
    sync::{LazyLock, atomic::AtomicBool},
    time::Duration,
};

use libtest_mimic::{Arguments, Failed, Trial};
use raddle_explore::{
    Block, Budget, Campaign, Execution, Explained, Found, Method, Options, Session, Target, explain,
};
use raddle_launch::{
    CompileRequest, CompilerChoice, Native, NativeOptions, Symbols, Toolchain, compile,
    unhooked_code,
};
use raddle_model::{
    Carrier, End, Event, Finding, MemoryModel, Minimising, MinimisingEnd, PickerSpec, Place, Plan,
};
use raddle_plan::Arm;
use raddle_report::{
    Shown, Style,
    finding::{reason, text},
    formats::{self, Item},
};
use raddle_tidy::{lacks, skip, without_addresses};
use raddle_trace::{Entry, Summary, Trace};

/// The seed of every campaign here.
const SEED: u64 = 1;
/// Schedules that one process serves, or as many processes; no more than a program is explored with, if it takes long.
const N_IN_BLOCK: u64 = 24;
/// Random schedules that are run twice, and on both carriers.
const N_SCHEDULES: u64 = 6;
/// How often the plan of a finding is run again on fibers, and on kernel threads, which take longer to switch.
const N_REPLAYS: [(Carrier, u32); 2] = [(Carrier::Fibers, 3), (Carrier::Threads, 1)];

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let mut compilers = vec![("gcc", CompilerChoice::Environment)];
    if !lacks("clang", "programs compiled by it") {
        compilers.push(("clang", CompilerChoice::Clang));
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs");
    let mut trials = Vec::new();
    // Those under `detect` have a test of their own, and so have the crates under `rust`.
    let is_ours =
        |path: &PathBuf| ["detect", "rust"].iter().all(|it| !path.starts_with(root.join(it)));
    for path in programs_under(&root).into_iter().filter(is_ours) {
        let name = path.strip_prefix(&root).unwrap_or(&path).display().to_string();
        // Rust has one compiler; as to what is tested with the first one only, that counts as it.
        let is_rust = path.extension().is_some_and(|it| it == "rs");
        for (compiler, choice) in compilers.iter().take(if is_rust { 1 } else { compilers.len() }) {
            let compiler = if is_rust { "rustc" } else { compiler };
            let (path, choice) = (path.clone(), choice.clone());
            trials.push(Trial::test(format!("{name} ({compiler})"), move || check(&path, choice)));
        }
    }
    let programs = root.clone();
    trials.push(Trial::test("golden files", move || golden_files(&root)));
    trials.push(Trial::test("table of first screens", move || table(&programs)));
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// What users read is written down for enough programs, and for none that is gone.
fn golden_files(programs: &Path) -> Result<(), Failed> {
    let names: BTreeSet<String> =
        programs_under(&programs.join("fail")).iter().map(|it| golden_name(it)).collect();
    let mut n_texts = 0;
    for entry in fs::read_dir(golden_folder())? {
        let path = entry?.path();
        let stem = path.file_stem().and_then(|it| it.to_str()).unwrap_or_default();
        if !names.contains(stem) {
            return Err(format!("{}: its program is gone", path.display()).into());
        }
        n_texts += u32::from(path.extension().is_some_and(|it| it == "txt"));
    }
    if n_texts < 60 {
        return Err(format!("only {n_texts} texts are written down, not 60").into());
    }
    Ok(())
}

/// The table of `docs/explain.md` is what the texts say. Run it when they have been written anew.
fn table(programs: &Path) -> Result<(), Failed> {
    const MARKS: [&str; 2] = ["<!-- first screens -->\n", "<!-- end -->\n"];
    let table = first_screen::table(&programs.join("fail"), &golden_folder())?;
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/explain.md");
    let text = fs::read_to_string(&file)?;
    let (before, rest) = text.split_once(MARKS[0]).ok_or("no mark where the table begins")?;
    let (now, after) = rest.split_once(MARKS[1]).ok_or("no mark where the table ends")?;
    if now == table {
        return Ok(());
    }
    if std::env::var_os("UPDATE_EXPECT").is_none() {
        return Err("docs/explain.md has another table; UPDATE_EXPECT=1 writes it".into());
    }
    Ok(fs::write(file, format!("{before}{}{table}{}{after}", MARKS[0], MARKS[1]))?)
}

fn golden_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

/// `mutex_ab_ba`, for `programs/fail/mutex/ab_ba.c`.
fn golden_name(program: &Path) -> String {
    let text = |part: Option<&std::ffi::OsStr>| part.unwrap_or_default().display().to_string();
    let folder = program.parent().and_then(Path::file_name);
    format!("{}_{}", text(folder), text(program.file_stem()))
}

fn programs_under(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let Ok(entries) = fs::read_dir(folder) else { return found };
    for entry in entries.flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(programs_under(&path));
        } else if path.extension().is_some_and(|it| it == "c" || it == "cpp" || it == "rs") {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// The first lines of a program.
struct Directives {
    expect: String,
    n_executions: u64,
    flags: Vec<String>,
    args: Vec<String>,
    /// Parts of the lines that must not come in the order that fails.
    cause: Vec<String>,
    /// Has it a cause that the report need not name?
    is_unnamed: bool,
    /// Words of the sentence that its report opens with.
    says: Vec<String>,
    /// The kind of a failure that takes a long delay, which is reported as a timing assumption.
    timing: Option<String>,
    /// Code of it that has no hooks, as claims name it.
    unhooked: Vec<String>,
    /// What atomic loads may read.
    memory_model: MemoryModel,
    /// Is what users read compared with what it was?
    is_golden: bool,
}

impl Directives {
    fn read(path: &Path) -> Result<Directives, Failed> {
        let text = fs::read_to_string(path)?;
        let value = |key: &str| {
            let start = format!("//@ {key}:");
            text.lines().find_map(|line| line.strip_prefix(&start)).map(|it| it.trim().to_owned())
        };
        let parts = |key| {
            value(key)
                .map_or(Vec::new(), |it| it.split(" | ").map(|it| it.trim().to_owned()).collect())
        };
        let words =
            |key| value(key).unwrap_or_default().split_whitespace().map(str::to_owned).collect();
        Ok(Directives {
            expect: value("expect").ok_or("no `//@ expect:` line")?,
            n_executions: value("execs").ok_or("no `//@ execs:` line")?.parse()?,
            flags: words("flags"),
            args: words("args"),
            says: words("says"),
            timing: value("timing"),
            unhooked: parts("unhooked"),
            memory_model: match value("memory-model").as_deref() {
                None => MemoryModel::Sc,
                Some("tso") => MemoryModel::Tso,
                Some("c11") => MemoryModel::C11,
                Some(other) => return Err(format!("no memory model: {other}").into()),
            },
            is_golden: false,
            cause: parts("cause"),
            is_unnamed: value("unnamed").is_some(),
        })
    }
}

impl Directives {
    /// One walk under the program's memory model.
    fn plan(&self) -> Plan {
        let mut plan = Plan::new(PickerSpec::Walk, 0);
        plan.conditions.memory_model = self.memory_model;
        plan
    }
}

fn check(path: &Path, choice: CompilerChoice) -> Result<(), Failed> {
    let mut directives = Directives::read(path)?;
    // Why it fails is looked for once: another compiler gives the same program other steps.
    let is_gcc = matches!(choice, CompilerChoice::Environment);
    if !is_gcc {
        directives.cause.clear();
        directives.says.clear();
        directives.is_unnamed = false;
    }
    // What a C++ or Rust program says depends on libraries, too: it is compared where it is written down.
    let is_c = path.extension().is_some_and(|it| it == "c");
    let is_written = || golden_folder().join(format!("{}.txt", golden_name(path))).exists();
    directives.is_golden = is_gcc && (is_c || is_written());
    let toolchain = Toolchain::open(choice)?;
    let request = CompileRequest {
        inputs: vec![path.to_owned()],
        flags: directives.flags.iter().map(Into::into).collect(),
    };
    let program = compile(&toolchain, &request)?.program;
    let unhooked = unhooked_code(&program);
    if unhooked != directives.unhooked {
        return Err(format!("code without hooks: {unhooked:?}").into());
    }
    let args = directives.args.iter().map(Into::into).collect();
    let mut options = NativeOptions::of(&toolchain.cache, program, args)?;
    options.hang_timeout = Duration::from_secs(5);
    if directives.expect == "pass" && !is_gcc {
        directives.n_executions = directives.n_executions.div_ceil(4);
    }
    let shared = runs_the_same_twice(&options, &directives)?;
    // That is the runtime's doing, whoever compiled the program.
    if is_gcc {
        rewinds_as_it_forks(&options, &directives, shared)?;
    }
    explores_as_expected(&options, path, &directives)
}

/// Runs some schedules twice on fibers and once on kernel threads. The names found to be shared.
fn runs_the_same_twice(
    options: &NativeOptions,
    directives: &Directives,
) -> Result<Vec<u64>, Failed> {
    let mut fibers = open(options, Carrier::Fibers)?;
    let mut threads = open(options, Carrier::Threads)?;
    let mut plan = directives.plan();
    for seed in 0..N_SCHEDULES.min(directives.n_executions) {
        plan.seed = seed;
        let (first, shared) = run(&mut *fibers, &plan)?;
        let (again, _) = run(&mut *fibers, &plan)?;
        let (other, _) = run(&mut *threads, &plan)?;
        same_trace(&first.trace, &again.trace, "a second time")?;
        if first.trace.end != Some(End::Hang) {
            same_trace(&first.trace, &other.trace, "on kernel threads")?;
        }
        plan.shared.extend(shared);
        plan.shared.sort_unstable();
        plan.shared.dedup();
    }
    Ok(plan.shared)
}

/// A process that serves many executions makes the same of each as a process of its own would.
fn rewinds_as_it_forks(
    options: &NativeOptions,
    directives: &Directives,
    shared: Vec<u64>,
) -> Result<(), Failed> {
    let plan = Plan { shared, ..directives.plan() };
    let entry = |seed| Entry::new(PickerSpec::Walk, seed);
    let entries = (0..N_IN_BLOCK.min(directives.n_executions)).map(entry).collect();
    let block = Block { plan, entries, exit_is_fine: false, common: 0 };
    let mut fresh = Native::new(NativeOptions { is_fresh: true, ..options.clone() }).open()?;
    let mut rewound = Native::new(options.clone()).open()?;
    let expected = fresh.run(&block)?.summaries;
    if expected.last().is_some_and(|it| it.end_kind == u32::from(End::Hang.to_numbers().0)) {
        return Ok(());
    }
    // At first it must learn which pages to put back.
    for _ in 0..2 {
        let summaries = rewound.run(&block)?.summaries;
        // How often a process outside had to be waited for is nobody's to decide.
        let look = |it: &Summary| Summary { n_uncontrolled: 0, ..*it };
        let differs = |idx: &usize| summaries.get(*idx).map(look) != expected.get(*idx).map(look);
        if let Some(idx) = (0..summaries.len().max(expected.len())).find(differs) {
            let (one, other) = (summaries.get(idx), expected.get(idx));
            return Err(format!("execution {idx} differs:\n  {one:?}\n  {other:?}").into());
        }
    }
    Ok(())
}

fn open(options: &NativeOptions, carrier: Carrier) -> Result<Box<dyn Session + Send>, Failed> {
    Ok(Native::new(NativeOptions { carrier, ..options.clone() }).open()?)
}

fn run(session: &mut dyn Session, plan: &Plan) -> Result<(Execution, Vec<u64>), Failed> {
    let entry = Entry::new(plan.picker, plan.seed);
    let block = Block { plan: plan.clone(), entries: vec![entry], exit_is_fine: false, common: 0 };
    let result = session.run(&block)?;
    Ok((result.last.ok_or("an execution without trace")?, result.shared_found))
}

/// Are two traces equal, step by step, and do they end the same way?
fn same_trace(one: &Trace, other: &Trace, when: &str) -> Result<(), Failed> {
    let steps = |trace: &Trace| trace.events.iter().map(|it| step(trace, it)).collect::<Vec<_>>();
    let (ones, others) = (steps(one), steps(other));
    if let Some(idx) =
        (0..ones.len().max(others.len())).find(|idx| ones.get(*idx) != others.get(*idx))
    {
        let (one, other) = (ones.get(idx), others.get(idx));
        return Err(format!("step {idx} differs {when}:\n  {one:?}\n  {other:?}").into());
    }
    if one.end != other.end || one.summary.digest != other.summary.digest {
        let first = one.sites.iter().zip(&other.sites).position(|(one, other)| one != other);
        let sites = first.map(|it| (it, one.sites[it], other.sites[it]));
        let ends = (one.end, other.end);
        return Err(format!("the end differs {when}: {ends:?}, or a site: {sites:?}").into());
    }
    Ok(())
}

/// What must be equal in a step: everything but the numbers of sites.
fn step(trace: &Trace, event: &Event) -> (Event, Option<raddle_trace::Site>) {
    let site = trace.sites.get(event.site.0 as usize).copied();
    (Event { site: Default::default(), value: 0, ..*event }, site)
}

fn explores_as_expected(
    options: &NativeOptions,
    path: &Path,
    directives: &Directives,
) -> Result<(), Failed> {
    let target = Native::new(options.clone());
    let campaign_options = Options {
        seed: SEED,
        executions: Some(directives.n_executions),
        until_first: true,
        method: Method::Portfolio(Arm::standard(directives.n_executions)),
        time: None,
        jobs: 1,
        conditions: directives.plan().conditions,
        ..Options::default()
    };
    let outcome = Campaign::new(&target, campaign_options).run(
        &mut Symbols::new(),
        &mut (),
        &AtomicBool::new(false),
    )?;
    if let Some(finding) = &outcome.baseline_failure {
        return Err(format!(
            "baseline failure: {}: {}",
            finding.kind.word(),
            raddle_report::words::fault::line(finding)
        )
        .into());
    }
    let has_timing = |kind: &&str| {
        let mut timing = outcome.findings.iter().filter(|it| it.finding.is_timing());
        timing.any(|it| it.finding.kind.word() == *kind)
    };
    if let Some(missing) = directives.timing.as_deref().filter(|it| !has_timing(it)) {
        return Err(format!("no {missing} that is a timing assumption").into());
    }
    let is_known = |it: &&Found| it.finding.is_timing() && directives.timing.is_some();
    match (outcome.findings.iter().find(|it| !is_known(it)), directives.expect.as_str()) {
        (None, "pass") => Ok(()),
        (None, expected) => {
            Err(format!("no {expected} in {} executions", outcome.figures.executions).into())
        }
        (Some(found), expected) if found.finding.kind.word() == expected => {
            comes_back(options, &found.finding)?;
            grows_small(options, &found.finding, path, directives)
        }
        (Some(found), expected) => Err(format!(
            "expected {expected}, found {} at execution {}: {}\n{}",
            found.finding.kind.word(),
            found.first,
            raddle_report::words::fault::line(&found.finding),
            found.finding.output
        )
        .into()),
    }
}

/// The finding's plan gives the same trace again, in new processes, on both carriers.
fn comes_back(options: &NativeOptions, finding: &Finding) -> Result<(), Failed> {
    for (carrier, n_replays) in N_REPLAYS {
        let mut session = open(options, carrier)?;
        for _ in 0..n_replays {
            let (execution, _) = run(&mut *session, &finding.plan)?;
            if execution.trace.summary.digest != finding.trace_digest {
                let digest = execution.trace.summary.digest;
                return Err(format!(
                    "replay on {carrier:?}: another trace ({digest:x}, not {:x}; ended {:?})",
                    finding.trace_digest, execution.trace.end
                )
                .into());
            }
        }
    }
    Ok(())
}

/// Its smallest schedule shows the same finding with no more preemptions, on both carriers.
fn grows_small(
    options: &NativeOptions,
    finding: &Finding,
    path: &Path,
    directives: &Directives,
) -> Result<(), Failed> {
    let mut session = open(options, Carrier::Fibers)?;
    let mut symbols = Symbols::new();
    // No clock: what comes out must not depend on how busy the machine is.
    // Where nobody says what the reason should be, none is looked for.
    let is_asked = !directives.cause.is_empty() || directives.is_unnamed;
    let n_reason = if is_asked { Budget::default().n_reason } else { 0 };
    let budget = Budget { time: Duration::MAX, n_reason, ..Budget::default() };
    let explained = explain(&mut *session, &mut symbols, finding, false, budget)?;
    let Minimising { before, after, ending, .. } = explained.explanation.minimising;
    if ending == MinimisingEnd::NotReproduced {
        return Err("its own schedule does not show it when it is made small".into());
    }
    if before.n_preemptions < after.n_preemptions || explained.finding.bucket != finding.bucket {
        return Err(format!("{before:?} became {after:?}").into());
    }
    let mut sources = |place: &Place| symbols.source_line(place);
    first_screen::check(&explained, path, directives, &mut sources)?;
    if directives.is_golden {
        looks_as_before(&explained, path, &mut symbols)?;
    }
    comes_back(options, &explained.finding)
}

/// Text and Markdown of a finding are what they were.
fn looks_as_before(
    explained: &Explained,
    path: &Path,
    symbols: &mut Symbols,
) -> Result<(), Failed> {
    let Explained { finding, explanation, .. } = explained;
    let file = path.file_name().and_then(|it| it.to_str()).unwrap_or_default();
    let (folder, name) = (golden_folder(), golden_name(path));
    let base = path.parent().and_then(Path::to_str).unwrap_or_default();
    let id = format!("{}-0000", finding.kind.prefix());
    let explanation = Some(explanation);
    let (seed, test) = (Some(SEED), None);
    let shown = Shown { finding, id: &id, seed, reproduced: None, base, explanation, test };
    let style = Style::default();
    let sentences = explanation.map(|it| reason::sentences(finding, it, &style));
    let item = Item { shown, program: file, reason: sentences.unwrap_or_default() };
    let mut sources = |place: &Place| symbols.source_line(place);
    let text = text::finding(&shown, &style, &mut sources);
    let markdown = formats::markdown(&item, &mut sources);
    let here = format!("{base}/");
    is_as_before(&folder.join(format!("{name}.txt")), &text.replace(&here, ""))?;
    // The same is said in both: some are enough.
    if name.starts_with("papers_") {
        let markdown = markdown.replace(&here, "");
        is_as_before(&folder.join(format!("{name}.md")), &markdown)?;
    }
    Ok(())
}

fn is_as_before(file: &Path, text: &str) -> Result<(), Failed> {
    let text = without_main(&without_addresses(text));
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        fs::create_dir_all(file.parent().unwrap_or(file))?;
        return Ok(fs::write(file, text)?);
    }
    // Other compilers make other steps.
    if !is_gcc_12() {
        skip("gcc is not version 12; not tested: texts as they were written down with it");
        return Ok(());
    }
    let before = fs::read_to_string(file)
        .map_err(|error| format!("{}: {error}; UPDATE_EXPECT=1 writes it", file.display()))?;
    match before.lines().zip(text.lines()).position(|(before, now)| before != now) {
        None if before.lines().count() == text.lines().count() => Ok(()),
        idx => {
            Err(format!("{}, line {}: now it is\n{text}", file.display(), idx.unwrap_or(0) + 1)
                .into())
        }
    }
}

/// A panic of Rust's main thread prints the process's number, which the system gives.
fn without_main(text: &str) -> String {
    const MAIN: &str = "thread 'main' (";
    let mut parts = text.split(MAIN);
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |out, it| out + MAIN + it.trim_start_matches(|it: char| it.is_ascii_digit()))
}

/// Is gcc the one that the texts were written down with?
fn is_gcc_12() -> bool {
    static IS: LazyLock<bool> = LazyLock::new(|| {
        let output = Command::new("gcc").arg("-dumpversion").output();
        output.is_ok_and(|it| it.stdout.trim_ascii() == b"12")
    });
    *IS
}
