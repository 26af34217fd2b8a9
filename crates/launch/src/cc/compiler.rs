//! The compiler behind the driver: where it is, gcc or clang, and which of our flags it takes. The
//! answers cost a few compilations of an empty file, so they are kept in the cache, under the
//! compiler's path, size and time of change.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use raddle_model::{hash_bytes, mix};

use super::{CcError, CompilerChoice, Language, Toolchain};
use crate::{Cache, CacheError};

/// To change with the meaning or the set of the flags below.
const ANSWER_VERSION: &str = "raddle compiler 1";

/// The two families of command lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Family {
    Gcc,
    Clang,
}

/// A compiler and what it takes.
#[derive(Clone, Debug)]
pub(crate) struct Compiler {
    pub(crate) family: Family,
    /// Invariant: for gcc they are for a specs file (`cc1` takes them), for clang for its driver.
    pub(crate) hook_flags: Vec<String>,
    /// Command, path, size and time of change, hashed: another version differs in them.
    pub(crate) identity: u64,
}

/// The words of the command, as the user said them.
pub(crate) fn words(choice: &CompilerChoice, language: Language) -> Vec<OsString> {
    let one = |c: &str, cxx: &str| match language {
        Language::C => vec![OsString::from(c)],
        Language::Cxx => vec![OsString::from(cxx)],
    };
    match choice {
        CompilerChoice::Gcc => one("gcc", "g++"),
        CompilerChoice::Clang => one("clang", "clang++"),
        CompilerChoice::Program(path) => vec![path.into()],
        CompilerChoice::Environment => {
            let name = &one("RADDLE_CC", "RADDLE_CXX")[0];
            let value = env::var(name).unwrap_or_default();
            let words: Vec<OsString> = value.split_whitespace().map(OsString::from).collect();
            if words.is_empty() { one("cc", "c++") } else { words }
        }
    }
}

pub(crate) fn command(words: &[OsString]) -> Command {
    let (program, args) = words.split_first().expect("bug: a compiler has a name");
    let mut command = Command::new(program);
    command.args(args);
    command
}

impl Compiler {
    /// The compiler that a toolchain has for `language`.
    pub(crate) fn of(toolchain: &Toolchain, language: Language) -> Result<Compiler, CcError> {
        Compiler::identify(words(&toolchain.choice, language), &toolchain.cache)
    }

    /// Finds out what compiler `words` is, or remembers.
    pub(crate) fn identify(words: Vec<OsString>, cache: &Cache) -> Result<Compiler, CcError> {
        let identity = mix(fingerprint(&words)?, wishes());
        let entry = format!("compilers/{identity:016x}");
        if let Ok(text) = fs::read_to_string(cache.path(&entry))
            && let Some(compiler) = Compiler::parse(&text, identity)
        {
            return Ok(compiler);
        }
        let work = cache.workplace()?;
        let compiler = Probe { words, folder: work.path().into() }.ask(identity)?;
        cache.write(entry, compiler.render().as_bytes())?;
        Ok(compiler)
    }

    /// A specs file that gives `cc1` the hooks without telling the driver.
    pub(crate) fn specs(&self, cache: &Cache) -> Result<PathBuf, CacheError> {
        let text = specs_text(&self.hook_flags);
        cache.write_once(format!("specs/{:016x}", hash_bytes(text.as_bytes())), text.as_bytes())
    }

    fn render(&self) -> String {
        let family = match self.family {
            Family::Gcc => "gcc",
            Family::Clang => "clang",
        };
        format!("{ANSWER_VERSION}\n{family}\n{}\n", self.hook_flags.join("\n"))
    }

    fn parse(text: &str, identity: u64) -> Option<Compiler> {
        let mut lines = text.lines();
        if lines.next()? != ANSWER_VERSION {
            return None;
        }
        let family = match lines.next()? {
            "gcc" => Family::Gcc,
            "clang" => Family::Clang,
            _ => return None,
        };
        Some(Compiler { family, hook_flags: lines.map(String::from).collect(), identity })
    }
}

fn specs_text(flags: &[String]) -> String {
    format!("*cc1:\n+ {}\n\n", flags.join(" "))
}

/// All words count: in `ccache gcc` the second is the compiler.
fn fingerprint(words: &[OsString]) -> Result<u64, CcError> {
    let mut hash = hash_bytes(ANSWER_VERSION.as_bytes());
    for (idx, word) in words.iter().enumerate() {
        hash = mix(hash, hash_bytes(word.as_bytes()));
        let found = find(word);
        if idx == 0 && found.is_none() {
            return Err(CcError::NoCompiler { name: word.to_string_lossy().into() });
        }
        let Some((path, metadata)) = found else { continue };
        hash = mix(hash, hash_bytes(path.as_os_str().as_bytes()));
        for value in [metadata.len(), metadata.mtime() as u64, metadata.mtime_nsec() as u64] {
            hash = mix(hash, value);
        }
    }
    Ok(hash)
}

