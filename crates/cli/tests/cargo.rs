//! `cargo raddle` on small crates: what a user sees. They need no registry.

use std::{
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    time::Duration,
};

use serde_json::Value;

/// A crate under `programs/rust`, in a copy of its own: its target folder is not the repository's.
fn copy(name: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs/rust").join(name);
    let to = folder.path().join(name);
    copy_folder(&from, &to);
    (folder, to)
}

fn copy_folder(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().flatten() {
        let path = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            if entry.file_name() != "target" {
                copy_folder(&entry.path(), &path);
            }
        } else {
            std::fs::copy(entry.path(), path).unwrap();
        }
    }
}

fn raddle(folder: &Path, line: &str) -> (String, String, i32) {
    let Output { status, stdout, stderr } = command(folder, line).output().unwrap();
    (text(stdout), text(stderr), status.code().unwrap_or(-1))
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8_lossy(&bytes).into_owned()
}

fn command(folder: &Path, line: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-raddle"));
    command.arg("raddle").args(line.split_whitespace()).current_dir(folder);
    // What the cargo that runs us says about itself is not about the crate.
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("CARGO_") && !text.starts_with("CARGO_HOME") || text == "RUSTFLAGS" {
            command.env_remove(&name);
        }
    }
    command
}

/// The figures of a line differ from machine to machine.
fn without_time(line: &str) -> String {
    match (line.find('['), line.find(']')) {
        (Some(start), Some(end)) => format!("{}{}", &line[..start], &line[end + 2..]),
        _ => line.to_owned(),
    }
}

fn lines_of<'a>(out: &'a str, word: &str) -> Vec<&'a str> {
    out.lines().filter(|it| it.trim_start().starts_with(word)).collect()
}

#[test]
fn each_test_of_a_crate_is_explored() {
    let (folder, crate_dir) = copy("std");
    let junit = folder.path().join("junit.xml");
    let line =
        format!("test --offline --lib --test own_harness --execs 300 --junit {}", junit.display());
    let (out, err, code) = raddle(&crate_dir, &line);
    let all = format!("{out}\n{err}");
    assert_eq!(code, 2, "{all}");
    let summary = out.find("Summary").unwrap_or(out.len());
    let told = &out[..summary];
    let passed: Vec<String> = lines_of(told, "PASS [").into_iter().map(without_time).collect();
    let failed: Vec<String> = lines_of(told, "FAIL [").into_iter().map(without_time).collect();
    for name in ["counts_alone", "gives_a_result"] {
        let line = format!("        PASS std-tests tests::{name}  one thread");
        assert!(passed.contains(&line), "{line}\n{all}");
    }
    for name in ["tests::locked_counter", "tests::panics"] {
        let line = format!("        PASS std-tests {name}  300 executions");
        assert!(passed.iter().any(|it| it.starts_with(&line)), "{line}\n{all}");
    }
    assert!(passed.iter().any(|it| it.contains("PASS std-tests::own_harness  300")), "{all}");
    assert_eq!(failed.len(), 2, "{all}");
    assert!(failed[0].contains("tests::counts_together  panic-"), "{all}");
    assert!(failed[1].contains("tests::locks_in_any_order  dl-"), "{all}");
    assert!(out.contains("panicked: assertion") && out.contains("an update was lost"), "{all}");
    assert!(out.contains("wait for each other"), "{all}");
    assert!(out.contains("waits forever for `Bank.right`"), "{all}");
    assert!(out.contains("39 |"), "{all}");
    assert!(out.contains("7 tests explored in"), "{all}");
    assert!(out.contains("5 passed (2 with one thread), 2 failed, 1 skipped"), "{all}");
    let junit = std::fs::read_to_string(junit).unwrap();
    assert!(junit.contains("tests=\"7\" failures=\"2\" errors=\"0\""), "{junit}");

    // What was kept is run first.
    let keep = Command::new(env!("CARGO_BIN_EXE_raddle"))
        .args(["review", "dl", "--keep"])
        .current_dir(&crate_dir)
        .output();
    assert!(keep.unwrap().status.success(), "{all}");
    let (out, err, code) = raddle(&crate_dir, "test --offline --lib in_any_order");
    assert_eq!(code, 2, "{out}\n{err}");
    let verdict = err.lines().find(|it| it.starts_with("regression dl-")).unwrap_or_default();
    assert!(verdict.ends_with(": reproduces"), "{out}\n{err}");
    assert!(out.contains("tests::locks_in_any_order  dl-"), "{out}\n{err}");
    assert_eq!(out.matches("error[dl-").count(), 1, "{out}\n{err}");

    let (out, err, code) =
        raddle(&crate_dir, "test --offline --lib --execs 50 is_ignored -- --ignored");
    assert_eq!(code, 4, "{out}\n{err}");
    assert!(out.contains("fails with one thread; the schedule is not the cause"), "{out}\n{err}");
    let (out, err, code) = raddle(&crate_dir, "test --offline --lib no_such_test");
    assert_eq!(code, 4, "{out}\n{err}");
    assert!(err.contains("error: no test matches `no_such_test`"), "{err}");
}

