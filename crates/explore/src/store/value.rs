//! What is stored.

use std::{
    ffi::OsString,
    fs::File,
    io::{self, Read},
    path::{Path, PathBuf},
};

use raddle_model::{
    Carrier, CurvePoint, Drawing, Explanation, Figures, Finding, Reproduced, Scope, StepsAt,
    Uncontrolled, hash_bytes, mix,
};
use serde::{Deserialize, Serialize};

use super::os;
use crate::campaign::{FoundCount, Outcome};

/// What was run, so that it can be run again.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredTarget {
    /// The executable.
    #[serde(with = "os::one")]
    pub program: PathBuf,
    /// Its arguments.
    #[serde(with = "os::many")]
    pub args: Vec<OsString>,
    /// What it was compiled from, if Raddle did it.
    #[serde(with = "os::many")]
    pub sources: Vec<PathBuf>,
    /// Flags for the compiler.
    pub cflags: Vec<String>,
    /// Were only synchronisation operations controlled, because the program is not instrumented?
    pub sync_only: bool,
    /// The directory that it ran in.
    #[serde(with = "os::one")]
    pub cwd: PathBuf,
    /// Variables of its environment, beside those of the shell.
    #[serde(default)]
    pub env: Vec<(String, String)>,
    /// What it read as standard input: one file, or none.
    #[serde(with = "os::maybe")]
    pub stdin: Option<PathBuf>,
    /// The compiler, if Raddle used one.
    pub compiler: Option<String>,
    /// The test that was run, if the program is a harness: `queue tests::two_pushers`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test: Option<String>,
    /// How cargo built it, if it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cargo: Option<CargoBuild>,
    /// What it was allowed and told.
    #[serde(default)]
    pub bounds: Bounds,
}

/// How cargo built a program, so that it can be built again.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CargoBuild {
    /// Where the command was given.
    #[serde(with = "os::one")]
    pub cwd: PathBuf,
    /// The options that say which workspace it is.
    #[serde(with = "os::many")]
    pub metadata: Vec<OsString>,
    /// The options of the build.
    #[serde(with = "os::many")]
    pub args: Vec<OsString>,
    /// Were tests built, or programs?
    pub is_test: bool,
    /// Which of what was built: `queue::stress`.
    pub id: String,
}

/// What a program is allowed, and what it is told about the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bounds {
    /// Bytes that one execution may use.
    pub memory: u64,
    /// An execution that makes no step for so long is ended.
    pub hang_timeout_ms: u64,
    /// Processors that it is told there are.
    pub n_cpus: u32,
}

impl Default for Bounds {
    fn default() -> Bounds {
        Bounds { memory: 4 << 30, hang_timeout_ms: 10_000, n_cpus: 4 }
    }
}

/// What all findings of a run have in common.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunInfo {
    /// What was run.
    pub target: StoredTarget,
    /// The executable's hash, to tell whether it was built anew since.
    pub program_hash: u64,
    /// What carried its threads.
    pub carrier: Carrier,
    /// The campaign's seed.
    pub seed: u64,
    /// Did a non-zero exit code count as a good end?
    pub exit_is_fine: bool,
    /// What this run is a part of, if a command makes several, or the user several runs that belong together: each of
    /// them says the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub invocation: Option<String>,
    /// How it was explored.
    #[serde(default)]
    pub about: About,
}

/// How a run was made, for readers: nothing depends on it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct About {
    /// The strategy, as the user wrote it.
    pub strategy: String,
    /// Workers.
    pub n_jobs: u64,
    /// The system: `Linux 6.1.0 x86_64`.
    pub system: String,
}

