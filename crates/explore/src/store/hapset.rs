//! Which orders of two statements a program's executions have covered, kept for the next campaign.

use std::{io::ErrorKind, path::Path};

use raddle_plan::search::{HapSets, Pair};
use serde::{Deserialize, Serialize};

use super::{StoreError, VERSION, file};

/// The file. Statements are instructions, so it belongs to one build of a program.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct HapsetFile {
    version: u32,
    raddle: String,
    program_hash: u64,
    pairs: Vec<Pair>,
}

/// Reads what campaigns of the same build have covered; nothing, if there is no such file yet.
pub fn read_hapsets(path: &Path, program_hash: u64) -> Result<HapSets, StoreError> {
    let kept: HapsetFile = match file::read(path) {
        Err(StoreError::Io { source, .. }) if source.kind() == ErrorKind::NotFound => {
            return Ok(HapSets::default());
        }
        kept => kept?,
    };
    if kept.program_hash != program_hash {
        return Err(StoreError::OtherBuild { file: path.to_owned() });
    }
    Ok(HapSets::of_earlier(kept.pairs))
}

/// Writes what was covered, by this campaign and those before it.
pub fn write_hapsets(path: &Path, program_hash: u64, sets: &HapSets) -> Result<(), StoreError> {
    let kept = HapsetFile {
        version: VERSION,
        raddle: env!("CARGO_PKG_VERSION").into(),
        program_hash,
        pairs: sets.iter().map(|it| *it.0).collect(),
    };
    file::write(path, &kept)
}
