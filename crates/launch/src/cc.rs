//! `raddle cc` and `raddle c++`: the real compiler, with our hooks in what it compiles and our runtime
//! in what it links.
//!
//! The hooks are those of `-fsanitize=thread`, but the compiler's driver must not hear of it, or it
//! links its own runtime. So the flag goes past the driver to the compiler proper: for gcc by a specs
//! file that adds to `cc1` (as distributions do for hardening), for clang by `-Xclang`. Every
//! invocation therefore stays one invocation, however it mixes sources, objects and libraries, and
//! names of dependency files, `-save-temps`, link-time optimisation and diagnostics are the compiler's
//! own. The road not taken, splitting into compilations and a link, has to redo all of these by hand.
//!
//! Sibling calls need no flag: `__tsan_func_exit` stands between such a call and the return, so no
//! instrumented function makes one.

mod args;
mod compiler;
mod options;
mod response;
mod sanitize;

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{Cache, CacheError, Fault, extract_runtime, runtime::extract_header};
use args::Invocation;
pub(crate) use compiler::Compiler;
use compiler::Family;

/// Which compiler driver: they differ in the libraries they link and in what `.c` means to them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Language {
    /// `cc`.
    C,
    /// `c++`.
    Cxx,
}

/// Which compiler stands behind `raddle cc`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum CompilerChoice {
    /// `$RADDLE_CC` or `$RADDLE_CXX` (words, as in `ccache gcc-13`), else `cc` or `c++`.
    #[default]
    Environment,
    /// `gcc` or `g++`.
    Gcc,
    /// `clang` or `clang++`.
    Clang,
    /// This one, for both languages.
    Program(PathBuf),
}

/// Why an invocation never reached the compiler.
#[derive(Debug, thiserror::Error)]
pub enum CcError {
    /// A static program has no place for hooks on libc.
    #[error("{flag} is not supported; link dynamically")]
    Static {
        /// `-static` or `-static-pie`.
        flag: String,
    },
    /// Another sanitizer that can't be combined with the hooks.
    #[error("-fsanitize={name} can't be combined with raddle's instrumentation; remove it")]
    Sanitizer {
        /// Its name.
        name: String,
    },
    /// There is no such compiler.
    #[error("compiler `{name}` not found; set RADDLE_CC or RADDLE_CXX")]
    NoCompiler {
        /// As it was looked for.
        name: String,
    },
    /// It is there but did not start, or is not gcc or clang, or has no `-fsanitize=thread`.
    #[error("can't use the compiler `{name}`: {reason}")]
    UnfitCompiler {
        /// As it was looked for.
        name: String,
        /// Why not.
        reason: String,
    },
    /// The cache folder failed us.
    #[error(transparent)]
    Cache(#[from] CacheError),
}

impl CcError {
    /// Whose fault it is. A compiler that refuses its input is not here: its exit code says so.
    pub fn fault(&self) -> Fault {
        match self {
            CcError::Static { .. } | CcError::Sanitizer { .. } | CcError::NoCompiler { .. } => {
                Fault::User
            }
            CcError::UnfitCompiler { .. } => Fault::User,
            CcError::Cache(error) => error.fault(),
        }
    }
}

/// What a compiler driver needs besides its arguments.
#[derive(Clone, Debug)]
pub struct Toolchain {
    /// Where answers of compilers and specs files are kept.
    pub cache: Cache,
    /// The runtime library to link.
    pub runtime: PathBuf,
    /// Which compiler.
    pub choice: CompilerChoice,
}

/// The command that does what `cc` or `c++` would do with `args`, hooks and runtime added, for the
/// caller to `exec`: its output and exit code are the compiler's own.
pub fn driver(language: Language, args: &[OsString]) -> Result<Command, CcError> {
    Toolchain::open(CompilerChoice::Environment)?.driver(language, args)
}

impl Toolchain {
    /// The cache of this user, and the embedded runtime unpacked in it.
    pub fn open(choice: CompilerChoice) -> Result<Toolchain, CacheError> {
        let cache = Cache::open()?;
        let runtime = extract_runtime(&cache)?;
        Ok(Toolchain { cache, runtime, choice })
    }

    /// As the free [`driver`], with everything named.
    pub fn driver(&self, language: Language, args: &[OsString]) -> Result<Command, CcError> {
        let invocation = Invocation::parse(args);
        let words = compiler::words(&self.choice, language);
        let mut command = compiler::command(&words);
        if !invocation.has_inputs() {
            command.args(args);
            return Ok(command);
        }
        if let Some(name) = invocation.sanitizers.conflict() {
            return Err(CcError::Sanitizer { name: name.into() });
        }
        if let Some(flag) = invocation.static_flag() {
            return Err(CcError::Static { flag: flag.into() });
        }
        let compiler = Compiler::identify(words, &self.cache)?;
        self.add_hooks(&mut command, &compiler, &invocation)?;
        if invocation.links() && !invocation.is_relocatable {
            add_runtime(&mut command, &self.runtime);
        }
        self.add_user_args(&mut command, args, &invocation)?;
        Ok(command)
    }

    /// Our flags stand first, so that what the user says about the same things wins.
    fn add_hooks(
        &self,
        command: &mut Command,
        compiler: &Compiler,
        invocation: &Invocation,
    ) -> Result<(), CacheError> {
        if invocation.compiles() {
            command.args(["-g", "-fno-omit-frame-pointer"]);
            // After all others: a `raddle.h` of the user's own comes first.
            command.arg("-idirafter").arg(extract_header(&self.cache)?);
        }
        if invocation.sanitizers.is_thread_refused() {
            return Ok(());
        }
        match compiler.family {
            // The link has it too: with -flto it compiles.
            Family::Gcc => {
                let mut specs = OsString::from("-specs=");
                specs.push(compiler.specs(&self.cache)?);
                command.arg(specs);
            }
            Family::Clang if invocation.compiles() => {
                command.args(&compiler.hook_flags);
            }
            Family::Clang => {}
        }
        Ok(())
    }

    fn add_user_args(
        &self,
        command: &mut Command,
        args: &[OsString],
        invocation: &Invocation,
    ) -> Result<(), CacheError> {
        if !invocation.is_rewritten {
            command.args(args);
        } else if invocation.has_response_file {
            // What was too long for a command line still is.
            let text = response::quote(&invocation.args);
            let name = format!("args/{:016x}.rsp", raddle_model::hash_bytes(text.as_bytes()));
            let mut arg = OsString::from("@");
            arg.push(self.cache.write_once(name, text.as_bytes())?);
            command.arg(arg);
        } else {
            command.args(&invocation.args);
        }
        Ok(())
    }
}

/// The runtime comes first of all libraries, for the loader looks for `pthread_create` in their order.
fn add_runtime(command: &mut Command, runtime: &Path) {
    let folder = runtime.parent().expect("bug: the runtime lies in a folder");
    command.arg("-L").arg(folder);
    command.args(["-Wl,--push-state,--no-as-needed", "-lraddle_rt", "-Wl,--pop-state"]);
    // Not `-Wl,-rpath,…`: a path may have commas.
    command.args(["-Xlinker", "-rpath", "-Xlinker"]).arg(folder);
}
