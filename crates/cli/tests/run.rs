//! From a source to a replayed finding, through the binary, as a user does it.

mod common;

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use common::{code, folder, last_line, raddle, run, stderr, stdout, without_times, write};
use expect_test::expect;
use serde_json::Value;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the repository")
}

fn go(folder: &Path, args: &[&str]) -> Output {
    raddle(folder, args).output().expect("raddle starts")
}

/// Runs `raddle` and expects an exit code. What it wrote to standard output.
fn expect_exit(folder: &Path, args: &[&str], wanted: i32) -> String {
    let output = go(folder, args);
    assert_eq!(code(&output), Some(wanted), "{args:?}: {}{}", stdout(&output), stderr(&output));
    stdout(&output)
}

/// Two threads that add to a counter, one of them without the lock.
const COUNTER: &str = r#"#include <assert.h>
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int hits;
static void *careful(void *arg) {
    pthread_mutex_lock(&lock);
    hits++;
    pthread_mutex_unlock(&lock);
    return arg;
}
static void *careless(void *arg) {
    hits++;
    return arg;
}
int main(void) {
    pthread_t s, t;
    pthread_create(&s, NULL, careful, NULL);
    pthread_create(&t, NULL, careless, NULL);
    pthread_join(s, NULL);
    pthread_join(t, NULL);
    assert(hits == 2);
    return 0;
}
"#;

#[test]
fn the_transcript_of_the_readme_is_true() {
    let readme = fs::read_to_string(root().join("README.md")).expect("readable");
    let (_, rest) = readme.split_once("<!-- transcript: bank -->\n```console\n").expect("begins");
    let (transcript, _) = rest.split_once("```\n<!-- /transcript -->").expect("ends");
    let mut lines = transcript.lines();
    assert_eq!(lines.next(), Some("$ cargo run --release -- run examples/bank.c"));
    let store = folder();
    let output = raddle(&root(), &["run", "examples/bank.c"])
        .env("RADDLE_STORE", store.path())
        .output()
        .expect("raddle starts");
    assert_eq!(code(&output), Some(2), "{}", stderr(&output));
    let told = stderr(&output) + &stdout(&output);
    // On a busy machine there are lines of progress.
    let told = told.lines().filter(|it| !it.starts_with("[00:"));
    let told: Vec<String> = told.map(without_times).collect();
    let promised: Vec<String> = lines.map(without_times).collect();
    assert_eq!(told.join("\n"), promised.join("\n"), "README.md's transcript is out of date");
}

