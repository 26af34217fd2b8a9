//! One function or closure explored by itself: `raddle.h` and the crate `raddle`, as a user meets them.

mod common;

use std::{path::Path, process::Command};

use common::{code, folder, raddle, stderr, stdout, write};

const COUNTER: &str = r"
#include <assert.h>
#include <pthread.h>
#include <raddle.h>
#include <stdatomic.h>

static atomic_int x;

static void *add(void *arg)
{
    int seen = atomic_load(&x);
    atomic_store(&x, seen + 1);
    return arg;
}

static void counter(void *arg)
{
    pthread_t a, b;
    START
    pthread_create(&a, NULL, add, arg);
    pthread_create(&b, NULL, add, arg);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    END
}

int main(void)
{
    struct raddle_config config = { .execs = 40, .strategy = ASKED };
    raddle_check_with(&config, counter, NULL);
    return 0;
}
";

fn explore(more: &[&str]) -> (String, String, Option<i32>) {
    let folder = folder();
    write(folder.path(), "counter.c", COUNTER);
    let mut args = vec!["run", "counter.c", "--progress", "none", "--detect", "race"];
    args.extend(more);
    let output = raddle(folder.path(), &args).output().expect("raddle starts");
    (stdout(&output), stderr(&output), code(&output))
}

/// Flags are words of a shell.
fn cflags(start: &str, end: &str, asked: &str) -> String {
    format!("--cflags='-DSTART={start}' '-DEND={end}' '-DASKED=\"{asked}\"'")
}

#[test]
fn a_function_says_how_far() {
    let flags = cflags("atomic_store(&x, 0);", "", "walk");
    let (out, err, code) = explore(&[&flags]);
    assert_eq!(code, Some(0), "{out}{err}");
    assert!(err.contains("exploring counter.c: 40 executions"), "{out}{err}");
    assert!(out.contains("explored 40 executions (4 distinct)"), "{out}{err}");
    // The command line wins.
    let (out, err, _) = explore(&[&flags, "--execs", "60"]);
    assert!(out.contains("explored 60 executions"), "{out}{err}");
    let (out, err, code) = explore(&[&cflags("", "", "no-such")]);
    assert_eq!(code, Some(1), "{out}{err}");
    assert!(err.contains("error: the program sets an invalid strategy"), "{err}");
}

#[test]
fn a_function_that_leaves_something_behind_is_named() {
    let (out, err, code) = explore(&[&cflags("", "assert(atomic_load(&x) <= 2);", "walk")]);
    assert_eq!(code, Some(0), "{out}{err}");
    let all = out + &err;
    assert!(
        all.contains("the checked function behaves differently when it is called again"),
        "{all}"
    );
    assert!(all.contains("at counter.c:2"), "{all}");
    assert!(all.contains("explored 40 executions"), "{all}");
}

#[test]
fn without_raddle_a_function_is_called_once() {
    let folder = folder();
    write(folder.path(), "counter.c", COUNTER);
    let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("../launch/include");
    let mut compiler = Command::new("cc");
    compiler.args(["counter.c", "-o", "counter", "-pthread", "-Wall", "-Wextra", "-Werror"]);
    compiler.args(["-DSTART=", "-DEND=return;", "-DASKED=NULL", "-I"]).arg(include);
    assert!(compiler.current_dir(folder.path()).status().expect("cc starts").success());
    let program = folder.path().join("counter");
    assert!(Command::new(program).status().expect("it starts").success());
}

const TESTS: &str = r#"
use std::{
    sync::{Arc, Mutex, atomic::{AtomicUsize, Ordering::SeqCst}},
    thread,
};

fn add_one(count: &Arc<AtomicUsize>) -> thread::JoinHandle<()> {
    let count = count.clone();
    thread::spawn(move || {
        let seen = count.load(SeqCst);
        count.store(seen + 1, SeqCst);
    })
}

fn two_add() -> usize {
    let count = Arc::new(AtomicUsize::new(0));
    let threads = [add_one(&count), add_one(&count)];
    threads.into_iter().for_each(|it| it.join().unwrap());
    count.load(SeqCst)
}

#[test]
fn an_update_is_lost() {
    raddle::check(|| assert_eq!(two_add(), 2));
}

