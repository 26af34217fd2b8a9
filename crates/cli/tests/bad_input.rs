//! What a user does wrong, what a program does wrong, and what the machine does not allow: one clear line
//! each, the right exit code, and nothing lost. (What goes wrong before anything is compiled is in
//! `usage.rs`; stores and interruptions are in `bad_store.rs`.)

mod common;

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::Path,
    process::{Command, Output},
};

use common::{
    AB_BA, PRELUDE, code, folder, last_line, raddle, redacted, run, stderr, stdout, write,
};
use expect_test::expect;

/// Runs a C program whose text follows the prelude.
fn explore(folder: &Path, text: &str, args: &[&str]) -> Output {
    write(folder, "prog.c", &format!("{PRELUDE}{text}"));
    let all = [&["run", "--execs", "20", "-j", "1"], args, &["prog.c"]].concat();
    raddle(folder, &all).output().expect("raddle starts")
}

fn compile_plainly(folder: &Path, flags: &[&str], text: &str) -> bool {
    write(folder, "plain.c", text);
    let all = [&["-g", "-pthread", "plain.c", "-o", "plain"], flags].concat();
    let built = Command::new("cc").args(all).current_dir(folder).output().expect("a compiler");
    built.status.success()
}

#[test]
fn a_program_without_hooks_is_explored_by_its_synchronisation() {
    let folder = folder();
    assert!(compile_plainly(folder.path(), &[], AB_BA));
    let refused = raddle(folder.path(), &["run", "--", "./plain"]).output().expect("starts");
    expect![[r#"
        exit 1
        stderr: error: `./plain` is not instrumented; build it with `raddle cc` or `raddle c++`, or use --sync-only to control its synchronisation only
    "#]].assert_eq(&common::told(folder.path(), &refused));
    let found = run(folder.path(), &["run", "--sync-only", "-j1", "--", "./plain"]);
    expect![[r#"
        exit 2
        stdout: error[dl-4861]: deadlock: T1 (one) and T2 (two) wait for each other (`b` and
        stdout:     `a`)
        stdout:   --> plain.c:5 in take
        stdout:    |
        stdout:  4 |     pthread_mutex_lock(first);
        stdout:    |     ------------------------- 1. T1 (one) locks `a`
        stdout:    |     ------------------------- 2. T2 (two) locks `b`
        stdout:  5 |     pthread_mutex_lock(second);
    "#]]
    .assert_eq(&found.lines().take(9).map(|it| format!("{it}\n")).collect::<String>());
    for carrier in ["fibers", "threads"] {
        let args = ["replay", "latest", "--times", "20", "--carrier", carrier];
        let again = raddle(folder.path(), &args).output().expect("starts");
        assert_eq!(code(&again), Some(2), "{}", stderr(&again));
        assert!(last_line(&stdout(&again)).ends_with("reproduced 20 of 20 times"));
    }
}

#[test]
fn a_static_program() {
    let folder = folder();
    if !compile_plainly(folder.path(), &["-static"], AB_BA) {
        raddle_tidy::skip("there is no static C library; not tested: static programs");
        return;
    }
    common::check(
        folder.path(),
        &["run", "--sync-only", "--", "./plain"],
        expect![[r#"
            exit 1
            stderr: error: `./plain` is statically linked, which is not supported; link it dynamically
        "#]],
    );
}

#[test]
fn a_program_for_another_machine() {
    let folder = folder();
    assert!(compile_plainly(folder.path(), &[], AB_BA));
    let path = folder.path().join("plain");
    let mut bytes = fs::read(&path).expect("readable");
    bytes[18] = 183; // EM_AARCH64
    fs::write(&path, bytes).expect("written");
    common::check(
        folder.path(),
        &["run", "--", "./plain"],
        expect![[r#"
            exit 1
            stderr: error: `./plain` is not an x86-64 Linux program; raddle supports no other platform yet
        "#]],
    );
    fs::write(&path, "\x7fELF and no more").expect("written");
    common::check(
        folder.path(),
        &["run", "--", "./plain"],
        expect![[r#"
            exit 1
            stderr: error: `./plain` is not an ELF executable
        "#]],
    );
}

#[test]
fn a_program_that_fails_alone() {
    let folder = folder();
    let output =
        explore(folder.path(), "int main(void) { puts(\"no\"); fflush(stdout); abort(); }", &[]);
    expect![[r#"
        exit 4
        stdout: error: abort called: aborted at prog.c:1 in main
        stdout:   --> prog.c:1 in main
        stdout:    |
        stdout:  1 | T0 (main) calls abort
        stdout:    |
        stdout: 
        stdout:   step  T0 main  0 steps, 0 switches
        stdout: ▸       abort    prog.c:1  ← abort called
        stdout: 
        stdout:   program output:
        stdout:     no
        stdout: 
        stdout: SUMMARY: raddle: abort at prog.c:1 in main
        stdout: 
        stderr: exploring prog.c: 20 executions, 1 worker, seed 0
        stderr: error: the program fails before it creates a second thread; the schedule is not the cause
    "#]]
    .assert_eq(&common::told(folder.path(), &output));
    let output = explore(folder.path(), "int main(void) { return 3; }", &[]);
    assert_eq!(code(&output), Some(4));
    let fine = explore(folder.path(), "int main(void) { return 3; }", &["--exit-ok"]);
    assert_eq!(code(&fine), Some(0), "{}", stderr(&fine));
}

#[test]
fn a_program_that_ends_before_main() {
    let folder = folder();
    let text = "__attribute__((constructor)) static void begin(void) { abort(); }
        int main(void) { return 0; }";
    let output = explore(folder.path(), text, &[]);
    assert_eq!(code(&output), Some(4), "{}", stderr(&output));
    let line = stderr(&output);
    assert!(last_line(&line).ends_with("ended before main (abort)"), "{line}");

    // A library that is gone.
    write(folder.path(), "lib.c", "int seven(void) { return 7; }");
    write(folder.path(), "main.c", "int seven(void); int main(void) { return seven() - 7; }");
    for args in [
        &["cc", "-shared", "-fPIC", "lib.c", "-o", "libseven.so"][..],
        &["cc", "main.c", "-L.", "-lseven", "-o", "main"],
    ] {
        assert!(raddle(folder.path(), args).status().expect("starts").success());
    }
    let output = raddle(folder.path(), &["run", "--", "./main"]).output().expect("starts");
    expect![[r#"
        exit 4
        stderr: exploring main: 20,000 executions or 60 s (--execs, --time), N workers, seed 0
        stderr: [DIR]/main: error while loading shared libraries: libseven.so: cannot open shared object file: No such file or directory
        stderr: error: `[DIR]/main` ended before main (exit status: 127)
    "#]]
    .assert_eq(&redacted(folder.path(), &output));
}

/// Whatever a program prints, and however it ends: that is the program's.
#[test]
fn a_program_that_pretends_to_be_a_runtime_that_dies() {
    let folder = folder();
    let text = r#"__attribute__((constructor)) static void begin(void) {
        static const char words[] = "raddle: bug: pretended at nowhere.rs:7\n";
        long result;
        __asm__ volatile("syscall" : "=a"(result)
                         : "a"(SYS_write), "D"(2), "S"(words), "d"(sizeof words - 1)
                         : "rcx", "r11", "memory");
        __asm__ volatile("syscall" : "=a"(result) : "a"(SYS_exit_group), "D"(70)
                         : "rcx", "r11", "memory");
    }
    int main(void) { return 0; }"#;
    let output = explore(folder.path(), text, &[]);
    assert_eq!(code(&output), Some(4), "{}", stderr(&output));
    let line = stderr(&output);
    assert!(line.contains("raddle: bug: pretended at nowhere.rs:7\n"), "{line}");
    assert!(last_line(&line).ends_with("ended before main (exit status: 70)"), "{line}");
    let text = r#"int main(void) {
        in_thread(idle, NULL);
        fputs("raddle: bug: pretended at nowhere.rs:7\n", stderr);
        _exit(70);
    }"#;
    let output = explore(folder.path(), text, &[]);
    assert_eq!(code(&output), Some(2), "{}", stderr(&output));
    assert!(stdout(&output).contains("exit code 70"), "{}", stdout(&output));
}

#[test]
fn a_runtime_that_dies() {
    let folder = folder();
    write(folder.path(), "prog.c", &format!("{PRELUDE}int main(void) {{ return 0; }}"));
    // It is to write a file for a debugger, where it can't.
    let args = ["run", "prog.c", "--execs", "20", "-j", "1"];
    let mut command = raddle(folder.path(), &args);
    let output = command.env("RADDLE_DEBUG", "/proc/no/such/file").output().expect("starts");
    expect![[r#"
        exit 70
        stderr: exploring prog.c: 20 executions, 1 worker, seed 0
        stderr: error: internal error: the file for the debugger can't be written; this is a bug in raddle, please report it
    "#]]
    .assert_eq(&common::told(folder.path(), &output));
}

#[test]
fn a_program_with_one_thread() {
    let folder = folder();
    let output = explore(folder.path(), "int main(void) { return 0; }", &[]);
    expect![[r#"
        exit 0
        stdout: explored 2 executions (1 distinct) in TIME (RATE/s), no finding
        stderr: exploring prog.c: 20 executions, 1 worker, seed 0
        stderr: warning: the program never creates a second thread: nothing to explore
    "#]]
    .assert_eq(&redacted(folder.path(), &output));
}

#[test]
fn a_program_that_forks() {
    let folder = folder();
    let text = r#"int main(void) {
        in_thread(idle, NULL);
        pid_t child = fork();
        if (child == 0) { in_thread(idle, NULL); _exit(7); }
        int status;
        if (waitpid(child, &status, 0) != child || WEXITSTATUS(status) != 7) abort();
        in_thread(idle, NULL);
        return 0;
    }"#;
    let output = explore(folder.path(), text, &[]);
    assert_eq!(code(&output), Some(0), "{}{}", stdout(&output), stderr(&output));
    let text = stdout(&output);
    assert!(last_line(&text).starts_with("explored 20 executions ("), "{text}");
    let told = stderr(&output);
    assert!(
        told.contains("warning: stability 0%: some behaviour of the program was not controlled\n"),
        "{told}"
    );
    let note =
        "  uncontrolled: fork: the new process is not controlled ×20\n      at prog.c:3 in main\n";
    assert!(told.contains(note), "{told}");
    let strict = raddle(folder.path(), &["run", "--execs", "20", "--strict", "prog.c"]).output();
    assert_eq!(code(&strict.expect("starts")), Some(3));
}

#[test]
fn a_program_that_daemonises() {
    let folder = folder();
    let text = r#"int main(void) {
        if (daemon(1, 1) != 0) abort();
        in_thread(idle, NULL);
        return 0;
    }"#;
    let output = explore(folder.path(), text, &[]);
    assert_eq!(code(&output), Some(0), "{}", stderr(&output));
    assert!(stderr(&output).contains("uncontrolled: daemon: stays in the foreground"));
}

#[test]
fn a_program_that_prints_much() {
    let folder = folder();
    let text = r#"static void *print(void *arg) {
        static char text[1 << 16];
        memset(text, 'x', sizeof text);
        for (int i = 0; i < 1 << 14; i++)
            if (write(1, text, sizeof text) != sizeof text) abort();
        return arg;
    }
    int main(void) { in_thread(print, NULL); return 0; }"#;
    write(folder.path(), "prog.c", &format!("{PRELUDE}{text}"));
    // A gigabyte for each execution.
    let mut command = raddle(folder.path(), &["run", "--execs", "2", "-j", "1", "prog.c"]);
    let output = command.output().expect("starts");
    assert_eq!(code(&output), Some(0), "{}", stderr(&output));
}

#[test]
fn a_program_that_takes_all_memory() {
    let folder = folder();
    let text = r#"__attribute__((no_sanitize("thread"))) static void *eat(void *arg) {
        for (;;) {
            volatile char *block = malloc(64 << 20);
            for (long i = 0; i < 64 << 20; i += 512) block[i] = 1;
        }
        return arg;
    }
    int main(void) { in_thread(eat, NULL); return 0; }"#;
    let output = explore(folder.path(), text, &["--memory", "200M"]);
    assert_eq!(code(&output), Some(2), "{}", stderr(&output));
    let text = stdout(&output);
    let head: Vec<&str> = text.lines().take(2).map(str::trim).collect();
    assert!(
        head.join(" ").contains("out of memory: more than 200 MiB (--memory) at prog.c:4 in eat"),
        "{text}"
    );
    assert!(text.contains("T1 (eat): out of memory"), "{text}");
}

#[test]
fn a_program_that_spins_without_hooks() {
    let folder = folder();
    let text = r#"__attribute__((no_sanitize("thread"))) static void *spin(void *arg) {
        for (volatile long i = 0;; i++) {}
        return arg;
    }
    int main(void) { in_thread(spin, NULL); return 0; }"#;
    let output = explore(folder.path(), text, &["--hang-timeout", "500ms"]);
    assert_eq!(code(&output), Some(3), "{}", stderr(&output));
    let text = stderr(&output);
    assert!(text.contains("executions are inconclusive: computed for "), "{text}");
    assert!(text.contains(" without a step (prog)\n      at prog.c:2 in spin"), "{text}");
    assert!(text.contains("slow, raise --hang-timeout and --time"), "{text}");
}

#[test]
fn a_program_that_waits_where_nobody_sees() {
    let folder = folder();
    let text = r#"static void *sleep_raw(void *arg) {
        long time[2] = {1000, 0}, result;
        __asm__ volatile("syscall" : "=a"(result) : "a"(SYS_nanosleep), "D"(time), "S"(0)
                         : "rcx", "r11", "memory");
        return arg;
    }
    int main(void) { in_thread(sleep_raw, NULL); return 0; }"#;
    let output = explore(folder.path(), text, &["--hang-timeout", "300ms"]);
    assert_eq!(code(&output), Some(3), "{}", stderr(&output));
    let text = stderr(&output);
    assert!(text.contains("inconclusive: blocked for 1 s in `nanosleep` (prog)"), "{text}");
}

#[test]
fn a_program_that_only_takes_its_time() {
    let folder = folder();
    // About a second of work before the first thread, with a hang timeout of less.
    let text = r#"#include <time.h>
    __attribute__((no_sanitize("thread"))) static void work(void) {
        struct timespec now;
        do syscall(SYS_clock_gettime, CLOCK_PROCESS_CPUTIME_ID, &now);
        while (now.tv_sec < 1);
    }
    int main(void) { work(); in_thread(idle, NULL); return 0; }"#;
    write(folder.path(), "prog.c", &format!("{PRELUDE}{text}"));
    let args = ["run", "--execs", "1", "-j", "1", "--hang-timeout", "300ms", "prog.c"];
    let output = raddle(folder.path(), &args).output().expect("starts");
    assert_eq!(code(&output), Some(0), "{}{}", stdout(&output), stderr(&output));
}

#[test]
fn a_program_that_leaves_by_system_calls() {
    let folder = folder();
    let text = r#"static void *leave(void *arg) {
        long result;
        __asm__ volatile("syscall" : "=a"(result) : "a"(SYS_exit_group), "D"(arg)
                         : "rcx", "r11", "memory");
        return arg;
    }
    int main(void) { in_thread(leave, (void *)(long)CODE); return 0; }"#;
    let output = explore(folder.path(), text, &["--cflags", "-DCODE=0"]);
    assert_eq!(code(&output), Some(0), "{}{}", stdout(&output), stderr(&output));
    let output = explore(folder.path(), text, &["--cflags", "-DCODE=5"]);
    assert_eq!(code(&output), Some(2), "{}{}", stdout(&output), stderr(&output));
    assert!(
        stdout(&output).contains("error[exit-") && stdout(&output).contains("exit code 5"),
        "{}",
        stdout(&output)
    );
}

#[test]
fn a_program_that_kills_itself() {
    let folder = folder();
    let text = r#"static void *die(void *arg) {
        long result;
        __asm__ volatile("syscall" : "=a"(result) : "a"(SYS_kill), "D"(getpid()), "S"(SIGKILL)
                         : "rcx", "r11", "memory");
        return arg;
    }
    int main(void) { in_thread(die, NULL); return 0; }"#;
    let output = explore(folder.path(), text, &["--no-explain"]);
    expect![[r#"
        exit 2
        stdout: error[crash-d2b3]: crash (SIGKILL)
        stdout:   --> prog.c:14 in in_thread
        stdout:    |
        stdout: 14 |     pthread_create(&thread, NULL, body, arg);
        stdout:    |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        stdout:    |     T0 (main): SIGKILL after this line
        stdout:    |
        stdout:    = replay: raddle replay crash-d2b3
        stdout: 
        stdout:   step  T0 main   T1 die  2 steps, 1 switch
        stdout:      1  spawn T1          prog.c:14  pthread_create(&thread, NULL, body, arg);
        stdout:         ── switch (preempted) ──
        stdout:      2  .         start
        stdout: 
        stdout: SUMMARY: raddle: crash at prog.c:14 in in_thread
        stdout: 
        stdout: note: crash-d2b3 fails in every schedule tried (20): it does not depend on the schedule
        stdout: note: the search continued after it; no failure that depends on the schedule was found
        stdout: explored 20 executions (1 distinct) in TIME (RATE/s), 1 finding
        stderr: exploring prog.c: 20 executions, 1 worker, seed 0
    "#]]
    .assert_eq(&redacted(folder.path(), &output));
}

#[test]
fn a_library_that_is_not_there() {
    let folder = folder();
    let text = r#"#include <dlfcn.h>
    int main(void) {
        in_thread(idle, NULL);
        if (!dlopen("libnosuch.so", RTLD_NOW)) { fprintf(stderr, "%s\n", dlerror()); return 1; }
        return 0;
    }"#;
    let output = explore(folder.path(), text, &[]);
    assert_eq!(code(&output), Some(2), "{}", stderr(&output));
    let words = "libnosuch.so: cannot open shared object file: No such file or directory";
    assert!(stdout(&output).contains(words), "{}", stdout(&output));
}

#[test]
fn a_program_that_reads_its_input() {
    let folder = folder();
    write(folder.path(), "words", "hello\n");
    let text = r#"int main(void) {
        char line[16] = "";
        in_thread(idle, NULL);
        if (!fgets(line, sizeof line, stdin)) return 8;
        if (strcmp(line, "hello\n") != 0 || fgets(line, sizeof line, stdin)) return 9;
        return 0;
    }"#;
    // Every execution reads from the start.
    let output = explore(folder.path(), text, &["--stdin", "words"]);
    assert_eq!(code(&output), Some(0), "{}{}", stdout(&output), stderr(&output));
    let output = explore(folder.path(), text, &[]);
    assert!(stdout(&output).contains("exit code 8"), "{}", stdout(&output));
    // Replay reads the same file.
    let fails = text.replace("return 0;", "abort();");
    assert_eq!(code(&explore(folder.path(), &fails, &["--stdin", "words"])), Some(2));
    let again = raddle(folder.path(), &["replay", "abort"]).output().expect("starts");
    assert_eq!(code(&again), Some(2), "{}", stderr(&again));
    fs::remove_file(folder.path().join("words")).expect("removed");
    let again = raddle(folder.path(), &["replay", "abort"]).output().expect("starts");
    assert_eq!(code(&again), Some(1), "{}", stdout(&again));
    assert!(stderr(&again).contains("words"), "{}", stderr(&again));
}

#[test]
fn a_working_folder_and_arguments_that_are_no_text() {
    use std::{ffi::OsStr, os::unix::ffi::OsStrExt as _};
    let folder = folder();
    let odd = folder.path().join(OsStr::from_bytes(b"odd-\xff"));
    fs::create_dir(&odd).expect("created");
    let text = r#"int main(int argc, char **argv) {
        in_thread(idle, NULL);
        return argc == 2 && strcmp(argv[1], "\xfe") == 0 ? 6 : 0;
    }"#;
    write(&odd, "prog.c", &format!("{PRELUDE}{text}"));
    let mut command = raddle(&odd, &["run", "-j1", "prog.c", "--"]);
    let output = command.arg(OsStr::from_bytes(b"\xfe")).output().expect("starts");
    assert_eq!(code(&output), Some(2), "{}{}", stdout(&output), stderr(&output));
    let again = raddle(&odd, &["replay", "latest"]).output().expect("starts");
    assert_eq!(code(&again), Some(2), "{}{}", stdout(&again), stderr(&again));
}

#[test]
fn a_program_that_is_gone_or_not_executable_any_more() {
    let folder = folder();
    write(folder.path(), "prog.c", AB_BA);
    let built = raddle(folder.path(), &["cc", "-g", "-pthread", "prog.c", "-o", "prog"]).status();
    assert!(built.expect("starts").success());
    let found = raddle(folder.path(), &["run", "-j1", "--", "./prog"]).output().expect("starts");
    assert_eq!(code(&found), Some(2), "{}", stderr(&found));
    let program = folder.path().join("prog");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o644)).expect("changed");
    let output = raddle(folder.path(), &["replay", "latest"]).output().expect("starts");
    assert_eq!(code(&output), Some(1));
    assert!(stderr(&output).contains("is not executable"), "{}", stderr(&output));
    fs::remove_file(&program).expect("removed");
    common::check(
        folder.path(),
        &["replay", "latest"],
        expect![[r#"
            exit 1
            stderr: error: the program of this finding does not exist here: [DIR]/prog; for an exported finding, use `raddle store import FILE --program PROGRAM`
        "#]],
    );
}
