//! What is a scheduling point is learned (seed paper 1, §3): programs that disprove the first guess about a variable,
//! and programs that never do.

mod common;

use std::{fs, path::Path};

use common::{code, folder, raddle, stderr, stdout, write};

/// Two threads, and what they do.
fn program(one: &str, other: &str) -> String {
    format!(
        "#include <pthread.h>
#include <stdatomic.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_int flag;
static int n, constant;
static void *one(void *arg) {{ {one} return arg; }}
static void *other(void *arg) {{ {other} return arg; }}
int main(void) {{
    pthread_t s, t;
    constant = 7;
    pthread_create(&s, 0, one, 0);
    pthread_create(&t, 0, other, 0);
    pthread_join(s, 0);
    pthread_join(t, 0);
    return n < 0 || atomic_load(&flag) < 0 || pthread_mutex_destroy(&lock);
}}
"
    )
}

/// How many variables and locks are known to be points after so many executions.
fn n_exposed(folder: &Path, executions: &str, points: &str) -> usize {
    let kept = folder.join("kept.json");
    let run = ["run", "prog.c", "--strategy", "walk", "--execs", executions, "--progress", "none"];
    let output = raddle(folder, &run)
        .args(["--seed", "1", "--detect", "none", "--classes", "kept.json", "--points", points])
        .output()
        .expect("raddle starts");
    assert_eq!(code(&output), Some(0), "{}{}", stdout(&output), stderr(&output));
    let text = fs::read_to_string(&kept).expect("the file is written");
    fs::remove_file(kept).expect("it can be removed");
    let kept: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    kept["exposed"].as_array().map_or(0, Vec::len)
}

fn check(one: &str, other: &str, first: usize, at_last: usize) {
    check_by("visible", one, other, first, at_last);
    // An atomic is unprotected memory, too, though a point in any case.
    let n_atomics = usize::from(one.contains("flag"));
    check_by("lockset", one, other, first + n_atomics, at_last + n_atomics);
}

fn check_by(points: &str, one: &str, other: &str, first: usize, at_last: usize) {
    let folder = folder();
    write(folder.path(), "prog.c", &program(one, other));
    assert_eq!(n_exposed(folder.path(), "1", points), first, "{points}: the first guess");
    assert_eq!(n_exposed(folder.path(), "64", points), at_last, "{points}: after 64 executions");
}

/// One thread's own, until the other comes before the flag is set.
#[test]
fn unshared_is_disproved() {
    let one = "n = 1; atomic_store_explicit(&flag, 1, memory_order_relaxed);";
    let other = "if (!atomic_load_explicit(&flag, memory_order_relaxed)) n = 2;";
    check(one, other, 0, 1);
}

/// Behind a lock, until somebody can't have it and goes on without: the lock is a point too, once it was tried for.
#[test]
fn protected_is_disproved() {
    let one = "pthread_mutex_lock(&lock); n++; pthread_mutex_unlock(&lock);";
    let other = "int has_it = pthread_mutex_trylock(&lock) == 0; n++; \
                 if (has_it) pthread_mutex_unlock(&lock);";
    check(one, other, 1, 2);
}

/// What all hold the lock for, and what nobody writes any more, stays invisible.
#[test]
fn protected_and_constant_stay() {
    let both = "pthread_mutex_lock(&lock); n += constant; pthread_mutex_unlock(&lock);";
    check(both, both, 0, 0);
}

/// What is handed over by an atomic is ordered, and has no lock.
#[test]
fn a_lockset_knows_locks_only() {
    let one = "n = 1; atomic_store(&flag, 1);";
    let other = "if (atomic_load(&flag)) n = 2;";
    check_by("visible", one, other, 0, 0);
    check_by("lockset", one, other, 2, 2);
}

/// A block is filled by the thread that allocated it before anybody knows of it: that needs no lock. What is done to it
/// afterwards does.
#[test]
fn initialisation_ends_when_a_block_is_shown() {
    let program = |after: &str| {
        format!(
            "#include <pthread.h>
#include <stdlib.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int *box;
static void *fill(void *arg) {{
    int *mine = malloc(sizeof *mine);
    *mine = 1;
    pthread_mutex_lock(&lock); box = mine; pthread_mutex_unlock(&lock);
    {after}
    return arg;
}}
static void *use(void *arg) {{
    pthread_mutex_lock(&lock);
    if (box) *box = 2;
    pthread_mutex_unlock(&lock);
    return arg;
}}
int main(void) {{
    pthread_t s, t;
    pthread_create(&s, 0, fill, 0);
    pthread_create(&t, 0, use, 0);
    pthread_join(s, 0);
    pthread_join(t, 0);
    return 0;
}}
"
        )
    };
    for (after, expected) in [("", 0), ("*mine = 3;", 1)] {
        let folder = folder();
        write(folder.path(), "prog.c", &program(after));
        assert_eq!(n_exposed(folder.path(), "64", "lockset"), expected, "{after}");
    }
}

/// More variables than there is room for are racing: the campaign says so, and a search claims nothing.
#[test]
fn too_many_points_are_told() {
    let folder = folder();
    write(
        folder.path(),
        "prog.c",
        "#include <pthread.h>
static int all[70000];
static void *count(void *arg) { for (int i = 0; i < 70000; i++) all[i]++; return arg; }
int main(void) {
    pthread_t s, t;
    pthread_create(&s, 0, count, 0);
    pthread_create(&t, 0, count, 0);
    pthread_join(s, 0);
    pthread_join(t, 0);
    return 0;
}
",
    );
    let run = ["run", "prog.c", "--strategy", "walk", "--execs", "1", "--detect", "none"];
    let output = raddle(folder.path(), &run).output().expect("raddle starts");
    let text = stdout(&output) + &stderr(&output);
    assert!(text.contains("in 1 execution, some accesses to shared memory were not"), "{text}");
}

/// Where nobody asks what is ordered, data that threads work on for long makes no steps; who waits for a plain variable gives way
/// all the same, and a heap error is found.
#[test]
fn accesses_that_nobody_asks_about() {
    const PROGRAM: &str = "#include <pthread.h>
#include <stdlib.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int all[16], is_done, *block;
static void *work(void *arg) {
    for (int round = 0; round < 2000; round++) {
        pthread_mutex_lock(&lock);
        for (int i = 0; i < 16; i++) all[i] += arg != 0;
        pthread_mutex_unlock(&lock);
    }
    if (arg) is_done = 1; else while (!is_done) __asm__ volatile(\"\" ::: \"memory\");
    return arg;
}
int main(void) {
    pthread_t s, t;
    block = malloc(sizeof *block);
    pthread_create(&s, 0, work, 0);
    pthread_create(&t, 0, work, &t);
    pthread_join(s, 0);
    pthread_join(t, 0);
    END
    return all[0] != 2000;
}
";
    for (end, expected) in [("", "no finding"), ("free(block); *block = 1;", "use after free")] {
        let folder = folder();
        write(folder.path(), "prog.c", &PROGRAM.replace("END", end));
        let run = ["run", "prog.c", "--strategy", "walk", "--execs", "1", "--progress", "none"];
        let output = raddle(folder.path(), &run)
            .args(["--seed", "1", "--detect", "none", "--points", "sync", "--max-steps", "60000"])
            .output()
            .expect("raddle starts");
        let text = stdout(&output) + &stderr(&output);
        assert!(text.contains(expected) && !text.contains("accesses to shared memory"), "{text}");
    }
}
