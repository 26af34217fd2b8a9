//! What the detectors say of our own programs: nothing of those under `programs/pass`, and of each under
//! `programs/fail` not only how it ends but why.
//!
//! How an execution ends is a symptom where that is an assertion, a crash, an exit code, an exception. It is the
//! cause itself where it is a deadlock (a cycle, or a wait that nobody will end, which says who should have), a
//! livelock, or the misuse of a lock or of memory. Races and violations of atomicity are causes. Of a program that
//! says which lines are to blame (`//@ cause: text | text`), those findings together must name all of them.

use std::{
    collections::BTreeSet,
    fs,
    path::Path,
    sync::atomic::AtomicBool,
    time::{Duration, Instant},
};

use anyhow::{Context, ensure};
use raddle_explore::{Campaign, Found, Options as CampaignOptions, Outcome, TargetError};
use raddle_launch::{CompilerChoice, Native, Symbols};
use raddle_model::{Certainty, Detect, Finding};
use raddle_report::{finding::named, words::fault};

use crate::soak::{build, programs_under};

/// What to run.
#[derive(Debug)]
pub(crate) struct Options {
    /// Executions of each program.
    pub(crate) executions: u64,
    /// A campaign ends after this time, however few executions it has had.
    pub(crate) time: Duration,
    /// Only programs whose path contains this.
    pub(crate) only: String,
}

/// Looks at all programs, and fails if one of them is not as it should be.
pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../programs");
    let start = Instant::now();
    let (mut n_executions, mut n_all, mut bad) = (0, 0, Vec::new());
    for folder in ["pass", "fail"] {
        for path in programs_under(&root.join(folder)) {
            let name = path.strip_prefix(&root).unwrap_or(&path).display().to_string();
            if !name.contains(&options.only) {
                continue;
            }
            let outcome =
                explore(&path, options).with_context(|| format!("failed to explore {name}"))?;
            let (is_good, told) = match folder {
                "pass" => silence(&outcome),
                _ => causes(&outcome, &fs::read_to_string(&path)?),
            };
            n_all += 1;
            n_executions += outcome.figures.executions;
            let mark = if is_good { "ok " } else { "BAD" };
            eprintln!("{mark} {name:44} {:>6} executions  {told}", outcome.figures.executions);
            if !is_good {
                bad.push(name);
            }
        }
    }
    let elapsed = start.elapsed().as_secs();
    eprintln!("{n_all} programs, {n_executions} executions in {elapsed} s");
    ensure!(bad.is_empty(), "{} of {n_all} are not as they should be: {bad:?}", bad.len());
    Ok(())
}

fn explore(path: &Path, options: &Options) -> anyhow::Result<Outcome> {
    let native = build(path, CompilerChoice::Environment)?;
    let campaign = CampaignOptions {
        seed: 1,
        executions: Some(options.executions),
        time: Some(options.time),
        jobs: std::thread::available_parallelism().map_or(1, usize::from),
        keep_going: true,
        confirmations: 0,
        detect: Detect { races: true, locksets: true, deadlocks: true, atomicity: true },
        ..CampaignOptions::default()
    };
    let outcome: Result<Outcome, TargetError> = Campaign::new(&Native::new(native), campaign).run(
        &mut Symbols::new(),
        &mut (),
        &AtomicBool::new(false),
    );
    Ok(outcome?)
}

/// Nothing may be said of a correct program.
fn silence(outcome: &Outcome) -> (bool, String) {
    let all: Vec<String> = outcome.findings.iter().map(told).collect();
    (all.is_empty(), all.join("; "))
}

/// The cause of a failure must be named, if the program does not say why it is not.
fn causes(outcome: &Outcome, source: &str) -> (bool, String) {
    let kinds: BTreeSet<String> = outcome.findings.iter().map(word).collect();
    let mut told = kinds.into_iter().collect::<Vec<_>>().join(", ");
    let all = outcome.findings.iter().map(|it| &it.finding).chain(&outcome.baseline_failure);
    let causes: Vec<&Finding> = all.filter(|it| named::is_cause(it.kind)).collect();
    let missing = named::missing_causes(&causes, source);
    if !missing.is_empty() {
        told.push_str(&format!("; not named: {}", missing.join(" | ")));
        for cause in &causes {
            told.push_str(&format!("\n      but {}", fault::line(cause)));
        }
    }
    let is_undetected = source.lines().any(|it| it.starts_with("//@ undetected:"));
    (is_undetected || !causes.is_empty() && missing.is_empty(), told)
}

fn word(found: &Found) -> String {
    let is_shown = found.finding.certainty == Certainty::Shown;
    format!("{}{}", if is_shown { "" } else { "potential " }, found.finding.kind.word())
}

fn told(found: &Found) -> String {
    format!("{}: {}", word(found), fault::line(&found.finding))
}
