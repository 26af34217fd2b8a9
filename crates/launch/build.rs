//! Builds the runtime library and hands it to `src/runtime.rs` to embed, so that a plain `cargo build`
//! or `cargo install` of the command line carries it.
//!
//! In the repository, the workspace around this crate is built. In a package there is none: there the sources of the
//! runtime's crates are in `rt-src`, which in the repository has links to them, and a workspace is made of these.
//!
//! The nested cargo has a target folder of its own (the outer one is locked) and sees none of what the
//! outer one says about itself: under clippy, rustdoc, coverage or another profile the library is the
//! same. `RADDLE_RT_PREBUILT=/path/to/libraddle_rt.so` embeds that file instead (for packagers).

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const LIBRARY: &str = "libraddle_rt.so";

/// The crates that the runtime is made of.
const CRATES: &[&str] =
    &["model", "machine", "pick", "trace", "analysis", "fiber", "rust_std", "rt"];

fn main() {
    let out_dir = PathBuf::from(variable("OUT_DIR"));
    let root = workspace_root();
    match &root {
        Some(_) => watch(),
        None => println!("cargo::rerun-if-changed=rt-src"),
    }
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=RADDLE_RT_PREBUILT");

    let built = match env::var_os("RADDLE_RT_PREBUILT") {
        Some(path) => PathBuf::from(path),
        None => {
            let root = root.unwrap_or_else(|| unpack(&out_dir.join("rt-workspace")));
            build(&root, &out_dir.join("rt"))
        }
    };
    let bytes = fs::read(&built).unwrap_or_else(|error| panic!("{}: {error}", built.display()));
    fs::write(out_dir.join(LIBRARY), &bytes).expect("OUT_DIR is writable");
    println!("cargo::rustc-env=RADDLE_RT_HASH={:016x}", raddle_model::hash_bytes(&bytes));
}

/// The repository that this crate is a part of, if it is.
fn workspace_root() -> Option<PathBuf> {
    let folder = PathBuf::from(variable("CARGO_MANIFEST_DIR"));
    let root = folder.ancestors().nth(2)?;
    let is_ours = folder.ends_with("crates/launch") && root.join("crates/rt/Cargo.toml").exists();
    is_ours.then(|| root.to_path_buf())
}

/// Makes a workspace of the sources in the package.
fn unpack(root: &Path) -> PathBuf {
    let sources = PathBuf::from(variable("CARGO_MANIFEST_DIR")).join("rt-src");
    let read = |path: PathBuf| {
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    };
    let write = |path: PathBuf, text: &str| {
        fs::create_dir_all(path.parent().expect("a folder around it"))
            .expect("OUT_DIR is writable");
        fs::write(path, text).expect("OUT_DIR is writable");
    };
    // What another version has left here is none of this one's.
    let _ = fs::remove_dir_all(root);
    for name in CRATES {
        let (from, to) = (sources.join(name), root.join("crates").join(name));
        write(to.join("Cargo.toml"), &without_tests(&read(from.join("manifest.toml"))));
        copy(&from.join("src"), &to.join("src"));
    }
    let all = read(sources.join("workspace.toml"));
    let lines = all.lines().map(|it| match it.split_once(" = ") {
        Some(("members", _)) => "members = [\"crates/*\"]",
        Some(("default-members", _)) => "",
        _ => it,
    });
    write(root.join("Cargo.toml"), &lines.collect::<Vec<_>>().join("\n"));
    write(root.join("Cargo.lock"), &read(sources.join("lock.toml")));
    root.to_path_buf()
}

/// A manifest without tests, benchmarks and what they need, which are not in the package.
fn without_tests(manifest: &str) -> String {
    const GONE: &[&str] = &["[dev-dependencies", "[[test]]", "[[bench]]", "[[example]]"];
    let mut is_kept = true;
    let lines = manifest.lines().filter(|line| {
        if line.starts_with('[') {
            is_kept = !GONE.iter().any(|it| line.starts_with(it));
        }
        is_kept
    });
    lines.collect::<Vec<_>>().join("\n") + "\n"
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("OUT_DIR is writable");
    let entries = fs::read_dir(from).unwrap_or_else(|error| panic!("{}: {error}", from.display()));
    for entry in entries.flatten() {
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        if from.is_dir() {
            copy(&from, &to);
        } else {
            fs::copy(&from, &to).unwrap_or_else(|error| panic!("{}: {error}", from.display()));
        }
    }
}

