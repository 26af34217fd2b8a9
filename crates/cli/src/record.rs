//! Findings, kept. What can't be written is a warning: recording must not fail a run.

use raddle_explore::{
    Found, Ids, Store, StoreError, StoredFinding,
    store::{Run, RunEnd, RunInfo, SearchFile, SearchSettings},
};
use raddle_model::{Finding, Reproduced};

use crate::terminal::Terminal;

/// The store's side of a run.
#[derive(Debug)]
pub(crate) struct Record {
    /// `None` once something could not be written.
    run: Option<Run>,
}

impl Record {
    /// Begins a run; gives back the ids that are taken.
    pub(crate) fn begin(store: &Store, info: RunInfo, terminal: &mut Terminal) -> (Record, Ids) {
        let begun = store.ids().and_then(|ids| Ok((store.begin(info)?, ids)));
        match begun {
            Ok((run, ids)) => (Record { run: Some(run) }, ids),
            Err(error) => {
                warn(&error, terminal);
                (Record { run: None }, Ids::new())
            }
        }
    }

    /// Keeps a finding, or what is new about it.
    pub(crate) fn add(
        &mut self,
        id: &str,
        finding: &Finding,
        reproduced: Reproduced,
        terminal: &mut Terminal,
    ) {
        let Some(run) = &mut self.run else { return };
        if let Err(error) = run.add(id, finding, reproduced) {
            warn(&error, terminal);
            self.run = None;
        }
    }

    /// Keeps all that was found out about a finding.
    pub(crate) fn add_found(&mut self, found: &Found, terminal: &mut Terminal) {
        let Some(run) = &mut self.run else { return };
        if let Err(error) = run.add_found(found) {
            warn(&error, terminal);
            self.run = None;
        }
    }

    /// Takes over the findings of an earlier part of this run's search.
    pub(crate) fn take_over(&mut self, findings: Vec<StoredFinding>, terminal: &mut Terminal) {
        for found in findings {
            let Some(run) = &mut self.run else { return };
            if let Err(error) = run.take_over(found) {
                warn(&error, terminal);
                self.run = None;
            }
        }
    }

    /// A search, kept with the run. Does it go on with an earlier one?
    pub(crate) fn search(&self, settings: SearchSettings, goes_on: bool) -> Option<SearchFile> {
        let run = self.run.as_ref()?;
        Some(if goes_on { run.resumed_search(settings) } else { run.search(settings) })
    }

    /// The run's id.
    pub(crate) fn id(&self) -> Option<&str> {
        self.run.as_ref().map(Run::id)
    }

    /// Notes how the run ended.
    pub(crate) fn finish(&mut self, end: RunEnd, terminal: &mut Terminal) {
        let Some(run) = &mut self.run else { return };
        if let Err(error) = run.finish(end) {
            warn(&error, terminal);
        }
    }
}

/// Runs that found nothing are kept up to this number.
const CLEAN_RUNS_MAX: usize = 100;

impl Record {
    /// Makes room, now that this run is kept. If that fails, the store is only larger.
    pub(crate) fn forget_clean_runs(&self, store: &Store) {
        if self.run.is_some() {
            let _ = store.forget_clean_runs(CLEAN_RUNS_MAX);
        }
    }
}

fn warn(error: &StoreError, terminal: &mut Terminal) {
    terminal
        .warning(&format!("this run is not stored, and its findings can't be replayed: {error}"));
}
