//! What `cargo metadata` says about a crate or workspace.

use std::{
    ffi::{OsStr, OsString},
    path::{Path, PathBuf},
    process::Command,
};

use serde::Deserialize;

use super::{CargoError, ask};

/// The crates that are built, without their dependencies.
#[derive(Clone, Debug, Default)]
pub struct Workspace {
    /// The folder of the workspace.
    pub root: PathBuf,
    /// Where cargo builds without us.
    pub target_dir: PathBuf,
    /// Its members.
    pub packages: Vec<Package>,
}

/// One crate of the workspace.
#[derive(Clone, Debug, Default)]
pub struct Package {
    /// Cargo's own name for it.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// The folder of its manifest.
    pub root: PathBuf,
    /// The program that `cargo run` takes if there are several.
    pub default_run: Option<String>,
    /// Has it a library whose documentation has tests?
    pub has_doc_tests: bool,
    /// Is a proc macro all that it has?
    pub is_proc_macro: bool,
}

#[derive(Deserialize)]
struct Metadata {
    workspace_root: PathBuf,
    target_directory: PathBuf,
    packages: Vec<MetadataPackage>,
}

#[derive(Deserialize)]
struct MetadataPackage {
    id: String,
    name: String,
    version: String,
    manifest_path: PathBuf,
    #[serde(default)]
    default_run: Option<String>,
    targets: Vec<MetadataTarget>,
}

#[derive(Deserialize)]
struct MetadataTarget {
    kind: Vec<String>,
    #[serde(default)]
    doctest: bool,
}

impl Workspace {
    pub(super) fn read(cargo: &OsStr, args: &[OsString]) -> Result<Workspace, CargoError> {
        let mut command = Command::new(cargo);
        command.args(["metadata", "--no-deps", "--format-version=1"]).args(args);
        let output = ask(&mut command)?;
        let words = || String::from_utf8_lossy(&output.stderr).into_owned();
        if !output.status.success() {
            return Err(CargoError::Metadata { words: words() });
        }
        let metadata: Metadata = serde_json::from_slice(&output.stdout)
            .map_err(|error| CargoError::Metadata { words: error.to_string() })?;
        Ok(Workspace {
            root: metadata.workspace_root,
            target_dir: metadata.target_directory,
            packages: metadata.packages.into_iter().map(Package::from).collect(),
        })
    }

    /// The member that cargo calls so.
    pub(super) fn package(&self, id: &str) -> Option<&Package> {
        self.packages.iter().find(|it| it.id == id)
    }
}

impl From<MetadataPackage> for Package {
    fn from(it: MetadataPackage) -> Package {
        let is_kind = |target: &MetadataTarget, kind: &str| target.kind.iter().any(|it| it == kind);
        let is_macro = |target: &&MetadataTarget| is_kind(target, "proc-macro");
        let is_built = |target: &&MetadataTarget| !is_kind(target, "custom-build");
        Package {
            has_doc_tests: it.targets.iter().any(|it| it.doctest),
            is_proc_macro: it.targets.iter().filter(is_built).all(|it| is_macro(&it)),
            root: it.manifest_path.parent().unwrap_or(Path::new("/")).to_owned(),
            id: it.id,
            name: it.name,
            version: it.version,
            default_run: it.default_run,
        }
    }
}

/// The wrapper of rustc that the user has: cargo's variable counts before its configuration files.
pub(super) fn rustc_wrapper(cargo: &OsStr, folder: &Path) -> Option<String> {
    if let Ok(set) = std::env::var("RUSTC_WRAPPER") {
        return Some(set).filter(|it| !it.is_empty());
    }
    let mut command = Command::new(cargo);
    command.args(["-Zunstable-options", "config", "get", "--format=json-value"]);
    command.arg("build.rustc-wrapper").env("RUSTC_BOOTSTRAP", "1").current_dir(folder);
    let output = ask(&mut command).ok().filter(|it| it.status.success())?;
    serde_json::from_slice(&output.stdout).ok().filter(|it: &String| !it.is_empty())
}
