//! `cargo xtask experiment all --quick`: a few cells of every experiment can be measured, and pages be made of them.

use std::{path::Path, process::Command};

#[test]
fn every_experiment_can_be_made() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    // As `cargo test --workspace` has it, so that nothing is built twice.
    let mut build = Command::new(env!("CARGO"));
    build.args(["build", "--quiet", "--workspace", "--bin", "raddle"]).current_dir(&root);
    assert!(build.status().expect("cargo starts").success(), "raddle can't be built");
    let xtask = Path::new(env!("CARGO_BIN_EXE_xtask"));
    let raddle = xtask.with_file_name("raddle");
    let mut quick = Command::new(xtask);
    quick.args(["experiment", "all", "--quick", "--raddle"]).arg(raddle);
    let output = quick.output().expect("xtask starts");
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{told}");
    for title in ["RankChecker", "HaPSet", "Randomized stride", "Scheduling points"] {
        assert!(told.contains(&format!("# {title}: results")), "no page on {title}:\n{told}");
    }
}
