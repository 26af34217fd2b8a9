//! Which code of a Rust program is not its own: std's, and that of crates from a registry, compiled into it.
//!
//! Told by the names of functions: all of a crate begin with the crate's name, and so do the instances of
//! its generic functions in other crates. Which crates come from a registry is in the debug information:
//! where each was compiled.

use std::{
    collections::BTreeSet,
    fs,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

use raddle_rust_std::{PERSONALITY, is_std_crate, root_crate};

use super::{debug::Debug, demangled, table::Table};
use crate::{Cache, CacheError};

/// Writes the ranges of such code into the cache, unless they are there, and gives back the file; `None`
/// for programs in other languages.
pub fn library_code(cache: &Cache, program: &Path) -> Result<Option<PathBuf>, CacheError> {
    let Ok(status) = fs::metadata(program) else { return Ok(None) };
    let key = format!(
        "{} {} {} {}",
        program.display(),
        status.len(),
        status.mtime(),
        status.mtime_nsec()
    );
    let entry = format!("library/{:016x}", raddle_model::hash_bytes(key.as_bytes()));
    let path = cache.path(&entry);
    let n_bytes = match fs::metadata(&path) {
        Ok(status) => status.len(),
        Err(_) => {
            let bytes = bytes(program);
            cache.write(&entry, &bytes)?;
            bytes.len() as u64
        }
    };
    Ok((n_bytes > 0).then_some(path))
}

fn bytes(program: &Path) -> Vec<u8> {
    ranges(program).into_iter().flatten().flat_map(u64::to_le_bytes).collect()
}

/// Sorted, and joined where they touch.
fn ranges(program: &Path) -> Vec<[u64; 2]> {
    let table = Table::load(program);
    if !table.functions().any(|it| it.name == PERSONALITY) {
        return Vec::new();
    }
    let registry = Debug::load(program).map(|it| it.registry_crates()).unwrap_or_default();
    let mut ranges: Vec<[u64; 2]> = Vec::new();
    let mut end = 0;
    for function in table.functions() {
        if !is_library(&demangled(&function.name), &registry) {
            continue;
        }
        // Padding belongs to the function before it: a return address may be just behind a call.
        let start = if function.address.saturating_sub(end) < 16 { end } else { function.address };
        end = end.max(function.address + function.size.max(1));
        match ranges.last_mut() {
            Some(last) if start <= last[1] => last[1] = last[1].max(end),
            _ => ranges.push([function.address, end]),
        }
    }
    ranges
}

/// Does the function with this name in the symbol table belong to Rust's std?
pub(super) fn is_std(name: &str) -> bool {
    is_library(&demangled(name), &BTreeSet::new())
}

/// Does the function belong to std or to one of these crates?
fn is_library(function: &str, registry: &BTreeSet<String>) -> bool {
    root_crate(function).is_some_and(|it| is_std_crate(it) || registry.contains(it))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crates_are_told_by_names() {
        let registry = BTreeSet::from(["parking_lot".to_owned()]);
        for (name, expected) in [
            ("core::sync::atomic::atomic_load::<u32>", true),
            ("<alloc::sync::Arc<mine::T> as core::ops::drop::Drop>::drop", true),
            ("<&mut std::fs::File as std::io::Read>::read", true),
            ("<mine::T as core::ops::drop::Drop>::drop", false),
            ("mine::core::f", false),
            ("standard::f", false),
            ("parking_lot::raw_mutex::RawMutex::lock_slow", true),
            ("<fn() as core::ops::function::FnOnce<()>>::call_once", true),
            ("main", false),
        ] {
            assert_eq!(is_library(name, &registry), expected, "{name}");
        }
    }
}
