//! `raddle report`, from the outside: formats, files, and what can go wrong.

mod common;

use std::{fs, path::Path};

use common::{AB_BA, COUNTERS, check, code, folder, raddle, stderr, stdout, write};
use expect_test::expect;
use serde_json::Value;

/// A folder with a finding of [`AB_BA`].
fn found() -> tempfile::TempDir {
    let folder = folder();
    write(folder.path(), "prog.c", AB_BA);
    let output = raddle(folder.path(), &["run", "prog.c"]).output().expect("it starts");
    assert_eq!(code(&output), Some(2), "{}", stderr(&output));
    folder
}

#[track_caller]
fn report(folder: &Path, args: &[&str]) -> String {
    let output = raddle(folder, &[&["report"], args].concat()).output().expect("it starts");
    assert_eq!(code(&output), Some(0), "{}", stderr(&output));
    stdout(&output)
}

#[test]
fn every_format_of_a_finding_and_of_a_run() {
    let folder = found();
    let at = folder.path();
    let sarif: Value = serde_json::from_str(&report(at, &["dl", "--format", "sarif"])).unwrap();
    let result = &sarif["runs"][0]["results"][0];
    assert_eq!(result["ruleId"], "deadlock");
    let location = &result["locations"][0]["physicalLocation"];
    assert_eq!(location["artifactLocation"]["uri"], "prog.c");
    assert_eq!(location["region"]["startLine"], 5);
    assert_eq!(result["codeFlows"][0]["threadFlows"].as_array().map(Vec::len), Some(3));
    let of_run: Value = serde_json::from_str(&report(at, &["--format", "sarif"])).unwrap();
    assert_eq!(of_run["runs"][0]["results"], sarif["runs"][0]["results"]);
    let trace: Value = serde_json::from_str(&report(at, &["--format", "perfetto"])).unwrap();
    assert!(trace["traceEvents"].as_array().is_some_and(|it| it.len() > 10));
    let junit = report(at, &["--format", "junit"]);
    assert!(junit.contains("<testsuite name=\"prog.c\" tests=\"1\" failures=\"1\""), "{junit}");
    // Marks stand below what they mean, as on the terminal.
    assert!(junit.contains(" 5 |     pthread_mutex_lock(second);\n   |     ^^^^"), "{junit}");
    let github = report(at, &["latest", "--format", "github"]);
    assert!(github.starts_with("::error file=prog.c,line=5,col=5,title=raddle dl-"), "{github}");
    assert_eq!(github.lines().count(), 1);
    expect![[r#"
        # dl-67c2: deadlock: T1 (one) and T2 (two) wait for each other (`b` and `a`)

        `prog.c`, found at execution 1 by walk, seed 0, replayed 5/5.

        1. T1 (one) locks `a`, in take, called from one (:9) at `prog.c:4 in take`: `pthread_mutex_lock(first);`
        2. T2 (two) locks `b`, in take, called from two (:10) at `prog.c:4 in take`: `pthread_mutex_lock(first);`
    "#]]
    .assert_eq(
        &report(at, &["dl", "--format", "md"])
            .lines()
            .take(6)
            .map(|it| format!("{it}\n"))
            .collect::<String>(),
    );
    let page = report(at, &["-o", "-"]);
    assert!(page.contains("prog.c: <span class=\"severity\">1 finding</span>"));
    assert!(page.contains("<th>prog.c</th>"), "steps by file");
    let runs = raddle_explore::Store::at(at.join(".raddle")).run_ids().unwrap();
    assert_eq!(report(at, &[&runs[0][..30], "-o", "-"]), page);
}

#[test]
fn a_files_name_says_what_is_wanted() {
    let folder = found();
    let at = folder.path();
    for (name, start) in [
        ("bug.html", "<!doctype html>"),
        ("bug.sarif", "{\n  \"$schema\""),
        ("bug.xml", "<?xml"),
        ("bug.md", "# dl-"),
        ("bug.json", "{\"traceEvents\""),
        ("bug", "<!doctype html>"),
    ] {
        report(at, &["latest", "-o", name]);
        let text = fs::read_to_string(at.join(name)).expect("it was written");
        assert!(text.starts_with(start), "{name}: {}", &text[..40]);
    }
    check(
        at,
        &["report", "latest"],
        expect![[r#"
            exit 0
            stderr: wrote .raddle/reports/dl-67c2.html
        "#]],
    );
    assert!(at.join(".raddle/reports/dl-67c2.html").is_file());
}

#[test]
fn what_can_go_wrong() {
    let folder = found();
    let at = folder.path();
    check(
        at,
        &["report", "nothing"],
        expect![[r#"
            exit 1
            stderr: error: no finding with an id that starts with `nothing` in .raddle; `raddle list` shows all findings
        "#]],
    );
    check(
        at,
        &["report", "dl", "-o", "no/such/folder.html"],
        expect![[r#"
            exit 1
            stderr: error: can't write no/such/folder.html: No such file or directory (os error 2); choose another file with -o
        "#]],
    );
    check(
        at,
        &["report", "--store", "empty"],
        expect![[r#"
            exit 1
            stderr: error: no findings in empty yet; `raddle run` stores them there
        "#]],
    );
    let newer = r#"{"version":99,"raddle":"7.0.0"}"#;
    write(at, "newer.json", newer);
    check(
        at,
        &["report", "newer.json"],
        expect![[r#"
            exit 1
            stderr: error: newer.json was written by raddle 7.0.0, which is newer than this version; update raddle
        "#]],
    );
    write(at, "pass.c", "#include <pthread.h>\nint main(void) { return 0; }\n");
    let output = raddle(at, &["run", "pass.c"]).output().expect("it starts");
    assert_eq!(code(&output), Some(0), "{}", stderr(&output));
    check(
        at,
        &["report", "--format", "perfetto"],
        expect![[r#"
            exit 1
            stderr: error: a Perfetto trace shows one finding, but this run has no findings
        "#]],
    );
    assert!(report(at, &["-o", "-"]).contains("never creates a second thread"));
    assert!(report(at, &["--format", "junit"]).contains("<testcase name=\"schedules\""));
}

/// Without the source, without debug information, after a change: it says so and still draws.
#[test]
fn a_page_without_sources() {
    let folder = folder();
    let at = folder.path();
    write(at, "prog.c", AB_BA);
    let output = raddle(at, &["run", "prog.c"]).output().expect("it starts");
    assert_eq!(code(&output), Some(2), "{}", stderr(&output));
    let page = |name: &str| report(at, &[name, "-o", "-"]);
    assert!(page("latest").contains("int main(void)"));
    write(at, "prog.c", &format!("// changed\n{AB_BA}"));
    let changed = page("latest");
    assert!(changed.contains("has changed since this was found and is not shown"));
    assert!(!changed.contains("int main(void)"), "the file's text is not there");
    fs::remove_file(at.join("prog.c")).expect("it was there");
    assert!(page("latest").contains("was not found and is not shown"));
    write(at, "prog.c", AB_BA);
    let output = raddle(at, &["run", "prog.c", "--cflags=-g0"]).output().expect("it starts");
    assert_eq!(code(&output), Some(2), "{}", stderr(&output));
    assert!(page("latest").contains("has no debug information; build with -g"));
}

/// Runs that the user calls one are reported as one.
#[test]
fn runs_of_one_name_are_one_report() {
    let folder = folder();
    let at = folder.path();
    write(at, "bad.c", AB_BA);
    write(at, "fine.c", COUNTERS);
    let run = |name: &str, program: &str| {
        let mut command = raddle(at, &["run", program, "--execs", "20"]);
        command.env("RADDLE_INVOCATION", name).output().expect("it starts")
    };
    let annotations = || {
        let output = raddle(at, &["report", "--format", "github"]).output().expect("it starts");
        assert_eq!(code(&output), Some(0), "{}", stderr(&output));
        stdout(&output).lines().count()
    };
    assert_eq!(code(&run("nightly-7", "bad.c")), Some(2));
    assert_eq!(code(&run("nightly-7", "fine.c")), Some(0));
    assert_eq!(annotations(), 1);
    let output = raddle(at, &["report", "--format", "md"]).output().expect("it starts");
    assert!(stdout(&output).starts_with("# raddle run: 1 finding"), "{}", stdout(&output));
    assert_eq!(code(&run("", "fine.c")), Some(0));
    assert_eq!(annotations(), 0, "the last run only");
}
