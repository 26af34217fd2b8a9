//! A release, up to what is uploaded: version and changelog, the crates' packages, a Debian package, a list of what is in it
//! (CycloneDX), and checksums. `--try` installs the Debian package in a new Debian (debootstrap, as root). Nothing of it needs the network, and nothing is uploaded.

mod chroot;

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, ensure};
use serde_json::{Value, json};

use crate::package;

/// The programs that `cargo install` installs.
const PROGRAMS: [&str; 4] = ["raddle", "cargo-raddle", "raddle-cc", "raddle-cxx"];

/// What is released.
pub(crate) struct Options {
    /// Begin the version's section in the changelog, with this date, instead of making anything.
    pub(crate) begin: Option<String>,
    /// Where the programs are, instead of an optimised build that is made for it.
    pub(crate) programs: Option<PathBuf>,
    /// Only the Debian package.
    pub(crate) is_deb_only: bool,
    /// Install it in a new Debian, and find a bug there.
    pub(crate) is_tried: bool,
}

/// Makes all files of a release in `target/release-VERSION`.
pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize()?;
    let version = env!("CARGO_PKG_VERSION");
    let changelog = root.join("CHANGELOG.md");
    let text = fs::read_to_string(&changelog)?;
    let heading = format!("\n## [{version}]");
    if let Some(date) = &options.begin {
        ensure!(!text.contains(&heading), "CHANGELOG.md has a section {} already", heading.trim());
        let begun = text.replacen(
            "## [Unreleased]\n",
            &format!("## [Unreleased]\n{heading} - {date}\n"),
            1,
        );
        ensure!(begun != text, "CHANGELOG.md has no section [Unreleased]");
        fs::write(&changelog, begun)?;
        eprintln!("CHANGELOG.md: what was unreleased is {version} now; commit it");
        return Ok(());
    }
    let out = root.join(format!("target/release-{version}"));
    if out.exists() {
        fs::remove_dir_all(&out)?;
    }
    fs::create_dir_all(&out)?;
    let programs = match &options.programs {
        Some(folder) => folder.canonicalize()?,
        None => build(&root)?,
    };
    let package = debian(&root, &programs, &out, version)?;
    if options.is_tried {
        chroot::try_package(&package, &root.join("examples/bank.c"))?;
    }
    if !options.is_deb_only {
        ensure!(
            text.contains(&heading),
            "CHANGELOG.md has no section {}; `cargo xtask release --begin DATE` makes it",
            heading.trim()
        );
        for package in package::package(&root, &out.join("target"))? {
            fs::copy(&package, out.join(package.file_name().context("a name")?))?;
        }
        fs::remove_dir_all(out.join("target"))?;
    }
    fs::write(out.join(format!("raddle-{version}.cdx.json")), components(&root, version)?)?;
    let sums = checksums(&out)?;
    eprintln!("{sums}in {}", out.display());
    eprintln!(
        "to upload it: git tag v{version}; cargo publish --workspace; attach the files to the tag"
    );
    Ok(())
}

fn build(root: &Path) -> anyhow::Result<PathBuf> {
    let mut build = Command::new(env!("CARGO"));
    build.args(["build", "--release", "--locked", "--package", "raddle-cli"]).current_dir(root);
    ensure!(build.status()?.success(), "failed to build raddle");
    Ok(root.join("target/release"))
}

