//! `cargo raddle` in a workspace: what its members and its tests have in common.

mod common;

use std::{
    path::Path,
    process::{Command, Output},
};

use common::{code, stderr, stdout};
use serde_json::Value;

/// Threads and a test that loses an update, one that does not, and one without threads.
const LOSES: &str = r#"
#[cfg(test)]
mod tests {
    use std::{sync::atomic::{AtomicU32, Ordering::SeqCst}, thread};

    fn count(is_atomic: bool) -> u32 {
        static N: AtomicU32 = AtomicU32::new(0);
        N.store(0, SeqCst);
        let add = move || {
            if is_atomic { N.fetch_add(1, SeqCst); } else { N.store(N.load(SeqCst) + 1, SeqCst); }
        };
        let other = thread::spawn(add);
        add();
        other.join().expect("done");
        N.load(SeqCst)
    }

    #[test]
    fn a_loses() { assert_eq!(count(false), 2); }

    #[test]
    fn b_counts() { assert_eq!(count(true), 2); }

    #[test]
    fn c_alone() {}
}
"#;

/// A workspace with the members `a` and `b`.
fn workspace() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("done");
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().expect("done")).expect("done");
        std::fs::write(path, text).expect("done");
    };
    write("Cargo.toml", "[workspace]\nmembers = ['a', 'b']\nresolver = '3'\n");
    for name in ["a", "b"] {
        write(
            &format!("{name}/Cargo.toml"),
            &format!("[package]\nname = '{name}'\nedition = '2024'\n"),
        );
    }
    write("a/src/lib.rs", LOSES);
    write("b/src/lib.rs", "#[test]\nfn alone() {}\n");
    folder
}

/// `cargo raddle` as if no cargo ran us: what that one says about itself is not about the crate.
fn cargo_raddle(folder: &Path, line: &str) -> (String, String, Option<i32>) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-raddle"));
    command.arg("raddle").args(line.split_whitespace()).current_dir(folder);
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("CARGO_") && !text.starts_with("CARGO_HOME") || text == "RUSTFLAGS" {
            command.env_remove(&name);
        }
    }
    let output = command.output().expect("it starts");
    (stdout(&output), stderr(&output), code(&output))
}

/// What `raddle` wrote to standard output.
#[track_caller]
fn said(folder: &Path, line: &str) -> String {
    let words: Vec<&str> = line.split_whitespace().collect();
    let output: Output = common::raddle(folder, &words).output().expect("it starts");
    assert_eq!(code(&output), Some(0), "raddle {line}: {}", stderr(&output));
    stdout(&output)
}

/// Every test is a run of its own; a report is about all of them. The store and the regression tests are the workspace's,
/// wherever in it the command is given.
#[test]
fn a_report_is_about_all_tests_and_members_share_a_store() {
    let folder = workspace();
    let (root, member) = (folder.path(), folder.path().join("a"));
    let (out, err, code) = cargo_raddle(&member, "test --offline --execs 100");
    let all = format!("{out}\n{err}");
    assert_eq!(code, Some(2), "{all}");
    assert!(out.contains("1 passed") || out.contains("2 passed"), "{all}");
    assert!(root.join(".raddle/raddle.db").exists(), "{all}");
    assert!(!member.join(".raddle").exists(), "{all}");

    for place in [root, &member, &member.join("src")] {
        let annotations = said(place, "report --format github");
        assert_eq!(annotations.lines().count(), 1, "{annotations}");
        assert!(annotations.contains("a_loses") || annotations.contains("lib.rs"), "{annotations}");
    }
    let sarif: Value = serde_json::from_str(&said(root, "report --format sarif")).expect("done");
    assert_eq!(sarif["runs"][0]["results"].as_array().map(Vec::len), Some(1), "{sarif}");
    let junit = said(root, "report --format junit");
    assert!(junit.contains("tests=\"1\" failures=\"1\""), "{junit}");
    assert!(
        said(root, "report --format md").starts_with("# cargo raddle test: 1 finding"),
        "{all}"
    );
    let page = said(root, "report --format html -o -");
    assert!(page.contains("cargo raddle test: ") && !page.contains("still going on"), "{page}");

    // Kept in one directory, replayed in another.
    said(&member.join("src"), "review latest --keep");
    assert!(root.join("raddle-regressions/a").is_dir(), "{all}");
    let (out, err, code) = cargo_raddle(&member, "test --offline --execs 100 a_loses");
    assert_eq!(code, Some(2), "{out}\n{err}");
    assert!(err.contains("regression panic-"), "{out}\n{err}");

    // An invocation that stores nothing else is reported as well: what was found before is not its own.
    let (out, err, code) = cargo_raddle(root, "test --offline -p b");
    assert_eq!(code, Some(0), "{out}\n{err}");
    assert_eq!(said(root, "report --format github"), "");
}

/// Machines that share a suite explore each test once.
#[test]
fn partitions_are_the_whole_together() {
    let folder = workspace();
    let mut names = Vec::new();
    for part in 1..=3 {
        let line = format!("test --offline --execs 50 --partition hash:{part}/3");
        let (out, err, code) = cargo_raddle(folder.path(), &line);
        assert!(matches!(code, Some(0 | 2)), "{out}\n{err}");
        let summary = out.find("Summary").unwrap_or(out.len());
        let of_tests =
            |it: &&str| ["PASS [", "FAIL ["].iter().any(|word| it.trim_start().starts_with(word));
        for line in out[..summary].lines().filter(of_tests) {
            let name = line.split_whitespace().find(|it| it.contains("tests::") || *it == "alone");
            names.push(name.expect("a test").to_owned());
        }
    }
    names.sort_unstable();
    assert_eq!(names, ["alone", "tests::a_loses", "tests::b_counts", "tests::c_alone"]);
}
