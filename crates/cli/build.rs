//! Tells `src/version.rs` which commit and which compiler this build is of.
//!
//! The commit of a package is in the file that `cargo package` adds to it. In the repository, git is asked, but only for an
//! optimised build: a build for development would be linked again after each commit.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let folder = PathBuf::from(variable("CARGO_MANIFEST_DIR"));
    println!("cargo::rustc-env=RADDLE_COMMIT={}", commit(&folder));
    println!("cargo::rustc-env=RADDLE_COMPILER={}", compiler());
}

fn commit(folder: &Path) -> String {
    let packaged = folder.join(".cargo_vcs_info.json");
    if let Ok(text) = fs::read_to_string(&packaged) {
        println!("cargo::rerun-if-changed={}", packaged.display());
        // {"git": {"sha1": "…"}, …}
        let sha1 = text.split("\"sha1\": \"").nth(1).and_then(|it| it.get(..8));
        return sha1.map_or_else(|| unknown("a package"), |it| format!("{it} (from a package)"));
    }
    let Some(root) = folder.ancestors().nth(2).filter(|it| it.join(".git").exists()) else {
        return unknown("a package without git");
    };
    if variable("PROFILE") != "release" {
        return unknown("a development build");
    }
    println!("cargo::rerun-if-changed={}", root.join(".git/HEAD").display());
    println!("cargo::rerun-if-changed={}", root.join(".git/logs/HEAD").display());
    match git(root, &["rev-parse", "--short=8", "HEAD"]) {
        Some(commit) => {
            let changes = git(root, &["status", "--porcelain", "--untracked-files=no"]);
            let mark = if changes.is_some_and(|it| it.is_empty()) { "" } else { " (modified)" };
            format!("{commit}{mark}")
        }
        None => unknown("a repository without git"),
    }
}

fn unknown(whence: &str) -> String {
    format!("unknown ({whence})")
}

fn git(root: &Path, words: &[&str]) -> Option<String> {
    let output = Command::new("git").arg("-C").arg(root).args(words).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}

/// `rustc 1.97.0 (… 2026-…)`.
fn compiler() -> String {
    let output = Command::new(variable("RUSTC")).arg("--version").output();
    let output = output.expect("the compiler that builds this can be asked");
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

fn variable(name: &str) -> String {
    env::var(name).unwrap_or_else(|_| panic!("cargo sets {name}"))
}
