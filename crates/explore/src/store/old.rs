//! Stores of before there was a database: a directory for each run, a file of JSON for each finding.
//!
//! They are taken over when the database is made. Their files stay, and are not looked at again. Searches are not taken
//! over: they are begun again.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use rusqlite::Transaction;

use super::{StoreError, StoredFinding, StoredRun, file, rows};

/// Is there one?
pub(super) fn is_there(root: &Path) -> bool {
    root.join("runs").is_dir()
}

/// Takes over its runs and findings, in the order in which they were found.
pub(super) fn import(
    transaction: &Transaction<'_>,
    database: &Path,
    root: &Path,
) -> Result<(), StoreError> {
    let failed = |error| StoreError::of_sql("write", database, error);
    let mut findings: Vec<StoredFinding> = Vec::new();
    for folder in entries(&root.join("runs"))? {
        let run_file = folder.join("run.json");
        if !run_file.is_file() {
            continue;
        }
        let run: StoredRun = file::read(&run_file)?;
        rows::put_run(transaction, &run).map_err(failed)?;
        for path in entries(&folder.join("findings"))? {
            if path.extension().is_some_and(|it| it == "json") {
                findings.push(StoredFinding { run: run.run.clone(), ..file::read(&path)? });
            }
        }
    }
    findings.sort_by(|a, b| (&a.date, &a.run, &a.id).cmp(&(&b.date, &b.run, &b.id)));
    let put = |it: &StoredFinding| rows::put_finding(transaction, it, None);
    findings.iter().try_for_each(put).map_err(failed)
}

/// The paths in a directory, sorted; none if there is no such directory.
fn entries(directory: &Path) -> Result<Vec<PathBuf>, StoreError> {
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
