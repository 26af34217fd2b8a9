//! `raddle run x.c y.cc z.o`: sources to an executable, once for each content. Or `raddle run x.rs`.
//!
//! Each source is compiled on its own, which tells exactly what it read (`-MD`), then all are linked.
//! A *recipe* is what was asked for: inputs, flags, compilers, runtime, working folder. Its folder in
//! the cache holds a manifest of all files read when it was last followed, with hashes of their
//! contents; while they match, the executable from then is the answer.

mod manifest;

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use raddle_model::{hash_bytes, mix};

use crate::cc::Compiler;
use crate::{
    CacheError, CcError, Fault, Language, Toolchain,
    cargo::{CargoError, Hooked},
};
use manifest::Manifest;

/// What to compile.
#[derive(Clone, Debug, Default)]
pub struct CompileRequest {
    /// Sources (`.c`; `.cc .cpp .cxx .C .c++`) and what is to be linked to them (`.o .a .so`), or one `.rs`.
    pub inputs: Vec<PathBuf>,
    /// Flags of the user's, for compilations and the link; they win over the default `-O1 -g`, or rustc's likes.
    pub flags: Vec<OsString>,
}

/// A compiled program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compiled {
    /// The executable, named as the first input without its extension.
    pub program: PathBuf,
    /// What the compiler said nevertheless; empty when nothing had to be compiled.
    pub warnings: String,
    /// Was it there already?
    pub is_cached: bool,
}

