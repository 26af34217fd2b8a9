//! PyPI's archive: sources of a package in a version.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::{Context, ensure};

/// The archive of a package's sources, fetched if it is not there yet.
pub(crate) fn fetch(folder: &Path, package: &str, version: &str) -> anyhow::Result<PathBuf> {
    fs::create_dir_all(folder)?;
    let archive = folder.join(format!("{package}-{version}.tar.gz"));
    if !archive.exists() {
        let mut pip = Command::new("pip");
        pip.args(["download", "--quiet", "--no-deps", "--no-binary", ":all:"]);
        pip.arg(format!("{package}=={version}")).arg("--dest").arg(folder);
        // It also tries to build the package's description, which may fail; what counts is the archive.
        pip.stdout(Stdio::null()).stderr(Stdio::null());
        pip.status().context("can't start pip; install python3-pip")?;
    }
    ensure!(archive.exists(), "failed to fetch the sources of {package} {version} from PyPI");
    Ok(archive)
}