/// `raddle_0.1.0_amd64.deb`: programs, manual pages, completions; and a look whether it is whole.
fn debian(root: &Path, programs: &Path, out: &Path, version: &str) -> anyhow::Result<PathBuf> {
    let staged = tempfile::tempdir()?;
    let at = |path: &str| staged.path().join(path);
    for folder in ["usr/bin", "usr/share/doc/raddle", "DEBIAN"] {
        fs::create_dir_all(at(folder))?;
    }
    for name in PROGRAMS {
        let to = at("usr/bin").join(name);
        fs::copy(programs.join(name), &to).with_context(|| format!("{name} is not built"))?;
        quiet(Command::new("strip").arg("--strip-debug").arg(&to))?;
    }
    let raddle = programs.join("raddle");
    quiet(Command::new(&raddle).args(["setup", "--prefix"]).arg(at("usr")))?;
    // Where Debian's zsh looks.
    fs::rename(at("usr/share/zsh/site-functions"), at("usr/share/zsh/vendor-completions"))?;
    for (from, to) in
        [("README.md", "README.md"), ("CHANGELOG.md", "changelog"), ("LICENSE-MIT", "copyright")]
    {
        fs::copy(root.join(from), at("usr/share/doc/raddle").join(to))?;
    }
    let pages = fs::read_dir(at("usr/share/man/man1"))?.flatten().map(|it| it.path());
    for page in pages.chain([at("usr/share/doc/raddle/changelog")]) {
        quiet(Command::new("gzip").arg("-9n").arg(page))?;
    }
    fs::write(at("DEBIAN/control"), control(version, n_kib(staged.path())?))?;
    let package = out.join(format!("raddle_{version}_amd64.deb"));
    let mut make = Command::new("dpkg-deb");
    make.args(["--root-owner-group", "--build"]).arg(staged.path()).arg(&package);
    quiet(&mut make)?;
    let listed = Command::new("dpkg-deb").arg("--contents").arg(&package).output()?;
    let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
    let parts =
        ["bin/raddle-cc", "share/man/man1/raddle-run.1.gz", "lib/cmake/Raddle/RaddleConfig.cmake"];
    for file in parts.map(|it| format!("./usr/{it}")) {
        ensure!(listed.contains(&file), "{file} is missing in {}", package.display());
    }
    let installed = n_kib(staged.path())?;
    eprintln!("{}: {installed} KiB installed", package.display());
    ensure!(installed <= 40 << 10, "more than 40 MiB installed");
    Ok(package)
}

fn control(version: &str, n_kib: u64) -> String {
    format!(
        "Package: raddle\nVersion: {version}\nArchitecture: amd64\nMaintainer: Raddle contributors <raddle@localhost>\n\
         Installed-Size: {n_kib}\nSection: devel\nPriority: optional\nDepends: libc6 (>= 2.34), libgcc-s1, gcc | clang\n\
         Recommends: gdb, g++ | clang\nSuggests: cargo\n\
         Description: finds concurrency bugs by controlling the schedules of native programs\n \
         Raddle takes a C, C++ or Rust program, recompiled with instrumentation, controls its\n \
         schedule, explores its interleavings, replays and minimises those that fail, and\n says why.\n"
    )
}

/// What files take, in KiB.
fn n_kib(folder: &Path) -> anyhow::Result<u64> {
    let mut sum = 0;
    for entry in fs::read_dir(folder)?.flatten() {
        let path = entry.path();
        sum += if path.is_dir() { n_kib(&path)? } else { entry.metadata()?.len().div_ceil(1024) };
    }
    Ok(sum)
}

/// What `raddle` is made of, as CycloneDX says it: every package that `Cargo.lock` has.
fn components(root: &Path, version: &str) -> anyhow::Result<String> {
    let text = fs::read_to_string(root.join("Cargo.lock"))?;
    let lock: toml::Table = text.parse().context("Cargo.lock")?;
    let packages = lock.get("package").and_then(|it| it.as_array()).context("no packages")?;
    let all: Vec<Value> = packages
        .iter()
        .filter_map(|it| {
            let word = |key: &str| it.get(key).and_then(|it| it.as_str());
            let (name, version) = (word("name")?, word("version")?);
            let hashes: Vec<Value> = word("checksum")
                .map(|it| json!({"alg": "SHA-256", "content": it}))
                .into_iter()
                .collect();
            Some(json!({
                "type": "library", "name": name, "version": version,
                "purl": format!("pkg:cargo/{name}@{version}"), "hashes": hashes,
            }))
        })
        .collect();
    let list = json!({
        "bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
        "metadata": {"component": {"type": "application", "name": "raddle", "version": version}},
        "components": all,
    });
    Ok(serde_json::to_string_pretty(&list)? + "\n")
}

/// `SHA256SUMS` of all files; what it says.
fn checksums(out: &Path) -> anyhow::Result<String> {
    let mut names: Vec<String> = fs::read_dir(out)?
        .flatten()
        .map(|it| it.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    let sums = Command::new("sha256sum").args(&names).current_dir(out).output()?;
    ensure!(sums.status.success(), "sha256sum failed");
    let text = String::from_utf8(sums.stdout)?;
    fs::write(out.join("SHA256SUMS"), &text)?;
    Ok(text)
}

fn quiet(command: &mut Command) -> anyhow::Result<()> {
    let output = command.output().with_context(|| format!("can't start {command:?}"))?;
    let words = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{command:?} failed: {words}");
    Ok(())
}
