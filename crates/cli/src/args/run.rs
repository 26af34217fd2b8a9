//! The options of `raddle run`.

use std::{ffi::OsString, path::PathBuf, time::Duration};

use clap::{Args, ValueEnum};
use raddle_explore::suppress::Suppressions;
use raddle_plan::{FORMS, Strategy};

use super::{
    Common, ConditionArgs, DetectArg,
    around::{Around, around},
    n_jobs,
    report::{AtEnd, at_end},
};
use crate::{
    ci::Baseline,
    named::Project,
    project,
    values::{self, Budget},
};

/// Executions of a campaign when nothing is said.
const DEFAULT_EXECUTIONS: u64 = 20_000;
/// Seconds of a campaign when nothing is said.
const DEFAULT_SECONDS: u64 = 60;

/// `raddle run`.
#[derive(Clone, Debug, Args)]
#[command(override_usage = "raddle run [OPTIONS] SOURCE... [-- ARGS...]\n       \
                            raddle run [OPTIONS] -- PROGRAM [ARGS...]")]
pub(crate) struct RunArgs {
    /// C or C++ sources (and objects or libraries to link), one Rust source, or one program
    #[arg(value_name = "SOURCE")]
    pub(crate) sources: Vec<PathBuf>,
    /// Arguments passed to the program; without sources, the first one is the program
    #[arg(last = true, value_name = "ARGS")]
    pub(crate) args: Vec<OsString>,

    /// Stop after N executions [default: 20000 executions or 60 s]
    #[arg(long, value_name = "N", value_parser = values::count, help_heading = "Budget")]
    pub(crate) execs: Option<u64>,
    /// Stop after this time: 500ms, 10s, 2m, 1h
    #[arg(long, value_name = "TIME", value_parser = values::duration, help_heading = "Budget")]
    pub(crate) time: Option<Duration>,
    /// The budget if neither --execs nor --time is given
    #[arg(long, env = "RADDLE_BUDGET", hide = true, value_parser = values::budget)]
    #[arg(value_name = "RADDLE_BUDGET")]
    pub(crate) budget: Option<Budget>,
    /// Stop when the estimated chance that one more execution covers a new pair of code locations falls below this value
    #[arg(long, value_name = "CHANCE", num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "0.001", value_parser = values::chance, help_heading = "Budget")]
    pub(crate) until_saturated: Option<f64>,
    /// Continue after the first finding
    #[arg(short, long, help_heading = "Budget")]
    pub(crate) keep_going: bool,
    /// Stop at the first finding even if it may not depend on the schedule
    #[arg(long, conflicts_with = "keep_going", help_heading = "Budget")]
    pub(crate) until_first: bool,
    /// Number of worker processes [default: one per core]
    #[arg(short, long, value_name = "N", value_parser = values::count, help_heading = "Budget")]
    #[arg(env = "RADDLE_JOBS", hide_env = true)]
    pub(crate) jobs: Option<u64>,

    /// Random seed [default: 0]
    #[arg(long, value_parser = values::seed, help_heading = "Schedule")]
    #[arg(env = "RADDLE_SEED", hide_env = true)]
    pub(crate) seed: Option<u64>,
    /// Strategy that chooses the schedules
    #[arg(long, visible_alias = "picker", default_value = "portfolio", help_heading = "Schedule")]
    #[arg(value_name = "STRATEGY", value_parser = values::strategy, long_help = strategies())]
    #[arg(env = "RADDLE_STRATEGY", hide_env = true)]
    pub(crate) strategy: Strategy,
    /// First try orderings near these places: FILE:LINE, FILE:LINE-LINE or the id of a finding, separated by commas
    #[arg(long, value_name = "PLACES", value_delimiter = ',', value_parser = around)]
    #[arg(help_heading = "Schedule")]
    pub(crate) around: Vec<Around>,
    /// First try orderings near lines that changed since this git revision
    #[arg(long, value_name = "REV", help_heading = "Schedule")]
    pub(crate) since: Option<String>,
    /// File that keeps which variables are scheduling points: read at the start if it exists and written at the end,
    /// so that the next run does not have to learn them again
    #[arg(long, value_name = "FILE", help_heading = "Schedule")]
    pub(crate) classes: Option<PathBuf>,
    /// Number of random executions before a systematic search, to learn which variables are shared [default: 8]
    #[arg(long, value_name = "N", value_parser = values::count_or_none, help_heading = "Search")]
    pub(crate) learn: Option<u64>,
    /// Memory limit for checkpoints: copies of running executions from which a search starts others; or `off`
    #[arg(long, value_name = "SIZE", value_parser = values::size_or_off, help_heading = "Search")]
    #[arg(default_value = "256M")]
    pub(crate) checkpoints: u64,
    /// File that keeps what `hapset` searches have covered: read at the start if it exists, written at the end
    #[arg(long, value_name = "FILE", help_heading = "Search", conflicts_with = "resume")]
    pub(crate) hapset: Option<PathBuf>,
    /// Write the dependency graph of branches as a Graphviz file (--strategy total only)
    #[arg(long, value_name = "FILE", help_heading = "Search")]
    pub(crate) dot: Option<PathBuf>,
    /// Resume the systematic search of a run [default: the last one]. The program, the strategy and the options
    /// that affect schedules are those of that run
    #[arg(long, value_name = "RUN", num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "latest", help_heading = "Search")]
    #[arg(conflicts_with_all = ["sources", "args", "cflags", "compiler", "stdin", "sync_only", "around", "since"])]
    pub(crate) resume: Option<String>,

