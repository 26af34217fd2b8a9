//! Executions that wait where Raddle does not see it, or compute without a step: they say nothing about the program, and
//! are never its bug.

mod common;

use common::{code, folder, raddle, stderr, stdout, write};

const SYSTEM_V: &str = r"
#include <pthread.h>
#include <sys/ipc.h>
#include <sys/sem.h>

static int set;

static void *post(void *arg)
{
    struct sembuf up = { 0, 1, 0 };
    semop(set, &up, 1);
    return arg;
}

int main(void)
{
    pthread_t thread;
    struct sembuf down = { 0, -1, 0 };
    set = semget(IPC_PRIVATE, 1, 0600);
    pthread_create(&thread, NULL, post, NULL);
    FIRST
    semop(set, &down, 1);
    semctl(set, 0, IPC_RMID);
    pthread_join(thread, NULL);
    return 0;
}
";

/// The system call is made by code that no file has.
const FOREIGN_FUTEX: &str = r#"
#include <linux/futex.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

static int word;
static void *code;

static long futex(int *word, int op, int value)
{
    long result;
    void *known = code;
    register long none __asm__("r10") = 0;
    register void *made __asm__("r8") = known;
    __asm__ volatile("sub $128, %%rsp\n\tcall *%%r8\n\tadd $128, %%rsp"
                     : "=a"(result)
                     : "a"(SYS_futex), "D"(word), "S"(op), "d"(value), "r"(none), "r"(made)
                     : "rcx", "r11", "memory");
    return result;
}

static void *wake(void *arg)
{
    __atomic_store_n(&word, 1, __ATOMIC_SEQ_CST);
    futex(&word, FUTEX_WAKE_PRIVATE, 1);
    return arg;
}

int main(void)
{
    pthread_t thread;
    code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memcpy(code, "\x0f\x05\xc3", 3);
    pthread_create(&thread, NULL, wake, NULL);
    while (__atomic_load_n(&word, __ATOMIC_SEQ_CST) == 0)
        futex(&word, FUTEX_WAIT_PRIVATE, 0);
    pthread_join(thread, NULL);
    return 0;
}
"#;

const OPEN_MP: &str = r"
int main(void)
{
    int sum = 0;
#pragma omp parallel for reduction(+ : sum) num_threads(3)
    for (int i = 0; i < 100; i++)
        sum += i;
#pragma omp parallel num_threads(3)
    {
#ifdef RIGHT
#pragma omp critical
#endif
        sum++;
#pragma omp barrier
#pragma omp atomic
        sum++;
    }
    return sum != 4956;
}
";

const COMPUTES: &str = r#"
#include <pthread.h>

static void *work(void *arg)
{
    __asm__ volatile("1: jmp 1b" ::: "memory");
    return arg;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    pthread_join(thread, NULL);
    return 0;
}
"#;

/// Only the child can go on, and it is not controlled.
const OTHER_PROCESS: &str = r"
#include <semaphore.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void)
{
    sem_t *sem = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    sem_init(sem, 1, 0);
    if (fork() == 0) {
        sem_post(sem);
        _exit(0);
    }
    sem_wait(sem);
    wait(NULL);
    return 0;
}
";

/// Signals that the program sends itself do not come to descriptors.
const SIGNAL_FD: &str = r"
#include <pthread.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

static void *post(void *arg)
{
    kill(getpid(), SIGUSR1);
    return arg;
}

int main(void)
{
    pthread_t thread;
    sigset_t set;
    struct signalfd_siginfo info;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    int fd = signalfd(-1, &set, 0);
    pthread_create(&thread, NULL, post, NULL);
    long n_bytes = read(fd, &info, sizeof info);
    pthread_join(thread, NULL);
    return n_bytes != sizeof info;
}
";

/// Waits for the end of a read that the kernel makes meanwhile.
const IO_URING: &str = r#"
#define _GNU_SOURCE
#include <linux/io_uring.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static int ends[2];

static void *post(void *arg)
{
    return write(ends[1], "x", 1) == 1 ? arg : NULL;
}

int main(void)
{
    struct io_uring_params params;
    memset(&params, 0, sizeof params);
    int fd = syscall(SYS_io_uring_setup, 8, &params);
    int flags = MAP_SHARED | MAP_POPULATE, access = PROT_READ | PROT_WRITE;
    char *queue = mmap(NULL, params.sq_off.array + 32, access, flags, fd, IORING_OFF_SQ_RING);
    struct io_uring_sqe *entry = mmap(NULL, 8 * sizeof *entry, access, flags, fd, IORING_OFF_SQES);
    if (fd < 0 || pipe(ends))
        return 1;
    static char byte;
    entry->opcode = IORING_OP_READ;
    entry->fd = ends[0];
    entry->addr = (unsigned long)&byte;
    entry->len = 1;
    entry->off = -1;
    *(unsigned *)(queue + params.sq_off.tail) = 1;
    syscall(SYS_io_uring_enter, fd, 1, 0, 0, NULL, 0);
    pthread_t thread;
    pthread_create(&thread, NULL, post, NULL);
    syscall(SYS_io_uring_enter, fd, 0, 1, IORING_ENTER_GETEVENTS, NULL, 0);
    pthread_join(thread, NULL);
    return byte != 'x';
}
"#;

/// May programs use `io_uring` here? Some systems forbid it.
fn has_io_uring() -> bool {
    let allowed = std::fs::read_to_string("/proc/sys/kernel/io_uring_disabled");
    allowed.map_or(true, |it| it.trim() == "0")
}

