//! What is not to be told: `raddle.toml`, TSan's files, and what may be wrong with them. And profiles.

mod common;

use std::path::Path;

use common::{check, code, folder, raddle, run, stderr, stdout, write};
use expect_test::{Expect, expect};

/// Two races: one in `count`, one in `work`.
const RACES: &str = r#"#include <pthread.h>
static int hits, total;
static void count(void) { hits++; }
static void *work(void *arg) {
    count();
    total++;
    return arg;
}
int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, work, NULL);
    pthread_create(&b, NULL, work, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
}
"#;

const RUN: [&str; 12] = [
    "run",
    "races.c",
    "--detect",
    "race",
    "--execs",
    "20",
    "--strategy",
    "walk",
    "-k",
    "-j",
    "1",
    "--progress=none",
];

/// What a run says at its end: what was found, suppressed, and warned of.
fn closing(folder: &Path, more: &[&str]) -> String {
    let args: Vec<&str> = RUN.iter().chain(more).copied().collect();
    let output = raddle(folder, &args).output().expect("raddle starts");
    let mut text = format!("exit {}\n", code(&output).unwrap_or(-1));
    let out = stdout(&output);
    let found = out.lines().filter(|it| it.starts_with("error[") || it.starts_with("warning["));
    let err = stderr(&output);
    for line in found.chain(err.lines().filter(|it| !it.starts_with("exploring"))) {
        text += &format!("{line}\n");
    }
    text
}

fn check_closing(config: &str, more: &[&str], expect: Expect) {
    let folder = folder();
    write(folder.path(), "races.c", RACES);
    write(folder.path(), "raddle.toml", config);
    expect.assert_eq(&closing(folder.path(), more));
}

