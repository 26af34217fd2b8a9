//! `cargo xtask experiment all --quick`: a few cells of every experiment can be measured, and pages be made of them.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

#[test]
fn every_experiment_can_be_made() {
    let raddle = raddle();
    let mut quick = Command::new(env!("CARGO_BIN_EXE_xtask"));
    quick.args(["experiment", "all", "--quick", "--raddle"]).arg(&raddle);
    let output = quick.output().expect("xtask starts");
    let told = String::from_utf8_lossy(&output.stderr);
    let hint = format!("is {} older than its sources? cargo build -p raddle-cli", raddle.display());
    assert!(output.status.success(), "{told}\n{hint}");
    for title in ["RankChecker", "rstest", "HaPSet", "Randomized stride", "Scheduling points"] {
        assert!(told.contains(&format!("# {title}: results")), "no page on {title}:\n{told}");
    }
}

/// Beside xtask, where `cargo test --workspace` has put it; else it is built.
fn raddle() -> PathBuf {
    let raddle = Path::new(env!("CARGO_BIN_EXE_xtask")).with_file_name("raddle");
    if !raddle.exists() {
        let mut build = Command::new(env!("CARGO"));
        build.args(["build", "--quiet", "-p", "raddle-cli", "--bin", "raddle"]);
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let status = build.current_dir(root).status().expect("cargo starts");
        assert!(status.success(), "raddle can't be built");
    }
    raddle
}
