//! Where handlers of signals run (seed paper 3, §7.1.1): in the thread that is interrupted, or in threads.

mod common;

use std::path::Path;

use common::{code, folder, raddle, stderr, stdout, write};

/// The handler wants the lock that the interrupted thread holds.
const LOCKED: &str = r"#include <pthread.h>
#include <signal.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int n;
static void handle(int signal) {
    (void)signal;
    pthread_mutex_lock(&lock);
    n++;
    pthread_mutex_unlock(&lock);
}
static void *other(void *arg) { return arg; }
int main(void) {
    pthread_t thread;
    struct sigaction action = {.sa_handler = handle};
    sigaction(SIGUSR1, &action, 0);
    pthread_create(&thread, 0, other, 0);
    pthread_mutex_lock(&lock);
    kill(getpid(), SIGUSR1);
    n++;
    pthread_mutex_unlock(&lock);
    pthread_join(thread, 0);
    return 0;
}
";

/// Three signals of one source, whose handlers must run in order.
const STREAM: &str = r"#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int last;
static void handle(int signal, siginfo_t *info, void *context) {
    (void)signal, (void)context;
    pthread_mutex_lock(&lock);
    assert(info->si_value.sival_int == last + 1);
    last++;
    pthread_mutex_unlock(&lock);
}
int main(void) {
    struct sigaction action = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO};
    sigaction(SIGRTMIN, &action, 0);
    for (int i = 1; i <= 3; i++)
        sigqueue(getpid(), SIGRTMIN, (union sigval){.sival_int = i});
    for (int seen = 0; seen < 3;) {
        usleep(10);
        pthread_mutex_lock(&lock);
        seen = last;
        pthread_mutex_unlock(&lock);
    }
    return 0;
}
";

/// A timer's handler counts what `main` counts, too.
const ALARM: &str = r"#include <assert.h>
#include <signal.h>
#include <unistd.h>
static int n;
static volatile sig_atomic_t is_rung;
static void handle(int signal) {
    (void)signal;
    n++;
    is_rung = 1;
}
int main(void) {
    signal(SIGALRM, handle);
    alarm(1);
    for (int i = 0; i < 6; i++) {
        usleep(250000);
        n++;
    }
    while (!is_rung)
        usleep(1000);
    assert(n == 7);
    return 0;
}
";

/// What is found with the handlers there: the beginning of the report, or nothing. It is replayed.
fn found(folder: &Path, source: &str, signals: &str) -> Option<String> {
    let run = ["run", source, "--signals", signals, "--execs", "2000", "--progress", "none"];
    let output = raddle(folder, &run).output().expect("raddle starts");
    match code(&output) {
        Some(0) => return None,
        Some(2) => {}
        other => panic!("{signals}: {other:?}: {}{}", stdout(&output), stderr(&output)),
    }
    for carrier in ["fibers", "threads"] {
        let replay = raddle(folder, &["replay", "latest", "--carrier", carrier]).output();
        let replay = stdout(&replay.expect("raddle starts"));
        assert!(replay.trim_end().ends_with(": reproduced"), "{signals}, {carrier}: {replay}");
    }
    let text = stdout(&output);
    let line = text.lines().next().unwrap_or_default();
    line.split_once("]: ").map(|(_, words)| words.to_owned())
}

#[test]
fn a_handler_that_wants_the_lock_of_whom_it_interrupts() {
    let folder = folder();
    write(folder.path(), "locked.c", LOCKED);
    let nested = found(folder.path(), "locked.c", "nested");
    assert_eq!(
        nested.as_deref(),
        Some("deadlock: T0 (main) waits for `lock`, which it already holds")
    );
    assert_eq!(found(folder.path(), "locked.c", "threads"), None);
}

