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
fn n_exposed(folder: &Path, executions: &str) -> usize {
    let kept = folder.join("kept.json");
    let run = ["run", "prog.c", "--strategy", "walk", "--execs", executions, "--progress", "none"];
    let output = raddle(folder, &run)
        .args(["--seed", "1", "--detect", "none", "--classes", "kept.json"])
        .output()
        .expect("raddle starts");
    assert_eq!(code(&output), Some(0), "{}{}", stdout(&output), stderr(&output));
    let text = fs::read_to_string(&kept).expect("the file is written");
    fs::remove_file(kept).expect("it can be removed");
    let kept: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    kept["exposed"].as_array().map_or(0, Vec::len)
}

fn check(one: &str, other: &str, first: usize, at_last: usize) {
    let folder = folder();
    write(folder.path(), "prog.c", &program(one, other));
    assert_eq!(n_exposed(folder.path(), "1"), first, "the first guess");
    assert_eq!(n_exposed(folder.path(), "64"), at_last, "after 64 executions");
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
