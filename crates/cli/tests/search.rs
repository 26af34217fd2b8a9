//! Systematic searches of real programs, from the outside.

mod common;

use std::{
    os::unix::process::ExitStatusExt as _,
    path::Path,
    process::{Command, Output, Stdio},
    thread,
    time::Duration,
};

use common::{COUNTERS, explored, folder, raddle, summary, write};
use raddle_explore::Store;
use serde_json::Value;

/// Each of N threads reads a variable, then writes it.
/// What must not depend on the machine.
fn essence(mut summary: Value) -> Value {
    for key in ["elapsed_s", "execs_per_s"] {
        summary[key] = Value::Null;
    }
    for key in ["steps_spared", "resume"] {
        summary["search"][key] = Value::Null;
    }
    summary
}

fn search(folder: &Path, strategy: &str, more: &[&str]) -> Output {
    let args = ["run", "prog.c", "--message-format", "json", "-k", "--strategy", strategy];
    explored(folder, &[&args[..], more].concat())
}

fn kept(folder: &Path) -> Store {
    Store::at(folder.join(".raddle")).written_by(common::build(folder))
}

/// Polls for what another process does: on a slow machine it takes a while until there is something to end.
fn until(is_so: impl Fn() -> bool) {
    for _ in 0..3_000 {
        if is_so() {
            return;
        }
        thread::sleep(Duration::from_millis(20));
    }
    panic!("it did not come within a minute");
}

/// Two threads with a start, a read, a write and an end each, and `main`, which creates them and waits.
#[test]
fn all_schedules() {
    let folder = folder();
    write(folder.path(), "prog.c", COUNTERS);
    let whole = summary(&search(folder.path(), "dfs", &[]), 0);
    let it = &whole["search"];
    assert_eq!(it["finished"], true);
    assert_eq!(it["exhaustive"], true);
    assert_eq!(it["diverged"], 0);
    assert_eq!(it["words"], "all schedules were explored");
    assert_eq!(it["estimated_total"].as_f64(), it["executions"].as_f64());
    assert_eq!(whole["executions"].as_u64(), Some(it["executions"].as_u64().unwrap_or(0) + 8));
    for more in [&["-j", "1"][..], &["-j", "3"], &["-j", "3", "--checkpoints", "off"], &["--fresh"]]
    {
        let again = summary(&search(folder.path(), "dfs", more), 0);
        assert_eq!(essence(again), essence(whole.clone()), "{more:?}");
    }
}

#[test]
fn words_for_people() {
    let folder = folder();
    write(folder.path(), "prog.c", COUNTERS);
    let args = ["run", "prog.c", "--strategy", "ipb:1", "--learn", "3", "--progress", "none"];
    let output = explored(folder.path(), &args);
    let text = String::from_utf8_lossy(&output.stdout);
    let second = text.lines().nth(1).unwrap_or_default();
    assert!(second.starts_with("search ipb:1: "), "{text}");
    let end = "all schedules with at most 1 preemption were explored: none of them fails";
    assert!(second.ends_with(end), "{text}");
    assert!(text.contains("3 executions beforehand to find shared variables"), "{text}");
    assert!(!text.contains("resume with"), "{text}");
}

/// A thread that yields for the first time may go on at once.
#[test]
fn a_yield_is_a_hint() {
    let folder = folder();
    let text = include_str!("../../../programs/fail/thread/yield_once.c");
    write(folder.path(), "prog.c", text);
    for strategy in ["dfs", "dpor", "ipb", "idb", "walk", "surw", "pct"] {
        let found = summary(&search(folder.path(), strategy, &["--execs", "500"]), 2);
        assert_eq!(found["findings"], 1, "{strategy}");
    }
}

