//! Cargo, driven so that a crate and its dependencies are built with our hooks, on the stable toolchain.
//!
//! The hooks are those of rustc's own `-Zsanitizer=thread`, without its runtime. The flags are for the
//! target only: an explicit `--target`, even if it is the host, keeps them from build scripts and proc
//! macros. The prebuilt `std` stays without hooks; its generic parts are compiled into the crate and have
//! them. What is built lies apart, in `target/raddle`. C and C++ of `-sys` crates go through our own `cc`.
//!
//! Flags of the user (`RUSTFLAGS`, configuration files) stay in force: ours are added to whichever source
//! of flags cargo takes, for it takes only one.

mod artifacts;
mod flags;
mod harness;
mod workspace;

use std::{
    env,
    ffi::{OsStr, OsString},
    fs,
    io::{self, BufReader},
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use crate::{Cache, CacheError, extract_runtime};

pub use artifacts::Built;
pub use flags::Lost;
pub use harness::{ListedTest, Listing, list_tests};
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
    #[error("can't start `{name}`: {source}; Rust crates need cargo and rustc on the path")]
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
    #[error("programs for {target} can't be controlled, only those for {TARGET}")]
    Target {
        /// Which.
        target: String,
    },
    /// The compiler has no such flag.
    #[error("{version} does not know {flag}, which the hooks need: use Rust 1.90 or later")]
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
    flags: Vec<String>,
    /// What this compiler can't do, and what is lost by it.
    pub lost: Vec<Lost>,
    /// The crates.
    pub workspace: Workspace,
    cache: Cache,
    runtime: PathBuf,
}

impl Cargo {
    /// Looks at the toolchain and at the crate. `args` are those that `cargo metadata` has to know:
    /// `--manifest-path`, `--offline`….
    pub fn open(args: &[OsString]) -> Result<Cargo, CargoError> {
        let cache = Cache::open()?;
        let runtime = extract_runtime(&cache)?;
        let program = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let workspace = Workspace::read(&program, args)?;
        let compiler = flags::Compiler::identify(&workspace.root)?;
        if compiler.host != TARGET {
            return Err(CargoError::Target { target: compiler.host });
        }
        let (flags, lost) = compiler.probe(&cache)?;
        Ok(Cargo { program, flags, lost, workspace, cache, runtime })
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
        self.add_environment(&mut command)?;
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        let start = |source| CargoError::Start { name: lossy(&self.program), source };
        let mut process = command.spawn().map_err(start)?;
        let lines = process.stdout.take().expect("bug: a pipe was asked for");
        let built = artifacts::read(BufReader::new(lines), &self.workspace);
        let status = process.wait().map_err(start)?;
        if status.success() { Ok(built) } else { Err(CargoError::Build) }
    }

    fn add_environment(&self, command: &mut Command) -> Result<(), CargoError> {
        command.env("RUSTC_BOOTSTRAP", "1");
        let mut ours = self.flags.clone();
        let folder = self.runtime.parent().expect("bug: the runtime lies in a folder");
        let folder = folder.to_string_lossy();
        for arg in ["-L", &folder, "-Wl,--push-state,--no-as-needed", "-lraddle_rt"] {
            ours.push(format!("-Clink-arg={arg}"));
        }
        // Not `-Wl,-rpath,…`: a path may have commas.
        for arg in ["-Wl,--pop-state", "-Xlinker", "-rpath", "-Xlinker", &folder] {
            ours.push(format!("-Clink-arg={arg}"));
        }
        self.add_flags(command, &ours);
        self.add_compilers(command)
    }

    /// Cargo takes flags from the first of these that there is: `CARGO_ENCODED_RUSTFLAGS`, `RUSTFLAGS`,
    /// the target's, the build's. We add to the one that it would take.
    fn add_flags(&self, command: &mut Command, ours: &[String]) {
        const SEPARATOR: &str = "\x1f";
        let variable = |name| env::var(name).ok().filter(|it: &String| !it.is_empty());
        let encoded = variable("CARGO_ENCODED_RUSTFLAGS");
        let words = |text: String| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let theirs: Vec<String> = match (encoded, variable("RUSTFLAGS")) {
            (Some(encoded), _) => encoded.split(SEPARATOR).map(str::to_owned).collect(),
            (None, Some(plain)) => words(plain),
            (None, None) => {
                workspace::configured_flags(&self.program, &self.workspace.root, TARGET)
            }
        };
        let all: Vec<String> = theirs.into_iter().chain(ours.iter().cloned()).collect();
        command.env("CARGO_ENCODED_RUSTFLAGS", all.join(SEPARATOR)).env_remove("RUSTFLAGS");
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
            let text = format!("#!/bin/sh\nexec '{}' {verb} \"$@\"\n", raddle.display());
            let hash = raddle_model::hash_bytes(text.as_bytes());
            let entry = format!("bin-{hash:016x}/raddle-{verb}");
            let path = self.cache.write_once(entry, text.as_bytes())?;
            let executable = fs::Permissions::from_mode(0o755);
            fs::set_permissions(&path, executable)
                .map_err(|source| CacheError::Io { path: path.clone(), source })?;
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
