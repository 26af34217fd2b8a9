//! What goes wrong around a program, or is done to Raddle by it: nothing of it hangs, none of it is a false finding.

mod common;

use std::{
    io::{BufRead as _, BufReader},
    mem::offset_of,
    os::fd::AsRawFd as _,
    path::Path,
    process::{Command, Output, Stdio},
};

use common::{code, folder, raddle, stderr, stdout, write};
use raddle_explore::target::{Block, Target as _};
use raddle_launch::{CompileRequest, CompilerChoice, Native, NativeOptions, Toolchain, compile};
use raddle_model::{End, PickerSpec, Plan};
use raddle_trace::Header;

/// Two threads, the second of which does what is given, after the includes that it needs.
fn program(body: &str) -> String {
    format!(
        r"#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int n;
static void count(void) {{
    pthread_mutex_lock(&lock);
    n++;
    pthread_mutex_unlock(&lock);
}}
static void *work(void *arg) {{
    count();
    {body}
    count();
    return arg;
}}
int main(void) {{
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    count();
    pthread_join(thread, 0);
    return n == 3 ? 0 : 1;
}}
"
    )
}

fn run(folder: &Path, body: &str, more: &[&str]) -> Output {
    write(folder, "program.c", &program(body));
    let line = ["run", "program.c", "--progress", "none"];
    raddle(folder, &[&line[..], more].concat()).output().expect("raddle starts")
}

/// The last line of JSON.
fn summary(output: &Output) -> serde_json::Value {
    let text = stdout(output);
    let line = text.lines().last().unwrap_or_default();
    serde_json::from_str(line).unwrap_or_else(|_| panic!("{text}{}", stderr(output)))
}

const JSON: [&str; 2] = ["--message-format", "json"];
/// Neither makes a step nor ends.
const COMPUTES: &str = "for (volatile long i = 0;; i++);";
/// Makes steps and does not end.
const COUNTS: &str = "for (;;) count();";

#[test]
fn an_execution_that_never_ends_is_cut_short_by_time() {
    let folder = folder();
    for body in [COMPUTES, COUNTS] {
        for carrier in ["fibers", "threads"] {
            let limits = ["--time", "500ms", "--max-steps", "1000000000000", "--carrier", carrier];
            let output = run(folder.path(), body, &[&limits[..], &JSON].concat());
            let summary = summary(&output);
            assert_eq!(summary["executions"], 0, "{summary}");
            assert_eq!(summary["findings"], 0, "{summary}");
            assert!(summary["cut_short"].as_u64() >= Some(1), "{summary}");
        }
    }
}

