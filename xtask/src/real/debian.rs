//! Debian's archive: sources by package name, and what builds need.
//!
//! Lists of sources are kept in a folder of ours: the system's configuration stays as it is. Debian's patches are not
//! applied: what is tested is what the authors wrote.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::{Context, ensure};

const LISTS: &str = "/etc/apt/sources.list.d/debian.sources";

/// The archive of a package's sources, fetched if it is not there yet.
pub(crate) fn fetch(folder: &Path, package: &str) -> anyhow::Result<PathBuf> {
    if let Some(path) = archive(folder, package)? {
        return Ok(path);
    }
    if !folder.join("lists").exists() {
        prepare(folder)?;
    }
    // The exit code is of no use: some mirrors lack Debian's own files beside the archive.
    let mut source = apt(folder);
    source.args(["source", "--download-only", package]).current_dir(folder);
    source.stdout(Stdio::null()).stderr(Stdio::null()).status()?;
    archive(folder, package)?.with_context(|| format!("failed to fetch the sources of {package}"))
}

/// The version that was fetched, without Debian's part.
pub(crate) fn version(folder: &Path, package: &str) -> anyhow::Result<String> {
    let path = archive(folder, package)?.with_context(|| format!("no sources of {package}"))?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let version = name.trim_start_matches(package).trim_start_matches('_');
    let version = version.split(".orig").next().unwrap_or_default();
    Ok(version.split('+').next().unwrap_or_default().to_owned())
}

/// Installs what builds need, as far as it is missing.
pub(crate) fn install<'a>(packages: impl Iterator<Item = &'a String>) -> anyhow::Result<()> {
    let mut missing: Vec<_> = packages.filter(|it| !is_installed(it)).collect();
    missing.sort();
    missing.dedup();
    if missing.is_empty() {
        return Ok(());
    }
    eprintln!("installing {missing:?}");
    let mut command = Command::new("apt-get");
    command.args(["install", "--yes", "--no-install-recommends"]).args(&missing);
    let is_done = command.stdout(Stdio::null()).status().is_ok_and(|it| it.success());
    ensure!(is_done, "failed to install {missing:?}; install them as root");
    Ok(())
}

fn is_installed(package: &str) -> bool {
    let output = Command::new("dpkg-query").args(["-W", "-f", "${Status}", package]).output();
    output.is_ok_and(|it| it.stdout.ends_with(b"ok installed"))
}

fn archive(folder: &Path, package: &str) -> anyhow::Result<Option<PathBuf>> {
    fs::create_dir_all(folder)?;
    let start = format!("{package}_");
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let is_archive = name.contains(".orig.tar.") && !name.ends_with(".asc");
        if name.starts_with(&start) && is_archive {
            return Ok(Some(path));
        }
    }
    Ok(None)
}

fn prepare(folder: &Path) -> anyhow::Result<()> {
    let text = fs::read_to_string(LISTS).with_context(|| format!("no {LISTS}: not on Debian?"))?;
    fs::create_dir_all(folder.join("parts"))?;
    fs::create_dir_all(folder.join("lists/partial"))?;
    let text = text.replace("Types: deb\n", "Types: deb-src\n");
    fs::write(folder.join("parts/debian.sources"), text)?;
    let mut update = apt(folder);
    let is_done = update.arg("update").stdout(Stdio::null()).status()?.success();
    if !is_done {
        fs::remove_dir_all(folder.join("lists"))?;
    }
    ensure!(is_done, "failed to fetch the lists of Debian's sources");
    Ok(())
}

fn apt(folder: &Path) -> Command {
    let mut command = Command::new("apt-get");
    let folder = folder.display();
    command.args(["-o", "Dir::Etc::sourcelist=/dev/null", "-o"]);
    command.arg(format!("Dir::Etc::sourceparts={folder}/parts"));
    command.arg("-o").arg(format!("Dir::State::lists={folder}/lists"));
    command
}
