//! What rustc is told, so that what it makes has hooks and the runtime: by cargo's wrapper, or for one file.

use std::path::{Path, PathBuf};

use super::{
    CargoError, TARGET,
    flags::{Compiler, Lost},
    shims,
};
use crate::{Cache, extract_runtime};

/// See the module.
#[derive(Debug)]
pub(crate) struct Hooked {
    pub(super) compiler: Compiler,
    /// For the code, and what the linker is told of std.
    pub(super) flags: Vec<String>,
    /// What this compiler can't do, and what is lost by it.
    pub(super) lost: Vec<Lost>,
    pub(super) cache: Cache,
    pub(super) runtime: PathBuf,
}

impl Hooked {
    /// Looks at the compiler that is used in this folder.
    pub(crate) fn open(folder: &Path) -> Result<Hooked, CargoError> {
        let cache = Cache::open()?;
        let runtime = extract_runtime(&cache)?;
        let compiler = Compiler::identify(folder)?;
        if compiler.host != TARGET {
            return Err(CargoError::Target { target: compiler.host });
        }
        let (mut flags, lost) = compiler.probe(&cache)?;
        flags.extend(shims::link_args(&compiler, &cache)?);
        Ok(Hooked { compiler, flags, lost, cache, runtime })
    }

    /// The compiler's name and version.
    pub(crate) fn version(&self) -> &str {
        &self.compiler.version
    }

    /// The flags, and where the runtime is.
    pub(super) fn rustc_args(&self) -> Vec<String> {
        let folder = self.runtime.parent().expect("bug: the runtime lies in a folder");
        let folder = folder.to_string_lossy();
        let link_args = [
            "-L",
            &folder,
            "-Wl,--push-state,--no-as-needed",
            "-lraddle_rt",
            "-Wl,--pop-state",
            // Not `-Wl,-rpath,…`: a path may have commas.
            "-Xlinker",
            "-rpath",
            "-Xlinker",
            &folder,
        ];
        let link_args = link_args.into_iter().map(|it| format!("-Clink-arg={it}"));
        self.flags.iter().cloned().chain(link_args).collect()
    }
}
