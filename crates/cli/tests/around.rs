//! `--around` and `--since`: orderings near some lines come first.

mod common;

use std::{fs, path::Path, process::Command};

use common::{code, folder, raddle, told};
use expect_test::expect;
use serde_json::Value;

/// A bank's books: many counters that nobody protects, and one check that another thread makes stale. Line 30 is the check.
const BOOKS: &str = "#include <assert.h>
#include <pthread.h>
static int count[24];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int is_open = 1, n_left = 4;
static void *tally(void *arg) {
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 24; j++) {
            if (j % 3 == 0) count[j]++;
            else if (j % 3 == 1) count[j] += 2;
            else count[j] -= 1;
        }
    return arg;
}
static void *close_books(void *arg) {
    tally(arg);
    pthread_mutex_lock(&lock);
    is_open = 0;
    n_left = 0;
    pthread_mutex_unlock(&lock);
    return arg;
}
static void *use_books(void *arg) {
    pthread_mutex_lock(&lock);
    int ok = is_open;
    pthread_mutex_unlock(&lock);
    tally(arg);
    pthread_mutex_lock(&lock);
    if (ok) {
        assert(n_left > 0);
    }
    pthread_mutex_unlock(&lock);
    return arg;
}
int main(void) {
    pthread_t t[4];
    pthread_create(&t[0], 0, tally, 0);
    pthread_create(&t[1], 0, use_books, 0);
    pthread_create(&t[2], 0, close_books, 0);
    pthread_create(&t[3], 0, tally, 0);
    for (int i = 0; i < 4; i++) pthread_join(t[i], 0);
    return 0;
}
";

/// The last line of a campaign, in JSON.
fn summary(folder: &Path, args: &[&str]) -> Value {
    let mut all = vec!["run", "books.c", "--message-format", "json"];
    all.extend(args);
    let output = raddle(folder, &all).output().expect("raddle starts");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let last = text.lines().last().unwrap_or_else(|| panic!("{}", told(folder, &output)));
    serde_json::from_str(last).expect("a line of JSON")
}

fn git(folder: &Path, args: &[&str]) {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "init.defaultBranch=main"]);
    let output = command.args(args).current_dir(folder).output().expect("git starts");
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn what_is_near_is_tried_first() {
    let dir = folder();
    fs::write(dir.path().join("books.c"), BOOKS).expect("written");
    let figures = |args: &[&str]| summary(dir.path(), args);
    // Executions to the first failure, over ten seeds.
    let total = |extra: &[&str]| -> u64 {
        let of_seed = |seed: u64| {
            let seed = seed.to_string();
            let all = [&["--execs", "500", "--no-explain", "--seed", &seed], extra].concat();
            figures(&all)["executions"].as_u64().expect("a count")
        };
        (0..10).map(of_seed).sum()
    };
    let (everywhere, near) = (total(&[]), total(&["--around", "books.c:30"]));
    assert!(near < everywhere, "{near} executions with --around, {everywhere} without");
    // The same whatever -j, and as figures.
    let args = ["--execs", "200", "-k", "--no-explain", "--around", "books.c:29-31"];
    let around =
        |jobs: &str| figures(&[&args[..], &["-j", jobs]].concat())["sampling"]["around"].clone();
    let one = around("1");
    assert_eq!(one, around("3"));
    assert!(one["sites"].as_u64() >= Some(1) && one["tried"].as_u64() >= Some(1), "{one}");
    assert!(one["distance"].as_u64() <= Some(3), "{one}");
}

#[test]
fn lines_without_an_operation() {
    let dir = folder();
    fs::write(dir.path().join("books.c"), BOOKS).expect("written");
    let run = |place: &str| {
        let args = ["run", "books.c", "--execs", "120", "-k", "--no-explain", "--around", place];
        let output = raddle(dir.path(), &args).output().expect("raddle starts");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let line = text.lines().find(|it| it.contains("requested lines")).map(str::to_owned);
        line.unwrap_or_else(|| panic!("{}", told(dir.path(), &output)))
    };
    assert!(run("books.c:21").contains("(within 3 lines)"), "{}", run("books.c:21"));
    assert_eq!(
        run("other.c:5"),
        "  at the requested lines: no operation that other threads can observe; the whole program was searched"
    );
}

/// A finding's places, and lines that were changed since a revision.
#[test]
fn findings_and_revisions() {
    let dir = folder();
    let here = dir.path();
    fs::write(here.join("books.c"), BOOKS).expect("written");
    let outside = raddle(here, &["run", "books.c", "--since", "HEAD"]);
    // Whoever keeps temporary files in a repository must not be asked about that one.
    let outside =
        { outside }.env("GIT_CEILING_DIRECTORIES", here.parent().unwrap_or(here)).output();
    expect![[r#"
        exit 1
        stderr: exploring books.c: 20,000 executions or 60 s (--execs, --time), 2 workers, seed 0
        stderr: error: --since HEAD: git: not a git repository (or any of the parent directories): .git
    "#]]
    .assert_eq(&told(here, &outside.expect("raddle starts")));
    git(here, &["init", "-q"]);
    fs::write(here.join(".gitignore"), ".raddle\n").expect("written");
    git(here, &["add", "."]);
    git(here, &["commit", "-q", "-m", "books"]);
    let check = |args: &[&str]| {
        let output = raddle(here, args).output().expect("raddle starts");
        told(here, &output)
    };
    expect![[r#"
        exit 1
        stderr: exploring books.c: 20,000 executions or 60 s (--execs, --time), 2 workers, seed 0
        stderr: error: --since HEAD: no tracked file has changed since then
    "#]]
    .assert_eq(&check(&["run", "books.c", "--since", "HEAD"]));
    expect![[r#"
        exit 1
        stderr: exploring books.c: 20,000 executions or 60 s (--execs, --time), 2 workers, seed 0
        stderr: error: --since nosuch: git: bad revision 'nosuch'
    "#]]
    .assert_eq(&check(&["run", "books.c", "--since", "nosuch"]));
    fs::write(here.join("books.c"), BOOKS.replace("n_left > 0", "n_left >= 1")).expect("written");
    let last = summary(here, &["--since", "HEAD", "--execs", "300"]);
    let around = &last["sampling"]["around"];
    assert!(around["known"].as_u64() >= Some(1) && around["sites"].as_u64() >= Some(1), "{last}");
    let output = raddle(here, &["run", "books.c", "--execs", "500", "--around", "assert"]).output();
    let output = output.expect("raddle starts");
    assert_eq!(code(&output), Some(2), "{}", told(here, &output));
}
