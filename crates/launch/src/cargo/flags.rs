//! The flags that put hooks into Rust, and whether this compiler knows them.
//!
//! They are unstable, so they may come and go: each compiler is asked once, by compiling an empty crate,
//! and its answer is kept in the cache under its version.

use std::{
    env, fs,
    io::Write as _,
    path::Path,
    process::{Command, Stdio},
};

use super::{CargoError, ask};
use crate::{Cache, CacheError};

/// A flag, and what is lost without it; nothing can be done without those that have no answer.
struct Flag {
    text: &'static str,
    without: Option<&'static str>,
}

const FLAGS: [Flag; 4] = [
    Flag { text: "-Zsanitizer=thread", without: None },
    Flag { text: "-Zexternal-clangrt", without: None },
    // Compilers that do not know it do not ask for it: nothing is lost.
    Flag { text: "-Cunsafe-allow-abi-mismatch=sanitizer", without: Some("") },
    Flag {
        text: "-Cllvm-args=-tsan-instrument-read-before-write",
        without: Some("reads in `x += 1` not instrumented (plain `x`)"),
    },
];

/// What stays the user's to say is left out: optimisation, assertions, panics. Names need debug
/// information, whatever the profile. `cfg(raddle)` is for tests that would take too long here.
const ALWAYS: [&str; 4] =
    ["-Cdebuginfo=2", "-Cstrip=none", "--cfg=raddle", "--check-cfg=cfg(raddle)"];

/// A flag that the compiler does not know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lost {
    /// The flag.
    pub flag: String,
    /// What is lost by it.
    pub what: String,
    /// The compiler's name and version.
    pub version: String,
}

impl std::fmt::Display for Lost {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{} does not support {}: {}", self.version, self.flag, self.what)
    }
}

/// A Rust compiler.
#[derive(Debug)]
pub(super) struct Compiler {
    pub(super) program: std::ffi::OsString,
    /// `rustc 1.95.0 (59807616e 2026-04-14)`.
    pub(super) version: String,
    pub(super) host: String,
}

impl Compiler {
    /// The one that cargo uses in this folder.
    pub(super) fn identify(folder: &Path) -> Result<Compiler, CargoError> {
        let program = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
        let output = ask(Command::new(&program).arg("-vV").current_dir(folder))?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let host = text.lines().find_map(|it| it.strip_prefix("host: ")).unwrap_or_default();
        let version = text.lines().next().unwrap_or_default();
        Ok(Compiler { program, version: version.to_owned(), host: host.to_owned() })
    }

    /// The flags to use, and those that it does not know.
    pub(super) fn probe(&self, cache: &Cache) -> Result<(Vec<String>, Vec<Lost>), CargoError> {
        let key = format!("{} {}", self.version, FLAGS.map(|it| it.text).join(" "));
        let entry = format!("rustc/{:016x}", raddle_model::hash_bytes(key.as_bytes()));
        let known = match fs::read_to_string(cache.path(&entry)) {
            Ok(known) => known,
            Err(_) => {
                let known = self.known(cache)?;
                cache.write(&entry, known.as_bytes())?;
                known
            }
        };
        let is_known = |flag: &Flag| known.lines().any(|it| it == flag.text);
        let mut lost = Vec::new();
        for flag in FLAGS.iter().filter(|it| !is_known(it)) {
            let (flag, version) = match flag.without {
                None => {
                    let version = self.version.clone();
                    return Err(CargoError::Flag { flag: flag.text.to_owned(), version });
                }
                Some("") => continue,
                Some(what) => ((flag.text, what), self.version.clone()),
            };
            lost.push(Lost { flag: flag.0.to_owned(), what: flag.1.to_owned(), version });
        }
        let flags = FLAGS.iter().filter(|it| is_known(it)).map(|it| it.text).chain(ALWAYS);
        Ok((flags.map(str::to_owned).collect(), lost))
    }

    /// The flags that it knows, one a line.
    fn known(&self, cache: &Cache) -> Result<String, CargoError> {
        let all: Vec<&str> = FLAGS.iter().map(|it| it.text).collect();
        if self.accepts(&all, cache)? {
            return Ok(all.join("\n"));
        }
        let mut known = Vec::new();
        for flag in all {
            if self.accepts(&[flag], cache)? {
                known.push(flag);
            }
        }
        Ok(known.join("\n"))
    }

    fn accepts(&self, flags: &[&str], cache: &Cache) -> Result<bool, CargoError> {
        let folder = tempfile::tempdir_in(cache.root())
            .map_err(|source| CacheError::Io { path: cache.root().into(), source })?;
        let mut command = Command::new(&self.program);
        command.args(["-", "--crate-name=probe", "--crate-type=lib", "--emit=obj", "--target"]);
        command.arg(&self.host).arg("--out-dir").arg(folder.path()).args(flags);
        command.env("RUSTC_BOOTSTRAP", "1");
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let start = |source| CargoError::Start { name: super::lossy(&self.program), source };
        let mut process = command.spawn().map_err(start)?;
        let mut source = process.stdin.take().expect("bug: a pipe was asked for");
        // A compiler that refuses its flags does not read.
        let _ = source.write_all(b"#![no_std]\npub fn probe(x: &mut u32) { *x += 1; }\n");
        drop(source);
        Ok(process.wait().map_err(start)?.success())
    }
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;

    #[test]
    fn the_compiler_at_hand_knows_all_flags() {
        let folder = TempDir::new().unwrap();
        let cache = Cache::at(folder.path()).unwrap();
        let compiler = Compiler::identify(folder.path()).unwrap();
        let (flags, lost) = compiler.probe(&cache).unwrap();
        assert_eq!(lost, []);
        assert_eq!(flags.len(), FLAGS.len() + ALWAYS.len());
        assert_eq!(compiler.probe(&cache).unwrap().0, flags, "from the cache");
        assert!(!compiler.accepts(&["-Zno-such-flag"], &cache).unwrap());
    }

    #[test]
    fn a_compiler_without_a_flag_is_named() {
        let folder = TempDir::new().unwrap();
        let cache = Cache::at(folder.path()).unwrap();
        let compiler =
            Compiler { program: "false".into(), version: "rustc 1.0".into(), host: "x".into() };
        let said = compiler.probe(&cache).unwrap_err().to_string();
        assert_eq!(
            said,
            "rustc 1.0 does not support -Zsanitizer=thread, which the instrumentation requires; use Rust 1.90 or later"
        );
    }
}
