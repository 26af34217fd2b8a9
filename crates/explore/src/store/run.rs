//! A run that is being stored.

use raddle_model::{Finding, Reproduced};

use super::{
    RunEnd, RunInfo, SearchFile, SearchSettings, Store, StoreError, StoredFinding, VERSION,
    database::Database, rows, time, value::StoredRun,
};
use crate::campaign::Found;

/// A run that is being stored.
#[derive(Debug)]
pub struct Run {
    store: Store,
    database: Database,
    stored: StoredRun,
}

impl Run {
    pub(super) fn begin(store: &Store, info: RunInfo) -> Result<Run, StoreError> {
        let now = time::now_ms();
        let stored = StoredRun {
            version: VERSION,
            raddle: store.build().to_owned(),
            run: time::run_id(now),
            date: time::date(now),
            info,
            end: None,
        };
        let mut database = Database::create(store.root())?;
        store.ignore_in_git()?;
        database.change(|it| rows::put_run(it, &stored))?;
        Ok(Run { store: store.clone(), database, stored })
    }

    /// Its id: sorts by time.
    pub fn id(&self) -> &str {
        &self.stored.run
    }

    /// Stores a finding, or stores it again when more is known of it.
    pub fn add(
        &mut self,
        id: &str,
        finding: &Finding,
        reproduced: Reproduced,
    ) -> Result<StoredFinding, StoreError> {
        let now = time::now_ms();
        let stored = StoredFinding {
            version: VERSION,
            raddle: self.stored.raddle.clone(),
            id: id.to_owned(),
            run: self.stored.run.clone(),
            date: time::date(now),
            found_ms: now,
            info: self.stored.info.clone(),
            reproduced,
            finding: finding.clone(),
            original: None,
            explanation: None,
            review: None,
        };
        self.put(&stored)?;
        Ok(stored)
    }

    /// Stores a finding again, with all that was found out about it.
    pub fn add_found(&mut self, found: &Found) -> Result<(), StoreError> {
        let mut stored = self.add(&found.id, &found.finding, found.reproduced)?;
        if found.explanation.is_some() || found.original.is_some() {
            stored.original.clone_from(&found.original);
            stored.explanation.clone_from(&found.explanation);
            self.put(&stored)?;
        }
        Ok(())
    }

    /// Takes over a finding of an earlier part of this run's search, as it was found.
    pub fn take_over(&mut self, found: StoredFinding) -> Result<(), StoreError> {
        let stored = StoredFinding { run: self.stored.run.clone(), ..found };
        self.put(&stored)
    }

    /// Writes a finding; and the run again, if somebody has thrown it away meanwhile.
    fn put(&mut self, stored: &StoredFinding) -> Result<(), StoreError> {
        self.database.change(|it| {
            rows::keep_run(it, &self.stored)?;
            rows::put_finding(it, stored, self.store.words)
        })
    }

    /// A search that is kept with this run.
    pub fn search(&self, settings: SearchSettings) -> SearchFile {
        SearchFile::new(&self.store, &self.stored, settings, false)
    }

    /// The same for one that goes on with a search of an earlier run.
    pub fn resumed_search(&self, settings: SearchSettings) -> SearchFile {
        SearchFile::new(&self.store, &self.stored, settings, true)
    }

    /// Notes how the run ended.
    pub fn finish(&mut self, end: RunEnd) -> Result<(), StoreError> {
        self.stored.end = Some(end);
        self.database.change(|it| rows::put_run(it, &self.stored))
    }
}