#[test]
fn std_is_right_about_its_own_locks() {
    let (_folder, crate_dir) = copy("std");
    let line = "test --offline --test sync --execs 100 --detect race --strict";
    let (out, err, code) = raddle(&crate_dir, line);
    assert_eq!(code, 0, "{out}\n{err}");
    assert!(out.contains("4 passed, 0 failed"), "{out}\n{err}");
}

#[test]
fn what_std_orders_without_hooks_is_no_race() {
    let (_folder, crate_dir) = copy("std");
    let line = "test --offline --test handover --execs 60 --detect race --strict";
    let (out, err, code) = raddle(&crate_dir, line);
    assert_eq!(code, 0, "{out}\n{err}");
    assert!(out.contains("14 passed, 0 failed"), "{out}\n{err}");
}

#[test]
fn whoever_waits_in_a_loop_gives_way() {
    let (_folder, crate_dir) = copy("std");
    let (out, err, code) = raddle(&crate_dir, "test --offline --test waiting --execs 60 --strict");
    assert_eq!(code, 0, "{out}\n{err}");
    assert!(out.contains("7 passed, 0 failed"), "{out}\n{err}");
}

#[test]
fn waits_with_a_limit_end_either_way() {
    let (_folder, crate_dir) = copy("std");
    let line = "test --offline --test timed --execs 300 --no-explain";
    let (out, err, code) = raddle(&crate_dir, line);
    assert_eq!(code, 2, "{out}\n{err}");
    assert!(out.contains("2 passed, 2 failed"), "{out}\n{err}");
    for name in ["late_is_taken_for_never", "a_timeout_is_not_looked_at"] {
        assert!(lines_of(&out, "FAIL").iter().any(|it| it.contains(name)), "{out}\n{err}");
    }
}

