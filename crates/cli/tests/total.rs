//! Total replay of real programs: the experiments of the dissertation, with no more executions than it needs.

mod common;

use std::path::Path;

use common::{compilers, folder, raddle, write};

/// What `raddle total` says of an experiment in C, in text.
fn total(program: &str, more: &[&str]) -> String {
    of_source(&format!("{program}.c"), &[&["--cflags", "-O0"], more].concat())
}

fn of_source(source: &str, more: &[&str]) -> String {
    let folder = folder();
    let programs = concat!(env!("CARGO_MANIFEST_DIR"), "/../../experiments/total-replay/programs");
    let path = format!("{programs}/{source}");
    said(folder.path(), &[&["total", &path, "--execs", "200"], more].concat())
}

fn said(folder: &Path, args: &[&str]) -> String {
    let output = raddle(folder, args).output().expect("raddle starts");
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    String::from_utf8_lossy(&output.stdout).into_owned() + &errors
}

/// The test cases of the closing line.
#[track_caller]
fn test_cases(text: &str) -> u64 {
    let (before, _) = text.split_once(" test case").unwrap_or_else(|| panic!("{text}"));
    let number = before.rsplit(' ').next().unwrap_or_default().replace(',', "");
    number.parse().unwrap_or_else(|_| panic!("{number}: {text}"))
}

#[track_caller]
fn check(program: &str, n_most: u64, variable: &str) {
    for compiler in compilers() {
        let text = total(program, &["--compiler", compiler]);
        assert!(text.contains(&format!("race on `{variable}`")), "{compiler}: {text}");
        let n_executions = test_cases(&text);
        assert!(n_executions <= n_most, "{compiler}: {text}");
        assert!(!text.contains(" remain"), "{compiler}: it has not ended: {text}");
    }
}

/// The same in Rust: locks are std's, and most of what runs is std.
#[test]
fn in_rust() {
    for (program, n_most, variable) in [
        ("pool", 2, "FACTORY"),
        ("telnet", 1, "LAST_KEY"),
        ("monitor", 4, "N_FOUND"),
        ("crawler", 2, "N_BYTES"),
        ("service", 58, "N_CLOSED"),
    ] {
        let text = of_source(&format!("{program}.rs"), &[]);
        assert!(text.contains(&format!("race on `{program}::{variable}`")), "{text}");
        assert!(test_cases(&text) <= n_most, "{program}: {text}");
        assert!(!text.contains(" remain"), "it has not ended: {text}");
    }
}

#[test]
fn pool() {
    check("pool", 2, "factory");
}

#[test]
fn telnet() {
    check("telnet", 1, "last_key");
}

#[test]
fn monitor() {
    check("monitor", 4, "n_found");
}

#[test]
fn crawler() {
    check("crawler", 2, "n_bytes");
}

#[test]
fn service() {
    check("service", 58, "n_closed");
}

/// `raddle total` is `raddle run --strategy total`, and the number of workers changes nothing.
#[test]
fn the_same_by_either_name() {
    let short = total("pool", &["-j", "1"]);
    let folder = folder();
    let programs = concat!(env!("CARGO_MANIFEST_DIR"), "/../../experiments/total-replay/programs");
    let path = format!("{programs}/pool.c");
    let args =
        ["run", "--strategy", "total", &path, "--cflags", "-O0", "--execs", "200", "-j", "3"];
    let long = said(folder.path(), &args);
    let line = |text: &str| {
        let line = text.lines().find(|it| it.starts_with("search total"));
        line.unwrap_or_else(|| panic!("{text}")).to_owned()
    };
    assert_eq!(line(&short), line(&long));
}

/// What branches depend on, drawn: the only one that another thread decides.
#[test]
fn dependence_is_drawn() {
    let folder = folder();
    let programs = concat!(env!("CARGO_MANIFEST_DIR"), "/../../experiments/total-replay/programs");
    let path = format!("{programs}/pool.c");
    said(folder.path(), &["total", &path, "--cflags", "-O0", "--dot", "pool.dot"]);
    let dot = std::fs::read_to_string(folder.path().join("pool.dot")).expect("it was drawn");
    assert_eq!(dot.matches("digraph").count(), 1, "{dot}");
    assert_eq!(dot.matches("shape=").count(), 4, "as in the dissertation's Table 18: {dot}");
    assert!(
        dot.contains("as in the first execution") && dot.contains("writes at pool.c:"),
        "{dot}"
    );
    let refused = said(folder.path(), &["run", &path, "--dot", "pool.dot"]);
    assert!(refused.contains("requires `--strategy total`"), "{refused}");
}

