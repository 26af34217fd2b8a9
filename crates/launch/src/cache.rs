//! The folder that outlives a run: runtime libraries, compiled programs, what compilers accept.
//!
//! Several Raddles share it at once. So whatever lies in it is complete and never changes: it is
//! written beside its place and renamed into it, under a name that is a hash of what it depends on.

use std::env;
use std::ffi::OsString;
use std::fs::{self, DirBuilder, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use tempfile::{NamedTempFile, TempDir};

use crate::Fault;

/// The cache folder. Invariant: `root` is absolute and was writable when it was opened.
#[derive(Clone, Debug)]
pub struct Cache {
    root: PathBuf,
}

/// Why the cache can't be used.
#[derive(Debug, thiserror::Error)]
pub enum CacheError {
    /// No folder of the search is writable.
    #[error("no writable cache directory (tried {tried}); set RADDLE_CACHE")]
    NoFolder {
        /// The folders, with commas between.
        tried: String,
    },
    /// A file of the cache could not be read or written.
    #[error("can't use the cache at `{}`: {source}", path.display())]
    Io {
        /// Which file or folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

impl CacheError {
    /// Whose fault it is.
    pub fn fault(&self) -> Fault {
        Fault::World
    }
}

impl Cache {
    /// Opens the first writable one of `$RADDLE_CACHE`, `$XDG_CACHE_HOME/raddle`, `~/.cache/raddle` and
    /// a folder of this user's own among the temporary files.
    pub fn open() -> Result<Cache, CacheError> {
        let mut tried = Vec::new();
        for folder in candidates(|name| env::var_os(name)) {
            match Cache::at(&folder) {
                Ok(cache) => return Ok(cache),
                Err(_) => tried.push(folder.display().to_string()),
            }
        }
        if let Ok(cache) = temporary(&mut tried) {
            return Ok(cache);
        }
        Err(CacheError::NoFolder { tried: tried.join(", ") })
    }

    /// Opens the folder at `root`, making it if need be.
    pub fn at(root: &Path) -> Result<Cache, CacheError> {
        let usable = || -> io::Result<PathBuf> {
            fs::create_dir_all(root)?;
            NamedTempFile::new_in(root)?;
            fs::canonicalize(root)
        };
        let root = usable().map_err(|source| CacheError::Io { path: root.into(), source })?;
        Ok(Cache { root })
    }

    /// The folder itself.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The path of an entry, there or not.
    pub(crate) fn path(&self, entry: impl AsRef<Path>) -> PathBuf {
        self.root.join(entry)
    }

    /// Puts `bytes` in place of `entry`, for all readers at once, and gives back its path.
    pub(crate) fn write(
        &self,
        entry: impl AsRef<Path>,
        bytes: &[u8],
    ) -> Result<PathBuf, CacheError> {
        let path = self.path(entry);
        let put = || -> io::Result<()> {
            let folder = path.parent().expect("bug: an entry lies below the root");
            fs::create_dir_all(folder)?;
            let mut file = NamedTempFile::new_in(folder)?;
            file.write_all(bytes)?;
            // Other users may run the program; a temporary file is born private.
            file.as_file().set_permissions(Permissions::from_mode(0o644))?;
            file.persist(&path)?;
            Ok(())
        };
        match put() {
            Ok(()) => Ok(path),
            Err(source) => Err(CacheError::Io { path, source }),
        }
    }

    /// As [`Cache::write`], for an entry whose name says what is in it: nothing to do if it is there.
    pub(crate) fn write_once(
        &self,
        entry: impl AsRef<Path>,
        bytes: &[u8],
    ) -> Result<PathBuf, CacheError> {
        let path = self.path(entry.as_ref());
        match fs::metadata(&path) {
            Ok(metadata) if metadata.len() == bytes.len() as u64 => Ok(path),
            _ => self.write(entry, bytes),
        }
    }

    /// A folder to work in, on the cache's own file system, gone when dropped.
    pub(crate) fn workplace(&self) -> Result<TempDir, CacheError> {
        let made = TempDir::with_prefix_in("work-", &self.root);
        made.map_err(|source| CacheError::Io { path: self.root.clone(), source })
    }
}

fn candidates(variable: impl Fn(&str) -> Option<OsString>) -> Vec<PathBuf> {
    let folder = |name: &str, below: &str| {
        let value = variable(name).filter(|value| !value.is_empty())?;
        Some(PathBuf::from(value).join(below))
    };
    let found = [
        folder("RADDLE_CACHE", ""),
        folder("XDG_CACHE_HOME", "raddle"),
        folder("HOME", ".cache/raddle"),
    ];
    found.into_iter().flatten().collect()
}

/// What lies here is later loaded into programs, so a folder that somebody else made is no good.
fn temporary(tried: &mut Vec<String>) -> Result<Cache, ()> {
    let me = fs::metadata("/proc/self").map_err(|_| ())?.uid();
    let folder = env::temp_dir().join(format!("raddle-{me}"));
    tried.push(folder.display().to_string());
    let _there_already = DirBuilder::new().mode(0o700).create(&folder);
    let metadata = fs::symlink_metadata(&folder).map_err(|_| ())?;
    let is_ours = metadata.is_dir() && metadata.uid() == me && metadata.mode() & 0o022 == 0;
    if is_ours { Cache::at(&folder).map_err(|_| ()) } else { Err(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_replaced_as_a_whole() {
        let folder = TempDir::new().unwrap();
        let cache = Cache::at(&folder.path().join("a/b")).unwrap();
        let path = cache.write("x/y", b"one").unwrap();
        cache.write("x/y", b"three").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"three");
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o644);
    }

    #[test]
    fn the_most_special_folder_comes_first() {
        let found = candidates(|name| Some(format!("/{name}").into()));
        let expected = ["/RADDLE_CACHE/", "/XDG_CACHE_HOME/raddle", "/HOME/.cache/raddle"];
        assert_eq!(found, expected.map(PathBuf::from));
        let found = candidates(|name| (name != "HOME").then(OsString::new));
        assert!(found.is_empty(), "an empty variable is none: {found:?}");
    }

    #[test]
    fn what_cannot_be_made_is_named() {
        let folder = TempDir::new().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "").unwrap();
        let error = Cache::at(&file.join("cache")).unwrap_err();
        assert!(error.to_string().contains("file/cache"), "{error}");
        assert_eq!(error.fault(), Fault::World);
    }
}
