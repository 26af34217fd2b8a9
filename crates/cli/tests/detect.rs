//! What the detectors say about every program under `programs/detect`, exactly.
//!
//! A program's first lines say what is to be found in it, by labels of its lines (`//= a`):
//!
//! - `//@ none`: nothing.
//! - `//@ race: a b`: a race of these two lines, in whatever order; and no others than those listed.
//! - `//@ race?: a b`: perhaps this one too; some orders of the program show it.
//! - `//@ deadlock: a b c d`: a deadlock of locks that are taken and waited for at these lines, and no other.
//! - `//@ potential race: a b`: it is told that there could be one.
//! - `//@ atomicity: a b c`: a warning that the first and the last were perhaps meant to be one.
//! - `//@ races among: a b c`: at least one race, and both lines of each are among these.
//! - `//@ fails: misuse`: executions may also fail in this way.
//! - `//@ library: …`: races may have a side in a library's header, for this reason.
//! - `//@ tsan: differs: …`: ThreadSanitizer's own runtime says something else, for this reason.
//!
//! A program's folder says which detector looks at it. Those of `deadlock` and `lockset` are given so few
//! executions that only prediction finds anything: what is expected there is what was confirmed.
//!
//! And of each program under `programs/fail` they name, all together, the lines that it says are to blame, if it does not
//! say why that can't be expected (`//@ undetected:`).
//!
//! Every finding is also run again, from its plan, in a new process. And the same programs run under gcc's
//! ThreadSanitizer, with threads of the kernel's: it must agree about whether there is a race, or the
//! program says why not.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    process::{Command, ExitCode},
    sync::atomic::AtomicBool,
    time::Duration,
};

use libtest_mimic::{Arguments, Failed, Trial};
use raddle_explore::{
    Campaign, Found, Method, Options, Outcome, Sameness, Target, Verdict, replay,
};
use raddle_launch::{
    CompileRequest, CompilerChoice, Native, NativeOptions, Symbols, Toolchain, compile,
};
use raddle_model::{Access, Certainty, Detect, Finding, Kind};
use raddle_plan::Arm;
use raddle_report::finding::named;

