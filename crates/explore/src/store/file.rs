//! One JSON file: read with a look at its version, written at once or not at all.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::Write,
    path::Path,
    process,
    sync::atomic::{AtomicU64, Ordering},
};

use serde::{
    Deserialize, Serialize,
    de::{DeserializeOwned, IgnoredAny},
};

use super::{StoreError, VERSION};

/// What every file begins with.
#[derive(Deserialize)]
struct Head {
    version: u32,
    raddle: String,
}

/// What to do about a damaged file.
const REMEDY: &str = "delete it to continue without it";

/// Reads a file of this version.
pub(super) fn read<T: DeserializeOwned>(path: &Path) -> Result<T, StoreError> {
    read_or(path, REMEDY)
}

/// Reads a file of this version; if it is damaged, the user is told `remedy`.
pub(super) fn read_or<T: DeserializeOwned>(
    path: &Path,
    remedy: &'static str,
) -> Result<T, StoreError> {
    parse(&fs::read(path).map_err(StoreError::io("read", path))?, path, remedy)
}

/// Is it an object with this key? Anything that can't be read is not.
pub(super) fn has_key(path: &Path, key: &str) -> bool {
    let object = fs::read(path)
        .ok()
        .and_then(|it| serde_json::from_slice::<BTreeMap<String, IgnoredAny>>(&it).ok());
    object.is_some_and(|it| it.contains_key(key))
}

/// A value of this version that was read from a file.
pub(super) fn parse<T: DeserializeOwned>(
    bytes: &[u8],
    path: &Path,
    remedy: &'static str,
) -> Result<T, StoreError> {
    let corrupted = |error: serde_json::Error| StoreError::Corrupted {
        file: path.to_owned(),
        why: error.to_string(),
        remedy,
    };
    let head: Head = serde_json::from_slice(bytes).map_err(corrupted)?;
    if head.version > VERSION {
        return Err(StoreError::Newer { file: path.to_owned(), raddle: head.raddle });
    }
    serde_json::from_slice(bytes).map_err(|error| match head.version < VERSION {
        true => StoreError::Older { file: path.to_owned(), raddle: head.raddle, remedy },
        false => corrupted(error),
    })
}

/// Writes a file: beside it first, then renamed, so that readers see the old one or the new one.
pub(super) fn write<T: Serialize>(path: &Path, value: &T) -> Result<(), StoreError> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let beside = path.with_extension(format!("{}-{count}.tmp", process::id()));
    let mut bytes = serde_json::to_vec(value).expect("bug: every stored value has a JSON form");
    bytes.push(b'\n');
    let written = File::create(&beside).and_then(|mut file| {
        file.write_all(&bytes)?;
        file.sync_data()
    });
    let written = written.and_then(|()| fs::rename(&beside, path));
    written.map_err(|source| {
        // The write has failed already; a leftover beside it is the smaller harm.
        let _ = fs::remove_file(&beside);
        StoreError::Io { action: "write", file: path.to_owned(), source }
    })
}
