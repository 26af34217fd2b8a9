//! What a user is told of a race, and of a wait that nobody ends, beyond that it is there.

mod common;

use std::{fs, path::Path};

use serde_json::Value;

use crate::common::{folder, raddle, stdout};

/// What is counted twice is lost once, if one reads before the other writes.
const COUNTER: &str = "\
#include <assert.h>
#include <pthread.h>

static int hits;

static void *worker(void *arg) {
    hits++;
    return arg;
}

int main(void) {
    pthread_t one, other;
    pthread_create(&one, 0, worker, 0);
    pthread_create(&other, 0, worker, 0);
    pthread_join(one, 0);
    pthread_join(other, 0);
    return 0;
}
";

/// Writes the same value twice: whoever comes first, nothing changes.
const SAME: &str = "\
#include <pthread.h>

int is_ready; // what is never looked at would not be written

static void *worker(void *arg) {
    is_ready = 1;
    return arg;
}

int main(void) {
    pthread_t one, other;
    pthread_create(&one, 0, worker, 0);
    pthread_create(&other, 0, worker, 0);
    pthread_join(one, 0);
    pthread_join(other, 0);
    return 0;
}
";

/// The signal may come before the wait.
const WAIT: &str = "\
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ready = PTHREAD_COND_INITIALIZER;

static void *waiter(void *arg) {
    pthread_mutex_lock(&lock);
    pthread_cond_wait(&ready, &lock);
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void) {
    pthread_t one;
    pthread_create(&one, 0, waiter, 0);
    pthread_cond_signal(&ready);
    pthread_join(one, 0);
    return 0;
}
";

/// The findings of a program, as JSON.
fn findings(folder: &Path, source: &str) -> Vec<Value> {
    fs::write(folder.join("it.c"), source).expect("writes");
    let args = ["run", "it.c", "-k", "--execs", "40", "--message-format", "json"];
    let output = raddle(folder, &args).args(["--detect", "race"]).output().expect("raddle starts");
    let lines = stdout(&output);
    let lines = lines.lines().map(|it| serde_json::from_str::<Value>(it).expect("JSON"));
    lines.filter(|it| it["type"] == "finding").collect()
}

/// What both orders of each race change.
fn changes(found: &[Value]) -> Vec<&str> {
    let races = found.iter().filter(|it| it["kind"] == "race");
    races.map(|it| it["evidence"]["orders"]["change"].as_str().unwrap_or("not run")).collect()
}

#[test]
fn threads_have_the_names_that_annotations_give_them() {
    let folder = folder();
    let source = "void AnnotateThreadName(const char *file, int line, const char *name);\n";
    let named = COUNTER.replacen(
        "{\n",
        "{\n    AnnotateThreadName(__FILE__, __LINE__, \"night shift\");\n",
        1,
    );
    let found = findings(folder.path(), &format!("{source}{named}"));
    let race = found.iter().find(|it| it["kind"] == "race").expect("a race");
    let id = race["id"].as_str().expect("an id");
    let text = stdout(&raddle(folder.path(), &["show", id]).output().expect("raddle starts"));
    assert!(text.contains("T1 (night shift)"), "{text}");
}

#[test]
fn both_orders_of_a_race() {
    let folder = folder();
    assert_eq!(changes(&findings(folder.path(), COUNTER)), ["value"]);
    assert_eq!(changes(&findings(folder.path(), SAME)), ["nothing"]);

    let checked = COUNTER.replace("    return 0;\n", "    assert(hits == 2);\n    return 0;\n");
    let found = findings(folder.path(), &checked);
    assert_eq!(changes(&found), ["end"]);
    let race = found.iter().find(|it| it["kind"] == "race").expect("a race");
    let outcomes = race["evidence"]["orders"]["outcomes"].as_array().expect("two");
    let kinds: Vec<&Value> = outcomes.iter().map(|it| &it["kind"]).collect();
    assert!(kinds.contains(&&Value::Null) && kinds.contains(&&"assert".into()), "{kinds:?}");

    let id = race["id"].as_str().expect("an id");
    let text = stdout(&raddle(folder.path(), &["show", id]).output().expect("raddle starts"));
    assert!(text.contains("the order matters: if T"), "{text}");
}

#[test]
fn a_race_of_a_program_that_was_built_anew() {
    let folder = folder();
    let found = findings(folder.path(), COUNTER);
    let id = found[0]["id"].as_str().expect("an id");
    // Another variable comes first, so the memory is elsewhere.
    let moved = COUNTER
        .replace("static int hits;", "static long before[8];\nstatic int hits;")
        .replace("    return 0;", "    return (int)before[3];");
    fs::write(folder.path().join("it.c"), moved).expect("writes");
    let output = raddle(folder.path(), &["replay", id]).output().expect("raddle starts");
    let text = stdout(&output);
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(text.trim_end().ends_with(": reproduced"), "{text}");
}