#[test]
fn a_signal_cuts_short_what_runs() {
    let folder = folder();
    for (signal, exit) in [("-INT", 130), ("-TERM", 143)] {
        write(folder.path(), "program.c", &program(COMPUTES));
        let line = ["run", "program.c", "--progress", "none", "--execs", "1000"];
        let mut command = raddle(folder.path(), &line);
        let mut process =
            command.stderr(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("raddle starts");
        let said = process.stderr.take().expect("a pipe");
        // It says what it is about to explore, when the program has been compiled.
        let mut lines = BufReader::new(said).lines();
        assert!(lines.any(|it| it.is_ok_and(|it| it.starts_with("exploring"))));
        let id = process.id().to_string();
        assert!(Command::new("kill").args([signal, &id]).status().is_ok_and(|it| it.success()));
        let output = process.wait_with_output().expect("it ends");
        assert_eq!(code(&output), Some(exit), "{}", stdout(&output));
        assert!(!stdout(&output).contains("error["), "{}", stdout(&output));
    }
}

#[test]
fn far_too_many_workers_are_fewer() {
    let folder = folder();
    for jobs in ["200", "1000"] {
        let output = run(folder.path(), "", &["-j", jobs, "--execs", "300"]);
        assert_eq!(code(&output), Some(0), "{}{}", stdout(&output), stderr(&output));
        let text = stderr(&output);
        assert!(text.contains(&format!("-j {jobs} is limited to ")), "{text}");
    }
}

/// They start at once, more than the machine has cores for, and are stopped at some moment: nothing is left, and nobody is
/// told of a bug of ours.
#[test]
fn many_workers_can_be_stopped_at_any_time() {
    let folder = folder();
    // A word of its own on the command line of each process.
    let mark = format!("mark-{}", std::process::id());
    write(folder.path(), "program.c", &program(""));
    for (signal, exit, n_lines) in [("-TERM", 143, 0), ("-INT", 130, 1)] {
        let line = ["run", "program.c", "-j", "32", "--time", "1h", "--progress", "line", "--"];
        let mut command = raddle(folder.path(), &[&line[..], &[&mark]].concat());
        let mut process =
            command.stderr(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("raddle starts");
        let said = process.stderr.take().expect("a pipe");
        let mut lines = BufReader::new(said).lines();
        assert!(lines.any(|it| it.is_ok_and(|it| it.starts_with("exploring"))));
        lines.by_ref().take(n_lines).for_each(drop);
        let id = process.id().to_string();
        assert!(Command::new("kill").args([signal, &id]).status().is_ok_and(|it| it.success()));
        let rest = std::thread::spawn(move || lines.map_while(Result::ok).collect::<String>());
        let output = process.wait_with_output().expect("it ends");
        let all = stdout(&output) + &rest.join().expect("it was read");
        assert_eq!(code(&output), Some(exit), "{all}");
        assert!(!all.contains("error"), "{all}");
        assert_eq!(processes(&mark), Vec::<String>::new(), "{all}");
    }
}

/// A program that does nothing wrong, compiled in a folder.
fn compiled(folder: &Path) -> Native {
    write(folder, "program.c", &program(""));
    let toolchain = Toolchain::open(CompilerChoice::Gcc).expect("a compiler");
    let request = CompileRequest { inputs: vec![folder.join("program.c")], flags: Vec::new() };
    let program = compile(&toolchain, &request).expect("it compiles").program;
    Native::new(NativeOptions::new(program, Vec::new(), toolchain.runtime))
}

/// Our own descriptors can have the numbers that the program's process has for its pipes and memory.
#[test]
fn descriptors_with_any_numbers() {
    let folder = folder();
    let target = compiled(folder.path());
    let plan = Plan::new(PickerSpec::Nonpreemptive, 0);
    for first in 228..246 {
        let mut taken = Vec::new();
        loop {
            let file = std::fs::File::open("/dev/null").expect("there is room");
            if file.as_raw_fd() >= first {
                break;
            }
            taken.push(file);
        }
        let mut session = target.open().expect("it starts");
        let result = session.run(&Block::one(plan.clone(), false)).expect("it runs");
        let trace = result.last.expect("blocks of one are looked at").trace;
        assert_eq!(trace.end, Some(End::Exit(0)), "{first}");
    }
}

/// The program closes all that it has not opened, shortens it, puts something else in its place.
#[test]
fn descriptors_of_ours_survive() {
    let folder = folder();
    for body in [
        "close_range(3, ~0u, 0);",
        "closefrom(3);",
        "syscall(SYS_close_range, 3, ~0u, 0);",
        "for (int fd = 3; fd < 1024; fd++) close(fd);",
        "for (int fd = 3; fd < 1024; fd++) syscall(SYS_close, fd);",
        "for (int fd = 3; fd < 1024; fd++) if (dup2(0, fd) >= 0) close(fd);",
        "for (int fd = 0; fd < 1024; fd++) if (ftruncate(fd, 0) == 0 && fd > 2) abort();",
        "for (int fd = 3; fd < 1024; fd++) if (fallocate(fd, 0, 0, 1 << 30) == 0) abort();",
    ] {
        let output = run(folder.path(), body, &["--execs", "100"]);
        let all = format!("{body}\n{}{}", stdout(&output), stderr(&output));
        assert_eq!(code(&output), Some(0), "{all}");
        assert!(stdout(&output).contains("explored 100 executions"), "{all}");
    }
}

/// Processes whose command line contains a word.
fn processes(word: &str) -> Vec<String> {
    let all = std::fs::read_dir("/proc").expect("there is one").flatten();
    let line = |it: std::fs::DirEntry| std::fs::read_to_string(it.path().join("cmdline")).ok();
    all.filter_map(line).filter(|it| it.contains(word)).collect()
}

#[test]
fn no_process_is_left_behind() {
    let folder = folder();
    // As long as the test has not asked whether they live.
    let seconds = format!("{}", 100_000 + std::process::id());
    let body = format!(
        "if (fork() == 0) {{ setsid(); if (fork() == 0) \
         execlp(\"sleep\", \"sleep\", \"{seconds}\", (char *)0); _exit(0); }}"
    );
    let output = run(folder.path(), &body, &["--execs", "20"]);
    let all = format!("{}{}", stdout(&output), stderr(&output));
    assert!(stdout(&output).contains("explored 20 executions"), "{all}");
    assert_eq!(processes(&seconds), Vec::<String>::new(), "{all}");
}

/// Kills its parent's process, or that one's parent, in the first execution only.
fn kills_once(folder: &Path, whom: &str, signal: &str) -> String {
    let mark = folder.join("killed");
    format!(
        "if (access(\"{0}\", F_OK) != 0) {{ close(creat(\"{0}\", 0600)); \
         syscall(SYS_kill, {whom}, {signal}); for (;;) pause(); }}",
        mark.display()
    )
}

/// Whoever has killed it (here it is the program itself, behind our back): it does not happen again.
#[test]
fn an_execution_that_is_killed_once_is_run_again() {
    for signal in ["SIGKILL", "SIGTERM"] {
        let folder = folder();
        let body = kills_once(folder.path(), "getpid()", signal);
        let output = run(folder.path(), &body, &["--execs", "50", "-j", "1"]);
        let all = format!("{}{}", stdout(&output), stderr(&output));
        assert!(folder.path().join("killed").exists(), "{all}");
        assert_eq!(code(&output), Some(0), "{signal}: {all}");
        assert!(stdout(&output).contains("explored 50 executions"), "{signal}: {all}");
    }
}

#[test]
fn a_program_that_kills_itself_each_time_is_found() {
    let folder = folder();
    let output = run(folder.path(), "syscall(SYS_kill, getpid(), SIGKILL);", &["--execs", "50"]);
    assert_eq!(code(&output), Some(2), "{}{}", stdout(&output), stderr(&output));
    assert!(stdout(&output).contains("SIGKILL"), "{}", stdout(&output));
}

#[test]
fn a_fork_server_that_is_killed_is_replaced() {
    let folder = folder();
    let body = kills_once(folder.path(), "getppid()", "SIGKILL");
    let output = run(folder.path(), &body, &["--execs", "50", "-j", "1"]);
    let all = format!("{}{}", stdout(&output), stderr(&output));
    assert!(folder.path().join("killed").exists(), "{all}");
    assert_eq!(code(&output), Some(0), "{all}");
    assert!(stdout(&output).contains("explored 50 executions"), "{all}");
}

/// What the program prints before it kills its fork server is the program's, and no bug of ours.
#[test]
fn a_program_that_speaks_as_the_runtime_does() {
    let folder = folder();
    let kills = kills_once(folder.path(), "getppid()", "SIGKILL");
    let body = format!("fputs(\"raddle: bug: pretended\\n\", stderr); {kills}");
    let output = run(folder.path(), &body, &["--execs", "50", "-j", "1"]);
    let all = format!("{}{}", stdout(&output), stderr(&output));
    assert!(folder.path().join("killed").exists(), "{all}");
    assert_eq!(code(&output), Some(0), "{all}");
    assert!(stdout(&output).contains("explored 50 executions"), "{all}");
}

/// An execution that is killed when it has begun to say how it ended, and before it has said all: it leaves the header so.
fn killed_while_it_tells(folder: &Path) -> String {
    let end_kind = offset_of!(Header, result.summary.end_kind);
    let (exit, _) = End::Exit(0).to_numbers();
    let mark = folder.join("killed");
    format!(
        r#"#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
enum {{ SEGMENT = 240 }};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *work(void *arg) {{
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
    return arg;
}}
int main(void) {{
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    work(0);
    pthread_join(thread, 0);
    if (access("{mark}", F_OK) == 0) return 0;
    char *header = mmap(0, 1 << 16, PROT_READ | PROT_WRITE, MAP_SHARED, SEGMENT, 0);
    if (header == MAP_FAILED) return 1;
    close(creat("{mark}", 0600));
    *(volatile unsigned *)(header + {end_kind}) = {exit};
    int pid = getpid();
    int child = fork();
    if (child == 0) {{
        kill(pid, SIGKILL);
        _exit(0);
    }}
    for (;;) waitpid(child, 0, 0);
}}
"#,
        mark = mark.display()
    )
}

/// Neither a finding nor a bug: it is run again.
#[test]
fn an_execution_that_is_killed_while_it_tells_its_end() {
    let folder = folder();
    write(folder.path(), "program.c", &killed_while_it_tells(folder.path()));
    let args = ["run", "program.c", "--progress", "none", "--execs", "100", "-j", "1"];
    let output = raddle(folder.path(), &args).output().expect("raddle starts");
    let all = format!("{}{}", stdout(&output), stderr(&output));
    assert!(folder.path().join("killed").exists(), "it was not killed: {all}");
    assert_eq!(code(&output), Some(0), "{all}");
    assert!(stdout(&output).contains("explored 100 executions"), "{all}");
}

/// Writes 16 bytes somewhere into the segment's header, before its threads run. Arguments: where and what.
const SCRIBBLES: &str = r#"#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
enum { SEGMENT = 240, WITHIN = 1024 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *work(void *arg) {
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
    return arg;
}
int main(int argc, char **argv) {
    pthread_t thread;
    unsigned drawn = strtoul(argv[1], 0, 10) * 2654435761u + 1;
    unsigned char *header = mmap(0, WITHIN, PROT_READ | PROT_WRITE, MAP_SHARED, SEGMENT, 0);
    if (header == MAP_FAILED) return 1;
    for (int i = 0; i < 16; i++) {
        drawn = drawn * 1664525u + 1013904223u;
        header[(drawn >> 8) % WITHIN] = drawn >> 3;
    }
    pthread_create(&thread, 0, work, 0);
    work(0);
    pthread_join(thread, 0);
    return 0;
}
"#;

/// What comes of it may be anything, but the program's side alone suffers: Raddle neither panics nor crashes.
#[test]
fn a_program_that_scribbles_over_the_segment() {
    let folder = folder();
    write(folder.path(), "program.c", SCRIBBLES);
    let built = raddle(folder.path(), &["cc", "-g", "program.c", "-o", "program"]).status();
    assert!(built.expect("raddle starts").success());
    let limits = ["--execs", "20", "--time", "1s", "--progress", "none", "--fresh"];
    for seed in 0..40 {
        let seed = seed.to_string();
        let args = [&["run"][..], &limits, &["--", "./program", &seed]].concat();
        let output = raddle(folder.path(), &args).output().expect("raddle starts");
        let text = stderr(&output);
        assert!(code(&output).is_some(), "{seed}: {:?}\n{text}", output.status);
        assert!(!text.contains("internal error at "), "{seed}: {text}");
    }
}

/// More choices and more shared variables than the segment has room for at first.
#[test]
fn a_plan_that_is_very_large_has_room() {
    let folder = folder();
    let target = compiled(folder.path());
    let mut session = target.open().expect("it starts");
    let plain = Plan::new(PickerSpec::Nonpreemptive, 0);
    let mut run = |plan: &Plan| {
        let result = session.run(&Block::one(plan.clone(), false)).expect("there is room");
        let trace = result.last.expect("blocks of one are looked at").trace;
        assert_eq!(trace.end, Some(End::Exit(0)));
        trace
    };
    let trace = run(&plain);
    // The execution ends long before its prefix does.
    let mut prefix: Vec<u32> = trace.events.iter().map(|it| it.thread.0).collect();
    prefix.resize(3 << 20, 0);
    assert_eq!(run(&Plan { prefix, ..plain.clone() }).events, trace.events);
    let shared = (1..=200_000).collect();
    assert_eq!(run(&Plan { shared, ..plain.clone() }).events, trace.events);
    assert_eq!(run(&plain).events, trace.events);
}
