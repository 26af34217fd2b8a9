//! A search that is kept, so that it can go on after its process is gone.
//!
//! `search.json` says what is searched, how, and where the search stood; `search-<n>.runs` has each execution
//! that counts since. Both are written in such an order that there is always one pair that belongs together.
//! `search-found.json` says what it has come to: it is written before the execution that changed it counts.

use std::{
    fs::{self, File},
    io::Write,
    path::{Path, PathBuf},
};

use raddle_model::Conditions;
use serde::{Deserialize, Serialize};

use super::{
    RunInfo, Store, StoreError, VERSION, file,
    runs::{Reader, Writer},
};
use crate::campaign::{Account, Counted, Detect, Earlier, Journal, Saved, Standing};

/// After so many bytes of executions the standing is written again, if it is not larger itself.
const RUNS_MAX: usize = 1 << 20;

/// How a search is made: what decides which executions there are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SearchSettings {
    /// The strategy, as the user writes it.
    pub strategy: String,
    /// What the program may do in each execution.
    #[serde(flatten)]
    pub conditions: Conditions,
    /// What is looked for beside executions that fail.
    pub detect: Detect,
}

/// `search.json`.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Head {
    version: u32,
    raddle: String,
    info: RunInfo,
    settings: SearchSettings,
    /// The number of the file of executions that belongs to it.
    n_standings: u64,
    standing: Standing,
}

/// `search-found.json`.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Found {
    version: u32,
    raddle: String,
    account: Account,
}

/// A search that was kept.
#[derive(Clone, Debug)]
pub struct StoredSearch {
    /// Its run.
    pub run: String,
    /// What is searched.
    pub info: RunInfo,
    /// How.
    pub settings: SearchSettings,
    /// How far it has come.
    pub saved: Saved,
}

/// A search that is being kept.
#[derive(Debug)]
pub struct SearchFile {
    folder: PathBuf,
    head: Head,
    runs: Option<File>,
    writer: Writer,
    n_bytes: usize,
    n_standing_bytes: usize,
    /// Why nothing more is kept.
    error: Option<StoreError>,
}

impl SearchFile {
    /// One that goes on with another is not there until it stands where that one stood: who is interrupted before goes
    /// on with the other.
    pub(super) fn new(
        folder: PathBuf,
        info: RunInfo,
        settings: SearchSettings,
        goes_on: bool,
    ) -> SearchFile {
        let head = Head {
            version: VERSION,
            raddle: env!("CARGO_PKG_VERSION").into(),
            info,
            settings,
            n_standings: 0,
            standing: Standing::default(),
        };
        // So that it is known what was to be searched if the process is gone before the search has begun.
        let error = match goes_on {
            true => None,
            false => file::write(&folder.join(SEARCH), &head).err(),
        };
        SearchFile {
            folder,
            head,
            runs: None,
            writer: Writer::default(),
            n_bytes: 0,
            n_standing_bytes: 0,
            error,
        }
    }

    /// Why the search can't go on later, if so.
    pub fn error(&self) -> Option<&StoreError> {
        self.error.as_ref()
    }

    /// Is there something to go on from?
    pub fn has_begun(&self) -> bool {
        self.head.n_standings > 0
    }

    fn try_stand(&mut self, standing: &Standing) -> Result<(), StoreError> {
        let old = runs_file(&self.folder, self.head.n_standings);
        self.head.n_standings += 1;
        let new = runs_file(&self.folder, self.head.n_standings);
        let runs = File::create(&new).map_err(StoreError::io("write", &new))?;
        self.head.standing = standing.clone();
        self.n_standing_bytes = file::write(&self.folder.join(SEARCH), &self.head)?;
        // It is of no use to anybody, but in nobody's way either.
        let _ = fs::remove_file(old);
        self.runs = Some(runs);
        self.writer = Writer::default();
        self.n_bytes = 0;
        Ok(())
    }

    fn try_account(&self, account: &Account) -> Result<(), StoreError> {
        let Head { version, raddle, .. } = &self.head;
        let found = Found { version: *version, raddle: raddle.clone(), account: account.clone() };
        file::write(&self.folder.join(FOUND), &found).map(drop)
    }

