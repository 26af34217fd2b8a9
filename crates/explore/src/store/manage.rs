//! What a store's owner does with it: look through it, take a finding elsewhere, throw away.

use std::{fs, path::Path};

use rusqlite::params;
use serde::{Deserialize, Serialize};

use super::{
    Review, Store, StoreError, StoredFinding, StoredRun, VERSION, database::Database, file, rows,
    time,
};

/// Findings taken out of a store, as one file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Export {
    /// The version of the file's layout: that of the store.
    pub version: u32,
    /// The version of the Raddle that wrote it.
    pub raddle: String,
    /// Their run.
    pub run: StoredRun,
    /// The findings.
    pub findings: Vec<StoredFinding>,
}

/// What is to be kept when a store is pruned.
#[derive(Clone, Copy, Debug)]
pub struct Retention {
    /// So many runs, the newest.
    pub n_runs: usize,
    /// And of those, what is not older than so many days.
    pub days: u64,
}

/// What pruning takes away.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pruned {
    /// Runs.
    pub runs: Vec<String>,
    /// How many findings they had.
    pub n_findings: usize,
    /// Bytes.
    pub n_bytes: u64,
}

/// What to do about a damaged export.
pub(super) const REMEDY: &str = "export it again";

impl Store {
    /// All runs, oldest first; those whose file is damaged are left out.
    pub fn runs(&self) -> Result<Vec<StoredRun>, StoreError> {
        let ids = self.run_ids()?;
        Ok(ids.iter().filter_map(|it| self.find_run(it).ok()).collect())
    }

    /// How many findings a run has, and how many bytes all that is kept of it.
    pub fn size_of(&self, run: &str) -> Result<(u64, u64), StoreError> {
        let query = "SELECT (SELECT count(*) FROM findings WHERE run = ?1), \
                     (SELECT length(run) FROM runs WHERE id = ?1) \
                     + (SELECT total(length(finding)) FROM findings JOIN bodies USING (number) WHERE run = ?1) \
                     + (SELECT total(length(head) + ifnull(length(found), 0)) FROM searches WHERE run = ?1) \
                     + (SELECT total(length(bytes)) FROM executions WHERE run = ?1)";
        self.read(|it| {
            it.prepare_cached(query)?.query_row([run], |it| {
                let n_bytes: Option<f64> = it.get(1)?;
                Ok((u64::from(it.get::<_, u32>(0)?), n_bytes.unwrap_or_default() as u64))
            })
        })
    }

    /// The finding whose id begins with `name`, or the run's, as one file.
    pub fn export(&self, name: &str) -> Result<Export, StoreError> {
        let is_run = name != "latest" && self.run_ids()?.iter().any(|it| it.starts_with(name));
        let (run, findings) = if is_run {
            let run = self.find_run(name)?;
            let findings = self.findings_of(&run.run)?;
            (run, findings)
        } else {
            let finding = self.find(name)?;
            (self.find_run(&finding.run)?, vec![finding])
        };
        Ok(Export { version: VERSION, raddle: self.build().to_owned(), run, findings })
    }

    /// Writes an export.
    pub fn write_export(path: &Path, export: &Export) -> Result<(), StoreError> {
        file::write(path, export)
    }

    /// Reads an export.
    pub fn read_export(path: &Path) -> Result<Export, StoreError> {
        file::read_or(path, REMEDY)
    }