#[test]
fn what_a_rule_names_is_not_told() {
    check_closing(
        "",
        &[],
        expect![[r#"
            exit 2
            error[race-f5fb]: data race on `hits` (4 bytes): T1's write and T2's read
            error[race-862f]: data race on `total` (4 bytes): T1's write and T2's read
        "#]],
    );
    check_closing(
        "[[suppress]]\nkind = \"race\"\nfunction = \"count\"\nreason = \"a statistic\"\n",
        &[],
        expect![[r#"
            exit 2
            error[race-862f]: data race on `total` (4 bytes): T1's write and T2's read
            suppressed ×20: data race on `hits` (4 bytes) at races.c:3 (raddle.toml:1: a statistic)
        "#]],
    );
    check_closing(
        "[[suppress]]\nobject = \"total\"\nreason = \"x\"\nexpires = 9999-12-31\n\
         [[suppress]]\nfile = \"races.c\"\nobject = \"hits\"\nreason = \"y\"\n",
        &[],
        expect![[r#"
            exit 0
            suppressed ×20: data race on `hits` (4 bytes) at races.c:3 (raddle.toml:5: y)
            suppressed ×20: data race on `total` (4 bytes) at races.c:6 (raddle.toml:1: x)
        "#]],
    );
}

#[test]
fn rules_that_do_nothing_are_told() {
    check_closing(
        "[[suppress]]\nkind = \"deadlock\"\nfunction = \"count\"\nreason = \"a statistic\"\n\n\
         [[suppress]]\nfunction = \"count\"\nreason = \"old\"\nexpires = \"2001-02-03\"\n",
        &[],
        expect![[r#"
            exit 2
            error[race-f5fb]: data race on `hits` (4 bytes): T1's write and T2's read
            error[race-862f]: data race on `total` (4 bytes): T1's write and T2's read
            warning: raddle.toml:6: this suppression expired on 2001-02-03 and is ignored: function count
            warning: raddle.toml:1: unused suppression: deadlock, function count
        "#]],
    );
}

#[test]
fn a_suppressed_failure_ends_nothing() {
    let folder = folder();
    write(folder.path(), "ab.c", common::AB_BA);
    write(
        folder.path(),
        "raddle.toml",
        "[[suppress]]\nkind = \"deadlock\"\nfunction = \"take\"\nreason = \"known\"\n",
    );
    let args = ["run", "ab.c", "--execs", "50", "--strategy", "walk", "--message-format", "json"];
    let output = raddle(folder.path(), &args).output().expect("raddle starts");
    assert_eq!(code(&output), Some(0), "{}", stdout(&output));
    let out = stdout(&output);
    let line = |kind: &str| out.lines().find(|it| it.contains(kind)).unwrap_or_default().to_owned();
    assert!(line("\"type\":\"summary\"").contains("\"executions\":50,"), "{out}");
    assert!(line("\"type\":\"suppressed\"").contains("\"rule\":\"raddle.toml:1\""), "{out}");
    assert!(!out.contains("\"type\":\"finding\""), "{out}");
    let one = run(folder.path(), &[&args[..6], &["-j", "1"]].concat());
    let two = run(folder.path(), &[&args[..6], &["-j", "3"]].concat());
    let told = |text: &str| {
        text.lines().filter(|it| it.contains("suppressed")).map(String::from).collect::<Vec<_>>()
    };
    assert_eq!(told(&one), told(&two));
    assert_eq!(told(&one).len(), 1, "{one}");
}

#[test]
fn files_of_tsan_are_read_as_they_are() {
    let folder = folder();
    write(folder.path(), "races.c", RACES);
    write(folder.path(), "tsan.supp", "# known\nrace:^count$\nthread:work\ndeadlock:foo\n");
    let told = closing(folder.path(), &["--suppressions", "tsan.supp"]);
    expect![[r#"
        exit 2
        error[race-862f]: data race on `total` (4 bytes): T1's write and T2's read
        suppressed ×20: data race on `hits` (4 bytes) at races.c:3 (tsan.supp:2)
        warning: tsan.supp:4: unused suppression: deadlock:foo
    "#]]
    .assert_eq(&told);
}

fn check_wrong(config: &str, expect: Expect) {
    let folder = folder();
    write(folder.path(), "races.c", RACES);
    write(folder.path(), "raddle.toml", config);
    check(folder.path(), &["run", "races.c"], expect);
}

#[test]
fn what_is_wrong_is_told_with_its_place() {
    check_wrong(
        "[[suppress]\n",
        expect![[r#"
        exit 1
        stderr: error: raddle.toml:1:12: unclosed array table, expected `]`
    "#]],
    );
    check_wrong(
        "[[suppress]]\nfunction = \"f\"\n",
        expect![[r#"
            exit 1
            stderr: error: raddle.toml:1:1: expected `reason = "…"` in this [[suppress]]
        "#]],
    );
    check_wrong(
        "[[suppress]]\nreason = \"r\"\n",
        expect![[r#"
            exit 1
            stderr: error: raddle.toml:1:1: expected `function`, `file` or `object` in this [[suppress]]; without one of them it would suppress everything
        "#]],
    );
    check_wrong(
        "[[suppress]]\nkind = \"rac\"\n",
        expect![[r#"
            exit 1
            stderr: error: raddle.toml:2:8: expected a kind (assert, abort, crash, exit, exception, panic, linearizability, deadlock, livelock, misuse, out-of-memory, race, atomicity), found `rac`
        "#]],
    );
    check_wrong(
        "[[suppress]]\nfunction = 3\n",
        expect![[r#"
        exit 1
        stderr: error: raddle.toml:2:12: expected a string, found an integer
    "#]],
    );
    check_wrong(
        "[[suppress]]\nexpires = \"soon\"\n",
        expect![[r#"
            exit 1
            stderr: error: raddle.toml:2:11: expected a date like 2026-12-31, found "soon"
        "#]],
    );
    check_wrong(
        "[[suppress]]\n  why = \"r\"\n",
        expect![[r#"
        exit 1
        stderr: error: raddle.toml:2:3: expected `kind`, `function`, `file`, `object`, `reason` or `expires`, found `why`
    "#]],
    );
    check_wrong(
        "suppress = 3\n",
        expect![[r#"
        exit 1
        stderr: error: raddle.toml:1:12: expected an array, found an integer
    "#]],
    );
    check_wrong(
        "[run]\nexecs = 3\n",
        expect![[r#"
            exit 1
            stderr: error: raddle.toml:2:1: expected `sources`, `build`, `program`, `args` or `cargo`, found `execs`
        "#]],
    );
    check_wrong(
        "[profile.default]\nexec = 3\n",
        expect![[r#"
        exit 1
        stderr: error: raddle.toml:2:1: expected an option of `raddle run`, found `exec`; did you mean `execs`?
    "#]],
    );
    check_wrong(
        "[profile.default]\nexecs = \"many\"\n",
        expect![[r#"
            exit 1
            stderr: error: raddle.toml:2:9: invalid value 'many' for '--execs <N>': expected a number of 1 or more, e.g. `20000` or `20k`
        "#]],
    );
    check_wrong(
        "[profile.ci]\nexecs = [[3]]\n",
        expect![[r#"
        exit 1
        stderr: error: raddle.toml:2:10: expected a string or a number, found an array
    "#]],
    );
    check_wrong(
        "[profile.default]\ninherits = \"ci\"\n",
        expect![[r#"
        exit 1
        stderr: error: raddle.toml:2:12: expected the name of a profile, found `ci`
    "#]],
    );
    check_wrong(
        "[profile.default]\ninherits = \"default\"\n",
        expect![[r#"
        exit 1
        stderr: error: raddle.toml:1:10: this profile inherits from itself
    "#]],
    );
}

#[test]
fn files_that_are_not_there() {
    let folder = folder();
    write(folder.path(), "races.c", RACES);
    check(
        folder.path(),
        &["run", "races.c", "--config", "no.toml"],
        expect![[r#"
        exit 1
        stderr: error: no.toml: No such file or directory (os error 2)
    "#]],
    );
    check(
        folder.path(),
        &["run", "races.c", "--profile", "ci"],
        expect![[r#"
            exit 1
            stderr: error: --profile ci: no raddle.toml in this directory or a parent
        "#]],
    );
    check(
        folder.path(),
        &["run", "races.c", "--suppressions", "no.supp"],
        expect![[r#"
        exit 1
        stderr: error: --suppressions no.supp: No such file or directory (os error 2)
    "#]],
    );
    write(folder.path(), "bad.supp", "race:a\nrace b\n");
    check(
        folder.path(),
        &["run", "races.c", "--suppressions", "bad.supp"],
        expect![[r#"
        exit 1
        stderr: error: bad.supp:2:7: expected `:` and a pattern after the kind, found the end of the line
    "#]],
    );
    write(folder.path(), "raddle.toml", "[profile.nightly]\nexecs = 9\n");
    check(
        folder.path(),
        &["run", "races.c", "--profile", "ci"],
        expect![[r#"
            exit 1
            stderr: error: unknown profile `ci` in raddle.toml; available: nightly
        "#]],
    );
}

/// The line that says what is about to happen.
fn announced(folder: &Path, args: &[&str], env: &[(&str, &str)]) -> String {
    let mut command = raddle(folder, args);
    let output = command.envs(env.iter().copied()).output().expect("raddle starts");
    let err = stderr(&output);
    err.lines().find(|it| it.starts_with("exploring")).unwrap_or(&err).to_owned()
}

#[test]
fn profiles_are_defaults() {
    let folder = folder();
    std::fs::create_dir_all(folder.path().join("src")).expect("made");
    write(folder.path(), "src/races.c", RACES);
    write(
        folder.path(),
        "raddle.toml",
        "[profile.default]\nexecs = 7\njobs = 1\nseed = 3\n\
         [profile.ci]\nexecs = 11\n\
         [profile.nightly]\ninherits = \"ci\"\nseed = 5\nkeep-going = true\n",
    );
    let here = folder.path().join("src");
    let line = |args: &[&str], env: &[(&str, &str)]| {
        let args = [&["run", "races.c", "--progress=none"], args].concat();
        announced(&here, &args, env)
    };
    for (args, env, expected) in [
        (&[][..], &[][..], "7 executions, 1 worker, seed 3"),
        (&["--execs", "2"], &[], "2 executions, 1 worker, seed 3"),
        (&["--time", "2s"], &[], "2 s, 1 worker, seed 3"),
        (&["--profile", "ci"], &[], "11 executions, 1 worker, seed 3"),
        (&["--profile", "nightly"], &[], "11 executions, 1 worker, seed 5"),
        (
            &[],
            &[("RADDLE_PROFILE", "nightly"), ("RADDLE_SEED", "9")],
            "11 executions, 1 worker, seed 9",
        ),
        (&["--seed", "4"], &[("RADDLE_SEED", "9")], "7 executions, 1 worker, seed 4"),
        (&[], &[("RADDLE_BUDGET", "4")], "4 executions, 1 worker, seed 3"),
    ] {
        assert_eq!(line(args, env), format!("exploring races.c: {expected}"), "{args:?} {env:?}");
    }
    std::fs::create_dir_all(here.join(".git")).expect("made");
    let alone = line(&["--execs", "2", "-j", "1"], &[]);
    assert_eq!(alone, "exploring races.c: 2 executions, 1 worker, seed 0");
}
