//! Which code of a Rust program is not its own: std's, and that of crates from a registry, compiled into it.
//!
//! Told by the names of functions: all of a crate begin with the crate's name, and so do the instances of
//! its generic functions in other crates. Which crates come from a registry is in the debug information:
//! where each was compiled.
//!
//! Beside it, the `pause` instructions in that code: locks spin before they sleep. Where one thread runs at a time, what a
//! spin waits for does not come, and only the pauses cost. And of all programs, calls of hooks (`hooked`).

use std::{
    collections::BTreeSet,
    fs,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

use iced_x86::{Decoder, DecoderOptions, Instruction, Mnemonic};
use object::{Endianness, Object as _, ObjectSection as _, SectionKind, read::elf::ElfFile64};
use raddle_rust_std::{PERSONALITY, is_std_crate, root_crate};

use super::{
    debug::Debug,
    demangled,
    hooked::near_calls,
    table::{Symbol, Table},
};
use crate::{Cache, CacheError};

const PAUSE: [u8; 2] = [0xf3, 0x90];

/// Writes the ranges of such code, behind them each pause as an empty range, and calls of hooks, into the cache, unless they
/// are there, and gives back the file; `None` if there is nothing to say.
pub fn library_code(cache: &Cache, program: &Path) -> Result<Option<PathBuf>, CacheError> {
    let Ok(status) = fs::metadata(program) else { return Ok(None) };
    let key = format!(
        "{} {} {} {}",
        program.display(),
        status.len(),
        status.mtime(),
        status.mtime_nsec()
    );
    let entry = format!("library-3/{:016x}", raddle_model::hash_bytes(key.as_bytes()));
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
    let all = library(program).into_iter().chain(near_calls(program));
    all.flatten().flat_map(u64::to_le_bytes).collect()
}

/// The ranges of such code, and the pauses.
fn library(program: &Path) -> Vec<[u64; 2]> {
    let table = Table::load(program);
    if !table.functions().any(|it| it.name == PERSONALITY) {
        return Vec::new();
    }
    let registry = Debug::load(program).map(|it| it.registry_crates()).unwrap_or_default();
    let functions: Vec<&Symbol> =
        table.functions().filter(|it| is_library(&demangled(&it.name), &registry)).collect();
    let pauses = pauses(program, &functions).into_iter().map(|it| [it, it]);
    ranges(&functions).into_iter().chain(pauses).collect()
}

/// Sorted, and joined where they touch.
fn ranges(functions: &[&Symbol]) -> Vec<[u64; 2]> {
    let mut ranges: Vec<[u64; 2]> = Vec::new();
    let mut end = 0;
    for function in functions {
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

/// The addresses of pauses, sorted.
fn pauses(program: &Path, functions: &[&Symbol]) -> Vec<u64> {
    let Ok(bytes) = fs::read(program) else { return Vec::new() };
    let Ok(file) = ElfFile64::<Endianness>::parse(&*bytes) else { return Vec::new() };
    let code: Vec<(u64, &[u8])> = file
        .sections()
        .filter(|it| it.kind() == SectionKind::Text)
        .filter_map(|it| Some((it.address(), it.data().ok()?)))
        .collect();
    let mut found = Vec::new();
    for function in functions {
        let bytes = code.iter().find_map(|(start, bytes)| {
            let at = function.address.checked_sub(*start)? as usize;
            bytes.get(at..at + function.size as usize)
        });
        found.extend(pauses_in(bytes.unwrap_or_default(), function.address));
    }
    // A function may have two names.
    found.sort_unstable();
    found.dedup();
    found
}

/// The same of one function; none if it does not decode from its beginning to its end.
fn pauses_in(code: &[u8], address: u64) -> Vec<u64> {
    if !code.windows(PAUSE.len()).any(|it| it == PAUSE) {
        return Vec::new();
    }
    let all: Vec<Instruction> =
        Decoder::with_ip(64, code, address, DecoderOptions::NONE).into_iter().collect();
    let is_code = all.iter().all(|it| !it.is_invalid());
    let pauses = all.iter().filter(|it| is_code && it.mnemonic() == Mnemonic::Pause);
    pauses.map(Instruction::ip).collect()
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
    fn pauses_are_instructions() {
        // pause; mov $0x90f3,%eax; pause
        let code = [0xf3, 0x90, 0xb8, 0xf3, 0x90, 0, 0, 0xf3, 0x90];
        assert_eq!(pauses_in(&code, 0x1000), [0x1000, 0x1007]);
        // An instruction that 64-bit code does not have.
        assert!(pauses_in(&[0xf3, 0x90, 0x0e], 0x1000).is_empty());
        assert!(pauses_in(&[0xc3], 0x1000).is_empty());
    }

    /// This program's, which is one in Rust.
    #[test]
    fn locks_of_std_pause() {
        let program = std::env::current_exe().unwrap();
        let words: Vec<u64> = bytes(&program)
            .chunks_exact(8)
            .map(|it| u64::from_le_bytes(it.try_into().unwrap()))
            .collect();
        let table = Table::load(&program);
        let mut pauses = words.chunks_exact(2).filter(|it| it[0] == it[1]);
        let is_in_lock = |it: &[u64]| {
            table
                .function(it[0])
                .is_some_and(|it| demangled(&it.name).ends_with("::lock_contended"))
        };
        assert!(pauses.any(is_in_lock));
    }

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