    /// Additional detectors, separated by commas
    #[arg(long, value_enum, value_delimiter = ',', value_name = "LIST", default_value = "race")]
    #[arg(env = "RADDLE_DETECT", hide_env = true, help_heading = "Analysis")]
    pub(crate) detect: Vec<DetectArg>,
    /// Suppression file in TSan's format: matching findings are not reported
    #[arg(long, value_name = "FILE", help_heading = "Analysis")]
    pub(crate) suppressions: Vec<PathBuf>,

    /// Configuration file [default: raddle.toml or .config/raddle.toml in this directory or a parent]
    #[arg(long, value_name = "FILE", help_heading = "Configuration")]
    pub(crate) config: Option<PathBuf>,
    /// Profile of the configuration file [default: default]
    #[arg(long, value_name = "NAME", help_heading = "Configuration")]
    #[arg(env = "RADDLE_PROFILE", hide_env = true)]
    pub(crate) profile: Option<String>,
    /// Suppressions of the configuration
    #[arg(skip)]
    pub(crate) rules: Suppressions,
    /// What the command line itself says, neither the environment nor the configuration: names of arguments
    #[arg(skip)]
    pub(crate) said: Vec<String>,
    /// Directory of regression tests (`raddle review --keep`); those of the program are replayed first
    #[arg(long, value_name = "DIR", default_value_os_t = project::regressions())]
    #[arg(help_heading = "Configuration")]
    pub(crate) regressions: PathBuf,

    /// File of known findings, one id per line: they are not reported and do not count; implies --keep-going
    #[arg(long, value_name = "FILE", help_heading = "Analysis", conflicts_with = "until_first")]
    pub(crate) baseline: Option<PathBuf>,
    /// Write the ids of all findings to this file, for --baseline
    #[arg(long, value_name = "FILE", help_heading = "Analysis")]
    pub(crate) write_baseline: Option<PathBuf>,
    /// What is in the file of `--baseline`
    #[arg(skip)]
    pub(crate) known: Baseline,
    /// What `raddle.toml` says is explored when nothing is named
    #[arg(skip)]
    pub(crate) project: Option<Project>,
    /// Do not minimise schedules and do not explain findings
    #[arg(long, help_heading = "Analysis")]
    pub(crate) no_explain: bool,

    /// Write a report at the end: github, gitlab, junit, sarif, md or html; to FILE, or to standard output (github) or a
    /// file named after the format. May be repeated
    #[arg(long, value_name = "FORMAT[=FILE]", value_parser = at_end, help_heading = "Output")]
    pub(crate) format: Vec<AtEnd>,
    /// Show the output of every execution
    #[arg(long, help_heading = "Output")]
    pub(crate) show_output: bool,
    /// Exit with code 3 if some behaviour of the program was not controlled
    #[arg(long, help_heading = "Output")]
    pub(crate) strict: bool,
    /// How to show progress
    #[arg(long, value_enum, default_value_t, value_name = "HOW", help_heading = "Output")]
    pub(crate) progress: ProgressMode,
    #[command(flatten)]
    pub(crate) conditions: ConditionArgs,
    #[command(flatten, next_help_heading = "Output")]
    pub(crate) common: Common,
}

impl RunArgs {
    /// What all random choices are made from.
    pub(crate) fn seed(&self) -> u64 {
        self.seed.unwrap_or(0)
    }

    /// Executions and time after which to stop, whichever comes first.
    pub(crate) fn limits(&self) -> (Option<u64>, Option<Duration>) {
        match (self.execs, self.time, self.budget) {
            (None, None, None) => {
                (Some(DEFAULT_EXECUTIONS), Some(Duration::from_secs(DEFAULT_SECONDS)))
            }
            (None, None, Some(Budget::Executions(executions))) => (Some(executions), None),
            (None, None, Some(Budget::Time(time))) => (None, Some(time)),
            (executions, time, _) => (executions, time),
        }
    }

    /// How many executions strategies plan for, if only the time is limited.
    pub(crate) fn n_planned(&self) -> u64 {
        const PLANNED_IN_TIME: u64 = 10_000;
        self.limits().0.unwrap_or(PLANNED_IN_TIME)
    }

    /// Was the budget left to us?
    pub(crate) const fn is_default_budget(&self) -> bool {
        self.execs.is_none() && self.time.is_none() && self.budget.is_none()
    }

    /// How many workers.
    pub(crate) fn n_jobs(&self) -> usize {
        n_jobs(self.jobs)
    }

    /// What is to be said, if that is fewer than were asked for.
    pub(crate) fn jobs_note(&self) -> Option<String> {
        let (asked, n_jobs) = (self.jobs?, self.n_jobs() as u64);
        let line =
            || format!("-j {asked} is limited to {n_jobs} workers: more would not be faster");
        (n_jobs < asked).then(line)
    }
}

/// All strategies, for the long help.
fn strategies() -> String {
    let mut text = "Strategy that chooses the schedules:\n".to_owned();
    for form in FORMS {
        let colon = if form.params.is_empty() { "" } else { ":" };
        text += &format!("\n- {}{colon}{}\n    {}", form.name, form.params, form.what);
    }
    text
}

/// How progress is shown, on standard error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ProgressMode {
    /// `bar` on a terminal, otherwise `line`
    #[default]
    Auto,
    /// A status block that is updated every second
    Bar,
    /// One line after 1, 2, 5, 10, 20, 50… seconds and at each finding
    Line,
    /// No progress
    None,
}
