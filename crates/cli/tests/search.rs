//! Systematic searches of real programs, from the outside.

mod common;

use std::{
    fs,
    path::Path,
    process::{Output, Stdio},
    thread,
    time::Duration,
};

use common::{folder, raddle, write};
use serde_json::Value;

/// Each of N threads reads a variable, then writes it.
const COUNTERS: &str = r#"
#include <pthread.h>
#include <assert.h>
#ifndef N
#define N 2
#endif
static volatile int x;
static void *count(void *arg) { int old = x; x = old + 1; return arg; }
int main(void) {
    pthread_t t[N];
    for (int i = 0; i < N; i++) pthread_create(&t[i], 0, count, 0);
    for (int i = 0; i < N; i++) pthread_join(t[i], 0);
#ifdef CHECK
    assert(x == N);
#endif
    return 0;
}
"#;

fn run(folder: &Path, args: &[&str]) -> Output {
    raddle(folder, args).output().expect("raddle starts")
}

/// The last line of a run with JSON lines, which ended with this code.
#[track_caller]
fn summary(output: &Output, code: i32) -> Value {
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{text}{errors}");
    let last = text.lines().last().unwrap_or_default();
    serde_json::from_str(last).unwrap_or_else(|_| panic!("no JSON: {text}{errors}"))
}

/// What must not depend on the machine.
fn essence(mut summary: Value) -> Value {
    for key in ["elapsed_s", "execs_per_s"] {
        summary[key] = Value::Null;
    }
    for key in ["steps_spared", "resume"] {
        summary["search"][key] = Value::Null;
    }
    summary
}

fn search(folder: &Path, strategy: &str, more: &[&str]) -> Output {
    let args = ["run", "prog.c", "--message-format", "json", "-k", "--strategy", strategy];
    run(folder, &[&args[..], more].concat())
}

/// Two threads with a start, a read, a write and an end each, and `main`, which creates them and waits.
#[test]
fn all_schedules() {
    let folder = folder();
    write(folder.path(), "prog.c", COUNTERS);
    let whole = summary(&search(folder.path(), "dfs", &[]), 0);
    let it = &whole["search"];
    assert_eq!(it["finished"], true);
    assert_eq!(it["exhaustive"], true);
    assert_eq!(it["diverged"], 0);
    assert_eq!(it["words"], "all schedules were explored");
    assert_eq!(it["estimated_total"].as_f64(), it["executions"].as_f64());
    assert_eq!(whole["executions"].as_u64(), Some(it["executions"].as_u64().unwrap_or(0) + 8));
    for more in [&["-j", "1"][..], &["-j", "3"], &["-j", "3", "--checkpoints", "off"], &["--fresh"]]
    {
        let again = summary(&search(folder.path(), "dfs", more), 0);
        assert_eq!(essence(again), essence(whole.clone()), "{more:?}");
    }
}

#[test]
fn words_for_people() {
    let folder = folder();
    write(folder.path(), "prog.c", COUNTERS);
    let args = ["run", "prog.c", "--strategy", "ipb:1", "--learn", "3", "--progress", "none"];
    let output = run(folder.path(), &args);
    let text = String::from_utf8_lossy(&output.stdout);
    let second = text.lines().nth(1).unwrap_or_default();
    assert!(second.starts_with("search ipb:1: "), "{text}");
    let end = "all schedules with at most 1 preemption were explored: none of them fails";
    assert!(second.ends_with(end), "{text}");
    assert!(text.contains("3 executions before it to learn what is shared"), "{text}");
    assert!(!text.contains("go on with"), "{text}");
}

/// The lost update needs one preemption, and no schedule without one shows it.
#[test]
fn a_bug_at_its_level() {
    let folder = folder();
    write(folder.path(), "prog.c", COUNTERS);
    let check = ["--cflags", "-DCHECK", "--learn", "1"];
    let none = summary(&search(folder.path(), "ipb:0", &check), 0);
    assert_eq!(none["search"]["exhaustive"], true);
    let found = summary(&search(folder.path(), "ipb:1", &check), 2);
    assert_eq!(found["findings"], 1);
    let output = run(folder.path(), &["replay", "latest"]);
    assert_eq!(output.status.code(), Some(2), "{}", String::from_utf8_lossy(&output.stdout));
}

#[test]
fn a_budget_that_ends_says_what_is_left() {
    let folder = folder();
    write(folder.path(), "prog.c", COUNTERS);
    let args = ["run", "prog.c", "--strategy", "dfs", "--execs", "100", "--progress", "none"];
    let output = run(folder.path(), &args);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(
        text.contains("search dfs: 92 executions, all schedules, depth first; about "),
        "{text}"
    );
    let command = text.lines().find_map(|it| it.strip_prefix("go on with: raddle "));
    let command = command.expect("a command to go on with");
    let args: Vec<&str> = command.split(' ').chain(["--message-format", "json"]).collect();
    let rest = summary(&run(folder.path(), &args), 0);
    let whole = summary(&search(folder.path(), "dfs", &[]), 0);
    for key in ["executions", "exhaustive", "estimated_total", "learning"] {
        assert_eq!(rest["search"][key], whole["search"][key], "{key}");
    }
    let n_all = whole["executions"].as_u64().expect("a number");
    assert_eq!(rest["executions"].as_u64(), Some(n_all - 100));
}

