//! The arguments of `raddle report`, and of reports that a run writes at its end.

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
    /// Code quality report for GitLab
    Gitlab,
}

impl ReportArgs {
    /// What was asked for, or what the file's name says.
    pub(crate) fn format(&self) -> ReportFormat {
        let of_name = || self.output.as_deref().and_then(of_name);
        self.format.or_else(of_name).unwrap_or_default()
    }
}

/// `--format FORMAT[=FILE]` of a run: a report that is written at its end.
#[derive(Clone, Debug)]
pub(crate) struct AtEnd {
    pub(crate) format: ReportFormat,
    /// `-`: standard output.
    pub(crate) file: PathBuf,
}

/// Reads `sarif` or `sarif=build/raddle.sarif`.
pub(crate) fn at_end(text: &str) -> Result<AtEnd, String> {
    let (name, file) = text.split_once('=').map_or((text, None), |it| (it.0, Some(it.1)));
    let formats = [
        ("github", ReportFormat::Github, "-"),
        ("gitlab", ReportFormat::Gitlab, "gl-code-quality-report.json"),
        ("junit", ReportFormat::Junit, "raddle.junit.xml"),
        ("sarif", ReportFormat::Sarif, "raddle.sarif"),
        ("md", ReportFormat::Md, "raddle.md"),
        ("html", ReportFormat::Html, "raddle.html"),
    ];
    match formats.into_iter().find(|it| it.0 == name) {
        Some(_) if file == Some("") => Err(format!("no file after `{text}`")),
        Some((_, format, usual)) => Ok(AtEnd { format, file: file.unwrap_or(usual).into() }),
        None => {
            let names: Vec<&str> = formats.iter().map(|it| it.0).collect();
            Err(format!("unknown format; available: {}", names.join(", ")))
        }
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
