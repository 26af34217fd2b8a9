//! The arguments of `raddle report`.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use crate::project;

/// `raddle report`.
#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// Finding (id, unique prefix of an id, `latest`, or a file) or run (id or unique prefix) [default: the last run, or all tests of the last `cargo raddle test`]
    #[arg(value_name = "ID|RUN")]
    pub(crate) id: Option<String>,
    /// Report format [default: by the extension of the output file, otherwise html]
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) format: Option<ReportFormat>,
    /// Output file, `-` for standard output [default: the store for html, standard output for other formats]
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Directory where runs and findings are stored
    #[arg(long, value_name = "DIR", default_value_os_t = project::store(), env = "RADDLE_STORE")]
    #[arg(hide_env = true)]
    pub(crate) store: PathBuf,
}

/// What a report can be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    /// Interactive page, a single file
    #[default]
    Html,
    /// SARIF 2.1.0 for code scanning
    Sarif,
    /// JUnit XML for CI servers
    Junit,
    /// Trace for ui.perfetto.dev and chrome://tracing
    Perfetto,
    /// Markdown summary for issue trackers
    Md,
    /// Annotations for GitHub Actions
    Github,
}

impl ReportArgs {
    /// What was asked for, or what the file's name says.
    pub(crate) fn format(&self) -> ReportFormat {
        let of_name = || self.output.as_deref().and_then(of_name);
        self.format.or_else(of_name).unwrap_or_default()
    }
}

fn of_name(path: &Path) -> Option<ReportFormat> {
    let name = path.file_name()?.to_str()?;
    let endings = [
        ("html", ReportFormat::Html),
        ("htm", ReportFormat::Html),
        ("sarif", ReportFormat::Sarif),
        ("sarif.json", ReportFormat::Sarif),
        ("xml", ReportFormat::Junit),
        ("md", ReportFormat::Md),
        ("json", ReportFormat::Perfetto),
    ];
    endings.into_iter().find(|it| name.ends_with(&format!(".{}", it.0))).map(|it| it.1)
}