#[test]
fn found_listed_shown_and_replayed() {
    let folder = folder();
    write(folder.path(), "counter.c", COUNTER);
    expect![[r#"
        exit 2
        stdout: error[assert-7df4]: assertion failed: T1 (careful) and T2 (careless) both
        stdout:     read `hits` = 0 before either sets it
        stdout:   --> counter.c:21 in main
        stdout:    |
    "#]]
    .assert_eq(
        &run(folder.path(), &["run", "counter.c"])
            .lines()
            .take(5)
            .map(|it| format!("{it}\n"))
            .collect::<String>(),
    );
    let listed = expect_exit(folder.path(), &["list"], 0);
    assert!(listed.contains("assert-") && listed.contains("hits == 2"), "{listed}");
    let id = listed.split_whitespace().find(|it| it.starts_with("assert-")).expect("an id");
    let shown = expect_exit(folder.path(), &["show", id], 0);
    assert!(shown.starts_with(&format!("error[{id}]: assertion failed: ")), "{shown}");
    let full = expect_exit(folder.path(), &["show", "latest", "--full"], 0);
    assert!(full.contains("careless") || full.contains("write hits"), "{full}");
    for carrier in ["fibers", "threads"] {
        let args = ["replay", id, "--times", "100", "--carrier", carrier];
        let text = expect_exit(folder.path(), &args, 2);
        assert_eq!(last_line(&text), format!("{id}: reproduced 100 of 100 times"));
    }
}

#[test]
fn rebuilt_programs() {
    let folder = folder();
    let run = |text: &str| {
        write(folder.path(), "counter.c", text);
        go(folder.path(), &["replay", "assert"])
    };
    write(folder.path(), "counter.c", COUNTER);
    expect_exit(folder.path(), &["run", "counter.c"], 2);
    let same = run(COUNTER);
    assert_eq!((code(&same), stderr(&same).as_str()), (Some(2), ""));

    // A comment moves lines, and changes nothing.
    let warning = "warning: the program was rebuilt since this was found; steps may differ\n";
    let moved = run(&format!("// One line more.\n{COUNTER}"));
    assert_eq!((code(&moved), stderr(&moved).as_str()), (Some(2), warning));
    assert!(last_line(&stdout(&moved)).ends_with(": reproduced"), "{}", stdout(&moved));

    // A step more: the replay says where, and that the failure is the same.
    let other = run(&COUNTER.replace(
        "static void *careful(void *arg) {\n",
        "static void *careful(void *arg) {\n    pthread_mutex_lock(&lock);\n    \
         pthread_mutex_unlock(&lock);\n",
    ));
    assert_eq!(stderr(&other), warning);
    let text = stdout(&other);
    let verdict = text.rfind("assert-").map(|it| &text[it..]).expect("a verdict");
    assert!(verdict.contains("diverged at step "), "{text}");
    assert!(verdict.contains("recorded: T1 "), "{text}");
    let is_same = verdict.contains("it ended in the same failure");
    assert_eq!(code(&other), Some(if is_same { 2 } else { 5 }), "{text}");

    // Repaired.
    let careless = "    hits++;\n    return arg;\n}\nint";
    let repaired = "    pthread_mutex_lock(&lock);\n    hits++;\n    pthread_mutex_unlock(&lock);\n    \
                    return arg;\n}\nint";
    assert!(COUNTER.contains(careless));
    let gone = run(&COUNTER.replace(careless, repaired));
    assert_eq!(code(&gone), Some(5), "{}", stdout(&gone));
    assert!(
        stdout(&gone).contains(": gone: the program no longer fails under this schedule\n"),
        "{}",
        stdout(&gone)
    );

    // With the expectation gone, the steps are the same and nothing fails.
    let gone = run(&COUNTER.replace("hits == 2", "hits >= 1"));
    assert_eq!(code(&gone), Some(5), "{}", stdout(&gone));
    expect![[r#"
        ID: gone: the program no longer fails under this schedule
          the recorded steps were replayed and nothing failed
    "#]]
    .assert_eq(&without_id(&stdout(&gone)));
}

fn without_id(text: &str) -> String {
    match text.split_once(':') {
        Some((_, rest)) => format!("ID:{rest}"),
        None => text.to_owned(),
    }
}

fn json_lines(text: &str) -> Vec<Value> {
    text.lines().map(|it| serde_json::from_str(it).expect("JSON")).collect()
}

#[test]
fn json_lines_have_the_fields_they_should() {
    let folder = folder();
    write(folder.path(), "counter.c", COUNTER);
    let text = expect_exit(folder.path(), &["run", "--message-format", "json", "counter.c"], 2);
    let lines = json_lines(&text);
    let finding = &lines[0];
    assert_eq!(finding["type"], "finding");
    assert_eq!(finding["kind"], "assert");
    for field in ["execution", "steps", "switches"] {
        assert!(finding[field].is_u64(), "{field}: {finding}");
    }
    assert_eq!(finding["threads"].as_array().expect("threads").len(), 3);
    assert_eq!(finding["sites"][0]["line"], 21);
    assert_eq!(finding["sites"][0]["function"], "main");
    assert_eq!(finding["test"], Value::Null);
    assert_eq!(finding["reproduced"], serde_json::json!({ "n": 5, "of": 5 }));
    let summary = lines.last().expect("a summary");
    assert_eq!(summary["type"], "summary");
    assert_eq!(summary["findings"], 1);
    for field in ["executions", "execs_per_s", "distinct_traces", "elapsed_s", "stability"] {
        assert!(summary[field].is_number(), "{field}: {summary}");
    }
    let id = finding["id"].as_str().expect("an id");
    let args = ["replay", id, "--times", "2", "--message-format", "json"];
    for (idx, line) in json_lines(&expect_exit(folder.path(), &args, 2)).iter().enumerate() {
        assert_eq!((&line["type"], &line["verdict"]), (&"replay".into(), &"reproduced".into()));
        assert_eq!((&line["exact"], &line["rebuilt"]), (&true.into(), &false.into()));
        assert_eq!(line["time"], idx + 1);
    }
    let listed = expect_exit(folder.path(), &["list", "--message-format", "json"], 0);
    assert_eq!(json_lines(&listed)[0]["id"], id);
}

/// Ids and first executions of all findings.
fn findings(source: &Path, jobs: &str) -> Vec<(String, u64)> {
    let folder = folder();
    let source = source.display().to_string();
    let args = ["run", "-k", "--execs", "500", "-j", jobs, "--message-format", "json", &source];
    let output = go(folder.path(), &args);
    assert!(matches!(code(&output), Some(0 | 2)), "{}", stderr(&output));
    let lines = json_lines(&stdout(&output)).into_iter().filter(|it| it["type"] == "finding");
    let look = |it: Value| {
        let id = it["id"].as_str().expect("an id").to_owned();
        (id, it["execution"].as_u64().expect("a number"))
    };
    lines.map(look).collect()
}

#[test]
fn workers_change_nothing_but_the_speed() {
    for name in ["mutex/two_variables.c", "condvar/lost_wakeup.c", "atomic/refcount.c"] {
        let source = root().join("programs/fail").join(name);
        let alone = findings(&source, "1");
        assert!(!alone.is_empty(), "{name}");
        for jobs in ["2", "4"] {
            assert_eq!(findings(&source, jobs), alone, "{name} with {jobs} workers");
        }
    }
}

#[test]
fn output_is_shown_when_asked_for() {
    let folder = folder();
    let text = COUNTER.replace(
        "#include <assert.h>",
        "#include <stdio.h>\n#define assert(x) printf(\"%d\\n\", x)",
    );
    write(folder.path(), "counter.c", &text);
    let quiet = expect_exit(folder.path(), &["run", "--execs", "3", "counter.c"], 0);
    let is_printed = |line: &str| line == "0" || line == "1";
    assert!(!quiet.lines().any(is_printed), "{quiet}");
    let shown =
        expect_exit(folder.path(), &["run", "--execs", "3", "--show-output", "counter.c"], 0);
    let lines: Vec<String> = shown.lines().map(without_times).collect();
    let head: Vec<&str> = lines.iter().map(String::as_str).step_by(2).take(3).collect();
    assert_eq!(head, ["── execution 0 ──", "── execution 1 ──", "── execution 2 ──"]);
    assert_eq!(lines[1], "1", "{shown}");
}

#[test]
fn going_on_counts_what_is_found_again() {
    let folder = folder();
    write(folder.path(), "counter.c", COUNTER);
    let text = expect_exit(folder.path(), &["run", "-k", "--execs", "300", "counter.c"], 2);
    assert!(last_line(&text).starts_with("explored 300 executions ("), "{text}");
    assert_eq!(text.matches("SUMMARY: raddle: assert").count(), 1, "{text}");
}

#[test]
fn nothing_to_find() {
    let folder = folder();
    write(folder.path(), "counter.c", &COUNTER.replace("assert(hits == 2)", "assert(hits)"));
    for strict in [
        &["run", "--execs", "100", "counter.c"][..],
        &["run", "--execs", "100", "--strict", "counter.c"],
    ] {
        let text = expect_exit(folder.path(), strict, 0);
        assert!(text.ends_with(", no finding\n"), "{text}");
    }
}

/// It never ends, but no two of its states are the same, so nobody can prove that: inconclusive, whatever the options.
#[test]
fn an_execution_without_end_is_cut_short() {
    let counting = r#"#include <pthread.h>
#include <stdatomic.h>
static atomic_long rounds;
static void *count(void *arg) {
    for (;;) atomic_fetch_add(&rounds, 1);
    return arg;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, NULL, count, NULL);
    pthread_join(t, NULL);
    return 0;
}
"#;
    let folder = folder();
    write(folder.path(), "counting.c", counting);
    let output = go(folder.path(), &["run", "--execs", "3", "--max-steps", "5000", "counting.c"]);
    assert_eq!(code(&output), Some(3), "{}{}", stdout(&output), stderr(&output));
    let warning = "warning: 3 executions were cut short after 86,250 steps; raise --max-steps\n";
    assert!(stderr(&output).contains(warning), "{}", stderr(&output));
    assert!(stdout(&output).ends_with(", no finding\n"), "{}", stdout(&output));
}

#[test]
fn seeds_decide() {
    let folder = folder();
    write(folder.path(), "counter.c", COUNTER);
    let with_seed = |seed: &str| {
        let mut command = raddle(folder.path(), &["run", "counter.c"]);
        command.env("RADDLE_SEED", seed).output().expect("raddle starts");
        let text = expect_exit(folder.path(), &["show", "latest", "--full"], 0);
        text.lines().find(|it| it.contains("found at execution")).expect("found").to_owned()
    };
    assert!(with_seed("7").contains(", seed 7, "));
    assert_eq!(with_seed("7"), with_seed("7"));
    expect_exit(folder.path(), &["run", "--seed", "0x10", "counter.c"], 2);
    let text = expect_exit(folder.path(), &["show", "latest", "--full"], 0);
    assert!(text.contains(", seed 16, "), "{text}");
}

#[test]
fn the_doctor_finds_nothing_wrong() {
    let folder = folder();
    let text = expect_exit(folder.path(), &["doctor"], 0);
    assert!(text.contains("ok       canary: deadlock: found at execution "), "{text}");
    assert!(text.contains("ok       canary: lost update: found at execution "), "{text}");
}

#[test]
fn a_project_with_a_library_is_built_and_explored() {
    let folder = folder();
    write(folder.path(), "queue.h", "void queue_push(int value);\nint queue_sum(void);\n");
    write(
        folder.path(),
        "queue.c",
        "#include \"queue.h\"\nstatic int sum;\n\
         void queue_push(int value) { int seen = sum; sum = seen + value; }\n\
         int queue_sum(void) { return sum; }\n",
    );
    write(
        folder.path(),
        "main.cpp",
        r#"#include <cstdlib>
#include <thread>
extern "C" {
#include "queue.h"
}
int main(int argc, char **argv) {
    int wanted = argc > 1 ? std::atoi(argv[1]) : 0;
    std::thread one(queue_push, 1), two(queue_push, 2);
    one.join();
    two.join();
    return queue_sum() == 3 ? 0 : wanted;
}
"#,
    );
    write(
        folder.path(),
        "Makefile",
        "prog: main.o libqueue.so\n\t$(CXX) main.o -o $@ -pthread -L. -lqueue -Wl,-rpath,'$$ORIGIN'\n\
         main.o: main.cpp queue.h\n\t$(CXX) -g -O1 -MMD -c $< -o $@\n\
         libqueue.so: queue.c queue.h\n\t$(CC) -g -O1 -fPIC -shared $< -o $@\n",
    );
    let raddle_path = env!("CARGO_BIN_EXE_raddle");
    let built = Command::new("make")
        .current_dir(folder.path())
        .args([format!("CC={raddle_path} cc"), format!("CXX={raddle_path} c++")])
        .output();
    let Ok(built) = built else {
        return raddle_tidy::skip("make is not installed; not tested: programs built by it");
    };
    assert!(built.status.success(), "{}", stderr(&built));
    // Arguments behind the program are its own.
    expect_exit(folder.path(), &["run", "--execs", "200", "--", "./prog"], 0);
    let text = expect_exit(folder.path(), &["run", "--", "./prog", "42"], 2);
    assert!(text.contains("exit code 42: "), "{text}");
    assert!(text.contains("queue.c:3"), "{text}");
    let again = expect_exit(folder.path(), &["replay", "latest"], 2);
    assert!(last_line(&again).ends_with(": reproduced"), "{again}");
}

#[test]
fn a_terminal_gets_a_block_and_is_left_clean() {
    let folder = folder();
    write(folder.path(), "counter.c", &COUNTER.replace("assert(hits == 2)", "assert(hits)"));
    let raddle_path = env!("CARGO_BIN_EXE_raddle");
    let line = format!("{raddle_path} run --time 1500ms --detect none counter.c");
    let mut command = Command::new("script");
    command.args(["-qec", &line, "/dev/null"]).current_dir(folder.path());
    command.env("TERM", "xterm").env("COLUMNS", "100").env_remove("NO_COLOR");
    let Ok(output) = command.output() else {
        return raddle_tidy::skip("script is not installed; not tested: progress on a terminal");
    };
    let text = stdout(&output);
    assert_eq!(code(&output), Some(0), "{text}");
    assert!(text.contains("execs ") && text.contains("stability 100%"), "{text:?}");
    // The block is gone before the last line is written, and the cursor is there.
    let (_, end) = text.rsplit_once("\x1b[J").expect("the block is erased");
    assert!(end.contains("explored "), "{end:?}");
    assert_eq!(text.matches("\x1b[?25l").count(), text.matches("\x1b[?25h").count());
}

/// Whoever says nothing is told of races, and hears of the failure that one leads to all the same.
#[test]
fn races_are_told_unless_one_says_otherwise() {
    let folder = folder();
    write(folder.path(), "counter.c", COUNTER);
    let kinds = |more: &[&str]| -> Vec<String> {
        let run = ["run", "counter.c", "--message-format", "json", "--no-explain"];
        let output = raddle(folder.path(), &run).args(more).env_remove("RADDLE_DETECT").output();
        let output = output.expect("raddle starts");
        assert_eq!(code(&output), Some(2), "{}{}", stdout(&output), stderr(&output));
        let lines = stdout(&output);
        let lines = lines.lines().map(|it| serde_json::from_str::<Value>(it).expect("JSON"));
        let findings = lines.filter(|it| it["type"] == "finding");
        findings.map(|it| it["kind"].as_str().unwrap_or_default().to_owned()).collect()
    };
    let by_default = kinds(&[]);
    assert!(by_default.contains(&"race".to_owned()), "{by_default:?}");
    assert_eq!(by_default.last().map(String::as_str), Some("assert"));
    assert_eq!(kinds(&["--detect", "none"]), ["assert"]);
}

/// Where `main` happened to be chosen last says nothing about the bug: a code that it gives back is one
/// finding, whatever the schedule; one that is asked for by `exit` is told by its place.
#[test]
fn an_exit_code_is_one_finding() {
    let folder = folder();
    let gives_back = COUNTER.replace("assert(hits == 2);\n    return 0;", "return hits != 2;");
    let exits = COUNTER.replace("assert(hits == 2);", "if (hits != 2)\n        exit(1);");
    write(folder.path(), "gives_back.c", &gives_back);
    write(folder.path(), "exits.c", &format!("#include <stdlib.h>\n{exits}"));
    let found = |program: &str| {
        let args =
            ["run", program, "--execs", "300", "-k", "--no-explain", "--message-format", "json"];
        let lines = expect_exit(folder.path(), &args, 2);
        let lines = lines.lines().map(|it| serde_json::from_str::<Value>(it).expect("JSON"));
        let exits = lines.filter(|it| it["type"] == "finding" && it["kind"] == "exit");
        let places =
            exits.map(|it| format!("{} {}", it["sites"][0]["function"], it["sites"][0]["line"]));
        places.collect::<Vec<_>>()
    };
    assert_eq!(found("gives_back.c"), [r#""main" null"#]);
    assert_eq!(found("exits.c"), [r#""main" 23"#]);
}
