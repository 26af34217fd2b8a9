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
    /// Export a finding, or all findings of a run, to one file for replay on another machine
    Export {
        /// Finding or run: its id or a unique prefix of it
        #[arg(value_name = "ID|RUN")]
        id: String,
        /// Output file [default: ID.raddle]
        #[arg(long, short, value_name = "FILE")]
        output: Option<PathBuf>,
        #[command(flatten)]
        common: Common,
    },
    /// Import an exported file
    Import {
        /// File written by `raddle store export`
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// Path of the same program, or of its source, on this machine
        #[arg(long, value_name = "PROGRAM")]
        program: Option<PathBuf>,
        #[command(flatten)]
        common: Common,
    },
    /// Delete old runs and their findings; findings kept by `raddle review` stay
    Prune {
        /// Number of runs to keep
        #[arg(long, value_name = "N", default_value = "100", value_parser = values::count)]
        runs: u64,
        /// Keep runs that are not older than N days
        #[arg(long, value_name = "N", default_value = "30")]
        days: u64,
        /// Only print what would be deleted
        #[arg(long)]
        dry_run: bool,
        #[command(flatten)]
        common: Common,
    },
}
