//! Where the debug information of a module is: in the module itself, or in a file of its own that
//! `objcopy --only-keep-debug` or a distribution's package made.
//!
//! The places are those that gdb knows: by build id below `/usr/lib/debug`, and by the name in
//! `.gnu_debuglink` beside the module, in `.debug` beside it, and below `/usr/lib/debug`. A file is taken
//! only if its build id is the module's (or, without one, if its checksum is the one in the link).

use std::{
    ffi::OsStr,
    fmt::Write as _,
    fs,
    os::unix::ffi::OsStrExt as _,
    path::{Path, PathBuf},
};

use object::{Endianness, Object as _, ObjectSection as _, read::elf::ElfFile64};

/// Where distributions put debug information.
const DEBUG_ROOT: &str = "/usr/lib/debug";

/// The file that has the debug information of a module; `None` if there is none to be found.
pub(super) fn debug_file(module: &Path) -> Option<PathBuf> {
    let bytes = fs::read(module).ok()?;
    let file = ElfFile64::<Endianness>::parse(&*bytes).ok()?;
    if has_debug_information(&file) {
        return Some(module.to_owned());
    }
    let build_id = file.build_id().ok().flatten();
    let link = file.gnu_debuglink().ok().flatten();
    let by_id = build_id.and_then(|it| by_build_id(it, Path::new(DEBUG_ROOT)));
    let by_link = link.map(|(name, _)| by_link(module, name)).unwrap_or_default();
    let fits = |candidate: &PathBuf| {
        let Ok(bytes) = fs::read(candidate) else { return false };
        let Ok(other) = ElfFile64::<Endianness>::parse(&*bytes) else { return false };
        let is_same = match build_id {
            Some(id) => other.build_id().ok().flatten() == Some(id),
            None => link.is_some_and(|(_, checksum)| checksum == crc32(&bytes)),
        };
        is_same && has_debug_information(&other)
    };
    by_id.into_iter().chain(by_link).find(fits)
}

fn has_debug_information(file: &ElfFile64<'_, Endianness>) -> bool {
    let section = file.section_by_name(".debug_info");
    section.is_some_and(|it| it.size() > 0 && it.file_range().is_some())
}

/// `/usr/lib/debug/.build-id/ab/cdef….debug`.
fn by_build_id(id: &[u8], root: &Path) -> Option<PathBuf> {
    let (first, rest) = id.split_first()?;
    let mut name = String::new();
    for byte in rest {
        let _ = write!(name, "{byte:02x}");
    }
    Some(root.join(".build-id").join(format!("{first:02x}")).join(format!("{name}.debug")))
}

fn by_link(module: &Path, name: &[u8]) -> Vec<PathBuf> {
    let name = OsStr::from_bytes(name);
    let module = fs::canonicalize(module).unwrap_or_else(|_| module.to_owned());
    let Some(folder) = module.parent() else { return Vec::new() };
    let below_root = folder.strip_prefix("/").unwrap_or(folder);
    vec![
        folder.join(name),
        folder.join(".debug").join(name),
        Path::new(DEBUG_ROOT).join(below_root).join(name),
    ]
}

/// The checksum that `objcopy --add-gnu-debuglink` writes.
fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| {
            let is_odd = crc & 1 == 1;
            (crc >> 1) ^ if is_odd { 0xedb8_8320 } else { 0 }
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_those_of_gdb() {
        let path = by_build_id(&[0xab, 0x01, 0xff], Path::new("/d")).unwrap();
        assert_eq!(path, Path::new("/d/.build-id/ab/01ff.debug"));
        assert_eq!(by_build_id(&[], Path::new("/d")), None);
        let paths = by_link(Path::new("/nowhere/bin/x"), b"x.debug");
        let expected = [
            "/nowhere/bin/x.debug",
            "/nowhere/bin/.debug/x.debug",
            "/usr/lib/debug/nowhere/bin/x.debug",
        ];
        assert_eq!(paths, expected.map(PathBuf::from));
    }

    #[test]
    fn checksums_are_those_of_objcopy() {
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
    }
}
