//! Findings out of the store, by what the user calls them.

use std::path::Path;

use raddle_explore::{Store, StoredFinding};
use raddle_report::{Shown, Style, json, text};

use crate::{
    args::{Common, Format},
    exit::Failure,
};

/// The finding with this id or start of an id, or in this file.
pub(crate) fn find(common: &Common, name: &str) -> Result<StoredFinding, Failure> {
    let path = Path::new(name);
    let is_file = path.extension().is_some_and(|it| it == "json") || name.contains('/');
    if is_file {
        return Ok(Store::read_file(path)?);
    }
    Ok(Store::at(&common.store).find(name)?)
}

/// The finding as the user wants to read it.
pub(crate) fn text(stored: &StoredFinding, format: Format, base: &str, style: &Style) -> String {
    let reproduced = (stored.reproduced.m > 0)
        .then_some(json::Reproduced { n: stored.reproduced.n, of: stored.reproduced.m });
    let shown = Shown {
        finding: &stored.finding,
        id: &stored.id,
        seed: Some(stored.info.seed),
        reproduced,
        base,
    };
    match format {
        Format::Json => json::finding(&shown),
        Format::Human => {
            let mut sources = raddle_launch::Symbols::new();
            text::finding(&shown, style, &mut |place| sources.source_line(place))
        }
    }
}
