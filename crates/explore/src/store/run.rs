//! A run that is being stored.

use std::{collections::BTreeMap, fs, path::PathBuf};

use raddle_model::{Bucket, Fault, Finding};

use super::{
    RunEnd, RunInfo, SearchFile, SearchSettings, Store, StoreError, StoredFinding, VERSION, file,
    index::Index, time, value::StoredRun,
};
use crate::campaign::{Found, Reproduced};

/// A run that is being stored.
#[derive(Debug)]
pub struct Run {
    store: Store,
    stored: StoredRun,
    /// Findings as the index has them, by id: bucket and fault.
    listed: BTreeMap<String, (Bucket, Fault)>,
}

impl Run {
    pub(super) fn begin(store: Store, info: RunInfo) -> Result<Run, StoreError> {
        let now = time::now_ms();
        let stored = StoredRun {
            version: VERSION,
            raddle: env!("CARGO_PKG_VERSION").into(),
            run: time::run_id(now),
            date: time::date(now),
            info,
            end: None,
        };
        let run = Run { store, stored, listed: BTreeMap::new() };
        let findings = run.directory().join("findings");
        fs::create_dir_all(&findings).map_err(StoreError::io("create", &findings))?;
        run.store.ignore_in_git()?;
        run.write()?;
        Ok(run)
    }

    /// Its id: sorts by time.
    pub fn id(&self) -> &str {
        &self.stored.run
    }

    /// Where it is stored.
    pub fn directory(&self) -> PathBuf {
        self.store.run_dir(&self.stored.run)
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
        file::write(&self.store.finding_file(&self.stored.run, id), &stored)?;
        let listed = (finding.bucket, finding.fault.clone());
        if self.listed.get(id) != Some(&listed) {
            Index::add(&self.store, &stored)?;
            self.listed.insert(id.to_owned(), listed);
        }
        Ok(stored)
    }

    /// Stores a finding again, with all that was found out about it.
    pub fn add_found(&mut self, found: &Found) -> Result<(), StoreError> {
        let mut stored = self.add(&found.id, &found.finding, found.reproduced)?;
        if found.explanation.is_some() || found.original.is_some() {
            stored.original.clone_from(&found.original);
            stored.explanation.clone_from(&found.explanation);
            self.store.write(&stored)?;
        }
        Ok(())
    }

    /// Takes over a finding of an earlier part of this run's search, as it was found.
    pub fn take_over(&mut self, found: StoredFinding) -> Result<(), StoreError> {
        let stored = StoredFinding { run: self.stored.run.clone(), ..found };
        file::write(&self.store.finding_file(&stored.run, &stored.id), &stored)?;
        Index::add(&self.store, &stored)
    }

    /// A search that is kept with this run.
    pub fn search(&self, settings: SearchSettings) -> SearchFile {
        SearchFile::new(self.directory(), self.stored.info.clone(), settings, false)
    }

    /// The same for one that goes on with a search of an earlier run.
    pub fn resumed_search(&self, settings: SearchSettings) -> SearchFile {
        SearchFile::new(self.directory(), self.stored.info.clone(), settings, true)
    }

    /// Notes how the run ended.
    pub fn finish(&mut self, end: RunEnd) -> Result<(), StoreError> {
        self.stored.end = Some(end);
        self.write()
    }

    fn write(&self) -> Result<(), StoreError> {
        file::write(&self.directory().join("run.json"), &self.stored)?;
        Ok(())
    }
}
