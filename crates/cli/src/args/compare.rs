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
    /// C, C++ or Rust sources, each a program of its own; or programs built with `raddle cc`
    #[arg(value_name = "PROGRAM", required = true)]
    pub(crate) programs: Vec<PathBuf>,
    /// Arguments of all programs
    #[arg(last = true, value_name = "ARGS")]
    pub(crate) args: Vec<OsString>,

    /// Which strategies, as `raddle run --strategy` takes them, separated by commas
    #[arg(long, value_name = "LIST", value_parser = parse_list, help_heading = "Comparison")]
    #[arg(default_value = "walk,stride:two,pct,pos,surw,sites,portfolio")]
    pub(crate) strategies: Strategies,
    /// The strategy that the others are compared with [default: the first]
    #[arg(long, value_name = "STRATEGY", value_parser = Strategy::parse)]
    #[arg(help_heading = "Comparison")]
    pub(crate) baseline: Option<Strategy>,
    /// Run each strategy with each of these kinds of scheduling points, to compare them
    #[arg(long, value_name = "LIST", value_enum, value_delimiter = ',')]
    #[arg(conflicts_with = "points", help_heading = "Comparison")]
    pub(crate) with_points: Vec<PointsArg>,
    /// Campaigns of each strategy on each program
    #[arg(long, value_name = "N", default_value = "10", help_heading = "Comparison")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) repeats: u32,
    /// Executions of each campaign
    #[arg(long, value_name = "N", default_value = "10000", help_heading = "Comparison")]
    #[arg(value_parser = values::count)]
    pub(crate) execs: u64,
    /// Give up a campaign after this time: 500ms, 10s, 2m, 1h
    #[arg(long, value_name = "TIME", value_parser = values::duration, help_heading = "Comparison")]
    pub(crate) time: Option<Duration>,
    /// Random executions of each program beforehand, to find out what it shares: all strategies know it, and
    /// searches count only what they search [default: each campaign finds out for itself]
    #[arg(long, value_name = "N", value_parser = values::count, help_heading = "Comparison")]
    pub(crate) learn: Option<u64>,
    /// Go on after the first failure, to count them all
    #[arg(short, long, help_heading = "Comparison")]
    pub(crate) keep_going: bool,
    /// What all seeds are made from
    #[arg(long, default_value = "0", value_parser = values::seed, help_heading = "Comparison")]
    #[arg(env = "RADDLE_SEED", hide_env = true)]
    pub(crate) seed: u64,
    /// Campaigns at the same time [default: all cores]
    #[arg(short, long, value_name = "N", value_parser = values::count)]
    #[arg(env = "RADDLE_JOBS", hide_env = true, help_heading = "Comparison")]
    pub(crate) jobs: Option<u64>,

    #[command(flatten)]
    pub(crate) conditions: ConditionArgs,

    /// Write every campaign's figures to a file
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) csv: Option<PathBuf>,
    /// Write a page with plots to a file
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) html: Option<PathBuf>,
    /// What is written to standard output
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
            return Err(format!("`{strategy}` is there twice"));
        }
    }
    Ok(Strategies(strategies))
}
