//! The options of `raddle compare`.

use std::{ffi::OsString, path::PathBuf, time::Duration};

use clap::Args;
use raddle_plan::Strategy;

use super::{ConditionArgs, Format, PointsArg, n_jobs};
use crate::values;

/// `raddle compare`.
#[derive(Debug, Args)]
#[command(override_usage = "raddle compare [OPTIONS] PROGRAM... [-- ARGS...]")]
pub(crate) struct CompareArgs {
    /// Programs to compare on: C, C++ or Rust sources (one program each), or programs built with `raddle cc`
    #[arg(value_name = "PROGRAM", required = true)]
    pub(crate) programs: Vec<PathBuf>,
    /// Arguments passed to every program
    #[arg(last = true, value_name = "ARGS")]
    pub(crate) args: Vec<OsString>,

    /// Strategies to compare, as for `raddle run --strategy`, separated by commas
    #[arg(long, value_name = "LIST", value_parser = parse_list, help_heading = "Comparison")]
    #[arg(default_value = "walk,stride:two,pct,pos,surw,sites,portfolio")]
    pub(crate) strategies: Strategies,
    /// Strategy that the others are compared with [default: the first]
    #[arg(long, value_name = "STRATEGY", value_parser = Strategy::parse)]
    #[arg(help_heading = "Comparison")]
    pub(crate) baseline: Option<Strategy>,
    /// Run each strategy with each of these kinds of scheduling points (see --points)
    #[arg(long, value_name = "LIST", value_enum, value_delimiter = ',')]
    #[arg(conflicts_with = "points", help_heading = "Comparison")]
    pub(crate) with_points: Vec<PointsArg>,
    /// Number of campaigns of each strategy on each program
    #[arg(long, value_name = "N", default_value = "10", help_heading = "Comparison")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) repeats: u32,
    /// Number of executions per campaign
    #[arg(long, value_name = "N", default_value = "10000", help_heading = "Comparison")]
    #[arg(value_parser = values::count)]
    pub(crate) execs: u64,
    /// Time limit per campaign: 500ms, 10s, 2m, 1h
    #[arg(long, value_name = "TIME", value_parser = values::duration, help_heading = "Comparison")]
    pub(crate) time: Option<Duration>,
    /// Number of random executions of each program beforehand, to learn which variables are shared. All strategies
    /// use the result, and they are not counted as part of a search [default: each campaign learns for itself]
    #[arg(long, value_name = "N", value_parser = values::count_or_none, help_heading = "Comparison")]
    pub(crate) learn: Option<u64>,
    /// Continue after the first failure and count all failures
    #[arg(short, long, help_heading = "Comparison")]
    pub(crate) keep_going: bool,
    /// Random seed
    #[arg(long, default_value = "0", value_parser = values::seed, help_heading = "Comparison")]
    #[arg(env = "RADDLE_SEED", hide_env = true)]
    pub(crate) seed: u64,
    /// Number of campaigns run in parallel [default: one per core]
    #[arg(short, long, value_name = "N", value_parser = values::count)]
    #[arg(env = "RADDLE_JOBS", hide_env = true, help_heading = "Comparison")]
    pub(crate) jobs: Option<u64>,

    #[command(flatten)]
    pub(crate) conditions: ConditionArgs,

    /// Write the results of every campaign to a CSV file
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) csv: Option<PathBuf>,
    /// Write an HTML page with plots
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) html: Option<PathBuf>,
    /// Output format
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT", help_heading = "Output")]
    pub(crate) message_format: Format,
}

impl CompareArgs {
    /// How many campaigns at the same time.
    pub(crate) fn n_jobs(&self) -> usize {
        n_jobs(self.jobs)
    }
}

/// Several strategies.
#[derive(Clone, Debug)]
pub(crate) struct Strategies(pub(crate) Vec<Strategy>);

fn parse_list(text: &str) -> Result<Strategies, String> {
    let strategies = Strategy::parse_list(text).map_err(|error| error.to_string())?;
    for (idx, strategy) in strategies.iter().enumerate() {
        if strategies[..idx].contains(strategy) {
            return Err(format!("`{strategy}` is listed twice"));
        }
    }
    Ok(Strategies(strategies))
}
