//! A search that is kept, so that it can go on after its process is gone.
//!
//! The row of `searches` says what is searched, how, where the search stood, and what it has come to; `executions` has
//! each one that counts since. What it has come to is written before the execution that changed it counts.

use raddle_model::{Conditions, Detect};
use rusqlite::{OptionalExtension as _, params};
use serde::{Deserialize, Serialize};

use super::{
    RunInfo, Store, StoreError, StoredRun, VERSION,
    database::Database,
    file, rows,
    runs::{Reader, Writer},
};
use crate::campaign::{Account, Counted, Earlier, Journal, Saved, Standing};

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

/// `searches.head`.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Head {
    version: u32,
    raddle: String,
    info: RunInfo,
    settings: SearchSettings,
    standing: Standing,
}

/// `searches.found`.
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
    /// Missing if it could not be opened.
    database: Option<Database>,
    run: StoredRun,
    head: Head,
    has_begun: bool,
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
        store: &Store,
        run: &StoredRun,
        settings: SearchSettings,
        goes_on: bool,
    ) -> SearchFile {
        let head = Head {
            version: VERSION,
            raddle: store.build().to_owned(),
            info: run.info.clone(),
            settings,
            standing: Standing::default(),
        };
        let mut search = SearchFile {
            database: None,
            run: run.clone(),
            head,
            has_begun: false,
            writer: Writer::default(),
            n_bytes: 0,
            n_standing_bytes: 0,
            error: None,
        };
        let database = Database::create(store.root()).and_then(Database::sync_less);
        match database {
            Ok(database) => search.database = Some(database),
            Err(error) => search.error = Some(error),
        }
        // So that it is known what was to be searched if the process is gone before the search has begun.
        if !goes_on {
            search.attempt(SearchFile::try_head);
        }
        search
    }

    /// Why the search can't go on later, if so.
    pub fn error(&self) -> Option<&StoreError> {
        self.error.as_ref()
    }

    /// Is there something to go on from?
    pub const fn has_begun(&self) -> bool {
        self.has_begun
    }

    /// Does something unless something went wrong before.
    fn attempt(
        &mut self,
        action: impl FnOnce(&mut SearchFile, &mut Database) -> Result<(), StoreError>,
    ) {
        let Some(mut database) = self.database.take() else { return };
        self.error = action(self, &mut database).err();
        self.database = Some(database).filter(|_| self.error.is_none());
    }

    fn try_head(&mut self, database: &mut Database) -> Result<(), StoreError> {
        let head = rows::json(&self.head);
        self.n_standing_bytes = head.len();
        database.change(|it| {
            rows::keep_run(it, &self.run)?;
            let text = "INSERT INTO searches (run, head) VALUES (?1, ?2) \
                        ON CONFLICT (run) DO UPDATE SET head = ?2";
            it.prepare_cached(text)?.execute(params![self.run.run, head])?;
            it.execute("DELETE FROM executions WHERE run = ?1", [&self.run.run])
        })?;
        Ok(())
    }

    fn try_stand(
        &mut self,
        database: &mut Database,
        standing: &Standing,
    ) -> Result<(), StoreError> {
        self.head.standing = standing.clone();
        self.try_head(database)?;
        self.has_begun = true;
        self.writer = Writer::default();
        self.n_bytes = 0;
        Ok(())
    }

    fn try_account(
        &mut self,
        database: &mut Database,
        account: &Account,
    ) -> Result<(), StoreError> {
        let Head { version, raddle, .. } = &self.head;
        let found = Found { version: *version, raddle: raddle.clone(), account: account.clone() };
        let found = rows::json(&found);
        database.change(|it| {
            let text = "UPDATE searches SET found = ?2 WHERE run = ?1";
            it.prepare_cached(text)?.execute(params![self.run.run, found])
        })?;
        Ok(())
    }

    fn try_flush(&mut self, database: &mut Database) -> Result<(), StoreError> {
        let bytes = self.writer.bytes();
        if !self.has_begun || bytes.is_empty() {
            return Ok(());
        }
        self.n_bytes += bytes.len();
        database.change(|it| {
            let text = "INSERT INTO executions (run, bytes) VALUES (?1, ?2)";
            it.prepare_cached(text)?.execute(params![self.run.run, bytes])
        })?;
        self.writer.clear();
        Ok(())
    }
}

