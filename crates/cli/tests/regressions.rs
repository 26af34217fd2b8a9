//! Findings that were decided about: kept and run first, suppressed, thrown away; and the store, taken
//! elsewhere and pruned.

mod common;

use std::{
    fs,
    io::{Read as _, Write as _},
    path::Path,
    process::Stdio,
};

use common::{AB_BA, check, code, folder, raddle, run, stderr, stdout, told, write};
use expect_test::expect;
use nix::{
    pty::{OpenptyResult, openpty},
    sys::termios::{LocalFlags, OutputFlags, SetArg, tcgetattr, tcsetattr},
};
use serde_json::Value;
use tempfile::TempDir;

/// What is tested is what the sources say now; where nobody knows how to build it, that is said.
#[test]
fn a_finding_is_looked_for_in_the_program_as_it_is_now() {
    let folder = found();
    write(folder.path(), "prog.c", &mended());
    let regress = |folder: &Path| {
        let args = ["regress", "latest", "--execs", "50"];
        let output = raddle(folder, &args).output().expect("it starts");
        (code(&output), stdout(&output), stderr(&output))
    };
    let (exit, out, err) = regress(folder.path());
    assert_eq!(exit, Some(0), "{out}{err}");
    assert!(out.contains("fixed with"), "{out}");

    let other = common::folder();
    write(other.path(), "prog.c", AB_BA);
    let build = ["cc", "-g", "-pthread", "prog.c", "-o", "prog"];
    let built = raddle(other.path(), &build).output().expect("it starts");
    assert_eq!(code(&built), Some(0), "{}", stderr(&built));
    let output = raddle(other.path(), &["run", "--", "./prog"]).output().expect("it starts");
    assert_eq!(code(&output), Some(2), "{}", stderr(&output));
    let (_, _, err) = regress(other.path());
    assert!(!err.contains("older than its sources"), "{err}");
    let later = std::time::SystemTime::now() + std::time::Duration::from_secs(60);
    write(other.path(), "prog.c", &mended());
    let source = fs::File::options().append(true).open(other.path().join("prog.c"));
    source.and_then(|it| it.set_modified(later)).expect("it can be touched");
    let (exit, out, err) = regress(other.path());
    assert_eq!(exit, Some(2), "{out}{err}");
    let line = "warning: the program is older than its sources (prog.c); rebuild it";
    assert!(err.contains(line), "{err}");
    let output = raddle(other.path(), &["replay", "latest"]).output().expect("it starts");
    assert!(stderr(&output).contains(line), "{}", stderr(&output));
    run(other.path(), &["review", "latest", "--keep"]);
    let output = raddle(other.path(), &["run", "--", "./prog"]).output().expect("it starts");
    assert!(stderr(&output).contains(line), "{}", stderr(&output));
}

/// [`AB_BA`], mended: both take `a` first.
fn mended() -> String {
    AB_BA.replace("take(&b, &a)", "take(&a, &b)")
}

/// A folder in which [`AB_BA`] was found.
fn found() -> TempDir {
    let folder = folder();
    write(folder.path(), "prog.c", AB_BA);
    let output = raddle(folder.path(), &["run", "prog.c"]).output().expect("it starts");
    assert_eq!(code(&output), Some(2), "{}", stderr(&output));
    folder
}

