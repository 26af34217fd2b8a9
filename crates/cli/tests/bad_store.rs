//! What is found is kept: stores that can't be read or written, and runs that are cut short.

mod common;

use std::{
    fs,
    io::Read as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use common::{AB_BA, PRELUDE, code, folder, last_line, raddle, stderr, stdout, write};
use expect_test::expect;

#[test]
fn a_store_that_cannot_be_written() {
    let folder = folder();
    write(folder.path(), "prog.c", AB_BA);
    write(folder.path(), "file", "");
    let args = ["run", "-j1", "--store", "file/store", "prog.c"];
    let output = raddle(folder.path(), &args).output().expect("starts");
    assert_eq!(code(&output), Some(2), "{}", stderr(&output));
    assert!(stdout(&output).starts_with("error[dl-"), "{}", stdout(&output));
    let warning = "warning: this run is not stored, and its findings can't be replayed: ";
    assert!(stderr(&output).contains(warning), "{}", stderr(&output));
}

#[test]
fn a_store_that_is_damaged() {
    let folder = folder();
    write(folder.path(), "prog.c", AB_BA);
    fs::create_dir(folder.path().join(".raddle")).expect("created");
    let broken = "{ broken ".repeat(1_000);
    write(folder.path(), ".raddle/raddle.db", &broken);
    // Exploring goes on; what can't be kept is told.
    let output = raddle(folder.path(), &["run", "-j1", "prog.c"]).output().expect("starts");
    assert_eq!(code(&output), Some(2), "{}", stderr(&output));
    assert!(stderr(&output).contains("raddle.db is damaged"), "{}", stderr(&output));
    common::check(
        folder.path(),
        &["list"],
        expect![[r#"
            exit 1
            stderr: error: .raddle/raddle.db is damaged (file is not a database); move it away to start a new store, or repair it with `sqlite3 FILE .recover`
        "#]],
    );
    // Nobody has touched it.
    let text = fs::read_to_string(folder.path().join(".raddle/raddle.db")).expect("readable");
    assert_eq!(text, broken);
}

#[test]
fn a_store_of_before() {
    let folder = folder();
    fs::create_dir_all(folder.path().join(".raddle/runs/it/findings")).expect("created");
    write(folder.path(), ".raddle/runs/it/run.json", r#"{"version":9,"raddle":"9.0.0"}"#);
    common::check(
        folder.path(),
        &["list"],
        expect![[r#"
            exit 1
            stderr: error: .raddle/runs/it/run.json was written by raddle 9.0.0, which is newer than this version; update raddle
        "#]],
    );
    fs::remove_file(folder.path().join(".raddle/runs/it/run.json")).expect("removed");
    common::check(
        folder.path(),
        &["list"],
        expect![[r#"
            exit 0
            stderr: no findings in .raddle yet; `raddle run` stores them there
        "#]],
    );
}

#[test]
fn a_finding_file_that_is_damaged_or_newer() {
    let folder = folder();
    write(folder.path(), "broken.json", r#"{"version":1,"raddle":"0.0.0","id":"#);
    write(folder.path(), "newer.json", r#"{"version":7,"raddle":"3.1.4","what":"ever"}"#);
    write(folder.path(), "other.json", "[1, 2]");
    for verb in ["show", "replay"] {
        for (file, words) in [
            ("./broken.json", "is damaged"),
            ("./other.json", "is damaged"),
            ("./newer.json", "was written by raddle 3.1.4, which is newer than this version"),
        ] {
            let output = raddle(folder.path(), &[verb, file]).output().expect("starts");
            assert_eq!(code(&output), Some(1), "{verb} {file}");
            assert_eq!(stderr(&output).lines().count(), 1);
            assert!(stderr(&output).contains(words), "{}", stderr(&output));
        }
    }
}

/// Sends a signal to a process.
fn send(process: u32, signal: &str) {
    let status = Command::new("kill").args([signal, &process.to_string()]).status();
    assert!(status.expect("kill is there").success());
}

fn wait_for(path: &Path, limit: Duration) -> bool {
    let start = Instant::now();
    while start.elapsed() < limit {
        if path.exists() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    false
}

#[test]
fn interrupted_while_an_execution_hangs() {
    let folder = folder();
    // The execution says when it is stuck; what was found before that must be kept.
    let text = r#"#include <fcntl.h>
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static int n;
    static void *add(void *arg) {
        pthread_mutex_lock(&lock);
        int seen = n;
        pthread_mutex_unlock(&lock);
        pthread_mutex_lock(&lock);
        n = seen + 1;
        pthread_mutex_unlock(&lock);
        return arg;
    }
    __attribute__((no_sanitize("thread"))) static void spin(void) {
        for (volatile long i = 0;; i++) {}
    }
    int main(void) {
        pthread_t s, t;
        pthread_create(&s, NULL, add, NULL);
        pthread_create(&t, NULL, add, NULL);
        pthread_join(s, NULL);
        pthread_join(t, NULL);
        if (n != 2) {
            if (access("found", F_OK) == 0) { close(open("stuck", O_CREAT, 0600)); spin(); }
            close(open("found", O_CREAT, 0600));
            return 5;
        }
        return 0;
    }"#;
    write(folder.path(), "prog.c", &format!("{PRELUDE}{text}"));
    // Nothing but the signal ends it.
    let args = ["run", "-k", "-j", "2", "--time", "10h", "--hang-timeout", "10h", "prog.c"];
    let mut command = raddle(folder.path(), &args);
    let mut child =
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("raddle starts");
    assert!(wait_for(&folder.path().join("stuck"), Duration::from_secs(30)), "nothing got stuck");
    send(child.id(), "-INT");
    let status = child.wait().expect("waited");
    assert_eq!(status.code(), Some(130));
    let mut text = String::new();
    child.stdout.take().expect("piped").read_to_string(&mut text).expect("readable");
    assert!(last_line(&text).starts_with("interrupted after "), "{text}");
    let listed = raddle(folder.path(), &["list"]).output().expect("starts");
    assert!(stdout(&listed).contains("exit code 5"), "{}", stdout(&listed));
}

#[test]
fn what_is_left_behind_ends_with_raddle() {
    let folder = folder();
    let text = r#"#include <fcntl.h>
    __attribute__((no_sanitize("thread"))) static void *spin(void *arg) {
        char name[32];
        snprintf(name, sizeof name, "%d.pid", getpid());
        close(open(name, O_CREAT, 0600));
        close(open("stuck", O_CREAT, 0600));
        for (volatile long i = 0;; i++) {}
        return arg;
    }
    int main(void) { in_thread(spin, NULL); return 0; }"#;
    write(folder.path(), "prog.c", &format!("{PRELUDE}{text}"));
    let mut child = raddle(folder.path(), &["run", "-j1", "--hang-timeout", "60s", "prog.c"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("raddle starts");
    assert!(wait_for(&folder.path().join("stuck"), Duration::from_secs(30)));
    let process = processes(folder.path()).pop().expect("a process wrote its number");
    send(child.id(), "-KILL");
    child.wait().expect("waited");
    while Path::new("/proc").join(&process).exists() {
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn processes(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("readable").flatten().map(|it| it.path());
    let files = entries.filter(|it| it.extension().is_some_and(|it| it == "pid"));
    files.filter_map(|it| it.file_stem().map(PathBuf::from)).collect()
}
