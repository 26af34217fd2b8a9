//! The arguments of `raddle store`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::Common;
use crate::values;

/// `raddle store`.
#[derive(Debug, Args)]
pub(crate) struct StoreArgs {
    /// What to do.
    #[command(subcommand)]
    pub(crate) verb: StoreVerb,
}

/// What to do with the store.
#[derive(Debug, Subcommand)]
pub(crate) enum StoreVerb {
    /// List runs, newest first
    Ls {
        #[command(flatten)]
        common: Common,
    },
    /// Write a finding, or a run's findings, into one file, to be replayed elsewhere
    Export {
        /// The finding or the run: its id or the start of it
        #[arg(value_name = "ID|RUN")]
        id: String,
        /// Where to [default: ID.raddle]
        #[arg(long, short, value_name = "FILE")]
        output: Option<PathBuf>,
        #[command(flatten)]
        common: Common,
    },
    /// Take in what was exported elsewhere
    Import {
        /// The file
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// Where the same program is on this machine
        #[arg(long, value_name = "PROGRAM")]
        program: Option<PathBuf>,
        #[command(flatten)]
        common: Common,
    },
    /// Throw away old runs with their findings, but for those that were kept by `raddle review`
    Prune {
        /// Keep so many runs
        #[arg(long, value_name = "N", default_value = "100", value_parser = values::count)]
        runs: u64,
        /// Keep what is not older than so many days
        #[arg(long, value_name = "N", default_value = "30")]
        days: u64,
        /// Only say what would go
        #[arg(long)]
        dry_run: bool,
        #[command(flatten)]
        common: Common,
    },
}
