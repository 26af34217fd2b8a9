//! The arguments of `raddle review`.

use std::path::PathBuf;

use clap::Args;

/// `raddle review`.
#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("verdict").multiple(false))]
pub(crate) struct ReviewArgs {
    /// The findings: ids, starts of ids, or `latest`; if none is named, all that nothing was decided about
    #[arg(value_name = "ID")]
    pub(crate) ids: Vec<String>,
    /// Keep it as a regression: a small file for version control, run first by every `raddle run`
    #[arg(long, group = "verdict")]
    pub(crate) keep: bool,
    /// Never tell it again: writes a rule into raddle.toml
    #[arg(long, group = "verdict", requires = "reason")]
    pub(crate) suppress: bool,
    /// Throw it away
    #[arg(long, group = "verdict")]
    pub(crate) discard: bool,
    /// Why it is suppressed
    #[arg(long, value_name = "TEXT", requires = "suppress")]
    pub(crate) reason: Option<String>,
    /// Until when it is suppressed: 2027-01-31
    #[arg(long, value_name = "DATE", requires = "suppress")]
    pub(crate) expires: Option<String>,
    /// Where regressions are kept
    #[arg(long, value_name = "DIR", default_value = "raddle-regressions")]
    pub(crate) regressions: PathBuf,
    /// Where findings are kept
    #[arg(long, value_name = "DIR", default_value = ".raddle", env = "RADDLE_STORE")]
    #[arg(hide_env = true)]
    pub(crate) store: PathBuf,
}