/// And kept.
fn kept() -> TempDir {
    let folder = found();
    check(
        folder.path(),
        &["review", "latest", "--keep"],
        expect![[r#"
            exit 0
            stderr: kept dl-67c2: raddle-regressions/prog/dl-67c2.toml; add it to version control
        "#]],
    );
    folder
}

/// What a run says about its regressions, and how it exits.
fn verdict(folder: &Path, args: &[&str]) -> String {
    let all = [&["run", "prog.c", "--execs", "50", "--strategy", "walk"], args].concat();
    let output = raddle(folder, &all).output().expect("it starts");
    let told = format!("{}{}", stderr(&output), stdout(&output));
    let lines = told.lines().filter(|it| it.starts_with("regression") || it.starts_with("ran "));
    let lines: Vec<&str> = lines.collect();
    format!("exit {}\n{}\n", code(&output).unwrap_or(-1), lines.join("\n"))
}

#[test]
fn a_regression_is_a_small_text_file() {
    let folder = kept();
    let text = fs::read_to_string(folder.path().join("raddle-regressions/prog/dl-67c2.toml"));
    let text = text.expect("it was written");
    let mut shown = String::new();
    for line in text.lines() {
        // What depends on the machine, or on what was learned about the program.
        let line = match line.split_once(" = ") {
            Some((key @ ("build" | "digest" | "seed" | "shared" | "profile"), _)) => {
                format!("{key} = …")
            }
            _ => line.to_owned(),
        };
        shown.push_str(&line);
        shown.push('\n');
    }
    expect![[r##"
        # deadlock: T1 waits for `b` held by T2 (taken at prog.c:4), T2 waits for `a` held by T1 (taken at prog.c:4)
        # Kept by `raddle review --keep`; every `raddle run` of the program replays it first.
        version = 3
        id = "dl-67c2"
        kind = "deadlock"
        bucket = 0x67c2c05454193ef1
        message = "T1 waits for `b` held by T2 (taken at prog.c:4), T2 waits for `a` held by T1 (taken at prog.c:4)"
        args = []
        build = …
        carrier = "fibers"
        exit_is_fine = false
        digest = …
        # Each choice and how many times it is repeated.
        choices = [
            [0, 2], [1, 2], [2, 2],
        ]
        sites = [
            { function = "take", file = "prog.c", line = 4, column = 5, module = "prog", offset = 0 },
            { function = "take", file = "prog.c", line = 5, column = 5, module = "prog", offset = 0 },
            { function = "take", file = "prog.c", line = 4, column = 5, module = "prog", offset = 0 },
            { function = "take", file = "prog.c", line = 5, column = 5, module = "prog", offset = 0 },
        ]
        # Objects and places are numbered from 1.
        objects = [
            {},
            { class = "thread", location = { home = { thread = 1 } } },
            { class = "thread", location = { home = { thread = 2 } } },
            { class = "mutex", location = { name = "a" } },
            { class = "mutex", location = { name = "b" } },
        ]
        places = [
            { function = "main", file = "prog.c", line = 13, column = 5, module = "prog", offset = 0 },
            { function = "main", file = "prog.c", line = 14, column = 5, module = "prog", offset = 0 },
            { function = "take", file = "prog.c", line = 4, column = 5, module = "prog", offset = 0 },
        ]
        # Thread, op, object, place.
        steps = [
            [0, "spawn", 2, 1],
            [0, "spawn", 3, 2],
            [1, "start", 2, 0],
            [1, "lock", 4, 3],
            [2, "start", 3, 0],
            [2, "lock", 5, 3],
        ]

        [plan]
        handlers = "nested"
        limits = { max_steps = 1000000 }
        picker = "nonpreemptive"
        points = "visible"
        prefix = []
        profile = …
        record = { lone = false, options = true, races = false, stacks = false }
        seed = …
        shared = …
        spurious = false
        timeouts = "rare"
    "##]].assert_eq(&shown);
}

#[test]
fn a_regression_runs_first_and_its_verdicts_are_told_apart() {
    let folder = kept();
    let at = folder.path();
    expect![[r#"
        exit 2
        regression dl-67c2: reproduces
    "#]]
    .assert_eq(&verdict(at, &[]));
    // With -k everything else is explored as well.
    let all = verdict(at, &["-k"]);
    assert!(all.starts_with("exit 2\nregression dl-67c2: reproduces\n"), "{all}");
    // Lines have moved: it is the same still.
    write(at, "prog.c", &format!("// one line more\n{AB_BA}"));
    expect![[r#"
        exit 2
        regression dl-67c2: reproduces
    "#]]
    .assert_eq(&verdict(at, &[]));
    // What it shows is another bucket now, and the campaign finds it too: told once, counted under its id.
    let args = ["run", "prog.c", "--execs", "50", "--strategy", "walk", "-k"];
    let output = raddle(at, &args).output().expect("it starts");
    let out = stdout(&output);
    assert_eq!(out.matches("error[dl-67c2]: deadlock").count(), 1, "{out}");
    assert_eq!(out.matches("error[").count(), 1, "{out}");
    assert!(out.trim_end().ends_with(", 1 finding"), "{out}");
    // What the campaign does not find is a finding of the run all the same.
    let output = raddle(at, &["run", "prog.c", "--execs", "1", "-k"]).output().expect("it starts");
    let out = stdout(&output);
    assert_eq!((code(&output), out.matches("error[").count()), (Some(2), 1), "{out}");
    assert!(out.trim_end().ends_with(", 1 finding"), "{out}");
    // Mended: the second thread takes another lock than was recorded.
    write(at, "prog.c", &mended());
    expect![[r#"
        exit 0
        regression dl-67c2: diverged at step 6: recorded T2 lock mutex `b` at prog.c:4, now T1 lock mutex `b` at prog.c:5; it did not fail
    "#]].assert_eq(&verdict(at, &[]));
    write(at, "prog.c", AB_BA);
    let other = verdict(at, &["--regressions", "elsewhere"]);
    assert!(!other.contains("regression"), "{other}");
}

#[test]
fn gone_is_the_same_steps_without_the_failure() {
    let folder = folder();
    let at = folder.path();
    let program = |limit: u32| {
        format!(
            "#include <assert.h>\n#include <pthread.h>\nstatic int n;\n\
             static void *work(void *arg) {{ n = 1; return arg; }}\n\
             int main(void) {{\n    pthread_t t;\n    pthread_create(&t, 0, work, 0);\n    int seen = n;\n\
             \x20   pthread_join(t, 0);\n    assert(seen < {limit});\n}}\n"
        )
    };
    write(at, "prog.c", &program(1));
    let output = raddle(at, &["run", "prog.c"]).output().expect("it starts");
    assert_eq!(code(&output), Some(2), "{}", stderr(&output));
    let output = raddle(at, &["review", "latest", "--keep"]).output().expect("it starts");
    assert_eq!(code(&output), Some(0), "{}", stderr(&output));
    write(at, "prog.c", &program(2));
    let told = verdict(at, &[]);
    assert!(told.starts_with("exit 0\nregression assert-"), "{told}");
    assert!(told.ends_with(": gone: the same steps no longer fail\n"), "{told}");
}

/// What an analysis found is looked for again, though the run does not ask for it.
#[test]
fn a_race_is_kept_like_any_other_finding() {
    let folder = folder();
    let at = folder.path();
    let program = |put: &str| {
        format!(
            "#include <pthread.h>\nstatic pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;\nstatic int n;\n\
             static void *work(void *arg) {{ {put} return arg; }}\n\
             int main(void) {{\n    pthread_t t;\n    pthread_create(&t, 0, work, 0);\n    {put}\n\
             \x20   return pthread_join(t, 0);\n}}\n"
        )
    };
    write(at, "prog.c", &program("n++;"));
    let args = ["run", "prog.c", "--detect", "race", "--execs", "20"];
    let output = raddle(at, &args).output().expect("it starts");
    assert_eq!(code(&output), Some(2), "{}", stderr(&output));
    let output = raddle(at, &["review", "latest", "--keep"]).output().expect("it starts");
    assert_eq!(code(&output), Some(0), "{}", stderr(&output));
    let told = verdict(at, &[]);
    assert!(told.starts_with("exit 2\nregression race-"), "{told}");
    assert!(told.contains(": reproduces\n"), "{told}");
    write(at, "prog.c", &program("pthread_mutex_lock(&m); n++; pthread_mutex_unlock(&m);"));
    let told = verdict(at, &[]);
    assert!(told.starts_with("exit 0\nregression race-"), "{told}");
    assert!(told.contains(": diverged at step "), "{told}");
}

#[test]
fn verdicts_as_json() {
    let folder = kept();
    let args = ["run", "prog.c", "--message-format", "json"];
    let output = raddle(folder.path(), &args).output().expect("it starts");
    let out = stdout(&output);
    let lines: Vec<Value> = out.lines().map(|it| serde_json::from_str(it).expect("JSON")).collect();
    assert_eq!(lines[0]["type"], "regression", "{out}");
    assert_eq!(lines[0]["verdict"], "reproduced");
    assert_eq!(lines[0]["id"], "dl-67c2");
    assert_eq!(lines[1]["type"], "finding");
    assert_eq!(lines[2]["type"], "summary");
    assert_eq!(lines[2]["findings"], 1);
}

#[test]
fn damaged_regressions_are_named() {
    let folder = kept();
    let at = folder.path();
    write(at, "raddle-regressions/prog/dl-67c2.toml", "version = 3\nid = \"dl\"\nnonsense\n");
    let told = run(at, &["run", "prog.c"]);
    let last = told.lines().last().unwrap_or_default();
    expect![
        "stderr: error: raddle-regressions/prog/dl-67c2.toml:3: key with no value, expected `=`"
    ]
    .assert_eq(last);
    assert!(told.starts_with("exit 1"), "{told}");
    write(at, "raddle-regressions/prog/dl-67c2.toml", "version = 9\n");
    let told = run(at, &["run", "prog.c"]);
    assert!(told.contains("dl-67c2.toml:1: it was written by a newer version of raddle"), "{told}");
}

#[test]
fn suppressed_findings_are_not_told_again() {
    let folder = found();
    let at = folder.path();
    let args = ["review", "dl", "--suppress", "--reason", "known: \"#12\"", "--expires"];
    check(
        at,
        &[&args[..], &["2001-01-31"]].concat(),
        expect![[r#"
            exit 1
            stderr: error: --expires is in the past; the rule would suppress nothing
        "#]],
    );
    check(
        at,
        &[&args[..], &["soon"]].concat(),
        expect![[r#"
        exit 1
        stderr: error: raddle.toml:6:11: expected a date like 2026-12-31, found "soon"
    "#]],
    );
    assert!(!at.join("raddle.toml").exists(), "what is wrong is not written");
    check(
        at,
        &[&args[..], &["2999-01-31"]].concat(),
        expect![[r#"
            exit 0
            stderr: suppressed dl-67c2: added a rule to raddle.toml
        "#]],
    );
    expect![[r##"
        [[suppress]] # dl-67c2
        kind = "deadlock"
        function = "take"
        file = "prog.c"
        reason = "known: \"#12\""
        expires = "2999-01-31"
    "##]]
    .assert_eq(&fs::read_to_string(at.join("raddle.toml")).expect("written"));
    let output = raddle(at, &["run", "prog.c", "--execs", "20"]).output().expect("it starts");
    assert_eq!(code(&output), Some(0), "{}", stderr(&output));
    // What there was in the file stays.
    let output = raddle(at, &["review", "dl", "--suppress", "--reason", "again"]).output();
    assert_eq!(code(&output.expect("it starts")), Some(0));
    let text = fs::read_to_string(at.join("raddle.toml")).expect("written");
    assert_eq!(text.matches("[[suppress]]").count(), 2);
    assert!(text.contains("\n\n[[suppress]] # dl-67c2\n"), "{text}");
}

#[test]
fn discarded_findings_are_gone() {
    let folder = found();
    let at = folder.path();
    check(
        at,
        &["review", "dl-67c2", "--discard"],
        expect![[r#"
        exit 0
        stderr: discarded dl-67c2
    "#]],
    );
    check(
        at,
        &["list"],
        expect![[r#"
            exit 0
            stderr: no findings in .raddle yet; `raddle run` stores them there
        "#]],
    );
}

/// `raddle review` on a terminal, with these answers: what it asked and said.
fn answer(folder: &Path, args: &[&str], answers: &str) -> String {
    let Ok(OpenptyResult { master, slave }) = openpty(None, None) else {
        panic!("there are no terminals");
    };
    // Answers are not to be seen among the questions.
    let mut modes = tcgetattr(&slave).expect("it is a terminal");
    modes.local_flags.remove(LocalFlags::ECHO);
    modes.output_flags.remove(OutputFlags::OPOST);
    tcsetattr(&slave, SetArg::TCSANOW, &modes).expect("modes are set");
    let mut master = fs::File::from(master);
    master.write_all(answers.as_bytes()).expect("answers are given");
    let mut child = raddle(folder, &[&["review"], args].concat())
        .stdin(slave.try_clone().expect("a second descriptor"))
        .stderr(slave)
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut out = String::new();
    let shown = child.stdout.take().expect("a pipe").read_to_string(&mut out);
    assert!(shown.is_ok(), "the finding is shown");
    let status = child.wait().expect("it ends");
    let mut said = Vec::new();
    // The other end of the terminal is gone: that is an error once all was read.
    let _ = master.read_to_end(&mut said);
    let said = String::from_utf8_lossy(&said).replace(&*folder.to_string_lossy(), "[DIR]");
    let n_shown = out.matches("error[").count();
    format!("exit {}, {n_shown} shown\n{said}\n", status.code().unwrap_or(-1))
        .replace("? \n", "?\n")
}

/// Bad answers are asked for again; an end of the input is no decision.
#[test]
fn questions_are_asked_until_there_is_an_answer() {
    let folder = found();
    let at = folder.path();
    expect![[r#"
        exit 0, 1 shown

        keep as a regression test (k), suppress (s), discard (d), later (l), quit (q)? answer with k, s, d, l or q

        keep as a regression test (k), suppress (s), discard (d), later (l), quit (q)? reason: a suppression requires a reason

        keep as a regression test (k), suppress (s), discard (d), later (l), quit (q)? reason: expires on (e.g. 2027-01-31, or empty): error: raddle.toml:6:11: expected a date like 2026-12-31, found "soon"

        keep as a regression test (k), suppress (s), discard (d), later (l), quit (q)?
    "#]].assert_eq(&answer(at, &[], "what?\ns\n\ns\nknown\nsoon\n\u{4}"));
    assert!(!at.join("raddle.toml").exists(), "what is wrong is not written");
    expect![[r#"
        exit 0, 1 shown

        keep as a regression test (k), suppress (s), discard (d), later (l), quit (q)?
    "#]]
    .assert_eq(&answer(at, &[], "l\n"));
    expect![[r#"
        exit 0, 1 shown

        keep as a regression test (k), suppress (s), discard (d), later (l), quit (q)?
    "#]]
    .assert_eq(&answer(at, &[], "q\n"));
    expect![[r#"
        exit 0, 1 shown

        keep as a regression test (k), suppress (s), discard (d), later (l), quit (q)? reason: expires on (e.g. 2027-01-31, or empty): suppressed dl-67c2: added a rule to raddle.toml

    "#]].assert_eq(&answer(at, &[], "s\nknown\n2999-01-31\n"));
    let rules = fs::read_to_string(at.join("raddle.toml")).expect("written");
    assert!(rules.contains("reason = \"known\"\nexpires = \"2999-01-31\""), "{rules}");
    // It was decided about; by its name it can be asked about again.
    expect![[r#"
        exit 0, 0 shown
        all findings are reviewed

    "#]]
    .assert_eq(&answer(at, &[], ""));
    expect![[r#"
        exit 0, 1 shown

        keep as a regression test (k), suppress (s), discard (d), later (l), quit (q)? kept dl-67c2: raddle-regressions/prog/dl-67c2.toml; add it to version control

    "#]].assert_eq(&answer(at, &["latest"], "k\n"));
    assert!(at.join("raddle-regressions/prog/dl-67c2.toml").exists());
    expect![[r#"
        exit 0, 1 shown

        keep as a regression test (k), suppress (s), discard (d), later (l), quit (q)? discarded dl-67c2

    "#]]
    .assert_eq(&answer(at, &["latest"], "discard\n"));
    let list = run(at, &["list"]);
    assert!(list.contains("no findings in .raddle"), "{list}");
}

#[test]
fn what_can_be_wrong_with_a_review() {
    let folder = found();
    let at = folder.path();
    check(
        at,
        &["review", "--keep"],
        expect![[r#"
            exit 1
            stderr: error: no finding given; `raddle list` shows all findings
        "#]],
    );
    check(
        at,
        &["review", "dl"],
        expect![[r#"
            exit 1
            stderr: error: no decision given; use --keep, --suppress --reason TEXT, or --discard
        "#]],
    );
    check(
        at,
        &["review", "odd", "--keep"],
        expect![[r#"
            exit 1
            stderr: error: no finding with an id that starts with `odd` in .raddle; `raddle list` shows all findings
        "#]],
    );
    write(at, "file", "");
    check(
        at,
        &["review", "dl", "--keep", "--regressions", "file"],
        expect![[r#"
            exit 1
            stderr: error: can't write file/prog/dl-67c2.toml: Not a directory (os error 20); choose another directory with --regressions
        "#]],
    );
    let output = raddle(at, &["review", "dl", "--suppress"]).output().expect("it starts");
    assert_eq!(code(&output), Some(1), "a rule needs a reason");
    let output = raddle(at, &["review", "dl", "--keep", "--discard"]).output().expect("it starts");
    assert_eq!(code(&output), Some(1), "one at a time");
}

/// From one store into another, far from the sources, with the program alone.
#[test]
fn an_exported_finding_replays_elsewhere() {
    let (here, there) = (folder(), folder());
    write(here.path(), "prog.c", AB_BA);
    let cc = ["cc", "-g", "-pthread", "prog.c", "-o", "prog"];
    let output = raddle(here.path(), &cc).output().expect("it starts");
    assert_eq!(code(&output), Some(0), "{}", stderr(&output));
    let output = raddle(here.path(), &["run", "--", "./prog"]).output().expect("it starts");
    assert_eq!(code(&output), Some(2), "{}", stderr(&output));
    check(
        here.path(),
        &["store", "export", "dl", "-o", "it.raddle"],
        expect![[r#"
            exit 0
            stderr: wrote it.raddle (1 finding)
            stderr: to import it on another machine: raddle store import it.raddle --program PROGRAM
            stderr: PROGRAM must be the same build as [DIR]/prog
        "#]],
    );
    for name in ["it.raddle", "prog"] {
        fs::copy(here.path().join(name), there.path().join(name)).expect("copied");
    }
    fs::remove_dir_all(here.path()).expect("removed");
    let import = ["store", "import", "it.raddle", "--program", "prog"];
    check(
        there.path(),
        &import,
        expect![[r#"
        exit 0
        stderr: imported 1 finding: dl-67c2
    "#]],
    );
    let output = raddle(there.path(), &["replay", "dl"]).output().expect("it starts");
    assert_eq!(code(&output), Some(2), "{}", stderr(&output));
    assert!(stdout(&output).ends_with("dl-67c2: reproduced\n"), "{}", stdout(&output));
    // Another build: said at once.
    write(there.path(), "other.c", &mended());
    let cc = ["cc", "-pthread", "other.c", "-o", "other"];
    let output = raddle(there.path(), &cc).output().expect("it starts");
    assert_eq!(code(&output), Some(0), "{}", stderr(&output));
    let import = ["store", "import", "it.raddle", "--program", "other", "--store", "s"];
    check(
        there.path(),
        &import,
        expect![[r#"
            exit 0
            stderr: warning: [DIR]/other is not the build that was exported; steps may differ
            stderr: imported 1 finding: dl-67c2
        "#]],
    );
    let output = raddle(there.path(), &["replay", "dl", "--store", "s"]).output();
    assert_eq!(code(&output.expect("it starts")), Some(5));
    write(there.path(), "newer.raddle", r#"{"version":99,"raddle":"7.0.0"}"#);
    check(
        there.path(),
        &["store", "import", "newer.raddle"],
        expect![[r#"
            exit 1
            stderr: error: newer.raddle was written by raddle 7.0.0, which is newer than this version; update raddle
        "#]],
    );
}

/// The file alone is a finding's name, also with its ending only; what is found out about it goes into the file.
#[test]
fn an_exported_file_names_its_finding() {
    let folder = kept();
    let at = folder.path();
    let export = raddle(at, &["store", "export", "dl", "-o", "it.raddle"]).output();
    assert_eq!(code(&export.expect("it starts")), Some(0));
    for name in ["./it.raddle", "it.raddle"] {
        let output = raddle(at, &["replay", name, "--store", "other"]).output().expect("it starts");
        assert_eq!(code(&output), Some(2), "{}", stderr(&output));
        assert!(stdout(&output).ends_with("dl-67c2: reproduced\n"), "{}", stdout(&output));
    }
    let output = raddle(at, &["min", "it.raddle", "--store", "other"]).output().expect("it starts");
    assert_eq!(code(&output), Some(0), "{}", stderr(&output));
    let again = raddle(at, &["store", "import", "it.raddle", "--store", "s"]).output();
    assert_eq!(code(&again.expect("it starts")), Some(0), "it is an export still");
    // Which of several is not for us to say.
    let text = fs::read_to_string(at.join("it.raddle")).expect("read");
    let mut several: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let mut second = several["findings"][0].clone();
    second["id"] = "dl-2".into();
    several["findings"].as_array_mut().expect("an array").push(second);
    write(at, "two.raddle", &several.to_string());
    several["findings"] = serde_json::json!([]);
    write(at, "none.raddle", &several.to_string());
    write(at, "broken.raddle", "{");
    for (name, expect) in [
        (
            "two.raddle",
            expect![[r#"
                exit 1
                stderr: error: two.raddle has 2 findings (dl-67c2, dl-2); import it with `raddle store import two.raddle`
            "#]],
        ),
        (
            "none.raddle",
            expect![[r#"
                exit 1
                stderr: error: none.raddle is damaged (no findings); export it again
            "#]],
        ),
        (
            "broken.raddle",
            expect![[r#"
            exit 1
            stderr: error: broken.raddle is damaged (EOF while parsing an object at line 1 column 1); export it again
        "#]],
        ),
        (
            "missing.raddle",
            expect![[r#"
            exit 1
            stderr: error: can't read missing.raddle: No such file or directory (os error 2)
        "#]],
        ),
    ] {
        check(at, &["replay", name], expect);
    }
}

/// The program's source will do: it is compiled as it was.
#[test]
fn an_exported_finding_is_imported_with_its_source() {
    let folder = kept();
    let at = folder.path();
    let export = raddle(at, &["store", "export", "dl", "-o", "it.raddle"]).output();
    assert_eq!(code(&export.expect("it starts")), Some(0));
    fs::create_dir(at.join("there")).expect("made");
    let there = at.join("there");
    fs::rename(at.join("it.raddle"), there.join("it.raddle")).expect("moved");
    fs::rename(at.join("prog.c"), there.join("prog.c")).expect("moved");
    let import = ["store", "import", "it.raddle", "--program", "prog.c"];
    let output = raddle(&there, &import).output().expect("it starts");
    assert_eq!(code(&output), Some(0), "{}", stderr(&output));
    let output = raddle(&there, &["replay", "dl"]).output().expect("it starts");
    assert_eq!(code(&output), Some(2), "{}", stderr(&output));
    assert!(stdout(&output).ends_with("dl-67c2: reproduced\n"), "{}", stdout(&output));
    write(&there, "text.txt", "no program\n");
    write(&there, "broken.c", "int main(\n");
    for (program, said) in [
        ("text.txt", "error: `[DIR]/text.txt` is not executable"),
        ("broken.c", "error: compilation of [DIR]/broken.c failed"),
        ("missing", "error: --program missing: No such file"),
    ] {
        let import = ["store", "import", "it.raddle", "--program", program, "--store", "s"];
        let told = told(&there, &raddle(&there, &import).output().expect("it starts"));
        assert!(told.starts_with("exit 1\n") && told.contains(said), "{told}");
        assert!(!there.join("s").exists(), "nothing is imported");
    }
}

#[test]
fn the_store_is_looked_through_and_pruned() {
    let folder = kept();
    let at = folder.path();
    write(at, "fine.c", &mended());
    let output = raddle(at, &["run", "fine.c", "--execs", "20"]).output().expect("it starts");
    assert_eq!(code(&output), Some(0), "{}", stderr(&output));
    let output = raddle(at, &["store", "ls", "--message-format", "json"]).output();
    let out = stdout(&output.expect("it starts"));
    let lines: Vec<Value> = out.lines().map(|it| serde_json::from_str(it).expect("JSON")).collect();
    let figures: Vec<(&Value, &Value)> =
        lines.iter().map(|it| (&it["executions"], &it["findings"])).collect();
    assert_eq!(figures[0], (&Value::from(20), &Value::from(0)), "{out}");
    assert_eq!(figures[1].1, &Value::from(1), "{out}");
    let output = raddle(at, &["store", "ls"]).output().expect("it starts");
    assert!(stdout(&output).starts_with("run "), "{}", stdout(&output));
    assert_eq!(stdout(&output).lines().count(), 3);
    // The finding was kept, so that its run stays however old it is.
    let prune = ["store", "prune", "--runs", "1", "--days", "0"];
    let output = raddle(at, &[&prune[..], &["--dry-run"]].concat()).output().expect("it starts");
    assert!(
        stderr(&output).starts_with("would delete 1 run with 0 findings"),
        "{}",
        stderr(&output)
    );
    let output = raddle(at, &prune).output().expect("it starts");
    assert!(stderr(&output).starts_with("deleted 1 run with 0 findings"), "{}", stderr(&output));
    let output = raddle(at, &["show", "dl"]).output().expect("it starts");
    assert_eq!(code(&output), Some(0));
    check(
        at,
        &["store", "ls", "--store", "empty"],
        expect![[r#"
            exit 0
            stderr: no runs in empty yet; `raddle run` stores them there
        "#]],
    );
}