/// A budget that ends it early: what was done so far, and how to go on.
#[test]
fn a_budget_ends_it() {
    let text = total("service", &["--execs", "5"]);
    assert_eq!(test_cases(&text), 4, "{text}");
    assert!(text.contains("not tried yet"), "{text}");
    assert!(text.contains("resume with: raddle run --resume"), "{text}");
}

/// What is read comes back through a pointer to memory that the compiler knows to be the thread's own, and whose read
/// it announces to nobody: the branch depends on it all the same.
#[test]
fn what_comes_back_through_a_pointer() {
    let folder = folder();
    let source = "#include <pthread.h>\nstatic pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;\nint a, y;\n\
        #define LOCKED(what) pthread_mutex_lock(&m); what; pthread_mutex_unlock(&m)\n\
        __attribute__((noinline)) static void get(int *out) { *out = a; }\n\
        static void *set(void *arg) { LOCKED(a = 1); return arg; }\n\
        static void *use(void *arg) { int x; LOCKED(get(&x)); if (x) y = 1; return arg; }\n\
        static void *other(void *arg) { LOCKED(y = 2); return arg; }\n\
        int main(void) {\n  pthread_t t[3];\n  pthread_create(&t[0], 0, use, 0);\n\
        \x20 pthread_create(&t[1], 0, set, 0);\n  pthread_create(&t[2], 0, other, 0);\n\
        \x20 for (int i = 0; i < 3; i++) pthread_join(t[i], 0);\n  return 0;\n}\n";
    write(folder.path(), "prog.c", source);
    for compiler in compilers() {
        for level in ["-O0", "-O2"] {
            let args = ["total", "prog.c", "--cflags", level, "--compiler", compiler];
            let text = said(folder.path(), &args);
            assert!(text.contains("race on `y`"), "{compiler} {level}: {text}");
        }
    }
}

/// Figures 56 and 57: which lock is taken, which object is meant, and which way a branch goes are decided by others.
#[test]
fn lock_and_reference_variables() {
    for (program, variable, n_most) in [
        ("lock_variable", "balance", 2),
        ("reference", "accounts[0].credit", 2),
        ("branch_and_reference", "accounts[0].credit", 6),
    ] {
        for (compiler, level) in compilers().zip(["-O0", "-O2"]) {
            let args = ["--cflags", level, "--compiler", compiler];
            let text = of_source(&format!("../figures/{program}.c"), &args);
            assert!(text.contains(&format!("race on `{variable}`")), "{compiler} {level}: {text}");
            assert!(test_cases(&text) <= n_most, "{program}: {text}");
        }
    }
}

/// Code without hooks is not followed, and nothing is concluded from it.
#[test]
fn code_without_hooks_counts_as_deciding_by_everything() {
    let folder = folder();
    let source = "#include <pthread.h>\n#include <stdlib.h>\nint x, y;\n\
        static void *set(void *arg) { x = 1; return arg; }\n\
        int main(void) {\n  pthread_t t;\n  pthread_create(&t, 0, set, 0);\n\
        \x20 if (labs(x) + llabs(x) > 1) y = 1;\n  pthread_join(t, 0);\n  return 0;\n}\n";
    write(folder.path(), "prog.c", source);
    let text = said(folder.path(), &["total", "prog.c", "--cflags", "-O0 -fno-builtin"]);
    assert!(text.contains("(1 with unknown dependencies, 100%)"), "{text}");
    // Both reads before the write, one before, none.
    assert_eq!(test_cases(&text), 3, "{text}");
}

