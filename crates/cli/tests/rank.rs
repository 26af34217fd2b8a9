//! Schedules by rank, on real programs: a finding says at which tuple it was found.

mod common;

use std::path::Path;

use common::{COUNTERS, folder, raddle, write};
use serde_json::Value;

const FRAME: &str = r#"
#include <pthread.h>
#include <assert.h>
typedef void *body(void *);
static void run(body *one, body *two) {
    pthread_t t[2];
    pthread_create(&t[0], 0, one, 0);
    pthread_create(&t[1], 0, two, 0);
    for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
}
"#;

/// The lines of a run, with JSON.
fn lines(folder: &Path, text: &str, strategy: &str) -> Vec<Value> {
    write(folder, "prog.c", &format!("{FRAME}{text}"));
    let args = ["run", "prog.c", "--message-format", "json", "--detect", "none", "--learn", "1"];
    let args = [&args[..], &["--strategy", strategy]].concat();
    let output = raddle(folder, &args).output().expect("it starts");
    let out = String::from_utf8_lossy(&output.stdout);
    let parsed: Result<Vec<Value>, _> = out.lines().map(serde_json::from_str).collect();
    parsed.unwrap_or_else(|_| panic!("{out}{}", String::from_utf8_lossy(&output.stderr)))
}

#[track_caller]
fn check(text: &str, tuple: &str) {
    let folder = folder();
    let lines = lines(folder.path(), text, "rank");
    let finding = lines.iter().find(|it| it["type"] == "finding");
    let strategy = finding.map(|it| it["strategy"].clone());
    assert_eq!(strategy, Some(Value::from(format!("rank at {tuple}"))), "{lines:?}");
}

/// The baseline lets the first thread go first, which is fine.
#[test]
fn an_order_of_two_threads() {
    check(
        "static volatile int is_made;
        static void *make(void *arg) { is_made = 1; return arg; }
        static void *use(void *arg) { assert(is_made); return arg; }
        int main(void) { run(make, use); return 0; }",
        "(0, 0, 2, 1)",
    );
}

#[test]
fn a_deadlock_needs_a_preemption_before_a_lock() {
    check(
        "static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
        static void *one(void *arg) {
            pthread_mutex_lock(&a); pthread_mutex_lock(&b);
            pthread_mutex_unlock(&b); pthread_mutex_unlock(&a);
            return arg;
        }
        static void *two(void *arg) {
            pthread_mutex_lock(&b); pthread_mutex_lock(&a);
            pthread_mutex_unlock(&a); pthread_mutex_unlock(&b);
            return arg;
        }
        int main(void) { run(one, two); return 0; }",
        "(1, 0, 2, 1)",
    );
}

#[test]
fn a_lost_update_needs_one_before_an_access() {
    check(
        "static volatile int x;
        static void *inc(void *arg) { int old = x; x = old + 1; return arg; }
        int main(void) { run(inc, inc); assert(x == 2); return 0; }",
        "(1, all, 2, 1)",
    );
}

/// The writer yields and goes on all the same, between the reader's two reads.
#[test]
fn a_yield_that_comes_to_nothing() {
    check(
        "#include <sched.h>
        #include <stdatomic.h>
        static atomic_int ready, count;
        static void *writes(void *arg) { count = 1; sched_yield(); ready = 1; return arg; }
        static void *reads(void *arg) { int n = count; if (ready) assert(n == 1); return arg; }
        int main(void) { run(writes, reads); return 0; }",
        "(2, 1, 2, 1)",
    );
}

/// What was explored stands at the end; the same whatever the number of workers.
#[test]
fn nothing_is_found() {
    let folder = folder();
    let text = "static volatile int x;
        static void *inc(void *arg) { x = 1; return arg; }
        int main(void) { run(inc, inc); return x - 1; }";
    let lines = lines(folder.path(), text, "rank:0.0.2.1+1.all.3.1");
    let search = &lines.last().expect("it says something")["search"];
    assert_eq!(search["finished"], true, "{search}");
    let words = search["words"].as_str().unwrap_or_default();
    assert!(words.starts_with("all tuples up to (1, all, 3, 1) were explored"), "{words}");
}

#[test]
fn no_such_tuple() {
    let folder = folder();
    write(folder.path(), "prog.c", "int main(void) { return 0; }");
    let output = raddle(folder.path(), &["run", "prog.c", "--strategy", "rank:1.2"])
        .output()
        .expect("it starts");
    assert_eq!(output.status.code(), Some(1));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(errors.contains("C.V.T.L"), "{errors}");
}

/// Sets of threads have room for more than a word has bits: the lost update of 200 threads is found.
#[test]
fn two_hundred_threads() {
    let folder = folder();
    write(folder.path(), "prog.c", COUNTERS);
    for strategy in ["rank", "rank:paper", "dpor", "pcb:1"] {
        let args = ["run", "prog.c", "--strategy", strategy, "--cflags=-DN=200 -DCHECK"];
        let more = ["--progress", "none", "--execs", "5000", "--detect", "none", "--learn", "1"];
        let output = raddle(folder.path(), &[&args[..], &more].concat()).output();
        let output = output.expect("it starts");
        let text = String::from_utf8_lossy(&output.stdout);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{strategy}: {text}{errors}");
        assert!(text.contains("x == N") || text.contains("x == 200"), "{strategy}: {text}");
        let shown = raddle(folder.path(), &["show", "latest", "--full"]).output();
        let shown = shown.expect("it starts");
        let text = String::from_utf8_lossy(&shown.stdout);
        assert!(text.contains(&format!(" by {strategy}")), "{strategy}: {text}");
    }
}

#[test]
fn too_many_threads() {
    let folder = folder();
    write(folder.path(), "prog.c", COUNTERS);
    let args = ["run", "prog.c", "--strategy", "ipb", "--cflags=-DN=260", "--progress", "none"];
    let output = raddle(folder.path(), &args).output().expect("it starts");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{errors}");
    assert!(errors.contains("the program has more than 256 threads"), "{errors}");
}
