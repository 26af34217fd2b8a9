//! The runtime library: embedded in this crate by `build.rs`, unpacked once where programs can load it.
//!
//! Programs built by `raddle cc` name its folder in their run path and `libraddle_rt.so` among the
//! libraries they need. The loader knows libraries by that name (the SONAME), so a program built with
//! an older Raddle and started with a newer library preloaded has the newer one only.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use crate::{Cache, CacheError};

/// The file name and the SONAME of the runtime library.
pub const RUNTIME_NAME: &str = "libraddle_rt.so";

/// A hash of the library's contents, as hexadecimal digits.
pub const RUNTIME_HASH: &str = env!("RADDLE_RT_HASH");

static LIBRARY: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/libraddle_rt.so"));

/// Unpacks the runtime library unless it is there, and gives back its absolute path.
pub fn extract_runtime(cache: &Cache) -> Result<PathBuf, CacheError> {
    cache.write_once(format!("rt-{RUNTIME_HASH}/{RUNTIME_NAME}"), LIBRARY)
}

/// The program that is started has this runtime, and no other of the same name, wherever the loader would find one: cargo's
/// `LD_LIBRARY_PATH` names folders in which another build of it may lie, and goes before a program's own run path.
pub(crate) fn preload(command: &mut Command, runtime: &Path) {
    let mut preload = runtime.as_os_str().to_owned();
    if let Some(others) = std::env::var_os("LD_PRELOAD").filter(|it| !it.is_empty()) {
        preload.push(":");
        preload.push(others);
    }
    command.env("LD_PRELOAD", preload);
}

/// `raddle.h`, for programs that have something to say to Raddle.
pub const HEADER: &str = include_str!("../include/raddle.h");

/// What programs can include, by name.
pub const HEADERS: [(&str, &str); 3] = [
    ("raddle.h", HEADER),
    ("raddle_linear.h", include_str!("../include/raddle_linear.h")),
    ("raddle.hpp", include_str!("../include/raddle.hpp")),
];

/// Unpacks the headers, and gives back the absolute path of the folder that they are in.
pub(crate) fn extract_header(cache: &Cache) -> Result<PathBuf, CacheError> {
    let hash_of =
        |hash, text: &str| raddle_model::mix(hash, raddle_model::hash_bytes(text.as_bytes()));
    let hash = HEADERS.iter().fold(0, |hash, it| hash_of(hash, it.1));
    let mut path = PathBuf::new();
    for (name, text) in HEADERS {
        path = cache.write_once(format!("include-{hash:016x}/{name}"), text.as_bytes())?;
    }
    path.pop();
    Ok(path)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::sync::Barrier;
    use std::thread;

    use object::read::elf::{Dyn as _, ElfFile64, FileHeader as _};
    use object::{Endianness, elf};
    use tempfile::TempDir;

    use super::*;

    #[test]
    fn many_at_once_see_a_whole_file() {
        let folder = TempDir::new().unwrap();
        let cache = Cache::at(folder.path()).unwrap();
        let start = Barrier::new(8);
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    start.wait();
                    let path = extract_runtime(&cache).unwrap();
                    assert!(path.ends_with(format!("rt-{RUNTIME_HASH}/libraddle_rt.so")));
                    assert_eq!(fs::read(path).unwrap(), LIBRARY);
                });
            }
        });
    }

    #[test]
    fn a_truncated_file_is_replaced() {
        let folder = TempDir::new().unwrap();
        let cache = Cache::at(folder.path()).unwrap();
        let path = extract_runtime(&cache).unwrap();
        fs::write(&path, "torn").unwrap();
        extract_runtime(&cache).unwrap();
        assert_eq!(fs::read(path).unwrap(), LIBRARY);
    }

    #[test]
    fn its_soname_is_its_name() {
        let file = ElfFile64::<Endianness>::parse(LIBRARY).unwrap();
        let (endian, header) = (file.endian(), file.elf_header());
        let sections = header.sections(endian, LIBRARY).unwrap();
        let (entries, strings) = sections.dynamic(endian, LIBRARY).unwrap().unwrap();
        let strings = sections.strings(endian, LIBRARY, strings).unwrap();
        let soname = entries.iter().find(|entry| entry.tag(endian) == elf::DT_SONAME).unwrap();
        assert_eq!(soname.string(endian, strings).unwrap(), RUNTIME_NAME.as_bytes());
    }
}
