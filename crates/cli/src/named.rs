//! What `raddle.toml` names for `raddle run` to explore, where the command line names nothing.

use std::path::PathBuf;

/// The table `[run]`: sources, or a program and how it is built, or a command of `cargo raddle`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Project {
    /// The directory of the file.
    pub(crate) folder: PathBuf,
    /// Sources, as on the command line.
    pub(crate) sources: Vec<String>,
    /// A command of the shell that builds the program.
    pub(crate) build: Option<String>,
    /// A program, as on the command line.
    pub(crate) program: Option<String>,
    /// Arguments of the program.
    pub(crate) args: Vec<String>,
    /// A command of `cargo raddle`.
    pub(crate) cargo: Option<String>,
}