#[test]
fn a_notification_that_came_too_early() {
    let folder = folder();
    let found = findings(folder.path(), WAIT);
    let finding = found.iter().find(|it| it["kind"] == "deadlock").expect("a deadlock");
    let message = finding["message"].as_str().unwrap_or_default();
    assert!(
        message.contains("T0's signal at it.c:16 in main came before any thread waited"),
        "{message}"
    );
    let waiter = &finding["threads"][1]["waits_for"]["missed"];
    assert_eq!((&waiter["op"], &waiter["at"]["line"]), (&"signal".into(), &16.into()));
    assert_eq!(waiter["woke"], Value::Null);
    let id = finding["id"].as_str().expect("an id");
    let text = stdout(&raddle(folder.path(), &["show", id]).output().expect("raddle starts"));
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("T0's signal came before the wait"), "{text}");
}

/// A function of a library without hooks that is an atomic instruction, and a race beside it. `load` says how it is found.
fn beside_a_library(load: &str) -> String {
    format!(
        "#include <dlfcn.h>\n#include <pthread.h>\nvoid count(void);\nstatic void (*counts)(void);\n\
         static int hits;\n\
         static void *worker(void *arg) {{ counts(); hits++; return arg; }}\n\
         int main(void) {{\n    counts = {load};\n    pthread_t one, other;\n    \
         pthread_create(&one, 0, worker, 0);\n    pthread_create(&other, 0, worker, 0);\n    \
         pthread_join(one, 0);\n    pthread_join(other, 0);\n    return counts == 0;\n}}\n"
    )
}

/// A library that was stripped says how its functions are unwound, and so its instructions are announced, too.
#[test]
fn stripped_libraries_order_threads() {
    let folder = folder();
    let library = "static int locked;\n\
        static void take(int *lock) { while (__atomic_exchange_n(lock, 1, 5)) __builtin_ia32_pause(); }\n\
        __attribute__((noinline)) static void call(void (*work)(void)) { take(&locked); work(); \
        __atomic_exchange_n(&locked, 0, 5); }\n\
        void (*volatile way)(void (*)(void)) = call;\n\
        void locked_call(void (*work)(void)) { way(work); }\n";
    fs::write(folder.path().join("lock.c"), library).expect("a file");
    let args = ["-shared", "-fPIC", "-O1", "-s", "-o", "liblock.so", "lock.c"];
    let built = std::process::Command::new("cc").args(args).current_dir(folder.path()).status();
    assert!(built.expect("there is a compiler").success());
    let program = "#include <pthread.h>\nvoid locked_call(void (*)(void));\nstatic int hits;\n\
        static void work(void) { hits++; }\n\
        static void *worker(void *arg) { locked_call(work); return arg; }\n\
        int main(void) {\n    pthread_t one, other;\n    \
        pthread_create(&one, 0, worker, 0);\n    pthread_create(&other, 0, worker, 0);\n    \
        pthread_join(one, 0);\n    pthread_join(other, 0);\n    return hits != 2;\n}\n";
    fs::write(folder.path().join("prog.c"), program).expect("a file");
    let here = folder.path().display();
    let flags = format!("-L{here} -Wl,-rpath,{here} -llock");
    let args = ["run", "prog.c", "-k", "--execs", "100", "--detect", "race", "--cflags", &flags];
    let output = raddle(folder.path(), &args).output().expect("raddle starts");
    let text = stdout(&output);
    assert!(output.status.code() == Some(0) && text.contains("no finding"), "{text}");
    assert!(!text.contains("data race"), "{text}");
}

/// What orders threads in a library that is loaded before `main` is announced. In one that is loaded later it is not,
/// and then nobody knows what it orders.
#[test]
fn libraries_without_hooks_may_order_threads() {
    let folder = folder();
    let code =
        "static int n; void count(void) { __asm__ volatile(\"lock incl %0\" : \"+m\"(n)); }\n";
    fs::write(folder.path().join("count.c"), code).expect("a file");
    let library = ["-shared", "-fPIC", "-g", "-o", "libcount.so", "count.c"];
    let built = std::process::Command::new("cc").args(library).current_dir(folder.path()).status();
    assert!(built.expect("there is a compiler").success());
    let here = folder.path().display();
    let told = |load: &str, flags: &str| {
        fs::write(folder.path().join("prog.c"), beside_a_library(load)).expect("a file");
        let args = ["run", "prog.c", "-k", "--execs", "100", "--cflags", flags];
        let output =
            raddle(folder.path(), &args).args(["--no-explain", "--detect", "race"]).output();
        let output = output.expect("raddle starts");
        (output.status.code(), stdout(&output))
    };
    let (code, text) = told("count", &format!("-L{here} -Wl,-rpath,{here} -lcount"));
    assert!(code == Some(2) && text.contains("]: data race on `hits`"), "{text}");
    let later =
        format!("(void (*)(void))dlsym(dlopen(\"{here}/libcount.so\", RTLD_NOW), \"count\")");
    let (code, text) = told(&later, "-O1");
    assert!(code == Some(0) && text.contains("]: possible data race on `hits`"), "{text}");
    let reason =
        "count.c:1 has an uninstrumented atomic instruction, which may order the two accesses";
    let words: Vec<&str> = text.split_whitespace().collect();
    assert!(words.join(" ").contains(reason), "{text}");
}
