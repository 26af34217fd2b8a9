//! A finding as a small file of TOML, to be kept with the sources and run first by every campaign.
//!
//! What a replay needs is there: the plan, the choices one by one, and the steps that they led to, so that a program that
//! has changed is not taken for one that is mended. Hashes, paths and dates of one machine are not kept, but for the hash
//! of the program, which says whether lines may have moved.
//!
//! `version` is that of the format. An old Raddle refuses a newer file; a new one reads all older ones, also those of
//! before they were TOML (`old`).

mod file;
mod old;

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use raddle_model::{Carrier, Finding};

pub use self::file::ParseError;
use crate::store::StoredFinding;

/// What such files end in.
pub const EXTENSION: &str = "toml";
/// And those of before they were TOML.
const OLD_EXTENSION: &str = "sched";

/// Steps of a schedule that are kept; of a longer one, the last.
const STEPS_MAX: usize = 4_000;

/// See the module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Regression {
    /// What the user calls it: `dl-02c1`.
    pub id: String,
    /// Arguments of the program.
    pub args: Vec<String>,
    /// The hash of the program that showed it.
    pub program_hash: u64,
    /// What carried its threads.
    pub carrier: Carrier,
    /// Did a non-zero exit code count as a good end?
    pub exit_is_fine: bool,
    /// What went wrong, with all that a replay looks at.
    pub finding: Finding,
}

impl Regression {
    /// What is kept of a finding. Paths below `base` are made relative to it.
    pub fn of(stored: &StoredFinding, base: &str) -> Regression {
        let mut finding = stored.finding.clone();
        let base = format!("{}/", base.trim_end_matches('/'));
        for place in finding.places.iter_mut().chain(&mut finding.sites) {
            if let Some(relative) = place.file.strip_prefix(&base) {
                place.file = relative.to_owned();
            }
        }
        let n_too_many = finding.steps.len().saturating_sub(STEPS_MAX);
        finding.steps.drain(..n_too_many);
        finding.n_steps_dropped += n_too_many as u64;
        let args = stored.info.target.args.iter();
        Regression {
            id: stored.id.clone(),
            args: args.map(|it| it.to_string_lossy().into_owned()).collect(),
            program_hash: stored.info.program_hash,
            carrier: stored.info.carrier,
            exit_is_fine: stored.info.exit_is_fine,
            finding,
        }
    }

    /// The file's text, with the line about what went wrong.
    pub fn to_text(&self, message: &str) -> String {
        file::write(self, message)
    }

    /// Reads a file's text.
    pub fn parse(text: &str) -> Result<Regression, ParseError> {
        file::parse(text)
    }
}

/// Why regressions can't be read. The messages stand alone.
#[derive(Debug, thiserror::Error)]
pub enum RegressionError {
    /// A file is not what it should be.
    #[error("{}:{error}", .file.display())]
    Parse {
        /// Which.
        file: PathBuf,
        /// What is wrong, where.
        error: ParseError,
    },
    /// The system says no.
    #[error("can't read {}: {source}", .file.display())]
    Io {
        /// The file or directory.
        file: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

/// The regressions of a program in a directory: `<directory>/<program>/*.toml`, sorted by name. Of one that was kept again, an
/// old file is not read.
pub fn load(directory: &Path, program: &str) -> Result<Vec<Regression>, RegressionError> {
    let folder = directory.join(program);
    let io = |source| RegressionError::Io { file: folder.clone(), source };
    let entries = match fs::read_dir(&folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        result => result.map_err(io)?,
    };
    let mut files: Vec<PathBuf> = entries.flatten().map(|it| it.path()).collect();
    files.retain(|it| it.extension().is_some_and(|it| it == EXTENSION || it == OLD_EXTENSION));
    // Newer files before older ones of the same name.
    files.sort_by(|a, b| (a.file_stem(), b.extension()).cmp(&(b.file_stem(), a.extension())));
    files.dedup_by(|a, b| a.file_stem() == b.file_stem());
    let read = |file: PathBuf| {
        let text = fs::read_to_string(&file)
            .map_err(|source| RegressionError::Io { file: file.clone(), source })?;
        Regression::parse(&text).map_err(|error| RegressionError::Parse { file, error })
    };
    files.into_iter().map(read).collect()
}

#[cfg(test)]
mod tests;