/// How a run ended.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RunEnd {
    /// What it came to.
    #[serde(flatten)]
    pub figures: Figures,
    /// How many buckets were found.
    pub n_findings: u64,
    /// How it grew.
    pub curve: Vec<CurvePoint>,
    /// Where steps were, most first, in so many executions.
    pub steps_at: Vec<StepsAt>,
    /// The executions that `steps_at` counts.
    pub n_looked_at: u64,
    /// What could not be controlled.
    pub uncontrolled: Vec<Uncontrolled>,
    /// Findings of this run: how often, and by which execution first.
    pub counts: Vec<FoundCount>,
    /// Is it a search that has seen everything that was asked for?
    pub is_exhaustive: bool,
    /// Which schedules a search explored.
    pub scope: Option<Scope>,
    /// What total replay's branches depend on.
    pub drawings: Vec<Drawing<String>>,
}

/// `run.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StoredRun {
    /// The version of the file's layout.
    pub version: u32,
    /// The version of the Raddle that wrote it.
    pub raddle: String,
    /// Its id, which sorts by time.
    pub run: String,
    /// When it began, in UTC: `2026-01-31T12:34:56Z`.
    pub date: String,
    /// What was run, and how.
    pub info: RunInfo,
    /// Missing while the run goes on, and after one that was killed.
    pub end: Option<RunEnd>,
}

/// A finding with all that is needed to replay it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredFinding {
    /// The version of the file's layout.
    pub version: u32,
    /// The version of the Raddle that wrote it.
    pub raddle: String,
    /// What the user calls it: `dl-02c1`.
    pub id: String,
    /// The run that found it.
    pub run: String,
    /// When it was found, in UTC: `2026-01-31T12:34:56Z`.
    pub date: String,
    /// The same in milliseconds since 1970; 0 if it is not known.
    #[serde(default)]
    pub found_ms: u64,
    /// What was run, and how.
    pub info: RunInfo,
    /// How often it came back when its plan was run again.
    pub reproduced: Reproduced,
    /// What went wrong, shown by the smallest schedule that is known.
    pub finding: Finding,
    /// The finding with the schedule that was found first, if a smaller one is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub original: Option<Box<Finding>>,
    /// Why it happens, if that was looked into.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explanation: Option<Box<Explanation>>,
    /// What the user has decided about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub review: Option<Review>,
}

/// What the user has decided about a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Review {
    /// It is a regression test now.
    Kept,
    /// It is not to be told again.
    Suppressed,
}

impl RunEnd {
    /// The end of a run with this outcome.
    pub fn of(outcome: &Outcome) -> RunEnd {
        RunEnd {
            figures: outcome.figures.clone(),
            n_findings: outcome.findings.len() as u64,
            curve: outcome.curve.clone(),
            steps_at: outcome.steps_at.iter().take(PLACES_MAX).cloned().collect(),
            n_looked_at: outcome.n_looked_at,
            uncontrolled: outcome.uncontrolled.clone(),
            counts: outcome.findings.iter().map(FoundCount::of).collect(),
            is_exhaustive: outcome.is_complete(),
            scope: outcome.search.as_ref().map(|it| it.progress.scope.clone()),
            drawings: Vec::new(),
        }
    }
}

/// Places of steps that are kept: a program with more has its hot spots among these.
const PLACES_MAX: usize = 1_000;

/// The hash of an executable's bytes, to compare with [`RunInfo::program_hash`].
pub fn hash_program(program: &Path) -> io::Result<u64> {
    let mut file = File::open(program)?;
    let mut chunk = vec![0; 1 << 16];
    let mut hash = 0;
    loop {
        let n_read = read_full(&mut file, &mut chunk)?;
        if n_read == 0 {
            return Ok(hash);
        }
        hash = mix(hash, hash_bytes(&chunk[..n_read]));
    }
}

/// Reads until the buffer is full or the file ends, so that chunks do not depend on the system's mood.
fn read_full(file: &mut File, buffer: &mut [u8]) -> io::Result<usize> {
    let mut n_full = 0;
    while n_full < buffer.len() {
        match file.read(&mut buffer[n_full..]) {
            Ok(0) => break,
            Ok(n_read) => n_full += n_read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(n_full)
}