fn explore(text: &str, more: &[&str]) -> (String, String, Option<i32>) {
    let folder = folder();
    write(folder.path(), "program.c", text);
    let mut args =
        vec!["run", "program.c", "--progress", "none", "--hang-timeout", "1s", "-j", "1"];
    args.extend(more);
    let output = raddle(folder.path(), &args).output().expect("raddle starts");
    (stdout(&output), stderr(&output), code(&output))
}

/// No execution comes to its end: that is not a clean exit, and not a finding.
#[test]
fn a_wait_in_every_execution() {
    let flags = "--cflags=-DFIRST=";
    for (text, call, place, more) in [
        (SYSTEM_V, "`semop` (libc.so.6)", "program.c:22 in main", vec![flags]),
        (
            SYSTEM_V,
            "`semop` (libc.so.6)",
            "program.c:22 in main",
            vec![flags, "--carrier", "threads"],
        ),
        (FOREIGN_FUTEX, "blocked in `futex`", " in main", vec!["--fresh"]),
        (FOREIGN_FUTEX, "blocked in `futex`", " in main", vec!["--carrier", "threads"]),
        (COMPUTES, "without a step", "in work", vec![]),
        (SIGNAL_FD, "signalfd: receives signals from outside only", "program.c:23 in main", vec![]),
        (IO_URING, "`io_uring_enter` (libc.so.6)", " in main", vec![]),
    ] {
        if text == IO_URING && !has_io_uring() {
            continue;
        }
        let mut args = vec!["--strategy", "nonpreemptive", "--execs", "10"];
        args.extend(more);
        let (out, err, code) = explore(text, &args);
        let all = format!("{out}\n{err}");
        assert_eq!(code, Some(3), "{call}: {all}");
        assert!(err.contains("of 5 executions are inconclusive: "), "{all}");
        assert!(err.contains(call), "{call}: {all}");
        assert!(err.contains(place), "{place}: {all}");
        assert!(err.contains("stopped early after 5 inconclusive executions in a row"), "{all}");
        assert!(out.contains("no result: no execution finished"), "{all}");
        assert!(!out.contains("error["), "{all}");
    }
}

/// Time is over before the patience is: the call that it waited in is named, and more time is not asked for.
#[test]
fn a_wait_until_time_is_over() {
    for (text, call, flags) in [
        (FOREIGN_FUTEX, "blocked in `futex`", "--cflags=-O0"),
        (SYSTEM_V, "s in `semop` (libc.so.6)", "--cflags=-DFIRST="),
        (SIGNAL_FD, "s: no input came from outside", "--cflags=-O0"),
    ] {
        for carrier in ["fibers", "threads"] {
            let more = ["--time", "2s", "--carrier", carrier, "--hang-timeout", "30s", flags];
            let folder = folder();
            write(folder.path(), "program.c", text);
            let args = [&["run", "program.c", "--progress", "none", "-j", "1"][..], &more];
            let output = raddle(folder.path(), &args.concat()).output().expect("raddle starts");
            let (out, err) = (stdout(&output), stderr(&output));
            assert_eq!(code(&output), Some(3), "{out}\n{err}");
            assert!(err.contains(call), "{call}: {out}\n{err}");
            assert!(err.contains("no execution finished within 2 s: nothing was tested"), "{err}");
            assert!(!err.contains("the first was ended after"), "{err}");
        }
    }
}

/// Where some schedules do not wait, those are explored.
#[test]
fn a_wait_in_some_executions() {
    let flags = "--cflags='-DFIRST=__atomic_load_n(&set, 5);'";
    let args = ["--strategy", "walk", "--execs", "8", "--seed", "2", flags];
    let (out, err, code) = explore(SYSTEM_V, &args);
    assert_eq!(code, Some(0), "{out}\n{err}");
    assert!(err.contains("inconclusive: blocked for "), "{out}\n{err}");
    assert!(out.contains("explored 8 executions"), "{out}\n{err}");
    let (out, err, code) = explore(SYSTEM_V, &[&args[..], &["--strict"]].concat());
    assert_eq!(code, Some(3), "{out}\n{err}");
}

/// OpenMP's threads are controlled: its locks and barriers wait by system calls of their own.
#[test]
fn open_mp_is_explored() {
    let right = "--cflags=-fopenmp -DRIGHT";
    for carrier in ["fibers", "threads"] {
        let args = ["--execs", "200", "--carrier", carrier, "--detect", "all", right];
        let (out, err, code) = explore(OPEN_MP, &args);
        assert_eq!(code, Some(0), "{out}\n{err}");
        assert!(out.contains("explored 200 executions"), "{out}\n{err}");
        assert!(!out.contains("error[") && !err.contains("inconclusive"), "{out}\n{err}");
    }
    let wrong = "--cflags=-fopenmp";
    let (out, err, code) = explore(OPEN_MP, &["--execs", "2000", "--detect", "race", wrong]);
    assert_eq!(code, Some(2), "{out}\n{err}");
    assert!(out.contains("possible data race on `sum`"), "{out}\n{err}");
}

/// What another process can end is no deadlock.
#[test]
fn a_wait_for_another_process() {
    for carrier in ["fibers", "threads"] {
        let (out, err, code) = explore(OTHER_PROCESS, &["--execs", "10", "--carrier", carrier]);
        assert_eq!(code, Some(3), "{out}\n{err}");
        let waits = "are inconclusive: waits in shared memory for another process";
        assert!(err.contains(waits), "{out}\n{err}");
        assert!(err.contains("at program.c:15 in main"), "{out}\n{err}");
        assert!(err.contains("fork: the new process is not controlled"), "{out}\n{err}");
        assert!(err.contains("at program.c:11 in main"), "{out}\n{err}");
    }
}
