//! Runs and their findings, kept in a directory: `.raddle/raddle.db`, a database of SQLite.
//!
//! ```text
//! runs        id, has_ended, run                     what was run, and how it ended
//! findings    number, run, id, kind, bucket, …       one line's worth of every finding, for `list` and `find`
//! bodies      number, finding                        a finding with all that is needed to replay it
//! searches    run, head, found                       where a search stood, and what it has come to
//! executions  number, run, bytes                     its executions since
//! writer      raddle                                 the version of the Raddle that made the tables
//! ```
//!
//! Values are JSON in the columns `run`, `finding`, `head` and `found`; what is asked for by is a column of its own.
//! Whoever throws a run away throws away all that refers to it.
//!
//! Findings are written when they are found, each in a transaction that is on the disk when it ends, so a run that is
//! killed keeps what it has. Several processes may use a store at once: readers see what was committed (WAL), writers take
//! turns. That takes a file system that is this machine's own.
//!
//! `user_version` counts the migrations (`database`) that a file has gone through. New Raddle, old file: it goes through
//! the rest. Old Raddle, new file: refused, with the name of the version that can read it. Stores of before there was a
//! database are taken over (`old`). Findings as files, exports and what was covered are JSON, with [`VERSION`].

mod database;
mod error;
mod file;
mod hapset;
mod manage;
mod old;
mod os;
mod rows;
mod run;
mod runs;
mod search;
mod time;
mod value;

use std::path::{Path, PathBuf};

use raddle_model::Bucket;
use rusqlite::{Connection, OptionalExtension as _};
use serde::de::DeserializeOwned;

use self::database::Database;
pub use self::{
    error::StoreError,
    hapset::{read_hapsets, write_hapsets},
    manage::{Export, Pruned, Retention},
    rows::{Listed, Words},
    run::Run,
    search::{SearchFile, SearchSettings, StoredSearch},
    value::{
        About, Bounds, CargoBuild, Review, RunEnd, RunInfo, StoredFinding, StoredRun, StoredTarget,
        hash_program,
    },
};

use crate::finding::Ids;

/// The version of files that are not the database: findings, exports, what was covered.
pub const VERSION: u32 = 2;

/// A directory of runs.
#[derive(Clone, Debug)]
pub struct Store {
    root: PathBuf,
    words: Option<Words>,
    build: Option<String>,
}

impl Store {
    /// The store at `root`, which need not exist: `.raddle` as a rule.
    pub fn at(root: impl Into<PathBuf>) -> Store {
        Store { root: root.into(), words: None, build: None }
    }

    /// The same, where what is written is listed in these words: [`Store::list`] need not read faults then.
    pub fn saying(self, words: Words) -> Store {
        Store { words: Some(words), ..self }
    }

    /// The same, written by this build of Raddle: searches of another one are not resumed.
    pub fn written_by(self, build: String) -> Store {
        Store { build: Some(build), ..self }
    }

    /// The build that writes; the version, if that is all that is known.
    pub(crate) fn build(&self) -> &str {
        self.build.as_deref().unwrap_or(env!("CARGO_PKG_VERSION"))
    }

    /// Where it is.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Begins a run.
    pub fn begin(&self, info: RunInfo) -> Result<Run, StoreError> {
        Run::begin(self, info)
    }

    /// All findings, newest first; a bucket that several runs found is listed once, with its newest.
    pub fn list(&self) -> Result<Vec<Listed>, StoreError> {
        self.read(|it| rows::newest_of_each(it, usize::MAX))
    }

    /// The first `n` of [`Store::list`], and how many there are.
    pub fn newest(&self, n: usize) -> Result<(Vec<Listed>, usize), StoreError> {
        self.read(|it| Ok((rows::newest_of_each(it, n)?, rows::n_ids(it)?)))
    }

    /// The finding whose id begins with `name`; `latest` is the one that was written last.
    pub fn find(&self, name: &str) -> Result<StoredFinding, StoreError> {
        let store = self.root.clone();
        let Some(database) = Database::open(&self.root)? else {
            return Err(StoreError::Empty { store });
        };
        let latest = database.read(rows::latest)?.ok_or(StoreError::Empty { store })?;
        let ids = match name {
            "latest" => vec![latest],
            name => database.read(|it| rows::ids_like(it, name))?,
        };
        let number = match ids.as_slice() {
            [(_, number)] => *number,
            [] => return Err(StoreError::Unknown { name: name.into(), store: self.root.clone() }),
            several => {
                let ids = several.iter().map(|it| it.0.clone()).collect();
                return Err(StoreError::Ambiguous { name: name.into(), ids });
            }
        };
        let query = "SELECT finding FROM bodies WHERE number = ?1";
        let finding: Vec<u8> = database.read(|it| it.query_row(query, [number], |it| it.get(0)))?;
        parse(&database, &finding)
    }

