//! Runs and their findings, kept in a directory.
//!
//! ```text
//! .raddle/index.json                       one line's worth of every finding, for `list` and `find`
//! .raddle/index.lock                       flock'd while the index is changed
//! .raddle/runs/<id>/run.json               what was run, and how it ended
//! .raddle/runs/<id>/findings/<id>.json     a finding with all that is needed to replay it
//! .raddle/runs/<id>/search.json            where a search stood, if the run was one
//! .raddle/runs/<id>/search-<n>.runs        its executions since
//! .raddle/runs/<id>/search-found.json      what it has come to
//! ```
//!
//! Findings are written when they are found, each file at once (written beside, then renamed), so a run
//! that is killed keeps what it has. The index can be made anew from the rest.
//!
//! Every file begins with the version of its layout and of the Raddle that wrote it. New Raddle, old
//! file: read as long as [`VERSION`] is the same, and a change that old files can't follow bumps it. Old
//! Raddle, new file: refused, with the name of the version that can read it.

mod error;
mod file;
mod hapset;
mod ids;
mod index;
mod manage;
mod os;
mod run;
mod runs;
mod search;
mod time;
mod value;

use std::path::{Path, PathBuf};

use self::index::Index;
pub use self::{
    error::StoreError,
    hapset::{read_hapsets, write_hapsets},
    ids::Ids,
    index::Listed,
    manage::{Export, Pruned, Retention},
    run::Run,
    search::{SearchFile, SearchSettings, StoredSearch},
    value::{
        About, Bounds, CargoBuild, Review, RunEnd, RunInfo, StoredFinding, StoredRun, StoredTarget,
        hash_program,
    },
};

/// The version of the files.
pub const VERSION: u32 = 2;

/// A directory of runs.
#[derive(Clone, Debug)]
pub struct Store {
    root: PathBuf,
}

impl Store {
    /// The store at `root`, which need not exist: `.raddle` as a rule.
    pub fn at(root: impl Into<PathBuf>) -> Store {
        Store { root: root.into() }
    }

    /// Where it is.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Begins a run: makes its directory and writes `run.json`.
    pub fn begin(&self, info: RunInfo) -> Result<Run, StoreError> {
        Run::begin(self.clone(), info)
    }

    /// All findings, newest first; a bucket that several runs found is listed once, with its newest.
    pub fn list(&self) -> Result<Vec<Listed>, StoreError> {
        Ok(Index::read(self)?.newest_of_each())
    }

    /// The finding whose id begins with `name`; `latest` is the one that was written last.
    pub fn find(&self, name: &str) -> Result<StoredFinding, StoreError> {
        let listed = self.choose(name)?;
        file::read(&self.finding_file(&listed.run, &listed.id))
    }

    /// The ids of all runs, oldest first.
    pub fn run_ids(&self) -> Result<Vec<String>, StoreError> {
        let paths = index::entries(&self.root.join("runs"))?;
        let is_run = |it: &PathBuf| it.join("run.json").is_file();
        let names = paths.into_iter().filter(is_run);
        Ok(names.filter_map(|it| it.file_name()?.to_str().map(str::to_owned)).collect())
    }

    /// The run whose id begins with `name`; `latest` is the one begun last.
    pub fn find_run(&self, name: &str) -> Result<StoredRun, StoreError> {
        let mut ids = self.run_ids()?;
        let store = self.root.clone();
        if name == "latest" {
            let last = ids.pop().ok_or(StoreError::Empty { store })?;
            return self.read_run(&last);
        }
        ids.retain(|it| it.starts_with(name));
        match ids.as_slice() {
            [] => Err(StoreError::NoRun { name: name.into(), store }),
            [one] => self.read_run(one),
            _ => Err(StoreError::AmbiguousRun { name: name.into(), ids }),
        }
    }

    fn read_run(&self, run: &str) -> Result<StoredRun, StoreError> {
        file::read(&self.run_dir(run).join("run.json"))
    }

    /// All findings of a run, in the order of their executions.
    pub fn findings_of(&self, run: &str) -> Result<Vec<StoredFinding>, StoreError> {
        let mut findings = Vec::new();
        for path in index::entries(&self.run_dir(run).join("findings"))? {
            if path.extension().is_some_and(|it| it == "json") {
                findings.push(file::read::<StoredFinding>(&path)?);
            }
        }
        findings.sort_by(|a, b| (a.finding.execution, &a.id).cmp(&(b.finding.execution, &b.id)));
        Ok(findings)
    }

    /// The ids that are taken, for naming new findings.
    pub fn ids(&self) -> Result<Ids, StoreError> {
        let mut ids = Ids::new();
        for listed in self.list()? {
            ids.take(&listed.id, listed.bucket);
        }
        Ok(ids)
    }

    /// Reads a finding's file, wherever it is.
    pub fn read_file(path: &Path) -> Result<StoredFinding, StoreError> {
        file::read(path)
    }

    /// Writes a finding again, where it was found.
    pub fn write(&self, stored: &StoredFinding) -> Result<(), StoreError> {
        file::write(&self.finding_file(&stored.run, &stored.id), stored)?;
        Ok(())
    }

    /// Writes a finding's file, wherever it is.
    pub fn write_file(path: &Path, stored: &StoredFinding) -> Result<(), StoreError> {
        file::write(path, stored)?;
        Ok(())
    }

    fn choose(&self, name: &str) -> Result<Listed, StoreError> {
        let all = self.list()?;
        if all.is_empty() {
            return Err(StoreError::Empty { store: self.root.clone() });
        }
        let is_wanted = |it: &&Listed| name == "latest" || it.id.starts_with(name);
        let mut matches: Vec<&Listed> = all.iter().filter(is_wanted).collect();
        if name == "latest" {
            matches.truncate(1);
        } else if let Some(exact) = matches.iter().find(|it| it.id == name) {
            matches = vec![exact];
        }
        match matches[..] {
            [one] => Ok(one.clone()),
            [] => Err(StoreError::Unknown { name: name.into(), store: self.root.clone() }),
            _ => Err(StoreError::Ambiguous {
                name: name.into(),
                ids: matches.iter().map(|it| it.id.clone()).collect(),
            }),
        }
    }

    fn run_dir(&self, run: &str) -> PathBuf {
        self.root.join("runs").join(run)
    }

    fn finding_file(&self, run: &str, id: &str) -> PathBuf {
        self.run_dir(run).join("findings").join(format!("{id}.json"))
    }
}

#[cfg(test)]
mod tests;