fn find(word: &OsStr) -> Option<(PathBuf, fs::Metadata)> {
    let is_program = |path: PathBuf| {
        let metadata = fs::metadata(&path).ok()?;
        (metadata.is_file() && metadata.mode() & 0o111 != 0).then_some((path, metadata))
    };
    if word.as_bytes().contains(&b'/') {
        return is_program(PathBuf::from(word));
    }
    env::split_paths(&env::var_os("PATH")?).find_map(|folder| is_program(folder.join(word)))
}

/// Asks a compiler by compiling next to nothing.
struct Probe {
    words: Vec<OsString>,
    folder: PathBuf,
}

impl Probe {
    fn ask(&self, identity: u64) -> Result<Compiler, CcError> {
        let output = self.run(&["-dM", "-E", "-x", "c", "-"])?;
        let macros = String::from_utf8_lossy(&output.stdout);
        let has =
            |name: &str| macros.lines().any(|line| line.starts_with(&format!("#define {name} ")));
        let (family, base, wishes): (Family, &[&str], &[&[&str]]) = if has("__clang__") {
            (Family::Clang, CLANG_BASE, CLANG_WISHES)
        } else if has("__GNUC__") {
            (Family::Gcc, GCC_BASE, GCC_WISHES)
        } else {
            return Err(self.unfit("it is neither gcc nor clang"));
        };
        let mut hook_flags = owned(base);
        if !self.accepts(family, &hook_flags)? {
            return Err(self.unfit("it does not support -fsanitize=thread"));
        }
        for wish in wishes {
            let more = [hook_flags.clone(), owned(wish)].concat();
            if self.accepts(family, &more)? {
                hook_flags = more;
            }
        }
        Ok(Compiler { family, hook_flags, identity })
    }

    fn accepts(&self, family: Family, flags: &[String]) -> Result<bool, CcError> {
        let object = self.folder.join("probe.o").display().to_string();
        let specs = self.folder.join("specs").display().to_string();
        let specs_flag = format!("-specs={specs}");
        let mut args: Vec<&str> = match family {
            Family::Gcc => {
                let written = fs::write(&specs, specs_text(flags));
                written.map_err(|source| CacheError::Io { path: specs.into(), source })?;
                vec![&specs_flag]
            }
            Family::Clang => flags.iter().map(String::as_str).collect(),
        };
        args.extend(["-x", "c", "-c", "-o", &object, "-"]);
        Ok(self.run(&args)?.status.success())
    }

    fn run(&self, args: &[&str]) -> Result<Output, CcError> {
        let started = command(&self.words)
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn();
        let mut child = started.map_err(|error| self.unfit(error))?;
        if let Some(mut stdin) = child.stdin.take() {
            // A compiler that has seen enough may close its end first.
            let _closed_early = stdin.write_all(b"int raddle_probe;\n");
        }
        child.wait_with_output().map_err(|error| self.unfit(error))
    }

    fn unfit(&self, reason: impl ToString) -> CcError {
        let name = Path::new(&self.words[0]).display().to_string();
        CcError::UnfitCompiler { name, reason: reason.to_string() }
    }
}

/// gcc expands small copies in place after it has put the hooks in, so that nobody would see them: as
/// calls they reach the runtime's own `memcpy`.
const GCC_BASE: &[&str] =
    &["-fsanitize=thread", "-fno-builtin-memcpy", "-fno-builtin-memmove", "-fno-builtin-memset"];

/// Since gcc 11: volatile accesses are told apart; `-Wtsan` warns of fences, which `-Werror` would make
/// fatal. Older ones know neither: they refuse the parameter.
const GCC_WISHES: &[&[&str]] = &[&["--param", "tsan-distinguish-volatile=1", "-Wno-tsan"]];

const CLANG_BASE: &[&str] = &["-Xclang", "-fsanitize=thread"];

/// Without the first, clang leaves out the read of `x++`, and a step would have an access that nobody
/// announced.
const CLANG_WISHES: &[&[&str]] = &[
    &["-mllvm", "-tsan-instrument-read-before-write"],
    &["-mllvm", "-tsan-distinguish-volatile=1"],
];

/// What we ask of compilers, as a number: another version of Raddle asks anew.
fn wishes() -> u64 {
    let all = [GCC_BASE, CLANG_BASE]
        .into_iter()
        .chain(GCC_WISHES.iter().copied())
        .chain(CLANG_WISHES.iter().copied());
    all.flatten().fold(0, |hash, flag| mix(hash, hash_bytes(flag.as_bytes())))
}

fn owned(flags: &[&str]) -> Vec<String> {
    flags.iter().map(ToString::to_string).collect()
}
