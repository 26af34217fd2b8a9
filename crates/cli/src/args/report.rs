//! The arguments of `raddle report`.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

/// `raddle report`.
#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// The finding (its id, the start of its id, `latest`, or a finding's file) or the run (its id or the
    /// start of it); if it is not said, the last run
    #[arg(value_name = "ID|RUN")]
    pub(crate) id: Option<String>,
    /// What to write; if it is not said, what the file's name ends in, else html
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) format: Option<ReportFormat>,
    /// Where to: `-` is standard output. If it is not said, a page goes into the store, and the rest to
    /// standard output
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Where findings are kept
    #[arg(long, value_name = "DIR", default_value = ".raddle", env = "RADDLE_STORE")]
    #[arg(hide_env = true)]
    pub(crate) store: PathBuf,
}

/// What a report can be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    /// A page to step through, one file
    #[default]
    Html,
    /// SARIF 2.1.0, for code scanning
    Sarif,
    /// JUnit's XML, for build servers
    Junit,
    /// A trace for ui.perfetto.dev and chrome://tracing
    Perfetto,
    /// A brief in Markdown, for issue trackers
    Md,
    /// Annotations of GitHub Actions
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