#[test]
fn handlers_of_one_source_keep_their_order_when_asked() {
    let folder = folder();
    write(folder.path(), "stream.c", STREAM);
    assert_eq!(found(folder.path(), "stream.c", "nested"), None);
    assert_eq!(found(folder.path(), "stream.c", "ordered"), None);
    let overtaken = found(folder.path(), "stream.c", "threads").expect("one overtakes another");
    assert!(overtaken.starts_with("assertion failed: "), "{overtaken}");
    assert!(overtaken.contains("(signal 34) reads `last` before T"), "{overtaken}");

    // What is looked for again is looked for with handlers in threads, too: otherwise it would be called gone.
    let regress = ["regress", "latest", "--execs", "500", "--message-format", "json"];
    let output = raddle(folder.path(), &regress).output().expect("raddle starts");
    let line: serde_json::Value = serde_json::from_str(&stdout(&output)).expect("a line of JSON");
    assert!(line["shown"].as_u64() > Some(0), "{line}");
}

#[test]
fn when_an_interrupt_comes_is_a_matter_of_the_schedule() {
    let folder = folder();
    write(folder.path(), "alarm.c", ALARM);
    let lost = found(folder.path(), "alarm.c", "threads").expect("a lost update");
    assert!(lost.starts_with("assertion failed: T0 (main) and T1 (SIGALRM) both read"), "{lost}");
}

/// A worker does more if a timer's handler came before it, and what it does then is a race with `main`.
fn timed(set: &str) -> String {
    format!(
        r"#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
static atomic_int is_rung;
int n;
static void handle(int signal) {{
    (void)signal;
    is_rung = 1;
}}
static void *work(void *arg) {{
    if (is_rung)
        n = 1;
    return arg;
}}
int main(void) {{
    pthread_t thread;
    signal(SIGALRM, handle);
    pthread_create(&thread, 0, work, 0);
    {set}
    n = 2;
    pthread_join(thread, 0);
    return 0;
}}
"
    )
}

const SET: [(&str, &str); 3] = [
    ("alarm", "alarm(1);"),
    ("setitimer", "struct itimerval in = {.it_value = {1, 0}}; setitimer(ITIMER_REAL, &in, 0);"),
    (
        "timer_create",
        "timer_t timer; struct itimerspec in = {.it_value = {1, 0}}; timer_create(CLOCK_MONOTONIC, 0, &timer); \
         timer_settime(timer, 0, &in, 0);",
    ),
];

/// When a timer goes off is one of the orders that total replay and dpor try: the first execution has the handler
/// after the worker's branch.
#[test]
fn searches_try_when_a_timer_goes_off() {
    let folder = folder();
    for (name, set) in SET {
        let source = format!("{name}.c");
        write(folder.path(), &source, &timed(set));
        let explore = |strategy: &str, signals: &str| {
            let args = ["run", &source, "--strategy", strategy, "--signals", signals];
            let more = ["--detect", "race", "--execs", "200", "--progress", "none"];
            let output = raddle(folder.path(), &[&args[..], &more].concat()).output();
            stdout(&output.expect("raddle starts"))
        };
        for strategy in ["total", "dpor"] {
            let text = explore(strategy, "threads");
            assert!(text.contains("race on `n`"), "{name}, {strategy}: {text}");
            // Where a handler interrupts, nobody can go on then: this one never comes.
            let text = explore(strategy, "nested");
            assert!(text.contains("no finding"), "{name}, {strategy}: {text}");
        }
    }
}

/// A timer that is stopped, or far away, does not go off.
#[test]
fn a_timer_that_is_stopped() {
    let folder = folder();
    for (name, set) in [("stopped", "alarm(1); alarm(0);"), ("far", "alarm(60);")] {
        let source = format!("{name}.c");
        write(folder.path(), &source, &timed(set));
        let args = ["total", &source, "--signals", "threads", "--progress", "none"];
        let output = raddle(folder.path(), &args).output().expect("raddle starts");
        let text = stdout(&output);
        assert!(text.contains("no finding"), "{name}: {text}{}", stderr(&output));
    }
}
