//! `raddle compare`, from the command line.

mod common;

use std::fs;

use common::{AB_BA, check, code, folder, raddle, stderr, stdout, write};
use expect_test::expect;

/// Two threads increment without a lock; the second variant waits in between and is right.
const LOST_UPDATE: &str = r#"#include <assert.h>
#include <pthread.h>
static volatile int n;
static void *add(void *arg) { n = n + 1; return arg; }
int main(void) {
    pthread_t s, t;
    pthread_create(&s, NULL, add, NULL);
    pthread_create(&t, NULL, add, NULL);
    pthread_join(s, NULL);
    pthread_join(t, NULL);
    assert(n == 2);
    return 0;
}
"#;

/// Everything but the speed is the same every time, however many campaigns run at once.
#[test]
fn a_table_a_file_and_a_page() {
    let folder = folder();
    write(folder.path(), "update.c", LOST_UPDATE);
    write(folder.path(), "ab_ba.c", AB_BA);
    let run = |jobs: &str| {
        let args = [
            "compare",
            "--strategies",
            "nonpreemptive,walk,pct:d=2,portfolio",
            "--repeats",
            "3",
            "--execs",
            "200",
            "--seed",
            "5",
            "--csv",
            "all.csv",
            "--html",
            "all.html",
            "-j",
            jobs,
            "update.c",
            "ab_ba.c",
        ];
        let output = raddle(folder.path(), &args).output().expect("raddle starts");
        assert_eq!(code(&output), Some(0), "{}", stderr(&output));
        without_speed(&stdout(&output))
    };
    let table = run("1");
    // The other strategies' figures change whenever they learn something.
    let is_plain = |line: &&str| !line.contains("pct:d=2") && !line.contains("portfolio");
    let plain: Vec<&str> = table.lines().filter(is_plain).collect();
    expect![[r#"
        program  strategy       found   median  p95    failures  points/exec  execs/s
        update   nonpreemptive  0 of 3  > 200   > 200  < 0.50%   13.0  RATE
                 walk           3 of 3  3       6      27%       12.7  RATE
        ab_ba    nonpreemptive  0 of 3  > 200   > 200  < 0.50%   13.0  RATE
                 walk           3 of 3  3       6      27%       11.1  RATE

        nonpreemptive  found no failure in 2 programs
        walk           found a failure in 2 of 2 programs, in each in more than half of its campaigns"#]]
    .assert_eq(&plain.join("\n"));
    assert_eq!(run("3"), table);
    let csv = fs::read_to_string(folder.path().join("all.csv")).expect("written");
    assert_eq!(csv.lines().count(), 1 + 2 * 4 * 3);
    assert!(csv.lines().nth(1).is_some_and(|it| it.starts_with("update,nonpreemptive,")), "{csv}");
    let page = fs::read_to_string(folder.path().join("all.html")).expect("written");
    assert_eq!(page.matches("<svg").count(), 4, "one for the baseline, one for each of the others");
}

/// The last column is the speed.
fn without_speed(table: &str) -> String {
    let cut = |line: &str| match line.rsplit_once("  ") {
        Some((rest, speed)) if speed.starts_with(|it: char| it.is_ascii_digit()) => {
            format!("{}  RATE\n", rest.trim_end())
        }
        _ => format!("{line}\n"),
    };
    table.lines().map(cut).collect()
}

#[test]
fn json_lines() {
    let folder = folder();
    write(folder.path(), "update.c", LOST_UPDATE);
    let args = [
        "compare",
        "--message-format",
        "json",
        "--repeats",
        "2",
        "--execs",
        "100",
        "--strategies",
        "walk,sites",
        "update.c",
    ];
    let output = raddle(folder.path(), &args).output().expect("raddle starts");
    let lines: Vec<serde_json::Value> =
        stdout(&output).lines().map(|it| serde_json::from_str(it).expect("JSON")).collect();
    assert_eq!(lines.len(), 2);
    assert_eq!(lines[1]["type"], "compared");
    assert_eq!(lines[1]["strategy"], "sites");
    assert_eq!(lines[0]["found"], 2);
    assert_eq!(stderr(&output), "");
}

#[test]
fn bad_input() {
    let folder = folder();
    write(folder.path(), "update.c", LOST_UPDATE);
    let args = ["compare", "--strategies", "walk,fast", "update.c"];
    let output = raddle(folder.path(), &args).output().expect("raddle starts");
    assert_eq!(code(&output), Some(1));
    let text = stderr(&output);
    assert!(text.contains("unknown strategy `fast`; available:\n  portfolio  ("), "{text}");
    check(
        folder.path(),
        &["compare", "--strategies", "walk,pct:d=2,walk", "update.c"],
        expect![[r#"
            exit 1
            stderr: error: invalid value 'walk,pct:d=2,walk' for '--strategies <LIST>': `walk` is listed twice
            stderr: 
            stderr: For more information, try '--help'.
        "#]],
    );
    check(
        folder.path(),
        &["compare", "--strategies", "walk", "--baseline", "pos", "update.c"],
        expect![[r#"
            exit 1
            stderr: error: --baseline pos is not one of --strategies; add it to the list
        "#]],
    );
    check(
        folder.path(),
        &["compare", "update.c", "./update.c"],
        expect![[r#"
            exit 1
            stderr: error: two programs have the name update; rename one of them
        "#]],
    );
    check(
        folder.path(),
        &["compare", "--html", "no/where.html", "update.c"],
        expect![[r#"
        exit 1
        stderr: error: can't write no/where.html: No such file or directory (os error 2)
    "#]],
    );
    check(
        folder.path(),
        &["compare"],
        expect![[r#"
        exit 1
        stderr: error: the following required arguments were not provided:
        stderr:   <PROGRAM>...
        stderr: 
        stderr: Usage: raddle compare [OPTIONS] PROGRAM... [-- ARGS...]
        stderr: 
        stderr: For more information, try '--help'.
    "#]],
    );
}

#[test]
fn a_program_that_fails_alone() {
    let folder = folder();
    write(folder.path(), "broken.c", "#include <stdlib.h>\nint main(void) { abort(); }\n");
    write(folder.path(), "update.c", LOST_UPDATE);
    check(
        folder.path(),
        &["compare", "--execs", "10", "--repeats", "1", "-j", "1", "broken.c"],
        expect![[r#"
            exit 4
            stderr: error: broken fails before it creates a second thread: aborted at broken.c:2 in main
        "#]],
    );
}

#[test]
fn saturation_is_no_business_of_a_search() {
    let folder = folder();
    write(folder.path(), "update.c", LOST_UPDATE);
    check(
        folder.path(),
        &["run", "--strategy", "dfs", "--until-saturated", "update.c"],
        expect![[r#"
            exit 1
            stderr: error: --until-saturated requires a random strategy, but `dfs` is systematic; remove one of the two
        "#]],
    );
    check(
        folder.path(),
        &["run", "--until-saturated=2", "update.c"],
        expect![[r#"
            exit 1
            stderr: error: invalid value '2' for '--until-saturated[=<CHANCE>]': expected a probability between 0 and 1, e.g. `0.001` or `0.1%`
            stderr: 
            stderr: For more information, try '--help'.
        "#]],
    );
}

/// What the programs share is found out beforehand, and searches count from their first execution: one that comes
/// to its end says so, and `rank` says at which tuple it found the bug.
#[test]
fn searches_side_by_side() {
    let folder = folder();
    write(folder.path(), "prog.c", LOST_UPDATE);
    let args = ["compare", "prog.c", "--strategies", "ipb:0,dpor,rank", "--repeats", "1"];
    let more = ["--learn", "20", "--csv", "all.csv", "--time", "1h"];
    let output = raddle(folder.path(), &[&args[..], &more].concat()).output().expect("it starts");
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(text.contains("  0 of 3  "), "{text}");
    let csv = fs::read_to_string(folder.path().join("all.csv")).expect("it was written");
    let lines: Vec<&str> = csv.lines().collect();
    assert!(lines[0].ends_with(",seconds,finished,place"), "{csv}");
    assert!(lines[1].starts_with("prog,ipb:0,") && lines[1].ends_with(",1,"), "{csv}");
    assert!(lines[3].ends_with(",\"(1, all, 2, 1)\""), "{csv}");
}

/// A failure that takes a long delay is a warning: the campaign goes on, and it counts as no failure that was found.
#[test]
fn a_timing_assumption_is_no_failure() {
    let folder = folder();
    let text = include_str!("../../../programs/fail/time/late_or_unlucky.c");
    write(folder.path(), "late.c", text);
    let options =
        ["--strategies", "pct:d=3", "--repeats", "1", "--execs", "50", "--csv", "all.csv"];
    let args = [&["compare", "late.c"][..], &options].concat();
    let output = raddle(folder.path(), &args).output().expect("raddle starts");
    assert_eq!(code(&output), Some(0), "{}", stderr(&output));
    let csv = fs::read_to_string(folder.path().join("all.csv")).expect("it was written");
    let row = csv.lines().nth(1).unwrap_or_default();
    // Program, strategy, seed, found, first, executions, failures.
    let fields: Vec<&str> = row.split(',').collect();
    assert_eq!(fields[3..7], ["0", "", "50", "0"], "{csv}");
}
