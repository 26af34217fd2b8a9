//! Searches guided by what was covered: what they find, keep, tell, and refuse.

mod common;

use std::{fs, path::Path, process::Output};

use common::{COUNTERS, folder, raddle, write};
use serde_json::Value;

/// One looks whether there is something to use, and uses it; the other takes it away.
const FIGURE_1: &str = r#"
#include <pthread.h>
static int a;
static int *volatile p = &a;
static void *use(void *arg) {
    if (p) *p = 10;
    return arg;
}
static void *take_away(void *arg) {
    p = 0;
    return arg;
}
int main(void) {
    pthread_t t[2];
    pthread_create(&t[0], 0, use, 0);
    pthread_create(&t[1], 0, take_away, 0);
    for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
    return 0;
}
"#;

fn run(folder: &Path, args: &[&str]) -> Output {
    let base = ["run", "prog.c", "--progress", "none", "--detect", "none"];
    raddle(folder, &[&base[..], args].concat()).output().expect("raddle starts")
}

#[track_caller]
fn search(folder: &Path, args: &[&str]) -> Value {
    let output = run(folder, &[args, &["--message-format", "json"]].concat());
    let text = String::from_utf8_lossy(&output.stdout);
    let last: Value = serde_json::from_str(text.lines().last().unwrap_or_default())
        .unwrap_or_else(|_| panic!("{text}{}", String::from_utf8_lossy(&output.stderr)));
    last["search"].clone()
}

#[track_caller]
fn refused(output: &Output, words: &str) {
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{errors}");
    assert_eq!(errors.matches("error: ").count(), 1, "{errors}");
    assert!(errors.contains(words), "{errors}");
}

/// The violation is an order of two places that no good execution has shown.
#[test]
fn an_atomicity_violation_is_found() {
    let folder = folder();
    write(folder.path(), "prog.c", FIGURE_1);
    for strategy in ["hapset", "hapset:ipb", "hapset:order"] {
        let output = run(folder.path(), &["--strategy", strategy, "--learn", "1"]);
        let text = String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.code(), Some(2), "{strategy}: {text}");
        assert!(text.contains("SIGSEGV"), "{strategy}: {text}");
    }
}

/// What one campaign has covered, the next does not try again; and both say what it is.
#[test]
fn what_was_covered_is_kept() {
    let folder = folder();
    write(folder.path(), "prog.c", COUNTERS);
    let args = ["--strategy", "hapset", "--learn", "1", "--hapset", "covered.json"];
    let first = search(folder.path(), &args);
    assert_eq!(first["finished"], true, "{first}");
    let n_pairs = first["covered"]["pairs"].as_u64().unwrap_or_default();
    assert!(n_pairs > 0, "{first}");
    assert_eq!(first["covered"]["new"].as_u64(), Some(n_pairs), "{first}");
    let orders = first["covered"]["orders"].as_array().cloned().unwrap_or_default();
    let on_one_line = |it: &Value| it["place"] == "prog.c:8" && it["after"] == "prog.c:8";
    assert!(orders.iter().any(on_one_line), "{first}");
    let second = search(folder.path(), &args);
    assert_eq!(second["covered"]["new"], 0, "{second}");
    assert_eq!(second["covered"]["pairs"].as_u64(), Some(n_pairs), "{second}");
    assert_eq!(second["executions"], 1, "the rest has been covered: {second}");
    let output = run(folder.path(), &args);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains(" covered, 0 new; nothing new in 2 executions"), "{text}");
    assert!(text.contains("place"), "{text}");
}

#[test]
fn files_that_are_of_no_use() {
    let folder = folder();
    write(folder.path(), "prog.c", COUNTERS);
    let args = ["--strategy", "hapset", "--learn", "1", "--hapset", "covered.json"];
    search(folder.path(), &args);
    let other = run(folder.path(), &[&args[..], &["--cflags", "-DN=3"]].concat());
    refused(&other, "covered.json belongs to another build of the program; name another file");
    fs::write(folder.path().join("covered.json"), "{\"version\": 1").expect("it can be written");
    refused(&run(folder.path(), &args), "covered.json is damaged");
    let wrong = run(folder.path(), &["--strategy", "dpor", "--hapset", "covered.json"]);
    refused(&wrong, "--hapset requires `--strategy hapset`");
}
