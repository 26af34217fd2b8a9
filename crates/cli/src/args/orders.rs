//! The options of `raddle orders`.

use std::{ffi::OsString, path::PathBuf, time::Duration};

use clap::Args;

use super::{ConditionArgs, DetectArg, Format, n_jobs};
use crate::values;

/// `raddle orders`.
#[derive(Clone, Debug, Args)]
pub(crate) struct OrdersArgs {
    /// C or C++ sources (and objects or libraries to link), one Rust source, or one program
    #[arg(value_name = "SOURCE")]
    pub(crate) sources: Vec<PathBuf>,
    /// Arguments passed to the program; without sources, the first one is the program
    #[arg(last = true, value_name = "ARGS")]
    pub(crate) args: Vec<OsString>,

    /// Number of executions in which weaker orders are tested, and which a search may take to prove that they are enough
    #[arg(long, value_name = "N", default_value = "10000", value_parser = values::count)]
    #[arg(help_heading = "Budget")]
    pub(crate) execs: u64,
    /// Time limit; if it is reached, the orders of the source are kept
    #[arg(long, value_name = "TIME", default_value = "120s", value_parser = values::duration)]
    #[arg(help_heading = "Budget")]
    pub(crate) time: Duration,
    /// Number of worker processes [default: one per core]
    #[arg(short, long, value_name = "N", value_parser = values::count, help_heading = "Budget")]
    #[arg(env = "RADDLE_JOBS", hide_env = true)]
    pub(crate) jobs: Option<u64>,
    /// Random seed
    #[arg(long, default_value = "0", value_parser = values::seed, help_heading = "Schedule")]
    #[arg(env = "RADDLE_SEED", hide_env = true)]
    pub(crate) seed: u64,
    /// Additional detectors, separated by commas
    #[arg(long, value_enum, value_delimiter = ',', value_name = "LIST", default_value = "race")]
    #[arg(help_heading = "Analysis")]
    pub(crate) detect: Vec<DetectArg>,
    /// Output format
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT", help_heading = "Output")]
    pub(crate) message_format: Format,
    #[command(flatten)]
    pub(crate) conditions: ConditionArgs,
}

impl OrdersArgs {
    /// How many workers.
    pub(crate) fn n_jobs(&self) -> usize {
        n_jobs(self.jobs)
    }
}