#[test]
fn an_error_is_given_back() {
    raddle::check(|| if two_add() == 1 { Err("lost") } else { Ok(()) });
}

#[test]
#[should_panic(expected = "left == right")]
fn panics_as_it_should() {
    raddle::check(|| assert_eq!(two_add(), 2));
}

#[test]
fn locks() {
    raddle::check(|| {
        let count = Arc::new(Mutex::new(0));
        let threads = [(); 3].map(|()| {
            let count = count.clone();
            thread::spawn(move || *count.lock().unwrap() += 1)
        });
        threads.into_iter().for_each(|it| it.join().unwrap());
        assert_eq!(*count.lock().unwrap(), 3);
    });
}

/// The scope waits for its closures, not for the threads that ran them.
#[test]
fn scoped() {
    raddle::check(|| {
        let count = AtomicUsize::new(0);
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| count.fetch_add(1, SeqCst));
            }
        });
        assert_eq!(count.load(SeqCst), 2);
    });
}

#[test]
fn an_increment_is_not_linearizable() {
    raddle::linear(AtomicUsize::default)
        .op("add", 1..=3_usize, |count, n| {
            let seen = count.load(SeqCst);
            count.store(seen + n, SeqCst);
            seen
        })
        .op("get", (), |count, ()| count.load(SeqCst))
        .check();
}

#[test]
fn a_stack_is_linearizable() {
    raddle::linear(|| Mutex::new(Vec::new()))
        .model(Vec::new)
        .op("push", 1..=2, |it, n| it.lock().unwrap().push(n), |it, n| it.push(n))
        .op("pop", (), |it, ()| it.lock().unwrap().pop(), |it, ()| it.pop())
        .check();
}

#[test]
fn a_number_matters() {
    raddle::Config { execs: Some(90), ..Default::default() }.check(|| {
        let thread = thread::spawn(|| raddle::any(1..=3));
        assert_ne!(thread.join().unwrap(), 3);
    });
}
"#;

#[test]
fn closures_of_tests_are_explored() {
    let folder = folder();
    let crate_dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../raddle");
    let manifest = format!(
        "[package]\nname = \"one\"\nversion = \"0.0.0\"\nedition = \"2024\"\n[dev-dependencies]\n\
         raddle = {{ path = {:?} }}\n[workspace]\n",
        crate_dir.canonicalize().expect("it is there")
    );
    std::fs::create_dir(folder.path().join("src")).expect("a new folder");
    write(folder.path(), "Cargo.toml", &manifest);
    write(folder.path(), "src/lib.rs", &format!("#[cfg(test)]\nmod tests {{{TESTS}}}\n"));
    let args = ["cargo", "test", "--offline", "--execs", "200", "--no-explain"];
    let output = raddle(folder.path(), &args).output().expect("raddle starts");
    let (out, err) = (stdout(&output), stderr(&output));
    let told = out.split("Summary").next().expect("some text");
    let line = |name: &str| {
        let line = told.lines().find(|it| it.contains(&format!("tests::{name}  ")));
        line.unwrap_or_else(|| panic!("{name}:\n{out}{err}"))
    };
    for name in ["an_update_is_lost", "an_error_is_given_back", "a_number_matters"] {
        assert!(line(name).contains("FAIL"), "{out}{err}");
        assert!(line(name).contains("panic-"), "{out}{err}");
    }
    for name in ["panics_as_it_should", "locks", "scoped", "a_stack_is_linearizable"] {
        assert!(line(name).contains("PASS"), "{out}{err}");
        assert!(line(name).contains("200 executions"), "{out}{err}");
    }
    let linear = line("an_increment_is_not_linearizable");
    assert!(linear.contains("FAIL") && linear.contains("lin-"), "{out}{err}");
    assert!(!out.contains("stability"), "{out}{err}");
    // Optimised, functions with hooks are inlined into others.
    let args =
        ["cargo", "test", "--offline", "--release", "--execs", "200", "--no-explain", "locks"];
    let output = raddle(folder.path(), &args).output().expect("raddle starts");
    let (out, err) = (stdout(&output), stderr(&output));
    assert!(out.contains("PASS") && out.contains("200 executions"), "{out}{err}");
    assert!(!out.contains("stability"), "{out}{err}");
}
