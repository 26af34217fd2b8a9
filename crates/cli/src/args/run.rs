//! The options of `raddle run`.

use std::{ffi::OsString, path::PathBuf, time::Duration};

use clap::{Args, ValueEnum};
use raddle_explore::suppress::Suppressions;
use raddle_plan::{FORMS, Strategy};

use super::{Common, ConditionArgs, DetectArg, n_jobs};
use crate::values::{self, Budget};

/// Executions of a campaign when nothing is said.
const DEFAULT_EXECUTIONS: u64 = 20_000;
/// Seconds of a campaign when nothing is said.
const DEFAULT_SECONDS: u64 = 60;

/// `raddle run`.
#[derive(Clone, Debug, Args)]
#[command(override_usage = "raddle run [OPTIONS] SOURCE... [-- ARGS...]\n       \
                            raddle run [OPTIONS] -- PROGRAM [ARGS...]")]
pub(crate) struct RunArgs {
    /// C or C++ sources (and what to link), or one Rust source; or one program
    #[arg(value_name = "SOURCE")]
    pub(crate) sources: Vec<PathBuf>,
    /// Arguments of the program; without sources, the program comes first
    #[arg(last = true, value_name = "ARGS")]
    pub(crate) args: Vec<OsString>,

    /// Stop after so many executions [default: 20000, or 60 s]
    #[arg(long, value_name = "N", value_parser = values::count, help_heading = "Budget")]
    pub(crate) execs: Option<u64>,
    /// Stop after this time: 500ms, 10s, 2m, 1h
    #[arg(long, value_name = "TIME", value_parser = values::duration, help_heading = "Budget")]
    pub(crate) time: Option<Duration>,
    /// The budget if neither --execs nor --time is given
    #[arg(long, env = "RADDLE_BUDGET", hide = true, value_parser = values::budget)]
    #[arg(value_name = "RADDLE_BUDGET")]
    pub(crate) budget: Option<Budget>,
    /// Stop when one more execution would show a new pair of places with less than this chance
    #[arg(long, value_name = "CHANCE", num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "0.001", value_parser = values::chance, help_heading = "Budget")]
    pub(crate) until_saturated: Option<f64>,
    /// Go on after the first finding
    #[arg(short, long, help_heading = "Budget")]
    pub(crate) keep_going: bool,
    /// Stop at the first finding even if every schedule may show it
    #[arg(long, conflicts_with = "keep_going", help_heading = "Budget")]
    pub(crate) until_first: bool,
    /// Workers [default: all cores]
    #[arg(short, long, value_name = "N", value_parser = values::count, help_heading = "Budget")]
    #[arg(env = "RADDLE_JOBS", hide_env = true)]
    pub(crate) jobs: Option<u64>,

    /// What all random choices are made from
    #[arg(long, default_value = "0", value_parser = values::seed, help_heading = "Schedule")]
    #[arg(env = "RADDLE_SEED", hide_env = true)]
    pub(crate) seed: u64,
    /// Who chooses the next thread
    #[arg(long, visible_alias = "picker", default_value = "portfolio", help_heading = "Schedule")]
    #[arg(value_name = "STRATEGY", value_parser = values::strategy, long_help = strategies())]
    #[arg(env = "RADDLE_STRATEGY", hide_env = true)]
    pub(crate) strategy: Strategy,
    /// What is known of the program's storage: read before, and written after, so that the next run need
    /// not find out again which variables are scheduling points
    #[arg(long, value_name = "FILE", help_heading = "Schedule")]
    pub(crate) classes: Option<PathBuf>,
    /// Random executions before a systematic search, to find out what is shared [default: 8]
    #[arg(long, value_name = "N", value_parser = values::count, help_heading = "Search")]
    pub(crate) learn: Option<u64>,
    /// Memory for live copies of executions, from which a search starts others; or `off`
    #[arg(long, value_name = "SIZE", value_parser = values::size_or_off, help_heading = "Search")]
    #[arg(default_value = "256M")]
    pub(crate) checkpoints: u64,
    /// What `hapset` searches have covered before: read at the start, if it is there, and written at the end
    #[arg(long, value_name = "FILE", help_heading = "Search", conflicts_with = "resume")]
    pub(crate) hapset: Option<PathBuf>,
    /// Write what branches depend on, for Graphviz (--strategy total)
    #[arg(long, value_name = "FILE", help_heading = "Search")]
    pub(crate) dot: Option<PathBuf>,
    /// Go on with the search of a run, or with the last one; the program and what decides its schedules
    /// are those of that run
    #[arg(long, value_name = "RUN", num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "latest", help_heading = "Search")]
    #[arg(conflicts_with_all = ["sources", "args", "cflags", "compiler", "stdin", "sync_only"])]
    pub(crate) resume: Option<String>,

    /// What to look for beside executions that fail, as a list
    #[arg(long, value_enum, value_delimiter = ',', value_name = "LIST", default_value = "race")]
    #[arg(env = "RADDLE_DETECT", hide_env = true, help_heading = "Analysis")]
    pub(crate) detect: Vec<DetectArg>,
    /// A suppression file of TSan: findings that are not to be told
    #[arg(long, value_name = "FILE", help_heading = "Analysis")]
    pub(crate) suppressions: Vec<PathBuf>,

    /// Options and suppressions [default: raddle.toml or .config/raddle.toml here or above]
    #[arg(long, value_name = "FILE", help_heading = "Configuration")]
    pub(crate) config: Option<PathBuf>,
    /// Which profile of it [default: default]
    #[arg(long, value_name = "NAME", help_heading = "Configuration")]
    #[arg(env = "RADDLE_PROFILE", hide_env = true)]
    pub(crate) profile: Option<String>,
    /// What is not to be told
    #[arg(skip)]
    pub(crate) rules: Suppressions,
    /// Findings that were kept (`raddle review --keep`): those of the program are run first
    #[arg(long, value_name = "DIR", default_value = "raddle-regressions")]
    #[arg(help_heading = "Configuration")]
    pub(crate) regressions: PathBuf,

    /// Leave findings as they are found: no smaller schedule, no reason
    #[arg(long, help_heading = "Analysis")]
    pub(crate) no_explain: bool,

    /// Show what every execution writes
    #[arg(long, help_heading = "Output")]
    pub(crate) show_output: bool,
    /// Exit with 3 if not everything was under control
    #[arg(long, help_heading = "Output")]
    pub(crate) strict: bool,
    /// How progress is shown
    #[arg(long, value_enum, default_value_t, value_name = "HOW", help_heading = "Output")]
    pub(crate) progress: ProgressMode,
    #[command(flatten)]
    pub(crate) conditions: ConditionArgs,
    #[command(flatten, next_help_heading = "Output")]
    pub(crate) common: Common,
}

impl RunArgs {
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
        let line = || format!("-j {asked}: {n_jobs} workers are used, more would not be faster");
        (n_jobs < asked).then(line)
    }
}

/// All strategies, for the long help.
fn strategies() -> String {
    let mut text = "Who chooses the next thread:\n".to_owned();
    for form in FORMS {
        let colon = if form.params.is_empty() { "" } else { ":" };
        text += &format!("\n- {}{colon}{}\n    {}", form.name, form.params, form.what);
    }
    text
}

/// How progress is shown, on standard error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ProgressMode {
    /// A block on a terminal, lines elsewhere
    #[default]
    Auto,
    /// A block, drawn again every second
    Bar,
    /// Lines at 1, 2, 5, 10, 20, 50… seconds and at each finding
    Line,
    /// Nothing
    None,
}
