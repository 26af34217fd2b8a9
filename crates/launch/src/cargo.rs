//! Cargo, driven so that a crate and its dependencies are built with our hooks, on the stable toolchain.
//!
//! The hooks are those of rustc's own `-Zsanitizer=thread`, without its runtime. The flags are for the
//! target only: an explicit `--target`, even if it is the host, keeps them from build scripts and proc
//! macros. The prebuilt `std` stays without hooks; its generic parts are compiled into the crate and have
//! them. What is built lies apart, in `target/raddle`. C and C++ of `-sys` crates go through our own `cc`.
//!
//! Flags of the user (`RUSTFLAGS`, configuration files) stay in force: ours are added behind cargo's back, by
//! what runs rustc (`wrapper`).

mod artifacts;
mod file;
mod flags;
mod harness;
mod hooked;
mod shims;
mod workspace;
mod wrapper;

use std::{
    env,
    ffi::{OsStr, OsString},
    io::{self, BufReader},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use self::wrapper::Stamp;
use crate::CacheError;

pub use artifacts::Built;
pub use flags::Lost;
pub use harness::{ListedTest, Listing, list_tests};
pub(crate) use hooked::Hooked;
pub use workspace::{Package, Workspace};

/// The only machine that programs can be controlled on.
const TARGET: &str = "x86_64-unknown-linux-gnu";

/// What cargo is to build.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Artifacts {
    /// `cargo build`.
    Programs,
    /// `cargo test --no-run`.
    Tests,
}

/// Why a crate can't be built with hooks.
#[derive(Debug, thiserror::Error)]
pub enum CargoError {
    /// A program could not be started.
    #[error("can't start `{name}`: {source}; Rust crates require cargo and rustc in PATH")]
    Start {
        /// As it was looked for.
        name: String,
        /// What the system said.
        source: io::Error,
    },
    /// `cargo metadata` failed.
    #[error("cargo can't read the crate")]
    Metadata {
        /// Cargo's own words.
        words: String,
    },
    /// The toolchain makes programs for another machine.
    #[error("unsupported target `{target}`; raddle supports {TARGET} only")]
    Target {
        /// Which.
        target: String,
    },
    /// The compiler has no such flag.
    #[error(
        "{version} does not support {flag}, which the instrumentation requires; use Rust 1.90 or later"
    )]
    Flag {
        /// Which.
        flag: String,
        /// The compiler's name and version.
        version: String,
    },
    /// Cargo has said why.
    #[error("the crate does not build")]
    Build,
    /// The cache folder failed us.
    #[error(transparent)]
    Cache(#[from] CacheError),
}

/// A crate or workspace, and the toolchain that builds it with hooks.
#[derive(Debug)]
pub struct Cargo {
    program: OsString,
    hooked: Hooked,
    /// Flags for the packages that are built, not for those that they depend on.
    own_flags: Vec<String>,
    /// The crates.
    pub workspace: Workspace,
}

impl Cargo {
    /// Looks at the toolchain and at the crate. `args` are those that `cargo metadata` has to know:
    /// `--manifest-path`, `--offline`….
    pub fn open(args: &[OsString]) -> Result<Cargo, CargoError> {
        let program = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let workspace = Workspace::read(&program, args)?;
        let hooked = Hooked::open(&workspace.root)?;
        Ok(Cargo { program, hooked, own_flags: Vec::new(), workspace })
    }

    /// Sets `cfg`s for the packages that are built, and not for those that they depend on. rustc's own (`miri`) may be
    /// among them.
    pub fn with_cfgs(mut self, cfgs: &[String]) -> Cargo {
        self.own_flags = cfgs.iter().map(|it| format!("--cfg={it}")).collect();
        if !cfgs.is_empty() {
            self.own_flags.push("-Aexplicit_builtin_cfgs_in_flags".to_owned());
        }
        self
    }

    /// What this compiler can't do, and what is lost by it.
    pub fn lost(&self) -> &[Lost] {
        &self.hooked.lost
    }

    /// Where everything is built.
    pub fn target_dir(&self) -> PathBuf {
        self.workspace.target_dir.join("raddle")
    }

    /// Builds; cargo's own output passes through to standard error. `args` are cargo's.
    pub fn build(&self, what: Artifacts, args: &[OsString]) -> Result<Vec<Built>, CargoError> {
        let mut command = Command::new(&self.program);
        match what {
            Artifacts::Programs => command.arg("build"),
            Artifacts::Tests => command.args(["test", "--no-run"]),
        };
        command.args(["--message-format=json-render-diagnostics", "--target", TARGET]);
        command.arg("--target-dir").arg(self.target_dir()).args(args);
        self.add_compilers(&mut command)?;
        command.env("RUSTC_WRAPPER", self.wrapper()?);
        let flags = [&self.hooked.flags[..], &self.own_flags].concat();
        let stamp = Stamp::new(&self.target_dir(), &flags);
        stamp.check(&self.target_dir().join(TARGET))?;
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        let start = |source| CargoError::Start { name: lossy(&self.program), source };
        let mut process = command.spawn().map_err(start)?;
        let lines = process.stdout.take().expect("bug: a pipe was asked for");
        let built = artifacts::read(BufReader::new(lines), &self.workspace);
        let status = process.wait().map_err(start)?;
        stamp.put();
        if status.success() { Ok(built) } else { Err(CargoError::Build) }
    }

    /// What runs rustc: the flags, the runtime, what the user has there.
    fn wrapper(&self) -> Result<PathBuf, CargoError> {
        let inner = workspace::rustc_wrapper(&self.program, &self.workspace.root);
        let (cache, flags) = (&self.hooked.cache, self.hooked.rustc_args());
        Ok(wrapper::write(cache, &flags, &self.own_flags, inner.as_deref())?)
    }

    /// The `cc` crate and its like ask these variables for compilers of the target.
    fn add_compilers(&self, command: &mut Command) -> Result<(), CargoError> {
        let Ok(raddle) = env::current_exe() else { return Ok(()) };
        let target = TARGET.replace('-', "_");
        for (verb, variable, ours) in [("cc", "CC", "RADDLE_CC"), ("c++", "CXX", "RADDLE_CXX")] {
            let names =
                [format!("{variable}_{target}"), format!("TARGET_{variable}"), variable.into()];
            let theirs = names.iter().find_map(env::var_os);
            if let Some(theirs) = theirs.filter(|_| env::var_os(ours).is_none()) {
                command.env(ours, theirs);
            }
            let raddle = wrapper::quoted(&raddle.to_string_lossy());
            let text = format!("#!/bin/sh\nexec {raddle} {verb} \"$@\"\n");
            let path = wrapper::script(&self.hooked.cache, &format!("raddle-{verb}"), &text)?;
            command.env(&names[0], path);
        }
        Ok(())
    }
}

fn lossy(text: &OsStr) -> String {
    text.to_string_lossy().into_owned()
}

/// Runs a program for its standard output.
fn ask(command: &mut Command) -> Result<std::process::Output, CargoError> {
    let name = lossy(command.get_program());
    command.stdin(Stdio::null()).output().map_err(|source| CargoError::Start { name, source })
}

/// Is the path below the folder?
fn is_below(path: &str, folder: &Path) -> bool {
    Path::new(path).starts_with(folder)
}