/// Why there is no program.
#[derive(Debug, thiserror::Error)]
pub enum CompileError {
    /// An input is missing.
    #[error("file not found: {}", path.display())]
    NoSuchFile {
        /// Which.
        path: PathBuf,
    },
    /// An input is neither a source nor something to link.
    #[error("`{}` is not a C, C++ or Rust source, object or library", path.display())]
    UnknownKind {
        /// Which.
        path: PathBuf,
    },
    /// A Rust source among others.
    #[error(
        "`{}` can't be compiled together with other files; name only the Rust source with `main`, pass objects to \
         link with --cflags=-Clink-arg=x.o, and use `cargo raddle` for crates",
        path.display()
    )]
    NotAlone {
        /// Which.
        path: PathBuf,
    },
    /// There was nothing to compile.
    #[error("no source given")]
    NoInput,
    /// The compiler or the linker refused.
    #[error("the compiler failed:\n{stderr}")]
    Compiler {
        /// All that it said.
        stderr: String,
    },
    /// The compiler was not started.
    #[error(transparent)]
    Cc(#[from] CcError),
    /// The same, of the Rust compiler.
    #[error(transparent)]
    Rust(#[from] CargoError),
    /// A file could not be read or a process not started.
    #[error("can't use `{}`: {source}", path.display())]
    Io {
        /// Which file or program.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

impl CompileError {
    /// Whose fault it is.
    pub fn fault(&self) -> Fault {
        match self {
            CompileError::NoSuchFile { .. } | CompileError::UnknownKind { .. } => Fault::User,
            CompileError::NoInput | CompileError::NotAlone { .. } => Fault::User,
            CompileError::Rust(_) => Fault::User,
            CompileError::Compiler { .. } => Fault::Compiler,
            CompileError::Cc(error) => error.fault(),
            CompileError::Io { .. } => Fault::World,
        }
    }
}

impl From<CacheError> for CompileError {
    fn from(error: CacheError) -> Self {
        CompileError::Cc(CcError::Cache(error))
    }
}

/// Compiles and links, or finds what was compiled before.
pub fn compile(toolchain: &Toolchain, request: &CompileRequest) -> Result<Compiled, CompileError> {
    let inputs = classify(&request.inputs)?;
    let stem = inputs[0].path.file_stem().expect("bug: a file has a name").to_owned();
    let rust = match inputs[0].kind {
        InputKind::Rust => Some(Hooked::open(Path::new("."))?),
        _ => None,
    };
    let recipe = recipe(toolchain, request, &inputs, rust.as_ref())?;
    let folder = PathBuf::from(format!("programs/{recipe:016x}"));

    let manifest_entry = folder.join("manifest");
    if let Some(manifest) = Manifest::load(&toolchain.cache.path(&manifest_entry))
        && manifest.is_current()
    {
        let program = toolchain.cache.path(folder.join(manifest.digest()).join(&stem));
        if program.is_file() {
            return Ok(Compiled { program, warnings: String::new(), is_cached: true });
        }
    }

    let work = toolchain.cache.workplace()?;
    let mut job = Job { toolchain, request, work: work.path(), warnings: String::new() };
    let to = work.path().join(&stem);
    let dependencies = match &rust {
        Some(rust) => job.compile_rust(rust, inputs[0].path, &to)?,
        None => {
            let (objects, dependencies) = job.compile_all(&inputs)?;
            job.link(&inputs, &objects, &to)?;
            dependencies
        }
    };
    let warnings = job.warnings;

    let manifest = Manifest::of(dependencies);
    let program = toolchain.cache.path(folder.join(manifest.digest()).join(&stem));
    put_in_place(&to, &program)?;
    toolchain.cache.write(manifest_entry, manifest.render().as_bytes())?;
    Ok(Compiled { program, warnings, is_cached: false })
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum InputKind {
    Source(Language),
    Rust,
    Object,
    SharedLibrary,
}

struct Input<'a> {
    path: &'a Path,
    kind: InputKind,
}

fn classify(paths: &[PathBuf]) -> Result<Vec<Input<'_>>, CompileError> {
    let mut inputs = Vec::new();
    for path in paths {
        if !path.is_file() {
            return Err(CompileError::NoSuchFile { path: path.clone() });
        }
        let Some(kind) = kind_of(path) else {
            return Err(CompileError::UnknownKind { path: path.clone() });
        };
        inputs.push(Input { path, kind });
    }
    match inputs.iter().find(|it| it.kind == InputKind::Rust) {
        Some(it) if inputs.len() > 1 => Err(CompileError::NotAlone { path: it.path.to_owned() }),
        _ if inputs.is_empty() => Err(CompileError::NoInput),
        _ => Ok(inputs),
    }
}

fn kind_of(path: &Path) -> Option<InputKind> {
    let is_versioned_library =
        path.file_name().is_some_and(|name| name.to_string_lossy().contains(".so."));
    match path.extension()?.to_str()? {
        "c" => Some(InputKind::Source(Language::C)),
        "cc" | "cpp" | "cxx" | "C" | "c++" => Some(InputKind::Source(Language::Cxx)),
        "rs" => Some(InputKind::Rust),
        "o" | "a" => Some(InputKind::Object),
        "so" => Some(InputKind::SharedLibrary),
        _ if is_versioned_library => Some(InputKind::SharedLibrary),
        _ => None,
    }
}

/// Objects alone may be C++ ones, and the C++ driver links C as well.
fn link_language(inputs: &[Input<'_>]) -> Language {
    let has = |language| inputs.iter().any(|input| input.kind == InputKind::Source(language));
    if has(Language::C) && !has(Language::Cxx) { Language::C } else { Language::Cxx }
}

/// A hash of all that is asked for, contents of files aside.
fn recipe(
    toolchain: &Toolchain,
    request: &CompileRequest,
    inputs: &[Input<'_>],
    rust: Option<&Hooked>,
) -> Result<u64, CompileError> {
    let mut hash = mix(0, 1); // To change with the defaults below.
    let mut add = |bytes: &OsStr| hash = mix(hash, hash_bytes(bytes.as_bytes()));
    let here =
        std::env::current_dir().map_err(|source| CompileError::Io { path: ".".into(), source })?;
    add(here.as_os_str());
    add(toolchain.runtime.as_os_str());
    inputs.iter().for_each(|input| add(input.path.as_os_str()));
    add(OsStr::new("--"));
    request.flags.iter().for_each(|flag| add(flag));
    if let Some(rust) = rust {
        add(OsStr::new(rust.version()));
        return Ok(hash);
    }
    for language in [Language::C, Language::Cxx] {
        let is_used = link_language(inputs) == language
            || inputs.iter().any(|input| input.kind == InputKind::Source(language));
        if is_used {
            hash = mix(hash, Compiler::of(toolchain, language)?.identity);
        }
    }
    Ok(hash)
}

/// One following of a recipe.
struct Job<'a> {
    toolchain: &'a Toolchain,
    request: &'a CompileRequest,
    work: &'a Path,
    warnings: String,
}

impl Job<'_> {
    /// Compiles every source, also after one has failed: the user wants all of the errors. Gives back
    /// what to link, in order, and all files that were read.
    fn compile_all(
        &mut self,
        inputs: &[Input<'_>],
    ) -> Result<(Vec<PathBuf>, Vec<PathBuf>), CompileError> {
        let mut objects = Vec::new();
        let mut dependencies = Vec::new();
        let mut has_failed = false;
        for (idx, input) in inputs.iter().enumerate() {
            let InputKind::Source(language) = input.kind else {
                objects.push(input.path.to_path_buf());
                dependencies.push(input.path.to_path_buf());
                continue;
            };
            let object = self.work.join(format!("{idx}.o"));
            let depfile = self.work.join(format!("{idx}.d"));
            has_failed |= !self.compile(language, input.path, &object, &depfile)?;
            let text = fs::read(&depfile).unwrap_or_default();
            dependencies.extend(manifest::dependencies(&text));
            objects.push(object);
        }
        if has_failed { Err(self.failure()) } else { Ok((objects, dependencies)) }
    }

    /// Gives back all files that were read.
    fn compile_rust(
        &mut self,
        rust: &Hooked,
        source: &Path,
        to: &Path,
    ) -> Result<Vec<PathBuf>, CompileError> {
        let compiled = rust.compile(source, &self.request.flags, to)?;
        self.warnings = compiled.words;
        let files = manifest::dependencies(&compiled.rules);
        if compiled.is_program { Ok(files) } else { Err(self.failure()) }
    }

    fn compile(
        &mut self,
        language: Language,
        source: &Path,
        object: &Path,
        depfile: &Path,
    ) -> Result<bool, CompileError> {
        let mut args = self.default_args();
        args.extend(split_flags(&self.request.flags).0);
        args.extend(["-c".into(), "-MD".into(), "-MF".into(), depfile.into()]);
        args.extend(["-o".into(), object.into(), source.into()]);
        self.run(language, &args)
    }

    fn link(
        &mut self,
        inputs: &[Input<'_>],
        objects: &[PathBuf],
        program: &Path,
    ) -> Result<(), CompileError> {
        let mut args = self.default_args();
        let (first, last) = split_flags(&self.request.flags);
        args.extend(first);
        args.extend(["-o".into(), program.into()]);
        args.extend(objects.iter().map(OsString::from));
        args.extend(last);
        for library in inputs.iter().filter(|input| input.kind == InputKind::SharedLibrary) {
            let folder = fs::canonicalize(library.path.parent().unwrap_or(Path::new("")));
            let folder = folder.or_else(|_| std::env::current_dir()).unwrap_or_default();
            args.extend(["-Xlinker".into(), "-rpath".into(), "-Xlinker".into(), folder.into()]);
        }
        if self.run(link_language(inputs), &args)? { Ok(()) } else { Err(self.failure()) }
    }

    fn default_args(&self) -> Vec<OsString> {
        ["-O1", "-g", "-pthread"].map(OsString::from).into()
    }

    fn run(&mut self, language: Language, args: &[OsString]) -> Result<bool, CompileError> {
        let mut command = self.toolchain.driver(language, args)?;
        let output = command
            .output()
            .map_err(|source| CompileError::Io { path: command.get_program().into(), source })?;
        self.warnings.push_str(&String::from_utf8_lossy(&output.stdout));
        self.warnings.push_str(&String::from_utf8_lossy(&output.stderr));
        Ok(output.status.success())
    }

    fn failure(&mut self) -> CompileError {
        CompileError::Compiler { stderr: std::mem::take(&mut self.warnings) }
    }
}

/// Flags for all, then those for the linker alone: libraries come after the objects that need them, and
/// a compilation would complain of them.
fn split_flags(flags: &[OsString]) -> (Vec<OsString>, Vec<OsString>) {
    let (mut for_all, mut for_linker) = (Vec::new(), Vec::new());
    let mut rest = flags.iter().cloned();
    while let Some(flag) = rest.next() {
        let bytes = flag.as_bytes();
        if matches!(bytes, b"-l" | b"-L" | b"-Xlinker" | b"-z" | b"-u") {
            for_linker.push(flag);
            for_linker.extend(rest.next());
        } else if [&b"-l"[..], b"-L", b"-Wl,"].iter().any(|start| bytes.starts_with(start)) {
            for_linker.push(flag);
        } else {
            for_all.push(flag);
        }
    }
    (for_all, for_linker)
}

/// Renames, so that nobody ever sees half a program; the file system is the same.
fn put_in_place(from: &Path, to: &Path) -> Result<(), CompileError> {
    let folder = to.parent().expect("bug: a program lies in a folder");
    let put = || -> io::Result<()> {
        fs::create_dir_all(folder)?;
        fs::rename(from, to)
    };
    put().map_err(|source| CompileError::Io { path: to.into(), source })
}