/// Each execution takes another lock than the one before, by a file that it leaves behind.
const TOGGLES: &str = r#"#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;
int x, y, z;
static void *set(void *arg) {
    pthread_mutex_lock(&lock);
    x = 1;
    pthread_mutex_unlock(&lock);
    return arg;
}
static void *look(void *arg) {
    pthread_mutex_lock(&lock);
    if (x)
        y = 1;
    else
        z = 2;
    pthread_mutex_unlock(&lock);
    return arg;
}
int main(void) {
    pthread_t threads[2];
    int file = open("count", O_RDWR | O_CREAT | O_APPEND, 0600);
    if (write(file, "x", 1) != 1)
        return 1;
    int is_odd = (lseek(file, 0, SEEK_END) + 1) / 2 & 1;
    close(file);
    pthread_create(&threads[0], 0, set, 0);
    pthread_create(&threads[1], 0, look, 0);
    pthread_mutex_t *which = is_odd ? &lock : &other;
    pthread_mutex_lock(which);
    pthread_mutex_unlock(which);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    return 0;
}
"#;

/// A program that depends on more than its schedule is named, and nothing is concluded from what it did otherwise.
#[test]
fn what_is_not_deterministic_is_named() {
    let folder = folder();
    write(folder.path(), "toggles.c", TOGGLES);
    let text = said(folder.path(), &["total", "toggles.c", "-j", "1"]);
    assert!(text.contains("the program is not deterministic: at step "), "{text}");
    assert!(text.contains(" to check determinism"), "{text}");
    assert!(text.contains("diverged from the planned schedule"), "{text}");
}

/// A thread that nobody waits for has not begun when the program exits; in another execution it has.
#[test]
fn what_an_exit_cuts_off_goes_on_in_another_execution() {
    let folder = folder();
    let program = "#include <pthread.h>\nint x;\n\
                   static void *set(void *arg) { x = 1; return arg; }\n\
                   int main(void) {\n    pthread_t thread;\n    pthread_create(&thread, 0, set, 0);\n\
                   \x20   x = 2;\n    return 0;\n}\n";
    write(folder.path(), "left.c", program);
    let text = said(folder.path(), &["total", "left.c"]);
    assert!(text.contains("race on `x`"), "{text}");
}

/// Folders of programs with a bug, whose synchronisation decides it.
const FOLDERS: [&str; 8] =
    ["barrier", "condvar", "cpp", "futex", "mutex", "once", "rwlock", "semaphore"];

/// Programs that fail in an order that takes no other branch: of those it claims nothing.
const NO_OTHER_BRANCH: [&str; 2] = ["mutex/destroy_held.c", "semaphore/post_destroyed.c"];

