//! Runs `raddle` and shows what it did: exit code, standard output, standard error.

#![allow(dead_code, reason = "each test binary uses its part")]

use std::{
    fmt::Write as _,
    fs,
    path::Path,
    process::{Command, Output},
};

use expect_test::Expect;
use tempfile::TempDir;

/// So many threads that add to a variable, which may lose some.
pub(crate) const COUNTERS: &str = r#"
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

/// A folder of its own for a test.
pub(crate) fn folder() -> TempDir {
    TempDir::with_prefix("raddle-cli-").expect("a temporary folder")
}

/// `raddle` in a folder, with nothing of the tester's environment that could change its words.
pub(crate) fn raddle(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_raddle"));
    command.current_dir(folder).args(args);
    for (name, _) in std::env::vars_os() {
        let name = name.to_string_lossy();
        let is_ours = name.starts_with("RADDLE_") && name != "RADDLE_CACHE";
        if is_ours || ["COLUMNS", "CLICOLOR_FORCE", "CARGO_TERM_COLOR"].contains(&&*name) {
            command.env_remove(&*name);
        }
    }
    command.env("NO_COLOR", "1").env("LC_ALL", "C.UTF-8");
    // Tests are about how executions end, unless they say something else.
    command.env("RADDLE_DETECT", "none");
    command
}

/// What `raddle` did, for snapshots.
pub(crate) fn told(folder: &Path, output: &Output) -> String {
    let mut text = String::new();
    let code = output.status.code().map_or("killed".to_owned(), |it| it.to_string());
    let _ = writeln!(text, "exit {code}");
    for (name, bytes) in [("stdout", &output.stdout), ("stderr", &output.stderr)] {
        for line in String::from_utf8_lossy(bytes).lines() {
            let _ = writeln!(text, "{name}: {line}");
        }
    }
    text.replace(&*folder.to_string_lossy(), "[DIR]")
}

/// Runs `raddle` and compares what it did.
pub(crate) fn check(folder: &Path, args: &[&str], expect: Expect) {
    let output = raddle(folder, args).output().expect("raddle starts");
    expect.assert_eq(&told(folder, &output));
}

/// Runs `raddle` and tells what it did, without what differs from time to time.
pub(crate) fn run(folder: &Path, args: &[&str]) -> String {
    redacted(folder, &raddle(folder, args).output().expect("raddle starts"))
}

/// What `raddle` did, without what differs from time to time and from machine to machine: times, rates,
/// numbers of workers.
pub(crate) fn redacted(folder: &Path, output: &Output) -> String {
    let told = told(folder, output);
    let lines = told.lines().filter(|it| !it.starts_with("stderr: [0"));
    lines.map(|line| format!("{}\n", without_times(line))).collect()
}

/// `explored 2 executions (2 distinct) in TIME (RATE/s), 1 finding`.
pub(crate) fn without_times(line: &str) -> String {
    let mut line = line.to_owned();
    if let (Some(start), Some(end)) = (line.find(") in "), line.find("/s), ")) {
        line.replace_range(start + 5..end, "TIME (RATE");
    }
    if let Some(end) = line.find(" workers, seed") {
        let start = line[..end].rfind(' ').map_or(0, |it| it + 1);
        line.replace_range(start..end, "N");
    }
    line
}

/// What a command came to.
pub(crate) fn explored(folder: &Path, args: &[&str]) -> Output {
    raddle(folder, args).output().expect("raddle starts")
}

/// The build of the binary, as stores name it: `raddle --version` has its parts.
pub(crate) fn build(folder: &Path) -> String {
    let text = stdout(&explored(folder, &["--version"]));
    let part = |key: &str| text.lines().find_map(|it| it.strip_prefix(key)).unwrap_or_default();
    let commit = part("commit: ").split(' ').next().unwrap_or_default();
    let commit = Some(commit).filter(|it| it.bytes().all(|it| it.is_ascii_hexdigit()));
    let parts: Vec<&str> = commit.into_iter().chain(part("runtime: ").get(..8)).collect();
    format!("{}+{}", part("raddle "), parts.join("."))
}

/// The last line of a run with JSON lines, which ended with this code.
#[track_caller]
pub(crate) fn summary(output: &Output, code: i32) -> serde_json::Value {
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{text}{errors}");
    let last = text.lines().last().unwrap_or_default();
    serde_json::from_str(last).unwrap_or_else(|_| panic!("no JSON: {text}{errors}"))
}

/// Writes a file.
pub(crate) fn write(folder: &Path, name: &str, text: &str) {
    fs::write(folder.join(name), text).expect("written");
}

/// The compilers that are installed.
pub(crate) fn compilers() -> impl Iterator<Item = &'static str> {
    ["gcc", "clang"].into_iter().filter(|it| !raddle_tidy::lacks(it, "programs compiled by it"))
}

/// Threads that do nothing wrong, to put before and after what does.
pub(crate) const PRELUDE: &str = r#"
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
static void *idle(void *arg) { return arg; }
static void in_thread(void *(*body)(void *), void *arg) {
    pthread_t thread;
    pthread_create(&thread, NULL, body, arg);
    pthread_join(thread, NULL);
}
#line 1
"#;

/// Two threads that take two locks in two orders.
pub(crate) const AB_BA: &str = r#"#include <pthread.h>
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static void take(pthread_mutex_t *first, pthread_mutex_t *second) {
    pthread_mutex_lock(first);
    pthread_mutex_lock(second);
    pthread_mutex_unlock(second);
    pthread_mutex_unlock(first);
}
static void *one(void *arg) { take(&a, &b); return arg; }
static void *two(void *arg) { take(&b, &a); return arg; }
int main(void) {
    pthread_t s, t;
    pthread_create(&s, NULL, one, NULL);
    pthread_create(&t, NULL, two, NULL);
    pthread_join(s, NULL);
    pthread_join(t, NULL);
    return 0;
}
"#;

/// The exit code.
pub(crate) fn code(output: &Output) -> Option<i32> {
    output.status.code()
}

/// What was written to standard error.
pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// What was written to standard output.
pub(crate) fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The last line.
pub(crate) fn last_line(text: &str) -> &str {
    text.lines().last().unwrap_or_default()
}
