//! The arguments of `raddle review`.

use std::path::PathBuf;

use clap::Args;

use crate::project;

/// `raddle review`.
#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("verdict").multiple(false))]
pub(crate) struct ReviewArgs {
    /// Findings: ids, unique prefixes of ids, or `latest` [default: all findings that are not reviewed yet]
    #[arg(value_name = "ID")]
    pub(crate) ids: Vec<String>,
    /// Keep the finding as a regression test: a small file for version control that every `raddle run` replays first
    #[arg(long, group = "verdict")]
    pub(crate) keep: bool,
    /// Suppress the finding: writes a rule to raddle.toml
    #[arg(long, group = "verdict", requires = "reason")]
    pub(crate) suppress: bool,
    /// Delete the finding
    #[arg(long, group = "verdict")]
    pub(crate) discard: bool,
    /// Reason for the suppression
    #[arg(long, value_name = "TEXT", requires = "suppress")]
    pub(crate) reason: Option<String>,
    /// Date after which the suppression expires: 2027-01-31
    #[arg(long, value_name = "DATE", requires = "suppress")]
    pub(crate) expires: Option<String>,
    /// Directory where regression tests are stored
    #[arg(long, value_name = "DIR", default_value_os_t = project::regressions())]
    pub(crate) regressions: PathBuf,
    /// Directory where runs and findings are stored
    #[arg(long, value_name = "DIR", default_value_os_t = project::store(), env = "RADDLE_STORE")]
    #[arg(hide_env = true)]
    pub(crate) store: PathBuf,
}
