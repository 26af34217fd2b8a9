//! One line's worth of every finding, so that listing need not read them all.

use std::{
    collections::BTreeSet,
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

use raddle_model::{Bucket, Fault, Kind};
use serde::{Deserialize, Serialize};

use super::{Store, StoreError, StoredFinding, VERSION, file, os};

/// What a list shows of a finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Listed {
    /// What the user calls it: `dl-02c1`.
    pub id: String,
    /// Its kind.
    pub kind: Kind,
    /// Its bucket.
    pub bucket: Bucket,
    /// What went wrong.
    pub fault: Fault,
    /// The run that found it.
    pub run: String,
    /// When it was found.
    pub date: String,
    /// The executable.
    #[serde(with = "os::one")]
    pub program: PathBuf,
}

/// `index.json`.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Index {
    version: u32,
    raddle: String,
    /// In the order of writing.
    findings: Vec<Listed>,
}

impl Listed {
    fn of(stored: &StoredFinding) -> Listed {
        Listed {
            id: stored.id.clone(),
            kind: stored.finding.kind,
            bucket: stored.finding.bucket,
            fault: stored.finding.fault.clone(),
            run: stored.run.clone(),
            date: stored.date.clone(),
            program: stored.info.target.program.clone(),
        }
    }

    fn is_of(&self, stored: &StoredFinding) -> bool {
        self.run == stored.run && self.id == stored.id
    }
}

impl Index {
    /// Reads the index; makes it from the findings if there is none.
    pub(super) fn read(store: &Store) -> Result<Index, StoreError> {
        let path = store.root().join("index.json");
        match file::read_or(&path, "delete it, and it will be made anew from the findings") {
            Err(StoreError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                Index::collect(store)
            }
            result => result,
        }
    }

    /// Adds a finding, or replaces its entry, while no other process does.
    pub(super) fn add(store: &Store, stored: &StoredFinding) -> Result<(), StoreError> {
        let lock_path = store.root().join("index.lock");
        let lock = File::create(&lock_path).map_err(StoreError::io("write", &lock_path))?;
        lock.lock().map_err(StoreError::io("lock", &lock_path))?;
        let mut index = Index::read(store)?;
        index.findings.retain(|it| !it.is_of(stored));
        index.findings.push(Listed::of(stored));
        file::write(&store.root().join("index.json"), &index)?;
        Ok(())
    }

    /// Keeps only some entries, while no other process changes them.
    pub(super) fn change(
        store: &Store,
        is_kept: impl FnMut(&Listed) -> bool,
    ) -> Result<(), StoreError> {
        let lock_path = store.root().join("index.lock");
        let lock = File::create(&lock_path).map_err(StoreError::io("write", &lock_path))?;
        lock.lock().map_err(StoreError::io("lock", &lock_path))?;
        let mut index = Index::read(store)?;
        index.findings.retain(is_kept);
        file::write(&store.root().join("index.json"), &index)?;
        Ok(())
    }

    /// The newest finding of each id, newest first.
    pub(super) fn newest_of_each(self) -> Vec<Listed> {
        let mut seen = BTreeSet::new();
        let newest_first = self.findings.into_iter().rev();
        newest_first.filter(|it| seen.insert(it.id.clone())).collect()
    }

    fn collect(store: &Store) -> Result<Index, StoreError> {
        let mut findings = Vec::new();
        for run in entries(&store.root().join("runs"))? {
            for path in entries(&run.join("findings"))? {
                if path.extension().is_some_and(|it| it == "json") {
                    findings.push(file::read::<StoredFinding>(&path)?);
                }
            }
        }
        findings.sort_by(|a, b| (&a.date, &a.run, &a.id).cmp(&(&b.date, &b.run, &b.id)));
        Ok(Index {
            version: VERSION,
            raddle: env!("CARGO_PKG_VERSION").into(),
            findings: findings.iter().map(Listed::of).collect(),
        })
    }
}

/// The paths in a directory, sorted; none if there is no such directory.
pub(super) fn entries(directory: &Path) -> Result<Vec<PathBuf>, StoreError> {
    let found = fs::read_dir(directory)
        .and_then(|entries| entries.map(|it| Ok(it?.path())).collect::<io::Result<Vec<_>>>());
    match found {
        Ok(mut paths) => {
            paths.sort();
            Ok(paths)
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(source) => Err(StoreError::Io { action: "read", file: directory.to_owned(), source }),
    }
}