/// A sleep of a second that ends before one of 10 ms takes a long delay: searches call that a timing assumption, too, and
/// don't say that no schedule fails.
#[test]
fn a_long_delay_is_a_timing_assumption() {
    let folder = folder();
    let text = r"#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>
static atomic_int is_done;
static void *slow(void *arg) { usleep(1000000); is_done = 1; return arg; }
static void *quick(void *arg) { usleep(10000); assert(!is_done); return arg; }
int main(void) {
    pthread_t t[2];
    pthread_create(&t[0], 0, slow, 0);
    pthread_create(&t[1], 0, quick, 0);
    for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
    return 0;
}
";
    write(folder.path(), "prog.c", text);
    for strategy in ["dfs", "dpor", "ipb"] {
        let output = search(folder.path(), strategy, &[]);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(summary(&output, 0)["search"]["finished"], true, "{strategy}");
        assert!(text.contains(r#""certainty":"timing""#), "{strategy}: {text}");
        let output = explored(folder.path(), &["run", "prog.c", "-k", "--strategy", strategy]);
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(text.contains("all schedules were explored"), "{strategy}: {text}");
        assert!(!text.contains("no schedule of this input fails"), "{strategy}: {text}");
    }
}

/// Without random executions before it, a search finds out by itself what is shared.
#[test]
fn nothing_is_learned_before() {
    let folder = folder();
    write(folder.path(), "prog.c", COUNTERS);
    let whole = summary(&search(folder.path(), "dfs", &["--learn", "0"]), 0);
    assert_eq!(whole["search"]["learning"], 0);
    assert_eq!(whole["search"]["exhaustive"], true);
    let learned = summary(&search(folder.path(), "dfs", &[]), 0);
    assert_eq!(whole["search"]["executions"], learned["search"]["executions"]);
}

/// The lost update needs one preemption, and no schedule without one shows it.
#[test]
fn a_bug_at_its_level() {
    let folder = folder();
    write(folder.path(), "prog.c", COUNTERS);
    let check = ["--cflags", "-DCHECK", "--learn", "1"];
    let none = summary(&search(folder.path(), "ipb:0", &check), 0);
    assert_eq!([&none["search"]["complete"], &none["search"]["exhaustive"]], [true, false]);
    let found = summary(&search(folder.path(), "ipb:1", &check), 2);
    assert_eq!(found["findings"], 1);
    let output = explored(folder.path(), &["replay", "latest"]);
    assert_eq!(output.status.code(), Some(2), "{}", String::from_utf8_lossy(&output.stdout));
}

#[test]
fn a_budget_that_ends_says_what_is_left() {
    let folder = folder();
    write(folder.path(), "prog.c", COUNTERS);
    let args = ["run", "prog.c", "--strategy", "dfs", "--execs", "100", "--progress", "none"];
    let output = explored(folder.path(), &args);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(
        text.contains("search dfs: 92 executions, all schedules, depth first; about "),
        "{text}"
    );
    let command = text.lines().find_map(|it| it.strip_prefix("resume with: raddle "));
    let command = command.expect("a command to go on with");
    let args: Vec<&str> = command.split(' ').chain(["--message-format", "json"]).collect();
    let rest = summary(&explored(folder.path(), &args), 0);
    let whole = summary(&search(folder.path(), "dfs", &[]), 0);
    for key in ["executions", "exhaustive", "estimated_total", "learning"] {
        assert_eq!(rest["search"][key], whole["search"][key], "{key}");
    }
    let n_all = whole["executions"].as_u64().expect("a number");
    assert_eq!(rest["executions"].as_u64(), Some(n_all - 100));
}

/// What was running is made again, and no more: the numbers add up to those of one run.
#[test]
fn kill_and_go_on() {
    let folder = folder();
    write(folder.path(), "prog.c", COUNTERS);
    let three = ["--cflags", "-DN=3", "--time", "1h"];
    let whole = summary(&search(folder.path(), "ipb:2", &three), 0);
    let args = ["run", "prog.c", "--strategy", "ipb:2", "-k", "--progress", "none", "-j", "2"];
    let mut n_resumed = 0;
    // Where the search is by then depends on the machine.
    for patience_ms in [80, 250, 30, 500, 150, 5, 1_000, 2_000] {
        if n_resumed == 2 {
            break;
        }
        let n_runs = || kept(folder.path()).run_ids().expect("readable").len();
        let n_before = n_runs();
        let mut victim = raddle(folder.path(), &[&args[..], &three].concat());
        victim.stdout(Stdio::null()).stderr(Stdio::null());
        let mut victim = victim.spawn().expect("raddle starts");
        until(|| n_before < n_runs());
        thread::sleep(Duration::from_millis(patience_ms));
        victim.kill().expect("it can be killed");
        victim.wait().expect("it was killed");
        let output =
            explored(folder.path(), &["run", "--resume", "-k", "--message-format", "json"]);
        if output.status.code() == Some(1) {
            // It was killed before anything was written down.
            let text = String::from_utf8_lossy(&output.stderr);
            assert!(text.contains("no search to resume"), "{text}");
            continue;
        }
        let rest = summary(&output, 0);
        for key in ["executions", "redundant", "exhaustive", "level"] {
            assert_eq!(rest["search"][key], whole["search"][key], "{key}");
        }
        let is_in_the_middle = rest["executions"].as_u64() < whole["executions"].as_u64();
        n_resumed += u32::from(is_in_the_middle);
    }
    assert!(n_resumed > 0, "it was never killed in the middle of its search");
}

/// Runs a search until a signal comes, after a while; what it says of itself then.
fn interrupted(folder: &Path, args: &[&str], signal: &str, patience: Duration) -> (i32, Value) {
    let n_searches = || {
        let runs = kept(folder).run_ids().expect("readable");
        runs.iter().filter(|it| kept(folder).find_search(it).is_ok()).count()
    };
    let is_resumed = args.contains(&"--resume");
    let n_before = n_searches();
    let mut command = raddle(folder, &[args, &["-k", "--message-format", "json"]].concat());
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let child = child.expect("raddle starts");
    until(|| is_resumed || n_before < n_searches());
    thread::sleep(patience);
    let process = child.id().to_string();
    // It may have come to its end.
    let _ = Command::new("kill").args([signal, &process]).stderr(Stdio::null()).status();
    let output = child.wait_with_output().expect("it ends");
    let by_signal = output.status.signal().map(|it| 128 + it);
    let code = output.status.code().or(by_signal).expect("one or the other");
    (code, if output.stdout.is_empty() { Value::Null } else { summary(&output, code) })
}

/// A search that is interrupted, resumed, interrupted again and resumed again comes to the same as one that is not;
/// whenever the signals come.
#[test]
fn a_resumed_search_can_be_interrupted_and_resumed() {
    let folder = folder();
    write(folder.path(), "prog.c", COUNTERS);
    let four = ["--cflags", "-DN=4", "--time", "1h"];
    let whole = summary(&search(folder.path(), "ipb:2", &four), 0);
    let begin = [&["run", "prog.c", "--strategy", "ipb:2", "-j", "2"], &four[..]].concat();
    let resume = ["run", "--resume", "--time", "1h"];
    let n_of = |it: &Value| it["search"]["executions"].as_u64().unwrap_or(0);
    let n_here = |it: &Value| it["executions"].as_u64().unwrap_or(0);
    let (mut n_early, mut n_twice) = (0, 0);
    // Where the search is by then depends on the machine.
    for patience_ms in [300, 100, 600, 1_200, 30, 2_500] {
        let patience = Duration::from_millis(patience_ms);
        let (code, first) = interrupted(folder.path(), &begin, "-INT", patience);
        if n_of(&first) == 0 || first["interrupted"] != true {
            continue;
        }
        assert_eq!(code, 130, "{first}");
        // While it is read back, as a rule: nothing is lost by that.
        for early_ms in [20, 40, 60, 80] {
            let early = Duration::from_millis(early_ms);
            let (code, again) = interrupted(folder.path(), &resume, "-TERM", early);
            assert_eq!(code, 143, "{again}");
            n_early += u32::from(n_here(&again) == 0);
        }
        let (code, second) = interrupted(folder.path(), &resume, "-TERM", patience);
        // On a slow machine the signal comes before anything is ready for it.
        let is_interrupted = second.is_null() || second["interrupted"] == true;
        assert_eq!(code, if is_interrupted { 143 } else { 0 }, "{second}");
        let third = match is_interrupted {
            true => {
                let args = [&resume[..], &["-k", "--message-format", "json"]].concat();
                summary(&explored(folder.path(), &args), 0)
            }
            false => second.clone(),
        };
        for key in ["executions", "redundant", "exhaustive", "level", "finished"] {
            assert_eq!(third["search"][key], whole["search"][key], "{key}");
        }
        // Each goes on where the one before it has ended.
        assert!(n_of(&first) <= n_of(&second), "{first} {second}");
        if is_interrupted {
            assert_eq!(n_of(&second) + n_here(&third), n_of(&third));
            assert!(n_of(&first) < n_of(&second) || n_here(&second) == 0);
            n_twice += u32::from(n_here(&second) > 0);
        }
        if n_twice > 0 && n_early > 0 {
            return;
        }
    }
    panic!("interrupted in the middle {n_twice} times, early {n_early} times");
}

/// Before the search has begun nothing is to go on from, but it is known what was to be searched.
#[test]
fn kill_while_it_learns() {
    let folder = folder();
    write(folder.path(), "prog.c", COUNTERS);
    let args = ["run", "prog.c", "--strategy", "ipb:1", "-k", "--progress", "none"];
    let mut victim = raddle(folder.path(), &[&args[..], &["--learn", "1000000000"]].concat());
    victim.stdout(Stdio::null()).stderr(Stdio::null());
    let mut victim = victim.spawn().expect("raddle starts");
    let is_kept = || kept(folder.path()).find_search("latest").is_ok();
    for _ in 0..1000 {
        if is_kept() {
            break;
        }
        thread::sleep(Duration::from_millis(20));
    }
    victim.kill().expect("it can be killed");
    victim.wait().expect("it was killed");
    assert!(is_kept());
    let output = explored(folder.path(), &["run", "--resume", "-k", "--progress", "none"]);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(errors.contains("the search was interrupted before it started"), "{errors}");
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{text}{errors}");
    assert!(text.contains("search ipb:1: "), "{text}{errors}");
}

/// Two threads take two locks, each in its own order.
const BANK: &str = r#"
#include <pthread.h>
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static void *pay(void *arg) {
    pthread_mutex_lock(&a);
    pthread_mutex_lock(&b);
    pthread_mutex_unlock(&b);
    pthread_mutex_unlock(&a);
    return arg;
}
static void *refund(void *arg) {
    pthread_mutex_lock(&b);
    pthread_mutex_lock(&a);
    pthread_mutex_unlock(&a);
    pthread_mutex_unlock(&b);
    return arg;
}
int main(void) {
    pthread_t t[2];
    pthread_create(&t[0], 0, pay, 0);
    pthread_create(&t[1], 0, refund, 0);
    for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
    return 0;
}
"#;

/// Whether it was at its end or not, with and without `-k`, and again: exit code, words and findings are those of
/// the whole search.
#[test]
fn what_was_found_is_not_forgotten() {
    let strategies = ["dfs", "ipb:2", "idb:2", "dpor", "dpor:optimal", "total", "rank", "hapset"];
    for strategy in strategies {
        let folder = folder();
        write(folder.path(), "prog.c", BANK);
        // Total replay does not try the orders in which locks are taken.
        let detect = if strategy == "total" { "deadlock" } else { "none" };
        let first = ["run", "prog.c", "-k", "--strategy", strategy, "--detect", detect];
        let quiet = ["--progress", "none", "--no-explain"];
        let output = explored(folder.path(), &[&first[..], &quiet].concat());
        assert_eq!(output.status.code(), Some(2), "{strategy}");
        for more in [&["-k"][..], &[]] {
            let args = ["run", "--resume", "--progress", "none", "--no-explain"];
            let output = explored(folder.path(), &[&args[..], more].concat());
            let text = String::from_utf8_lossy(&output.stdout);
            let errors = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(2), "{strategy}: {text}{errors}");
            assert!(text.contains("error[dl-"), "{strategy}: {text}");
            assert!(text.contains("1 finding\n"), "{strategy}: {text}");
            assert!(!text.contains("fails"), "{strategy}: {text}");
            assert!(
                errors.contains("earlier parts of this search have 1 finding: dl-"),
                "{strategy}: {errors}"
            );
        }
        let json = ["run", "--resume", "--message-format", "json", "--no-explain"];
        let output = explored(folder.path(), &json);
        assert_eq!(summary(&output, 2)["findings"], 1, "{strategy}");
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(text.contains(r#""type":"finding""#), "{strategy}: {text}");
    }
}

/// The finding is known before the execution that showed it counts.
#[test]
fn a_killed_search_knows_what_it_found() {
    let folder = folder();
    // Long, so that it is killed on its way.
    let text = COUNTERS.replace("#ifdef CHECK", "#if 1").replace("#define N 2", "#define N 5");
    write(folder.path(), "prog.c", &text);
    let args = ["run", "prog.c", "--strategy", "dfs", "-k", "--progress", "none", "--no-explain"];
    let mut victim = raddle(folder.path(), &args);
    victim.stdout(Stdio::null()).stderr(Stdio::null());
    let mut victim = victim.spawn().expect("raddle starts");
    let is_found = || {
        let search = kept(folder.path()).find_search("latest");
        search.is_ok_and(|it| !it.saved.earlier.account.found.is_empty())
    };
    for _ in 0..1000 {
        if is_found() {
            break;
        }
        thread::sleep(Duration::from_millis(20));
    }
    victim.kill().expect("it can be killed");
    victim.wait().expect("it was killed");
    assert!(is_found(), "nothing was found");
    let args = ["run", "--resume", "--execs", "1", "--message-format", "json", "--no-explain"];
    let rest = summary(&explored(folder.path(), &args), 2);
    assert_eq!(rest["findings"], 1);
    assert_eq!(rest["search"]["finished"], false);
}

/// What is claimed is what was explored.
#[test]
fn claims_are_no_larger_than_what_was_explored() {
    let locked = r#"
#include <pthread.h>
#include <stdatomic.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static atomic_int x;
static int ready;
static struct timespec now;
static void *work(void *arg) {
    pthread_mutex_lock(&m);
    BODY
    pthread_mutex_unlock(&m);
    return arg;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, work, 0);
    pthread_mutex_lock(&m);
    ready = 1;
    pthread_cond_signal(&c);
    pthread_mutex_unlock(&m);
    pthread_join(t, 0);
    return 0;
}
"#;
    let cases: [(&str, &[&str], &[&str]); 11] = [
        ("ready = 2;", &[], &[]),
        ("atomic_fetch_add(&x, 1);", &[], &[]),
        (
            "atomic_fetch_add_explicit(&x, 1, memory_order_relaxed); \
             atomic_load_explicit(&x, memory_order_acquire);",
            &[],
            &["weak-atomics"],
        ),
        ("while (!ready) pthread_cond_wait(&c, &m);", &[], &["no-spurious-wakeups"]),
        ("if (!ready) pthread_cond_wait(&c, &m);", &["--spurious"], &[]),
        (
            "for (int i = 0; i < 300; i++) { ready++; __asm__ volatile(\"\" ::: \"memory\"); }",
            &["--max-steps", "1000"],
            &["accesses-left-out"],
        ),
        ("ready = 2;", &["--detect", "none"], &["no-race-detection"]),
        ("volatile int *p = (volatile int *)&x; *p = 1;", &[], &["volatile"]),
        ("sched_yield();", &[], &[]),
        (
            "for (int i = 0; i < 2; i++) { __asm__ volatile(\"\" : \"+r\"(i)); sched_yield(); }",
            &[],
            &["yields"],
        ),
        ("clock_gettime(CLOCK_MONOTONIC, &now);", &[], &["clock"]),
    ];
    for (body, options, expected) in cases {
        let folder = folder();
        write(folder.path(), "prog.c", &locked.replace("BODY", body));
        for strategy in ["dfs", "dpor"] {
            let args = ["run", "prog.c", "--strategy", strategy, "--detect", "race"];
            let args = match options.contains(&"--detect") {
                true => [&args[..4], options].concat(),
                false => [&args[..], options].concat(),
            };
            let json = [&args[..], &["--message-format", "json"]].concat();
            let whole = summary(&explored(folder.path(), &json), 0);
            let gaps = whole["search"]["not_covered"].as_array().cloned().unwrap_or_default();
            let kinds: Vec<&str> = gaps.iter().filter_map(|it| it["kind"].as_str()).collect();
            assert_eq!(kinds, expected, "{strategy}: {body}");
            let is_whole = !expected.contains(&"accesses-left-out");
            assert_eq!(whole["search"]["exhaustive"], is_whole, "{strategy}: {body}");
            assert_eq!(whole["stability"] == 100.0, is_whole, "{strategy}: {body}");
            let output = explored(folder.path(), &[&args[..], &["--progress", "none"]].concat());
            let text = String::from_utf8_lossy(&output.stdout);
            let is_proof = text.contains("no schedule of this input fails");
            assert_eq!(is_proof, expected.is_empty(), "{strategy}: {body}: {text}");
            assert_eq!(text.matches("not covered: ").count(), expected.len(), "{text}");
        }
    }
}

/// Total replay executes the deadlocks that it comes upon; that it has come upon all is not claimed.
#[test]
fn total_replay_and_deadlocks() {
    let folder = folder();
    write(folder.path(), "prog.c", BANK);
    let args = ["total", "prog.c", "--progress", "none"];
    let output = explored(folder.path(), &args);
    assert_eq!(output.status.code(), Some(2), "{}", String::from_utf8_lossy(&output.stdout));
    write(folder.path(), "prog.c", COUNTERS);
    let output = explored(folder.path(), &[&args[..], &["--cflags", "-DN=2"]].concat());
    let text = String::from_utf8_lossy(&output.stdout);
    let claim = "no schedule of this input fails";
    assert!(!text.contains(claim), "{text}");
}

/// A library that was built without hooks may do anything.
#[test]
fn code_without_hooks_limits_the_claim() {
    let folder = folder();
    write(folder.path(), "quiet.c", "int count; void quiet(void) { count++; }\n");
    let library = ["-shared", "-fPIC", "-o", "libquiet.so", "quiet.c"];
    let built = std::process::Command::new("cc").args(library).current_dir(folder.path()).status();
    assert!(built.expect("there is a compiler").success());
    let text = COUNTERS.replace("static volatile int x;", "void quiet(void); static int x;");
    let text = text.replace("int old = x; x = old + 1;", "quiet();");
    write(folder.path(), "prog.c", &text);
    let flags = format!("-L{0} -Wl,-rpath,{0} -lquiet", folder.path().display());
    let args = ["run", "prog.c", "libquiet.so", "--strategy", "dfs", "--detect", "race"];
    let output = explored(
        folder.path(),
        &[&args[..], &["--cflags", &flags, "--message-format", "json"]].concat(),
    );
    let whole = summary(&output, 0);
    let gap = &whole["search"]["not_covered"][0];
    assert_eq!(gap["kind"], "uninstrumented-code", "{whole}");
    assert_eq!(gap["modules"][0], "libquiet.so", "{whole}");
}

/// So may an object file, a function in assembly, and a function that asked for no hooks; but not one that leaves memory
/// alone.
#[test]
fn objects_without_hooks_limit_the_claim() {
    let text = "int count; static void add(void) { count++; } void quiet(void) { add(); }\n";
    let assembly = "\
.globl quiet
quiet:
    incl count(%rip)
    ret
.comm count,4
.section .note.GNU-stack,\"\",@progbits
";
    let unlooked = "\
int count;
__attribute__((no_sanitize(\"thread\"), noinline)) void quiet(void) { count++; }
";
    let cases: [(&str, &str, &[&str], &[&str]); 6] = [
        ("quiet.c", text, &["-O0", "-c"], &["quiet.c"]),
        ("quiet.c", text, &["-O2", "-c"], &["`quiet`"]),
        ("quiet.c", text, &["-g", "-O2", "-c"], &["quiet.c"]),
        ("quiet.s", assembly, &["-c"], &["`quiet`"]),
        ("quiet.c", "void quiet(void) {}\n", &["-c"], &[]),
        ("quiet.c", unlooked, &[], &["`quiet` (quiet.c)"]),
    ];
    for (file, text, flags, expected) in cases {
        let folder = folder();
        write(folder.path(), file, text);
        let input = if flags.is_empty() { file } else { "quiet.o" };
        if !flags.is_empty() {
            let mut compiler = std::process::Command::new("cc");
            compiler.args(flags).args(["-o", input, file]).current_dir(folder.path());
            assert!(compiler.status().expect("there is a compiler").success());
        }
        let main = COUNTERS.replace("static volatile int x;", "void quiet(void); static int x;");
        write(folder.path(), "prog.c", &main.replace("int old = x; x = old + 1;", "quiet();"));
        let args = ["run", "prog.c", input, "--strategy", "dfs", "--detect", "race"];
        let output = explored(folder.path(), &[&args[..], &["--message-format", "json"]].concat());
        let whole = summary(&output, 0);
        let gaps = whole["search"]["not_covered"].as_array().cloned().unwrap_or_default();
        let names = gaps.iter().filter_map(|it| it["modules"].as_array()).flatten();
        let names: Vec<&str> = names.filter_map(|it| it.as_str()).collect();
        assert_eq!(names, expected, "{file} {flags:?}: {whole}");
    }
}

/// What nobody wants to hear of has failed all the same.
#[test]
fn a_suppressed_failure_is_no_proof() {
    let folder = folder();
    write(folder.path(), "prog.c", BANK);
    let rule = "[[suppress]]\nkind = \"deadlock\"\nfile = \"prog.c\"\nreason = \"known\"\n";
    write(folder.path(), "raddle.toml", rule);
    let args = ["run", "prog.c", "--strategy", "dfs", "--detect", "race", "--progress", "none"];
    let output = explored(folder.path(), &args);
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{text}{}", String::from_utf8_lossy(&output.stderr));
    assert!(!text.contains("fails"), "{text}");
    assert!(text.contains("with a suppressed failure"), "{text}");
    let output = explored(folder.path(), &["run", "--resume", "--progress", "none"]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(!text.contains("fails"), "{text}");
    assert!(text.contains("with a suppressed failure"), "{text}");
}

/// Nothing was tested: that is not a clean exit, whoever asks.
#[test]
fn no_execution_at_all() {
    let folder = folder();
    let text = COUNTERS.replace(
        "pthread_t t[N];",
        "pthread_t t[N]; for (volatile long i = 0; i < 100000000000; i++);",
    );
    write(folder.path(), "prog.c", &text);
    for (strategy, format) in [("walk", "human"), ("dfs", "json")] {
        let args = ["run", "prog.c", "--time", "1s", "--strategy", strategy];
        let output = explored(folder.path(), &[&args[..], &["--message-format", format]].concat());
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(3), "{strategy}: {errors}");
        assert!(errors.contains("error: no execution finished within 1"), "{errors}");
    }
}

#[test]
fn another_build_is_refused() {
    let folder = folder();
    write(folder.path(), "prog.c", COUNTERS);
    summary(&search(folder.path(), "dfs", &["--execs", "50"]), 0);
    write(folder.path(), "prog.c", &COUNTERS.replace("old + 1", "old + 2"));
    let output = explored(folder.path(), &["run", "--resume"]);
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("the program was rebuilt since this search started"), "{text}");
}

/// What decides which executions a search makes can't be changed under way, and that is said.
#[test]
fn a_resumed_search_stays_what_it_was() {
    let folder = folder();
    write(folder.path(), "prog.c", COUNTERS);
    summary(&search(folder.path(), "dfs", &["--execs", "50"]), 0);
    let cases: [(&[&str], &str); 4] = [
        (&["--memory-model", "c11"], "with --memory-model sc; remove --memory-model,"),
        (&["--strategy", "dpor"], "with --strategy dfs; remove --strategy,"),
        (&["--detect", "deadlock"], "with --detect none; remove --detect,"),
        (&["--spurious"], "without it; remove --spurious,"),
    ];
    for (args, line) in cases {
        let output = explored(folder.path(), &[&["run", "--resume"], args].concat());
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{args:?}: {errors}");
        let line =
            format!("error: --resume continues this search {line} or start again without --resume");
        assert_eq!(errors.trim_end(), line, "{args:?}");
    }
    // What says the same is no change; and a profile says what new runs are to do.
    write(folder.path(), "raddle.toml", "[profile.default]\nmemory-model = \"c11\"\n");
    let same = ["run", "--resume", "--strategy", "dfs", "--memory-model", "sc"];
    let rest = ["--execs", "1", "--progress", "none"];
    let output = explored(folder.path(), &[&same[..], &rest].concat());
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
}

/// What it does depends on the processor's clock, which nobody makes virtual.
#[test]
fn a_program_that_is_not_deterministic() {
    let folder = folder();
    let text = COUNTERS
        .replace("int old = x;", "if (__builtin_ia32_rdtsc() >> 4 & 1) x = x; int old = x;")
        .replace("#define N 2", "#define N 3");
    write(folder.path(), "prog.c", &text);
    let args = ["run", "prog.c", "--strategy", "dfs", "--execs", "300", "--progress", "none"];
    let output = explored(folder.path(), &args);
    let (text, errors) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(0), "{text}{errors}");
    let start = "warning: the program is not deterministic: at step ";
    let line = errors.lines().find(|it| it.starts_with(start)).unwrap_or_default();
    assert!(line.contains(" at first; with the same choices, "), "{errors}");
    let (before, now) = line.split_once(" at first; with the same choices, ").unwrap_or_default();
    assert!(!before.ends_with(now), "both are told the same: {errors}");
    assert!(errors.contains("the schedules beyond are not explored"), "{errors}");
    assert!(errors.contains("warning: stability "), "{errors}");
    let strict = explored(folder.path(), &[&args[..], &["--strict"]].concat());
    assert_eq!(strict.status.code(), Some(3));
}

#[test]
fn bad_requests() {
    let folder = folder();
    write(folder.path(), "prog.c", COUNTERS);
    let cases: [(&[&str], &str); 5] = [
        (&["--resume"], "no search to resume in .raddle"),
        (&["--resume=zzz"], "no search to resume with a run id that starts with `zzz`"),
        (&["prog.c", "--resume"], "cannot be used with"),
        (&["prog.c", "--strategy", "ipb:many"], "invalid parameter `many` for `ipb`"),
        (&["prog.c", "--checkpoints", "much"], "expected a size, e.g. `256M` or `1G`, or `off`"),
    ];
    for (args, line) in cases {
        let output = explored(folder.path(), &[&["run"], args].concat());
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{args:?}: {errors}");
        assert!(errors.contains(line), "{args:?}: {errors}");
    }
}