    /// The ids of all runs, oldest first.
    pub fn run_ids(&self) -> Result<Vec<String>, StoreError> {
        self.read(|it| {
            let mut statement = it.prepare("SELECT id FROM runs ORDER BY id")?;
            statement.query_map((), |it| it.get(0))?.collect()
        })
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
        let no_run = || StoreError::NoRun { name: run.into(), store: self.root.clone() };
        let database = Database::open(&self.root)?.ok_or_else(no_run)?;
        let query = "SELECT run FROM runs WHERE id = ?1";
        let found = database.read(|it| it.query_row(query, [run], |it| it.get(0)).optional())?;
        let found: Vec<u8> = found.ok_or_else(no_run)?;
        parse(&database, &found)
    }

    /// A name for a command that makes several runs ([`RunInfo::invocation`]).
    pub fn new_invocation() -> String {
        time::run_id(time::now_ms())
    }

    /// All runs of the command that this run was a part of, oldest first: itself, if that is all.
    pub fn runs_beside(&self, run: StoredRun) -> Result<Vec<StoredRun>, StoreError> {
        let Some(invocation) = run.info.invocation.as_ref() else { return Ok(vec![run]) };
        // A command that we named was named before it began a run; what users call theirs says nothing.
        let begun = time::of_run_id(invocation).filter(|_| invocation.len() == run.run.len());
        let ids = self.run_ids()?.into_iter().filter(|it| time::of_run_id(it) >= begun);
        let mut runs = ids.map(|it| self.read_run(&it)).collect::<Result<Vec<_>, _>>()?;
        runs.retain(|it| it.info.invocation == run.info.invocation);
        Ok(runs)
    }

    /// All findings of a run, in the order of their executions.
    pub fn findings_of(&self, run: &str) -> Result<Vec<StoredFinding>, StoreError> {
        let Some(database) = Database::open(&self.root)? else { return Ok(Vec::new()) };
        let query = "SELECT finding FROM findings JOIN bodies USING (number) WHERE run = ?1";
        let found = database.read(|it| rows::blobs(it, query, run))?;
        let findings = found.iter().map(|it| parse(&database, it));
        let mut findings: Vec<StoredFinding> = findings.collect::<Result<_, _>>()?;
        findings.sort_by(|a, b| (a.finding.execution, &a.id).cmp(&(b.finding.execution, &b.id)));
        Ok(findings)
    }

    /// The ids that are taken, for naming new findings.
    pub fn ids(&self) -> Result<Ids, StoreError> {
        self.read(|it| {
            let mut ids = Ids::new();
            let mut statement = it.prepare("SELECT id, bucket FROM findings ORDER BY number")?;
            let mut rows = statement.query(())?;
            while let Some(row) = rows.next()? {
                ids.take(row.get_ref(0)?.as_str()?, Bucket(row.get::<_, i64>(1)?.cast_unsigned()));
            }
            Ok(ids)
        })
    }

    /// Reads the finding in a file, wherever it is: one that was written alone, or the only one of an export.
    pub fn read_file(path: &Path) -> Result<StoredFinding, StoreError> {
        if !file::has_key(path, "findings") {
            return file::read_or(path, manage::REMEDY);
        }
        let mut findings = Store::read_export(path)?.findings;
        let file = path.to_owned();
        match findings.len() {
            1 => Ok(findings.remove(0)),
            0 => Err(StoreError::Corrupted {
                file,
                why: "no findings".to_owned(),
                remedy: manage::REMEDY,
            }),
            _ => {
                let ids = findings.into_iter().map(|it| it.id).collect();
                Err(StoreError::ManyInFile { file, ids })
            }
        }
    }

    /// Writes a finding again, where it was found.
    pub fn write(&self, stored: &StoredFinding) -> Result<(), StoreError> {
        Database::create(&self.root)?.change(|it| rows::put_finding(it, stored, self.words))
    }

    /// Writes a finding's file, wherever it is; one that was exported stays an export.
    pub fn write_file(path: &Path, stored: &StoredFinding) -> Result<(), StoreError> {
        if !file::has_key(path, "findings") {
            return file::write(path, stored);
        }
        let mut export = Store::read_export(path)?;
        for it in export.findings.iter_mut().filter(|it| it.id == stored.id) {
            it.clone_from(stored);
        }
        Store::write_export(path, &export)
    }

    /// What the database says; nothing, if there is none.
    fn read<T: Default>(
        &self,
        action: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        match Database::open(&self.root)? {
            Some(database) => database.read(action),
            None => Ok(T::default()),
        }
    }
}

/// A value that stands in a row.
fn parse<T: DeserializeOwned>(database: &Database, json: &[u8]) -> Result<T, StoreError> {
    file::parse(json, database.path(), database::REMEDY)
}

#[cfg(test)]
mod tests;
