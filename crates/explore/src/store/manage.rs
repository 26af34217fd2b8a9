//! What a store's owner does with it: look through it, take a finding elsewhere, throw away.

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use super::{
    Review, Store, StoreError, StoredFinding, StoredRun, VERSION, file, index::Index, time,
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

impl Store {
    /// All runs, oldest first; those whose file is damaged are left out.
    pub fn runs(&self) -> Result<Vec<StoredRun>, StoreError> {
        let ids = self.run_ids()?;
        Ok(ids.iter().filter_map(|it| self.find_run(it).ok()).collect())
    }

    /// Bytes of a run's files.
    pub fn n_bytes(&self, run: &str) -> u64 {
        size(&self.run_dir(run))
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
        Ok(Export { version: VERSION, raddle: env!("CARGO_PKG_VERSION").into(), run, findings })
    }

    /// Writes an export.
    pub fn write_export(path: &Path, export: &Export) -> Result<(), StoreError> {
        file::write(path, export).map(|_| ())
    }

    /// Reads an export.
    pub fn read_export(path: &Path) -> Result<Export, StoreError> {
        file::read_or(path, "export it again")
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
        let folder = self.run_dir(&run.run).join("findings");
        fs::create_dir_all(&folder).map_err(StoreError::io("create", &folder))?;
        let run_file = self.run_dir(&run.run).join("run.json");
        if !run_file.exists() {
            file::write(&run_file, run)?;
        }
        self.ignore_in_git()?;
        for finding in findings {
            let finding = StoredFinding { run: run.run.clone(), ..finding.clone() };
            file::write(&self.finding_file(&run.run, &finding.id), &finding)?;
            Index::add(self, &finding)?;
        }
        Ok(())
    }

    /// Notes what the user has decided about a finding.
    pub fn set_review(&self, stored: &StoredFinding, review: Review) -> Result<(), StoreError> {
        let stored = StoredFinding { review: Some(review), ..stored.clone() };
        file::write(&self.finding_file(&stored.run, &stored.id), &stored).map(|_| ())
    }

    /// Throws a finding away, in whatever runs it was found.
    pub fn discard(&self, id: &str) -> Result<(), StoreError> {
        let mut files: Vec<PathBuf> = Vec::new();
        Index::change(self, |listed| {
            let is_it = listed.id == id;
            if is_it {
                files.push(self.finding_file(&listed.run, &listed.id));
            }
            !is_it
        })?;
        for file in files {
            fs::remove_file(&file).map_err(StoreError::io("remove", &file))?;
        }
        Ok(())
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
            let findings = self.findings_of(id).unwrap_or_default();
            if findings.iter().any(|it| it.review == Some(Review::Kept)) {
                continue;
            }
            pruned.n_findings += findings.len();
            pruned.n_bytes += self.n_bytes(id);
            pruned.runs.push(id.clone());
        }
        Ok(pruned)
    }

    /// Throws runs away.
    pub fn remove_runs(&self, runs: &[String]) -> Result<(), StoreError> {
        Index::change(self, |listed| !runs.contains(&listed.run))?;
        for run in runs {
            let folder = self.run_dir(run);
            fs::remove_dir_all(&folder).map_err(StoreError::io("remove", &folder))?;
        }
        Ok(())
    }

    /// Throws away runs that found nothing, but for the newest so many: nobody misses them.
    pub fn forget_clean_runs(&self, n_kept: usize) -> Result<(), StoreError> {
        let ids = self.run_ids()?;
        if ids.len() <= n_kept {
            return Ok(());
        }
        let is_clean = |it: &&String| {
            let folder = self.run_dir(it);
            let is_empty = || fs::read_dir(folder.join("findings"))?.next().transpose();
            let has_ended = || self.read_run(it).is_ok_and(|run| run.end.is_some());
            !folder.join("search.json").exists()
                && is_empty().is_ok_and(|it| it.is_none())
                && has_ended()
        };
        let clean: Vec<String> =
            ids[..ids.len() - n_kept].iter().filter(is_clean).cloned().collect();
        if clean.is_empty() { Ok(()) } else { self.remove_runs(&clean) }
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

/// Bytes of all files below a directory.
fn size(folder: &Path) -> u64 {
    let Ok(entries) = fs::read_dir(folder) else { return 0 };
    entries
        .flatten()
        .map(|it| match it.metadata() {
            Ok(data) if data.is_dir() => size(&it.path()),
            Ok(data) => data.len(),
            Err(_) => 0,
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::{
        super::tests::{found, info},
        Retention, Store,
    };
    use crate::{
        campaign::Reproduced,
        store::{Review, RunEnd, StoreError},
    };

    fn store(folder: &TempDir) -> Store {
        Store::at(folder.path().join(".raddle"))
    }

    /// A run with one finding of this name.
    fn run(store: &Store, id: Option<&str>) -> String {
        let mut run = store.begin(info()).expect("begun");
        if let Some(id) = id {
            run.add(id, &found(7), Reproduced::default()).expect("added");
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
