//! Findings out of the store, by what the user calls them.

use std::{
    fs,
    path::Path,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use raddle_explore::{Store, StoredFinding};
use raddle_report::{
    Shown, Style,
    finding::text,
    formats::{self, json},
    pages::Source,
    words::fault,
};

use crate::{
    args::{Common, Format},
    exit::Failure,
    version,
};

/// The store of a directory, to be written to.
pub(crate) fn store(directory: &Path) -> Store {
    Store::at(directory).saying(fault::message).written_by(version::build())
}

/// The finding with this id or start of an id, or in this file.
pub(crate) fn find(common: &Common, name: &str) -> Result<StoredFinding, Failure> {
    find_in(&common.store, name)
}

/// The same, in the store at `store`.
pub(crate) fn find_in(store: &Path, name: &str) -> Result<StoredFinding, Failure> {
    match file(name) {
        Some(path) => Ok(Store::read_file(path)?),
        None => Ok(Store::at(store).find(name)?),
    }
}

/// The file that a finding is named by, if it is.
pub(crate) fn file(name: &str) -> Option<&Path> {
    let path = Path::new(name);
    let is_file =
        path.extension().is_some_and(|it| it == "json" || it == "raddle") || name.contains('/');
    is_file.then_some(path)
}

/// The finding as the user wants to read it.
pub(crate) fn text(stored: &StoredFinding, format: Format, base: &str, style: &Style) -> String {
    let reproduced = stored.reproduced.if_tried();
    let shown = Shown {
        finding: &stored.finding,
        id: &stored.id,
        seed: Some(stored.info.seed),
        reproduced,
        base,
        explanation: stored.explanation.as_deref(),
        test: stored.info.target.test.as_deref(),
    };
    match format {
        Format::Json => json::finding(&shown),
        Format::Short => formats::short(&shown),
        Format::Human => {
            let mut sources = raddle_launch::Symbols::new();
            let found_at = found_at(stored);
            text::finding(&shown, style, &mut |place| {
                // The text of a file that was changed since may belong to other lines.
                is_older(&place.file, found_at).then(|| sources.source_line(place)).flatten()
            })
        }
    }
}

/// The text of a source file, if its lines are still those of the finding.
pub(crate) fn source(stored: &StoredFinding, file: &str) -> Source {
    match fs::read(file) {
        Err(_) => Source::Missing,
        Ok(_) if !is_older(file, found_at(stored)) => Source::Changed,
        // Sources are not always UTF-8.
        Ok(bytes) => Source::Text(String::from_utf8_lossy(&bytes).into_owned()),
    }
}

/// Kept in milliseconds, where files have nanoseconds.
fn found_at(stored: &StoredFinding) -> SystemTime {
    UNIX_EPOCH + Duration::from_millis(stored.found_ms.saturating_add(1))
}

fn is_older(file: &str, time: SystemTime) -> bool {
    fs::metadata(file).and_then(|it| it.modified()).is_ok_and(|it| it <= time)
}
