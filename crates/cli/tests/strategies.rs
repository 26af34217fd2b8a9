//! Strategies through the binary: what seed paper 4 says about its first programs, and that what is found by
//! knowledge of earlier executions is replayed without them.

mod common;

use std::path::Path;

use common::{code, folder, raddle, stderr, stdout, write};

/// One of ten threads checks what the others set: it has to come between the two writes of one that is the
/// first of nine.
const REORDER: &str = r#"#include <assert.h>
#include <pthread.h>
static int a, b;
static void *set(void *arg) {
    a = 1;
    b = -1;
    return arg;
}
static void *check(void *arg) {
    assert((a == 0 && b == 0) || (a == 1 && b == -1));
    return arg;
}
int main(void) {
    pthread_t t[10];
    for (int i = 0; i < 10; i++)
        pthread_create(&t[i], 0, i < 9 ? set : check, 0);
    for (int i = 0; i < 10; i++)
        pthread_join(t[i], 0);
    return 0;
}
"#;

/// The last of 500 events of one thread has to come before the first of the other.
const LONG: &str = r#"#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static atomic_int work, is_late;
static void *at_length(void *arg) {
    for (int i = 0; i < 500; i++)
        atomic_fetch_add(&work, 1);
    atomic_store(&is_late, 1);
    return arg;
}
static void *briefly(void *arg) {
    assert(!atomic_load(&is_late));
    for (int i = 0; i < 5; i++)
        atomic_fetch_add(&work, 1);
    return arg;
}
int main(void) {
    pthread_t s, t;
    pthread_create(&s, 0, briefly, 0);
    pthread_create(&t, 0, at_length, 0);
    pthread_join(s, 0);
    pthread_join(t, 0);
    return 0;
}
"#;

/// Explores a program with a strategy: does it find anything? If so, it is replayed on both carriers.
fn finds(folder: &Path, source: &str, strategy: &str) -> bool {
    let run = ["run", source, "--strategy", strategy, "--execs", "3000", "--seed", "1"];
    let output = raddle(folder, &run).args(["--progress", "none"]).output().expect("raddle starts");
    match code(&output) {
        Some(0) => return false,
        Some(2) => {}
        other => panic!("{strategy}: {other:?}: {}{}", stdout(&output), stderr(&output)),
    }
    assert!(!stderr(&output).contains("stability"), "{strategy}: {}", stderr(&output));
    for carrier in ["fibers", "threads"] {
        let replay = ["replay", "latest", "--carrier", carrier];
        let output = raddle(folder, &replay).output().expect("raddle starts");
        let text = stdout(&output);
        assert!(text.trim_end().ends_with(": reproduced"), "{strategy}, {carrier}: {text}");
    }
    true
}

fn check(name: &str, source: &str, finding: &[&str], missing: &[&str]) {
    let folder = folder();
    write(folder.path(), name, source);
    for strategy in finding {
        assert!(finds(folder.path(), name, strategy), "{strategy} does not find {name}");
    }
    for strategy in missing {
        assert!(!finds(folder.path(), name, strategy), "{strategy} finds {name}");
    }
}

#[test]
fn many_threads() {
    let finding = ["surw", "stride:two", "pct:d=3", "pos", "rff", "directed", "urw", "portfolio"];
    check("reorder.c", REORDER, &finding, &["walk"]);
}

/// The schedule that was found is repeated by its choices, whatever constraints led to it.
#[test]
fn what_constraints_have_led_to_comes_back() {
    let folder = folder();
    write(folder.path(), "reorder.c", REORDER);
    for seed in ["1", "2", "3", "4"] {
        let run = ["run", "reorder.c", "--strategy", "rff", "--execs", "3000", "--seed", seed];
        let output = raddle(folder.path(), &run).arg("--no-explain").output().expect("starts");
        assert_eq!(code(&output), Some(2), "seed {seed}");
        let replay = raddle(folder.path(), &["replay", "latest"]).output().expect("starts");
        let text = stdout(&replay);
        assert!(text.trim_end().ends_with(": reproduced"), "seed {seed}: {text}");
    }
}

#[test]
fn a_long_thread_and_a_short_one() {
    let finding = [
        "surw",
        "stride:one",
        "stride:two",
        "pct:d=2",
        "rpro:d=2,r=10",
        "pos",
        "directed",
        "portfolio",
    ];
    check("long.c", LONG, &finding, &["walk", "stride:smax=2"]);
}

/// Which variables are scheduling points is kept in a file, which another program can't use.
#[test]
fn what_is_known_of_storage_is_kept() {
    let folder = folder();
    write(folder.path(), "reorder.c", REORDER);
    write(folder.path(), "long.c", LONG);
    let run = |source: &str| {
        let args = ["run", source, "--strategy", "pos", "--execs", "300", "--progress", "none"];
        raddle(folder.path(), &args).args(["--classes", "kept.json"]).output().expect("starts")
    };
    assert_eq!(code(&run("reorder.c")), Some(2));
    let kept = std::fs::read_to_string(folder.path().join("kept.json")).expect("a file");
    let kept: serde_json::Value = serde_json::from_str(&kept).expect("JSON");
    assert_eq!(kept["program"], "reorder.c");
    assert_eq!(kept["exposed"].as_array().map(Vec::len), Some(2), "a and b: {kept}");
    let other = run("long.c");
    assert_eq!(code(&other), Some(1));
    let line = "kept.json is the --classes file of `reorder.c`, not of `long.c`; name another file";
    assert!(stderr(&other).contains(line), "{}", stderr(&other));
}
