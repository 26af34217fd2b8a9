//! What a search may claim at its end, where threads meet outside of their own memory.

mod common;

use common::{explored, folder, summary, write};

/// What the C library and the kernel keep for all threads is seen by whoever comes second. The second thread's call may
/// come first in each of these, and then the assertion fails.
#[test]
fn calls_that_share_state_depend_on_each_other() {
    let frame = r#"
#define _GNU_SOURCE
#include <assert.h>
#include <dirent.h>
#include <fcntl.h>
#include <locale.h>
#include <pthread.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
static int a, b, fd;
static double d;
static char text[] = "a b", *p, buffer[8];
static char name[] = "made-by-the-test";
static FILE *file;
static struct rlimit limit, other;
static void early(void) { if (!a++) b = 1; }
static void late(void) { if (!a++) abort(); }
static int temporary(void) {
    char name[] = "fileXXXXXX";
    int fd = mkstemp(name);
    unlink(name);
    write(fd, "ab", 2);
    lseek(fd, 0, SEEK_SET);
    return fd;
}
static void *first(void *arg) { FIRST return arg; }
static void *second(void *arg) { SECOND return arg; }
int main(void) {
    BEFORE
    pthread_t t, u;
    pthread_create(&t, 0, first, 0);
    pthread_create(&u, 0, second, 0);
    pthread_join(t, 0);
    pthread_join(u, 0);
    AFTER
    return 0;
}
"#;
    let cases = [
        ("srand(1); b = rand(); srand(1);", "a = rand();", "rand();", "assert(a == b);"),
        ("srandom(1); b = random(); srandom(1);", "a = random();", "random();", "assert(a == b);"),
        (
            "srand48(1); d = drand48(); srand48(1);",
            "a = drand48() == d;",
            "drand48();",
            "assert(a);",
        ),
        ("strtok(text, \" \");", "p = strtok(0, \" \");", "strtok(0, \" \");", "assert(p);"),
        ("umask(0);", "a = umask(1);", "umask(2);", "assert(a == 0);"),
        ("", "a = !getenv(\"NEW\");", "setenv(\"NEW\", \"1\", 1);", "assert(a);"),
        (
            "fd = temporary();",
            "a = lseek(fd, 0, SEEK_CUR);",
            "lseek(fd, 1, SEEK_SET);",
            "assert(!a);",
        ),
        (
            "fd = temporary();",
            "read(fd, buffer, 1);",
            "read(fd, text, 1);",
            "assert(*buffer == 'a');",
        ),
        (
            "fd = temporary();",
            "pread(fd, buffer, 1, 0);",
            "pwrite(fd, \"x\", 1, 0);",
            "assert(*buffer == 'a');",
        ),
        (
            "rmdir(name);",
            "a = mkdir(name, 0700);",
            "mkdir(name, 0700);",
            "rmdir(name); assert(!a);",
        ),
        (
            "rmdir(name);",
            "a = access(name, F_OK);",
            "mkdir(name, 0700);",
            "rmdir(name); assert(a);",
        ),
        (
            "",
            "a = open(\"/dev/null\", O_RDONLY);",
            "b = open(\"/dev/null\", O_RDONLY);",
            "assert(a < b);",
        ),
        ("fd = temporary();", "a = fcntl(fd, F_GETFD);", "close(fd);", "assert(a >= 0);"),
        (
            "file = fdopen(temporary(), \"r\");",
            "a = fgetc(file);",
            "fgetc(file);",
            "assert(a == 'a');",
        ),
        (
            "file = tmpfile();",
            "fputs(\"a\", file);",
            "fprintf(file, \"%.1f\", 2.5);",
            "rewind(file); fgets(buffer, 8, file); assert(!strcmp(buffer, \"a2.5\"));",
        ),
        (
            "",
            "a = *setlocale(LC_NUMERIC, 0) == 'C' && !setlocale(LC_NUMERIC, 0)[1];",
            "setlocale(LC_NUMERIC, \"C.UTF-8\");",
            "assert(a);",
        ),
        (
            "",
            "getrlimit(RLIMIT_CORE, &limit);",
            "other.rlim_max = 1; setrlimit(RLIMIT_CORE, &other);",
            "assert(limit.rlim_max != 1);",
        ),
        (
            "hcreate(4);",
            "ENTRY e = {.key = \"k\"}; a = !hsearch(e, FIND);",
            "ENTRY e = {.key = \"k\"}; hsearch(e, ENTER);",
            "assert(a);",
        ),
        ("", "atexit(late);", "atexit(early);", ""),
    ];
    for (before, first, second, after) in cases {
        let folder = folder();
        let parts = [("BEFORE", before), ("FIRST", first), ("SECOND", second), ("AFTER", after)];
        let text =
            parts.iter().fold(frame.to_owned(), |text, (part, body)| text.replace(part, body));
        write(folder.path(), "prog.c", &text);
        let args = ["run", "prog.c", "--strategy", "dpor", "--progress", "none", "--no-explain"];
        let output = explored(folder.path(), &args);
        let text = String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.code(), Some(2), "{first} {second}: {text}");
    }
}

/// Where memory is, and when signals arrive and timers go off, is not among what partial order reduction compares.
#[test]
fn addresses_and_signals_limit_the_claim() {
    let frame = r#"
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>
static pthread_t first;
static void handle(int number) { (void)number; }
static void *work(void *arg) { BODY return arg; }
int main(void) {
    pthread_t t, u;
    first = pthread_self();
    signal(SIGUSR1, handle);
    signal(SIGALRM, handle);
    pthread_create(&t, 0, work, 0);
    pthread_create(&u, 0, work, 0);
    pthread_join(t, 0);
    pthread_join(u, 0);
    return 0;
}
"#;
    let cases = [
        ("void *volatile block = malloc(64); free(block);", "dpor", "addresses"),
        ("void *volatile block = malloc(64); free(block);", "dfs", "addresses"),
        ("pthread_kill(first, SIGUSR1);", "dpor", "signals"),
        ("alarm(1);", "dfs", "clock"),
        (
            "struct itimerval it = {.it_value.tv_usec = 9}; setitimer(ITIMER_REAL, &it, 0);",
            "dpor",
            "clock",
        ),
        (
            "timer_t it; timer_create(CLOCK_MONOTONIC, 0, &it);
          timer_settime(it, 0, &(struct itimerspec){.it_value.tv_sec = 1}, 0);",
            "dfs",
            "clock",
        ),
        (
            "timerfd_settime(timerfd_create(CLOCK_MONOTONIC, 0), 0,
          &(struct itimerspec){.it_value.tv_sec = 1}, 0);",
            "dpor",
            "clock",
        ),
    ];
    for (body, strategy, expected) in cases {
        let folder = folder();
        write(folder.path(), "prog.c", &frame.replace("BODY", body));
        let args = ["run", "prog.c", "--strategy", strategy, "--message-format", "json"];
        let whole = summary(&explored(folder.path(), &args), 0);
        let gaps = whole["search"]["not_covered"].as_array().cloned().unwrap_or_default();
        assert!(gaps.iter().any(|it| it["kind"] == expected), "{strategy}: {body}: {gaps:?}");
    }
}