/// A test that has shown a failure in its first execution, and one that never comes to an end.
const FAILS_AT_ONCE: &str = "#[test]
fn a_fails() {
    std::thread::spawn(|| ()).join().unwrap();
    let thread = std::thread::spawn(|| panic!(\"at once\"));
    thread.join().unwrap();
}
#[test]
fn b_never_ends() {
    std::fs::write(\"begun\", \"\").unwrap();
    std::thread::spawn(|| loop { std::hint::black_box(()); }).join().unwrap();
}
";

/// Stopped before any test had a second turn, what was found is kept all the same.
#[test]
fn a_finding_of_the_first_round_is_stored() {
    let folder = crate_of("", "tests/one.rs", FAILS_AT_ONCE);
    let mut command = command(folder.path(), "test --offline --time 1h --no-explain");
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let process = command.spawn().unwrap();
    // It takes a while to build it.
    for _ in 0..6_000 {
        if folder.path().join("begun").exists() {
            break;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let id = process.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
    let output = process.wait_with_output().unwrap();
    let (out, err) = (text(output.stdout), text(output.stderr));
    assert_eq!(output.status.code(), Some(143), "{out}\n{err}");
    assert!(out.contains("a_fails  panic-"), "{out}\n{err}");
    let mut list = Command::new(env!("CARGO_BIN_EXE_raddle"));
    let listed = text(list.arg("list").current_dir(folder.path()).output().unwrap().stdout);
    assert!(listed.contains("panic-") && listed.contains("at once"), "{listed}\n{out}\n{err}");
}

/// Each execution writes down whose it is; the first one of the second test never ends.
const TAKE_TURNS: &str = "use std::{fs::OpenOptions, io::Write, path::Path, thread};
fn note(name: &str) {
    let mut log = OpenOptions::new().create(true).append(true).open(\"log\").unwrap();
    log.write_all(name.as_bytes()).unwrap();
}
#[test]
fn a_quick() {
    note(\"a\");
    thread::spawn(|| ()).join().unwrap();
}
#[test]
fn b_slow_at_first() {
    note(\"b\");
    let is_first = !Path::new(\"slow\").exists();
    std::fs::write(\"slow\", \"\").unwrap();
    thread::spawn(move || while is_first { std::hint::black_box(()); }).join().unwrap();
}
";

/// In the second round, the test comes first that has had no execution so far.
#[test]
fn whoever_has_had_least_comes_first() {
    let folder = crate_of("", "tests/one.rs", TAKE_TURNS);
    let (out, err, _) = raddle(folder.path(), "test --offline --time 8s --no-explain -j 1");
    let log = std::fs::read_to_string(folder.path().join("log")).unwrap();
    let mut turns: Vec<char> = log.chars().collect();
    turns.dedup();
    assert!(turns.starts_with(&['a', 'b', 'a']), "{turns:?}\n{out}\n{err}");
    assert!(log.starts_with("abb"), "{turns:?}\n{out}\n{err}");
}

/// It is known before anything is built or run.
#[test]
fn a_file_in_a_directory_that_is_not_there() {
    let folder = crate_of("", "tests/one.rs", "#[test]\nfn works() {}\n");
    let (out, err, code) = raddle(folder.path(), "test --offline --junit no/such/junit.xml");
    assert_eq!(code, 1, "{out}\n{err}");
    let line =
        "error: --junit no/such/junit.xml: the directory no/such does not exist; create it first";
    assert_eq!(err.trim(), line, "{out}");
    assert!(!folder.path().join("target").exists());
}

#[test]
fn std_is_called_by_its_names() {
    let (_folder, crate_dir) = copy("std");
    let line = "test --offline --test stuck --execs 3 --no-explain";
    let (out, err, code) = raddle(&crate_dir, line);
    assert_eq!(code, 2, "{out}\n{err}");
    for text in [
        "T2 waits to be unparked, which no thread will do",
        "T2 waits for a message in a channel that no thread will send",
        "T2 waits for room in a channel that no thread will make",
        "T2 waits for a once block that no thread will finish",
        "at `Barrier`",
        "for `Queue.table`",
        "for `Queue.lock`",
        "on `Queue.filled`",
    ] {
        let words = out.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains(text), "{text}\n{out}\n{err}");
    }
}

/// A crate of one file.
fn crate_of(manifest: &str, file: &str, text: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let manifest = format!(
        "[package]\nname = \"one\"\nversion = \"0.0.0\"\nedition = \"2021\"\n{manifest}\n[workspace]\n"
    );
    std::fs::write(folder.path().join("Cargo.toml"), manifest).unwrap();
    let path = folder.path().join(file);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
    folder
}

/// The unit tests of a proc macro are left out; a test that should panic and does not is called that.
#[test]
fn members_that_are_proc_macros_and_tests_that_should_panic() {
    const MACRO: &str = "
#[proc_macro]
pub fn seven(_: proc_macro::TokenStream) -> proc_macro::TokenStream { \"7\".parse().unwrap() }
#[test]
fn adds() { assert_eq!(1 + 1, 2); }
";
    const TESTS: &str = "
#[test]
fn works() { assert_eq!(std::thread::spawn(|| mac::seven!()).join().unwrap(), 7); }
#[test]
#[should_panic]
fn ought() { std::thread::spawn(|| ()).join().unwrap(); }
#[test]
#[should_panic(expected = \"boom\")]
fn boom() { std::thread::spawn(|| ()).join().unwrap(); panic!(\"bang\"); }
";
    let manifest = "[dependencies]\nmac = { path = \"mac\" }\n[workspace]\nmembers = [\"mac\"]\n";
    let folder = crate_of("", "src/lib.rs", TESTS);
    let head = "[package]\nversion = \"0.0.0\"\nedition = \"2021\"\n";
    let write = |path: &str, text: String| {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    write("Cargo.toml", format!("{head}name = \"one\"\n{manifest}"));
    write("mac/Cargo.toml", format!("{head}name = \"mac\"\n[lib]\nproc-macro = true\n"));
    write("mac/src/lib.rs", MACRO.to_owned());
    let (out, err, code) =
        raddle(folder.path(), "test --workspace --offline --execs 50 --no-explain");
    assert_eq!(code, 2, "{out}\n{err}");
    assert!(err.contains("unit tests of proc macros run inside the compiler"), "{out}\n{err}");
    assert!(!out.contains("can't be run"), "{out}\n{err}");
    assert!(out.contains("1 passed, 2 failed"), "{out}\n{err}");
    let words = out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("the test is marked `should_panic` and did not panic"), "{out}\n{err}");
    let text = "the test is marked `should_panic` and panicked with an unexpected message";
    assert!(words.contains(text), "{out}\n{err}");
    assert!(!out.contains("exit code 101"), "{out}\n{err}");
}

/// Without std, but for its test.
const FORKS: &str = "#![no_std]
#[cfg(test)]
extern crate std;
#[cfg(test)]
extern \"C\" {
    fn fork() -> i32;
    fn _exit(code: i32) -> !;
}
#[test]
fn forks() {
    let thread = std::thread::spawn(|| ());
    if unsafe { fork() } == 0 {
        unsafe { _exit(0) }
    }
    thread.join().unwrap();
}
";

/// Volatile accesses, a lock of std's that another thread holds at a fork, and a child that needs none.
const PROCESSES: &str = "
use std::{cell::UnsafeCell, ptr, sync::{Mutex, atomic::{AtomicBool, Ordering::*}}, thread};
struct Shared(UnsafeCell<u32>);
unsafe impl Sync for Shared {}
#[test]
fn volatile_races() {
    static X: Shared = Shared(UnsafeCell::new(0));
    let thread = thread::spawn(|| unsafe { ptr::write_volatile(X.0.get(), 1) });
    assert!(unsafe { ptr::read_volatile(X.0.get()) } < 2);
    thread.join().unwrap();
}
#[test]
fn volatile_ordered() {
    static X: Shared = Shared(UnsafeCell::new(0));
    static READY: AtomicBool = AtomicBool::new(false);
    let thread = thread::spawn(|| {
        unsafe { ptr::write_volatile(X.0.get(), 1) };
        READY.store(true, Release);
    });
    if READY.load(Acquire) {
        assert_eq!(unsafe { ptr::read_volatile(X.0.get()) }, 1);
    }
    thread.join().unwrap();
}
extern \"C\" {
    fn fork() -> i32;
    fn _exit(code: i32) -> !;
    fn waitpid(child: i32, status: *mut i32, options: i32) -> i32;
}
static LOCK: Mutex<u32> = Mutex::new(0);
fn add() { *LOCK.lock().unwrap() += 1; }
#[test]
fn held_at_fork() {
    let thread = thread::spawn(add);
    let child = unsafe { fork() };
    if child == 0 {
        add();
        unsafe { _exit(0) }
    }
    unsafe { waitpid(child, ptr::null_mut(), 0) };
    thread.join().unwrap();
}
#[test]
fn command() {
    let thread = thread::spawn(add);
    assert!(std::process::Command::new(\"/bin/true\").status().unwrap().success());
    thread.join().unwrap();
}
";

#[test]
fn volatile_accesses_and_forks() {
    let folder = crate_of("", "src/lib.rs", PROCESSES);
    let (out, err, code) = raddle(folder.path(), "test --offline --execs 60 --no-explain");
    assert_eq!(code, 2, "{out}\n{err}");
    let ends = |word: &str, test: &str| lines_of(&out, word).iter().any(|it| it.contains(test));
    assert!(ends("FAIL", "volatile_races  race-"), "{out}\n{err}");
    assert!(ends("PASS", "volatile_ordered"), "{out}\n{err}");
    assert!(ends("FAIL", "held_at_fork  misuse-"), "{out}\n{err}");
    assert!(out.contains("forks while T2 holds `one::LOCK`"), "{out}");
    assert!(ends("PASS", "command"), "{out}\n{err}");
}

/// A race that a library without hooks, loaded later, may have ordered is a warning, and no failure of the test.
#[test]
fn what_is_only_potential_is_no_failure() {
    const RACES: &str = "
use std::{cell::UnsafeCell, ffi::{c_char, c_int, c_void}, thread};
extern \"C\" { fn dlopen(path: *const c_char, flags: c_int) -> *mut c_void; }
struct Shared(UnsafeCell<u32>);
unsafe impl Sync for Shared {}
static X: Shared = Shared(UnsafeCell::new(0));
fn add() { unsafe { *X.0.get() += 1 } }
#[test]
fn counts() {
    let path = concat!(env!(\"CARGO_MANIFEST_DIR\"), \"/libcount.so\\0\");
    assert!(!unsafe { dlopen(path.as_ptr().cast(), 2) }.is_null());
    let thread = thread::spawn(add);
    add();
    thread.join().unwrap();
}
";
    let folder = crate_of("", "src/lib.rs", RACES);
    let source = "static int n;\nvoid count(void) { __sync_fetch_and_add(&n, 1); }\n";
    std::fs::write(folder.path().join("count.c"), source).expect("a file");
    let built = Command::new("cc")
        .args(["-shared", "-fPIC", "-g", "count.c", "-o", "libcount.so"])
        .current_dir(folder.path())
        .status();
    assert!(built.expect("cc starts").success());
    let (out, err, code) = raddle(folder.path(), "test --offline --execs 100 --no-explain");
    assert_eq!(code, 0, "{out}\n{err}");
    assert!(out.contains("]: possible data race on"), "{out}\n{err}");
    assert!(lines_of(&out, "PASS").iter().any(|it| it.contains("counts")), "{out}\n{err}");
}

/// A constructor of the program starts a thread before `main`: it is controlled from its beginning. And none of the
/// program's code is without hooks.
#[test]
fn a_thread_of_a_constructor() {
    const EARLY: &str = "
use std::{sync::{Mutex, atomic::{AtomicU32, Ordering::SeqCst}}, thread};
static COUNT: AtomicU32 = AtomicU32::new(0);
static THREAD: Mutex<Option<thread::JoinHandle<()>>> = Mutex::new(None);
extern \"C\" fn start() {
    *THREAD.lock().unwrap() = Some(thread::spawn(|| COUNT.store(COUNT.load(SeqCst) + 1, SeqCst)));
}
#[used]
#[link_section = \".init_array\"]
static START: extern \"C\" fn() = start;
fn main() {
    COUNT.store(COUNT.load(SeqCst) + 1, SeqCst);
    THREAD.lock().unwrap().take().unwrap().join().unwrap();
    if std::env::args().count() > 1 {
        assert_eq!(COUNT.load(SeqCst), 2);
    }
}
";
    let folder = crate_of("", "src/main.rs", EARLY);
    let (out, err, code) = raddle(folder.path(), "run --offline --strategy dpor --progress none");
    assert_eq!(code, 0, "{out}\n{err}");
    assert!(out.contains("all schedules were explored"), "{out}\n{err}");
    assert!(!out.contains("code built without raddle"), "{out}\n{err}");
    assert!(!out.contains("stability"), "{out}\n{err}");
    let (out, err, code) = raddle(folder.path(), "run --offline --no-explain -- check");
    assert_eq!(code, 2, "{out}\n{err}");
    assert!(out.contains("replay"), "{out}\n{err}");
}

#[test]
fn what_can_not_be_explored_is_one_clear_line() {
    let broken = crate_of("", "src/lib.rs", "fn f() -> u32 { \"text\" }\n");
    let (_, err, code) = raddle(broken.path(), "test --offline");
    assert_eq!(code, 4, "{err}");
    assert!(err.contains("mismatched types"), "cargo's own words: {err}");
    assert!(err.ends_with("error: the crate does not build\n"), "{err}");

    let nothing = crate_of("", "src/lib.rs", "pub fn f() {}\n");
    let (_, err, code) = raddle(nothing.path(), "test --offline");
    assert_eq!(code, 4, "{err}");
    assert!(err.ends_with("error: the crate has no tests\n"), "{err}");
    let (_, err, code) = raddle(nothing.path(), "run --offline");
    assert_eq!(code, 1, "{err}");
    assert!(err.contains("error: the crate has no program;"), "{err}");

    let proc_macro = crate_of("[lib]\nproc-macro = true\n", "src/lib.rs", "");
    let (_, err, code) = raddle(proc_macro.path(), "test --offline");
    assert_eq!(code, 4, "{err}");
    assert!(err.contains("error: proc macros run inside the compiler"), "{err}");

    let forks = crate_of("", "src/lib.rs", FORKS);
    let (out, err, code) = raddle(forks.path(), "test --offline --execs 3 --strict");
    assert_eq!(code, 3, "{out}\n{err}");
    assert!(err.contains("warning: one forks: fork: the new process is not controlled"), "{err}");

    let nowhere = tempfile::tempdir().unwrap();
    let (_, err, code) = raddle(nowhere.path(), "test --offline");
    assert_eq!(code, 1, "{err}");
    assert!(err.contains("Cargo.toml"), "cargo's own words: {err}");
    assert!(err.ends_with("error: cargo can't read the crate\n"), "{err}");
}

/// What is said of bugs in the style of real Rust code: locks by their names, what they protect, who waits for whom, and
/// nothing of how std does it. Each replay has the same steps.
#[test]
fn findings_of_rust_read_as_its_author_would_say_it() {
    let (_guard, folder) = copy("shop");
    let (out, err, code) = raddle(&folder, "test --offline --no-explain --message-format json");
    assert_eq!(code, 2, "{out}\n{err}");
    let lines = out.lines().map(|it| serde_json::from_str(it).expect("JSON"));
    let tests: Vec<Value> = lines.filter(|it: &Value| it["type"] == "test").collect();
    assert_eq!(tests.len(), 4, "{out}");
    for test in tests {
        assert_eq!(test["stability"], 100.0, "{test}");
        let (name, id) = (test["name"].as_str(), test["verdict"]["found"][0]["id"].as_str());
        let (name, id) = (name.expect("a name"), id.expect("a finding"));
        let command = |words: &[&str]| {
            let mut command = Command::new(env!("CARGO_BIN_EXE_raddle"));
            let output = command.args(words).env("COLUMNS", "80").current_dir(&folder).output();
            text(output.unwrap().stdout)
        };
        command(&["min", id, "--time", "600s"]);
        let shown = command(&["show", id]).replace(id, &format!("{}-0000", &id[..id.len() - 5]));
        expect_test::expect_file![format!("golden_rust/{name}.txt")]
            .assert_eq(&raddle_tidy::without_addresses(&shown));
    }
}

/// Optimised code, where what std does is inlined, is explained as well.
#[test]
fn locks_of_optimised_code_are_recognised() {
    const BODY: &str = "#[test]
fn body() {
    let count = std::sync::Mutex::new(0);
    std::thread::scope(|scope| {
        scope.spawn(|| *count.lock().unwrap() += 1);
        let early = *count.lock().unwrap();
        assert_eq!(early, *count.lock().unwrap());
    });
}
";
    let profile = "[profile.test]\nopt-level = 3\ndebug = true";
    let folder = crate_of(profile, "src/lib.rs", BODY);
    let (out, err, code) = raddle(folder.path(), "test --offline");
    assert_eq!(code, 2, "{out}\n{err}");
    assert!(out.contains("panic: T2 writes `count` between T1's two reads"), "{out}");
    assert!(out.contains("`count` is held at every access above, but T1 releases it"), "{out}");
}

/// A test that fails if its thread comes first.
const HASTY: &str = "use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
#[test]
fn first() {
    static DONE: AtomicBool = AtomicBool::new(false);
    let thread = std::thread::spawn(|| DONE.store(true, SeqCst));
    assert!(!DONE.load(SeqCst), \"late\");
    thread.join().unwrap();
}
";

/// A finding says which test it is of, and is looked for in what cargo builds now.
#[test]
fn a_finding_knows_its_test_and_how_to_build_it() {
    let folder = crate_of("", "src/lib.rs", HASTY);
    let (out, err, code) = raddle(folder.path(), "test --offline --message-format json");
    assert_eq!(code, 2, "{out}\n{err}");
    assert!(out.contains(r#""test":"one first""#), "{out}");
    let command = |words: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_raddle"));
        let Output { status, stdout, stderr } =
            command.args(words).current_dir(folder.path()).output().unwrap();
        let text = String::from_utf8_lossy(&stdout).into_owned();
        (text, String::from_utf8_lossy(&stderr).into_owned(), status.code().unwrap_or(-1))
    };
    let (out, ..) = command(&["show", "latest", "--message-format", "json"]);
    assert!(out.contains(r#""test":"one first""#), "{out}");
    let (out, err, code) = command(&["regress", "latest", "--execs", "20"]);
    assert_eq!(code, 2, "{out}\n{err}");
    let mended = HASTY.replace("assert!(!DONE.load(SeqCst), \"late\");", "");
    std::fs::write(folder.path().join("src/lib.rs"), mended).unwrap();
    let (out, err, code) = command(&["regress", "latest", "--execs", "20"]);
    assert_eq!(code, 0, "{out}\n{err}");
    assert!(out.contains("fixed with"), "{out}");
}

/// What is looked at before a wait is no part of it: the flag is set, and the notification sent, in between.
const UNLOCKED_FLAG: &str = "#[test]
fn closes() {
    use std::sync::{atomic::{AtomicBool, Ordering::SeqCst}, Arc, Condvar, Mutex};
    let gate = Arc::new((Mutex::new(()), Condvar::new(), AtomicBool::new(false)));
    let other = Arc::clone(&gate);
    let thread = std::thread::spawn(move || {
        let mut guard = other.0.lock().unwrap();
        while !other.2.load(SeqCst) {
            guard = other.1.wait(guard).unwrap();
        }
    });
    gate.2.store(true, SeqCst);
    gate.1.notify_all();
    thread.join().unwrap();
}
";

#[test]
fn a_notification_of_std_can_be_lost() {
    let folder = crate_of("", "src/lib.rs", UNLOCKED_FLAG);
    for strategy in ["portfolio", "dpor"] {
        let line = format!("test --offline --execs 500 --no-explain --strategy {strategy}");
        let (out, err, code) = raddle(folder.path(), &line);
        assert_eq!(code, 2, "{out}\n{err}");
        assert!(out.contains("deadlock:"), "{out}\n{err}");
        assert!(out.contains("at src/lib.rs:9 in one::closes"), "{out}\n{err}");
    }
}

/// A counter that anybody may change, and a field that says that it may be shared.
const RACY: &str = "use std::{cell::UnsafeCell, sync::Arc, thread};

static mut HITS: u32 = 0;

struct Queue {
    len: UnsafeCell<usize>,
}

unsafe impl Sync for Queue {}

impl Queue {
    fn push(&self) {
        unsafe { *self.len.get() += 1 };
    }
}

fn main() {
    let queue = Arc::new(Queue { len: UnsafeCell::new(0) });
    let other = Arc::clone(&queue);
    let body = move || {
        unsafe { HITS += 1 };
        other.push();
    };
    let worker = thread::Builder::new().name(\"pusher\".into()).spawn(body).unwrap();
    unsafe { HITS += 1 };
    queue.push();
    worker.join().unwrap();
}
";

/// Both sides, names, where the memory was allocated and the thread created; nothing of what the compiler and std
/// put around them.
#[test]
fn a_race_reads_as_one_of_c_does() {
    let folder = crate_of("", "src/main.rs", RACY);
    let line = "run --offline --detect race --execs 20 --keep-going --no-explain";
    let (out, err, code) = raddle(folder.path(), line);
    assert_eq!(code, 2, "{out}\n{err}");
    let reports = out.split("error[").skip(1).map(|it| it.split("\n\n").next().unwrap_or(it));
    let told: Vec<String> = reports.map(|it| it.split_once("]: ").unwrap().1.to_owned()).collect();
    expect_test::expect![[r#"
        data race on `one::HITS` (4 bytes): T0's write and T1's
            read are unordered
          --> src/main.rs:21 in one::main::{closure#0}
           |
        25 |     unsafe { HITS += 1 };
           |              ---- 1. T0 (main) writes `one::HITS`, holding no lock
        21 |     unsafe { HITS += 1 };
           |              ^^^^ 2. T1 (pusher) reads `one::HITS` = 1, holding no lock
           |
           = note: 1 and 2 are unordered: neither thread holds a lock, and no
                   release-acquire pair orders them
           = note: location: global `one::HITS` of size 4, declared at main.rs:3
           = replay: raddle replay race-2c71
        ---
        data race on `Queue.len` (8 bytes): T0's write and T1's
            read are unordered
          --> src/main.rs:13 in one::Queue::push, called from one::main (:26)
           |
        13 |     unsafe { *self.len.get() += 1 };
           |               -------- 1. T0 (main) writes `Queue.len`, holding no lock
           |               ^^^^^^^^ 2. T1 (pusher) reads `Queue.len` = 1, holding no
           |                        lock
           |
           = note: 1 and 2 are unordered: neither thread holds a lock, and no
                   release-acquire pair orders them
           = note: location: `Queue.len`, field of `one::Queue`, 16 bytes into a heap
                   block of size 24 allocated by main thread at main.rs:18
           = replay: raddle replay race-daae"#]]
    .assert_eq(&told.join("\n---\n"));
    assert!(!out.contains("no debug information"), "{out}");
}