/// Paths are relative to this crate: what cargo knows holds in another checkout, too.
fn watch() {
    for name in CRATES {
        println!("cargo::rerun-if-changed=../{name}/src");
        println!("cargo::rerun-if-changed=../{name}/Cargo.toml");
    }
    for name in ["Cargo.toml", "Cargo.lock"] {
        println!("cargo::rerun-if-changed=../../{name}");
    }
}

/// `cargo rustc` takes flags for this one crate only: the dependencies need no soname.
fn build(root: &Path, target_dir: &Path) -> PathBuf {
    let mut cargo = Command::new(variable("CARGO"));
    cargo.current_dir(root).args(["rustc", "--package", "raddle-rt", "--lib"]);
    cargo.args(["--crate-type", "cdylib", "--profile", "runtime", "--target-dir"]).arg(target_dir);
    let (host, target) = (variable("HOST"), variable("TARGET"));
    if host != target {
        cargo.arg("--target").arg(&target);
    }
    if let Some(n_jobs) = env::var_os("NUM_JOBS") {
        cargo.arg("--jobs").arg(n_jobs);
    }
    cargo.arg("--").arg(format!("-Clink-arg=-Wl,-soname,{LIBRARY}"));
    for (name, _) in env::vars_os().filter(|(name, _)| is_of_outer_cargo(name)) {
        cargo.env_remove(name);
    }

    let output = cargo.output().unwrap_or_else(|error| panic!("{cargo:?}: {error}"));
    if !output.status.success() {
        // Not a panic: its stack would bury what the compiler says.
        println!("cargo::error=failed to build the runtime library (crates/rt):");
        for line in String::from_utf8_lossy(&output.stderr).lines() {
            println!("cargo::error={line}");
        }
        std::process::exit(1);
    }
    let found = find(target_dir);
    found.unwrap_or_else(|| panic!("bug: {cargo:?} left no {LIBRARY} in {}", target_dir.display()))
}

/// With `--target`, or `build.target` of the user's configuration, there is one folder more.
fn find(target_dir: &Path) -> Option<PathBuf> {
    let mut folders = vec![target_dir.to_path_buf()];
    folders.extend(fs::read_dir(target_dir).ok()?.flatten().map(|entry| entry.path()));
    folders
        .into_iter()
        .map(|folder| folder.join("runtime").join(LIBRARY))
        .find(|path| path.exists())
}

/// What the outer cargo set for this script, or the user for the outer build. How to reach registries,
/// where things are installed, and which linker works here stay.
fn is_of_outer_cargo(name: &OsStr) -> bool {
    const GONE: &[&str] = &[
        "RUSTFLAGS",
        "RUSTDOCFLAGS",
        "MAKEFLAGS",
        "MFLAGS",
        "TARGET",
        "HOST",
        "OUT_DIR",
        "OPT_LEVEL",
        "PROFILE",
        "DEBUG",
        "NUM_JOBS",
        "RUSTDOC",
        "SYSROOT",
        "LLVM_PROFILE_FILE",
    ];
    const GONE_PREFIXES: &[&str] = &["CARGO_", "RUSTC_", "CLIPPY_", "DEP_"];
    const KEPT_PREFIXES: &[&str] =
        &["CARGO_HOME", "CARGO_NET_", "CARGO_HTTP_", "CARGO_REGISTR", "CARGO_SOURCE_"];
    let Some(name) = name.to_str() else { return false };
    if name.starts_with("CARGO_TARGET_") && name.ends_with("_LINKER") {
        return false;
    }
    if KEPT_PREFIXES.iter().any(|prefix| name.starts_with(prefix)) {
        return false;
    }
    GONE.contains(&name) || GONE_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

fn variable(name: &str) -> OsString {
    env::var_os(name).unwrap_or_else(|| panic!("bug: cargo sets {name} for build scripts"))
}
