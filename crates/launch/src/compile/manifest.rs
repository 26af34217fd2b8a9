//! The files that a compilation read, with hashes of their contents, and the make rules that name them.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use raddle_model::{hash_bytes, mix};

/// Files and the hashes of their contents. Invariant: sorted, each once.
pub(super) struct Manifest {
    files: Vec<(PathBuf, u64)>,
}

impl Manifest {
    /// Reads `paths` as they are now; what can't be read is never current.
    pub(super) fn of(mut paths: Vec<PathBuf>) -> Manifest {
        paths.sort();
        paths.dedup();
        let files = paths.into_iter().map(|path| {
            let hash = hash_of(&path).unwrap_or(0);
            (path, hash)
        });
        Manifest { files: files.collect() }
    }

    pub(super) fn load(path: &Path) -> Option<Manifest> {
        let text = fs::read(path).ok()?;
        let mut files = Vec::new();
        for line in text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            let (hash, name) = line.split_at_checked(17)?;
            let hash = u64::from_str_radix(std::str::from_utf8(&hash[..16]).ok()?, 16).ok()?;
            files.push((PathBuf::from(OsStr::from_bytes(name)), hash));
        }
        Some(Manifest { files })
    }

    pub(super) fn render(&self) -> OsString {
        let mut text = Vec::new();
        for (path, hash) in &self.files {
            text.extend(format!("{hash:016x} ").bytes());
            text.extend(path.as_os_str().as_bytes());
            text.push(b'\n');
        }
        OsString::from_vec(text)
    }

    pub(super) fn is_current(&self) -> bool {
        self.files.iter().all(|(path, hash)| hash_of(path) == Some(*hash))
    }

    /// A name for these files with these contents.
    pub(super) fn digest(&self) -> String {
        let hash = self.files.iter().fold(0, |hash, (path, contents)| {
            mix(mix(hash, hash_bytes(path.as_os_str().as_bytes())), *contents)
        });
        format!("{hash:016x}")
    }
}

fn hash_of(path: &Path) -> Option<u64> {
    fs::read(path).ok().map(|bytes| hash_bytes(&bytes))
}

/// The prerequisites of the rules that `-MD` writes: `target: a b\ c \` and so on over lines.
pub(super) fn dependencies(rules: &[u8]) -> Vec<PathBuf> {
    let mut words: Vec<Vec<u8>> = vec![Vec::new()];
    let mut bytes = rules.iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        let word = words.last_mut().expect("bug: there is always a word");
        match (byte, bytes.peek().copied()) {
            (b'\\', Some(b'\n')) => {
                bytes.next();
                words.push(Vec::new());
            }
            (b'\\', Some(next @ (b' ' | b'#' | b'\\' | b':'))) => {
                bytes.next();
                word.push(next);
            }
            (b'$', Some(b'$')) => {
                bytes.next();
                word.push(b'$');
            }
            (b':', None | Some(b' ' | b'\n')) => words = vec![Vec::new()],
            _ if byte.is_ascii_whitespace() => words.push(Vec::new()),
            _ => word.push(byte),
        }
    }
    let files = words.into_iter().filter(|word| !word.is_empty());
    files.map(|word| PathBuf::from(OsString::from_vec(word))).collect()
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;

    #[track_caller]
    fn check(rules: &str, expected: &[&str]) {
        let expected: Vec<PathBuf> = expected.iter().map(PathBuf::from).collect();
        assert_eq!(dependencies(rules.as_bytes()), expected);
    }

    #[test]
    fn rules_are_read() {
        check("", &[]);
        check("a.o: a.c\n", &["a.c"]);
        check("a.o: a.c /usr/include/b.h \\\n c.h\n", &["a.c", "/usr/include/b.h", "c.h"]);
        check("a.o: a\\ b.c c$$d.h e\\#f.h\n", &["a b.c", "c$d.h", "e#f.h"]);
    }

    #[test]
    fn a_manifest_notices_changes() {
        let folder = TempDir::new().unwrap();
        let (a, b) = (folder.path().join("a b"), folder.path().join("b"));
        fs::write(&a, "1").unwrap();
        fs::write(&b, "2").unwrap();
        let manifest = Manifest::of(vec![b.clone(), a.clone(), b.clone()]);
        let stored = folder.path().join("manifest");
        fs::write(&stored, manifest.render().as_bytes()).unwrap();
        let loaded = Manifest::load(&stored).unwrap();
        assert!(loaded.is_current());
        assert_eq!(loaded.digest(), manifest.digest());
        fs::write(&a, "3").unwrap();
        assert!(!loaded.is_current());
        fs::remove_file(&a).unwrap();
        assert!(!loaded.is_current());
    }
}