/// What was running is made again, and no more: the numbers add up to those of one run.
#[test]
fn kill_and_go_on() {
    let folder = folder();
    write(folder.path(), "prog.c", COUNTERS);
    let three = ["--cflags", "-DN=3", "--time", "1h"];
    let whole = summary(&search(folder.path(), "ipb:2", &three), 0);
    let args = ["run", "prog.c", "--strategy", "ipb:2", "-k", "--progress", "none", "-j", "2"];
    for patience_ms in [80, 250] {
        let mut victim = raddle(folder.path(), &[&args[..], &three].concat());
        victim.stdout(Stdio::null()).stderr(Stdio::null());
        let mut victim = victim.spawn().expect("raddle starts");
        let n_runs = || fs::read_dir(folder.path().join(".raddle/runs")).map_or(0, |it| it.count());
        let n_before = n_runs();
        // On a slow machine it takes a while until there is something to kill.
        for _ in 0..200 {
            if n_before < n_runs() {
                break;
            }
            thread::sleep(Duration::from_millis(20));
        }
        thread::sleep(Duration::from_millis(patience_ms));
        victim.kill().expect("it can be killed");
        victim.wait().expect("it was killed");
        let output = run(folder.path(), &["run", "--resume", "-k", "--message-format", "json"]);
        if output.status.code() == Some(1) {
            // It was killed before the search had begun.
            let text = String::from_utf8_lossy(&output.stderr);
            assert!(text.contains("find a search to go on with"), "{text}");
            continue;
        }
        let rest = summary(&output, 0);
        for key in ["executions", "redundant", "exhaustive", "level"] {
            assert_eq!(rest["search"][key], whole["search"][key], "{key}");
        }
    }
}

#[test]
fn another_build_is_refused() {
    let folder = folder();
    write(folder.path(), "prog.c", COUNTERS);
    summary(&search(folder.path(), "dfs", &["--execs", "50"]), 0);
    write(folder.path(), "prog.c", &COUNTERS.replace("old + 1", "old + 2"));
    let output = run(folder.path(), &["run", "--resume"]);
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("the program was built anew since this search began"), "{text}");
}

/// What it does depends on the processor's clock, which nobody makes virtual.
#[test]
fn a_program_that_is_not_deterministic() {
    let folder = folder();
    let text = COUNTERS
        .replace("int old = x;", "if (__builtin_ia32_rdtsc() >> 4 & 1) x = x; int old = x;")
        .replace("#define N 2", "#define N 3");
    write(folder.path(), "prog.c", &text);
    let args = ["run", "prog.c", "--strategy", "dfs", "--execs", "300", "--progress", "none"];
    let output = run(folder.path(), &args);
    let (text, errors) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(0), "{text}{errors}");
    let start = "warning: the program is not deterministic: at step ";
    let line = errors.lines().find(|it| it.starts_with(start)).unwrap_or_default();
    assert!(line.contains(" before, and with the same choices "), "{errors}");
    let (before, now) = line.split_once(" before, and with the same choices ").unwrap_or_default();
    assert!(!before.ends_with(now), "both are told the same: {errors}");
    assert!(errors.contains("what lies behind them is not explored"), "{errors}");
    assert!(errors.contains("warning: stability "), "{errors}");
    let strict = run(folder.path(), &[&args[..], &["--strict"]].concat());
    assert_eq!(strict.status.code(), Some(3));
}

#[test]
fn too_many_threads() {
    let folder = folder();
    write(folder.path(), "prog.c", COUNTERS);
    let args = ["run", "prog.c", "--strategy", "ipb", "--cflags", "-DN=70", "--progress", "none"];
    let output = run(folder.path(), &args);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{errors}");
    assert!(errors.contains("the program has more than 64 threads"), "{errors}");
}

#[test]
fn bad_requests() {
    let folder = folder();
    write(folder.path(), "prog.c", COUNTERS);
    let cases: [(&[&str], &str); 5] = [
        (&["--resume"], "failed to find a search to go on with in .raddle"),
        (&["--resume=zzz"], "failed to find a search of a run whose id begins with `zzz`"),
        (&["prog.c", "--resume"], "cannot be used with"),
        (&["prog.c", "--strategy", "ipb:many"], "no search is called `ipb:many`"),
        (&["prog.c", "--checkpoints", "much"], "`much` is no size: write 256M, 1G or off"),
    ];
    for (args, line) in cases {
        let output = run(folder.path(), &[&["run"], args].concat());
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{args:?}: {errors}");
        assert!(errors.contains(line), "{args:?}: {errors}");
    }
}