    fn try_flush(&mut self) -> Result<(), StoreError> {
        let Some(runs) = &mut self.runs else { return Ok(()) };
        let bytes = self.writer.bytes();
        self.n_bytes += bytes.len();
        let path = runs_file(&self.folder, self.head.n_standings);
        let written = runs.write_all(bytes).map_err(StoreError::io("write", &path));
        self.writer.clear();
        written
    }
}

impl Journal for SearchFile {
    fn stand(&mut self, standing: &Standing) {
        if self.error.is_none() {
            self.error = self.try_stand(standing).err();
        }
    }

    fn add(&mut self, counted: &Counted<'_>) {
        if self.error.is_none() {
            self.writer.write(counted);
        }
    }

    fn flush(&mut self) {
        if self.error.is_none() {
            self.error = self.try_flush().err();
        }
    }

    fn account(&mut self, account: &Account) {
        if self.error.is_none() {
            self.error = self.try_account(account).err();
        }
    }

    fn is_long(&self) -> bool {
        let n_bytes = self.n_bytes + self.writer.bytes().len();
        self.error.is_none() && RUNS_MAX.max(self.n_standing_bytes) < n_bytes
    }
}

const SEARCH: &str = "search.json";
const FOUND: &str = "search-found.json";

fn runs_file(folder: &Path, n_standings: u64) -> PathBuf {
    folder.join(format!("search-{n_standings}.runs"))
}

impl Store {
    /// The search of the run whose id begins with `name`; `latest` is the one begun last.
    pub fn find_search(&self, name: &str) -> Result<StoredSearch, StoreError> {
        let mut runs = self.runs_with_search()?;
        if name != "latest" {
            runs.retain(|it| it.starts_with(name));
        }
        match (runs.as_slice(), name) {
            ([], "latest") => Err(StoreError::NoSearch { store: self.root().to_owned() }),
            ([], _) => {
                Err(StoreError::UnknownRun { name: name.into(), store: self.root().to_owned() })
            }
            ([run], _) | ([.., run], "latest") => self.read_search(run),
            (several, _) => {
                Err(StoreError::AmbiguousRun { name: name.into(), ids: several.to_vec() })
            }
        }
    }

    fn runs_with_search(&self) -> Result<Vec<String>, StoreError> {
        let folder = self.root().join("runs");
        let entries = match fs::read_dir(&folder) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            result => result.map_err(StoreError::io("read", &folder))?,
        };
        let names = entries.flatten().filter(|it| it.path().join(SEARCH).is_file());
        let mut names: Vec<String> =
            names.filter_map(|it| it.file_name().into_string().ok()).collect();
        names.sort();
        Ok(names)
    }

    fn read_search(&self, run: &str) -> Result<StoredSearch, StoreError> {
        let folder = self.run_dir(run);
        let path = folder.join(SEARCH);
        let head: Head = file::read_or(&path, "begin the search again")?;
        if head.raddle != env!("CARGO_PKG_VERSION") {
            return Err(StoreError::OtherRaddle { file: path, raddle: head.raddle });
        }
        // The last one may have been cut short when the process was killed; it is made again.
        let runs = fs::read(runs_file(&folder, head.n_standings)).unwrap_or_default();
        let counted = Reader::new(&runs).collect();
        let earlier = self.read_earlier(run)?;
        Ok(StoredSearch {
            run: run.to_owned(),
            info: head.info,
            settings: head.settings,
            saved: Saved { standing: head.standing, counted, earlier },
        })
    }

    /// What a search has come to: its findings are those of its run.
    fn read_earlier(&self, run: &str) -> Result<Earlier, StoreError> {
        let path = self.run_dir(run).join(FOUND);
        let account = match path.exists() {
            true => file::read_or::<Found>(&path, "begin the search again")?.account,
            false => Account::default(),
        };
        let findings = self.findings_of(run)?.into_iter().map(|stored| {
            let counts = account.found.iter().find(|it| it.id == stored.id);
            crate::campaign::Found {
                count: counts.map_or(1, |it| it.count),
                first: counts.map_or(stored.finding.execution, |it| it.first),
                finding: stored.finding,
                original: stored.original,
                explanation: stored.explanation,
                id: stored.id,
                reproduced: stored.reproduced,
            }
        });
        let findings = findings.collect();
        Ok(Earlier { findings, account })
    }
}
