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
    assert_eq!(nested.as_deref(), Some("deadlock: T0 waits for itself"));
    assert_eq!(found(folder.path(), "locked.c", "threads"), None);
}

#[test]
fn handlers_of_one_source_keep_their_order_when_asked() {
    let folder = folder();
    write(folder.path(), "stream.c", STREAM);
    assert_eq!(found(folder.path(), "stream.c", "nested"), None);
    assert_eq!(found(folder.path(), "stream.c", "ordered"), None);
    let overtaken = found(folder.path(), "stream.c", "threads").expect("one overtakes another");
    assert!(overtaken.starts_with("assertion failed: info->si_value"), "{overtaken}");
}

#[test]
fn when_an_interrupt_comes_is_a_matter_of_the_schedule() {
    let folder = folder();
    write(folder.path(), "alarm.c", ALARM);
    let lost = found(folder.path(), "alarm.c", "threads").expect("a lost update");
    assert!(lost.starts_with("assertion failed: n == 7"), "{lost}");
}