impl Journal for SearchFile {
    fn stand(&mut self, standing: &Standing) {
        self.attempt(|it, database| it.try_stand(database, standing));
    }

    fn add(&mut self, counted: &Counted<'_>) {
        if self.error.is_none() {
            self.writer.write(counted);
        }
    }

    fn flush(&mut self) {
        self.attempt(SearchFile::try_flush);
    }

    fn account(&mut self, account: &Account) {
        self.attempt(|it, database| it.try_account(database, account));
    }

    fn is_long(&self) -> bool {
        let n_bytes = self.n_bytes + self.writer.bytes().len();
        self.error.is_none() && RUNS_MAX.max(self.n_standing_bytes) < n_bytes
    }
}

/// What to do about a search that can't be read.
const REMEDY: &str = "start the search again";

impl Store {
    /// The search of the run whose id begins with `name`; `latest` is the one begun last.
    pub fn find_search(&self, name: &str) -> Result<StoredSearch, StoreError> {
        let store = self.root().to_owned();
        let mut runs: Vec<String> = self.read(|it| {
            let mut statement = it.prepare("SELECT run FROM searches ORDER BY run")?;
            statement.query_map((), |it| it.get(0))?.collect()
        })?;
        if name != "latest" {
            runs.retain(|it| it.starts_with(name));
        }
        match (runs.as_slice(), name) {
            ([], "latest") => Err(StoreError::NoSearch { store }),
            ([], _) => Err(StoreError::UnknownRun { name: name.into(), store }),
            ([run], _) | ([.., run], "latest") => self.read_search(run),
            (several, _) => {
                Err(StoreError::AmbiguousRun { name: name.into(), ids: several.to_vec() })
            }
        }
    }

    fn read_search(&self, run: &str) -> Result<StoredSearch, StoreError> {
        let gone = || StoreError::NoSearch { store: self.root().to_owned() };
        let database = Database::open(self.root())?.ok_or_else(gone)?;
        type Row = (Vec<u8>, Option<Vec<u8>>, Vec<Vec<u8>>);
        // All of it from one transaction: the search may go on meanwhile.
        let (head, found, executions): Row = database.read(|it| {
            let transaction = it.unchecked_transaction()?;
            let query = "SELECT head, found FROM searches WHERE run = ?1";
            let row = transaction.query_row(query, [run], |it| Ok((it.get(0)?, it.get(1)?)));
            let (head, found) = row.optional()?.unwrap_or_default();
            let query = "SELECT bytes FROM executions WHERE run = ?1 ORDER BY number";
            Ok((head, found, rows::blobs(&transaction, query, run)?))
        })?;
        let head: Head = file::parse(&head, database.path(), REMEDY)?;
        if head.raddle != self.build() {
            let file = database.path().to_owned();
            return Err(StoreError::OtherRaddle { file, raddle: head.raddle });
        }
        let account = match found {
            Some(found) => file::parse::<Found>(&found, database.path(), REMEDY)?.account,
            None => Account::default(),
        };
        let counted = Reader::new(&executions.concat()).collect();
        let earlier = self.read_earlier(run, account)?;
        Ok(StoredSearch {
            run: run.to_owned(),
            info: head.info,
            settings: head.settings,
            saved: Saved { standing: head.standing, counted, earlier },
        })
    }

    /// What a search has come to: its findings are those of its run.
    fn read_earlier(&self, run: &str, account: Account) -> Result<Earlier, StoreError> {
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
