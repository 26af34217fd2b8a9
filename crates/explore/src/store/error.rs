//! Why the store can't do what it should. Each message is one line that says what is wrong, then what to do.

use std::path::PathBuf;

/// Why the store can't do what it should.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// No id begins with the name.
    #[error("no finding with an id that starts with `{name}` in {}", .store.display())]
    Unknown {
        /// What was looked for.
        name: String,
        /// Where.
        store: PathBuf,
    },
    /// The ids of several findings begin with the name.
    #[error("finding id `{name}` is ambiguous: it matches {}", .ids.join(", "))]
    Ambiguous {
        /// What was looked for.
        name: String,
        /// What it may be, newest first.
        ids: Vec<String>,
    },
    /// Nothing was ever found.
    #[error("no findings in {}", .store.display())]
    Empty {
        /// Where.
        store: PathBuf,
    },
    /// No run is a search.
    #[error("no search to resume in {}", .store.display())]
    NoSearch {
        /// Where.
        store: PathBuf,
    },
    /// No run that is a search begins with the name.
    #[error("no search to resume with a run id that starts with `{name}` in {}", .store.display())]
    UnknownRun {
        /// What was looked for.
        name: String,
        /// Where.
        store: PathBuf,
    },
    /// No run begins with the name.
    #[error("no run with an id that starts with `{name}` in {}", .store.display())]
    NoRun {
        /// What was looked for.
        name: String,
        /// Where.
        store: PathBuf,
    },
    /// The ids of several runs begin with the name.
    #[error("run id `{name}` is ambiguous: it matches {}", .ids.join(", "))]
    AmbiguousRun {
        /// What was looked for.
        name: String,
        /// What it may be, oldest first.
        ids: Vec<String>,
    },
    /// A search was begun by another Raddle, which may make other executions.
    #[error("can't resume {}: it was started by raddle {raddle}; start the search again", .file.display())]
    OtherRaddle {
        /// The file.
        file: PathBuf,
        /// The version of the Raddle that wrote it.
        raddle: String,
    },
    /// What a file says is about another build of the program.
    #[error(
        "{} belongs to another build of the program; name another file or delete it",
        .file.display()
    )]
    OtherBuild {
        /// The file.
        file: PathBuf,
    },
    /// An id that is none of ours, and might be a path.
    #[error("invalid finding id `{name}`")]
    Name {
        /// The id.
        name: String,
    },
    /// A file is not what it should be.
    #[error("{} is damaged ({why}); {remedy}", .file.display())]
    Corrupted {
        /// The file.
        file: PathBuf,
        /// What the reader stumbled on.
        why: String,
        /// What to do.
        remedy: &'static str,
    },
    /// A file was written by an older Raddle, in a way that is no more.
    #[error("{} was written by raddle {raddle} in a format that is no longer supported; {remedy}", .file.display())]
    Older {
        /// The file.
        file: PathBuf,
        /// The version of the Raddle that wrote it.
        raddle: String,
        /// What to do.
        remedy: &'static str,
    },
    /// A file was written by a newer Raddle.
    #[error("{} was written by raddle {raddle}, which is newer than this version; update raddle", .file.display())]
    Newer {
        /// The file.
        file: PathBuf,
        /// The version of the Raddle that wrote it.
        raddle: String,
    },
    /// A file with several findings, where one was asked for.
    #[error(
        "{} has {} findings ({}); import it with `raddle store import {}`",
        .file.display(),
        .ids.len(),
        .ids.join(", "),
        .file.display()
    )]
    ManyInFile {
        /// The file.
        file: PathBuf,
        /// What it has.
        ids: Vec<String>,
    },
    /// Another process writes, and does not come to an end.
    #[error("can't write {}: another raddle process has locked it for a minute; try again", .file.display())]
    Busy {
        /// The store's file.
        file: PathBuf,
    },
    /// The database says no.
    #[error("can't {action} {}: {source}", .file.display())]
    Sql {
        /// What was tried: "write".
        action: &'static str,
        /// The store's file.
        file: PathBuf,
        /// What SQLite said.
        source: rusqlite::Error,
    },
    /// The system says no.
    #[error("can't {action} {}: {source}", .file.display())]
    Io {
        /// What was tried: "write".
        action: &'static str,
        /// The file or directory.
        file: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
}

impl StoreError {
    /// For `map_err`.
    pub(super) fn io(
        action: &'static str,
        file: impl Into<PathBuf>,
    ) -> impl FnOnce(std::io::Error) -> StoreError {
        let file = file.into();
        move |source| StoreError::Io { action, file, source }
    }
}