/// What fails is found, or nothing is claimed.
#[test]
fn what_fails_is_found_or_nothing_is_claimed() {
    let programs = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../programs/fail"));
    let mut wrong = Vec::new();
    for name in FOLDERS {
        let files = std::fs::read_dir(programs.join(name)).expect("there is such a folder");
        let mut files: Vec<_> = files.map(|it| it.expect("it can be listed").path()).collect();
        files.sort();
        for path in files {
            let path = path.to_str().expect("a plain name").to_owned();
            let text = said(
                folder().path(),
                &["total", &path, "--execs", "300", "--time", "20s", "--no-explain"],
            );
            let is_found = text.contains("error[");
            let claims = text.contains("no other interleaving") || text.contains("no schedule");
            let is_known = NO_OTHER_BRANCH.iter().any(|it| path.ends_with(it));
            if !is_found && claims != is_known {
                wrong.push(format!("{path}:\n{text}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Where wake-ups, answers and waits decide, it finds what `dpor` finds.
#[test]
fn wake_ups_and_answers_decide() {
    for name in [
        "condvar/if_for_while.c",
        "condvar/if_for_while_broadcast.c",
        "cpp/if_for_while.cpp",
        "barrier/serial_thread.c",
        "mutex/trylock_skips.c",
        "rwlock/trywrlock_skips.c",
        "semaphore/posted_too_early.c",
        "semaphore/trywait_taken_for_empty.c",
    ] {
        for compiler in ["gcc", "clang"] {
            let source = format!("../../../programs/fail/{name}");
            let text = of_source(&source, &["--compiler", compiler]);
            assert!(text.contains("error[assert-"), "{compiler}: {text}");
        }
    }
}

/// What a search with this name finds in a file, as far as it goes.
fn found(folder: &Path, file: &str, strategy: &str) -> String {
    let more = ["--execs", "60", "--detect", "none", "--no-explain", "--keep-going"];
    said(folder, &[&["run", file, "--strategy", strategy], &more[..]].concat())
}

/// The assertion behind a wait at Rust's `Condvar`, which is a futex, by every method of the dissertation.
#[test]
fn a_condvar_of_rust_decides() {
    let source = "use std::sync::{Condvar, Mutex};\nstatic ITEMS: Mutex<u32> = Mutex::new(0);\n\
        static FILLED: Condvar = Condvar::new();\nfn consume() {\n    let mut items = ITEMS.lock().unwrap();\n\
        \x20   if *items == 0 {\n        items = FILLED.wait(items).unwrap();\n    }\n    assert!(*items > 0);\n\
        \x20   *items -= 1;\n}\nfn produce() {\n    for _ in 0..2 {\n        *ITEMS.lock().unwrap() += 1;\n\
        \x20       FILLED.notify_one();\n    }\n}\nfn main() {\n    let all = [consume, consume, produce];\n\
        \x20   for it in all.map(std::thread::spawn) {\n        it.join().unwrap();\n    }\n}\n";
    let folder = folder();
    write(folder.path(), "consumers.rs", source);
    for strategy in
        ["total", "total:reachability", "total:tpair", "total:groups", "total:guidelines"]
    {
        let text = found(folder.path(), "consumers.rs", strategy);
        assert!(text.contains("error[panic-"), "{strategy}: {text}");
    }
}

/// What a scope runs is part of std's code, and what its later threads are given is written as a whole while others run.
#[test]
fn a_scope_of_rust_decides() {
    let head = "use std::sync::atomic::{AtomicU32, Ordering::SeqCst};\n\
        static A: AtomicU32 = AtomicU32::new(0);\nfn one() {\n    A.swap(1, SeqCst);\n}\n";
    let first = "fn main() {\n    std::thread::scope(|scope| {\n        scope.spawn(one);\n\
        \x20       assert!(A.load(SeqCst) != 1);\n    });\n}\n";
    let second = "fn one_again() {\n    assert!(A.swap(1, SeqCst) != 2);\n}\n\
        fn two() {\n    A.swap(2, SeqCst);\n}\nfn main() {\n    std::thread::scope(|scope| {\n\
        \x20       scope.spawn(one_again);\n        scope.spawn(two);\n    });\n}\n";
    let folder = folder();
    for (name, rest) in [("first.rs", first), ("second.rs", second)] {
        write(folder.path(), name, &format!("{head}{rest}"));
        let text = found(folder.path(), name, "total");
        assert!(text.contains("error[panic-"), "{name}: {text}");
    }
}

/// A thief takes what a signal was for: before the wait, and the signal is lost; after it, and what is asserted behind it is
/// wrong.
#[test]
fn a_wake_up_that_comes_too_early_and_one_that_comes_too_late() {
    let source = "#include <assert.h>\n#include <pthread.h>\nstatic pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;\n\
        static pthread_cond_t c = PTHREAD_COND_INITIALIZER;\nstatic int n;\n\
        static void *produce(void *arg) {\n    pthread_mutex_lock(&m);\n    n++;\n    pthread_cond_signal(&c);\n\
        \x20   pthread_mutex_unlock(&m);\n    return arg;\n}\nstatic void *consume(void *arg) {\n\
        \x20   pthread_mutex_lock(&m);\n    if (n == 0)\n        pthread_cond_wait(&c, &m);\n    assert(n > 0);\n    n--;\n\
        \x20   pthread_mutex_unlock(&m);\n    return arg;\n}\nstatic void *steal(void *arg) {\n    pthread_mutex_lock(&m);\n\
        \x20   if (n > 0)\n        n--;\n    pthread_mutex_unlock(&m);\n    return arg;\n}\nint main(void) {\n\
        \x20   void *(*all[])(void *) = {produce, consume, steal};\n    pthread_t t[3];\n    for (int i = 0; i < 3; i++)\n\
        \x20       pthread_create(&t[i], 0, all[i], 0);\n    for (int i = 0; i < 3; i++)\n        pthread_join(t[i], 0);\n\
        \x20   return 0;\n}\n";
    let in_rust = "use std::sync::{Condvar, Mutex};\nstatic N: Mutex<i32> = Mutex::new(0);\n\
        static C: Condvar = Condvar::new();\nfn produce() {\n    *N.lock().unwrap() += 1;\n    C.notify_all();\n}\n\
        fn consume() {\n    let mut n = N.lock().unwrap();\n    if *n == 0 {\n        n = C.wait(n).unwrap();\n    }\n\
        \x20   assert!(*n > 0);\n    *n -= 1;\n}\nfn steal() {\n    let mut n = N.lock().unwrap();\n    if *n > 0 {\n\
        \x20       *n -= 1;\n    }\n}\nfn main() {\n    let all: [fn(); 3] = [produce, consume, steal];\n\
        \x20   for it in all.map(std::thread::spawn) {\n        it.join().unwrap();\n    }\n}\n";
    let folder = folder();
    write(folder.path(), "thief.c", source);
    write(folder.path(), "thief.rs", in_rust);
    for file in ["thief.c", "thief.rs"] {
        for strategy in ["total", "total:reachability"] {
            let text = found(folder.path(), file, strategy);
            assert!(text.contains("error[dl-"), "{file}, {strategy}: {text}");
            let is_wrong = text.contains("error[assert-") || text.contains("error[panic-");
            assert!(is_wrong, "{file}, {strategy}: {text}");
        }
    }
}

/// A race that only access-manners tell: values were passed on between the two accesses in the only execution that is
/// made. The published searches report it as potential, and its schedule shows it again.
#[test]
fn the_published_searches_judge_by_manners() {
    let programs = concat!(env!("CARGO_MANIFEST_DIR"), "/../../experiments/total-replay/programs");
    let path = format!("{programs}/telnet.c");
    for strategy in ["total:groups", "total:guidelines"] {
        let folder = folder();
        let args = ["run", &path, "--cflags", "-O0", "-k", "--strategy", strategy];
        let text = said(folder.path(), &args);
        assert!(text.contains("possible data race on `last_key`"), "{strategy}: {text}");
        assert!(
            !text.contains("replays fail") && !text.contains("stability"),
            "{strategy}: {text}"
        );
        let again = said(folder.path(), &["replay", "latest"]);
        assert!(again.contains(": reproduced"), "{strategy}: {again}");
        let json = said(folder.path(), &[&args[..], &["--message-format", "json"]].concat());
        assert!(json.contains("\"races_by_manners\":1"), "{strategy}: {json}");
        assert!(json.contains("\"complete\":true,\"exhaustive\":false"), "{strategy}: {json}");
    }
}

const HANDED_OVER: &str = r"
use std::{sync::{Condvar, Mutex}, thread};

static READY: Mutex<(bool, u32)> = Mutex::new((false, 0));
static CHANGED: Condvar = Condvar::new();

fn main() {
    let waits = thread::spawn(|| {
        let mut it = READY.lock().unwrap();
        while !it.0 {
            it = CHANGED.wait(it).unwrap();
        }
        it.1 += 1;
    });
    let adds = thread::spawn(|| READY.lock().unwrap().1 += 1);
    READY.lock().unwrap().0 = true;
    CHANGED.notify_all();
    waits.join().unwrap();
    adds.join().unwrap();
    assert_eq!(READY.lock().unwrap().1, 2);
}
";

/// What a mutex of std protects is protected during a wait, too, which gives the mutex back without a step.
#[test]
fn a_condvar_of_rust_gives_its_mutex_back() {
    let folder = folder();
    write(folder.path(), "handed.rs", HANDED_OVER);
    let args = ["run", "handed.rs", "--detect", "race,lockset", "--execs", "200"];
    let text = said(folder.path(), &args);
    assert!(text.contains("no finding"), "{text}");
}