/// The seed of every campaign here.
const SEED: u64 = 1;
/// Executions of a campaign, if the program does not say.
const EXECUTIONS: u64 = 100;
/// Executions of a program that fails.
const FAILING_EXECUTIONS: u64 = 100;
/// How often a program runs under ThreadSanitizer, whose threads do as they like.
const TSAN_RUNS: u32 = 10;

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let mut compilers = vec![("gcc", CompilerChoice::Environment)];
    if !raddle_tidy::lacks("clang", "programs compiled by it") {
        compilers.push(("clang", CompilerChoice::Clang));
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs/detect");
    let mut trials = Vec::new();
    for path in programs_under(&root) {
        let name = path.strip_prefix(&root).unwrap_or(&path).display().to_string();
        for (compiler, choice) in &compilers {
            let (path, choice) = (path.clone(), choice.clone());
            trials.push(Trial::test(format!("{name} ({compiler})"), move || check(&path, choice)));
        }
        if name.starts_with("race/") {
            trials.push(Trial::test(format!("{name} (tsan)"), move || agrees_with_tsan(&path)));
        }
    }
    let failing = root.join("../fail");
    // What fails under weak memory only has no failing schedule here, and no ordering that is to blame.
    let is_asked = |it: &PathBuf| {
        let says = |text: &str, key: &str| text.lines().any(|it| it.starts_with(key));
        let text = fs::read_to_string(it);
        text.is_ok_and(|it| !says(&it, "//@ memory-model:") && !says(&it, "//@ undetected:"))
    };
    for path in programs_under(&failing).into_iter().filter(is_asked) {
        let name = path.strip_prefix(&failing).unwrap_or(&path).display().to_string();
        trials.push(Trial::test(format!("fail/{name} (cause)"), move || names_cause(&path)));
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// All detectors together name the lines that a program of `programs/fail` says are to blame.
fn names_cause(path: &Path) -> Result<(), Failed> {
    let source = fs::read_to_string(path)?;
    let value = |key: &str| source.lines().find_map(|it| it.strip_prefix(key)).unwrap_or_default();
    let words = |key| value(key).split_whitespace().map(Into::into).collect();
    let toolchain = Toolchain::open(CompilerChoice::Environment)?;
    let request = CompileRequest { inputs: vec![path.to_owned()], flags: words("//@ flags:") };
    let program = compile(&toolchain, &request)?.program;
    let mut options = NativeOptions::of(&toolchain.cache, program, words("//@ args:"))?;
    options.hang_timeout = Duration::from_secs(5);
    // Most are named soon, and some failures are hardly ever met by a random walk.
    let (few, many) = (FAILING_EXECUTIONS, FAILING_EXECUTIONS * 4);
    let walk = Options::default().method;
    let mut missing = unnamed(&options, &source, few, walk.clone())?;
    for method in [walk, Method::Portfolio(Arm::standard(many))] {
        if missing.is_some() {
            missing = unnamed(&options, &source, many, method)?;
        }
    }
    match missing {
        Some(missing) => Err(format!("no detector names {missing:?}").into()),
        None => Ok(()),
    }
}

/// What is to blame and is not named; `None` if all is.
fn unnamed<'s>(
    options: &NativeOptions,
    source: &'s str,
    n_executions: u64,
    method: Method,
) -> Result<Option<Vec<&'s str>>, Failed> {
    let expected = Expected { n_executions, ..Expected::default() };
    let all = Detect { races: true, deadlocks: true, locksets: true, atomicity: true };
    let outcome = explore(options, &expected, all, method)?;
    let found = outcome.findings.iter().map(|it| &it.finding).chain(&outcome.baseline_failure);
    let causes: Vec<&Finding> = found.filter(|it| named::is_cause(it.kind)).collect();
    let missing = named::missing_causes(&causes, source);
    Ok((causes.is_empty() || !missing.is_empty()).then_some(missing))
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

/// Two lines, the smaller first.
type Pair = (u32, u32);

/// What a program says of itself.
#[derive(Default)]
struct Expected {
    races: BTreeSet<Pair>,
    perhaps: BTreeSet<Pair>,
    potential: BTreeSet<Pair>,
    among: Option<BTreeSet<u32>>,
    deadlock: Option<BTreeSet<u32>>,
    atomicity: Option<Vec<u32>>,
    fails: Vec<String>,
    in_library: bool,
    tsan_differs: bool,
    n_executions: u64,
    flags: Vec<String>,
}

impl Expected {
    fn read(path: &Path) -> Result<Expected, Failed> {
        let text = fs::read_to_string(path)?;
        let labels: BTreeMap<&str, u32> = text
            .lines()
            .zip(1..)
            .filter_map(|(line, number)| Some((line.split("//=").nth(1)?.trim(), number)))
            .collect();
        let line = |label: &str| {
            labels.get(label).copied().ok_or_else(|| format!("no line has the label {label}"))
        };
        let mut expected = Expected { n_executions: EXECUTIONS, ..Expected::default() };
        let mut says_something = false;
        for directive in text.lines().filter_map(|it| it.strip_prefix("//@ ")) {
            let (key, value) = directive.split_once(':').unwrap_or((directive, ""));
            let lines = || value.split_whitespace().map(line).collect::<Result<Vec<u32>, _>>();
            says_something |= matches!(
                key,
                "none" | "race" | "races among" | "deadlock" | "potential race" | "atomicity"
            );
            match key {
                "none" => {}
                "race" => _ = expected.races.insert(pair(&lines()?)),
                "potential race" => _ = expected.potential.insert(pair(&lines()?)),
                "race?" => _ = expected.perhaps.insert(pair(&lines()?)),
                "races among" => expected.among = Some(lines()?.into_iter().collect()),
                "deadlock" => expected.deadlock = Some(lines()?.into_iter().collect()),
                "atomicity" => expected.atomicity = Some(lines()?),
                "fails" => expected.fails.push(value.trim().to_owned()),
                "library" => expected.in_library = true,
                "tsan" => expected.tsan_differs = value.trim().starts_with("differs: "),
                "execs" => expected.n_executions = value.trim().parse()?,
                "flags" => {
                    expected.flags = value.split_whitespace().map(str::to_owned).collect();
                }
                other => return Err(format!("`{other}` is no directive").into()),
            }
        }
        if says_something { Ok(expected) } else { Err("the program expects nothing".into()) }
    }

    fn is_racy(&self) -> bool {
        !self.races.is_empty() || self.among.is_some()
    }
}

fn pair(lines: &[u32]) -> Pair {
    (lines[0].min(lines[1]), lines[0].max(lines[1]))
}

fn check(path: &Path, choice: CompilerChoice) -> Result<(), Failed> {
    let expected = Expected::read(path)?;
    let toolchain = Toolchain::open(choice)?;
    let request = CompileRequest {
        inputs: vec![path.to_owned()],
        flags: expected.flags.iter().map(Into::into).collect(),
    };
    let program = compile(&toolchain, &request)?.program;
    let mut options = NativeOptions::of(&toolchain.cache, program, Vec::new())?;
    options.hang_timeout = Duration::from_secs(5);
    let outcome = explore(&options, &expected, detect(path)?, Options::default().method)?;
    let mut found = BTreeSet::new();
    let mut potential = BTreeSet::new();
    let (mut deadlock, mut atomicity) = (None, None);
    for it in &outcome.findings {
        if expected.fails.iter().any(|word| word == it.finding.kind.word()) {
            continue;
        }
        comes_back(&options, it)?;
        if it.finding.kind == Kind::Deadlock && expected.deadlock.is_some() {
            deadlock = Some(it.finding.sites.iter().map(|it| it.line).collect());
            continue;
        }
        if it.finding.kind == Kind::Atomicity && expected.atomicity.is_some() {
            atomicity = Some(it.finding.sites.iter().map(|it| it.line).collect());
            continue;
        }
        let is_shown = it.finding.certainty == Certainty::Shown;
        let all = if is_shown { &mut found } else { &mut potential };
        all.extend(race_of(&it.finding, path, &expected)?);
    }
    if potential != expected.potential {
        return Err(format!("potential races of {potential:?}").into());
    }
    if atomicity != expected.atomicity {
        let wanted = &expected.atomicity;
        return Err(format!("expected a violation at {wanted:?}, found {atomicity:?}").into());
    }
    if deadlock != expected.deadlock {
        let wanted = &expected.deadlock;
        return Err(format!("expected a deadlock of {wanted:?}, found {deadlock:?}").into());
    }
    compare(&expected, &found, &outcome)
}

/// What is looked for in the programs of a folder.
fn detect(path: &Path) -> Result<Detect, Failed> {
    let folder = path.parent().and_then(Path::file_name).and_then(|it| it.to_str());
    match folder {
        Some("race") => Ok(Detect { races: true, ..Detect::NONE }),
        Some("deadlock") => Ok(Detect { deadlocks: true, ..Detect::NONE }),
        Some("atomicity") => Ok(Detect { atomicity: true, ..Detect::NONE }),
        Some("lockset") => Ok(Detect { locksets: true, ..Detect::NONE }),
        other => Err(format!("no detector is called {other:?}").into()),
    }
}

fn explore(
    options: &NativeOptions,
    expected: &Expected,
    detect: Detect,
    method: Method,
) -> Result<Outcome, Failed> {
    let target = Native::new(options.clone());
    let campaign = Options {
        seed: SEED,
        executions: Some(expected.n_executions),
        keep_going: true,
        detect,
        method,
        ..Options::default()
    };
    let stop = AtomicBool::new(false);
    Ok(Campaign::new(&target, campaign).run(&mut Symbols::new(), &mut (), &stop)?)
}

/// The lines of a race, both of which must be known. `None` if one is in a library that may have it.
fn race_of(finding: &Finding, path: &Path, expected: &Expected) -> Result<Option<Pair>, Failed> {
    if finding.kind != Kind::Race {
        return Err(format!(
            "not a race: {}: {}",
            finding.kind.word(),
            raddle_report::words::fault::line(finding)
        )
        .into());
    }
    let accesses = finding.evidence.as_ref().map_or(&[][..], |it| &it.accesses);
    let is_here = |it: &Access| Path::new(&it.place.file).file_name() == path.file_name();
    if expected.in_library && !accesses.iter().all(is_here) {
        return Ok(None);
    }
    let lines: Vec<u32> = accesses.iter().map(|it| it.place.line).collect();
    let has_stacks = accesses.iter().all(|it| !it.stack.is_empty());
    if lines.len() != 2 || lines.contains(&0) || !has_stacks {
        return Err(
            format!("a side is not known: {}", raddle_report::words::fault::line(finding)).into()
        );
    }
    Ok(Some(pair(&lines)))
}

/// The race's plan shows the race again, in a new process.
fn comes_back(options: &NativeOptions, found: &Found) -> Result<(), Failed> {
    let mut session = Native::new(options.clone()).open()?;
    let same = Sameness::default();
    let verdict = replay(session.as_mut(), &found.finding, &mut Symbols::new(), false, same)?;
    match verdict {
        Verdict::Reproduced { exact: true, .. } => Ok(()),
        other => Err(format!(
            "{} did not come back: {other:?}",
            raddle_report::words::fault::line(&found.finding)
        )
        .into()),
    }
}

fn compare(expected: &Expected, found: &BTreeSet<Pair>, outcome: &Outcome) -> Result<(), Failed> {
    let told: Vec<String> =
        outcome.findings.iter().map(|it| raddle_report::words::fault::line(&it.finding)).collect();
    if let Some(among) = &expected.among {
        let is_inside = |it: &Pair| among.contains(&it.0) && among.contains(&it.1);
        if found.is_empty() || !found.iter().all(is_inside) {
            return Err(format!("expected races among {among:?}, found {told:#?}").into());
        }
        return Ok(());
    }
    let missing: Vec<&Pair> = expected.races.difference(found).collect();
    let allowed: BTreeSet<Pair> = expected.races.union(&expected.perhaps).copied().collect();
    let surplus: Vec<&Pair> = found.difference(&allowed).collect();
    if missing.is_empty() && surplus.is_empty() {
        return Ok(());
    }
    Err(format!("missing {missing:?}, not expected {surplus:?}; found {told:#?}").into())
}

/// Does gcc's ThreadSanitizer say the same about whether there is a race?
fn agrees_with_tsan(path: &Path) -> Result<(), Failed> {
    let expected = Expected::read(path)?;
    if expected.tsan_differs {
        return Ok(());
    }
    let folder = tempfile::tempdir()?;
    let program = folder.path().join("program");
    let is_cpp = path.extension().is_some_and(|it| it == "cpp");
    let built = Command::new(if is_cpp { "g++" } else { "gcc" })
        .args(["-fsanitize=thread", "-g", "-O1", "-Wno-tsan", "-pthread", "-o"])
        .arg(&program)
        .arg(path)
        .args(&expected.flags)
        .output()?;
    if !built.status.success() {
        return Err(String::from_utf8_lossy(&built.stderr).into_owned().into());
    }
    // Its shadow does not fit every layout of the address space.
    let mut racy_runs = 0;
    for _ in 0..TSAN_RUNS {
        let ran = Command::new("setarch").arg("-R").arg(&program).output()?;
        let told = String::from_utf8_lossy(&ran.stderr);
        racy_runs += u32::from(told.contains("WARNING: ThreadSanitizer: data race"));
        if racy_runs > 0 {
            break;
        }
    }
    if (racy_runs > 0) == expected.is_racy() {
        return Ok(());
    }
    Err(format!("ThreadSanitizer found races in {racy_runs} of {TSAN_RUNS} runs").into())
}