    /// Takes in findings of another store, under the ids of their run and their own.
    pub fn import(&self, export: &Export) -> Result<(), StoreError> {
        let Export { run, findings, .. } = export;
        let is_plain = |it: &str| {
            !it.is_empty() && it.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'-')
        };
        let names = std::iter::once(&run.run).chain(findings.iter().map(|it| &it.id));
        if let Some(name) = names.into_iter().find(|it| !is_plain(it)) {
            return Err(StoreError::Name { name: name.clone() });
        }
        let mut database = Database::create(self.root())?;
        self.ignore_in_git()?;
        database.change(|it| {
            rows::keep_run(it, run)?;
            for finding in findings {
                let finding = StoredFinding { run: run.run.clone(), ..finding.clone() };
                rows::put_finding(it, &finding, self.words)?;
            }
            Ok(())
        })
    }

    /// Notes what the user has decided about a finding.
    pub fn set_review(&self, stored: &StoredFinding, review: Review) -> Result<(), StoreError> {
        self.write(&StoredFinding { review: Some(review), ..stored.clone() })
    }

    /// Throws a finding away, in whatever runs it was found.
    pub fn discard(&self, id: &str) -> Result<(), StoreError> {
        let mut database = Database::create(self.root())?;
        database.change(|it| it.execute("DELETE FROM findings WHERE id = ?1", [id])).map(drop)
    }

    /// What would be thrown away to keep no more than this. Runs with findings that the user keeps stay.
    pub fn prunable(&self, retention: &Retention) -> Result<Pruned, StoreError> {
        let ids = self.run_ids()?;
        let n_too_many = ids.len().saturating_sub(retention.n_runs);
        let oldest_ms = time::now_ms().saturating_sub(retention.days * 24 * 60 * 60 * 1000);
        let mut pruned = Pruned::default();
        for (idx, id) in ids.iter().enumerate() {
            let is_old = time::of_run_id(id).is_some_and(|it| it < oldest_ms);
            if idx >= n_too_many && !is_old {
                continue;
            }
            let query = "SELECT count(*) FROM findings JOIN bodies USING (number) \
                         WHERE run = ?1 AND CAST(finding AS TEXT) ->> 'review' = 'kept'";
            let n_kept: u32 = self.read(|it| it.query_row(query, [id], |it| it.get(0)))?;
            if n_kept > 0 {
                continue;
            }
            let (n_findings, n_bytes) = self.size_of(id)?;
            pruned.n_findings += n_findings as usize;
            pruned.n_bytes += n_bytes;
            pruned.runs.push(id.clone());
        }
        Ok(pruned)
    }

    /// Throws runs away.
    pub fn remove_runs(&self, runs: &[String]) -> Result<(), StoreError> {
        let mut database = Database::create(self.root())?;
        database.change(|it| {
            let mut statement = it.prepare("DELETE FROM runs WHERE id = ?1")?;
            runs.iter().try_for_each(|run| statement.execute([run]).map(drop))
        })?;
        database.shrink()
    }

    /// Throws away runs that found nothing, but for the newest so many: nobody misses them.
    pub fn forget_clean_runs(&self, n_kept: usize) -> Result<(), StoreError> {
        let mut database = Database::create(self.root())?;
        let text = "DELETE FROM runs WHERE has_ended \
                    AND id NOT IN (SELECT id FROM runs ORDER BY id DESC LIMIT ?1) \
                    AND id NOT IN (SELECT run FROM findings) AND id NOT IN (SELECT run FROM searches)";
        database.change(|it| it.execute(text, params![n_kept as i64])).map(drop)
    }

    /// What was found on one machine is no business of the repository, until the user says so.
    pub(super) fn ignore_in_git(&self) -> Result<(), StoreError> {
        let path = self.root().join(".gitignore");
        if path.exists() {
            return Ok(());
        }
        fs::write(&path, "*\n").map_err(StoreError::io("write", &path))
    }
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::{
        super::tests::{found, info},
        Retention, Store,
    };
    use crate::store::{Review, RunEnd, StoreError};

    fn store(folder: &TempDir) -> Store {
        Store::at(folder.path().join(".raddle"))
    }

    /// A run with one finding of this name.
    fn run(store: &Store, id: Option<&str>) -> String {
        let mut run = store.begin(info()).expect("begun");
        if let Some(id) = id {
            run.add(id, &found(7), Default::default()).expect("added");
        }
        run.finish(RunEnd::default()).expect("finished");
        // Ids sort by milliseconds.
        std::thread::sleep(std::time::Duration::from_millis(2));
        run.id().to_owned()
    }

    #[test]
    fn what_is_exported_is_imported() {
        let (here, there) = (TempDir::new().expect("a folder"), TempDir::new().expect("a folder"));
        let (ours, theirs) = (store(&here), store(&there));
        let id = run(&ours, Some("assert-1"));
        let file = here.path().join("x.raddle");
        Store::write_export(&file, &ours.export("assert").expect("exported")).expect("written");
        let export = Store::read_export(&file).expect("read");
        theirs.import(&export).expect("imported");
        theirs.import(&export).expect("twice is once");
        assert_eq!(theirs.list().expect("listed").len(), 1);
        assert_eq!(theirs.find("assert-1").expect("there"), ours.find("assert-1").expect("there"));
        assert_eq!(theirs.find_run(&id[..20]).expect("there"), ours.find_run(&id).expect("there"));
        assert_eq!(ours.export(&id).expect("a run").findings, export.findings);
    }

    #[test]
    fn names_in_an_export_are_no_paths() {
        let folder = TempDir::new().expect("a folder");
        let store = store(&folder);
        run(&store, Some("assert-1"));
        let mut export = store.export("assert-1").expect("exported");
        export.findings[0].id = "../../evil".into();
        assert!(matches!(store.import(&export), Err(StoreError::Name { .. })));
        assert!(!folder.path().join("evil.json").exists());
    }

    #[test]
    fn discarded_findings_are_gone() {
        let folder = TempDir::new().expect("a folder");
        let store = store(&folder);
        run(&store, Some("assert-1"));
        run(&store, Some("assert-1"));
        run(&store, Some("assert-2"));
        store.discard("assert-1").expect("discarded");
        let ids: Vec<String> = store.list().expect("listed").into_iter().map(|it| it.id).collect();
        assert_eq!(ids, ["assert-2"]);
        assert!(matches!(store.find("assert-1"), Err(StoreError::Unknown { .. })));
    }

    #[test]
    fn pruning_keeps_the_newest_and_what_was_kept() {
        let folder = TempDir::new().expect("a folder");
        let store = store(&folder);
        let kept = run(&store, Some("assert-1"));
        let stored = store.find("assert-1").expect("there");
        store.set_review(&stored, Review::Kept).expect("noted");
        let old = run(&store, Some("assert-2"));
        let new = run(&store, None);
        let pruned = store.prunable(&Retention { n_runs: 1, days: 30 }).expect("read");
        assert_eq!((pruned.runs.as_slice(), pruned.n_findings), (&[old][..], 1));
        assert!(pruned.n_bytes > 0);
        store.remove_runs(&pruned.runs).expect("removed");
        assert_eq!(store.run_ids().expect("read"), [kept, new]);
        assert_eq!(store.list().expect("listed").len(), 1);
        let none = store.prunable(&Retention { n_runs: 10, days: 30 }).expect("read");
        assert_eq!(none.runs, [""; 0]);
    }

    #[test]
    fn runs_that_found_nothing_are_forgotten() {
        let folder = TempDir::new().expect("a folder");
        let store = store(&folder);
        let all: Vec<String> =
            [None, Some("assert-1"), None, None].into_iter().map(|it| run(&store, it)).collect();
        store.forget_clean_runs(2).expect("done");
        assert_eq!(store.run_ids().expect("read"), all[1..]);
    }
}
